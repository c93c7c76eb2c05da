# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs3/test_kept_data.py catch: pages that are dropped, kept or forgotten."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from nfsclient.protocol.nfs3 import (
    COMMIT,
    CREATE,
    LINK,
    READ,
    REMOVE,
    RENAME,
    SETATTR,
    WRITE,
    Create3Res,
    CreateMode3,
    Nfsstat3,
    Setattr3Res,
    StableHow,
    Write3Res,
)
from nfsmutants.bending import amend, inode_of
from nfsmutants.form import AnyCall, mutant
from nfsmutants.nfs3.bending import find
from nfsmutants.nfs3.calls import Create, Setattr, Write
from nfsmutants.pages import (
    drop_uncommitted,
    files_of,
    flushed,
    freed,
    keep_first,
    keep_older,
    of_others,
    show_again,
    tail_kept,
)
from nfsmutants.rules import (
    RFC1813_CREATE,
    RFC1813_RENAME,
    RFC1813_SETATTR,
    RFC1813_WRITE,
)
from nfsserver.fs import Inode
from nfsserver.fs.pages import PAGE


def _named(call: AnyCall) -> list[Inode]:
    """The files that a LINK, REMOVE or RENAME is about, and those in a directory that it moves."""
    if call.operation is LINK:
        return files_of(inode_of(call.server, call.args.file))
    if call.operation is REMOVE:
        return files_of(find(call.server, call.args.object))
    return files_of(find(call.server, call.args.from_)) + files_of(find(call.server, call.args.to))


@mutant((LINK, REMOVE, RENAME), breaks=RFC1813_WRITE)
def names3_drop_uncommitted_pages(call: AnyCall) -> t.Any:
    """LINK, REMOVE and RENAME drop the uncommitted data of the file"""
    files, reply = _named(call), call.proceed()
    if reply.status == Nfsstat3.NFS3_OK:
        drop_uncommitted(files)
    return reply


@mutant((LINK, REMOVE, RENAME), breaks=RFC1813_RENAME)
def names3_keep_one_page(call: AnyCall) -> t.Any:
    """LINK, REMOVE and RENAME leave zeros in the file after its first page"""
    files, reply = _named(call), call.proceed()
    if reply.status == Nfsstat3.NFS3_OK:
        keep_first(files, PAGE)
    return reply


@mutant(SETATTR, breaks=RFC1813_WRITE)
def setattr3_drops_uncommitted_pages(call: Setattr) -> Setattr3Res:
    """SETATTR that leaves the size of a file as it is drops uncommitted data"""
    inode, size = inode_of(call.server, call.args.object), call.args.new_attributes.size
    if inode is not None and size in {None, inode.size}:
        drop_uncommitted(files_of(inode))
    return call.proceed()


@mutant(SETATTR, breaks=RFC1813_SETATTR)
def setattr3_size_drops_uncommitted_pages(call: Setattr) -> Setattr3Res:
    """SETATTR of another size drops uncommitted data below it"""
    inode, size = inode_of(call.server, call.args.object), call.args.new_attributes.size
    if inode is not None and size not in {None, inode.size}:
        drop_uncommitted(files_of(inode))
    return call.proceed()


@mutant(WRITE)
def write3_drops_uncommitted_pages(call: Write) -> Write3Res:
    """WRITE drops the uncommitted data of earlier WRITEs"""
    drop_uncommitted(files_of(inode_of(call.server, call.args.file)))
    return call.proceed()


@mutant(WRITE)
def write3_keeps_the_older_data(call: Write) -> t.Any:
    """UNSTABLE WRITE over uncommitted data of the WRITE before it keeps that data"""
    if call.args.stable is not StableHow.UNSTABLE:
        return call.proceed()
    return keep_older(call, inode_of(call.server, call.args.file), call.args.offset, len(call.args.data))


_Pieces: t.TypeAlias = list[tuple[int, bytes]]


