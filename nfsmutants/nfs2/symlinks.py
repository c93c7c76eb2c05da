# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_symlinks.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    LINK,
    READLINK,
    REMOVE,
    RENAME,
    SETATTR,
    Attrstat,
    Diropargs,
    Readlinkres,
    StatRes,
)
from nfsclient.xdr import replace
from nfsmutants.bending import child_of, clear, copy_links, inode_of, remembered_text, target_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.calls import Readlink, Rename, Setattr
from nfsmutants.rules import RFC1094_SYMLINK, RFC1094_TYPES
from nfsserver.fs import Inode

_PLACES: t.Final = ("where", "from_", "to")


def _links_in(call: AnyCall) -> list[Inode | None]:
    """The objects that the call names, or links, as far as they are there."""
    args = call.args
    places = [args] if isinstance(args, Diropargs) else [getattr(args, name, None) for name in _PLACES]
    links = [child_of(call.server, place.dir, place.name) for place in places if isinstance(place, Diropargs)]
    return [*links, inode_of(call.server, args.from_) if call.operation is LINK else None]


@mutant((REMOVE, RENAME, LINK, CREATE), breaks=RFC1094_SYMLINK)
def names2_of_links_reach_targets(call: AnyCall) -> t.Any:
    """REMOVE, RENAME, LINK and CREATE with a symbolic link empty its target"""
    targets = [target_of(link) for link in _links_in(call)]
    reply = call.proceed()
    for target in targets:
        clear(target)
    return reply


@mutant((REMOVE, RENAME, LINK, CREATE), breaks=RFC1094_TYPES)
def names2_of_links_leave_a_copy(call: AnyCall) -> t.Any:
    """REMOVE, RENAME, LINK and CREATE with a symbolic link that has a target leave a link `copy`"""
    copy_links(_links_in(call))
    return call.proceed()


@mutant(READLINK)
def readlink2_remembers_texts_by_name(call: Readlink) -> Readlinkres:
    """READLINK returns the text of the first link that had this name in this directory"""
    reply = call.proceed()
    link = inode_of(call.server, call.args.file)
    return (
        reply
        if reply.data is None
        else replace(reply, data=remembered_text(call.state, link, bytes(reply.data)))
    )


@mutant(SETATTR)
def setattr2_follows_links(call: Setattr) -> Attrstat:
    """SETATTR of a symbolic link is about what the link names in its directory"""
    target = target_of(inode_of(call.server, call.args.file))
    return call.proceed() if target is None else call.proceed_with(file=call.server.backend.handle_of(target))


@mutant(RENAME)
def rename2_moves_into_targets_of_links(call: Rename) -> StatRes:
    """RENAME over a symbolic link to a directory moves the source into that directory"""
    to = call.args.to
    target = target_of(child_of(call.server, to.dir, to.name))
    if target is None or target.directory is None:
        return call.proceed()
    return call.proceed_with(to=Diropargs(call.server.backend.handle_of(target), call.args.from_.name))
