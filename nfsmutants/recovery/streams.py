# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_streams.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import LOOKS, at_the_crash, entry_of, inode_at, lose_name, strike
from nfsmutants.rules import RFC1813_STABLE_DATA, RFC1813_SYNCHRONOUS
from nfsserver.fs.permissions import SUPERUSER

_MAKING: t.Final = (nfs3.CREATE, nfs3.MKDIR, nfs3.SYMLINK)


def _is_second(call: AnyCall) -> bool:
    """Whether another connection has made such a call before."""
    return bool(call.state.setdefault("first", call.peer) != call.peer)


@mutant((*_MAKING, nfs3.RENAME, nfs3.REMOVE, nfs3.LINK, *LOOKS), RFC1813_SYNCHRONOUS)
def crash_loses_names_of_one_connection(call: AnyCall) -> t.Any:
    """While two connections change names, a crash undoes the changes of the second one"""
    strike(call)
    if call.operation in LOOKS or not _is_second(call):
        return call.proceed()
    reply = call.proceed()
    if call.operation is nfs3.RENAME:
        (here, old), (there, new) = entry_of(call.args, "from_"), entry_of(call.args, "to")
        source, target = inode_of(call.server, here), inode_of(call.server, there)
        assert source is not None
        assert target is not None
        at_the_crash(call, lambda: source.fs.rename(SUPERUSER, target, new, source, old))
    elif call.operation is nfs3.REMOVE:
        where, name = entry_of(call.args, "object")
        directory = inode_of(call.server, where)
        assert directory is not None
        at_the_crash(call, lambda: directory.fs.create(SUPERUSER, directory, name))
    else:
        made = inode_at(call, "where", "link")
        if made is not None:
            at_the_crash(call, lambda: lose_name(made))
    return reply


@mutant((nfs3.WRITE, *LOOKS), RFC1813_STABLE_DATA)
def write3_crash_loses_data_of_one_connection(call: AnyCall) -> t.Any:
    """While two connections write, a crash loses what the second one has written"""
    strike(call)
    if call.operation in LOOKS or not _is_second(call):
        return call.proceed()
    inode = inode_of(call.server, call.args.file)
    if inode is not None and inode.data is not None:
        data, offset = inode.data, call.args.offset
        size = len(call.args.data)
        at_the_crash(call, lambda: data.write(offset, bytes(size), stable=True))
    return call.proceed()
