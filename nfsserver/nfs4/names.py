# SPDX-License-Identifier: MIT
"""CREATE, REMOVE, RENAME and LINK (RFC 5661 sections 18.4, 18.9, 18.25, 18.26)."""

from __future__ import annotations

import errno
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsserver.conflicts import clear_way
from nfsserver.fs import Caller, FsError, Inode, Kind
from nfsserver.fs.rules import require_directory
from nfsserver.handlers import ServerApi
from nfsserver.nfs4 import acls
from nfsserver.nfs4.common import (
    Nfs4Error,
    become_current,
    change_info,
    check_name,
    compound_of,
    current,
    is_utf8,
    saved,
    status_of,
)
from nfsserver.nfs4.values import setting_of

_OK: t.Final = Nfsstat4.NFS4_OK


def create4(server: ServerApi, context: CallContext, args: p.Create4Args) -> p.Create4Res:
    """CREATE; regular files are made by OPEN (BADTYPE)."""
    directory, state = current(context), compound_of(context)
    if directory.attribute_of is not None:
        raise Nfs4Error(Nfsstat4.NFS4ERR_WRONG_TYPE)
    check_name(server, bytes(args.objname), directory)
    setting = setting_of(server, args.createattrs, state.minor)
    if args.objtype.linkdata is not None:
        if server.knobs.now.utf8_names and not is_utf8(bytes(args.objtype.linkdata)):
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
        setting = setting.without_mode()  # that of a symbolic link means nothing, and is always 0777
    before = directory.change
    acls.require_room(directory, setting.acl)
    try:
        inode = _make(state.caller, directory, args, setting.changes)
    except FsError as refusal:
        return p.Create4Res(status_of(refusal, {errno.EOPNOTSUPP: Nfsstat4.NFS4ERR_BADTYPE}))
    inode.acl = setting.acl
    info = change_info(directory, before, atomic=server.knobs.now.atomic_change_info)
    become_current(context, inode)
    return p.Create4Res(_OK, p.Create4ResOk(info, setting.mask))


def _make(caller: Caller, directory: Inode, args: p.Create4Args, changes: t.Any) -> Inode:
    fs, name, what = directory.fs, bytes(args.objname), args.objtype
    if what.type == p.NfsFtype4.NF4DIR:
        return fs.mkdir(caller, directory, name, changes)
    if what.linkdata is not None:
        return fs.symlink(caller, directory, name, bytes(what.linkdata), changes)
    if what.devdata is not None:
        device = (what.devdata.specdata1, what.devdata.specdata2)
        return fs.mknod(caller, directory, name, Kind(what.type), device, changes)
    if what.type in {p.NfsFtype4.NF4SOCK, p.NfsFtype4.NF4FIFO}:
        return fs.mknod(caller, directory, name, Kind(what.type), (0, 0), changes)
    raise Nfs4Error(Nfsstat4.NFS4ERR_BADTYPE)


def _entry(directory: Inode, name: bytes) -> Inode | None:
    """What a name stands for now, whoever asks."""
    entries = require_directory(directory)
    return entries.get(entries.spelling(name) if directory.fs.limits.case_insensitive else name)


def remove4(server: ServerApi, context: CallContext, args: p.Remove4Args) -> p.Remove4Res:
    """REMOVE of anything; a directory must be empty."""
    directory, state = current(context), compound_of(context)
    name = bytes(args.target)
    check_name(server, bytes(name), directory)
    target = _entry(directory, name)
    if target is not None:
        clear_way(server, target, state.clientid, changes=True)
        state.states.require_removable(target)
    before = directory.change
    is_directory = target is not None and target.directory is not None
    (directory.fs.rmdir if is_directory else directory.fs.remove)(state.caller, directory, name)
    info = change_info(directory, before, atomic=server.knobs.now.atomic_change_info)
    return p.Remove4Res(_OK, p.Remove4ResOk(info))


def rename4(server: ServerApi, context: CallContext, args: p.Rename4Args) -> p.Rename4Res:
    """RENAME from the saved directory to the current one."""
    source, target, state = saved(context), current(context), compound_of(context)
    for directory, name in ((source, args.oldname), (target, args.newname)):
        check_name(server, bytes(name), directory)
        if directory.directory is None:
            raise FsError(errno.ENOTDIR)
        moved = _entry(directory, bytes(name))
        if moved is not None:
            clear_way(server, moved, state.clientid, changes=True)
    before = source.change, target.change
    source.fs.rename(state.caller, source, bytes(args.oldname), target, bytes(args.newname))
    atomic = server.knobs.now.atomic_change_info
    infos = (change_info(source, before[0], atomic=atomic), change_info(target, before[1], atomic=atomic))
    return p.Rename4Res(_OK, p.Rename4ResOk(*infos))


def link4(server: ServerApi, context: CallContext, args: p.Link4Args) -> p.Link4Res:
    """LINK of the saved object into the current directory."""
    inode, directory, state = saved(context), current(context), compound_of(context)
    check_name(server, bytes(args.newname), directory)
    clear_way(server, inode, state.clientid, changes=True)
    before = directory.change
    inode.fs.link(state.caller, inode, directory, bytes(args.newname))
    info = change_info(directory, before, atomic=server.knobs.now.atomic_change_info)
    return p.Link4Res(_OK, p.Link4ResOk(info))
