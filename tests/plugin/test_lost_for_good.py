# SPDX-License-Identifier: MIT
"""Runs that lose their target for good: VOID with the reason in one line, exit status 10, and nothing hangs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nfsjudge.records import EndRecord
from tests.nfstargets.controlled_server import command, controlled
from tests.plugin.conftest import Outcome, Suite
from tests.plugin.test_plugin_verdicts import check
from tests.plugin.test_plugin_xdist import TWO
from tests.plugin.test_sharing import IMPORTS
from tests.plugin.test_sharing import check as sharing

LATER = "".join(check(f"later_{number}", "nfs3.null()", "nfs3, scratch") for number in range(4))
SOON = ("--call-timeout=1", "--restart-timeout=1")
DEAD_COMMAND = "--restart=echo the machine is sold; exit 5"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "control"
    place.mkdir()
    return place


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    with controlled(folder) as found:
        yield found


def stops(folder: Path) -> str:
    """A check that stops the server for good."""
    return check("kills", f"os.system({command(folder, 'stop')!r}); nfs3.null()", "nfs3")


def expect_lost(outcome: Outcome, *, killer: str = "kills") -> None:
    """The run has lost its target in the check `killer`, and says so."""
    assert outcome.exit_code == 10
    assert outcome.verdicts[killer] == "VOID"
    # The server is a thread of this process, which lives on.
    assert "the target does not answer: it refuses connections; process" in outcome.checks[killer].reason
    last = outcome.lines[-1]
    assert isinstance(last, EndRecord)
    assert last.note.startswith("the target is down at the end of the run: cannot connect")
    assert "\n" not in last.note
    assert [line for line in outcome.text.splitlines() if last.note in line] == [f"VOID       {last.note}"]
    assert "Traceback" not in outcome.text
    assert "INTERNALERROR" not in outcome.text


@pytest.mark.parametrize("restart", [(), (DEAD_COMMAND,)], ids=["nobody", "dead-command"])
def test_a_url_is_lost(suite: Suite, url: str, folder: Path, restart: tuple[str, ...]) -> None:
    suite.write(stops(folder) + LATER)
    outcome = suite.run_apart("--target", url, *SOON, *restart)
    expect_lost(outcome)
    assert set(outcome.verdicts.values()) == {"VOID"}
    gone = f"the target is gone since {outcome.checks['kills'].id}"
    assert {outcome.checks[f"later_{number}"].reason for number in range(4)} == {f"not asked: {gone}"}
    assert f"4 checks not asked: {gone}" in outcome.text
    if restart:
        assert "RESTART    control restart: the command ended with exit status 5" in outcome.text
        assert "the machine is sold" in outcome.text


@pytest.mark.parametrize("restart", [(), (DEAD_COMMAND,)], ids=["nobody", "dead-command"])
def test_workers_lose_their_url(suite: Suite, url: str, folder: Path, restart: tuple[str, ...]) -> None:
    suite.write(stops(folder) + LATER)
    outcome = suite.run_apart("--target", url, *TWO, *SOON, *restart)
    expect_lost(outcome)
    assert set(outcome.verdicts) == {"kills", *(f"later_{number}" for number in range(4))}
    assert set(outcome.verdicts.values()) <= {"VOID", "PASS"}  # the other worker may have judged some before


def test_a_worker_loses_its_embedded_server(suite: Suite) -> None:
    suite.write(check("kills", "stage.target.stop(); nfs3.null()", "stage, nfs3") + LATER)
    outcome = suite.run_apart(*TWO, *SOON)
    assert outcome.exit_code == 10
    assert outcome.verdicts["kills"] == "VOID"
    assert "gone" in outcome.checks["kills"].reason
    assert set(outcome.verdicts.values()) <= {"VOID", "PASS"}
    assert "Traceback" not in outcome.text


@pytest.mark.parametrize("restart", [(), (DEAD_COMMAND,)], ids=["nobody", "dead-command"])
def test_checks_that_share_a_crash_lose_their_target_in_it(
    suite: Suite, url: str, folder: Path, restart: tuple[str, ...]
) -> None:
    suite.write(IMPORTS + sharing("a") + sharing("b") + sharing("c"))
    crash = f"--control=crash={command(folder, 'stop')}"
    outcome = suite.run_apart("--target", url, crash, "--control-timeout=1", *SOON, *restart)
    expect_lost(outcome, killer="a")
    assert set(outcome.verdicts.values()) == {"VOID"}
    gone = f"not asked: the target is gone since {outcome.checks['a'].id}"
    assert {record.reason for name, record in outcome.checks.items() if name != "a"} == {gone}
