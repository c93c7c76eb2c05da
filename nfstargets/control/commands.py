# SPDX-License-Identifier: MIT
"""Runs the commands of an owner: with a deadline, and with their output kept for reports."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from nfstargets.base import ControlFailed

_LONGEST_OUTPUT = 4000
"""Characters of a command's output in an error."""


def run_command(
    name: str, command: str, seconds: float, log: Path, environment: Mapping[str, str] | None = None
) -> None:
    """Run a command of the shell in its own process group; append command and output to `log`.

    Raises `ControlFailed` with the output if its exit status is not 0, or if it has not ended after `seconds`. Its
    processes are killed then. What it has started in the background may outlive it.
    """
    began = time.monotonic()
    with log.open("ab") as stream:
        stream.write(f"--- {name}: {command}\n".encode(errors="replace"))
        stream.flush()
        start = stream.tell()
        process = subprocess.Popen(  # noqa: S603 - the owner of the server wrote it
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=os.environ | dict(environment or {}),
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # Also after Ctrl-C: no command of a run may go on after it.
            if process.poll() is None:
                _kill_group(process)
        took = time.monotonic() - began
        stream.write(
            f"--- {'killed' if status is None else f'exit status {status}'} after {took:.1f} s\n".encode()
        )
    if status == 0:
        return
    how = f"did not end within {seconds:g} s" if status is None else f"ended with exit status {status}"
    raise ControlFailed(f"control {name}: the command {how}: {command}", _output(log, start))


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _output(log: Path, start: int) -> list[str]:
    """What a command wrote, its end if it is long."""
    with contextlib.suppress(OSError), log.open("rb") as stream:
        stream.seek(start)
        lines = stream.read().decode(errors="replace").splitlines()
        text = "\n".join(line for line in lines if not line.startswith("--- "))[-_LONGEST_OUTPUT:].strip()
        return ["Its output:", *text.splitlines()] if text else ["It printed nothing."]
    return []
