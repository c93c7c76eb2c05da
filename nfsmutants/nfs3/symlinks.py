# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_symlinks.py catch."""

from __future__ import annotations

from nfsclient.protocol.nfs3 import CREATE, READLINK, Create3Res, Readlink3Res
from nfsmutants.bending import amend, clear, copy_links, inode_of, remembered_text, target_of
from nfsmutants.form import mutant
from nfsmutants.nfs3.bending import find
from nfsmutants.nfs3.calls import Create, Readlink
from nfsmutants.rules import RFC1813_CREATE, RFC1813_READLINK


@mutant(CREATE, RFC1813_CREATE)
def create3_empties_targets_of_links(call: Create) -> Create3Res:
    """CREATE with the name of a symbolic link empties the target of the link"""
    target = target_of(find(call.server, call.args.where))
    reply = call.proceed()
    clear(target)
    return reply


@mutant(CREATE, RFC1813_CREATE)
def create3_copies_links(call: Create) -> Create3Res:
    """CREATE with the name of a symbolic link makes another link `copy`"""
    copy_links([find(call.server, call.args.where)])
    return call.proceed()


@mutant(READLINK, RFC1813_READLINK)
def readlink3_remembers_texts_by_name(call: Readlink) -> Readlink3Res:
    """READLINK returns the text of the first link that had this name in this directory"""
    link = inode_of(call.server, call.args.symlink)
    return amend(call.proceed(), data=lambda it: remembered_text(call.state, link, bytes(it.data)))
