# SPDX-License-Identifier: MIT
"""Who serves a port of this machine, how much memory it has, and how it ended."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfstargets.watching import NotWatched, Reading, WatchedProcess, find_watch, is_forwarder
from tests.waiting import AT_MOST

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux")

LISTENS = """
import os, socket, sys
sock = socket.socket(socket.AF_INET6 if sys.argv[1] == "::" else socket.AF_INET)
{before}
sock.bind((sys.argv[1], {port})); sock.listen()
{more}
print(sock.getsockname()[1], flush=True)
sys.stdin.readline()
"""
TAKES = "print(sock.getsockname()[1], flush=True); sys.stdin.readline(); kept = b'1' * (64 << 20)"
RESERVES = "import mmap; kept = mmap.mmap(-1, 8 << 30)"
FORKS = "child = os.fork()\nif not child: kept = b'1' * (64 << 20); os.write(1, b''); sys.stdin.readline(); os._exit(0)"
MIB = 1 << 20

Listening = Callable[..., tuple[subprocess.Popen[bytes], int]]


@pytest.fixture
def listening() -> Iterator[Listening]:
    """A factory of processes that listen: they and their ports."""
    made: list[subprocess.Popen[bytes]] = []

    def make(
        host: str = "127.0.0.1", more: str = "", before: str = "", port: int = 0
    ) -> tuple[subprocess.Popen[bytes], int]:
        program = LISTENS.format(more=more, before=before, port=port)
        process = subprocess.Popen(
            [sys.executable, "-c", program, host], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        made.append(process)
        assert process.stdout is not None
        return process, int(process.stdout.readline())

    yield make
    for watched in made:
        watched.kill()
        assert watched.stdout is not None
        assert watched.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            watched.stdin.close()
        watched.stdout.close()
        watched.wait()


def wait_until(predicate: Callable[[], bool]) -> None:
    """Wait for what must happen."""
    deadline = time.monotonic() + AT_MOST
    while not predicate():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def go_on(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.flush()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "127.0.0.5", "::"])
def test_the_process_is_found_by_its_port(listening: Listening, host: str) -> None:
    try:
        process, port = listening(host)
    except ValueError:
        pytest.skip("there is no IPv6")
    watch = find_watch("127.0.0.5" if host == "127.0.0.5" else "127.0.0.1", port)
    assert [process.pid for process in watch.processes] == [process.pid]
    assert watch.describe().startswith(f"process {process.pid} (python")
    assert watch.describe(named=False) == f"process {process.pid}"
    assert watch.ending() is None
    watch.close()


def test_of_two_addresses_the_right_one_is_found(listening: Listening) -> None:
    process, port = listening("127.0.0.5")
    with pytest.raises(NotWatched, match=f"no process here listens on port {port}"):
        find_watch("127.0.0.1", port)
    assert process.poll() is None


def test_a_server_that_serves_only_ipv6_at_the_same_port_is_another_one(listening: Listening) -> None:
    process, port = listening("0.0.0.0")
    v6only = "sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)"
    try:
        listening("::", before=v6only, port=port)
    except ValueError:
        pytest.skip("there is no IPv6")
    watch = find_watch("127.0.0.1", port)
    assert [process.pid for process in watch.processes] == [process.pid]
    watch.close()


@pytest.mark.parametrize("is_hidden", [True, False])
def test_a_socket_that_no_process_has_is_reported_in_one_sentence(
    is_hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfstargets.watching._owners", lambda _: (set(), is_hidden))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(NotWatched) as caught:
            find_watch("127.0.0.1", port)
    others = ", another user or another container" if is_hidden else " or another container"
    assert str(caught.value) == f"the socket of port {port} belongs to the kernel{others}"


def test_memory_is_what_was_written_to(listening: Listening) -> None:
    process, port = listening(more=TAKES)
    watch = find_watch("127.0.0.1", port)
    before = watch.read()
    assert before is not None
    go_on(process)
    wait_until(lambda: (now := watch.read()) is not None and now.growth_since(before) >= 64 * MIB)
    now = watch.read()
    assert now is not None
    assert 64 * MIB <= now.memory - before.memory < 96 * MIB
    assert now.threads == before.threads == 1
    watch.close()


def test_address_space_that_is_only_reserved_does_not_count(listening: Listening) -> None:
    _, port = listening(more=RESERVES)
    watch = find_watch("127.0.0.1", port)
    found = watch.read()
    assert found is not None
    assert found.memory < 64 * MIB
    watch.close()


def test_memory_of_children_counts_and_what_they_share_counts_once(listening: Listening) -> None:
    _, port = listening(more=FORKS)
    watch = find_watch("127.0.0.1", port)
    wait_until(lambda: (now := watch.read()) is not None and now.memory >= 64 * MIB)
    found = watch.read()
    assert found is not None
    assert found.memory < 128 * MIB
    watch.close()


def test_memory_that_was_given_back_shows_in_the_peak() -> None:
    before = Reading(memory=10 * MIB, peak=20 * MIB, threads=1)
    assert Reading(memory=12 * MIB, peak=300 * MIB, threads=1).growth_since(before) == 280 * MIB
    assert Reading(memory=5 * MIB, peak=20 * MIB, threads=1).growth_since(before) == 0
    assert Reading(memory=310 * MIB, peak=20 * MIB, threads=1).growth_since(before) == 300 * MIB


@pytest.mark.parametrize(
    ("number", "is_crash"),
    [(signal.SIGSEGV, True), (signal.SIGTERM, False), (signal.SIGKILL, False)],
)
def test_how_it_ended(listening: Listening, number: signal.Signals, is_crash: bool) -> None:
    process, port = listening()
    watch = find_watch("127.0.0.1", port)
    process.send_signal(number)
    wait_until(lambda: not watch.is_alive())
    ending = watch.ending()  # nobody has asked for its status yet
    assert ending is not None
    assert ending.status == -number
    assert (ending.is_crash, ending.was_stopped) == (is_crash, not is_crash)
    assert (
        ending.describe()
        == f"process {process.pid} (port {port}) ended with signal {int(number)} ({number.name})"
    )
    assert watch.read() is None
    watch.close()


def test_an_error_and_an_end_in_order(listening: Listening) -> None:
    for status, is_crash in ((1, False), (2, True), (101, True), (0, False)):
        process, port = listening(
            more=f"print(sock.getsockname()[1], flush=True); sys.stdin.readline(); sys.exit({status})"
        )
        watch = find_watch("127.0.0.1", port)
        go_on(process)
        process.wait()
        ending = watch.ending()
        assert ending is not None
        if ending.status is not None:  # kernels before 6.15 tell only the parent
            assert (ending.status, ending.is_crash) == (status, is_crash)
        watch.close()


def test_a_pid_that_is_used_again_is_another_process(tmp_path: Path) -> None:
    folder = tmp_path / "17"
    folder.mkdir()

    def stat(started: int, state: str = "S") -> str:
        return f"17 (a ) name) {state} " + " ".join(["0"] * 18 + [str(started)] + ["0"] * 30)

    (folder / "stat").write_text(stat(500))
    process = WatchedProcess(17, tmp_path)
    assert process.is_alive()
    (folder / "stat").write_text(stat(900))
    assert not process.is_alive()
    (folder / "stat").write_text(stat(500, "Z"))
    assert not process.is_alive()


def test_who_is_not_watched() -> None:
    with pytest.raises(NotWatched, match="another machine"):
        find_watch("192.0.2.1", 2049)
    with pytest.raises(NotWatched, match="another machine"):
        find_watch("name.invalid", 2049)
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        own.listen()
        with pytest.raises(NotWatched, match="in this process"):
            find_watch("127.0.0.1", own.getsockname()[1])


@pytest.mark.parametrize(
    "name",
    ["ssh", "sshd", "socat", "frpc", "rinetd", "ncat", "traefik", "tailscaled", "docker-proxy", "haproxy"],
)
def test_a_program_that_passes_on_what_it_gets_is_not_the_server(name: str) -> None:
    assert is_forwarder(name, [name, "--to=192.0.2.1"])


@pytest.mark.parametrize("name", ["server", "go-nfs", "python3", "nfsproof", "unfsd", "java", "sshfs-server"])
def test_a_server_is_no_forwarder(name: str) -> None:
    assert not is_forwarder(name, [name, "serve", "proxy"])


def test_the_proxy_of_nfsproof_is_known_by_its_arguments(listening: Listening) -> None:
    assert is_forwarder("python3", ["python3", "-P", "-m", "nfsproof", "proxy", "--to", "192.0.2.1:2049"])
    assert is_forwarder("nfsproof", ["python3", "/usr/bin/nfsproof", "proxy", "--to", "192.0.2.1:2049"])
    assert not is_forwarder("python3", ["python3", "-m", "nfsproof", "serve", "--name", "proxy"])
    process, _ = listening()
    assert WatchedProcess(process.pid).arguments[-2:] == ["127.0.0.1", ""]
