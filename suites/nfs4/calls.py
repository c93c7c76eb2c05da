# SPDX-License-Identifier: MIT
"""The catalogue: well-formed arguments for each operation of NFSv4, in the order of the numbers.

Checks of a rule that holds for many operations take them from here:

- `CALLS["lookup"].plain` has arguments that are well-formed and name nothing, for a rule that comes before them all,
- `CALLS["lookup"].arranged(compounds, scratch)` creates what the operation needs, and returns the operations that
  succeed with it: those that set the filehandles, and then the operation itself.

What an operation needs of filehandles, where it may stand and in which minor versions it exists is declared in
`nfsclient.protocol.nfs4`; `named()` selects by that.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.xdr import XdrType
from nfsjudge import expect
from suites.nfs4.locks import WRITE_LT, lock_range
from suites.nfs4.opens import BOTH, READ, open_file

DATA: t.Final = b"data"
"""What the file of a call has in it."""
Kind: t.TypeAlias = t.Literal["file", "directory", "link"]
State: t.TypeAlias = t.Literal["open", "reopened", "locked", "unlocked"]
"""What the client has of the file: an open; one that was opened twice; a byte-range lock; the lock stateid without."""


class Operands(t.NamedTuple):
    """The values in the arguments of an operation. Each takes those that it needs."""

    handle: bytes = bytes(16)
    name: bytes = b"file"
    new_name: bytes = b"made"
    stateid: p.Stateid4 = p.ANONYMOUS_STATEID
    clientid: int = 0
    sessionid: bytes = bytes(p.NFS4_SESSIONID_SIZE)


class Arranged(t.NamedTuple):
    """An operation that will succeed."""

    before: list[XdrType]
    """The operations that set the filehandles."""
    operation: XdrType

    @property
    def operations(self) -> list[XdrType]:
        """All of them."""
        return [*self.before, self.operation]


class Call(t.NamedTuple):
    """One operation, how to build its arguments, and what they need to succeed."""

    operation: p.AnyOperation
    arguments: Callable[[Operands], XdrType]
    on: Kind | None = None
    """The object of the current filehandle."""
    saved: Kind | None = None
    """The object of the saved one."""
    state: State | None = None
    """What `Operands.stateid` stands for."""
    succeeds: bool = True
    """Whether a server that has the operation carries it out, with what `arranged` creates."""

    @property
    def name(self) -> str:
        """The name of the operation in lower case, as in ids of checks."""
        return self.operation.name.lower()

    @property
    def plain(self) -> XdrType:
        """Arguments that are well-formed and name nothing that exists."""
        return self.arguments(Operands())

    def arranged(self, compounds: Compounds, scratch: Nfs4Scratch) -> Arranged:
        """Create what the operation needs. SKIP where the server refuses that."""
        made = {"directory": scratch.handle}
        if {self.on, self.saved} & {"file", "directory"} or self.operation is p.PUTFH:
            made["file"] = scratch.file("file", DATA)
        if self.on == "link":
            made["link"] = scratch.symlink("link", b"target")
        before: list[XdrType] = []
        if self.saved is not None:
            before += [op.putfh(made[self.saved]), op.savefh()]
        if self.on is not None and self.on != self.saved:
            before.append(op.putfh(made[self.on]))
        operands = Operands(made.get("file", b""), clientid=compounds.clientid)
        if self.state is not None:
            operands = operands._replace(stateid=_stateid(compounds, made["file"], self.state))
        if isinstance(compounds, Session):
            operands = operands._replace(sessionid=compounds.id)
        return Arranged(before, self.arguments(operands))


def _stateid(compounds: Compounds, file: bytes, state: State) -> p.Stateid4:
    if state == "reopened":
        owner = new_state_owner()
        open_file(compounds, file, READ, owner=owner)
        return open_file(compounds, file, BOTH, owner=owner).stateid
    opened = open_file(compounds, file, BOTH)
    if state == "open":
        return opened.stateid
    locked = lock_range(compounds, opened, WRITE_LT, 0, 1)
    if state == "locked":
        return locked
    return expect(compounds.compound(op.putfh(file), op.locku(locked, 0, 1))).ok().stateid


def _downgrade(on: Operands) -> p.OpenDowngrade4Args:
    return op.open_downgrade(on.stateid, p.OPEN4_SHARE_ACCESS_READ)


def _layoutcommit(on: Operands) -> p.Layoutcommit4Args:
    return p.Layoutcommit4Args(0, 1, False, on.stateid, None, None, p.Layoutupdate4(_FILES, b""))


def _layoutget(on: Operands) -> p.Layoutget4Args:
    return p.Layoutget4Args(False, _FILES, _ANY, 0, 4096, 4096, on.stateid, 4096)


def _layoutreturn(_on: Operands) -> p.Layoutreturn4Args:
    kind = p.Layoutreturn4(p.LayoutreturnType4.LAYOUTRETURN4_ALL)
    return p.Layoutreturn4Args(False, _FILES, _ANY, kind)


def _get_dir_delegation(_on: Operands) -> p.GetDirDelegation4Args:
    soon = p.Nfstime4(0)
    return p.GetDirDelegation4Args(False, [], soon, soon, [], [])


def _setclientid(_on: Operands) -> p.Setclientid4Args:
    address = p.Netaddr4(b"tcp", b"127.0.0.1.0.1")
    return p.Setclientid4Args(p.NfsClientId4(bytes(8), b"client"), p.CbClient4(1, address), 1)


_FILES: t.Final = p.Layouttype4.LAYOUT4_NFSV4_1_FILES
_ANY: t.Final = p.Layoutiomode4.LAYOUTIOMODE4_READ
_PATTERN: t.Final = p.AppDataBlock4(0, 4, 1, 4, 0, 0, b"data")
_USUAL: t.Final = Fattr4(mode=0o755)
CALLS: t.Final[dict[str, Call]] = {
    call.name: call
    for call in (
        Call(p.ACCESS, lambda on: op.access(p.ACCESS4_READ), "file"),
        Call(p.CLOSE, lambda on: op.close(on.stateid), "file", state="open"),
        Call(p.COMMIT, lambda on: op.commit(), "file"),
        Call(p.CREATE, lambda on: op.mkdir(on.new_name, _USUAL), "directory"),
        Call(p.DELEGPURGE, lambda on: op.delegpurge(on.clientid), succeeds=False),
        Call(p.DELEGRETURN, lambda on: op.delegreturn(on.stateid), "file", succeeds=False),
        Call(p.GETATTR, lambda on: op.getattr("size", "change"), "file"),
        Call(p.GETFH, lambda on: op.getfh(), "file"),
        Call(p.LINK, lambda on: op.link(on.new_name), "directory", "file"),
        Call(
            p.LOCK,
            lambda on: op.lock(on.stateid, WRITE_LT, 0, 1, owner=new_state_owner()),
            "file",
            state="open",
        ),
        Call(p.LOCKT, lambda on: op.lockt(WRITE_LT, 0, 1, owner=new_state_owner()), "file"),
        Call(p.LOCKU, lambda on: op.locku(on.stateid, 0, 1), "file", state="locked"),
        Call(p.LOOKUP, lambda on: op.lookup(on.name), "directory"),
        Call(p.LOOKUPP, lambda on: op.lookupp(), "directory"),
        Call(p.NVERIFY, lambda on: op.nverify(Fattr4(size=len(DATA) + 1)), "file"),
        Call(p.OPEN, lambda on: op.open(on.name, READ, owner=new_state_owner()), "directory"),
        Call(p.OPENATTR, lambda on: op.openattr(createdir=True), "file"),
        Call(p.OPEN_CONFIRM, lambda on: p.OpenConfirm4Args(on.stateid, 1), succeeds=False),
        Call(
            p.OPEN_DOWNGRADE,
            lambda on: op.open_downgrade(on.stateid, p.OPEN4_SHARE_ACCESS_READ),
            "file",
            state="reopened",
        ),
        Call(p.PUTFH, lambda on: op.putfh(on.handle)),
        Call(p.PUTPUBFH, lambda on: op.putpubfh()),
        Call(p.PUTROOTFH, lambda on: op.putrootfh()),
        Call(p.READ, lambda on: op.read(op.ANONYMOUS, 0, len(DATA)), "file"),
        Call(p.READDIR, lambda on: op.readdir(maxcount=4096, dircount=4096), "directory"),
        Call(p.READLINK, lambda on: op.readlink(), "link"),
        Call(p.REMOVE, lambda on: op.remove(on.name), "directory"),
        Call(p.RENAME, lambda on: op.rename(on.name, on.new_name), "directory", "directory"),
        Call(p.RENEW, lambda on: p.Renew4Args(on.clientid), succeeds=False),
        Call(p.RESTOREFH, lambda on: op.restorefh(), "directory", "file"),
        Call(p.SAVEFH, lambda on: op.savefh(), "file"),
        Call(p.SECINFO, lambda on: op.secinfo(on.name), "directory"),
        Call(p.SETATTR, lambda on: op.setattr(Fattr4(mode=0o600)), "file"),
        Call(p.SETCLIENTID, _setclientid, succeeds=False),
        Call(p.SETCLIENTID_CONFIRM, lambda on: p.SetclientidConfirm4Args(1, bytes(8)), succeeds=False),
        Call(p.VERIFY, lambda on: op.verify(Fattr4(size=len(DATA))), "file"),
        Call(p.WRITE, lambda on: op.write(op.ANONYMOUS, 0, b"more"), "file"),
        Call(
            p.RELEASE_LOCKOWNER,
            lambda on: p.ReleaseLockowner4Args(p.StateOwner4(1, b"owner")),
            succeeds=False,
        ),
        Call(p.BACKCHANNEL_CTL, lambda on: op.backchannel_ctl(), succeeds=False),  # it needs a backchannel
        Call(p.BIND_CONN_TO_SESSION, lambda on: op.bind_conn_to_session(on.sessionid), succeeds=False),
        Call(p.EXCHANGE_ID, lambda on: op.exchange_id(new_owner()), succeeds=False),  # it leaves a client
        Call(p.CREATE_SESSION, lambda on: op.create_session(on.clientid, 0), succeeds=False),
        Call(p.DESTROY_SESSION, lambda on: op.destroy_session(on.sessionid), succeeds=False),
        Call(p.FREE_STATEID, lambda on: op.free_stateid(on.stateid), "file", state="unlocked"),
        Call(p.GET_DIR_DELEGATION, _get_dir_delegation, "directory", succeeds=False),
        Call(
            p.GETDEVICEINFO,
            lambda on: p.Getdeviceinfo4Args(bytes(16), _FILES, 4096, []),
            succeeds=False,
        ),
        Call(
            p.GETDEVICELIST,
            lambda on: p.Getdevicelist4Args(_FILES, 8, 0, bytes(8)),
            "directory",
            succeeds=False,
        ),
        Call(p.LAYOUTCOMMIT, _layoutcommit, "file", succeeds=False),
        Call(p.LAYOUTGET, _layoutget, "file", state="open", succeeds=False),
        Call(p.LAYOUTRETURN, _layoutreturn, "file", succeeds=False),
        Call(p.SECINFO_NO_NAME, lambda on: op.secinfo_no_name(), "directory"),
        Call(p.SEQUENCE, lambda on: op.sequence(on.sessionid, 1), succeeds=False),
        Call(p.SET_SSV, lambda on: p.SetSsv4Args(bytes(16), bytes(16)), succeeds=False),
        Call(p.TEST_STATEID, lambda on: op.test_stateid(on.stateid), "file", state="open"),
        Call(
            p.WANT_DELEGATION,
            lambda on: op.want_delegation(p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG),
            "file",
            succeeds=False,
        ),
        Call(p.DESTROY_CLIENTID, lambda on: op.destroy_clientid(on.clientid), succeeds=False),
        Call(p.RECLAIM_COMPLETE, lambda on: op.reclaim_complete(one_fs=True), "directory"),
        Call(p.GETXATTR, lambda on: op.getxattr(b"name"), "file", succeeds=False),
        Call(p.SETXATTR, lambda on: op.setxattr(b"name", b"value"), "file"),
        Call(p.LISTXATTRS, lambda on: op.listxattrs(), "file"),
        Call(p.REMOVEXATTR, lambda on: op.removexattr(b"name"), "file", succeeds=False),
        Call(p.ALLOCATE, lambda on: op.allocate(on.stateid, 0, 4096), "file", state="open"),
        Call(p.DEALLOCATE, lambda on: op.deallocate(on.stateid, 0, 4), "file", state="open"),
        Call(
            p.SEEK,
            lambda on: op.seek(on.stateid, 0, p.DataContent4.NFS4_CONTENT_DATA),
            "file",
            state="open",
        ),
        Call(
            p.COPY_NOTIFY,
            lambda on: p.CopyNotify4Args(on.stateid, p.Netloc4(p.NetlocType4.NL4_NAME, b"nobody.invalid")),
            "file",
            state="open",
            succeeds=False,
        ),
        Call(p.IO_ADVISE, lambda on: p.IoAdvise4Args(on.stateid, 0, 4, []), "file", state="open"),
        Call(p.OFFLOAD_CANCEL, lambda on: p.OffloadCancel4Args(on.stateid), "file", succeeds=False),
        Call(p.OFFLOAD_STATUS, lambda on: p.OffloadStatus4Args(on.stateid), "file", succeeds=False),
        Call(p.READ_PLUS, lambda on: p.ReadPlus4Args(on.stateid, 0, 4), "file", state="open"),
        Call(
            p.WRITE_SAME,
            lambda on: p.WriteSame4Args(on.stateid, p.StableHow4.FILE_SYNC4, _PATTERN),
            "file",
            state="open",
        ),
        Call(p.ILLEGAL, lambda on: op.illegal(), succeeds=False),
    )
}


def named(chosen: Callable[[Call], bool], minor: int = 1) -> list[str]:
    """The names of calls, of the operations that a minor version may implement."""
    return [
        name
        for name, call in CALLS.items()
        if call.operation.is_implementable(minor) and call.operation is not p.ILLEGAL and chosen(call)
    ]


PNFS: t.Final = ("getdeviceinfo", "getdevicelist", "layoutcommit", "layoutget", "layoutreturn")
REMOVED: t.Final = tuple(name for name, call in CALLS.items() if call.operation.until == 0)
"""Those that NFSv4.1 has removed."""
WITH_HANDLE: t.Final = tuple(
    named(
        lambda call: (
            (call.operation.needs_current or call.operation.needs_saved)
            and (call.succeeds or not call.operation.is_optional)
        )
    )
)
"""Those that work on a filehandle, but for the optional ones that are hard to arrange."""
ARRANGED: t.Final = tuple(named(lambda call: call.succeeds))
"""Those that succeed in a session with what `Call.arranged` creates."""
IN_SESSIONS: t.Final = tuple(named(lambda call: call.operation not in {p.SEQUENCE, p.BIND_CONN_TO_SESSION}))
"""Those that may follow a SEQUENCE, if only to be refused for what they name."""
