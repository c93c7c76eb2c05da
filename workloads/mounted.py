# SPDX-License-Identifier: MIT
"""A worker on a mounted directory: the same programs with calls of the system, in a thread for each program.

The kernel is the policy. What it sends is in the result if the system counts it (`mountstats`); the lint sees nothing.

What must stay true: programs, the record of the files and the counts are used by one thread at a time (`_lock`); only
the calls of the system are made without the lock. So programs need not know of threads, as on the engine.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import shutil
import stat
import threading
import time
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from nfsclient.files import Attributes, FileType, Space, Time
from nfsclient.rpc.loop import Loop
from workloads import calls as c
from workloads import catalog
from workloads.contents import Contents, check
from workloads.engine import Interrupted, Until, Work
from workloads.ledger import Ledger
from workloads.mount_counts import NOTHING, counter_of
from workloads.mountstats import MountCounts
from workloads.spec import Context, Order, PhaseDef
from workloads.sweeping import PREFIX
from workloads.tallying import Rate, Tally, carry_out
from workloads.trouble import Refused, Stopped, Wrong, WrongAnswer, WrongData
from workloads.worker import STEADY, Plain

_SURROUNDINGS: t.Final = {
    errno.ENOSPC: "full disk",
    errno.EDQUOT: "full disk",
    errno.ESTALE: "stale handle",
    errno.EIO: "error of the server",
    errno.EACCES: "refused",
    errno.EPERM: "refused",
    errno.EROFS: "refused",
    errno.ETIMEDOUT: "connection",
    errno.EFBIG: "file too large",
    errno.EOPNOTSUPP: "not in this version",
    errno.ENOLCK: "not in this version",
}
_TYPES: t.Final = {
    stat.S_IFREG: FileType.REGULAR,
    stat.S_IFDIR: FileType.DIRECTORY,
    stat.S_IFLNK: FileType.LINK,
}


_ALL_CACHES: t.Final = Path("/proc/sys/vm/drop_caches")
_TURN: t.Final = 0.02
"""Seconds between two looks at whether the programs of a worker have ended, while it serves a loop."""


class Do(t.NamedTuple):
    """A call of the system, to be made without the lock."""

    call: Callable[[], t.Any]


class MountPerformer:
    """Carries calls out below a directory. Steps yield `Do`."""

    def __init__(self, top: Path, ledger: Ledger, *, owns_machine: bool = False) -> None:
        self._top = top
        self._owns_machine = owns_machine
        self.ledger = ledger
        self.stopped = False

    def perform(self, call: c.Call) -> Work[t.Any]:
        """The work of a call. Raises `Wrong`, `Stopped`, `Interrupted`."""
        if self.stopped:
            raise Interrupted
        name, ledger = c.name_of(call), self.ledger
        paths = [path for path in (getattr(call, "path", ""), getattr(call, "to", "")) if path]
        items = ledger.begin_change(*paths)
        try:
            return (yield from getattr(self, f"_{name}")(call))
        except OSError as error:
            kind = _SURROUNDINGS.get(error.errno or 0)
            about = paths[0] if paths else getattr(getattr(call, "file", None), "path", "")
            text = f"{name} of {about!r}: {error.strerror}"
            if kind is not None:
                raise Stopped(kind, text) from error
            raise WrongAnswer(f"{text}, which cannot be by what this run has made") from error
        finally:
            ledger.end_change(items, *paths)

    def _at(self, path: str) -> str:
        return str(self._top / path) if path else str(self._top)

    # ------------------------------------------------------------ names

    def _mkdir(self, call: c.Mkdir) -> Work[None]:
        yield Do(functools.partial(os.mkdir, self._at(call.path), 0o755))
        self.ledger.mkdir(call.path)

    def _rmdir(self, call: c.Rmdir) -> Work[None]:
        yield Do(functools.partial(os.rmdir, self._at(call.path)))
        self.ledger.rmdir(call.path)

    def _remove(self, call: c.Remove) -> Work[None]:
        yield Do(functools.partial(os.unlink, self._at(call.path)))
        self.ledger.remove(call.path)

    def _rename(self, call: c.Rename) -> Work[None]:
        yield Do(functools.partial(os.rename, self._at(call.path), self._at(call.to)))
        self.ledger.rename(call.path, call.to)

    def _link(self, call: c.Link) -> Work[None]:
        yield Do(functools.partial(os.link, self._at(call.path), self._at(call.to)))
        self.ledger.link(call.path, call.to)

    def _symlink(self, call: c.Symlink) -> Work[None]:
        yield Do(functools.partial(os.symlink, call.text, self._at(call.path)))
        self.ledger.symlink(call.path, call.text)

    def _readlink(self, call: c.Readlink) -> Work[str]:
        text: str = yield Do(functools.partial(os.readlink, self._at(call.path)))
        if text != self.ledger.links.get(call.path):
            raise WrongAnswer(f"readlink of {call.path!r}: got {text!r}")
        return text

    def _readdir(self, call: c.Readdir) -> Work[list[str]]:
        before = self.ledger.changes[call.path]
        names: list[str] = yield Do(functools.partial(os.listdir, self._at(call.path)))
        self.ledger.check_names(call.path, before, names)
        return names

    def _chdir(self, call: c.Chdir) -> Work[None]:
        yield Do(functools.partial(os.stat, self._at(call.path)))

    def _stat(self, call: c.Stat) -> Work[Attributes]:
        found: os.stat_result = yield Do(functools.partial(os.lstat, self._at(call.path)))
        return Attributes(
            type=_TYPES.get(stat.S_IFMT(found.st_mode)),
            mode=stat.S_IMODE(found.st_mode),
            nlink=found.st_nlink,
            size=found.st_size,
            mtime=Time.of_ns(found.st_mtime_ns),
        )

    def _absent(self, call: c.Absent) -> Work[None]:
        try:
            yield Do(functools.partial(os.lstat, self._at(call.path)))
        except FileNotFoundError:
            return
        raise WrongAnswer(f"{call.path!r} is there, and nobody has made it")

    def _chmod(self, call: c.Chmod) -> Work[None]:
        yield Do(functools.partial(os.chmod, self._at(call.path), call.mode))

    def _statfs(self, call: c.Statfs) -> Work[Space]:
        found: os.statvfs_result = yield Do(functools.partial(os.statvfs, self._at(call.path)))
        unit = found.f_frsize
        return Space(found.f_blocks * unit, found.f_bfree * unit, found.f_bavail * unit)

    # ------------------------------------------------------------ data

    def _create(self, call: c.Create) -> Work[c.OpenFile]:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        file: int = yield Do(functools.partial(os.open, self._at(call.path), flags, 0o644))
        return self._opened(call.path, file, self.ledger.create(call.path), writes=True)

    def _open(self, call: c.Open) -> Work[c.OpenFile]:
        flags = (os.O_RDWR if call.writes else os.O_RDONLY) | (os.O_TRUNC if call.truncates else 0)
        file: int = yield Do(functools.partial(os.open, self._at(call.path), flags))
        state = self.ledger.file(call.path)
        if call.truncates:
            state.truncate()
        return self._opened(call.path, file, state, writes=call.writes)

    @staticmethod
    def _opened(path: str, file: int, state: t.Any, *, writes: bool) -> c.OpenFile:
        opened = c.OpenFile(path, state, is_written=writes)
        opened.kept = file
        return opened

    def _close(self, call: c.Close) -> Work[None]:
        yield Do(functools.partial(os.close, call.file.kept))

    def _fsync(self, call: c.Fsync) -> Work[None]:
        yield Do(functools.partial(os.fsync, call.file.kept))

    def _write(self, call: c.Write) -> Work[int]:
        state = call.file.state
        piece = state.begin_write(call.offset, call.count, self.ledger.writer)
        data = self.ledger.contents.make(state.number, piece.version, piece.writer, call.offset, call.count)
        done = 0
        while done < call.count:
            rest = memoryview(data)[done:]
            done += yield Do(functools.partial(os.pwrite, call.file.kept, rest, call.offset + done))
        state.end_write(piece)
        return call.count

    def _read(self, call: c.Read) -> Work[int]:
        state = call.file.state
        reading = state.begin_read(call.offset, call.count)
        try:
            data = b""
            while len(data) < call.count:
                at, left = call.offset + len(data), call.count - len(data)
                part: bytes = yield Do(functools.partial(os.pread, call.file.kept, left, at))
                if not part:
                    break
                data += part
            check(self.ledger.contents, state, reading, data, self.ledger.writer)
        finally:
            state.end_read(reading)
        self.ledger.reads += 1
        self.ledger.read_bytes += len(data)
        return len(data)

    def _lock(self, call: c.Lock) -> Work[None]:
        kind = fcntl.LOCK_EX if call.is_exclusive else fcntl.LOCK_SH
        yield Do(functools.partial(fcntl.lockf, call.file.kept, kind, call.count, call.offset))

    def _unlock(self, call: c.Unlock) -> Work[None]:
        yield Do(functools.partial(fcntl.lockf, call.file.kept, fcntl.LOCK_UN, call.count, call.offset))

    def _dropcaches(self, call: c.DropCaches) -> Work[None]:
        """Asks the kernel to drop the data of each file. Names and attributes it keeps as long as it likes.

        Where the machine is ours, it drops these, too, if the program says so.
        """
        if self._owns_machine:
            yield Do(functools.partial(_drop_all, "3" if call.everything else "1"))
            return
        for path in list(self.ledger.files):
            with contextlib.suppress(OSError):
                yield Do(functools.partial(_drop, self._at(path)))

    @staticmethod
    def _sync(_call: c.Sync) -> Work[None]:
        """Nothing: clients of Linux have written a file when it is closed, and sync(2) is about all file systems."""
        yield from ()


def _drop_all(what: str) -> None:
    """As of proc_sys_vm(5): 1 data of files, 3 names and attributes, too. What is dirty is not dropped."""
    os.sync()
    _ALL_CACHES.write_text(what)


def _drop(path: str) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


class MountWorker:
    """As `worker.Worker`, on a mounted directory."""

    def __init__(self, order: Order, *, loop: Loop | None = None) -> None:
        """`loop` is served while programs run: orders of a controller come over it."""
        self.order = order
        self._loop = loop
        self.on_progress: Callable[[str], None] | None = None
        self.workload = catalog.find(order.workload)
        self._mount = Path(order.mount)
        self._top = self._mount / order.directory
        self._made = False
        self._lock = threading.Lock()
        self._waiter = threading.Event()
        self.ledger = Ledger(Contents(order.seed), order.worker)
        self._performer = MountPerformer(self._top, self.ledger, owns_machine=order.owns_machine)
        self._errors: list[BaseException] = []
        self._counter = counter_of(order) if order.workers == 1 else None
        self._ended_at = 0.0
        self._contexts = [self._context(number) for number in range(order.clients)]

    def _context(self, number: int) -> Context:
        order = self.order
        client = order.worker * order.clients + number
        return Context(
            client=client,
            clients=order.clients * order.workers,
            callers=order.callers,
            seed=order.seed,
            version="mount",
            parameters=order.parameters,
            ledger=self.ledger,
            clock=time.monotonic,
            random=Random(f"{order.seed} {client}"),
        )

    def open(self) -> Plain:
        """Make or find the directory of the run. Raises `Refused`."""
        if not self._mount.is_dir():
            raise Refused(f"{self._mount} is no directory")
        if self.order.worker and not self._top.is_dir():
            raise Refused(f"{self._top}, which another worker has made, is not there")
        if self.order.worker == 0:
            try:
                self._top.mkdir(mode=0o755)
            except OSError as error:
                raise Refused(f"cannot make {self._top}: {error.strerror}") from error
            self._made = True
        return {"null_rtt_us": 0.0}

    def stop(self) -> None:
        """End the running phase: each program before its next call."""
        self._performer.stopped = True
        self._waiter.set()

    def close(self) -> None:
        """Nothing is open between phases but files of programs, which end with the process."""

    def wait(self, is_wanted: Callable[[], bool]) -> None:
        """Serve the loop until something is wanted."""
        assert self._loop is not None
        while not is_wanted():
            self._loop.run_once(self._loop.clock() + 1)

    def finish(self) -> None:
        """End as a client; another worker removes the directory of the run."""

    def clean(self) -> Plain:
        """Remove the directory of the run."""
        return {"left": remove_mounted(self.order) if self._made else ""}

    # ------------------------------------------------------------ phases

    def phase(self, name: str, start_at: float = 0.0) -> Plain:
        """As `Worker.phase`."""
        self._errors.clear()
        left = start_at - time.time()
        if left > 0:
            self._waiter.wait(left)
        if self._counter is not None:
            self._counter.begin(self.order.warmup if name == STEADY else 0.0)
        cpu, began_at, begin = time.process_time(), time.time(), time.monotonic()
        self._ended_at = begin
        tally = self._steady() if name == STEADY else self._script(self._phase_named(name))
        seconds = self._ended_at - begin
        counts = NOTHING if self._counter is None else self._counter.end()
        report = {
            "name": name,
            "began_at": began_at,
            "seconds": seconds,
            "cpu": time.process_time() - cpu,
            **self._counted(tally, counts),
        }
        if self._performer.stopped and not self._errors:
            raise Interrupted(report)
        return report | self._ended()

    def _phase_named(self, name: str) -> PhaseDef:
        return next(phase for phase in (*self.workload.phases, *self.workload.after) if phase.name == name)

    def _script(self, phase: PhaseDef) -> Tally:
        tally = Tally()
        self._run(
            carry_out(self._performer, program, tally, time.monotonic)
            for context in self._contexts
            for program in phase.programs(context)
        )
        return tally

    def _steady(self) -> Tally:
        order, unit = self.order, self.workload.unit
        assert unit is not None
        rate = Rate(time.monotonic, time.monotonic(), order.warmup, order.duration)
        self._run(
            rate.closed(self._performer, functools.partial(unit, context, caller))
            for context in self._contexts
            for caller in range(context.callers)
        )
        return rate.tally

    def _run(self, works: Iterator[Work[t.Any]]) -> None:
        threads = [threading.Thread(target=self._drive, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                if self._loop is None:
                    thread.join()
                else:
                    self._loop.run_once(self._loop.clock() + _TURN)

    def _drive(self, work: Work[t.Any]) -> None:
        try:
            self._carry_out(work)
        finally:
            with self._lock:
                self._ended_at = max(self._ended_at, time.monotonic())

    def _carry_out(self, work: Work[t.Any]) -> None:
        """Carry out one program: its steps with the lock, its calls of the system without it."""
        try:
            value: t.Any = None
            error: BaseException | None = None
            while not self._errors:
                with self._lock:
                    wanted = work.send(value) if error is None else work.throw(error)
                value, error = None, None
                if isinstance(wanted, Until):
                    self._waiter.wait(max(0.0, wanted.at - time.monotonic()))
                    if self._performer.stopped:
                        return
                    continue
                try:
                    value = t.cast("Do", wanted).call()
                except OSError as failure:
                    error = failure
        except StopIteration:
            pass
        except Interrupted:
            pass
        except Exception as failure:  # noqa: BLE001  (it is for the result)
            self._errors.append(failure)

    # ------------------------------------------------------------ what comes out

    def _counted(self, tally: Tally, known: MountCounts) -> Plain:
        checks = {"made": self.ledger.reads, "bytes": self.ledger.read_bytes}
        self.ledger.reads = self.ledger.read_bytes = 0
        return {
            "operations": tally.operations,
            "read": tally.read,
            "written": tally.written,
            "calls": dict(known.calls),
            "all_operations": {},
            "rpcs": known.transmissions,
            "sent": known.sent,
            "received": known.received,
            "waited": 0.0,
            "troubles": {},
            "procedures": {},
            "latencies": tally.latencies.to_plain(),
            "lag": None,
            "series": tally.series(),
            "checks": checks,
            "findings": [],
            "judged": 0,
            "seen": 0,
            "load": tally.load(),
        }

    def _ended(self) -> Plain:
        if not self._errors:
            return {}
        error = self._errors[0]
        if isinstance(error, WrongData):
            return {"wrong": {"text": str(error), "capture": "", **error.fields()}}
        if isinstance(error, Wrong):
            return {"wrong": {"text": str(error), "capture": ""}}
        if isinstance(error, Stopped):
            return {"stopped": {"kind": error.kind, "text": str(error)}}
        raise error


def remove_mounted(order: Order) -> str:
    """Remove the directory of a run on a mounted directory; what could not be removed, as text."""
    top = Path(order.mount) / order.directory
    assert top.name.startswith(PREFIX)
    try:
        shutil.rmtree(top)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{top}: {error.strerror}"
    return ""
