# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_kept_data.py catch: pages that are dropped, kept or forgotten."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import StableHow4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, succeeded
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
    RFC5661_OPEN,
    RFC5661_READ,
    RFC5661_SETATTR,
    RFC5661_WRITE,
)
from nfsserver.fs import Inode
from nfsserver.fs.pages import PAGE
from nfsserver.nfs4.common import compound_of

Open = Call[p.Open4Args, p.Open4Res]
Setattr = Call[p.Setattr4Args, p.Setattr4Res]
Write = Call[p.Write4Args, p.Write4Res]


def _entry(directory: Inode | None, name: bytes) -> Inode | None:
    return None if directory is None or directory.directory is None else directory.directory.get(name)


def _named(call: AnyCall) -> list[Inode]:
    """The files that a LINK, REMOVE or RENAME is about, and those in a directory that it moves."""
    compound = compound_of(call.context)
    if call.operation is p.LINK:
        return files_of(compound.saved)
    if call.operation is p.REMOVE:
        return files_of(_entry(compound.current, call.args.target))
    old, new = _entry(compound.saved, call.args.oldname), _entry(compound.current, call.args.newname)
    return files_of(old) + files_of(new)


def _opened(call: Open) -> Inode | None:
    """The file that an OPEN with CREATE UNCHECKED4 takes."""
    how, name = call.args.openhow.how, call.args.claim.file
    if how is None or how.mode != p.Createmode4.UNCHECKED4 or name is None:
        return None
    return _entry(compound_of(call.context).current, name)


@mutant((p.LINK, p.REMOVE, p.RENAME), breaks=RFC5661_WRITE)
def names4_drop_uncommitted_pages(call: AnyCall) -> t.Any:
    """LINK, REMOVE and RENAME drop the uncommitted data of the file"""
    files, result = _named(call), call.proceed()
    if succeeded(result):
        drop_uncommitted(files)
    return result


@mutant((p.LINK, p.REMOVE, p.RENAME), breaks=RFC5661_READ)
def names4_keep_one_page(call: AnyCall) -> t.Any:
    """LINK, REMOVE and RENAME leave zeros in the file after its first page"""
    files, result = _named(call), call.proceed()
    if succeeded(result):
        keep_first(files, PAGE)
    return result


@mutant(p.CLOSE, breaks=RFC5661_WRITE)
def close4_drops_uncommitted_pages(call: Call[p.Close4Args, p.Close4Res]) -> p.Close4Res:
    """CLOSE drops uncommitted data"""
    inode, result = compound_of(call.context).current, call.proceed()
    if succeeded(result):
        drop_uncommitted(files_of(inode))
    return result


def _changes_size(call: Setattr) -> bool:
    """Whether a SETATTR asks for another size than the file has."""
    inode, size = compound_of(call.context).current, call.args.obj_attributes.size
    return inode is not None and size is not None and size != inode.size


@mutant(p.SETATTR, breaks=RFC5661_WRITE)
def setattr4_drops_uncommitted_pages(call: Setattr) -> p.Setattr4Res:
    """SETATTR that leaves the size of a file as it is drops uncommitted data"""
    if not _changes_size(call):
        drop_uncommitted(files_of(compound_of(call.context).current))
    return call.proceed()


@mutant(p.SETATTR, breaks=RFC5661_READ)
def setattr4_keeps_one_page(call: Setattr) -> p.Setattr4Res:
    """SETATTR that leaves the size of a file as it is leaves zeros after its first page"""
    if not _changes_size(call):
        keep_first(files_of(compound_of(call.context).current), PAGE)
    return call.proceed()


@mutant(p.SETATTR, breaks=RFC5661_SETATTR)
def setattr4_size_keeps_one_page(call: Setattr) -> p.Setattr4Res:
    """SETATTR of another size leaves zeros after the first page of the file"""
    if _changes_size(call):
        keep_first(files_of(compound_of(call.context).current), PAGE)
    return call.proceed()


@mutant(p.SETATTR, breaks=RFC5661_WRITE)
def setattr4_size_drops_uncommitted_pages(call: Setattr) -> p.Setattr4Res:
    """SETATTR of another size drops uncommitted data below it"""
    if _changes_size(call):
        drop_uncommitted(files_of(compound_of(call.context).current))
    return call.proceed()


@mutant(p.WRITE)
def write4_drops_uncommitted_pages(call: Write) -> p.Write4Res:
    """WRITE drops the uncommitted data of earlier WRITEs"""
    drop_uncommitted(files_of(compound_of(call.context).current))
    return call.proceed()


@mutant(p.WRITE)
def write4_keeps_the_older_data(call: Write) -> t.Any:
    """WRITE with UNSTABLE4 over uncommitted data of the WRITE before it keeps that data"""
    if call.args.stable is not StableHow4.UNSTABLE4:
        return call.proceed()
    return keep_older(call, compound_of(call.context).current, call.args.offset, len(call.args.data))


_Pieces: t.TypeAlias = list[tuple[int, bytes]]
_FLUSHING: t.Final = (p.WRITE, p.COMMIT, p.SETATTR, p.OPEN)
_UNTIL_CLOSE: t.Final = (*_FLUSHING, p.CLOSE)


