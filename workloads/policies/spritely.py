# SPDX-License-Identifier: MIT
"""One client of Spritely NFS: OPEN and CLOSE, data in its memory, delayed writes, callbacks.

What is kept, dropped and written is decided by the cache of the library (`nfsclient.highlevel.snfs.cache`), by the
rules of the paper; here calls of programs and callbacks of the server become steps of tasks.

    when                                        what is written
    `/etc/update`, each `Policy.delay` seconds  all that waits (section 4.2.5)
    fsync                                       all of the file
    a callback with write-back                  all of the file, before it is answered (section 3.2)
    the cache is full                           what was used longest ago

What must stay true:

- A write is over for the record of the file as soon as it is in memory: whoever opens the file gets it, so that whoever
  reads something else has been given wrong data.
- While a callback is carried out, other tasks may use the file. What is not to be cached any more is written before it
  is read or written directly (`_settle`).
"""

from __future__ import annotations

import math
import typing as t
from collections import Counter
from collections.abc import Iterable

from nfsclient.errors import NfsStatusError
from nfsclient.files import Call, Data, Written, result_of
from nfsclient.files.v2 import attributes_of
from nfsclient.highlevel.snfs.cache import Cache, CachedFile, Extent, Kept, with_size
from nfsclient.highlevel.snfs.callbacks import Callback
from nfsclient.protocol import snfs as p
from nfsclient.replies import status_error
from workloads import calls as c
from workloads.calls import OpenFile
from workloads.contents import check
from workloads.engine import Drain, Pool, Room, Start, Work
from workloads.policies.client import PolicyClient
from workloads.policies.data import Node
from workloads.policies.known import Act
from workloads.trouble import Stopped

CALLBACKS: t.Final = "callbacks of the server"
"""The name of their number among the troubles of a phase; it is none."""
CANCELLED: t.Final = "bytes never written: their file was removed"
"""The same for them."""


