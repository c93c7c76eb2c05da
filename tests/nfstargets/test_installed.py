# SPDX-License-Identifier: MIT
"""Installed servers as targets: with a stand-in, and each of the real ones where it is installed."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import nfsclient
from nfstargets import make_target
from nfstargets.base import Target, TargetError
from nfstargets.cache import install
from nfstargets.installed import InstalledTarget
from nfstargets.recipes import RECIPES, Installable, Place, Workshop
from tests.needs import needs
from tests.waiting import AT_MOST

HOME = Path(__file__).parents[2]


def _build(shop: Workshop, _recipe: Installable) -> None:
    (shop.into / "program").touch()


def _serve(place: Place) -> list[str]:
    serve = [sys.executable, "-P", "-m", "nfsproof", "serve", "--host", place.host, "--port", str(place.port)]
    return ["/usr/bin/env", f"PYTHONPATH={HOME}", *serve, "--export", "/"]


def _end_at_once(_place: Place) -> list[str]:
    return ["/bin/sh", "-c", "echo thread main panicked >&2; exit 101"]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InstalledTarget]:
    """The reference server in its own process, under the name of another."""
    monkeypatch.setenv("NFSPROOF_SERVERS", str(tmp_path / "cache"))
    recipe = replace(RECIPES["fernfs"], build=_build, command=_serve, tool=sys.executable)
    monkeypatch.setitem(RECIPES, "fernfs", recipe)
    install(recipe, lambda _line: None)
    target = make_target("fernfs")
    assert isinstance(target, InstalledTarget)
    yield target
    target.stop()


def client(target: Target) -> nfsclient.NfsClient:
    address = target.address()
    if address.version == 4:
        return nfsclient.connect(
            f"nfs://{address.host}:{address.nfs_port}{address.export}?version=4.1&uid=0&gid=0"
        )
    ports = f"nfsport={address.nfs_port}&mountport={address.mount_port}"
    path = address.export.rstrip("/") or "/"
    return nfsclient.nfs3.connect(f"nfs://{address.host}{path}?{ports}&uid=0&gid=0")


def kill(target: InstalledTarget, number: signal.Signals) -> None:
    server = target._server
    assert server is not None
    assert server.pid is not None
    os.kill(server.pid, number)
    assert server.wait(lambda: server.pid is None, AT_MOST)


def test_it_serves_and_goes_without_a_trace(stand_in: InstalledTarget) -> None:
    stand_in.start()
    server = stand_in._server
    assert server is not None
    with client(stand_in) as nfs:
        nfs.write_file("hello", b"world")
    address = stand_in.address()
    stand_in.stop()
    stand_in.stop()
    assert not server.scratch.exists()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.host, address.nfs_port), 1)
    with pytest.raises(TargetError):
        stand_in.address()


@pytest.mark.parametrize("control", ["crash", "restart"])
def test_after_a_control_it_answers_under_the_same_address(stand_in: InstalledTarget, control: str) -> None:
    stand_in.start()
    before = stand_in.address()
    getattr(stand_in, control)()
    assert stand_in.address() == before
    assert stand_in.exit_report() is None
    client(stand_in).close()


def test_a_death_is_reported_and_repaired(stand_in: InstalledTarget, tmp_path: Path) -> None:
    stand_in.log_path = tmp_path / "kept.log"
    stand_in.start()
    stand_in.log_path.write_text("thread main panicked\n")
    kill(stand_in, signal.SIGABRT)
    report = stand_in.exit_report()
    assert report is not None
    assert report.startswith("fernfs 0.1.5 ended unexpectedly with signal 6 (SIGABRT)")
    assert "panicked" in report
    stand_in.restart()
    assert stand_in.exit_report() is None
    client(stand_in).close()
    stand_in.stop()
    assert stand_in.log_path.exists()


@pytest.mark.parametrize(
    "words",
    [
        "memory allocation of 4294967296 bytes failed",
        "fatal error: runtime: out of memory",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "MemoryError",
    ],
)
def test_an_end_for_lack_of_memory_is_reported_as_such(
    stand_in: InstalledTarget, tmp_path: Path, words: str
) -> None:
    stand_in.log_path = tmp_path / "kept.log"
    stand_in.start()
    stand_in.log_path.write_text(f"{words}\n" + "  frame of a stack\n" * 100)
    kill(stand_in, signal.SIGABRT)
    report = stand_in.exit_report()
    assert report is not None
    assert "ended for lack of memory, of which nfsproof grants it 4 GiB, with signal 6 (SIGABRT)" in report
    assert stand_in.exit_report() == report
    stand_in.restart()
    assert stand_in.lacks_of_memory == 1


def test_one_that_still_writes_of_it_when_it_is_restarted(stand_in: InstalledTarget, tmp_path: Path) -> None:
    stand_in.log_path = tmp_path / "kept.log"
    stand_in.start()
    stand_in.restart()
    assert stand_in.lacks_of_memory == 0
    with stand_in.log_path.open("a") as log:
        log.write("fatal error: runtime: out of memory\n")
    stand_in.restart()
    assert stand_in.lacks_of_memory == 1
    stand_in.restart()
    assert stand_in.lacks_of_memory == 1


def test_a_kill_for_lack_of_memory_is_reported_as_such(stand_in: InstalledTarget) -> None:
    stand_in.start()
    assert stand_in._server is not None
    kill(stand_in, signal.SIGKILL)
    report = stand_in.exit_report()
    assert report is not None
    assert "ended unexpectedly with signal 9" in report
    stand_in._server.oom_kills = 1
    report = stand_in.exit_report()
    assert report is not None
    assert "ended for lack of memory" in report


def test_a_start_that_fails_says_why(stand_in: InstalledTarget) -> None:
    stand_in.recipe = replace(stand_in.recipe, command=_end_at_once)
    with pytest.raises(
        TargetError, match=r"ended while starting with exit status 101.*\n  thread main panicked"
    ):
        stand_in.start()
    assert stand_in._server is None


def test_command_lines_name_loopback_and_nothing_of_the_tree() -> None:
    for recipe in RECIPES.values():
        for kind in recipe.kinds:
            place = Place(Path("/home-of-it"), "127.0.0.1", 54321, kind, Path("/exported"))
            line = shlex.join(recipe.command(place))
            assert "127.0.0.1" in line
            assert "54321" in line
            assert line.startswith("/home-of-it/bin/")
            assert ("/exported" in line) == (kind == "folder")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=needs(name.partition(":")[0])) for name in (*RECIPES, "nfs3-server:memory")],
)
def test_a_real_one_serves_is_restarted_and_goes(name: str) -> None:
    target = make_target(name)
    target.start()
    try:
        with client(target) as nfs:
            nfs.mkdir("hello")
            assert "hello" in nfs.listdir("/")
        address = target.address()
        target.crash()
        target.restart()
        assert target.address() == address
        client(target).close()
        assert target.exit_report() is None
    finally:
        target.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.host, address.nfs_port), 1)
