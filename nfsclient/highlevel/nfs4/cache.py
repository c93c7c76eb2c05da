# SPDX-License-Identifier: MIT
"""Data of delegated files: while a delegation lasts, nobody changes them, so nothing is read twice (RFC 5661 10.4)."""

from __future__ import annotations

import contextlib
import typing as t
from collections import OrderedDict
from collections.abc import Callable, Iterator

from nfsclient.highlevel.nfs4.live import LiveClient
from nfsclient.highlevel.transfer import Reader

_MOST_BYTES: t.Final = 64 << 20


class DelegatedData:
    """Blocks of delegated files, least recently used first; dropped when the delegation goes, and at our own WRITEs."""

    def __init__(self, live: LiveClient, most: int = _MOST_BYTES) -> None:
        self._live = live
        self._most = most
        self._bytes = 0
        self._blocks: OrderedDict[tuple[bytes, int], bytes] = OrderedDict()
        live.on_delegation_gone = self.drop

    def is_valid(self, handle: bytes) -> bool:
        """Whether what is known of a file is still true: not without a lease, when the server may revoke delegations.

        A recall that has arrived is looked at first, so that a program that only reads from memory gives it back too.
        """
        delegation = self._live.held.delegations.get(handle)
        if delegation is None or delegation.recalled:
            return False
        loop = self._live.rpc.loop
        loop.catch_up()
        if self._live.lease.may_be_lost(loop.clock()):
            return False
        return self._live.held.delegations.get(handle) is delegation and not delegation.recalled

    def drop(self, handle: bytes) -> None:
        """Forget what was read of a file."""
        for key in [key for key in self._blocks if key[0] == handle]:
            self._bytes -= len(self._blocks.pop(key))

    @contextlib.contextmanager
    def resizing(self, handle: bytes, after: Callable[[int], int]) -> Iterator[None]:
        """Inside, we write to a file, or set its size: `after` makes the new size of the old one, if that was known.

        What CB_GETATTR is answered meanwhile says nothing of the size: nobody knows how far the server is.
        """
        self.drop(handle)
        delegation = self._live.held.delegations.get(handle)
        if delegation is None or delegation.size is None:
            yield
            return
        known, delegation.size = delegation.size, None
        yield
        delegation.size = after(known)

    def get(self, handle: bytes, block: int) -> bytes | None:
        """One block, if it was read under the delegation that still lasts."""
        data = self._blocks.get((handle, block))
        if data is not None:
            self._blocks.move_to_end((handle, block))
        return data

    def put(self, handle: bytes, block: int, data: bytes) -> None:
        """Keep a block, and drop the oldest ones beyond the bound."""
        self._bytes += len(data) - len(self._blocks.pop((handle, block), b""))
        self._blocks[handle, block] = data
        while self._bytes > self._most and len(self._blocks) > 1:
            self._bytes -= len(self._blocks.popitem(last=False)[1])

    def reader(self, reader: Reader, handle: bytes, block: int) -> CachingReader:
        """A reader of a file that uses what is known of it."""
        return CachingReader(self, reader, handle, block)


class CachingReader:
    """Reads a file block by block from memory while it is delegated, and straight from the server otherwise."""

    def __init__(self, cache: DelegatedData, reader: Reader, handle: bytes, size: int) -> None:
        self._cache = cache
        self._reader = reader
        self._handle = handle
        self._size = size
        """Of a block: only the last one of the file is shorter."""

    def read_into(self, offset: int, into: memoryview) -> int:
        """Fill `into`; how many bytes, fewer only at the end of the file."""
        view = into.cast("B")
        done = 0
        while done < len(view):
            if not self._cache.is_valid(self._handle):
                return done + self._reader.read_into(offset + done, view[done:])
            number, skip = divmod(offset + done, self._size)
            piece = self._block(number)[skip : skip + len(view) - done]
            view[done : done + len(piece)] = piece
            done += len(piece)
            if not piece:
                break
        return done

    def read_to_end(self, offset: int, expected: int) -> bytes:
        """All bytes from `offset` on."""
        if not self._cache.is_valid(self._handle):
            return self._reader.read_to_end(offset, expected)
        parts: list[bytes] = []
        number, skip = divmod(offset, self._size)
        last = (offset + expected) // self._size
        while True:
            data = self._block(number)
            parts.append(data[skip:])
            if len(data) < self._size:
                return b"".join(parts)
            number, skip = number + 1, 0
            self._reader.extent.require_an_end(number - last, number * self._size)

    def _block(self, number: int) -> bytes:
        data = self._cache.get(self._handle, number)
        if data is None:
            data, _ = self._reader.read(number * self._size, self._size)
            # A recall may have come while the block was on its way: then it is good for this call, and no longer.
            if self._cache.is_valid(self._handle):
                self._cache.put(self._handle, number, data)
        return data
