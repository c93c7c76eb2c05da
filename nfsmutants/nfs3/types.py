# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_types.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    FSINFO,
    FSSTAT,
    LINK,
    MKDIR,
    MKNOD,
    PATHCONF,
    SYMLINK,
    Diropargs3,
    Fsinfo3ResFail,
    Fsstat3ResFail,
    Nfsstat3,
    Pathconf3ResFail,
)
from nfsclient.xdr import replace
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import HANDLE_OF, MADE, OF_NAMES, find, is_special, name_fields, success
from nfsserver.fs import Kind
from nfsserver.handlers import ServerApi

# ---------------------------------------------------------------- attributes of another object


@mutant((FSSTAT, FSINFO, PATHCONF))
def info3_refuses_non_files(call: AnyCall) -> t.Any:
    """FSSTAT, FSINFO and PATHCONF answer SERVERFAULT for objects other than regular files and the root"""
    reply = call.proceed()
    if reply.resok is None:
        return reply
    inode = call.backend.resolve(getattr(call.args, HANDLE_OF[call.operation]))
    if inode.data is not None or inode is inode.fs.root:
        return reply
    resfail = {FSSTAT: Fsstat3ResFail, FSINFO: Fsinfo3ResFail}.get(call.operation)
    return type(reply)(Nfsstat3.NFS3ERR_SERVERFAULT, resfail=(resfail or Pathconf3ResFail)(None))


# ---------------------------------------------------------------- names


@mutant(OF_NAMES)
def names3_succeed_in_special_files(call: AnyCall) -> t.Any:
    """Calls on names in devices, sockets and FIFOs answer success"""
    places = [getattr(call.args, field) for field in name_fields(call.operation)]
    is_meant = any(is_special(inode_of(call.server, place.dir)) for place in places)
    return success(call) if is_meant else call.proceed()


def _pointed_to(server: ServerApi, where: Diropargs3) -> Diropargs3:
    """The directory that a link points to, instead of the link."""
    link = inode_of(server, where.dir)
    if link is None or link.kind is not Kind.SYMLINK:
        return where
    for directory in server.backend.fs.inodes():
        entries = directory.directory
        target = None if entries is None else entries.get(link.target)
        if entries is not None and target is not None and link in map(entries.get, entries.names()):
            return replace(where, dir=server.backend.handle_of(target))
    return where


@mutant(OF_NAMES)
def names3_follow_links_to_directories(call: AnyCall) -> t.Any:
    """The server uses the handle of a symbolic link as that of the directory it points to"""
    bent = {
        field: _pointed_to(call.server, getattr(call.args, field)) for field in name_fields(call.operation)
    }
    return call.proceed_with(**bent)


@mutant((MKDIR, SYMLINK, MKNOD, LINK))
def names3_create_over_existing(call: AnyCall) -> t.Any:
    """Creating an existing name that is not that of a regular file answers success"""
    there = find(call.server, getattr(call.args, MADE[call.operation]))
    return call.proceed() if there is None or there.kind is Kind.REGULAR else success(call)
