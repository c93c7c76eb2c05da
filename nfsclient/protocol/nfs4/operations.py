# SPDX-License-Identifier: MIT
"""Every operation of NFSv4.0, 4.1 and 4.2 in one table.

RFC 7530 section 16, RFC 5661 section 18, RFC 7862 section 15, RFC 8276 section 8.4.

The table says what an operation needs and does, so that whoever looks at a compound (a server, a lint, a checker of
minor versions) asks the operation and keeps no separate list. What a minor version has is `since` and `until`.
Callbacks (RFC 5661 section 20) are operations of the same form in another program.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from nfsclient.protocol.nfs4 import callbacks as c
from nfsclient.protocol.nfs4 import directories as d
from nfsclient.protocol.nfs4 import filehandles as h
from nfsclient.protocol.nfs4 import files as f
from nfsclient.protocol.nfs4 import locks as lk
from nfsclient.protocol.nfs4 import opens as o
from nfsclient.protocol.nfs4 import pnfs as pn
from nfsclient.protocol.nfs4 import ranges as r
from nfsclient.protocol.nfs4 import sessions as s
from nfsclient.protocol.nfs4 import xattrs as x
from nfsclient.protocol.nfs4.errors import general_errors, listed_errors
from nfsclient.protocol.nfs4.types import Nfsstat4
from nfsclient.rpc import program
from nfsclient.xdr import ChoiceTable, XdrType

PROGRAM = 100003
"""The RPC program number of NFS."""
VERSION = 4
CALLBACK_PROGRAM = 0x4000_0000
"""The program number of callbacks in the RFC's text; a client chooses another (RFC 5661 sections 18.33 and 18.36)."""
CALLBACK_VERSION = 1
LATEST_MINOR: t.Final = 2

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

Filehandle: t.TypeAlias = t.Literal["keeps", "replaces", "saves", "restores", "consumes"]
"""What success does: another current filehandle; current to saved; saved to current; none is left.

SECINFO and SECINFO_NO_NAME leave one in 4.0 (RFC 5661 section 2.6.3.1.1.8).
"""


@dataclass(frozen=True, eq=False)
class Operation(program.Operation[A, R]):
    """An operation of a compound."""

    since: int = 0
    """The first minor version that has it."""
    until: int | None = None
    """The last one that has it: later ones answer NOTSUPP (RFC 5661 section 17); None: the latest has it."""
    is_optional: bool = False
    """Since 4.1 a server may answer NOTSUPP (RFC 5661 section 17, RFC 7862 section 13)."""
    needs_current: bool = False
    """NOFILEHANDLE without a current filehandle."""
    needs_saved: bool = False
    """The same for the saved one."""
    filehandle: Filehandle = "keeps"
    stateids: tuple[str, ...] = ()
    """Where stateids stand in the arguments: since 4.1 one may be the current stateid (RFC 5661 section 16.2.3.1.2)."""
    gives_stateid: tuple[str, ...] = ()
    """Where the new current stateid stands in the results: the first of these that is there."""
    is_sessionless: bool = False
    """Since 4.1 it may be the only operation of a compound without SEQUENCE (RFC 5661 section 2.10.6.1)."""

    def is_in(self, minor: int) -> bool:
        """Whether a minor version defines it, be it only to refuse it: other numbers are OP_ILLEGAL."""
        return self.since <= minor

    def is_implementable(self, minor: int) -> bool:
        """Whether a server of a minor version may answer anything but NOTSUPP."""
        return self.is_in(minor) and (self.until is None or minor <= self.until)

    def errors(self, minor: int) -> frozenset[Nfsstat4]:
        """The statuses that the RFC lists for it; see `errors` for what the lists are worth."""
        return listed_errors(self.name, minor)

    def is_expected(self, minor: int, status: Nfsstat4) -> bool:
        """Whether the RFCs name `status` for it, in its list, in its text, or for all operations of its kind.

        False is a rarity, not a fault. An operation that a minor version does not have is ILLEGAL, one that it has no
        more is NOTSUPP, and nothing else is expected of it.
        """
        if not self.is_in(minor):
            return status is Nfsstat4.NFS4ERR_OP_ILLEGAL
        if not self.is_implementable(minor):
            return status in self.errors(minor) | {Nfsstat4.NFS4ERR_NOTSUPP}
        if status is Nfsstat4.NFS4_OK:
            return self.name not in {"ILLEGAL", "CB_ILLEGAL"}
        return status in self.errors(minor) or status in general_errors(
            self.name,
            minor,
            is_sessionless=self.is_sessionless,
            has_object=self.needs_current or self.needs_saved,
            is_optional=self.is_optional,
        )


