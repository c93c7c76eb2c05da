# SPDX-License-Identifier: MIT
"""The runs of an event: their processes, their progress, and how they end."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shlex
import signal
import stat
import subprocess
import sys
import time
import typing as t
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfsproof.events.file import TargetEntry
from nfsproof.exits import Exit

OUTPUT = "output.txt"
"""The output of a run: in the folder of its records, and in no archive."""
_TICK = 0.25
_GRACE = 60.0
"""Seconds for a run to end in order, with its report, after it was asked to."""
_MOST_LINE = 2**20


@dataclass(slots=True)
class TargetRun:
    """One target and its run."""

    entry: TargetEntry
    folder: Path
    state: str = "waits"
    """"waits", "starts", "runs", "ends" (was asked to), "ended", "left out"."""
    total: int = 0
    done: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    running: str = ""
    left: float | None = None
    status: int | None = None
    """Exit status of the run."""
    remark: str = ""
    """What is to be said of its end, in a few words."""
    trouble: str = ""
    """Why it came to nothing, as the run said it."""
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    deadline: float | None = None
    """When it is killed, or asked to end."""
    pipe: int = -1
    unread: bytes = b""
    earlier: int = 0
    """When records that lay there before were written, in nanoseconds; 0: there were none."""

    @property
    def records(self) -> Path | None:
        """The records that the run has left; None where there are none, or only those of an earlier one."""
        path = self.folder / "records.jsonl"
        return path if _written(path) not in {0, self.earlier} else None

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return self.state in {"ended", "left out"}

    def read_progress(self, data: bytes) -> None:
        """Read its progress; ignore lines that are not JSON."""
        *lines, self.unread = (self.unread + data).split(b"\n")
        self.unread = self.unread[-_MOST_LINE:]
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, AttributeError):
                plain: dict[str, t.Any] = json.loads(line)
                self.total, self.done = int(plain["total"]), int(plain["done"])
                self.counts = {str(key): int(value) for key, value in plain["counts"].items()}
                self.running, self.left = str(plain["running"]) or self.running, plain["left"]
                if self.state == "starts":
                    self.state = "runs"


def _let_go_of_the_terminal() -> None:
    """It has gone: what is still said, goes nowhere, and is no error. Files and pipes hear it on."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode):
                os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


