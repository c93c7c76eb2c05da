# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/recovery/test_streams.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsmutants.bending import inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.recovery.bending import (
    CREATES,
    LINKS,
    LOOKS,
    MKDIRS,
    REMOVES,
    RENAMES,
    SYMLINKS,
    at_the_crash,
    entry_of,
    inode_at,
    is_second,
    lose_data_of_second,
    lose_name,
    strike,
)
from nfsserver.fs.permissions import SUPERUSER

_CHANGES: t.Final = (*CREATES, *MKDIRS, *SYMLINKS, *RENAMES, *REMOVES, *LINKS)
_PLACES: t.Final = {nfs2.SYMLINK: "from_", nfs2.LINK: "to", nfs3.LINK: "link"}
"""The field with directory and name of the new entry, where it is not `where`."""


@mutant((*_CHANGES, *LOOKS))
def crash_loses_names_of_one_connection(call: AnyCall) -> t.Any:
    """While two connections change names, a crash undoes the changes of the second one"""
    strike(call)
    if call.operation in LOOKS or not is_second(call):
        return call.proceed()
    reply = call.proceed()
    if call.operation in RENAMES:
        (here, old), (there, new) = entry_of(call.args, "from_"), entry_of(call.args, "to")
        source, target = inode_of(call.server, here), inode_of(call.server, there)
        assert source is not None
        assert target is not None
        at_the_crash(call, lambda: source.fs.rename(SUPERUSER, target, new, source, old))
    elif call.operation in REMOVES:
        where, name = entry_of(call.args, "object")
        directory = inode_of(call.server, where)
        assert directory is not None
        at_the_crash(call, lambda: directory.fs.create(SUPERUSER, directory, name))
    else:
        made = inode_at(call, _PLACES.get(call.operation, "where"))
        if made is not None:
            at_the_crash(call, lambda: lose_name(made))
    return reply


@mutant((nfs3.WRITE, *LOOKS))
def write3_crash_loses_data_of_one_connection(call: AnyCall) -> t.Any:
    """While two connections write, a crash loses what the second one has written"""
    return lose_data_of_second(call)