AnyOperation: t.TypeAlias = Operation[t.Any, t.Any]


def _op(number: int, name: str, args: type[A], res: type[R], **about: t.Any) -> Operation[A, R]:
    return Operation(PROGRAM, VERSION, number, name, args, res, **about)


def _on(
    number: int, name: str, args: type[A], res: type[R], *stateids: str, **about: t.Any
) -> Operation[A, R]:
    """An operation on the current filehandle, with stateids at these places."""
    return _op(number, name, args, res, needs_current=True, stateids=stateids, **about)


def _optional(
    number: int, name: str, args: type[A], res: type[R], *stateids: str, **about: t.Any
) -> Operation[A, R]:
    return _on(number, name, args, res, *stateids, is_optional=True, **about)


_DELEGATION = ("read.stateid", "write.stateid")

ACCESS = _on(3, "ACCESS", f.Access4Args, f.Access4Res)
CLOSE = _on(4, "CLOSE", o.Close4Args, o.Close4Res, "open_stateid", gives_stateid=("open_stateid",))
COMMIT = _on(5, "COMMIT", f.Commit4Args, f.Commit4Res)
CREATE = _on(6, "CREATE", d.Create4Args, d.Create4Res, filehandle="replaces")
DELEGPURGE = _op(7, "DELEGPURGE", o.Delegpurge4Args, o.Delegpurge4Res, is_optional=True)
DELEGRETURN = _optional(8, "DELEGRETURN", o.Delegreturn4Args, o.Delegreturn4Res, "deleg_stateid")
GETATTR = _on(9, "GETATTR", f.Getattr4Args, f.Getattr4Res)
GETFH = _on(10, "GETFH", h.Getfh4Args, h.Getfh4Res)
LINK = _optional(11, "LINK", d.Link4Args, d.Link4Res, needs_saved=True)
LOCK = _on(
    12,
    "LOCK",
    lk.Lock4Args,
    lk.Lock4Res,
    "locker.open_owner.open_stateid",
    "locker.lock_owner.lock_stateid",
    gives_stateid=("resok4.lock_stateid",),
)
LOCKT = _on(13, "LOCKT", lk.Lockt4Args, lk.Lockt4Res)
LOCKU = _on(14, "LOCKU", lk.Locku4Args, lk.Locku4Res, "lock_stateid", gives_stateid=("lock_stateid",))
LOOKUP = _on(15, "LOOKUP", h.Lookup4Args, h.Lookup4Res, filehandle="replaces")
LOOKUPP = _on(16, "LOOKUPP", h.Lookupp4Args, h.Lookupp4Res, filehandle="replaces")
NVERIFY = _on(17, "NVERIFY", f.Nverify4Args, f.Nverify4Res)
OPEN = _on(
    18,
    "OPEN",
    o.Open4Args,
    o.Open4Res,
    "claim.delegate_cur_info.delegate_stateid",
    "claim.oc_delegate_stateid",
    filehandle="replaces",
    gives_stateid=("resok4.stateid",),
)
OPENATTR = _optional(19, "OPENATTR", h.Openattr4Args, h.Openattr4Res, filehandle="replaces")
OPEN_CONFIRM = _on(20, "OPEN_CONFIRM", o.OpenConfirm4Args, o.OpenConfirm4Res, "open_stateid", until=0)
OPEN_DOWNGRADE = _on(
    21,
    "OPEN_DOWNGRADE",
    o.OpenDowngrade4Args,
    o.OpenDowngrade4Res,
    "open_stateid",
    gives_stateid=("resok4.open_stateid",),
)
PUTFH = _op(22, "PUTFH", h.Putfh4Args, h.Putfh4Res, filehandle="replaces")
PUTPUBFH = _op(23, "PUTPUBFH", h.Putpubfh4Args, h.Putpubfh4Res, filehandle="replaces")
PUTROOTFH = _op(24, "PUTROOTFH", h.Putrootfh4Args, h.Putrootfh4Res, filehandle="replaces")
READ = _on(25, "READ", f.Read4Args, f.Read4Res, "stateid")
READDIR = _on(26, "READDIR", d.Readdir4Args, d.Readdir4Res)
READLINK = _optional(27, "READLINK", f.Readlink4Args, f.Readlink4Res)
REMOVE = _on(28, "REMOVE", d.Remove4Args, d.Remove4Res)
RENAME = _on(29, "RENAME", d.Rename4Args, d.Rename4Res, needs_saved=True)
RENEW = _op(30, "RENEW", s.Renew4Args, s.Renew4Res, until=0)
RESTOREFH = _op(31, "RESTOREFH", h.Restorefh4Args, h.Restorefh4Res, needs_saved=True, filehandle="restores")
SAVEFH = _on(32, "SAVEFH", h.Savefh4Args, h.Savefh4Res, filehandle="saves")
SECINFO = _on(33, "SECINFO", h.Secinfo4Args, h.Secinfo4Res, filehandle="consumes")
SETATTR = _on(34, "SETATTR", f.Setattr4Args, f.Setattr4Res, "stateid")
SETCLIENTID = _op(35, "SETCLIENTID", s.Setclientid4Args, s.Setclientid4Res, until=0)
SETCLIENTID_CONFIRM = _op(
    36, "SETCLIENTID_CONFIRM", s.SetclientidConfirm4Args, s.SetclientidConfirm4Res, until=0
)
VERIFY = _on(37, "VERIFY", f.Verify4Args, f.Verify4Res)
WRITE = _on(38, "WRITE", f.Write4Args, f.Write4Res, "stateid")
RELEASE_LOCKOWNER = _op(39, "RELEASE_LOCKOWNER", lk.ReleaseLockowner4Args, lk.ReleaseLockowner4Res, until=0)
BACKCHANNEL_CTL = _op(40, "BACKCHANNEL_CTL", s.BackchannelCtl4Args, s.BackchannelCtl4Res, since=1)
BIND_CONN_TO_SESSION = _op(
    41,
    "BIND_CONN_TO_SESSION",
    s.BindConnToSession4Args,
    s.BindConnToSession4Res,
    since=1,
    is_sessionless=True,
)
EXCHANGE_ID = _op(42, "EXCHANGE_ID", s.ExchangeId4Args, s.ExchangeId4Res, since=1, is_sessionless=True)
CREATE_SESSION = _op(
    43, "CREATE_SESSION", s.CreateSession4Args, s.CreateSession4Res, since=1, is_sessionless=True
)
DESTROY_SESSION = _op(
    44, "DESTROY_SESSION", s.DestroySession4Args, s.DestroySession4Res, since=1, is_sessionless=True
)
FREE_STATEID = _op(
    45, "FREE_STATEID", s.FreeStateid4Args, s.FreeStateid4Res, since=1, stateids=("fsa_stateid",)
)
GET_DIR_DELEGATION = _optional(
    46,
    "GET_DIR_DELEGATION",
    o.GetDirDelegation4Args,
    o.GetDirDelegation4Res,
    since=1,
    gives_stateid=("gddr_res_non_fatal4.gddrnf_resok4.gddr_stateid",),
)
GETDEVICEINFO = _op(
    47, "GETDEVICEINFO", pn.Getdeviceinfo4Args, pn.Getdeviceinfo4Res, since=1, is_optional=True
)
GETDEVICELIST = _optional(48, "GETDEVICELIST", pn.Getdevicelist4Args, pn.Getdevicelist4Res, since=1, until=1)
LAYOUTCOMMIT = _optional(
    49, "LAYOUTCOMMIT", pn.Layoutcommit4Args, pn.Layoutcommit4Res, "loca_stateid", since=1
)
LAYOUTGET = _optional(
    50,
    "LAYOUTGET",
    pn.Layoutget4Args,
    pn.Layoutget4Res,
    "loga_stateid",
    since=1,
    gives_stateid=("logr_resok4.logr_stateid",),
)
LAYOUTRETURN = _optional(
    51,
    "LAYOUTRETURN",
    pn.Layoutreturn4Args,
    pn.Layoutreturn4Res,
    "lora_layoutreturn.lr_layout.lrf_stateid",
    since=1,
    gives_stateid=("lorr_stateid.lrs_stateid",),
)
SECINFO_NO_NAME = _optional(
    52, "SECINFO_NO_NAME", h.SecinfoNoName4Args, h.SecinfoNoName4Res, since=1, filehandle="consumes"
)
SEQUENCE = _op(53, "SEQUENCE", s.Sequence4Args, s.Sequence4Res, since=1)
SET_SSV = _op(54, "SET_SSV", s.SetSsv4Args, s.SetSsv4Res, since=1)
TEST_STATEID = _op(55, "TEST_STATEID", s.TestStateid4Args, s.TestStateid4Res, since=1)
WANT_DELEGATION = _optional(
    56,
    "WANT_DELEGATION",
    o.WantDelegation4Args,
    o.WantDelegation4Res,
    since=1,
    gives_stateid=tuple(f"wdr_resok4.{place}" for place in _DELEGATION),
)
DESTROY_CLIENTID = _op(
    57, "DESTROY_CLIENTID", s.DestroyClientid4Args, s.DestroyClientid4Res, since=1, is_sessionless=True
)
RECLAIM_COMPLETE = _op(58, "RECLAIM_COMPLETE", s.ReclaimComplete4Args, s.ReclaimComplete4Res, since=1)
ALLOCATE = _optional(59, "ALLOCATE", r.Allocate4Args, r.Allocate4Res, "aa_stateid", since=2)
COPY = _optional(
    60, "COPY", r.Copy4Args, r.Copy4Res, "ca_src_stateid", "ca_dst_stateid", since=2, needs_saved=True
)
COPY_NOTIFY = _optional(61, "COPY_NOTIFY", r.CopyNotify4Args, r.CopyNotify4Res, "cna_src_stateid", since=2)
DEALLOCATE = _optional(62, "DEALLOCATE", r.Deallocate4Args, r.Deallocate4Res, "da_stateid", since=2)
IO_ADVISE = _optional(63, "IO_ADVISE", r.IoAdvise4Args, r.IoAdvise4Res, "iaa_stateid", since=2)
LAYOUTERROR = _optional(64, "LAYOUTERROR", pn.Layouterror4Args, pn.Layouterror4Res, "lea_stateid", since=2)
LAYOUTSTATS = _optional(65, "LAYOUTSTATS", pn.Layoutstats4Args, pn.Layoutstats4Res, "lsa_stateid", since=2)
OFFLOAD_CANCEL = _optional(
    66, "OFFLOAD_CANCEL", r.OffloadCancel4Args, r.OffloadCancel4Res, "oca_stateid", since=2
)
OFFLOAD_STATUS = _optional(
    67, "OFFLOAD_STATUS", r.OffloadStatus4Args, r.OffloadStatus4Res, "osa_stateid", since=2
)
READ_PLUS = _optional(68, "READ_PLUS", r.ReadPlus4Args, r.ReadPlus4Res, "rpa_stateid", since=2)
SEEK = _optional(69, "SEEK", r.Seek4Args, r.Seek4Res, "sa_stateid", since=2)
WRITE_SAME = _optional(70, "WRITE_SAME", r.WriteSame4Args, r.WriteSame4Res, "wsa_stateid", since=2)
CLONE = _optional(
    71, "CLONE", r.Clone4Args, r.Clone4Res, "cl_src_stateid", "cl_dst_stateid", since=2, needs_saved=True
)
GETXATTR = _optional(72, "GETXATTR", x.Getxattr4Args, x.Getxattr4Res, since=2)
SETXATTR = _optional(73, "SETXATTR", x.Setxattr4Args, x.Setxattr4Res, since=2)
LISTXATTRS = _optional(74, "LISTXATTRS", x.Listxattrs4Args, x.Listxattrs4Res, since=2)
REMOVEXATTR = _optional(75, "REMOVEXATTR", x.Removexattr4Args, x.Removexattr4Res, since=2)
ILLEGAL = _op(10044, "ILLEGAL", h.Illegal4Args, h.Illegal4Res)


