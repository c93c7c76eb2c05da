# SPDX-License-Identifier: MIT
"""Targets that misbehave as a whole: they die, come back or not, or answer nothing but NULL."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from fixtures.stage.deaths import Deaths
from fixtures.stage.reviving import run_restart
from fixtures.stage.traffic import Traffic
from nfsclient.errors import ConnectFailed, ConnectionLost
from nfsjudge.lint import Happening
from tests.plugin.conftest import ROOT, Outcome, Suite
from tests.plugin.test_plugin_verdicts import check

KILLS = check("kills", "nfs3.lookup(root, b'deadly')", "nfs3, root")
MUTES = check("mutes", "nfs3.lookup(root, b'mute')", "nfs3, root")
QUICK = ("--call-timeout=0.5", "--restart-timeout=0.5")
TWO = ("-p", "xdist.plugin", "-n2")


def harmless(number: int, first: str = "later") -> str:
    return "".join(check(f"{first}_{n}", "nfs3.getattr(root)", "nfs3, root, scratch") for n in range(number))


@dataclass
class Fragile:
    """A server that dies, by its URL."""

    port: int
    pids: Path

    @property
    def url(self) -> str:
        return f"nfs://127.0.0.1/export?nfsport={self.port}&mountport={self.port}"

    @property
    def argv(self) -> list[str]:
        return [sys.executable, "-P", "-m", "tests.plugin.fragile_server", str(self.port), str(self.pids)]

    def end(self) -> None:
        """End those that run."""
        for pid in map(int, self.pids.read_text().split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def command(self) -> str:
        """Starts it again, in the background of a shell."""
        return f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.join(self.argv)} &"


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[Fragile]:
    """One that runs now, and whose successors are ended with the test."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        made = Fragile(free.getsockname()[1], tmp_path / "pids")
    server = subprocess.Popen(made.argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE)
    assert server.stdout is not None
    server.stdout.readline()
    yield made
    server.stdout.close()
    made.end()
    server.wait()


def first_of_summary(outcome: Outcome) -> str:
    lines = [line for line in outcome.text.splitlines() if line]
    return lines[next(at for at, line in enumerate(lines) if " verdicts " in line) + 1]


# ---------------------------------------------------------------- death


def test_without_a_way_back_the_rest_is_void_in_one_line(suite: Suite, fragile: Fragile) -> None:
    suite.write(check("before", "pass") + KILLS + harmless(20))
    outcome = suite.run_apart("--target", fragile.url, *QUICK)
    assert outcome.exit_code == 1
    assert outcome.verdicts == {"before": "PASS", "kills": "FAIL"} | {f"later_{n}": "VOID" for n in range(20)}
    assert first_of_summary(outcome).startswith("DIED IN    nfs3/fake/kills: the target did not come back")
    assert "VOID       20 checks not asked: the target is gone since nfs3/fake/kills" in outcome.text
    assert "nfs3/fake/later" not in outcome.text
    report = (outcome.report / "report.txt").read_text()
    assert "VOID  20 checks not asked: the target is gone since nfs3/fake/kills" in report
    assert outcome.checks["kills"].death == "untested"


def test_a_restart_command_brings_it_back_and_the_killer_is_named_first(
    suite: Suite, fragile: Fragile
) -> None:
    suite.write(check("before", "pass") + KILLS + harmless(3))
    outcome = suite.run_apart("--target", fragile.url, "--call-timeout=2", "--restart", fragile.command)
    assert outcome.verdicts == {"before": "PASS", "kills": "FAIL"} | {f"later_{n}": "PASS" for n in range(3)}
    assert first_of_summary(outcome).startswith("KILLER     nfs3/fake/kills: the target was gone again")
    assert outcome.checks["kills"].death == "confirmed"
    assert "killer:  nfs3/fake/kills" in (outcome.report / "report.txt").read_text()
    assert outcome.exit_code == 1
    assert len(fragile.pids.read_text().split()) == 3


