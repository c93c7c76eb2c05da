# SPDX-License-Identifier: MIT
"""NFS-Ganesha as a target. Skipped where it is not installed or cannot be started."""

from __future__ import annotations

import os
import signal
import socket
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsclient import NfsClient
from nfsclient.nfs3 import connect
from nfstargets import ganesha as ganesha_module
from nfstargets import make_target
from nfstargets import program as program_module
from nfstargets.base import TargetError
from nfstargets.ganesha import GaneshaTarget, Installation
from nfstargets.namespace import can_act_for_others, can_make_networks
from nfstargets.process import free_ports
from tests.needs import needs
from tests.waiting import AT_MOST

needs_it = needs("ganesha.nfsd")


def started(kind: str) -> GaneshaTarget:
    target = make_target(f"ganesha:{kind}")
    assert isinstance(target, GaneshaTarget)
    if kind == "vfs" and not can_act_for_others():
        pytest.skip("ganesha:vfs needs root")
    try:
        target.start()
    except TargetError as error:
        if "unshare" in str(error):
            pytest.skip(str(error))
        raise
    return target


@pytest.fixture(params=["vfs", "mem"])
def target(request: pytest.FixtureRequest) -> Iterator[GaneshaTarget]:
    target = started(request.param)
    yield target
    target.stop()


@pytest.fixture
def mem() -> Iterator[GaneshaTarget]:
    target = started("mem")
    yield target
    target.stop()


def client(target: GaneshaTarget) -> NfsClient:
    address = target.address()
    ports = f"nfsport={address.nfs_port}&mountport={address.mount_port}"
    return connect(f"nfs://{address.host}{address.export}?{ports}&uid=0&gid=0")


def kill_and_await(target: GaneshaTarget, number: signal.Signals) -> None:
    server = target._server
    assert server is not None
    assert server.pid is not None
    os.kill(server.pid, number)
    assert server.wait(lambda: server.pid is None, AT_MOST)


@needs_it
def test_it_serves_files_and_goes_without_a_trace(target: GaneshaTarget) -> None:
    server = target._server
    assert server is not None
    with client(target) as nfs:
        nfs.write_file("hello", b"world")
        assert nfs.read_file("hello") == b"world"
    assert target.exit_report() is None
    address = target.address()
    target.stop()
    assert not server.scratch.exists()
    assert target.exit_report() is None
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.host, address.nfs_port), 1)
    with pytest.raises(TargetError):
        target.address()


@needs_it
def test_what_is_exported_differs(target: GaneshaTarget) -> None:
    assert target.address().export == f"/{target.kind}"
    assert target.address().portmap_port is None
    assert target.kind.upper() in target.describe()


@needs_it
@pytest.mark.parametrize("control", ["crash", "restart"])
def test_after_a_control_it_answers_under_the_same_address(target: GaneshaTarget, control: str) -> None:
    before = target.address()
    with client(target) as nfs:
        nfs.write_file("kept", b"on disk")
    getattr(target, control)()
    assert target.address() == before
    assert target.exit_report() is None
    with client(target) as nfs:
        if target.kind == "vfs":
            assert nfs.read_file("kept") == b"on disk"
        else:
            assert list(nfs.listdir("/")) == []


@needs_it
def test_a_death_is_reported_with_the_end_of_the_log(mem: GaneshaTarget) -> None:
    kill_and_await(mem, signal.SIGSEGV)
    report = mem.exit_report()
    assert report is not None
    assert "signal 11 (SIGSEGV)" in report
    assert "stack backtrace" in report
    mem.stop()
    assert mem.exit_report() == report


@needs_it
def test_restart_brings_it_back_from_the_dead(mem: GaneshaTarget) -> None:
    kill_and_await(mem, signal.SIGKILL)
    mem.restart()
    assert mem.exit_report() is None
    client(mem).close()


@needs_it
def test_restart_brings_it_back_when_its_keeper_was_killed(mem: GaneshaTarget) -> None:
    server = mem._server
    assert server is not None
    assert server._keeper is not None
    server._keeper.kill()
    assert server.wait(lambda: server.pid is None, AT_MOST)
    assert mem.exit_report() is not None
    mem.restart()
    client(mem).close()


@needs_it
def test_the_log_goes_where_it_is_wanted(tmp_path: Path) -> None:
    target = make_target("ganesha:mem")
    log = tmp_path / "report" / "ganesha.log"
    log.parent.mkdir()
    target.log_path = log
    try:
        target.start()
    except TargetError as error:
        pytest.skip(str(error))
    target.stop()
    assert "NFS SERVER INITIALIZED" in log.read_text()