def _cb(number: int, name: str, args: type[A], res: type[R], **about: t.Any) -> Operation[A, R]:
    return Operation(
        CALLBACK_PROGRAM, CALLBACK_VERSION, number, name, args, res, **({"is_optional": True} | about)
    )


CB_GETATTR = _cb(3, "CB_GETATTR", c.CbGetattr4Args, c.CbGetattr4Res)
CB_RECALL = _cb(4, "CB_RECALL", c.CbRecall4Args, c.CbRecall4Res)
CB_LAYOUTRECALL = _cb(5, "CB_LAYOUTRECALL", c.CbLayoutrecall4Args, c.CbLayoutrecall4Res, since=1)
CB_NOTIFY = _cb(6, "CB_NOTIFY", c.CbNotify4Args, c.CbNotify4Res, since=1)
CB_PUSH_DELEG = _cb(7, "CB_PUSH_DELEG", c.CbPushDeleg4Args, c.CbPushDeleg4Res, since=1)
CB_RECALL_ANY = _cb(8, "CB_RECALL_ANY", c.CbRecallAny4Args, c.CbRecallAny4Res, since=1)
CB_RECALLABLE_OBJ_AVAIL = _cb(
    9, "CB_RECALLABLE_OBJ_AVAIL", c.CbRecallableObjAvail4Args, c.CbRecallableObjAvail4Res, since=1
)
CB_RECALL_SLOT = _cb(
    10, "CB_RECALL_SLOT", c.CbRecallSlot4Args, c.CbRecallSlot4Res, since=1, is_optional=False
)
CB_SEQUENCE = _cb(11, "CB_SEQUENCE", c.CbSequence4Args, c.CbSequence4Res, since=1)
CB_WANTS_CANCELLED = _cb(12, "CB_WANTS_CANCELLED", c.CbWantsCancelled4Args, c.CbWantsCancelled4Res, since=1)
CB_NOTIFY_LOCK = _cb(13, "CB_NOTIFY_LOCK", c.CbNotifyLock4Args, c.CbNotifyLock4Res, since=1)
CB_NOTIFY_DEVICEID = _cb(14, "CB_NOTIFY_DEVICEID", c.CbNotifyDeviceid4Args, c.CbNotifyDeviceid4Res, since=1)
CB_OFFLOAD = _cb(15, "CB_OFFLOAD", c.CbOffload4Args, c.CbOffload4Res, since=2)
CB_ILLEGAL = _cb(10044, "CB_ILLEGAL", c.CbIllegal4Args, c.CbIllegal4Res, is_optional=False)


