# SPDX-License-Identifier: MIT
"""`nfsproof workload run --workers`: what a user sees."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import subprocess
import sys
import typing as t
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfsclient.protocol import nfs3
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from tests.waiting import AT_MOST
from tests.workloads import crews
from tests.workloads.crews import Rig, kill_at_phase
from tests.workloads.rig import names_of
from workloads import catalog, result

SMALL = ("--set", "size=64k")


def test_several_workers_write_one_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["workload", "run", "write10", *SMALL, "--workers", "2", "--out", str(tmp_path)]
    assert run_command_line(words) == Exit.OK
    assert "in 2 workers" in capsys.readouterr().out
    made = result.read(tmp_path)
    assert (made.setup.workers, len(made.client.workers)) == (2, 2)
    assert made.phases[0].calls == {"COMMIT": 2, "CREATE": 2, "WRITE": 16}
    assert made.client.start_skew_us > 0
    assert multiprocessing.active_children() == []


def test_a_killed_worker_is_an_error_without_a_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_at_phase(monkeypatch, "compare")
    words = ["workload", "run", "write10", *SMALL, "--workers", "3", "--out", str(tmp_path)]
    assert run_command_line(words) == Exit.VOID
    error = capsys.readouterr().err
    assert "lost worker: worker 1 (process " in error
    assert "SIGKILL" in error
    assert "There is no result" in error
    assert "could not be removed" not in error
    assert list(tmp_path.iterdir()) == []
    assert multiprocessing.active_children() == []


def test_what_cannot_be_spread_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = dataclasses.replace(catalog.find("write10"), is_spread=False)
    monkeypatch.setitem(catalog._KNOWN, "write10", alone)
    assert run_command_line(["workload", "run", "write10", "--workers", "2"]) == Exit.USAGE
    assert "use --clients instead of --workers" in capsys.readouterr().err


def test_mistakes_and_plans(capsys: pytest.CaptureFixture[str]) -> None:
    cases = {
        ("--cluster", "tcp://a:1", "--hosts", "b"): "expected --cluster or --hosts, got both",
        ("--hosts", "-oProxyCommand=x"): "a host does not begin with -",
    }
    for words, expected in cases.items():
        assert run_command_line(["workload", "run", "write10", *words]) == Exit.USAGE
        assert expected in capsys.readouterr().err
    assert run_command_line(["workload", "run", "write10", "--workers", "4", "--dry-run"]) == Exit.OK
    assert "40 MiB of data in 4 files" in capsys.readouterr().out


@pytest.fixture(name="rig")
def make_rig() -> Iterator[Rig]:
    yield from crews.rig()


def _serve_until(rig: Rig, is_over: Callable[[], bool]) -> None:
    """The end of a process is no event of the loop, so it looks often."""
    deadline = rig.loop.clock() + AT_MOST
    while not is_over():
        assert rig.loop.clock() < deadline
        rig.loop.run_once(rig.loop.clock() + 0.05)


def _lives(group: int) -> bool:
    """Whether a process of a group is there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


_HEARS_ALL: t.Final = """\
import runpy, signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests may run under nohup
runpy.run_module("nfsproof", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (signal.SIGTERM, None),
        (signal.SIGHUP, None),
        (signal.SIGINT, signal.SIGINT),
        (signal.SIGTERM, signal.SIGTERM),
    ],
)
def test_a_signal_ends_the_run_and_a_second_one_the_removal(
    rig: Rig, first: signal.Signals, second: signal.Signals | None
) -> None:
    def send_first(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        if not sent:
            sent.append(first)
            process.send_signal(first)
        return proceed(context, args)

    def send_second(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        if second is not None and len(sent) == 1:
            sent.append(second)
            process.send_signal(second)
        return proceed(context, args)

    sent = list[signal.Signals]()
    rig.server.interpose(nfs3.READ, send_first)
    rig.server.interpose(nfs3.REMOVE, send_second)
    port = rig.target.address().nfs_port
    url = f"nfs://127.0.0.1/export?nfsport={port}&mountport={port}"
    words = ["workload", "run", "randread", url, "--duration", "500", "--warmup", "0", "--set", "size=64k"]
    with subprocess.Popen(
        [sys.executable, "-c", _HEARS_ALL, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _serve_until(rig, lambda: process.poll() is not None)
        error = "" if process.stderr is None else process.stderr.read()
    assert process.returncode == Exit.INTERRUPTED
    left = [name.decode() for name in names_of(rig.server)]
    assert len(left) == (second is not None)
    assert error == "".join(f"could not be removed: {name}: the removal was interrupted\n" for name in left)


def test_ctrl_c_on_a_terminal_leaves_nothing(rig: Rig) -> None:
    """All processes of the group get the signal, in the middle of a phase that would take hours."""
    seen = list[int]()

    def count(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        seen.append(1)
        return proceed(context, args)

    rig.server.interpose(nfs3.FSSTAT, count)
    port = rig.target.address().nfs_port
    url = f"nfs://127.0.0.1/export?nfsport={port}&mountport={port}"
    settings = {"stats": 1, "chmods": 2, "files": 1, "size": 4096, "write": 4096, "rounds": 1, "entries": 2,
                "renames": 1, "symlinks": 1, "levels": 1, "statfs": 10_000_000}  # fmt: skip
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    command = [
        sys.executable,
        "-m",
        "nfsproof",
        "workload",
        "run",
        "connectathon-basic",
        url,
        "--workers",
        "2",
    ]
    with subprocess.Popen(
        [*command, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        # One FSSTAT asks whether there is room for the run.
        _serve_until(rig, lambda: len(seen) > 20 or process.poll() is not None)
        os.killpg(process.pid, signal.SIGINT)
        _serve_until(rig, lambda: process.poll() is not None)
        error = "" if process.stderr is None else process.stderr.read()
    assert (process.returncode, error) == (Exit.INTERRUPTED, "")
    assert names_of(rig.server) == []
    _serve_until(
        rig, lambda: not _lives(process.pid)
    )  # Python's own helper sees a moment later that all are gone
