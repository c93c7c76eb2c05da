# SPDX-License-Identifier: MIT
"""`nfsproof doctor`: the diagnosis is printed, and the exit status says whether a run can begin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfstargets.diagnosis import Outcome, Step, Telling
from nfstargets.diagnosis.writing import WriteTrial

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def url() -> Iterator[str]:
    """An embedded server in its own process."""
    command = [sys.executable, "-P", "-m", "nfsproof", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.terminate()


def test_nothing_stands_in_the_way_of_a_good_server(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["doctor", url]) == Exit.OK
    assert "The server can be tested." in capsys.readouterr().out


def test_what_stands_in_the_way_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["doctor", "nfs://127.0.0.1/export?nfsport=9&mountport=9"]) == Exit.USAGE
    assert "Failed: " in capsys.readouterr().out


def test_what_is_no_url_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["doctor", "server"]) == Exit.USAGE
    assert "nfs://" in capsys.readouterr().out


def test_a_target_that_is_nearly_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["doctor", "ganehsa:mem"]) == Exit.USAGE
    assert "similar: ganesha, which nfsproof run ganesha starts" in capsys.readouterr().err


def test_the_name_of_a_target_needs_no_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["doctor", "ganesha"]) == Exit.USAGE
    assert "nfsproof run ganesha" in capsys.readouterr().err


def test_each_step_is_printed_as_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    telling = Telling("nfs://h/x", click.echo)
    assert capsys.readouterr().out == "Diagnosis of nfs://h/x\n"
    telling(Step("name", Outcome.OK, "h is an address"))
    assert "h is an address" in capsys.readouterr().out
    telling(Step("port", Outcome.FAILED, "refused", "start it"))
    assert "-> start it" in capsys.readouterr().out
    telling.end()
    assert capsys.readouterr().out == "Failed: port.\n"


def test_the_doctor_tells_steps_while_it_asks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands on the terminal when the last step begins."""
    before: list[str] = []
    printed: list[str] = []
    monkeypatch.setattr(click, "echo", printed.append)
    ask = WriteTrial.squash

    def squash(trial: WriteTrial) -> tuple[Outcome, str, str]:
        before.extend(printed)
        return ask(trial)

    monkeypatch.setattr(WriteTrial, "squash", squash)
    assert run_command_line(["doctor", url]) == Exit.OK
    assert [line.split()[1] for line in before[1:]][:3] == ["name", "port", "RPC"]
    assert any("write access" in line for line in before)
    assert not any("root squash" in line for line in before)
    assert any("root squash" in line for line in printed)