@needs_it
def test_another_port_is_taken_when_one_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as squatter:
        taken = squatter.getsockname()[1]
        offers = [[taken, *free_ports(1)], [*free_ports(1), taken]]
        monkeypatch.setattr(
            program_module,
            "free_ports",
            lambda count, host: offers.pop() if offers else free_ports(count, host),
        )
        target = started("mem")
        address = target.address()
        target.stop()
    assert not offers
    assert taken not in {address.nfs_port, address.mount_port}


@needs_it
def test_on_a_file_system_without_handles_it_gets_one_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ganesha_module, "file_system_of", lambda _path: "overlay")
    target = started("vfs")
    try:
        assert "tmpfs" in target.describe()
        with client(target) as nfs:
            nfs.write_file("file", b"data")
        target.crash()
        with client(target) as nfs:
            assert nfs.read_file("file") == b"data"
        server = target._server
        assert server is not None
        assert list((server.scratch / "vfs").iterdir()) == []
    finally:
        target.stop()
    assert not server.scratch.exists()


@needs_it
def test_two_at_a_time_do_not_meet() -> None:
    first, other = started("mem"), started("mem")
    try:
        with client(first) as nfs:
            nfs.write_file("file", b"data")
        with client(other) as nfs:
            assert list(nfs.listdir("/")) == []
    finally:
        first.stop()
        other.stop()


def test_a_start_that_fails_leaves_nothing_and_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "ganesha.nfsd"
    program.write_text("#!/bin/sh\necho cannot go on >&2\nexit 7\n")
    program.chmod(0o755)
    monkeypatch.setattr(Installation, "find", classmethod(lambda cls, _kind: cls(program, tmp_path)))
    target = GaneshaTarget("mem")
    with pytest.raises(TargetError, match=r"exit status 7[^\n]*\n  cannot go on"):
        target.start()
    assert target._server is None
    target.stop()


def test_a_missing_package_is_one_line_that_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ganesha_module, "PROGRAM_FOLDERS", ())
    with pytest.raises(TargetError) as caught:
        GaneshaTarget("mem").start()
    assert "apt install nfs-ganesha nfs-ganesha-vfs nfs-ganesha-mem" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_back_end_is_reported_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "ganesha.nfsd"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ganesha_module, "PLUGIN_FOLDERS", ())
    with pytest.raises(TargetError, match=r"libfsalmem.so; install it"):
        GaneshaTarget("mem").start()


def test_vfs_without_root_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ganesha_module, "can_act_for_others", lambda: False)
    assert GaneshaTarget().kind == "mem"
    with pytest.raises(TargetError, match=r"needs root.*--target ganesha:mem"):
        GaneshaTarget("vfs").start()


def test_unknown_exports_are_refused() -> None:
    with pytest.raises(TargetError, match=r"unknown option .* of ganesha.*expected vfs, mem"):
        make_target("ganesha:nfs")


def test_controls_before_the_start_are_refused() -> None:
    with pytest.raises(TargetError):
        GaneshaTarget("mem").crash()


def own_network() -> str:
    return Path("/proc/thread-self/ns/net").readlink().name


@needs_it
def test_a_private_network_is_joined_and_left_again() -> None:
    """All controls work in it, at the same address of loopback, and a bridge of packets may come into it."""
    if not can_make_networks():
        pytest.skip("private networks need root with CAP_NET_ADMIN and CAP_SYS_ADMIN")
    before = own_network()
    target = make_target("ganesha:mem")
    target.wants_network = True
    target.start()
    try:
        there = own_network()
        assert there != before
        assert target.address().cable == "new"
        assert target.address().host == "127.0.0.1"
        for control in (target.crash, target.restart):
            control()
            with client(t.cast("GaneshaTarget", target)) as nfs:
                nfs.write_file("hello", b"world")
            assert own_network() == there
    finally:
        target.stop()
    assert own_network() == before


@needs_it
def test_without_privilege_it_stays_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ganesha_module, "can_make_networks", lambda: False)
    before = own_network()
    target = make_target("ganesha:mem")
    target.wants_network = True
    try:
        target.start()
    except TargetError as error:
        pytest.skip(str(error))
    try:
        assert own_network() == before
        assert target.address().cable == ""
    finally:
        target.stop()
