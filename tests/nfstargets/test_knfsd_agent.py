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
    assert ask(do="touch", path="/f") == {"id": 7, "ok": True}
    assert (export / "f").read_bytes() == b"xchanged without the protocol"
    assert ask(do="remove", path="f")["ok"]
    assert not (export / "f").exists()


def test_a_directory_goes_with_all_that_is_in_it(export: Path) -> None:
    (export / "d" / "e").mkdir(parents=True)
    assert ask(do="discard", path="d")["ok"]
    assert not (export / "d").exists()


@pytest.mark.parametrize("path", ["", "/", "..", "../x", "a/../../x"])
def test_nothing_beside_the_export_is_touched(export: Path, path: str) -> None:
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
