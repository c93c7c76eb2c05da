# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_symlinks.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import CREATE, LINK, READLINK, REMOVE, RENAME, Diropargs, Readlinkres
from nfsclient.xdr import replace
from nfsmutants.bending import child_of, clear, inode_of, remembered_text, target_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.calls import Readlink
from nfsmutants.rules import RFC1094_READLINK, RFC1094_SYMLINK


@mutant((REMOVE, RENAME, LINK, CREATE), RFC1094_SYMLINK)
def names2_of_links_reach_targets(call: AnyCall) -> t.Any:
    """REMOVE, RENAME, LINK and CREATE with a symbolic link empty its target"""
    args = call.args
    places = [args] if isinstance(args, Diropargs) else [getattr(args, name, None) for name in _PLACES]
    links = [child_of(call.server, one.dir, one.name) for one in places if isinstance(one, Diropargs)]
    if call.operation is LINK:
        links.append(inode_of(call.server, args.from_))
    targets = [target_of(link) for link in links]
    reply = call.proceed()
    for target in targets:
        clear(target)
    return reply


_PLACES: t.Final = ("where", "from_", "to")


@mutant(READLINK, RFC1094_READLINK)
def readlink2_remembers_texts_by_name(call: Readlink) -> Readlinkres:
    """READLINK returns the text of the first link that had this name in this directory"""
    reply = call.proceed()
    link = inode_of(call.server, call.args.file)
    return (
        reply
        if reply.data is None
        else replace(reply, data=remembered_text(call.state, link, bytes(reply.data)))
    )