class SpritelyClient(PolicyClient):
    """Carries out calls for one client."""

    def __init__(self, *args: t.Any, **more: t.Any) -> None:
        """As `Known`."""
        super().__init__(*args, **more)
        self.cache = Cache(block=min(self.rsize, self.wsize), delay=math.inf)
        self._updated_at = self.now()
        self._writes: dict[OpenFile, bool] = {}
        """How files were opened."""
        self._cancelled = 0
        self._opening: Counter[bytes] = Counter()
        """Files with an OPEN under way."""
        self._disabled: set[bytes] = set()
        """Those of which a callback came meanwhile: the reply may be older than the callback."""

    def begin(self, pace: float) -> None:
        """As of `PolicyClient`; `/etc/update` comes for the first time when its delay has passed."""
        super().begin(pace)
        self._updated_at = self.now()

    def _perform(self, call: c.Call) -> Work[t.Any]:
        if isinstance(call, c.DropCaches):
            yield from self._update()
            for file in self.cache.files:
                if not file.is_open:
                    self.cache.invalidate(file)
        elif self.now() - self._updated_at >= self.policy.delay:
            yield from self._update()
        result = yield from super()._perform(call)
        self.troubles[CANCELLED] += self.cache.cancelled - self._cancelled
        self._cancelled = self.cache.cancelled
        return result

    def _update(self) -> Work[None]:
        self._updated_at = self.now()
        yield from self._sync()

    def _sync(self) -> Work[None]:
        for file in self.cache.dirty_files():
            yield from self._write_back(file)

    # ------------------------------------------------------------ opens

    def do_open(self, act: Act) -> Work[None]:
        if act.file is not None:
            return
        call: c.Open = act.call
        yield from self._open(self._of(act), writes=call.writes)
        file = self._opened(act, self.ledger.file(act.path), writes=call.writes)
        self._writes[file] = call.writes
        if call.truncates:
            yield from self._truncate(file)
            self.cache.cut(self.cache.file(file.kept.node.handle), 0)

    def do_create(self, act: Act) -> Work[None]:
        """CREATE, and OPEN for writing."""
        yield from super().do_create(act)
        assert act.node is not None
        assert act.file is not None
        self._writes[act.file] = True
        yield from self._open(act.node, writes=True)

    def _open(self, node: Node, *, writes: bool) -> Work[None]:
        self._opening[node.handle] += 1
        try:
            reply = yield Call(p.OPEN, p.Openargs(node.handle, 0, writes))
        finally:
            self._opening[node.handle] -= 1
            may_cache = node.handle not in self._disabled
            if not self._opening[node.handle]:
                del self._opening[node.handle]
                self._disabled.discard(node.handle)
        given = reply.resok
        if given is None:
            raise status_error(reply.status, "OPEN", node.path, reply)
        attributes = attributes_of(given.attributes)
        kept = self.cache.opened(
            node.handle,
            given.cache_version,
            given.old_cache_vers,
            enabled=given.cache_enabled and may_cache,
            attributes=attributes,
            writes=writes,
        )
        if kept is Kept.LOST:
            raise Stopped(
                "restart",
                f"{node.path}: data that waited in the client is lost: the file has another version",
            )
        self._learn(node, attributes, own=True)
        yield from self._settle(self.cache.file(node.handle))

    def do_close(self, act: Act) -> Work[None]:
        """CLOSE; what waits goes on waiting."""
        assert act.file is not None
        yield from self._close(act.file)

    def _close(self, file: OpenFile) -> Work[None]:
        handle, writes = file.kept.node.handle, self._writes.pop(file)
        reply = yield Call(p.CLOSE, p.Closeargs(handle, writes))
        self.cache.closed(handle, writes=writes)
        if reply.resok is None:
            raise status_error(reply.status, "CLOSE", file.path, reply)

    def finish(self) -> Work[None]:
        """CLOSE of what is open. What waits is dropped: the files are about to be removed."""
        for files in list(self.open_files.values()):
            for file in files:
                if file in self._writes:
                    yield from self._close(file)
        self.open_files.clear()
        for cached in self.cache.files:
            self.cache.removed(cached.handle)

    # ------------------------------------------------------------ data

    def write(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[int]:
        """A new version of a range, in memory; while the file is write-shared, at the server."""
        cached = self.cache.file(node.handle)
        yield from self._settle(cached)
        if not cached.is_cached:
            yield from super().write(file, node, offset, count)
            yield Drain(node.pool)
            return count
        needed = self.cache.needed(cached, offset, count)
        if needed:
            epoch = cached.epoch
            yield from self._fetch_blocks(cached, needed, epoch)
            if epoch != cached.epoch:
                return (yield from self.write(file, node, offset, count))
        piece = file.state.begin_write(offset, count, self.writer)
        self.cache.write(cached, offset, self._made(file.state, [piece], offset, count), self.now())
        file.state.end_write(piece)
        yield from self._make_room()
        return count

    def read(self, file: OpenFile, node: Node, offset: int, count: int) -> Work[int]:
        """Read and compare a range; how many bytes there were. Raises `WrongData`."""
        cached = self.cache.file(node.handle)
        yield from self._settle(cached)
        if not cached.is_cached:
            return (yield from super().read(file, node, offset, count))
        reading = file.state.begin_read(offset, count)
        try:
            epoch = cached.epoch
            missing = self.cache.missing(cached, offset, count, ahead=True)
            if missing:
                yield from self._fetch_blocks(cached, missing, epoch)
            if epoch == cached.epoch and cached.is_cached:
                data = self.cache.read(cached, offset, count)
                check(self.contents, file.state, reading, data, self.writer)
                yield from self._make_room()
                return len(data)
        finally:
            file.state.end_read(reading)
        return (yield from self.read(file, node, offset, count))

    def _fetch_blocks(self, cached: CachedFile, numbers: Iterable[int], epoch: int) -> Work[None]:
        pool = Pool(self.window)
        for number in numbers:
            yield Room(pool)
            yield Start(self._fetch_block(cached, number, epoch), pool)
        yield Drain(pool)

    def _fetch_block(self, cached: CachedFile, number: int, epoch: int) -> Work[None]:
        size, got = self.cache.block, bytearray()
        while True:
            steps = self.files.read(cached.handle, number * size + len(got), size - len(got))
            reply = yield next(steps)
            data: Data = result_of(steps, reply)
            got += data.data
            if data.eof or len(got) >= size:
                break
            if not len(data.data):
                raise Stopped(
                    "no progress",
                    f"READ at {number * size + len(got)} gave nothing before the end of the file",
                )
        self.cache.fetched(cached, number, got, epoch)

    def flush(self, file: OpenFile, node: Node) -> Work[None]:
        """All that was written has been answered."""
        yield from super().flush(file, node)
        yield from self._write_back(self.cache.file(node.handle))

    def _settle(self, cached: CachedFile) -> Work[None]:
        while cached.is_open and cached.blocks and not cached.enabled:
            if cached.is_dirty:
                yield from self._write_back(cached)
            else:
                self.cache.invalidate(cached)

    def _write_back(self, cached: CachedFile) -> Work[None]:
        yield from self._send(self.cache.extents(cached))

    def _make_room(self) -> Work[None]:
        extents = self.cache.excess()
        if extents:
            yield from self._send(extents)
            self.cache.excess()

    def _send(self, extents: Iterable[Extent]) -> Work[None]:
        pool = Pool(self.window)
        for extent in extents:
            yield Room(pool)
            yield Start(self._write_extent(extent), pool)
        yield Drain(pool)

    def _write_extent(self, extent: Extent) -> Work[None]:
        steps = self.files.write(extent.handle, extent.offset, extent.data)
        reply = yield next(steps)
        try:
            written: Written = result_of(steps, reply)
        except NfsStatusError:
            if not self.cache.waits(extent):
                return  # it was written by a callback meanwhile, or cancelled
            raise
        assert written.count == len(extent.data)
        self.cache.written(extent)

    # ------------------------------------------------------------ names

    def do_remove(self, act: Act) -> Work[None]:
        """REMOVE; if it is the last name, what waits is cancelled."""
        node, item = self._nodes.get(act.path), self.ledger.items.get(act.path)
        is_last = item is not None and item.names == 1
        yield from super().do_remove(act)
        if node is not None and is_last:
            self.cache.removed(node.handle)

    def _is_fresh(self, node: Node) -> bool:
        """Attributes of a file are true while it is open and cached (4.2.3): nobody calls back about a closed one."""
        if node.attributes is None or node.attributes.is_directory:
            return super()._is_fresh(node)
        cached = self.cache.get(node.handle)
        return cached is not None and cached.is_open and cached.enabled

    def do_attributes(self, act: Act) -> Work[None]:
        """As of `Known`; the size is that with the data that waits here."""
        yield from super().do_attributes(act)
        cached = self.cache.get(self._of(act).handle)
        if cached is not None and (cached.is_cached or cached.is_dirty):
            act.result = with_size(act.result, cached.size)

    # ------------------------------------------------------------ callbacks

    def answer(self, callback: Callback) -> Work[None]:
        """Carry out a CALLBACK, and answer it. One of a file that is being opened may come before the reply to OPEN."""
        self.troubles[CALLBACKS] += 1
        handle, mode = callback.args.file, callback.args.cbmode
        cached = self.cache.get(handle)
        if handle in self._opening and mode.invalidates:
            self._disabled.add(handle)
        if cached is None:
            is_expected = handle in self._opening
            callback.answer(p.Snfsstat.NFS_OK if is_expected else p.Snfsstat.NFSERR_STALE)
            return
        if mode.invalidates:
            cached.enabled = False
        try:
            while cached.is_dirty:
                yield from self._write_back(cached)
        except Exception:
            callback.answer(p.Snfsstat.NFSERR_IO)
            raise
        if mode.invalidates:
            self.cache.invalidate(cached)
        callback.answer()
