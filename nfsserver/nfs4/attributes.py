# SPDX-License-Identifier: MIT
"""ACCESS, GETATTR, SETATTR, VERIFY and NVERIFY (RFC 5661 sections 18.1, 18.7, 18.15, 18.30, 18.31)."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, NUMBERS, Fattr4, Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import bits_of
from nfsserver.conflicts import clear_way
from nfsserver.fs import Access, Inode, Kind
from nfsserver.handlers import ServerApi
from nfsserver.nfs4 import acls, locations, values
from nfsserver.nfs4.common import REFUSALS, Nfs4Error, compound_of, current, plain, status_of
from nfsserver.nfs4.values import View
from nfsserver.nfs4.writers import size_by_writer
from nfsserver.state.shares import Share

_OK: t.Final = Nfsstat4.NFS4_OK
_MEANT: t.Final = {
    Kind.REGULAR: Access.READ | Access.MODIFY | Access.EXTEND | Access.EXECUTE,
    Kind.DIRECTORY: Access.READ | Access.LOOKUP | Access.MODIFY | Access.EXTEND | Access.DELETE,
}
"""The bits of ACCESS that mean something for an object."""
_CACHED_BY_WRITERS: t.Final = frozenset(
    NUMBERS[name] for name in ("change", "size", "space_used", "time_metadata", "time_modify")
)
"""Attributes that the holder of a write delegation may know better."""
_XATTRS: t.Final = {
    p.ACCESS4_XAREAD: Access.READ,
    p.ACCESS4_XAWRITE: Access.MODIFY,
    p.ACCESS4_XALIST: Access.READ,
}
"""Rights to extended attributes go with those to the data (RFC 8276 section 8.5)."""


def access4(server: ServerApi, context: CallContext, args: p.Access4Args) -> p.Access4Res:
    """ACCESS; bits that nobody defined are not supported."""
    inode, state = current(context), compound_of(context)
    rights = inode.fs.access(state.caller, inode)
    meant = int(_MEANT.get(inode.kind, Access.READ | Access.MODIFY | Access.EXTEND))
    granted = int(rights) & server.knobs.now.access_grants
    if state.minor >= 2:
        for bit, right in _XATTRS.items():
            meant |= bit
            granted |= bit if rights & right else 0
    supported = args.access & meant
    return p.Access4Res(_OK, p.Access4ResOk(supported, supported & granted))


def getattr4(server: ServerApi, context: CallContext, args: p.Getattr4Args) -> p.Getattr4Res:
    """GETATTR; the server first asks the holder of a write delegation, or recalls it (section 10.4.3)."""
    inode, state = current(context), compound_of(context)
    size = None
    if len(server.states.held.stateids) and not _CACHED_BY_WRITERS.isdisjoint(bits_of(args.attr_request)):
        size = size_by_writer(server, inode, state.clientid)
    view = View(server, inode, state.minor)
    if size is not None:
        view.reported = view.reported._replace(size=size)
    return p.Getattr4Res(_OK, p.Getattr4ResOk(values.read(view, args.attr_request)))


def setattr4(server: ServerApi, context: CallContext, args: p.Setattr4Args) -> p.Setattr4Res:
    """SETATTR; all or nothing. The stateid matters where `size` is set (section 18.30.3)."""
    inode, state = current(context), compound_of(context)
    setting = values.setting_of(server, args.obj_attributes, state.minor, inode.mode)
    if setting.changes.size is not None:
        if inode.kind is not Kind.REGULAR:
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
        resized = sorted((inode.size, setting.changes.size))
        require_io(server, context, args.stateid, inode, Share.WRITE, (resized[0], resized[1]))
    clear_way(server, inode, state.clientid, changes=True)
    try:
        apply(context, inode, setting)
    except REFUSALS as refusal:
        return p.Setattr4Res(status_of(refusal, {errno.EISDIR: Nfsstat4.NFS4ERR_INVAL}), [])
    return p.Setattr4Res(_OK, setting.mask)


def apply(context: CallContext, inode: Inode, setting: values.Setting) -> None:
    """Set attributes of an object. Raises `FsError`."""
    acls.require_room(inode, setting.acl)
    inode.fs.setattr(compound_of(context).caller, inode, setting.changes)
    if setting.acl is not None:
        inode.acl = setting.acl


def require_io(
    server: ServerApi,
    context: CallContext,
    stateid: p.Stateid4,
    inode: Inode,
    access: Share,
    span: tuple[int, int],
) -> None:
    """Whether data from `span[0]` up to `span[1]` may be read or written with a stateid. Raises `StateError`."""
    state = compound_of(context)
    locked = span if server.knobs.now.mandatory_locks else None
    state.states.require_io(plain(stateid), state.sender, inode, access, locked)
    clear_way(server, inode, state.clientid, changes=bool(access & Share.WRITE))


# ---------------------------------------------------------------- VERIFY and NVERIFY


def _are_same(server: ServerApi, context: CallContext, given: Fattr4) -> bool:
    """Whether an object has these attributes. Raises ATTRNOTSUPP, INVAL, MOVED."""
    state = compound_of(context)
    if server.backend.pseudo.is_absent(current(context)):
        names = p.names_of(given.attrmask)
        if not locations.has_location(names) or not locations.OF_ABSENT.issuperset(names):  # section 11.3.1
            raise Nfs4Error(Nfsstat4.NFS4ERR_MOVED)
    known = set(bits_of(values.supported(state.minor, values.lacking(server))))
    for number in bits_of(given.attrmask):
        if number not in known:
            raise Nfs4Error(Nfsstat4.NFS4ERR_ATTRNOTSUPP)
        if ATTRIBUTES[number].name == "rdattr_error" or not ATTRIBUTES[number].about.is_readable:
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    if given.mode is not None and given.mode & ~0o7777:  # section 6.2.4
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    found = values.read(View(server, current(context), state.minor), given.attrmask)
    return all(getattr(found, name) == value for name, value in given.values().items())


def verify4(server: ServerApi, context: CallContext, args: p.Verify4Args) -> p.Verify4Res:
    is_same = _are_same(server, context, args.obj_attributes)
    return p.Verify4Res(_OK if is_same else Nfsstat4.NFS4ERR_NOT_SAME)


def nverify4(server: ServerApi, context: CallContext, args: p.Nverify4Args) -> p.Nverify4Res:
    is_same = _are_same(server, context, args.obj_attributes)
    return p.Nverify4Res(Nfsstat4.NFS4ERR_SAME if is_same else _OK)
