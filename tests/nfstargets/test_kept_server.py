# SPDX-License-Identifier: MIT
"""A program under a keeper. A mount namespace is needed only where `memory` or `rpcbind` are used."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfstargets.base import TargetError
from nfstargets.keeper import MEMORY
from nfstargets.process import KeptServer, describe_end, free_ports, last_lines
from tests.waiting import AT_MOST

STUBBORN = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); signal.pause()"
)
PATIENT = "import signal; print('up', flush=True); signal.pause()"


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def await_that(predicate: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + AT_MOST
    while not predicate():
        if time.monotonic() > deadline:
            return False
        os.sched_yield()
    return True


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def server(scratch: Path, tmp_path: Path) -> Iterator[KeptServer]:
    server = KeptServer(scratch)
    server.open()
    yield server
    server.close()


def start(server: KeptServer, program: str, output: Path) -> int:
    server.start([sys.executable, "-c", program], output)
    assert await_that(lambda: output.exists() and "up" in output.read_text())
    assert server.pid is not None
    return server.pid


def test_it_is_started_and_ends_when_asked(server: KeptServer, tmp_path: Path) -> None:
    pid = start(server, PATIENT, tmp_path / "output")
    assert server.is_alive()
    server.end(signal.SIGTERM, AT_MOST)
    assert not server.is_alive()
    assert server.status == -signal.SIGTERM
    assert not alive(pid)


def test_what_ignores_the_request_is_killed(server: KeptServer, tmp_path: Path) -> None:
    start(server, STUBBORN, tmp_path / "output")
    server.end(signal.SIGTERM, 0.1)
    assert server.status == -signal.SIGKILL


def test_an_end_by_itself_is_noticed_with_its_status(server: KeptServer, tmp_path: Path) -> None:
    server.start([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "output")
    assert server.wait(lambda: server.pid is None, AT_MOST)
    assert server.status == 3


def test_it_can_be_started_again(server: KeptServer, tmp_path: Path) -> None:
    first = start(server, PATIENT, tmp_path / "one")
    server.end(signal.SIGKILL, AT_MOST)
    assert start(server, PATIENT, tmp_path / "two") != first
    assert server.status is None


def test_a_program_that_is_not_there_raises(server: KeptServer, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="/no/such/program: No such file"):
        server.start(["/no/such/program"], tmp_path / "output")
    assert not server.is_alive()


def test_close_ends_all_and_removes_the_scratch_folder(
    server: KeptServer, scratch: Path, tmp_path: Path
) -> None:
    (scratch / "folder").mkdir()
    pid = start(server, PATIENT, tmp_path / "output")
    server.close()
    assert not alive(pid)
    assert not scratch.exists()
    server.close()


def test_a_killed_keeper_takes_its_server_along(server: KeptServer, tmp_path: Path) -> None:
    pid = start(server, PATIENT, tmp_path / "output")
    parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)
    assert server.wait(lambda: server.pid is None, AT_MOST)
    assert await_that(lambda: not alive(pid))
    assert not server.is_kept()
    with pytest.raises(TargetError, match="keeper"):
        server.start([sys.executable], tmp_path / "output")


RUN = """
import os, signal, sys
from pathlib import Path
from nfstargets.keeper import MEMORY
from nfstargets.process import KeptServer
server = KeptServer(Path(sys.argv[1]))
server.open()
server.start([sys.executable, "-c", "import signal; signal.pause()"], Path(sys.argv[2]))
print(server.pid, flush=True)
os.kill(os.getpid(), int(sys.argv[3]))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_when_the_run_is_killed(tmp_path: Path, number: signal.Signals) -> None:
    left = tmp_path / "left"
    left.mkdir()
    home = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(left), str(tmp_path / "output"), str(int(number))],
        env=os.environ | {"PYTHONPATH": home},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    pid = int(done.stdout)
    assert await_that(lambda: not alive(pid) and not left.exists())


def test_memory_is_the_server_s_alone_and_outlives_it(scratch: Path, tmp_path: Path) -> None:
    folder = scratch / "memory"
    folder.mkdir()
    server = KeptServer(scratch, memory=[folder])
    try:
        server.open()
    except TargetError as error:
        pytest.skip(str(error))
    try:
        write = f"open({str(folder / 'file')!r}, 'w').write('kept')"
        read = f"print('up', open({str(folder / 'file')!r}).read())"
        server.start([sys.executable, "-c", write], tmp_path / "one")
        assert server.wait(lambda: server.pid is None, AT_MOST)
        assert not (folder / "file").exists()
        server.start([sys.executable, "-c", read], tmp_path / "two")
        assert server.wait(lambda: server.pid is None, AT_MOST)
        assert (tmp_path / "two").read_text() == "up kept\n"
    finally:
        server.close()
    assert not scratch.exists()


def test_ends_are_described() -> None:
    assert describe_end(2) == "exit status 2"
    assert describe_end(-signal.SIGSEGV) == "signal 11 (SIGSEGV)"


def test_last_lines_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert last_lines(log, 3) == []
    log.write_bytes(b"".join(b"line %d \xff\n" % number for number in range(1000)) + b"x" * 1000)
    lines = last_lines(log, 3)
    assert lines[:2] == ["line 998 \N{REPLACEMENT CHARACTER}", "line 999 \N{REPLACEMENT CHARACTER}"]
    assert lines[2] == "x" * 300


def test_free_ports_differ() -> None:
    ports = free_ports(8)
    assert len(set(ports)) == 8
    assert min(ports) > 1023


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="needs Linux")
def test_where_memory_runs_out_the_server_ends_first(server: KeptServer, tmp_path: Path) -> None:
    pid = start(server, PATIENT, tmp_path / "output")
    assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs Linux")
def test_a_server_has_the_same_memory_on_every_machine(server: KeptServer, tmp_path: Path) -> None:
    program = f"import mmap\ntry: mmap.mmap(-1, {MEMORY}, mmap.MAP_PRIVATE)\nexcept OSError as e: print(e)"
    server.start([sys.executable, "-c", program], tmp_path / "output")
    server.wait(lambda: server.status is not None, AT_MOST)
    assert server.status == 0
    assert "Cannot allocate memory" in (tmp_path / "output").read_text()
    assert server.oom_kills >= 0