def _declared(program: int) -> tuple[AnyOperation, ...]:
    return tuple(
        value for value in globals().values() if isinstance(value, Operation) and value.program == program
    )


OPERATIONS: t.Final = _declared(PROGRAM)
"""What COMPOUND carries, in the order of the numbers."""
CALLBACKS: t.Final = _declared(CALLBACK_PROGRAM)
"""What CB_COMPOUND carries."""
BY_NAME: t.Final[dict[str, AnyOperation]] = {
    operation.name: operation for operation in (*OPERATIONS, *CALLBACKS)
}
BY_CLASS: t.Final[dict[type[XdrType], AnyOperation]] = {
    cls: operation for operation in BY_NAME.values() for cls in (operation.args, operation.res)
}
"""The class of arguments or results -> operation."""


ARGOPS: t.Final = ChoiceTable(
    {operation.number: (operation.name, operation.args) for operation in OPERATIONS}
)
"""nfs_argop4 (RFC 5661 section 16.2)."""
RESOPS: t.Final = ChoiceTable({operation.number: (operation.name, operation.res) for operation in OPERATIONS})
"""nfs_resop4."""
CB_ARGOPS: t.Final = ChoiceTable({callback.number: (callback.name, callback.args) for callback in CALLBACKS})
"""nfs_cb_argop4 (RFC 5661 section 20)."""
CB_RESOPS: t.Final = ChoiceTable({callback.number: (callback.name, callback.res) for callback in CALLBACKS})
"""nfs_cb_resop4."""


STATUS_OF: t.Final[dict[type[XdrType], Callable[[XdrType], Nfsstat4]]] = {
    operation.res: attrgetter(operation.res.__xdr_fields__[0]) for operation in BY_NAME.values()
}
"""The class of results -> what `status_of` does."""


def operation_of(value: XdrType) -> AnyOperation:
    """The operation that arguments or results belong to. Raises KeyError for other values."""
    return BY_CLASS[type(value)]


def operations_of(minor: int) -> tuple[AnyOperation, ...]:
    """The operations that a minor version defines, those that it only refuses included."""
    return tuple(operation for operation in OPERATIONS if operation.is_in(minor))


def status_of(result: XdrType) -> Nfsstat4:
    """The status of the results of an operation: their first field, whatever the RFC calls it."""
    return STATUS_OF[type(result)](result)
