# SPDX-License-Identifier: MIT
"""One process of pynfs, in a session of processes that ends with it: read on the loop, and killed when it is late."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import typing as t
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsproof.pynfs.output import Ended, Follower, in_one_line

_CHUNK: t.Final = 1 << 16
_MOST_LOG: t.Final = 16 << 20
"""Bytes of the output that are kept in the log."""
_MOST_RESULTS: t.Final = 64 << 20
"""Bytes of its file of results."""
_MOST_LINES: t.Final = 60
"""Lines of a traceback."""
_MOST_LINE: t.Final = 400
_FAILURE: t.Final = "FailureException"
"""The class by which a test of pynfs reports a failure; any other exception is a crash of the test."""
_END_SECONDS: t.Final = 5.0


@dataclass(frozen=True, slots=True)
class Detail:
    """What the file of results says of a failure."""

    words: str
    traceback: tuple[str, ...]
    has_crashed: bool


class Segment:
    """A process of pynfs that runs some codes, and its output. A member of the loop while it runs."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        follower: Follower,
        log: t.BinaryIO,
    ) -> None:
        """Start it. Raises OSError."""
        self._follower = follower
        self._log = log
        self._logged = 0
        self.is_over = False
        """Whether its output has ended."""
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # what it starts ends with it; Ctrl-C comes from here
        )
        assert self._process.stdout is not None
        self._pipe = self._process.stdout
        os.set_blocking(self._pipe.fileno(), False)

    # ------------------------------------------------------------ a member of the loop

    def fileno(self) -> int:
        """Its output."""
        return self._pipe.fileno()

    def wants_to_write(self) -> bool:
        """Nothing is written to it."""
        return False

    def wants_to_read(self) -> bool:
        """Until the output ends."""
        return not self.is_over

    def on_readable(self) -> None:
        """It has printed something, or has ended."""
        try:
            data = os.read(self._pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.is_over = True
            self._follower.finish()
            return
        if self._logged < _MOST_LOG:
            self._logged += len(data)
            with contextlib.suppress(OSError):
                self._log.write(data)
        self._follower.feed(data)

    def on_writable(self) -> None:
        """Never."""

    def next_deadline(self) -> float | None:
        """None: the caller has the deadlines."""
        return None

    def on_deadline(self, now: float) -> None:
        """Never."""

    # ------------------------------------------------------------ its life

    def follow(self, loop: Loop, deadline: Callable[[], float], on_ended: Callable[[Ended], None]) -> bool:
        """Serve the loop until the output ends (True), or until the deadline (False). Tests that end are passed on."""
        loop.add(self)
        try:
            while not self.is_over:
                state = self._state()
                is_in_time = loop.run_until(functools.partial(self._has_news, state), deadline())
                self.pass_on(on_ended)
                if not is_in_time:
                    return False
            return True
        finally:
            loop.remove(self)

    def _state(self) -> tuple[float, str, int]:
        """What decides how long to wait, and what there is to pass on."""
        return self._follower.since, self._follower.running, len(self._follower.done)

    def _has_news(self, state: tuple[float, str, int]) -> bool:
        return self.is_over or self._state() != state

    def pass_on(self, on_ended: Callable[[Ended], None]) -> None:
        """Pass on the tests that have ended."""
        done, self._follower.done = self._follower.done, []
        for ended in done:
            on_ended(ended)

    def kill(self) -> str:
        """End it with all that it has started; how it ended, in words."""
        if not self.is_over:
            self._kill_group()
        try:
            status = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:  # it has closed its output and goes on
            self._kill_group()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
            status = self._process.returncode or 0
        self._pipe.close()
        return (
            f"exit status {status}" if status >= 0 else f"signal {-status} ({signal.Signals(-status).name})"
        )

    def _kill_group(self) -> None:
        """Only before anybody has waited for the process: its number is its own until then."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def read_details(path: Path) -> dict[str, Detail]:
    """What a file of results in JSON says of each failure, by code. Empty if there is none that can be read."""
    try:
        if path.stat().st_size > _MOST_RESULTS:
            return {}
        cases = json.loads(path.read_text(encoding="utf-8", errors="backslashreplace"))["testcase"]
        return {
            case["code"]: _detail(case["failure"])
            for case in cases
            if isinstance(case["code"], str) and "failure" in case
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _detail(failure: Mapping[str, t.Any]) -> Detail:
    trace = str(failure["err"])
    lines = [line[:_MOST_LINE] for line in trace.splitlines() if line.strip()]
    after = trace[max(0, trace.rfind('\n  File "')) :]  # the last call, and the exception
    has_crashed = bool(lines) and not any(
        line.partition(":")[0].rpartition(".")[2] == _FAILURE for line in after.splitlines()
    )
    return Detail(in_one_line(str(failure["message"])), tuple(lines[-_MOST_LINES:]), has_crashed)