class Runs:
    """All runs of an event, some side by side."""

    def __init__(
        self,
        runs: Sequence[TargetRun],
        parallel: int,
        show: Callable[[Sequence[TargetRun]], None],
        finish: Callable[[TargetRun], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.runs = runs
        self.interrupts = 0
        self._shown_at = 0.0
        self._parallel = parallel
        self._show = show
        self._finish = finish
        self._clock = clock
        self._selector = selectors.DefaultSelector()

    def hold(self) -> None:
        """Until all are over. Ctrl-C, SIGTERM and SIGHUP end them in order; a second time at once."""
        with self._catching_signals(), self._selector:
            try:
                while not all(run.is_over for run in self.runs):
                    self._start_next()
                    for key, _ in self._selector.select(_TICK):
                        self._read(key.data)
                    self._end_what_must()
                    for run in self.runs:
                        self._reap(run)
                    self._show_now_and_then()
            finally:
                for run in self.runs:
                    if run.process is not None and run.process.poll() is None:
                        run.process.kill()
                        run.process.wait()

    def _show_now_and_then(self) -> None:
        """Not whenever one of the runs says something: together they say much."""
        now = self._clock()
        if now - self._shown_at >= _TICK or all(run.is_over for run in self.runs):
            self._shown_at = now
            self._show(self.runs)

    @contextlib.contextmanager
    def _catching_signals(self) -> Iterator[None]:
        def catch(number: int, _frame: object) -> None:
            self.interrupts += 1
            if number == signal.SIGHUP:
                _let_go_of_the_terminal()

        caught = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as after nohup
            caught.append(signal.SIGHUP)
        before = [(signum, signal.signal(signum, catch)) for signum in caught]
        try:
            yield
        finally:
            for signum, handler in before:
                signal.signal(signum, handler)

    def _start_next(self) -> None:
        for run in self.runs:
            going = sum(run.process is not None and not run.is_over for run in self.runs)
            if run.state != "waits" or going >= self._parallel:
                continue
            if self.interrupts:
                run.state, run.remark = "left out", "not started: interrupted"
                continue
            try:
                self._start(run)
            except (
                OSError,
                ValueError,
            ) as error:  # a full disk, a file instead of the folder: the others continue
                run.state, run.status, run.remark = "ended", int(Exit.INTERNAL), "not started"
                run.trouble = f"cannot be started: {error}"
                self._finish(run)

    def _start(self, run: TargetRun) -> None:
        reader, writer = os.pipe()
        try:
            run.folder.mkdir(parents=True, exist_ok=True)
            run.earlier = _written(run.folder / "records.jsonl")
            with (run.folder / OUTPUT).open("wb") as output:
                run.process = subprocess.Popen(
                    [
                        *(sys.executable, "-P", "-m", "nfsproof", "run", *run.entry.words()),
                        *("--report", str(run.folder), f"--progress=fd:{writer}"),
                        # Commands of the owner stay out of the records, which are for others.
                        f"--again={shlex.join([run.entry.target])}",
                    ],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=[writer],
                    # Ctrl-C comes to us alone; we pass it on.
                    process_group=0,
                )
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        os.set_blocking(reader, False)
        self._selector.register(reader, selectors.EVENT_READ, run)
        run.pipe, run.began, run.state = reader, self._clock(), "starts"
        run.deadline = run.began + run.entry.timeout if run.entry.timeout else None

    def _read(self, run: TargetRun) -> None:
        try:
            data = os.read(run.pipe, 65_536)
        except BlockingIOError:
            return
        if data:
            run.read_progress(data)
        else:
            self._close(run)

    def _close(self, run: TargetRun) -> None:
        if run.pipe >= 0:
            self._selector.unregister(run.pipe)
            os.close(run.pipe)
            run.pipe = -1

    def _end_what_must(self) -> None:
        """Ask those to end whose time is over, or all after Ctrl-C; kill those that did not."""
        now = self._clock()
        for run in self.runs:
            if run.process is None or run.is_over:
                continue
            is_late = run.deadline is not None and now >= run.deadline
            if run.state != "ends" and (self.interrupts or is_late):
                run.remark = (
                    "interrupted" if self.interrupts else f"ended after {run.entry.timeout} s: timeout"
                )
                run.state, run.deadline = "ends", now + _GRACE
                run.process.terminate()
            elif run.state == "ends" and (self.interrupts > 1 or is_late):
                run.process.kill()

    def _reap(self, run: TargetRun) -> None:
        if run.process is None or run.is_over or run.process.poll() is None:
            return
        if run.pipe >= 0:
            with contextlib.suppress(BlockingIOError):
                while data := os.read(run.pipe, 65_536):
                    run.read_progress(data)
            self._close(run)
        run.state, run.status = "ended", run.process.returncode
        run.running = ""
        run.trouble = _last_words(run) if run.status in _BRIEFLY else ""
        run.remark = run.remark or _briefly(run.status, run.trouble)
        if run.status < 0:
            run.remark = run.remark or f"killed by signal {-run.status}"
        self._finish(run)


_BRIEFLY = {
    int(Exit.USAGE): "could not begin",
    int(Exit.INTERNAL): "internal error",
    int(Exit.NOTHING): "no check was selected",
}


def _briefly(status: int | None, trouble: str) -> str:
    """How a run ended that came to nothing; what was the trouble says more."""
    for words in ("does not answer", "cannot be started"):
        if status == int(Exit.USAGE) and words in trouble:
            return f"the target {words}"
    return _BRIEFLY.get(-1 if status is None else status, "")


def _last_words(run: TargetRun) -> str:
    """Why a run came to nothing, from what it printed."""
    with contextlib.suppress(OSError):
        lines = (run.folder / OUTPUT).read_text(encoding="utf-8", errors="replace").splitlines()
        for prefix in ("ERROR: ", "nfsproof: ", ""):  # a line of nfsproof may also be a warning
            matching = [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
            if matching:
                return matching[0] if prefix else matching[-1]
    return f"exit status {run.status}"
