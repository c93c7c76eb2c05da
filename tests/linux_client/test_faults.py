# SPDX-License-Identifier: MIT
"""The Linux client under a part of the fault plans, as `nfsproof clients` tries it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfstargets.clients.drivers import LinuxGuest, NoClient
from reports import load
from reports.clients import client_table


def test_the_linux_client_comes_through(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    client = LinuxGuest()
    try:
        client.start()
    except NoClient as error:
        pytest.skip(str(error))
    client.stop()
    plans = ["change-reply-lost", "fragments", "short-writes", "crash", "restart"]
    words = ["clients", "linux", "--version", "3", "--version", "4.2", "--report", str(tmp_path)]
    words += [word for plan in plans for word in ("--plan", plan)]
    words += [word for work in ("write", "read", "names", "locks") for word in ("--work", work)]
    assert run_command_line(words) == Exit.OK, capfd.readouterr().out
    run = load(tmp_path / "linux")
    assert run.target.startswith("the client of Linux ")
    table = client_table(run)
    assert {table.cells[cell] for cell in table.cells} == {"right"}
    assert table.row("restart", "4.2") == ["right"] * 4