def flushed3(call: AnyCall, order: Callable[[_Pieces], Iterable[tuple[int, bytes]]] = list) -> t.Any:
    """`flushed` for the WRITEs and COMMITs of NFSv3; SETATTR and CREATE forget the pieces."""
    operation, args = call.operation, call.args
    if operation is CREATE:
        return flushed(call, find(call.server, args.where))
    if operation is SETATTR:
        return flushed(call, inode_of(call.server, args.object))
    is_unstable = operation is WRITE and args.stable is StableHow.UNSTABLE
    piece = (args.offset, bytes(args.data)) if is_unstable else None
    inode = inode_of(call.server, args.file)
    return flushed(call, inode, piece=piece, commit=operation is COMMIT, order=order)


@mutant((WRITE, COMMIT, SETATTR, CREATE))
def commit3_flushes_by_offset(call: AnyCall) -> t.Any:
    """COMMIT flushes UNSTABLE WRITEs by rising offset: where two overlap, the older data may come back"""
    return flushed3(call, sorted)


@mutant((WRITE, COMMIT, SETATTR, CREATE))
def commit3_flushes_the_farthest_first(call: AnyCall) -> t.Any:
    """COMMIT flushes UNSTABLE WRITEs by falling offset: where two overlap, the older data may come back"""
    return flushed3(call, lambda pieces: sorted(pieces, reverse=True))


@mutant((WRITE, COMMIT, SETATTR, CREATE))
def commit3_flushes_the_newest_first(call: AnyCall) -> t.Any:
    """COMMIT flushes the newest UNSTABLE WRITE first: where two overlap, the older data comes back"""
    return flushed3(call, reversed)


@mutant((SETATTR, WRITE), breaks=RFC1813_SETATTR)
def setattr3_truncation_within_a_page_keeps_it(call: AnyCall) -> t.Any:
    """What SETATTR cuts off the last page of a file comes back when it grows, unless that is its first page"""
    is_write = call.operation is WRITE
    inode = inode_of(call.server, call.args.file if is_write else call.args.object)
    return tail_kept(call, inode, None if is_write else call.args.new_attributes.size)


@mutant(WRITE)
def write3_data_sync_ends_at_8_kib(call: Write) -> Write3Res:
    """WRITE with DATA_SYNC stores zeros instead of all data after the first 8 KiB"""
    if call.args.stable is not StableHow.DATA_SYNC:
        return call.proceed()
    kept = call.args.data[: 2 * PAGE]
    return call.proceed_with(data=bytes(kept).ljust(len(call.args.data), b"\0"))


@mutant(CREATE, breaks=RFC1813_WRITE)
def create3_unchecked_drops_uncommitted_pages(call: Create) -> Create3Res:
    """CREATE UNCHECKED of a file that exists drops its uncommitted data"""
    if call.args.how.mode is CreateMode3.UNCHECKED:
        drop_uncommitted(files_of(find(call.server, call.args.where)))
    return call.proceed()


@mutant(CREATE)
def create3_unchecked_truncates_one_page(call: Create) -> Create3Res:
    """CREATE UNCHECKED with a size of 0 does not truncate a file of more than one page"""
    inode, attributes = find(call.server, call.args.where), call.args.how.obj_attributes
    if attributes is None or attributes.size != 0 or inode is None or inode.size <= PAGE:
        return call.proceed()
    return call.proceed_with("how.obj_attributes", size=None)


@mutant((CREATE, SETATTR, WRITE), breaks=RFC1813_CREATE)
def create3_size_zero_frees_nothing(call: AnyCall) -> t.Any:
    """What CREATE with a size of 0 has truncated comes back when the file grows"""
    if call.operation is CREATE:
        return freed(call, find(call.server, call.args.where))
    is_write = call.operation is WRITE
    inode = inode_of(call.server, call.args.file if is_write else call.args.object)
    grown = call.args.offset if is_write else call.args.new_attributes.size or 0
    return show_again(call, inode, grown)


@mutant((READ, WRITE, COMMIT))
def read3_shows_uncommitted_data_to_its_writer(call: AnyCall) -> t.Any:
    """READ by another user returns what was in the file before an UNSTABLE WRITE, until the file is committed"""
    is_unstable = call.operation is WRITE and call.args.stable is StableHow.UNSTABLE
    inode = inode_of(call.server, call.args.file)
    old = of_others(call, inode, remember=is_unstable, forget=call.operation is COMMIT)
    reply = call.proceed()
    if old is None or call.operation is not READ:
        return reply
    return amend(reply, data=lambda resok: old(call.args.offset, len(resok.data)))
