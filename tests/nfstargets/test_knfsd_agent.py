# SPDX-License-Identifier: MIT
"""The agent of the guest, as far as it can be tried outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nfstargets.knfsd.guest import agent
from nfstargets.knfsd.guest.agent import GuestError, Line, Server, obey, run, settings
from tests.waiting import AT_MOST


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "volume" / "export"
    folder.mkdir(parents=True)
    monkeypatch.setattr(agent, "EXPORT", folder)
    monkeypatch.setattr(agent, "FILLER", folder.parent / "filler")
    return folder


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    ours, theirs = os.openpty()
    yield ours, os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def ask(**request: Any) -> dict[str, Any]:
    return obey(Server({}), {"id": 7, **request})


def test_settings_are_among_other_words() -> None:
    line = "mem=256M ro nfsproof.fs=ext4 nfsproof.line=/dev/tty1 quiet nfsproof.options=a=b\n"
    assert settings(line) == {"fs": "ext4", "line": "/dev/tty1", "options": "a=b"}


def test_a_command_that_fails_says_its_words() -> None:
    run("true")
    with pytest.raises(GuestError, match=r"^sh -c echo no .* ended with 3: no more$"):
        run("sh", "-c", "echo no more >&2; exit 3")
    with pytest.raises(GuestError, match="no-such-program"):
        run("no-such-program")


def test_a_file_grows_and_goes(export: Path) -> None:
    (export / "f").write_bytes(b"x")
    assert ask(do="touch", path="/f") == {"id": 7, "ok": True, "value": None}
    assert (export / "f").read_bytes() == b"xchanged without the protocol"
    assert ask(do="remove", path="f")["ok"]
    assert not (export / "f").exists()


def test_a_directory_goes_with_all_that_is_in_it(export: Path) -> None:
    (export / "d" / "e").mkdir(parents=True)
    assert ask(do="discard", path="d")["ok"]
    assert not (export / "d").exists()


@pytest.mark.parametrize("path", ["", "/", "..", "../x", "a/../../x"])
def test_nothing_outside_the_export_is_touched(export: Path, path: str) -> None:
    (export.parent / "x").mkdir()
    answer = ask(do="discard", path=path)
    assert not answer["ok"]
    assert "is not below the export" in answer["why"]
    assert (export.parent / "x").exists()


def test_what_it_cannot_do_is_an_answer(export: Path) -> None:
    assert export.exists()
    assert "FileNotFoundError" in ask(do="remove", path="none")["why"]
    assert not ask(do="nothing")["ok"]
    assert not ask(do="touch", place="f")["ok"]
    assert not ask()["ok"]


def test_freeing_what_was_not_filled_is_no_error(export: Path) -> None:
    assert export.exists()
    assert ask(do="free")["ok"]


@pytest.fixture
def control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands for /proc/fs/nfsd."""
    folder = tmp_path / "nfsd"
    (folder / "clients").mkdir(parents=True)
    monkeypatch.setattr(agent, "CONTROL", folder)
    monkeypatch.setattr(agent, "LOCKD", tmp_path)
    return folder


def test_the_kernel_gets_the_versions_to_serve(control: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def write_text(path: Path, text: str) -> int:
        assert path == control / "versions"
        written.append(text.strip())
        if text.startswith("+2"):
            raise OSError(22, "Invalid argument")
        return len(text)

    monkeypatch.setattr(Path, "write_text", write_text)
    monkeypatch.setattr(Path, "read_text", lambda _path: "+3 +4 -4.0 +4.1 -4.2\n")
    agent._choose_versions("3+4.1")
    assert written == ["-2", "+3", "-4.0", "+4.1", "-4.2"]
    with pytest.raises(GuestError, match=r"does not serve NFS 2: it says \+3 \+4"):
        agent._choose_versions("2+3")
    agent._choose_versions("")


def test_a_grace_time_that_is_over_is_no_error(
    control: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (control / "v4_end_grace").write_text("N\n")
    assert ask(do="end_grace")["ok"]
    assert (control / "v4_end_grace").read_text() == "Y"
    assert (tmp_path / "nlm_end_grace").read_text() == "Y"
    usual = Path.write_text

    def write_text(path: Path, text: str) -> int:
        if path.name == "v4_end_grace":
            raise OSError(5, "Input/output error")
        return usual(path, text)

    monkeypatch.setattr(Path, "write_text", write_text)
    assert ask(do="end_grace")["ok"]
    usual(control / "v4_end_grace", "N\n")
    assert "Input/output error" in ask(do="end_grace")["why"]


def test_the_clients_of_the_kernel_come_in_order(control: Path) -> None:
    for number in ("10", "9"):
        (control / "clients" / number).mkdir()
        (control / "clients" / number / "info").write_text(f"clientid: 0x{number}\n")
        (control / "clients" / number / "states").write_text("")
    (control / "clients" / "11").mkdir()  # it went meanwhile
    found = ask(do="clients")["value"]
    assert [client["info"] for client in found] == ["clientid: 0x9\n", "clientid: 0x10\n"]


def test_another_lease_time_restarts_the_service_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server({"lease": "10"})
    done: list[str] = []
    monkeypatch.setattr(Server, "_stop_service", lambda _server: done.append("stop"))
    monkeypatch.setattr(Server, "start_service", lambda server: done.append(server.chosen["lease"]))
    assert obey(server, {"id": 1, "do": "set_lease", "seconds": 25})["ok"]
    server.restart()
    assert done == ["stop", "25", "stop", "25"]


def test_a_program_is_ended_by_its_name(tmp_path: Path) -> None:
    program = tmp_path / "nfsproof-toy"
    program.symlink_to(sys.executable)
    wait = "import signal; print('up', flush=True); signal.pause()"
    toys = [subprocess.Popen([program, "-c", wait], stdout=subprocess.PIPE) for _ in range(2)]
    for toy in toys:
        assert toy.stdout is not None
        assert toy.stdout.readline() == b"up\n"
    agent._end("nfsproof-toy")
    assert [toy.wait(AT_MOST) for toy in toys] == [-signal.SIGTERM] * 2
    for toy in toys:
        assert toy.stdout is not None
        toy.stdout.close()
    agent._end("nfsproof-toy")


def test_the_line_carries_objects_both_ways(terminal: tuple[int, str]) -> None:
    ours, name = terminal
    line = Line(name)
    line.say(event="ready", kernel="6.1")
    assert json.loads(os.read(ours, 4096)) == {"event": "ready", "kernel": "6.1"}
    writer = threading.Thread(target=os.write, args=(ours, b'{"id": 1, "do": "sync"}\n{"id": 2}\n'))
    writer.start()
    assert line.hear() == {"id": 1, "do": "sync"}
    assert line.hear() == {"id": 2}
    writer.join()
