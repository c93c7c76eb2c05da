# SPDX-License-Identifier: MIT
"""Extended attributes: GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR (RFC 8276 section 8.4)."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsserver.bounds import MOST
from nfsserver.conflicts import clear_way
from nfsserver.fs import FsError, Inode, permissions
from nfsserver.fs.attributes import check_writable
from nfsserver.fs.objects import size_of
from nfsserver.handlers import ServerApi
from nfsserver.nfs4.common import Nfs4Error, change_info, compound_of, current

_OK: t.Final = Nfsstat4.NFS4_OK
_MOST_NAME: t.Final = 255


def _check_key(name: bytes) -> None:
    """Raises INVAL for an empty name and for one that is no UTF-8, NAMETOOLONG."""
    try:
        name.decode()
    except UnicodeDecodeError:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL) from None
    if not name:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    if len(name) > _MOST_NAME:
        raise FsError(errno.ENAMETOOLONG)


def _may(context: CallContext, inode: Inode, wanted: int) -> None:
    if not permissions.may(compound_of(context).caller, inode, wanted):
        raise FsError(errno.EACCES)


def getxattr4(_server: ServerApi, context: CallContext, args: p.Getxattr4Args) -> p.Getxattr4Res:
    inode = current(context)
    _check_key(bytes(args.gxa_name))
    _may(context, inode, permissions.READ)
    value = inode.xattrs.get(bytes(args.gxa_name))
    if value is None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOXATTR)
    return p.Getxattr4Res(_OK, value)


def _changing(server: ServerApi, context: CallContext, name: bytes) -> Inode:
    """The object whose extended attributes are to be changed."""
    inode = current(context)
    _check_key(name)
    check_writable(inode.fs, inode)
    _may(context, inode, permissions.WRITE)
    clear_way(server, inode, compound_of(context).clientid, changes=True)
    return inode


def setxattr4(server: ServerApi, context: CallContext, args: p.Setxattr4Args) -> p.Setxattr4Res:
    """SETXATTR; the option says whether the name must be new, must be there, or either."""
    name, value = bytes(args.sxa_key), bytes(args.sxa_value)
    inode = _changing(server, context, name)
    if not args.sxa_option.is_known:
        raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    is_there = name in inode.xattrs
    if args.sxa_option == p.SetxattrOption4.SETXATTR4_CREATE and is_there:
        raise FsError(errno.EEXIST)
    if args.sxa_option == p.SetxattrOption4.SETXATTR4_REPLACE and not is_there:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOXATTR)
    if len(name) + len(value) > MOST.xattrs:
        raise Nfs4Error(Nfsstat4.NFS4ERR_XATTR2BIG)
    objects, now = inode.fs.objects, size_of(inode.xattrs)
    growth = len(name) + len(value) - (len(name) + len(inode.xattrs[name]) if is_there else 0)
    if now + growth > MOST.xattrs or objects.xattrs + growth > MOST.all_xattrs:
        raise FsError(errno.ENOSPC)
    before = inode.change
    inode.xattrs[name] = value
    objects.xattrs += growth
    inode.touch(inode.fs.stamp())
    return p.Setxattr4Res(_OK, change_info(inode, before, atomic=server.knobs.now.atomic_change_info))


def removexattr4(server: ServerApi, context: CallContext, args: p.Removexattr4Args) -> p.Removexattr4Res:
    name = bytes(args.rxa_name)
    inode = _changing(server, context, name)
    value = inode.xattrs.pop(name, None)
    if value is None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_NOXATTR)
    inode.fs.objects.xattrs -= len(name) + len(value)
    before = inode.change
    inode.touch(inode.fs.stamp())
    return p.Removexattr4Res(_OK, change_info(inode, before, atomic=server.knobs.now.atomic_change_info))


def listxattrs4(_server: ServerApi, context: CallContext, args: p.Listxattrs4Args) -> p.Listxattrs4Res:
    """LISTXATTRS, in pages; a cookie is the number of names before it."""
    inode, state = current(context), compound_of(context)
    _may(context, inode, permissions.READ)
    names = sorted(inode.xattrs)
    if args.lxa_cookie > len(names):
        raise Nfs4Error(Nfsstat4.NFS4ERR_BAD_COOKIE)
    room = args.lxa_maxcount if state.room is None else min(args.lxa_maxcount, state.room.left - 8)
    room -= 8 + 4 + 4
    page: list[bytes] = []
    for name in names[args.lxa_cookie :]:
        room -= 4 + (len(name) + 3) // 4 * 4
        if room < 0:
            break
        page.append(name)
    cookie = args.lxa_cookie + len(page)
    if room < 0 and not page:
        raise Nfs4Error(Nfsstat4.NFS4ERR_TOOSMALL)
    return p.Listxattrs4Res(_OK, p.Listxattrs4ResOk(cookie, page, cookie == len(names)))
