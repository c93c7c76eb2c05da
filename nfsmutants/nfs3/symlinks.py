# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_symlinks.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import (
    CREATE,
    READLINK,
    RENAME,
    SETATTR,
    Create3Res,
    Diropargs3,
    Readlink3Res,
    Rename3Res,
    Setattr3Res,
)
from nfsmutants.bending import amend, clear, copy_links, inode_of, remembered_text, target_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import find
from nfsmutants.nfs3.calls import Create, Readlink, Rename, Setattr


@mutant(CREATE)
def create3_empties_targets_of_links(call: Create) -> Create3Res:
    """CREATE with the name of a symbolic link empties the target of the link"""
    target = target_of(find(call.server, call.args.where))
    reply = call.proceed()
    clear(target)
    return reply


@mutant(CREATE)
def create3_copies_links(call: Create) -> Create3Res:
    """CREATE with the name of a symbolic link makes another link `copy`"""
    copy_links([find(call.server, call.args.where)])
    return call.proceed()


@mutant(READLINK)
def readlink3_remembers_texts_by_name(call: Readlink) -> Readlink3Res:
    """READLINK returns the text of the first link that had this name in this directory"""
    link = inode_of(call.server, call.args.symlink)
    return amend(call.proceed(), data=lambda it: remembered_text(call.state, link, bytes(it.data)))


@mutant(SETATTR)
def setattr3_follows_links(call: Setattr) -> Setattr3Res:
    """SETATTR of a symbolic link is about what the link names in its directory"""
    target = target_of(inode_of(call.server, call.args.object))
    return (
        call.proceed() if target is None else call.proceed_with(object=call.server.backend.handle_of(target))
    )


@mutant(RENAME)
def rename3_moves_into_targets_of_links(call: Rename) -> Rename3Res:
    """RENAME over a symbolic link to a directory moves the source into that directory"""
    target = target_of(find(call.server, call.args.to))
    if target is None or target.directory is None:
        return call.proceed()
    into = Diropargs3(call.server.backend.handle_of(target), call.args.from_.name)
    return call.proceed_with(to=into)