def flushed4(call: AnyCall, order: Callable[[_Pieces], Iterable[tuple[int, bytes]]] = list) -> t.Any:
    """`flushed` for the WRITEs and COMMITs of NFSv4; SETATTR, OPEN with UNCHECKED4, and CLOSE forget the pieces."""
    operation, args = call.operation, call.args
    inode = _opened(call) if operation is p.OPEN else compound_of(call.context).current
    is_unstable = operation is p.WRITE and args.stable is StableHow4.UNSTABLE4
    piece = (args.offset, bytes(args.data)) if is_unstable else None
    return flushed(call, inode, piece=piece, commit=operation is p.COMMIT, order=order)


@mutant(_UNTIL_CLOSE)
def commit4_flushes_by_offset(call: AnyCall) -> t.Any:
    """COMMIT flushes WRITEs with UNSTABLE4 by rising offset: where two overlap, the older data may come back"""
    return flushed4(call, sorted)


@mutant(_UNTIL_CLOSE)
def commit4_flushes_the_farthest_first(call: AnyCall) -> t.Any:
    """COMMIT flushes WRITEs with UNSTABLE4 by falling offset: where two overlap, the older data may come back"""
    return flushed4(call, lambda pieces: sorted(pieces, reverse=True))


@mutant(_FLUSHING)
def commit4_flushes_the_newest_first(call: AnyCall) -> t.Any:
    """COMMIT flushes the newest WRITE with UNSTABLE4 first: where two overlap, the older data comes back"""
    return flushed4(call, reversed)


@mutant((p.SETATTR, p.WRITE))
def setattr4_truncation_within_a_page_keeps_it(call: AnyCall) -> t.Any:
    """What SETATTR cuts off the last page of a file comes back when it grows, unless that is its first page"""
    size = None if call.operation is p.WRITE else call.args.obj_attributes.size
    return tail_kept(call, compound_of(call.context).current, size)


@mutant(p.WRITE)
def write4_data_sync_ends_at_4_kib(call: Write) -> p.Write4Res:
    """WRITE with DATA_SYNC4 stores zeros instead of all data after the first 4 KiB"""
    if call.args.stable is not StableHow4.DATA_SYNC4:
        return call.proceed()
    return call.proceed_with(data=bytes(call.args.data[:PAGE]).ljust(len(call.args.data), b"\0"))


@mutant(p.COMMIT)
def commit4_drops_other_pages(call: Call[p.Commit4Args, p.Commit4Res]) -> p.Commit4Res:
    """COMMIT of a part of a file drops the uncommitted data of the other parts"""
    inode, result = compound_of(call.context).current, call.proceed()
    if succeeded(result):
        drop_uncommitted(files_of(inode))
    return result


@mutant(p.OPEN, breaks=RFC5661_WRITE)
def open4_unchecked_drops_uncommitted_pages(call: Open) -> p.Open4Res:
    """OPEN that takes an existing file with UNCHECKED4 drops its uncommitted data"""
    drop_uncommitted(files_of(_opened(call)))
    return call.proceed()


@mutant(p.OPEN, breaks=RFC5661_OPEN)
def open4_unchecked_keeps_one_page(call: Open) -> p.Open4Res:
    """OPEN that takes an existing file with UNCHECKED4 leaves zeros after its first page"""
    keep_first(files_of(_opened(call)), PAGE)
    return call.proceed()


@mutant(p.OPEN)
def open4_unchecked_truncates_one_page(call: Open) -> p.Open4Res:
    """UNCHECKED4 with a size of 0 does not truncate a file of more than one page"""
    inode, how = _opened(call), call.args.openhow.how
    if inode is None or inode.size <= PAGE or how is None or how.createattrs is None:
        return call.proceed()
    return call.proceed_with("openhow.how", createattrs=how.createattrs.changed(size=None))


@mutant((p.OPEN, p.SETATTR, p.WRITE))
def open4_size_zero_frees_nothing(call: AnyCall) -> t.Any:
    """What UNCHECKED4 with a size of 0 has truncated comes back when the file grows"""
    if call.operation is p.OPEN:
        return freed(call, _opened(call))
    is_write = call.operation is p.WRITE
    grown = call.args.offset if is_write else call.args.obj_attributes.size or 0
    return show_again(call, compound_of(call.context).current, grown)


@mutant((p.READ, p.WRITE, p.COMMIT))
def read4_shows_uncommitted_data_to_its_writer(call: AnyCall) -> t.Any:
    """READ by another user returns what was in the file before an UNSTABLE4 WRITE, until the file is committed"""
    is_unstable = call.operation is p.WRITE and call.args.stable is StableHow4.UNSTABLE4
    old = of_others(
        call, compound_of(call.context).current, remember=is_unstable, forget=call.operation is p.COMMIT
    )
    result = call.proceed()
    if old is None or call.operation is not p.READ:
        return result
    return amend4(result, data=lambda found: old(call.args.offset, len(found.data)))