def test_with_workers_only_the_killer_fails(suite: Suite, fragile: Fragile) -> None:
    suite.write(harmless(10, "early") + KILLS + harmless(10))
    outcome = suite.run_apart("--target", fragile.url, "--call-timeout=2", "--restart", fragile.command, *TWO)
    assert {name for name, verdict in outcome.verdicts.items() if verdict != "PASS"} == {"kills"}
    assert outcome.checks["kills"].verdict == "FAIL"
    assert outcome.checks["kills"].death == "confirmed"
    assert outcome.exit_code == 1


def test_a_server_that_its_owner_brings_back(suite: Suite, fragile: Fragile) -> None:
    suite.write(KILLS + harmless(3))
    fragile.end()
    forever = f"while true; do {shlex.join(fragile.argv)}; done"
    with subprocess.Popen(
        ["sh", "-c", forever],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as supervisor:
        try:
            assert supervisor.stdout is not None
            supervisor.stdout.readline()
            outcome = suite.run_apart("--target", fragile.url, "--call-timeout=2", "--restart-timeout=60")
        finally:
            os.killpg(supervisor.pid, signal.SIGKILL)
    # Refused connections, and then another instance, show that it died of the call: more than "it is gone".
    assert outcome.verdicts == {"kills": "FAIL"} | {f"later_{n}": "PASS" for n in range(3)}
    assert outcome.checks["kills"].death == "confirmed"


def test_a_check_that_killed_nothing_the_second_time(suite: Suite, fragile: Fragile, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    body = f"import pathlib; mark = pathlib.Path({str(mark)!r}); name = b'x' if mark.exists() else b'deadly'"
    suite.write(check("once", f"{body}; mark.touch(); nfs3.lookup(root, name)", "nfs3, root") + harmless(1))
    outcome = suite.run_apart("--target", fragile.url, "--call-timeout=2", "--restart", fragile.command)
    assert outcome.verdicts == {"once": "VOID", "later_0": "PASS"}
    assert outcome.checks["once"].death == "once"
    assert "was not gone when the check ran again alone" in outcome.checks["once"].reason


def test_the_output_of_a_restart_that_fails_is_printed(suite: Suite, fragile: Fragile) -> None:
    suite.write(KILLS + harmless(3))
    outcome = suite.run_apart("--target", fragile.url, *QUICK, "--restart", "echo no such service; exit 5")
    assert "RESTART    control restart: the command ended with exit status 5: echo" in outcome.text
    assert "\nno such service" in outcome.text
    assert outcome.verdicts == {"kills": "FAIL"} | {f"later_{n}": "VOID" for n in range(3)}


def test_a_command_of_control_brings_it_back_too(suite: Suite, fragile: Fragile) -> None:
    suite.write(KILLS + harmless(3))
    control = f"--control=start={fragile.command}"
    for options in ((), TWO):
        outcome = suite.run_apart("--target", fragile.url, "--call-timeout=2", control, *options)
        assert outcome.verdicts == {"kills": "FAIL"} | {f"later_{n}": "PASS" for n in range(3)}
        assert outcome.checks["kills"].death == "confirmed"


def test_a_command_is_bounded_in_time() -> None:
    assert run_restart("true", 60) == ""
    assert run_restart("sleep 1 & echo started", 60) == ""
    assert "did not end within 0.2 s" in run_restart("echo waiting; sleep 600", 0.2)


def test_known_killers_run_last_where_nobody_restarts_the_server(suite: Suite, fragile: Fragile) -> None:
    alone = "\n@pytest.mark.exclusive" + check("alone", "pass").lstrip("\n").join(["\n", ""])
    suite.write(check("length_too_large", "pass"), "suites/rpc/test_arguments.py")
    suite.write(alone + check("it", "pass"), "suites/rpc/test_other.py")

    def order(*options: str) -> list[str]:
        return list(suite.run_apart("--target", *options).checks)

    assert order(fragile.url) == ["it", "alone", "length_too_large"]
    assert order(fragile.url, "--restart", "true") == ["length_too_large", "it", "alone"]
    assert order("embedded") == ["length_too_large", "it", "alone"]


def test_a_restart_command_is_for_urls(suite: Suite) -> None:
    suite.write(check("it", "pass"))
    outcome = suite.run("--target", "embedded", "--restart", "true")
    assert outcome.exit_code == 4
    assert "--restart requires a URL" in outcome.text


# ---------------------------------------------------------------- what shows a death


def _committed(fsid: int | None, verifier: int, at: float = 0.0) -> t.Any:
    """The exchange of a COMMIT that returned this; an fsid of None is in no attributes."""
    after = None if fsid is None else SimpleNamespace(fsid=fsid)
    resok = SimpleNamespace(verf=bytes([verifier] * 8), file_wcc=SimpleNamespace(after=after))
    return SimpleNamespace(result=SimpleNamespace(resok=resok), sent_at=at, procedure=None)


class _Answering:
    """Connections and dialects of a server that answers; it may refuse connections before."""

    call_timeout = 10.0

    def __init__(self, *, refusals: int = 0, now: t.Any = None, survivors: bool = False) -> None:
        self.loop = SimpleNamespace(clock=self._clock, run_until=lambda _done, _until: None)
        self.primary = SimpleNamespace(null=lambda _client: None)
        self._time = 0.0
        self._refusals = refusals
        self._now = now
        self._survivors = survivors

    def _clock(self) -> float:
        self._time += 0.1
        return self._time

    def stretch(self, seconds: float) -> float:
        return seconds

    def open(self, _service: str, **_how: object) -> t.Any:
        if self._refusals:
            self._refusals -= 1
            raise ConnectFailed("a server", "[Errno 111] Connection refused")
        return SimpleNamespace(close=lambda: None)

    def all_have_ended(self, since: float) -> bool:
        return not self._survivors

    def close_shared(self) -> None:
        """There is none."""

    forget_roots = close_shared

    def __getitem__(self, _version: str) -> t.Any:
        directory = SimpleNamespace(file=lambda _name: b"file", remove=lambda: None)
        client = SimpleNamespace(
            commit=lambda *_: SimpleNamespace(resok=self._now and self._now.result.resok)
        )
        return SimpleNamespace(make_scratch=lambda: directory, client=lambda: client)


def _shown(answering: _Answering, *earlier: t.Any, in_check: tuple[t.Any, ...] = ()) -> str | None:
    """What shows a death, after checks with these exchanges, and some of this check."""
    traffic = Traffic(t.cast("t.Any", answering.loop), t.cast("t.Any", None))
    traffic.exchanges.extend(earlier)
    traffic.clear()
    traffic.exchanges.extend(in_check)
    life = SimpleNamespace(is_in_process=False, target=None)
    make: t.Any = Deaths
    error = ConnectionLost("GETATTR", "the server closed it")
    error.exchange = t.cast("t.Any", SimpleNamespace(sent_at=1.0, procedure=None))
    shown: str | None = make(life, answering, traffic, answering).shows_death(error)
    return shown


def test_another_verifier_of_the_same_file_system_shows_a_death() -> None:
    shown = _shown(_Answering(now=_committed(1, 2)), _committed(1, 1), _committed(7, 3))
    assert shown == f"its write verifier changed from 0x{'01' * 8} to 0x{'02' * 8}"


@pytest.mark.parametrize("refusals", [0, 3])
def test_the_same_verifier_shows_that_the_server_has_not_died(refusals: int) -> None:
    assert _shown(_Answering(refusals=refusals, now=_committed(1, 1)), _committed(1, 1)) is None


@pytest.mark.parametrize(
    "earlier",
    [(), (_committed(7, 3),), (_committed(1, 2), _committed(7, 3)), (_committed(None, 3),)],
    ids=["none", "of another file system", "of two", "without attributes"],
)
def test_a_verifier_for_each_file_system_shows_nothing(earlier: tuple[t.Any, ...]) -> None:
    assert _shown(_Answering(now=_committed(1, 2)), *earlier) is None


def test_a_verifier_that_changed_before_the_call_shows_nothing() -> None:
    # A server may change it without a restart, when it has lost written data.
    answering = _Answering(now=_committed(1, 2))
    assert _shown(answering, _committed(1, 1), in_check=(_committed(1, 2, at=0.5),)) is None
    assert _shown(answering, _committed(1, 1), in_check=(_committed(1, 2, at=2.0),)) is not None


def test_what_a_check_saw_before_others_restarted_the_server_shows_nothing() -> None:
    """It paused meanwhile, and has its turn afterwards: what it saw is not of this instance."""
    now = [1.0]
    traffic = Traffic(t.cast("t.Any", SimpleNamespace(clock=lambda: now[0])), t.cast("t.Any", None))
    traffic.exchanges.append(_committed(1, 1, at=0.5))
    paused = traffic.take()
    traffic.happened(Happening.RESTART, "set_lease")
    traffic.clear()
    now[0] = 2.0
    traffic.put(paused)
    traffic.clear()
    assert traffic.verifiers_before == {}
    traffic.exchanges.append(_committed(1, 2, at=1.5))
    traffic.clear()
    assert traffic.verifiers_before == {1: bytes([2]) * 8}


def test_without_a_verifier_refused_connections_show_a_death_unless_one_survived() -> None:
    assert str(_shown(_Answering(refusals=3))).startswith("connections were refused for ")
    assert _shown(_Answering(refusals=3, survivors=True)) is None
    assert _shown(_Answering()) is None


# ---------------------------------------------------------------- silence, and time


def test_a_server_that_answers_only_null_is_given_up(suite: Suite, fragile: Fragile) -> None:
    suite.write(MUTES + harmless(12))
    outcome = suite.run_apart("--target", fragile.url, *QUICK)
    assert outcome.verdicts["mutes"] == "FAIL"
    assert {verdict for name, verdict in outcome.verdicts.items() if name != "mutes"} == {"VOID"}
    assert re.search(
        r"VOID +1\d checks not asked: the target does not answer MKDIR .*, first in", outcome.text
    )
    given_up = [check for check in outcome.checks.values() if check.reason.startswith("not asked")]
    assert len(given_up) >= 10
    assert outcome.exit_code == 1


def test_what_is_not_reached_in_time_is_void(suite: Suite) -> None:
    suite.write(harmless(5))
    outcome = suite.run("--time-limit", "0.000001")
    assert set(outcome.verdicts.values()) == {"VOID"}
    assert "5 checks not asked: the time limit of 1e-06 s was reached" in outcome.text
    assert outcome.exit_code == 10


def test_the_time_limit_ends_a_check_that_goes_on_calling(suite: Suite) -> None:
    suite.write(check("forever", "while True: nfs3.getattr(root)", "nfs3, root, scratch") + harmless(2))
    outcome = suite.run_apart("--time-limit=1s", *TWO)
    assert outcome.checks["forever"].reason == "not asked: the time limit of 1 s was reached"
    assert outcome.exit_code == 10


@pytest.mark.parametrize("word", ["0", "-1", "10x", "x", "inf", "nan"])
def test_times_that_are_none(suite: Suite, word: str) -> None:
    suite.write(check("it", "pass"))
    outcome = suite.run(f"--time-limit={word}")
    assert outcome.exit_code == 4
    assert "expected a time such as 90s, 10m or 2h" in outcome.text


# ---------------------------------------------------------------- what a server that nfsproof starts does


def test_a_server_that_dies_after_its_last_reply_is_not_green(suite: Suite) -> None:
    body = "nfs3.getattr(root); stage.target.exit_report = lambda: 'ended with SIGSEGV'"
    suite.write(check("it", body, "nfs3, root, stage"))
    outcome = suite.run()
    assert outcome.verdicts == {"it": "FAIL"}
    assert "ended with SIGSEGV; it died again" in outcome.checks["it"].observed
    assert outcome.exit_code == 1


def test_what_a_server_without_memory_did_is_no_deviation(suite: Suite) -> None:
    body = "stage.target.lacks_of_memory += 1; expect(1, 'number').equals(2)"
    suite.write(check("lacks", body, "stage") + check("fails", "expect(1, 'number').equals(2)", "stage"))
    outcome = suite.run()
    assert outcome.verdicts == {"lacks": "VOID", "fails": "FAIL"}
    reason = outcome.checks["lacks"].reason
    assert reason == "the target ended for lack of memory: number: expected 2, got 1"
