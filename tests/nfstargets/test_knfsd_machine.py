# SPDX-License-Identifier: MIT
"""The machine itself: its namespaces, and a real guest where one is installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsclient import NfsClient
from nfsclient.clients import Nfs2, Nfs3
from nfsclient.errors import ProgMismatch
from nfsclient.nfs3 import connect
from nfsclient.protocol.nfs3 import StableHow
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfstargets import make_target
from nfstargets.base import TargetError
from nfstargets.knfsd.machine import GUEST, NETWORK, OURS
from nfstargets.knfsd.target import KnfsdTarget
from nfstargets.namespace import NetworkVisit
from nfstargets.process import KeptServer, Network
from tests.needs import leave_out_if_hindered, needs, starting
from tests.nfstargets.test_kept_server import alive, await_that
from tests.waiting import AT_MOST

HOME = Path(__file__).parents[2]
PATIENT = "import signal; signal.pause()"
needs_it = needs("knfsd")


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[KeptServer]:
    scratch = tmp_path / "scratch"
    (scratch / "memory").mkdir(parents=True)
    server = KeptServer(
        scratch, memory=[scratch / "memory"], files={scratch / "memory/disk": 1 << 40}, network=NETWORK
    )
    try:
        server.open()
    except TargetError as error:
        pytest.skip(str(error))
    yield server
    server.close()


def descendants(pid: int) -> set[int]:
    """The processes below a process, by their numbers here."""
    found: set[int] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            child = int(path.parent.name)
            found |= {child} | descendants(child)
    return found


def test_the_network_is_there_while_one_visits_it(machine: KeptServer) -> None:
    here = Path("/proc/thread-self/ns/net").readlink()
    visit = NetworkVisit(machine.keeper_pid)
    try:
        there = Path("/proc/thread-self/ns/net").readlink()
        text = Path("/proc/thread-self/net/fib_trie").read_text()
    finally:
        visit.end()
        visit.end()
    if os.geteuid() == 0:
        assert Path("/proc/thread-self/ns/net").readlink() == here
    assert there != here
    assert all(address in text for address in OURS)


def test_another_machine_joins_the_network(machine: KeptServer, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    network = Network("tap1", ("192.0.2.129",), "255.255.255.128", machine.keeper_pid)
    other = KeptServer(tmp_path / "other", network=network)
    other.open()
    spaces = {Path(f"/proc/{machine.keeper_pid}/ns/net").readlink() for machine in (machine, other)}
    assert len(spaces) == 1
    visit = NetworkVisit(machine.keeper_pid)
    try:
        text = Path("/proc/thread-self/net/dev").read_text()
    finally:
        visit.end()
    assert "tap0:" in text
    assert "tap1:" in text
    other.start([sys.executable, "-c", PATIENT], tmp_path / "out")
    other.close()
    assert machine.is_kept()


def test_a_server_ends_with_all_that_it_started(machine: KeptServer, tmp_path: Path) -> None:
    child = f"import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', {PATIENT!r}], start_new_session=True)"
    program = f"{child}; os.write(int(sys.argv[1]), b'up\\n'); import signal; signal.pause()"
    machine.start([sys.executable, "-c", program, "{line}"], tmp_path / "out", tmp_path)
    assert machine.wait(lambda: list(machine.said) == ["up"], AT_MOST)
    keeper = next(iter(descendants(machine.keeper_pid) - {0}))
    assert len(descendants(machine.keeper_pid)) == 3, keeper
    machine.end(signal.SIGKILL, AT_MOST)
    assert len(descendants(machine.keeper_pid)) == 1


def test_a_line_carries_text_both_ways(machine: KeptServer, tmp_path: Path) -> None:
    program = "import os, sys; n = int(sys.argv[1])\nwhile d := os.read(n, 99): os.write(n, d.upper())"
    machine.start([sys.executable, "-c", program, "{line}"], tmp_path / "out")
    machine.say("hello")
    machine.say("world")
    assert machine.wait(lambda: list(machine.said) == ["HELLO", "WORLD"], AT_MOST)


def test_its_files_are_in_memory_and_of_it_alone(machine: KeptServer, tmp_path: Path) -> None:
    assert not (machine.scratch / "memory/disk").exists()
    program = f"import os; print(os.stat({str(machine.scratch / 'memory/disk')!r}).st_size, flush=True)"
    machine.start([sys.executable, "-c", program], tmp_path / "out")
    machine.wait(lambda: False, AT_MOST)
    assert (tmp_path / "out").read_text() == f"{1 << 40}\n"


def test_nothing_runs_when_the_keeper_was_killed(machine: KeptServer, tmp_path: Path) -> None:
    machine.start([sys.executable, "-c", PATIENT], tmp_path / "out")
    below = descendants(machine.keeper_pid)
    assert len(below) == 2
    os.kill(machine.keeper_pid, signal.SIGKILL)
    assert await_that(lambda: not any(alive(pid) for pid in below))


# ---------------------------------------------------------------- a real guest


@pytest.fixture(scope="module")
def guest() -> Iterator[KnfsdTarget]:
    target = make_target("knfsd:mem=128")
    assert isinstance(target, KnfsdTarget)
    with starting("knfsd"):
        target.start()
    yield target
    target.stop()


def client(target: KnfsdTarget) -> NfsClient:
    address = target.address()
    ports = f"nfsport={address.nfs_port}&mountport={address.mount_port}"
    return connect(f"nfs://{address.host}{address.export}?{ports}&uid=0&gid=0")


def raw(target: KnfsdTarget) -> RpcClient:
    port = target.address().nfs_port
    return connect_tcp(GUEST, port, timeout=AT_MOST, credential=AuthSys(0, 0))


@needs_it
def test_it_serves_and_its_agent_works(guest: KnfsdTarget) -> None:
    with client(guest) as nfs:
        nfs.write_file("f", b"one")
        guest.touch_locally(b"/f")
        assert (nfs.stat("f").size or 0) > 3
        nfs.mkdir("d")
        nfs.write_file("d/g", b"")
        assert guest.discard(b"d")
        assert not guest.discard(b"d")
        assert nfs.listdir("/") == ["f"]
    with pytest.raises(TargetError, match="remove in the guest: FileNotFoundError"):
        guest.touch_locally(b"/none", remove=True)
    assert "Linux 6.1" in guest.describe()
    assert guest.exit_report() is None


@needs_it
def test_a_crash_loses_what_was_not_written(guest: KnfsdTarget) -> None:
    with client(guest) as nfs:
        nfs.write_file("kept", b"kept")
        nfs.write_file("lost", b"")
        handle = nfs.find("lost").handle
    with raw(guest) as rpc:
        written = Nfs3(rpc).write(handle, 0, b"lost" * 1000, StableHow.UNSTABLE).resok
    assert written is not None
    guest.crash()
    with client(guest) as nfs:
        assert nfs.read_file("kept") == b"kept"
        assert nfs.read_file("lost") == b""
    with raw(guest) as rpc:
        committed = Nfs3(rpc).commit(handle).resok
    assert committed is not None
    assert committed.verf != written.verf


@needs_it
def test_a_dead_machine_is_reported_and_boots_again(guest: KnfsdTarget) -> None:
    server = guest._server
    assert server is not None
    server._tell(do="signal", number=int(signal.SIGKILL))
    assert server.wait(lambda: server.pid is None, AT_MOST)
    report = guest.exit_report()
    assert report is not None
    assert "Linux 6.1" in report
    assert "ended unexpectedly with signal 9" in report
    guest.restart()
    client(guest).close()
    guest.restart()
    client(guest).close()


@needs_it
def test_nothing_is_left_when_the_run_was_killed(tmp_path: Path) -> None:
    program = (
        "from nfstargets import make_target; import pathlib, signal, sys\n"
        "target = make_target('knfsd:mem=128')\n"
        "target.log_path = pathlib.Path(sys.argv[1])\n"
        "target.start()\n"
        "print(target._server.keeper_pid, target._server.scratch, flush=True)\n"
        "signal.pause()\n"
    )
    with (tmp_path / "errors").open("w") as errors:
        run = subprocess.Popen(
            [sys.executable, "-c", program, tmp_path / "console"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONPATH": str(HOME)},
        )
    assert run.stdout is not None
    words = run.stdout.readline().split()
    if not words:
        run.wait()
        run.stdout.close()
        leave_out_if_hindered("knfsd", (tmp_path / "errors").read_text())
    keeper, scratch = int(words[0]), Path(words[1])
    below = descendants(keeper)
    assert len(below) > 3
    assert scratch.exists()
    run.kill()
    run.wait()
    run.stdout.close()
    assert await_that(lambda: not any(alive(pid) for pid in {keeper, *below}))
    assert await_that(lambda: not scratch.exists())


# ---------------------------------------------------------------- other kernels


@pytest.fixture
def other(request: pytest.FixtureRequest) -> Iterator[KnfsdTarget]:
    target = make_target(request.param)
    assert isinstance(target, KnfsdTarget)
    try:
        with starting("knfsd"):
            target.start()
    except TargetError as error:
        if any(why in str(error) for why in ("not installed", "not in PATH")):
            pytest.skip(str(error))
        raise
    yield target
    target.stop()


@pytest.mark.parametrize("other", ["knfsd:v2,mem=128,vers=2+4.1"], indirect=True)
def test_a_kernel_with_nfsv2_serves_it_alone_over_both_transports(other: KnfsdTarget) -> None:
    address = other.address()
    assert address.version == 2
    for connect_by in (connect_tcp, connect_udp):
        with connect_by(address.host, address.nfs_port, timeout=AT_MOST) as rpc:
            Nfs2(rpc).null()
            with pytest.raises(ProgMismatch):
                Nfs3(rpc).null()
    other.set_lease(20)
    other.end_grace()
    other.drop_caches()
    assert other.known_clients() == ()


@pytest.mark.parametrize("other", ["knfsd:qemu"], indirect=True)
def test_qemu_serves_on_loopback_and_its_agent_works(other: KnfsdTarget) -> None:
    address = other.address()
    with client(other) as nfs:
        nfs.write_file("f", b"one")
        other.touch_locally(b"/f")
        assert (nfs.stat("f").size or 0) > 3
    with connect_udp(address.host, address.nfs_port, timeout=AT_MOST) as rpc:
        Nfs3(rpc).null()
