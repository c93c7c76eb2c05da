# SPDX-License-Identifier: MIT
"""WRITEs of what waits: for a program, which waits for them, and for CALLBACKs, for which nothing waits.

    who                 what is written                        when it is over
    `send`              blocks of any files                    each was answered
    `begin` (3.2)       all of one file, until nothing waits   the last reply sends the answer to the callback

What must stay true:

- What a callback has written back, and what was cancelled, is not written again: whoever was waiting for that callback
  may have written since. So each WRITE goes out only if its data still waits (`Cache.waits`), and one whose connection
  was lost is not sent again, but looked at again.
- A callback is answered when no WRITE of its file is under way any more, whoever has sent it.
- Data that is refused is lost: `CachedFile.failure` says so.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from nfsclient.errors import ConnectionLost, NfsClientError, NfsStatusError, RpcTimeout
from nfsclient.highlevel.session import StatelessCalls
from nfsclient.highlevel.snfs.cache import Cache, CachedFile, Extent
from nfsclient.highlevel.snfs.callbacks import Callback
from nfsclient.paths import shown
from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.replies import status_error
from nfsclient.rpc.core import Pending

_FOR_A_CALLBACK: t.Final = 16
_FOR_A_PROGRAM: t.Final = 64
"""WRITEs that are under way."""
Sent: t.TypeAlias = Pending[nfs2.Attrstat]


class WriteBack:
    """All WRITEs of what waits in a cache."""

    def __init__(self, calls: StatelessCalls, cache: Cache, lose: Callable[[CachedFile], None]) -> None:
        """`lose` is called with a file that the server has given to others."""
        self.cache = cache
        self.lose = lose
        self.most = _FOR_A_PROGRAM
        """WRITEs of a program that are under way."""
        self._calls = calls
        self._rpc = calls.rpc
        self._under_way: dict[Sent, Extent] = {}
        """WRITEs that are not answered."""
        self._backs: dict[bytes, list[_Back]] = {}
        """Callbacks that are carried out now, by file."""
        self._unsure: set[bytes] = set()
        """Files of which data was refused: the server may have less of them than this client thinks."""

    # ------------------------------------------------------------ for a program

    def send(self, extents: Iterable[Extent]) -> None:
        """WRITE of blocks, many at a time."""
        waiting, sent = deque(extents), dict[Sent, Extent]()
        while waiting or sent:
            try:
                self._fill(waiting, sent)
                if sent:
                    done = self._rpc.wait_any(sent)
                    self._rpc.wait(done)
                    self._calls.caller.answered()
                    del sent[done]
            except (ConnectionLost, RpcTimeout) as lost:
                self._calls.caller.recover(lost)
                waiting.extendleft(reversed(sent.values()))
                sent.clear()
        while self._unsure:
            self._learn_size(self._unsure.pop())
        self.cache.look_again()

    def _fill(self, waiting: deque[Extent], sent: dict[Sent, Extent]) -> None:
        while waiting and len(sent) < self.most:
            if self.cache.waits(waiting[0]):
                sent[self.submit(waiting[0])] = waiting[0]
            waiting.popleft()

    # ------------------------------------------------------------ for both

    def submit(self, extent: Extent) -> Sent:
        """WRITE of data that waits. When it is answered, the cache learns it. Raises `ConnectionLost`."""
        args = nfs2.Writeargs(extent.handle, 0, extent.offset, 0, extent.data)
        pending: Sent = self._rpc.submit(p.WRITE, args)
        self._under_way[pending] = extent
        pending.then = partial(self._answered, extent)
        if pending.done:
            pending.then(pending)
        return pending

    def _answered(self, extent: Extent, pending: Sent) -> None:
        if self._under_way.pop(pending, None) is None:
            return
        result = pending.result
        refusal = None
        if result is not None and result.resok is None:
            refusal = status_error(result.status, "WRITE")
            self._refused(extent, refusal)
        elif result is not None:
            self.cache.written(extent)
            file = self.cache.get(extent.handle)
            if file is not None:
                file.attributes = None  # it has other times now
        for back in list(self._backs.get(extent.handle, ())):
            back.go_on(has_failed=refusal is not None, is_lost=result is None)

    def under_way(self, handle: bytes) -> set[tuple[int, int]]:
        """The blocks, with their stamps, of which a WRITE is not answered."""
        sent = self._under_way.values()
        return {(extent.number, extent.stamp) for extent in sent if extent.handle == handle}

    def _refused(self, extent: Extent, error: NfsStatusError) -> None:
        file = self.cache.get(extent.handle)
        if file is None or not self.cache.waits(extent):
            return  # it was written by a callback meanwhile, or cancelled
        if error.status == p.Snfsstat.NFSERR_STALE:
            self.lose(file)
            return
        error.path = shown(file.path)
        self.cache.failed(extent, error)
        self._unsure.add(file.handle)

    def _learn_size(self, handle: bytes) -> None:
        """After data was refused, the file ends where the server says, or where what still waits ends."""
        file = self.cache.get(handle)
        if file is None:
            return
        with contextlib.suppress(NfsStatusError):
            found = self._calls.do(self._calls.files.getattr(handle), file.path)
            ends = (extent.offset + len(extent.data) for extent in self.cache.extents(file))
            file.known = found.size or 0
            self.cache.cut(file, max(file.known, *ends, 0))
            file.attributes = found

    # ------------------------------------------------------------ for callbacks

    def begin(self, file: CachedFile, callback: Callback) -> None:
        """Write a file back, then answer the callback."""
        back = _Back(self, file, callback)
        self._backs.setdefault(file.handle, []).append(back)
        back.go_on()

    def end(self, back: _Back) -> None:
        """It is over."""
        handle = back.file.handle
        self._backs[handle].remove(back)
        if not self._backs[handle]:
            del self._backs[handle]

    def knows(self, back: _Back) -> bool:
        """Whether it is not over."""
        return back in self._backs.get(back.file.handle, ())

    def is_writing_back(self, file: CachedFile) -> bool:
        """Whether a callback about the file is being carried out."""
        return file.handle in self._backs

    def wait(self, file: CachedFile) -> None:
        """Wait for the end of a callback that writes it back."""
        loop = self._rpc.loop
        if self.is_writing_back(file):
            loop.run_until(lambda: not self.is_writing_back(file), loop.clock() + self._rpc.timeout)


class _Back:
    """What one callback asks for: WRITEs of what waits, then the reply. Nothing here waits."""

    def __init__(self, owner: WriteBack, file: CachedFile, callback: Callback) -> None:
        self.file = file
        self._owner = owner
        self._callback = callback
        self._queue: deque[Extent] = deque()
        self._has_failed = False

    def go_on(self, *, has_failed: bool = False, is_lost: bool = False) -> None:
        """Send what there is room for; when all is answered, answer the callback."""
        self._has_failed |= has_failed
        if self._is_over():
            return
        if is_lost:
            self._abandon()
            return
        try:
            self._fill()
        except NfsClientError:
            self._abandon()
            return
        if not (self._is_over() or self._queue or self._owner.under_way(self.file.handle)):
            self._end()

    def _fill(self) -> None:
        """Send what waits, but for what somebody has sent."""
        owner = self._owner
        under_way = owner.under_way(self.file.handle)
        while len(under_way) < _FOR_A_CALLBACK and not self._is_over():
            if not self._queue:
                found = owner.cache.extents(self.file)
                self._queue.extend(each for each in found if (each.number, each.stamp) not in under_way)
            if not self._queue:
                return
            extent = self._queue.popleft()
            if (extent.number, extent.stamp) not in under_way and owner.cache.waits(extent):
                owner.submit(extent)
                under_way.add((extent.number, extent.stamp))

    def _is_over(self) -> bool:
        return not self._owner.knows(self)

    def _abandon(self) -> None:
        """The connection has ended, or is of no use: the data goes on waiting, and the server gets no answer."""
        if not self._is_over():
            self._owner.end(self)

    def _end(self) -> None:
        self._owner.end(self)
        if self._has_failed:  # to the server this client is dead, and nobody calls it about the file any more
            self._owner.lose(self.file)
        elif self._callback.args.cbmode.invalidates:
            self._owner.cache.invalidate(self.file)
        self._callback.answer(p.Snfsstat.NFSERR_IO if self._has_failed else p.Snfsstat.NFS_OK)
