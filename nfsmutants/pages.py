# SPDX-License-Identifier: MIT
"""What servers do wrong with the pages of files, for mutants of any version."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from nfsmutants.form import AnyCall
from nfsserver.fs import Inode
from nfsserver.fs.pages import PAGE

_MOST: t.Final = 1 << 20
"""Bytes of a file that are remembered."""


def files_of(inode: Inode | None) -> list[Inode]:
    """An object, if it is a regular file; of a directory, the regular files in it."""
    if inode is None:
        return []
    names = inode.directory.names() if inode.directory is not None else ()
    entries = [inode.directory.get(name) for name in names] if inode.directory is not None else [inode]
    return [entry for entry in entries if entry is not None and entry.data is not None]


def drop_uncommitted(files: Iterable[Inode]) -> None:
    """Drop what is not on stable storage, as a crash would."""
    for inode in files:
        if inode.data is not None:
            inode.data.crash()


def keep_first(files: Iterable[Inode], kept: int) -> None:
    """Leave zeros in files after the first `kept` bytes."""
    for inode in files:
        if inode.data is not None and inode.size > kept:
            inode.data.write(kept, bytes(inode.size - kept), stable=True)


def freed(call: AnyCall, inode: Inode | None) -> t.Any:
    """Proceed with a call that may truncate a file, and remember what it has truncated for `show_again`."""
    old = b"" if inode is None or inode.data is None else inode.data.read(0, _MOST)
    reply = call.proceed()
    if inode is not None and old and not inode.size:
        call.state[inode.fileid, inode.generation] = old
    return reply


def show_again(call: AnyCall, inode: Inode | None, size: int) -> t.Any:
    """Proceed with a call that makes a file longer; what `freed` remembers comes back, up to `size`."""
    reply = call.proceed()
    if inode is None or inode.data is None or not 0 < size <= inode.size:
        return reply
    old = call.state.pop((inode.fileid, inode.generation), b"")
    inode.data.write(0, old[:size], stable=True)
    return reply


def keep_older(call: AnyCall, inode: Inode | None, offset: int, count: int) -> t.Any:
    """Proceed with an uncommitted WRITE; what the WRITE before it has written of its range stays."""
    if inode is None or inode.data is None:
        return call.proceed()
    key = inode.fileid, inode.generation
    begin, end = call.state.get(key, (0, 0))
    begin, end = max(begin, offset), min(end, offset + count)
    older = inode.data.read(begin, end - begin) if begin < end else b""
    reply = call.proceed()
    if older:
        inode.data.write(begin, older, stable=False)
    call.state[key] = (offset, offset + count)
    return reply


def of_others(
    call: AnyCall, inode: Inode | None, *, remember: bool, forget: bool
) -> Callable[[int, int], bytes] | None:
    """What a file contained before the first call with `remember`, for a caller who is not the one of that call.

    A function of offset and count; None if there is nothing of that sort. A call with `forget` ends it for all.
    """
    if inode is None or inode.data is None:
        return None
    key = inode.fileid, inode.generation
    if remember:
        call.state.setdefault(key, (call.caller.uid, inode.data.read(0, _MOST)))
    elif forget:
        call.state.pop(key, None)
    if key not in call.state or call.state[key][0] == call.caller.uid:
        return None
    old: bytes = call.state[key][1]
    return lambda offset, count: old[offset : offset + count].ljust(count, b"\0")


def flushed(
    call: AnyCall,
    inode: Inode | None,
    *,
    piece: tuple[int, bytes] | None = None,
    commit: bool = False,
    order: Callable[[list[tuple[int, bytes]]], Iterable[tuple[int, bytes]]] = list,
) -> t.Any:
    """Proceed with a WRITE of an uncommitted `piece`, or with a COMMIT: that writes the pieces once more, in `order`.

    The pieces are offsets with data, by age. Any other call about the file forgets them.
    """
    reply = call.proceed()
    if inode is None or inode.data is None or reply.status != 0:
        return reply
    pieces: list[tuple[int, bytes]] = call.state.setdefault((inode.fileid, inode.generation), [])
    if piece is not None:
        pieces.append(piece)
        return reply
    if commit:
        for offset, data in order(pieces):
            inode.data.write(offset, data[: max(0, inode.size - offset)], stable=True)
    pieces.clear()
    return reply


def tail_kept(call: AnyCall, inode: Inode | None, size: int | None) -> t.Any:
    """Proceed with a SETATTR of a size, or with a WRITE; what was cut off the last page comes back when a file grows.

    Files that end in their first page are truncated as they should be.
    """
    if inode is None or inode.data is None:
        return call.proceed()
    key, before = (inode.fileid, inode.generation), inode.size
    cut = b""
    if size is not None and PAGE < size < before and size // PAGE == (before - 1) // PAGE:
        cut = inode.data.read(size, before - size)
    reply = call.proceed()
    if cut and inode.size == size:
        call.state[key] = cut
    elif inode.size > before:
        inode.data.write(before, call.state.pop(key, b"")[: _gap(call, inode, before)], stable=True)
    elif inode.size < before:
        call.state.pop(key, None)
    return reply


def _gap(call: AnyCall, inode: Inode, before: int) -> int:
    """How many bytes a call has added to a file before the data that it wrote, if it wrote any."""
    end: int = getattr(call.args, "offset", inode.size)
    return max(0, min(end, inode.size) - before)
