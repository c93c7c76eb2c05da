# SPDX-License-Identifier: MIT
"""An open file of NFSv4 in the manner of Python's `io`: with an open on the server, locks, and a delegation if any."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Iterator

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.clients.nfs4 import operations as op
from nfsclient.highlevel import files
from nfsclient.highlevel.nfs4.cache import DelegatedData
from nfsclient.highlevel.nfs4.calls import LiveCalls, files_of
from nfsclient.highlevel.nfs4.notices import Waiter
from nfsclient.highlevel.transfer import Reader
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.state import LockRange, Locks, Open


class NfsFile(files.NfsFile):
    """A file that is open on the server until `close`, so that share reservations and locks hold.

    While the server delegates the file, what was read once is read from memory.
    """

    def __init__(
        self,
        calls: LiveCalls,
        opened: Open,
        path: bytes,
        cache: DelegatedData,
        *,
        readable: bool,
        writable: bool,
        append: bool = False,
        known: int = 0,
    ) -> None:
        """`known` is the size of the file where the caller knows it."""
        operations = files_of(calls.live, opened)
        super().__init__(
            calls,
            opened.handle,
            path,
            readable=readable,
            writable=writable,
            append=append,
            known=known,
            files=operations,
        )
        reader = Reader(calls, opened.handle, path, known, operations)
        self._reader = cache.reader(reader, opened.handle, calls.limits.read)
        self.opened = opened
        """The open that it stands on."""
        self._live = calls.live
        self._cache = cache

    @property
    def delegation(self) -> p.OpenDelegationType4:
        """What the server has delegated: OPEN_DELEGATE_NONE, or a kind of READ or WRITE."""
        delegation = self._live.held.delegations.get(self.handle)
        return p.OpenDelegationType4.OPEN_DELEGATE_NONE if delegation is None else delegation.type

    def write(self, data: t.Any, /) -> int:
        """Write all of `data`, at the end of the file if it was opened to append."""
        with self._cache.resizing(self.handle, lambda size: max(size, self.tell())):
            return super().write(data)

    def _set_size(self, size: int) -> None:
        with self._cache.resizing(self.handle, lambda _: size):
            super()._set_size(size)

    def close(self) -> None:
        """Make everything written stable, and CLOSE, with the last file object that shares the open."""
        if self.closed:
            return
        try:
            super().close()
        finally:
            self._release()

    def _release(self) -> None:
        self.opened.users -= 1
        if self.opened.users > 0:
            return
        try:
            if not self.opened.lost and self._live.rpc.is_open:
                self._unlock_all()
                self._live.run(lambda: [op.putfh(self.handle), op.close(self.opened.stateid)], self.name)
        finally:
            self._live.held.closed(self.opened)
            self._live.returns.closed(self.handle)

    def _unlock_all(self) -> None:
        """Some servers refuse to CLOSE a file with locks (LOCKS_HELD: section 18.2.3)."""
        mine = [
            lock for lock in self._live.held.locks.values() if lock.opened is self.opened and not lock.lost
        ]
        for locks in mine:
            for byte_range in list(locks.ranges):
                self._unlock(locks, byte_range.offset, byte_range.length)

    # ------------------------------------------------------------ byte-range locks

    def lock(
        self,
        offset: int = 0,
        length: int = p.NFS4_MAXFILELEN,
        *,
        shared: bool = False,
        wait: bool = False,
        owner: bytes | None = None,
    ) -> None:
        """LOCK a range, by default to the end of the file; `owner` names another owner than this file object.

        With `wait`, DENIED is tried again while patience lasts: after a pause, or when the server sends CB_NOTIFY_LOCK.

        Raises `NfsStatusError` with DENIED if another owner has a lock in the way.
        """
        who = self.opened.owner if owner is None else owner
        kind = p.NfsLockType4.READ_LT if shared else p.NfsLockType4.WRITE_LT
        if wait:
            kind = p.NfsLockType4.READW_LT if shared else p.NfsLockType4.WRITEW_LT

        def build() -> list[t.Any]:
            known = self._live.held.locks_of(self.opened, who)
            if known is None or known.lost:
                args = op.lock(self.opened.stateid, kind, offset, length, owner=who)
            else:
                args = op.lock_more(known.stateid, kind, offset, length)
            return [op.putfh(self.handle), args]

        waiter = Waiter(self._live.patience, self._live.rpc.loop)
        with self._live.lock_notices.waiting(self.handle, who, waiter):
            while True:
                waiter.has_notice = False
                try:
                    reply = self._live.run(build, self.name)
                    break
                except CompoundError as error:
                    if not wait or error.status != p.Nfsstat4.NFS4ERR_DENIED or not waiter.pause():
                        raise
        granted = p.NfsLockType4.READ_LT if shared else p.NfsLockType4.WRITE_LT
        self._live.held.locked(self.opened, who, reply.stateid, LockRange(granted, offset, length))

    def unlock(self, offset: int = 0, length: int = p.NFS4_MAXFILELEN, *, owner: bytes | None = None) -> None:
        """LOCKU a range; nothing if this owner never had a lock. Data written is made stable first."""
        if self._writable:
            self._writer.commit()
        locks = self._live.held.locks_of(self.opened, self.opened.owner if owner is None else owner)
        if locks is None:
            return
        self._live.require(self.opened)
        self._unlock(locks, offset, length)

    def _unlock(self, locks: Locks, offset: int, length: int) -> None:
        reply = self._live.run(
            lambda: [op.putfh(self.handle), op.locku(locks.stateid, offset, length)], self.name
        )
        locks.stateid = reply.stateid
        locks.remove(offset, length)

    @contextlib.contextmanager
    def locked(
        self,
        offset: int = 0,
        length: int = p.NFS4_MAXFILELEN,
        *,
        shared: bool = False,
        wait: bool = False,
        owner: bytes | None = None,
    ) -> Iterator[None]:
        """A lock for the time of a `with` block. Raises `StateLost` if the server lost it meanwhile."""
        self.lock(offset, length, shared=shared, wait=wait, owner=owner)
        try:
            yield
        finally:
            if not self.closed:
                self.unlock(offset, length, owner=owner)
