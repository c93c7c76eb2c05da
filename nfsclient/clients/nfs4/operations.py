# SPDX-License-Identifier: MIT
"""Operations by their RFC names, in short: ``compound(putfh(f), read(stateid, 0, 100))``.

Each function gives the arguments of one operation, with the usual values as defaults. Anything that a function cannot
say, the class in `nfsclient.protocol.nfs4` can. Use them as ``from nfsclient.clients.nfs4 import operations as op``.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Sequence

from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import Buffer

ANONYMOUS: t.Final = p.ANONYMOUS_STATEID
CURRENT: t.Final = p.CURRENT_STATEID
DEFAULT_OWNER: t.Final = b"nfsproof"
Attributes: t.TypeAlias = Iterable[str] | Sequence[int]
"""Names of attributes, or the words of a bitmap4."""


def words(attributes: Attributes) -> list[int]:
    """A bitmap4 of names, or of words that are given."""
    given = list(attributes)
    names = [name for name in given if isinstance(name, str)]
    return p.bitmap(*names) if names else [number for number in given if isinstance(number, int)]


# ---------------------------------------------------------------- filehandles


def putfh(object: bytes) -> p.Putfh4Args:
    return p.Putfh4Args(object)


def putrootfh() -> p.Putrootfh4Args:
    return p.Putrootfh4Args()


def putpubfh() -> p.Putpubfh4Args:
    return p.Putpubfh4Args()


def getfh() -> p.Getfh4Args:
    return p.Getfh4Args()


def savefh() -> p.Savefh4Args:
    return p.Savefh4Args()


def restorefh() -> p.Restorefh4Args:
    return p.Restorefh4Args()


def lookup(objname: bytes) -> p.Lookup4Args:
    return p.Lookup4Args(objname)


def lookupp() -> p.Lookupp4Args:
    return p.Lookupp4Args()


def openattr(*, createdir: bool = False) -> p.Openattr4Args:
    return p.Openattr4Args(createdir)


def secinfo(name: bytes) -> p.Secinfo4Args:
    return p.Secinfo4Args(name)


def secinfo_no_name(
    style: p.SecinfoStyle4 = p.SecinfoStyle4.SECINFO_STYLE4_CURRENT_FH,
) -> p.SecinfoNoName4Args:
    return p.SecinfoNoName4Args(style)


def illegal() -> p.Illegal4Args:
    return p.Illegal4Args()


# ---------------------------------------------------------------- files and attributes


def access(access: int) -> p.Access4Args:
    return p.Access4Args(access)


def getattr(*attributes: str) -> p.Getattr4Args:  # noqa: A001 - the RFC's name
    """GETATTR of these attributes, by name."""
    return p.Getattr4Args(p.bitmap(*attributes))


def setattr(attributes: p.Fattr4, stateid: p.Stateid4 = ANONYMOUS) -> p.Setattr4Args:  # noqa: A001 - the RFC's name
    return p.Setattr4Args(stateid, attributes)


def verify(attributes: p.Fattr4) -> p.Verify4Args:
    return p.Verify4Args(attributes)


def nverify(attributes: p.Fattr4) -> p.Nverify4Args:
    return p.Nverify4Args(attributes)


def readlink() -> p.Readlink4Args:
    return p.Readlink4Args()


def read(stateid: p.Stateid4, offset: int, count: int) -> p.Read4Args:
    return p.Read4Args(stateid, offset, count)


def write(
    stateid: p.Stateid4, offset: int, data: Buffer, stable: p.StableHow4 = p.StableHow4.FILE_SYNC4
) -> p.Write4Args:
    return p.Write4Args(stateid, offset, stable, data)


def commit(offset: int = 0, count: int = 0) -> p.Commit4Args:
    return p.Commit4Args(offset, count)


# ---------------------------------------------------------------- names


def create(
    name: bytes, type: p.NfsFtype4 | p.Createtype4, attributes: p.Fattr4 | None = None
) -> p.Create4Args:
    """CREATE of anything but a regular file; links and devices need a `Createtype4`, see `symlink`."""
    kind = type if isinstance(type, p.Createtype4) else p.Createtype4(type)
    return p.Create4Args(kind, name, p.Fattr4() if attributes is None else attributes)


def mkdir(name: bytes, attributes: p.Fattr4 | None = None) -> p.Create4Args:
    """CREATE of a directory, with mode 755 if no attributes are given."""
    return create(name, p.NfsFtype4.NF4DIR, p.Fattr4(mode=0o755) if attributes is None else attributes)


def symlink(name: bytes, linkdata: bytes, attributes: p.Fattr4 | None = None) -> p.Create4Args:
    """CREATE of a symbolic link with this text."""
    return create(name, p.Createtype4(p.NfsFtype4.NF4LNK, linkdata=linkdata), attributes)


def link(newname: bytes) -> p.Link4Args:
    """LINK: a name in the current filehandle for the saved one."""
    return p.Link4Args(newname)


def remove(target: bytes) -> p.Remove4Args:
    return p.Remove4Args(target)


def rename(oldname: bytes, newname: bytes) -> p.Rename4Args:
    """RENAME from the saved filehandle into the current one."""
    return p.Rename4Args(oldname, newname)


def readdir(
    cookie: int = 0,
    cookieverf: bytes = bytes(p.NFS4_VERIFIER_SIZE),
    *,
    maxcount: int = 32768,
    dircount: int = 0,
    attributes: Attributes = (),
) -> p.Readdir4Args:
    return p.Readdir4Args(cookie, cookieverf, dircount, maxcount, words(attributes))


# ---------------------------------------------------------------- opens and delegations


def open(  # noqa: A001 - the RFC's name
    claim: p.OpenClaim4 | bytes | None,
    access: int = p.OPEN4_SHARE_ACCESS_READ,
    deny: int = p.OPEN4_SHARE_DENY_NONE,
    *,
    owner: bytes | p.StateOwner4 = DEFAULT_OWNER,
    how: p.Openflag4 | p.Createhow4 | None = None,
    seqid: int = 0,
) -> p.Open4Args:
    """OPEN: a name in the current directory (CLAIM_NULL), the current file (None: CLAIM_FH), or any claim.

    `how` None does not create; see `unchecked`, `guarded`, `exclusive` and `exclusive4_1`.
    """
    if isinstance(how, p.Createhow4):
        how = p.Openflag4(p.Opentype4.OPEN4_CREATE, how)
    return p.Open4Args(
        seqid,
        access,
        deny,
        owner if isinstance(owner, p.StateOwner4) else p.StateOwner4(0, owner),
        p.Openflag4(p.Opentype4.OPEN4_NOCREATE) if how is None else how,
        _claim(claim),
    )


def _claim(claim: p.OpenClaim4 | bytes | None) -> p.OpenClaim4:
    if claim is None:
        return p.OpenClaim4(p.OpenClaimType4.CLAIM_FH)
    return p.OpenClaim4(p.OpenClaimType4.CLAIM_NULL, file=claim) if isinstance(claim, bytes) else claim


def claim_previous(
    delegation: p.OpenDelegationType4 = p.OpenDelegationType4.OPEN_DELEGATE_NONE,
) -> p.OpenClaim4:
    """The current file was open, and delegated like this, before the server restarted."""
    return p.OpenClaim4(p.OpenClaimType4.CLAIM_PREVIOUS, delegate_type=delegation)


def claim_delegate_cur(stateid: p.Stateid4, name: bytes) -> p.OpenClaim4:
    """A name in the current directory, of a file whose delegation the client holds."""
    return p.OpenClaim4(
        p.OpenClaimType4.CLAIM_DELEGATE_CUR, delegate_cur_info=p.OpenClaimDelegateCur4(stateid, name)
    )


def claim_deleg_cur_fh(stateid: p.Stateid4) -> p.OpenClaim4:
    """The current file, whose delegation the client holds."""
    return p.OpenClaim4(p.OpenClaimType4.CLAIM_DELEG_CUR_FH, oc_delegate_stateid=stateid)


def unchecked(attributes: p.Fattr4 | None = None) -> p.Createhow4:
    """UNCHECKED4: create the file, or take the one that exists."""
    return p.Createhow4(
        p.Createmode4.UNCHECKED4, createattrs=p.Fattr4(mode=0o644) if attributes is None else attributes
    )


def guarded(attributes: p.Fattr4 | None = None) -> p.Createhow4:
    """GUARDED4: create the file; EXIST if the name does."""
    return p.Createhow4(
        p.Createmode4.GUARDED4, createattrs=p.Fattr4(mode=0o644) if attributes is None else attributes
    )


def exclusive(verifier: bytes) -> p.Createhow4:
    """EXCLUSIVE4: the verifier tells a repetition; attributes must follow with SETATTR."""
    return p.Createhow4(p.Createmode4.EXCLUSIVE4, createverf=verifier)


def exclusive4_1(verifier: bytes, attributes: p.Fattr4 | None = None) -> p.Createhow4:
    """EXCLUSIVE4_1: with attributes of `suppattr_exclcreat`."""
    attrs = p.Fattr4(mode=0o644) if attributes is None else attributes
    return p.Createhow4(p.Createmode4.EXCLUSIVE4_1, ch_createboth=p.Creatverfattr(verifier, attrs))


def open_downgrade(
    stateid: p.Stateid4, access: int, deny: int = p.OPEN4_SHARE_DENY_NONE, *, seqid: int = 0
) -> p.OpenDowngrade4Args:
    return p.OpenDowngrade4Args(stateid, seqid, access, deny)


def close(stateid: p.Stateid4, *, seqid: int = 0) -> p.Close4Args:
    return p.Close4Args(seqid, stateid)


def delegreturn(stateid: p.Stateid4) -> p.Delegreturn4Args:
    return p.Delegreturn4Args(stateid)


def delegpurge(clientid: int = 0) -> p.Delegpurge4Args:
    return p.Delegpurge4Args(clientid)


def want_delegation(want: int, claim: p.DelegClaim4 | None = None) -> p.WantDelegation4Args:
    """WANT_DELEGATION for the current file, or by another claim."""
    return p.WantDelegation4Args(want, claim or p.DelegClaim4(p.OpenClaimType4.CLAIM_FH))


# ---------------------------------------------------------------- locks


def lock(
    stateid: p.Stateid4,
    type: p.NfsLockType4 = p.NfsLockType4.WRITE_LT,
    offset: int = 0,
    length: int = p.NFS4_MAXFILELEN,
    *,
    owner: bytes | p.StateOwner4 = DEFAULT_OWNER,
    reclaim: bool = False,
    open_seqid: int = 0,
    lock_seqid: int = 0,
) -> p.Lock4Args:
    """LOCK: the first one of a lock owner in an open, whose stateid is given."""
    who = owner if isinstance(owner, p.StateOwner4) else p.StateOwner4(0, owner)
    locker = p.Locker4(True, open_owner=p.OpenToLockOwner4(open_seqid, stateid, lock_seqid, who))
    return p.Lock4Args(type, reclaim, offset, length, locker)


def lock_more(
    lock_stateid: p.Stateid4,
    type: p.NfsLockType4 = p.NfsLockType4.WRITE_LT,
    offset: int = 0,
    length: int = p.NFS4_MAXFILELEN,
    *,
    reclaim: bool = False,
    lock_seqid: int = 0,
) -> p.Lock4Args:
    """LOCK: a further one of a lock owner that has a lock stateid."""
    locker = p.Locker4(False, lock_owner=p.ExistLockOwner4(lock_stateid, lock_seqid))
    return p.Lock4Args(type, reclaim, offset, length, locker)


def lockt(
    type: p.NfsLockType4 = p.NfsLockType4.WRITE_LT,
    offset: int = 0,
    length: int = p.NFS4_MAXFILELEN,
    *,
    owner: bytes | p.StateOwner4 = DEFAULT_OWNER,
) -> p.Lockt4Args:
    who = owner if isinstance(owner, p.StateOwner4) else p.StateOwner4(0, owner)
    return p.Lockt4Args(type, offset, length, who)


def locku(
    stateid: p.Stateid4,
    offset: int = 0,
    length: int = p.NFS4_MAXFILELEN,
    type: p.NfsLockType4 = p.NfsLockType4.WRITE_LT,
    *,
    seqid: int = 0,
) -> p.Locku4Args:
    return p.Locku4Args(type, seqid, stateid, offset, length)


def test_stateid(*stateids: p.Stateid4) -> p.TestStateid4Args:
    return p.TestStateid4Args(list(stateids))


def free_stateid(stateid: p.Stateid4) -> p.FreeStateid4Args:
    return p.FreeStateid4Args(stateid)


# ---------------------------------------------------------------- clients and sessions


def sequence(
    sessionid: bytes, sequenceid: int, slotid: int = 0, highest_slotid: int = 0, *, cachethis: bool = False
) -> p.Sequence4Args:
    """SEQUENCE with any numbers; `SessionState.sequence` has those that are right."""
    return p.Sequence4Args(sessionid, sequenceid, slotid, highest_slotid, cachethis)


def exchange_id(
    owner: p.ClientOwner4,
    flags: int = 0,
    *,
    state_protect: p.StateProtect4A | None = None,
    impl_id: Sequence[p.NfsImplId4] = (),
) -> p.ExchangeId4Args:
    protect = p.StateProtect4A(p.StateProtectHow4.SP4_NONE) if state_protect is None else state_protect
    return p.ExchangeId4Args(owner, flags, protect, list(impl_id))


def channel(
    *,
    requestsize: int = (1 << 20) + 4096,
    responsesize: int = (1 << 20) + 4096,
    responsesize_cached: int = 8192,
    operations: int = 64,
    requests: int = 64,
    headerpadsize: int = 0,
    rdma_ird: Sequence[int] = (),
) -> p.ChannelAttrs4:
    """channel_attrs4: sizes in bytes of whole RPC messages, operations of a compound, and slots."""
    return p.ChannelAttrs4(
        headerpadsize, requestsize, responsesize, responsesize_cached, operations, requests, list(rdma_ird)
    )


def create_session(
    clientid: int,
    sequence: int,
    flags: int = 0,
    *,
    fore: p.ChannelAttrs4 | None = None,
    back: p.ChannelAttrs4 | None = None,
    cb_program: int = p.CALLBACK_PROGRAM,
    sec_parms: Sequence[p.CallbackSecParms4] | None = None,
) -> p.CreateSession4Args:
    """CREATE_SESSION; without `sec_parms` callbacks come with AUTH_NONE."""
    security = [p.CallbackSecParms4(p.AUTH_NONE)] if sec_parms is None else list(sec_parms)
    wanted = channel(requestsize=8192, responsesize=8192, operations=8, requests=8) if back is None else back
    return p.CreateSession4Args(clientid, sequence, flags, fore or channel(), wanted, cb_program, security)


def destroy_session(sessionid: bytes) -> p.DestroySession4Args:
    return p.DestroySession4Args(sessionid)


def destroy_clientid(clientid: int) -> p.DestroyClientid4Args:
    return p.DestroyClientid4Args(clientid)


def bind_conn_to_session(
    sessionid: bytes,
    dir: p.ChannelDirFromClient4 = p.ChannelDirFromClient4.CDFC4_FORE_OR_BOTH,
    *,
    use_conn_in_rdma_mode: bool = False,
) -> p.BindConnToSession4Args:
    return p.BindConnToSession4Args(sessionid, dir, use_conn_in_rdma_mode)


def backchannel_ctl(
    cb_program: int = p.CALLBACK_PROGRAM, sec_parms: Sequence[p.CallbackSecParms4] | None = None
) -> p.BackchannelCtl4Args:
    security = [p.CallbackSecParms4(p.AUTH_NONE)] if sec_parms is None else list(sec_parms)
    return p.BackchannelCtl4Args(cb_program, security)


def reclaim_complete(*, one_fs: bool = False) -> p.ReclaimComplete4Args:
    return p.ReclaimComplete4Args(one_fs)


# ---------------------------------------------------------------- extended attributes, ranges (4.2)


def getxattr(name: bytes) -> p.Getxattr4Args:
    return p.Getxattr4Args(name)


def setxattr(
    name: bytes, value: bytes, option: p.SetxattrOption4 = p.SetxattrOption4.SETXATTR4_EITHER
) -> p.Setxattr4Args:
    return p.Setxattr4Args(option, name, value)


def listxattrs(cookie: int = 0, maxcount: int = 32768) -> p.Listxattrs4Args:
    return p.Listxattrs4Args(cookie, maxcount)


def removexattr(name: bytes) -> p.Removexattr4Args:
    return p.Removexattr4Args(name)


def allocate(stateid: p.Stateid4, offset: int, length: int) -> p.Allocate4Args:
    return p.Allocate4Args(stateid, offset, length)


def deallocate(stateid: p.Stateid4, offset: int, length: int) -> p.Deallocate4Args:
    return p.Deallocate4Args(stateid, offset, length)


def seek(stateid: p.Stateid4, offset: int, what: p.DataContent4) -> p.Seek4Args:
    return p.Seek4Args(stateid, offset, what)
