# SPDX-License-Identifier: MIT
"""What the NFSv4 handlers share: statuses, and what the operations of one compound have in common."""

from __future__ import annotations

import errno
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Struct, XdrType
from nfsserver.fs import Caller, FsError, Inode, Kind
from nfsserver.fs.rules import is_alias, is_plain_text
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.room import Room
from nfsserver.state.manager import StateManager
from nfsserver.state.records import Client, Limits4, Session, Slot
from nfsserver.state.stateids import StateError, Stateid

STATUS_OF_ERRNO: t.Final = {
    errno.EPERM: Nfsstat4.NFS4ERR_PERM,
    errno.ENOENT: Nfsstat4.NFS4ERR_NOENT,
    errno.EACCES: Nfsstat4.NFS4ERR_ACCESS,
    errno.EEXIST: Nfsstat4.NFS4ERR_EXIST,
    errno.EXDEV: Nfsstat4.NFS4ERR_XDEV,
    errno.ENOTDIR: Nfsstat4.NFS4ERR_NOTDIR,
    errno.EISDIR: Nfsstat4.NFS4ERR_ISDIR,
    errno.EINVAL: Nfsstat4.NFS4ERR_INVAL,
    errno.EFBIG: Nfsstat4.NFS4ERR_FBIG,
    errno.ENOSPC: Nfsstat4.NFS4ERR_NOSPC,
    errno.EROFS: Nfsstat4.NFS4ERR_ROFS,
    errno.EMLINK: Nfsstat4.NFS4ERR_MLINK,
    errno.ENAMETOOLONG: Nfsstat4.NFS4ERR_NAMETOOLONG,
    errno.ENOTEMPTY: Nfsstat4.NFS4ERR_NOTEMPTY,
    errno.ESTALE: Nfsstat4.NFS4ERR_STALE,
    errno.EBADF: Nfsstat4.NFS4ERR_BADHANDLE,
    errno.EDQUOT: Nfsstat4.NFS4ERR_DQUOT,
    errno.EOPNOTSUPP: Nfsstat4.NFS4ERR_NOTSUPP,
}


class Nfs4Error(Exception):
    """A refusal by a status that no errno says."""

    def __init__(self, status: Nfsstat4) -> None:
        super().__init__(status.name)
        self.status = status


REFUSALS: t.Final = (FsError, Nfs4Error, StateError)
"""Exceptions of handlers that are the status of their operation."""


def status_of(refusal: Exception, instead: Mapping[int, Nfsstat4] | None = None) -> Nfsstat4:
    """The status for a refusal; `instead` holds the errnos that one operation answers in its own way."""
    if isinstance(refusal, Nfs4Error):
        return refusal.status
    if isinstance(refusal, StateError):
        return Nfsstat4[f"NFS4ERR_{refusal.status}"]
    assert isinstance(refusal, FsError)
    if instead is not None and refusal.errno in instead:
        return instead[refusal.errno]
    return STATUS_OF_ERRNO.get(refusal.errno, Nfsstat4.NFS4ERR_SERVERFAULT)


def failed(operation: p.AnyOperation, status: Nfsstat4) -> XdrType:
    """The result of an operation that is refused."""
    cls: t.Any = operation.res
    if issubclass(cls, p.Setattr4Res):
        return p.Setattr4Res(status, [])
    if issubclass(cls, Struct):
        return t.cast("XdrType", cls(status))
    return t.cast("XdrType", cls(status))


# ---------------------------------------------------------------- one compound


