# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_symlinks.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsmutants.bending import clear, copy_links, remembered_text, target_of
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4
from nfsmutants.rules import RFC5661_ATTRIBUTES, RFC5661_READLINK
from nfsserver.fs import Inode
from nfsserver.nfs4.common import compound_of


def _links_in(call: AnyCall) -> list[Inode | None]:
    """The objects that the call names, or links, as far as they are there."""
    state, args = compound_of(call.context), call.args
    names = [(state.current, getattr(args, name, None)) for name in ("newname", "target")]
    names.append((state.saved, getattr(args, "oldname", None)))
    if call.operation is p.OPEN and args.openhow.opentype == p.Opentype4.OPEN4_CREATE:
        names.append((state.current, args.claim.file))
    found = [
        where.directory.get(bytes(name))
        for where, name in names
        if where is not None and where.directory is not None and name is not None
    ]
    return [*found, state.saved if call.operation is p.LINK else None]


@mutant((p.REMOVE, p.RENAME, p.LINK, p.OPEN), breaks=RFC5661_READLINK)
def names4_of_links_reach_targets(call: AnyCall) -> t.Any:
    """REMOVE, RENAME, LINK and OPEN that creates, with a symbolic link, empty its target"""
    targets = [target_of(link) for link in _links_in(call)]
    result = call.proceed()
    for target in targets:
        clear(target)
    return result


@mutant((p.REMOVE, p.RENAME, p.LINK, p.OPEN), breaks=RFC5661_ATTRIBUTES)
def names4_of_links_leave_a_copy(call: AnyCall) -> t.Any:
    """REMOVE, RENAME, LINK and OPEN that creates, with a symbolic link that has a target, leave a link `copy`"""
    copy_links(_links_in(call))
    return call.proceed()


@mutant(p.READLINK)
def readlink4_remembers_texts_by_name(call: Call[p.Readlink4Args, p.Readlink4Res]) -> p.Readlink4Res:
    """READLINK returns the text of the first link that had this name in this directory"""
    link = compound_of(call.context).current
    return amend4(call.proceed(), link=lambda it: remembered_text(call.state, link, bytes(it.link)))


@mutant(p.SETATTR)
def setattr4_follows_links(call: Call[p.Setattr4Args, p.Setattr4Res]) -> p.Setattr4Res:
    """SETATTR of a symbolic link is about what the link names in its directory"""
    state = compound_of(call.context)
    state.current = target_of(state.current) or state.current
    return call.proceed()


@mutant(p.RENAME)
def rename4_moves_into_targets_of_links(call: Call[p.Rename4Args, p.Rename4Res]) -> p.Rename4Res:
    """RENAME over a symbolic link to a directory moves the source into that directory"""
    state = compound_of(call.context)
    entries = None if state.current is None else state.current.directory
    target = None if entries is None else target_of(entries.get(bytes(call.args.newname)))
    if target is None or target.directory is None:
        return call.proceed()
    state.current = target
    return call.proceed_with(newname=call.args.oldname)
