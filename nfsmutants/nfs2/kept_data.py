# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_kept_data.py catch: pages that are dropped, kept or forgotten."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import (
    CREATE,
    IGNORED,
    LINK,
    REMOVE,
    RENAME,
    SETATTR,
    WRITE,
    Attrstat,
    Diropargs,
    Diropres,
    Nfsstat2,
)
from nfsmutants.bending import child_of, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs2.calls import Create, Setattr
from nfsmutants.pages import files_of, freed, keep_first, show_again
from nfsmutants.rules import RFC1094_SETATTR
from nfsserver.fs import Inode
from nfsserver.fs.pages import PAGE


def _find(call: AnyCall, where: Diropargs) -> Inode | None:
    return child_of(call.server, where.dir, where.name)


def _named(call: AnyCall) -> list[Inode]:
    """The files that a LINK, REMOVE or RENAME is about, and those in a directory that it moves."""
    if call.operation is LINK:
        return files_of(inode_of(call.server, call.args.from_))
    if call.operation is REMOVE:
        return files_of(_find(call, call.args))
    return files_of(_find(call, call.args.from_)) + files_of(_find(call, call.args.to))


@mutant((LINK, REMOVE, RENAME))
def names2_keep_one_page(call: AnyCall) -> t.Any:
    """LINK, REMOVE and RENAME leave zeros in the file after its first page"""
    files, reply = _named(call), call.proceed()
    if reply.status == Nfsstat2.NFS_OK:
        keep_first(files, PAGE)
    return reply


def _changes_size(call: Setattr) -> bool:
    """Whether a SETATTR asks for another size than the file has."""
    inode, size = inode_of(call.server, call.args.file), call.args.attributes.size
    return inode is not None and size not in {IGNORED, inode.size}


@mutant(SETATTR)
def setattr2_keeps_one_page(call: Setattr) -> Attrstat:
    """SETATTR that leaves the size of a file as it is leaves zeros after its first page"""
    if not _changes_size(call):
        keep_first(files_of(inode_of(call.server, call.args.file)), PAGE)
    return call.proceed()


@mutant(SETATTR, breaks=RFC1094_SETATTR)
def setattr2_size_keeps_one_page(call: Setattr) -> Attrstat:
    """SETATTR of another size leaves zeros after the first page of the file"""
    if _changes_size(call):
        keep_first(files_of(inode_of(call.server, call.args.file)), PAGE)
    return call.proceed()


@mutant(CREATE)
def create2_keeps_one_page(call: Create) -> Diropres:
    """CREATE without a size leaves zeros after the first page of a file that exists"""
    if call.args.attributes.size == IGNORED:
        keep_first(files_of(_find(call, call.args.where)), PAGE)
    return call.proceed()


@mutant(CREATE)
def create2_truncates_one_page(call: Create) -> Diropres:
    """CREATE with a size of 0 does not truncate a file of more than one page"""
    inode = _find(call, call.args.where)
    if call.args.attributes.size != 0 or inode is None or inode.size <= PAGE:
        return call.proceed()
    return call.proceed_with("attributes", size=IGNORED)


@mutant((CREATE, SETATTR, WRITE))
def create2_size_zero_frees_nothing(call: AnyCall) -> t.Any:
    """What CREATE with a size of 0 has truncated comes back when the file grows"""
    if call.operation is CREATE:
        return freed(call, _find(call, call.args.where))
    size = call.args.offset if call.operation is WRITE else call.args.attributes.size
    return show_again(call, inode_of(call.server, call.args.file), size)