@dataclass(slots=True)
class CompoundState:
    """What the operations of one compound share (RFC 5661 section 16.2.3.1)."""

    minor: int
    caller: Caller
    states: StateManager
    current: Inode | None = None
    saved: Inode | None = None
    handle: bytes | None = None
    """The current filehandle as the client gave it; None: any one of the object."""
    saved_handle: bytes | None = None
    stateid: Stateid | None = None
    """The current stateid; None: there is none, or only a special one."""
    saved_stateid: Stateid | None = None
    sender: Client | None = None
    """Who sends it, as soon as that is known: since 4.1 the client of the session."""
    session: Session | None = None
    slot: Slot | None = None
    cached: bool = False
    """Whether the reply is to be kept (`sa_cachethis`)."""
    replay: t.Any = None
    """The whole reply that a retry gets."""
    room: Room | None = None
    """How much the reply may still grow; None if nothing bounds it."""
    index: int = 0
    """The place of the operation that is executed."""
    last: int = 0
    """The place of the last operation of the request."""
    size: int = 0
    """Bytes of the request."""
    begins: int = 0
    """Where the first operation stands in the request."""
    exceeded: Limits4 | None = None
    """The limits of the session, if the request has more: the operation that exceeds them is refused."""
    header: int = 0
    """Bytes of the reply without results."""
    fingerprint: t.Hashable = None
    """What tells this request from others that reuse its sequence id."""
    operations: list[XdrType] = field(default_factory=list)
    """The arguments of all operations."""

    @property
    def client(self) -> Client:
        """Who sends it. For operations that only a known client may send: the beginning has refused others."""
        assert self.sender is not None
        return self.sender

    @property
    def clientid(self) -> int | None:
        """The client ID of who sends it; None if nothing has said it, as in a READ of 4.0 without a stateid."""
        return None if self.sender is None else self.sender.id


def principal_of(context: CallContext) -> t.Hashable:
    """Who makes a call, as far as client records tell callers apart."""
    credential = context.credential
    return ("AUTH_SYS", credential.uid) if isinstance(credential, AuthSys) else ("AUTH_NONE", 0)


def compound_of(context: CallContext) -> CompoundState:
    """The state of the compound that an operation is in."""
    return t.cast("CompoundState", context.state)


def current(context: CallContext) -> Inode:
    """The object of the current filehandle. Raises STALE if it is gone."""
    inode = compound_of(context).current
    if inode is None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOFILEHANDLE)
    return live(inode)


def saved(context: CallContext) -> Inode:
    """The same for the saved filehandle."""
    inode = compound_of(context).saved
    if inode is None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOFILEHANDLE)
    return live(inode)


def live(inode: Inode) -> Inode:
    """The object, if it still exists. Raises ESTALE."""
    return inode.fs.inode(inode.fileid, inode.generation)


def become_current(context: CallContext, inode: Inode, handle: bytes | None = None) -> None:
    """Another current filehandle; the current stateid goes (section 16.2.3.1.2)."""
    state = compound_of(context)
    state.current, state.handle = inode, handle
    state.stateid = None


def plain(stateid: p.Stateid4) -> Stateid:
    """A stateid as `nfsserver.state` has it."""
    return Stateid(stateid.seqid, bytes(stateid.other))


def on_wire(stateid: Stateid) -> p.Stateid4:
    """A stateid as a message has it."""
    return p.Stateid4(stateid.seqid, stateid.other)


def change_info(directory: Inode, before: int, *, atomic: bool) -> p.ChangeInfo4:
    """change_info4 of a directory whose `change` was `before` (section 3.3.8)."""
    return p.ChangeInfo4(atomic, before, directory.change)


def check_name(server: ServerApi, name: bytes, directory: Inode) -> None:
    """Raises INVAL for an empty name and for one that is no UTF-8, BADCHAR, and BADNAME for ``.`` and ``..``.

    RFC 5661 sections 14.5 and 15.1.4.
    """
    if not name or (server.knobs.now.utf8_names and not is_utf8(name)):
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    if b"/" in name or b"\0" in name or (directory.fs.limits.restricted_names and not is_plain_text(name)):
        raise Nfs4Error(Nfsstat4.NFS4ERR_BADCHAR)
    if is_alias(name):
        raise Nfs4Error(Nfsstat4.NFS4ERR_BADNAME)


def is_utf8(text: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def require_file(inode: Inode) -> None:
    """Raises ISDIR, SYMLINK or WRONG_TYPE for what is no regular file."""
    if inode.kind is not Kind.REGULAR:
        wrong = {Kind.DIRECTORY: Nfsstat4.NFS4ERR_ISDIR, Kind.SYMLINK: Nfsstat4.NFS4ERR_SYMLINK}
        raise Nfs4Error(wrong.get(inode.kind, Nfsstat4.NFS4ERR_WRONG_TYPE))


def require_directory(inode: Inode) -> None:
    """Raises SYMLINK or NOTDIR for what is no directory: for the operations that tell them apart."""
    if inode.kind is not Kind.DIRECTORY:
        is_link = inode.kind is Kind.SYMLINK
        raise Nfs4Error(Nfsstat4.NFS4ERR_SYMLINK if is_link else Nfsstat4.NFS4ERR_NOTDIR)
