# SPDX-License-Identifier: MIT
"""Makes the calls that a cache needs: OPEN and CLOSE, READs of what is missing, WRITEs of what waits; answers
CALLBACKs.

Section numbers are those of the paper. The cache itself is without I/O (`cache`); here is when and how.

    when                                    what is written
    a call of a program, or `wait`          blocks that have waited for `Cache.delay` seconds (section 4.2.5)
    `flush` of a file, `sync`               all of the file, or of all files
    the cache is full                       the blocks that were used longest ago
    CALLBACK with write-back                all of the file, before the reply (section 3.2)
    OPEN that disables caching              all of the file, before anything else

What must stay true:

- A callback is answered from within any wait on the loop, and what it causes does not wait: WRITEs are sent, and the
  last reply to them sends the answer (`writeback`). A program that waits for its own OPEN or CLOSE of the same file
  does not hold that up (section 4.3.4).
- While data waits of a file that may not be cached any more, no call of the program about its data is made (`settle`):
  the server would answer without that data.
- Before anything is read from memory, what has arrived is looked at, and a connection that has ended is made again: a
  callback may be waiting, or the server may have given the file to others.
- OPEN, CLOSE and a SETATTR that cuts are never sent twice as the same call. After a reconnect, whether a lost one was
  carried out is not known; REOPEN sets the server's counts to those from before it, and then it is made as a new call.
- Data of a file that the server has given to others is never written, and the program gets `StateLost` once.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

from nfsclient.clients.snfs import Snfs
from nfsclient.errors import (
    ConnectionLost,
    NfsClientError,
    NfsStatusError,
    NoProgress,
    NotInVersion,
    RetriesExhausted,
    RpcTimeout,
    ServerDown,
    ServerViolation,
)
from nfsclient.files import Attributes, Data, NewAttributes, Steps, snfs
from nfsclient.files.v2 import attributes_of, sattr
from nfsclient.highlevel.session import Job, StatelessCalls
from nfsclient.highlevel.snfs.cache import LARGEST, Cache, CachedFile, Kept, with_size
from nfsclient.highlevel.snfs.callbacks import Callback, CallbackService
from nfsclient.highlevel.snfs.errors import StateLost
from nfsclient.highlevel.snfs.writeback import WriteBack
from nfsclient.paths import shown
from nfsclient.protocol import nfs2
from nfsclient.protocol import snfs as p
from nfsclient.replies import status_error
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Void

_PATIENT_REPLIES: t.Final = 8
"""READs in a row that may give nothing."""
_OPENED: t.Final = frozenset({p.Snfsstat.NFS_OK, p.Snfsstat.SNFS_INCONSISTENT})

_NOT_NOW: t.Final = frozenset({p.Snfsstat.NFSERR_NOSPC, p.Snfsstat.SNFS_RECOVERING})
"""Answers to REOPEN that do not say that the file was given to others."""


class SnfsCalls(StatelessCalls):
    """Calls of Spritely NFS; before each, what is due is done."""

    def __init__(self, *args: t.Any, **more: t.Any) -> None:
        super().__init__(*args, **more)
        self.files = snfs.Files()
        self.before: t.Callable[[], None] = lambda: None

    def do(self, steps: Steps[t.Any], path: bytes) -> t.Any:
        """As of `StatelessCalls`."""
        self.before()
        return super().do(steps, path)


@dataclass(slots=True, eq=False)
class Opened:
    """One OPEN of a file that is not closed."""

    file: CachedFile
    writes: bool
    incarnation: int

    def require(self) -> None:
        """Raise `StateLost` if the server has given the file to others since."""
        file = self.file
        if file.incarnation == self.incarnation:
            return
        failure = file.failure if file.failed_in == self.incarnation else None
        if failure is not None:
            file.failure = None
        raise failure or StateLost(_given_away(file))


class Caching:
    """The files of one client.

    Raises `NfsStatusError`, `StateLost`, `RpcError`; `RetriesExhausted` if the server recovers for too long.
    """

    def __init__(self, calls: SnfsCalls, cache: Cache, mdev: int) -> None:
        """`mdev` is the client's name for the file system (section 3.1)."""
        self.calls = calls
        self.cache = cache
        self.mdev = mdev
        self.inconsistent = 0
        """OPENs of files that may lack what a dead client did not write back (section 3.2)."""
        self.callbacks = 0
        """That have come."""
        self._rpc = calls.rpc
        self._snfs = Snfs(calls.rpc)
        self._clock = calls.rpc.loop.clock
        self._changing: Counter[bytes] = Counter()
        """Files with an OPEN, CLOSE or REOPEN under way."""
        self._doubtful: set[bytes] = set()
        """Files with an OPEN or CLOSE that was not answered: it may have been carried out."""
        self._disabled: set[bytes] = set()
        """Files of which a callback came while OPEN or REOPEN was under way: the reply may be older than that."""
        self._cutting: dict[bytes, list[Callback]] = {}
        """Files that get another size now, and the callbacks that came meanwhile."""
        self._is_reopening = False
        self._is_busy = False
        self.writes = WriteBack(calls, cache, self._lose)
        self.service = CallbackService(calls.rpc, self._called)
        calls.caller.on_reconnected = self._reopen
        calls.before = self.tick

    # ------------------------------------------------------------ time

    def tick(self) -> None:
        """Look at what has arrived, connect again if that is needed, and write what has waited long enough."""
        if self._is_busy:
            return
        self._is_busy = True
        try:
            self._rpc.loop.catch_up()
            self.calls.caller.restore("a look at the cache")
            if self.cache.wake <= self._clock():
                self.writes.send(self.cache.due(self._clock()))
        finally:
            self._is_busy = False

    def wait(self, seconds: float) -> None:
        """Serve callbacks for a while, and write what is due: for a program that has nothing to do."""
        loop = self._rpc.loop
        deadline = loop.clock() + seconds
        while loop.clock() < deadline:
            self.tick()
            loop.run_until(lambda: not self._rpc.is_open, min(deadline, self.cache.wake))
        self.tick()

    def sync(self) -> None:
        """Write all that waits, as `/etc/update` does. Raises why data could not be written; the errors
        of further files are in its notes."""
        self.tick()
        failures: list[NfsClientError] = []

        def try_each(step: t.Callable[[CachedFile], None], files: list[CachedFile]) -> None:
            for file in files:
                try:
                    step(file)
                except ServerDown:
                    raise
                except NfsClientError as error:
                    failures.append(error)

        try_each(self.write_back, self.cache.dirty_files())
        try_each(self.raise_failure, self.cache.files)
        for failure in failures[1:]:
            failures[0].add_note(str(failure))
        if failures:
            raise failures[0]

    # ------------------------------------------------------------ opens

    def open(self, handle: bytes, path: bytes, *, writes: bool) -> Opened:
        """OPEN; the blocks that are still true stay."""
        self.tick()
        known = self.cache.get(handle)
        was_open, before = known is not None and known.is_open, None if known is None else known.version
        reply = self._change(p.OPEN, p.Openargs(handle, self.mdev, writes), handle, path)
        given = reply.resok
        if given is None:
            raise status_error(reply.status, "OPEN", shown(path), reply)
        self.inconsistent += reply.status is p.Snfsstat.SNFS_INCONSISTENT
        may_cache = self._rpc.core.transport == "tcp" and handle not in self._disabled
        kept = self.cache.opened(
            handle,
            given.cache_version,
            given.old_cache_vers,
            enabled=given.cache_enabled and may_cache,
            attributes=attributes_of(given.attributes),
            writes=writes,
        )
        self._disabled.discard(handle)
        file = self.cache.file(handle)
        file.path = path
        if kept is Kept.LOST:
            file.fail(StateLost(_data_lost(file)))
        try:
            if was_open and file.enabled and before not in {given.cache_version, given.old_cache_vers}:
                self._count_opens(file)
            self.settle(file)
        except BaseException:
            with contextlib.suppress(NfsClientError):
                self._close(file, writes=writes)
            raise
        return Opened(file, writes, file.incarnation)

    def _count_opens(self, file: CachedFile) -> None:
        """Others have changed a file that was open here: the server may have given this client up, and count this OPEN
        alone. REOPEN sets its count."""
        with self._change_of(file.handle):
            self._confirm(file, self._new_call(p.REOPEN, self._having(file)))

    def close(self, opened: Opened) -> None:
        """CLOSE; what waits goes on waiting (section 4.2.2)."""
        try:
            self.tick()
        finally:
            if opened.file.incarnation == opened.incarnation:
                self._close(opened.file, writes=opened.writes)

    def _close(self, file: CachedFile, *, writes: bool) -> None:
        before, waits = file.incarnation, file.is_dirty
        try:
            args = p.Closeargs(file.handle, writes)
            reply = self._change(p.CLOSE, args, file.handle, file.path)
        finally:
            self.cache.closed(file.handle, writes=writes)
        if file.incarnation != before and not waits:
            file.failure = (
                None  # a server that knows nothing of a closed file refuses REOPEN: nothing is lost
            )
        # STALE: to the server this client is dead. What waits, if anything, is refused when it is written.
        if reply.status not in {p.Snfsstat.NFS_OK, p.Snfsstat.NFSERR_STALE}:
            raise status_error(reply.status, "CLOSE", shown(file.path), reply)

    def _change(self, procedure: Procedure[t.Any, t.Any], args: t.Any, handle: bytes, path: bytes) -> t.Any:
        """The reply to OPEN or CLOSE; again after a lost connection, and while the server recovers."""
        pauses: t.Iterator[float] | None = None
        with self._change_of(handle):
            while True:
                self._doubtful.add(handle)
                reply = self._new_call(procedure, args)
                self._doubtful.discard(handle)
                if reply.status is not p.Snfsstat.SNFS_RECOVERING:
                    return reply
                pauses = pauses or self.calls.patience.pauses()
                if next(pauses, None) is None:
                    raise RetriesExhausted(reply.status, procedure.name, shown(path))

    def _new_call(self, procedure: Procedure[t.Any, t.Any], args: t.Any) -> t.Any:
        """The reply to a call that is made as a new one after each lost connection."""
        while True:
            try:
                reply = self._snfs.call(procedure, args)
            except (ConnectionLost, RpcTimeout) as lost:
                self.calls.caller.recover(lost)
            else:
                self.calls.caller.answered()
                return reply

    def finish(self) -> None:
        """Write all that waits, and close what is open: the client ends."""
        try:
            self.sync()
        finally:
            for file in self.cache.files:
                for writes, count in ((False, file.readers), (True, file.writers)):
                    for _ in range(count):
                        with contextlib.suppress(NfsClientError):
                            self._close(file, writes=writes)

    # ------------------------------------------------------------ data

    @contextlib.contextmanager
    def using(self, opened: Opened) -> t.Iterator[None]:
        """Around calls about an open file: `StateLost` where the server has given it to others, in place of STALE."""
        opened.require()
        try:
            yield
        except NfsStatusError as error:
            if error.status == p.Snfsstat.NFSERR_STALE:
                file = opened.file
                if file.incarnation == opened.incarnation and not self._is_gone(file):
                    self._lose(file)
                opened.require()
            raise
        opened.require()

    def read(self, file: CachedFile, offset: int, count: int) -> bytes | None:
        """Data from memory, once it is there; None if the file is not cached (any more)."""
        self.tick()
        self.settle(file)
        if not file.is_cached:
            return None
        epoch = file.epoch
        require_32_bits(min(offset + count, file.size))
        missing = self.cache.missing(file, offset, count, ahead=True)
        if missing:
            self._fetch(file, missing, epoch)
        if epoch != file.epoch or not file.is_cached:
            return None
        data = self.cache.read(file, offset, count)
        self._make_room()
        return data

    def write(self, file: CachedFile, offset: int, data: memoryview) -> int:
        """Put the beginning of some data into memory, up to the end of a block; how much. 0: it is not cached."""
        self.tick()
        self.settle(file)
        if not file.is_cached:
            return 0
        block = self.cache.block
        part = data[: block - offset % block]
        epoch = file.epoch
        needed = self.cache.needed(file, offset, len(part))
        if needed:
            self._fetch(file, needed, epoch)
            if epoch != file.epoch or not file.is_cached:
                return 0
        self.cache.write(file, offset, part, self._clock())
        self._make_room()
        return len(part)

    def _fetch(self, file: CachedFile, numbers: Iterable[int], epoch: int) -> None:
        """READ of whole blocks, many at a time."""
        block = self.cache.block
        parts = {number: bytearray() for number in numbers}
        known = file.known
        jobs: deque[Job[Data]] = deque()
        stalled = 0

        def start(number: int) -> None:
            at = number * block + len(parts[number])
            left = min(block - len(parts[number]), LARGEST - at)
            jobs.append(Job(self.calls.files.read(file.handle, at, left), at, left))

        def take(job: Job[Data], result: Data) -> None:
            nonlocal stalled
            number = job.offset // block
            if epoch == file.epoch and file.is_cached:
                self._require_true(file, job, result, min(known, (number + 1) * block))
            parts[number] += result.data
            stalled = 0 if len(result.data) else stalled + 1
            if result.eof or len(parts[number]) >= min(block, LARGEST - number * block):
                return
            if stalled > _PATIENT_REPLIES:
                raise NoProgress(f"READ of {shown(file.path)} at {job.offset}: no data and no end of file")
            start(number)

        for number in parts:
            start(number)
        self.calls.run(jobs, take, size=block, path=file.path)
        for number, data in parts.items():
            self.cache.fetched(file, number, data, epoch)

    @staticmethod
    def _require_true(file: CachedFile, job: Job[Data], result: Data, known: int) -> None:
        """Nobody else changes a file that is cached: READ must not end before what is known, nor state a larger size.

        Zeros in place of what does not come, and nobody knows it, would be worse.
        """
        end = job.offset + len(result.data)
        if result.eof and end < known:
            what = f"the server stated the end of the file at byte {end}, but has said before that it has {known}"
        elif result.size is not None and result.size > file.size:
            what = f"the server stated a size of {result.size} bytes, but has said before that it has {file.size}"
        else:
            return
        raise ServerViolation(f"READ of {shown(file.path)}: {what}, and nobody else may change it now")

    def cut(self, opened: Opened, size: int) -> None:
        """SETATTR of the size; what waits beyond it is cancelled when it is answered, and callbacks wait for that."""
        self.tick()
        file = opened.file
        self.settle(file)
        self.writes.wait(file)
        self._cutting[file.handle] = []
        try:
            args = nfs2.Sattrargs(file.handle, sattr(NewAttributes(size=size)))
            reply = self._new_call(p.SETATTR, args)
            if reply.resok is None:
                raise status_error(reply.status, "SETATTR", shown(file.path), reply)
            file.known = size
            if file.is_cached or file.is_dirty:
                self.cache.cut(file, size)
        finally:
            for callback in self._cutting.pop(file.handle):
                self._called(callback)
        file.attributes = None

    def attributes(self, opened: Opened) -> Attributes:
        """The attributes: kept ones while caching is enabled, else by GETATTR (section 4.2.3)."""
        self.tick()
        file = opened.file
        self.settle(file)
        if file.attributes is None:
            found = self.calls.do(self.calls.files.getattr(file.handle), file.path)
            file.attributes = found
            return self.own(file.handle, found)
        return file.attributes

    def size(self, opened: Opened) -> int:
        """The size of an open file now."""
        self.tick()
        file = opened.file
        self.settle(file)
        return file.size if file.is_cached else self.attributes(opened).size or 0

    def own(self, handle: bytes, attributes: Attributes) -> Attributes:
        """Attributes that came from the server, with the size that the file has here."""
        file = self.cache.get(handle)
        if file is None or not (file.is_cached or file.is_dirty):
            return attributes
        return with_size(attributes, file.size)

    def settle(self, file: CachedFile) -> None:
        """Wait until nothing waits of a file that is not to be cached (any more)."""
        while file.blocks and file.is_open and not file.enabled:
            if self.writes.is_writing_back(file):
                self.writes.wait(file)
            elif file.is_dirty:
                self.write_back(file)
            else:
                self.cache.invalidate(file)

    def write_back(self, file: CachedFile) -> None:
        """Write all that waits of a file. What is refused is lost: `raise_failure` says so."""
        self.writes.send(self.cache.extents(file))

    def _make_room(self) -> None:
        extents = self.cache.excess()
        if extents:
            self.writes.send(extents)
            self.cache.excess()

    def raise_failure(self, file: CachedFile) -> None:
        """Raise why data of the file was lost; once. What is lost with a file that is gone, nobody misses."""
        failure = file.failure
        if failure is None:
            return
        is_missed = not (isinstance(failure, StateLost) and self._is_gone(file))
        file.failure = None
        self.cache.forget_empty(file)
        if is_missed:
            raise failure

    def name_removed(self, file: CachedFile) -> None:
        """What waits of a file is cancelled, if a name that was removed was its last one (section 4.2.5).

        GETATTR says so afterwards: until then, another client may give the file one more name.
        """
        if self._is_gone(file):
            file.failure = None
            self.cache.removed(file.handle)

    def _is_gone(self, file: CachedFile) -> bool:
        """Whether the last name of a file was removed, as far as the server says."""
        try:
            self.calls.do(self.calls.files.getattr(file.handle), file.path)
        except NfsStatusError as error:
            return bool(error.status == nfs2.Nfsstat2.NFSERR_STALE)
        return False

    # ------------------------------------------------------------ callbacks

    def _called(self, callback: Callback) -> None:
        handle, mode = callback.args.file, callback.args.cbmode
        if handle in self._cutting and not self._is_reopening:  # or what is cut off would be written back
            self._cutting[handle].append(callback)
            return
        self.callbacks += 1
        if not mode.is_known:
            callback.answer(p.Snfsstat.NFSERR_IO)
            return
        file = self.cache.get(handle)
        if handle in self._changing and mode.invalidates:
            self._disabled.add(handle)
        if file is None:
            is_expected = handle in self._changing
            callback.answer(p.Snfsstat.NFS_OK if is_expected else p.Snfsstat.NFSERR_STALE)
            return
        if mode.invalidates:
            file.enabled = False
        self.writes.begin(file, callback)

    # ------------------------------------------------------------ recovery

    def _reopen(self) -> None:
        """The connection is a new one: the server gets to know what this client has (section 2.4)."""
        self._is_reopening = True
        try:
            self._reopen_all()
        except BaseException:
            self._rpc.lose("the server does not know what this client has")
            raise
        finally:
            self._is_reopening = False

    def _reopen_all(self) -> None:
        unsure = {*self._changing, *self._doubtful}
        for handle in dict.fromkeys((*(file.handle for file in self.cache.files), *unsure)):
            file = self.cache.file(handle)
            if file.is_open or file.is_dirty or handle in unsure:
                with self._change_of(handle):
                    self._confirm(file, self._snfs.call(p.REOPEN, self._having(file)))
                self._doubtful.discard(handle)
                if handle not in self._changing:
                    self._disabled.discard(handle)
        self._snfs.call(p.RECOVERED, Void())

    def _having(self, file: CachedFile) -> p.Reopenargs:
        return p.Reopenargs(
            file.handle, self.mdev, file.readers, file.writers, file.is_dirty, file.version or 0
        )

    @contextlib.contextmanager
    def _change_of(self, handle: bytes) -> t.Iterator[None]:
        """While the server learns what this client has of a file, callbacks may overtake its reply."""
        if handle not in self._changing:
            self._disabled.discard(handle)
        self._changing[handle] += 1
        try:
            yield
        finally:
            self._changing[handle] -= 1
            if not self._changing[handle]:
                del self._changing[handle]

    def _confirm(self, file: CachedFile, reply: p.Openopres) -> None:
        """What the server says of a file that was open, or of which data waits.

        Raises `ConnectionLost` if it has no room now: with patience, the client connects again.
        """
        given = reply.resok
        if reply.status in _NOT_NOW:
            raise ConnectionLost("REOPEN", f"the server answered {reply.status.name}")
        if given is None:
            self._lose(file)
            return
        file.enabled = given.cache_enabled and file.is_open and file.handle not in self._disabled
        if given.cache_version != file.version:
            self.cache.keep_dirty(file)
        if file.is_open or file.is_dirty:  # else nobody calls this client when others change it
            file.version = given.cache_version
        file.known = given.attributes.size
        if not file.is_dirty:
            file.size = file.known
            if not file.enabled and file.is_open:
                self.cache.invalidate(file)
        file.attributes = attributes_of(given.attributes)

    def _lose(self, file: CachedFile) -> None:
        if file.is_open or file.is_dirty:
            text = _data_lost(file) if file.is_dirty else _given_away(file)
            file.fail(StateLost(text))
        file.readers = file.writers = 0
        file.incarnation += 1
        self.cache.invalidate(file)


def require_32_bits(end: int) -> None:
    """Raise `NotInVersion` for data that ends beyond what NFSv2 can number."""
    if end > LARGEST:
        raise NotInVersion("SNFS", f"offset of {end}: its numbers have 32 bits")


def _given_away(file: CachedFile) -> str:
    return (
        f"{shown(file.path)}: the server has given the file to other clients without this one; open it again"
    )


def _data_lost(file: CachedFile) -> str:
    return (
        f"{shown(file.path)}: data that waited here is lost: the server does not accept it any more, because the file "
        "was removed, or was given to other clients without this one"
    )
