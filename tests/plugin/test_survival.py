# SPDX-License-Identifier: MIT
"""Servers that a call kills or blows up, as separate processes: FAIL. A right server with a lazy heap is green."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from nfsjudge.records import RunRecord
from tests.plugin.conftest import ROOT, Outcome, Suite
from tests.plugin.test_plugin_verdicts import check

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are watched by /proc, which is Linux"
)

ANNOUNCES = """
from fixtures.checks.wire import MakeWire, words
""" + check(
    "announces",
    "for length in announced(2**32 - 1): "
    "peer = wire(); peer.try_message(peer.make(1, words(length) + bytes(60)).message())",
    "wire, announced",
)
MIB = 1 << 20
QUICK = ("--call-timeout=2", "--restart-timeout=0.5")


@dataclass
class Hungry:
    """A server of `hungry_server`, by its URL."""

    port: int
    mode: str
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nfs://127.0.0.1/export?nfsport={self.port}&mountport={self.port}"

    @property
    def argv(self) -> list[str]:
        return [sys.executable, "-P", "-m", "tests.plugin.hungry_server", str(self.port), self.mode]

    def start(self) -> None:
        """Start it, and wait until it listens."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(self.argv, env=environment, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def stop(self) -> None:
        """End it, if it runs."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process.wait()


MakeHungry = Callable[[str], Hungry]


@pytest.fixture
def hungry() -> Iterator[MakeHungry]:
    """A factory of servers that run, by their mode; they are ended with the test."""
    made: list[Hungry] = []

    def make(mode: str) -> Hungry:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            made.append(Hungry(free.getsockname()[1], mode))
        made[-1].start()
        return made[-1]

    yield make
    for program in made:
        program.stop()


def judged(suite: Suite, server: Hungry, *options: str) -> Outcome:
    suite.write(ANNOUNCES)
    return suite.run_apart("--target", server.url, *QUICK, *options)


@pytest.mark.parametrize("mode", ["takes", "leaks"])
def test_memory_for_an_announced_length_is_a_failure_at_256_mib(
    suite: Suite, hungry: MakeHungry, mode: str
) -> None:
    server = hungry(mode)
    outcome = judged(suite, server)
    record = outcome.checks["announces"]
    assert (record.verdict, outcome.exit_code) == ("FAIL", 1)
    assert record.requirement is not None
    assert record.requirement.citation == "RFC 4506 section 9"
    assert record.what == "memory of the server after a call announced 256 MiB and sent almost nothing of it"
    assert record.death == ""  # nothing more was announced, so the server lives
    facts = record.server
    assert facts is not None
    assert server.process is not None
    assert (facts.damage, facts.pid, facts.port) == ("grew", server.process.pid, server.port)
    assert facts.announced == 384 * MIB  # once more, to see whether it grows again
    assert facts.memory_most - facts.memory_before >= 128 * MIB


def test_a_right_server_with_a_lazy_heap_stays_green(suite: Suite, hungry: MakeHungry) -> None:
    outcome = judged(suite, hungry("reserves"))
    record = outcome.checks["announces"]
    assert (record.verdict, outcome.exit_code) == ("PASS", 0)
    assert record.server is None or record.server.damage == ""
    assert record.statuses == []


def test_a_sound_server_gets_the_whole_length(suite: Suite, hungry: MakeHungry) -> None:
    outcome = judged(suite, hungry("sound"))
    record = outcome.checks["announces"]
    assert (record.verdict, record.observations, record.server) == ("PASS", {}, None)
    run = next(line for line in outcome.lines if isinstance(line, RunRecord))
    assert run.watched.startswith("process ")


@pytest.mark.parametrize("mode", ["dies", "starves"])
def test_a_server_that_a_call_kills_is_a_failure_though_nobody_restarts_it(
    suite: Suite, hungry: MakeHungry, mode: str
) -> None:
    server = hungry(mode)
    suite.write(
        ANNOUNCES + "".join(check(f"later_{n}", "nfs3.getattr(root)", "nfs3, root") for n in range(9))
    )
    outcome = suite.run_apart("--target", server.url, *QUICK)
    record = outcome.checks["announces"]
    assert server.process is not None
    assert (record.verdict, record.death, outcome.exit_code) == ("FAIL", "untested", 1)
    how = "ended with signal 6 (SIGABRT) while GETATTR (132 bytes), which announces 256 MiB, had no reply"
    assert f"process {server.process.pid} (port {server.port}) {how}" in record.observed
    assert record.server is not None
    assert (record.server.damage, record.server.ended) == ("died", "signal 6 (SIGABRT)")
    assert f"DIED IN    {record.id}" in outcome.text
    assert f"VOID       9 checks not asked: the target is gone since {record.id}" in outcome.text


def test_a_death_that_is_found_while_a_check_is_cleaned_up_is_one_failure_in_the_last_line(
    suite: Suite, hungry: MakeHungry
) -> None:
    suite.write(
        ANNOUNCES.replace("wire, announced", "scratch, wire, announced") + check("later", "pass", "scratch")
    )
    outcome = suite.run_apart("--target", hungry("dies").url, *QUICK)
    assert outcome.verdicts == {"announces": "FAIL", "later": "VOID"}
    assert "= 1 failed, 1 void in " in outcome.text


def test_a_server_that_dies_and_is_restarted_is_a_failure_that_was_confirmed(
    suite: Suite, hungry: MakeHungry
) -> None:
    server = hungry("dies")
    again = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.join(server.argv)} & echo $! >> {suite.pytester.path}/pids"
    try:
        outcome = judged(suite, server, "--restart", again, "--restart-timeout=60")
    finally:
        for pid in map(int, (suite.pytester.path / "pids").read_text().split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    record = outcome.checks["announces"]
    assert (record.verdict, record.death, outcome.exit_code) == ("FAIL", "confirmed", 1)
    assert record.observed.endswith("it died again when the check ran alone")
    assert f"KILLER     {record.id}" in outcome.text


UNWATCHED = """
import fixtures.stage.watching
def nobody(self):
    self._watch = None
fixtures.stage.watching.Watching._find = nobody
"""
STOPS = """
import os, signal
def stop(stage, number):
    os.kill(stage.watching._watch.processes[0].pid, number)
    stage.wait(0.2)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_server_that_its_owner_stops_is_void(
    suite: Suite, hungry: MakeHungry, number: signal.Signals
) -> None:
    body = f"nfs3.getattr(root); stop(stage, {int(number)}); nfs3.getattr(root)"
    suite.write(STOPS + check("it", body, "nfs3, root, stage"))
    outcome = suite.run_apart("--target", hungry("sound").url, *QUICK)
    record = outcome.checks["it"]
    assert (record.verdict, outcome.exit_code) == ("VOID", 10)


def test_a_server_that_crashes_by_itself_is_a_failure(suite: Suite, hungry: MakeHungry) -> None:
    body = f"nfs3.getattr(root); stop(stage, {int(signal.SIGSEGV)}); nfs3.getattr(root)"
    suite.write(STOPS + check("it", body, "nfs3, root, stage"))
    outcome = suite.run_apart("--target", hungry("sound").url, *QUICK)
    record = outcome.checks["it"]
    assert (record.verdict, outcome.exit_code) == ("FAIL", 1)
    assert "ended with signal 11 (SIGSEGV)" in record.observed


def test_a_process_that_stands_still_twice_has_not_died(suite: Suite, hungry: MakeHungry) -> None:
    pause = """
def pause(stage):
    pid = stage.watching._watch.processes[0].pid
    noted = stage.liveness.note_death
    def note():
        noted()
        os.kill(pid, signal.SIGCONT)
    stage.liveness.note_death = note
    os.kill(pid, signal.SIGSTOP)
"""
    body = "nfs3.getattr(root); pause(stage); nfs3.getattr(root)"
    suite.write(STOPS + pause + check("it", body, "nfs3, root, stage"))
    outcome = suite.run_apart("--target", hungry("sound").url, "--call-timeout=0.5", "--restart-timeout=60")
    record = outcome.checks["it"]
    assert (record.verdict, record.death, outcome.exit_code) == ("VOID", "silent", 10)
    assert "did not answer NULL on a new connection; process " in record.reason
    assert f"SILENT IN  {record.id}" in outcome.text


EXITS = """
def exit_with(stage, status):
    stop(stage, signal.SIGKILL)
    found = stage.watching.ending(within=10)
    stage.watching._ended = type(found)(found.pid, found.port, status)
"""


@pytest.mark.parametrize("status", [1, None])
def test_an_end_that_is_no_crash_is_void_where_it_cannot_be_tried_again(
    suite: Suite, hungry: MakeHungry, status: int | None
) -> None:
    # 1: `log.Fatal(Serve())` of Go after SIGTERM. None: a kernel before 6.15.
    suite.write(
        STOPS
        + EXITS
        + check(
            "it", f"nfs3.getattr(root); exit_with(stage, {status}); nfs3.getattr(root)", "nfs3, root, stage"
        )
    )
    outcome = suite.run_apart("--target", hungry("sound").url, *QUICK)
    record = outcome.checks["it"]
    assert (record.verdict, record.death, outcome.exit_code) == ("VOID", "untested", 10)
    assert "of a call or because somebody has stopped it" in record.reason


@pytest.mark.parametrize(
    ("number", "verdict"),
    [(signal.SIGTERM, "VOID"), (signal.SIGKILL, "VOID"), (signal.SIGSEGV, "FAIL")],
)
def test_a_server_that_its_owner_stops_serves_nobody_and_is_void(
    suite: Suite, hungry: MakeHungry, number: signal.Signals, verdict: str
) -> None:
    imports = "from fixtures.checks.bystanders import WhyNotServed\nfrom nfsjudge import expect_that\n"
    body = (
        f"stop(stage, {int(number)}); why = why_not_served(); expect_that(why is None, 'a reply', why or '')"
    )
    suite.write(imports + STOPS + check("it", body, "stage, why_not_served"))
    outcome = suite.run_apart("--target", hungry("sound").url, *QUICK)
    assert outcome.verdicts == {"it": verdict}


def test_where_nobody_is_watched_the_ladder_goes_on_and_the_report_says_why(
    suite: Suite, hungry: MakeHungry
) -> None:
    suite.write(UNWATCHED + ANNOUNCES)
    outcome = suite.run_apart("--target", hungry("sound").url, *QUICK)
    assert outcome.verdicts == {"announces": "PASS"}


def test_a_length_that_kills_a_server_which_nobody_watches_is_not_green(
    suite: Suite, hungry: MakeHungry
) -> None:
    server = hungry("dies")
    again = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.join(server.argv)} & echo $! >> {suite.pytester.path}/pids"
    suite.write(UNWATCHED + ANNOUNCES)
    try:
        outcome = suite.run_apart("--target", server.url, *QUICK, "--restart", again, "--restart-timeout=60")
    finally:
        for pid in map(int, (suite.pytester.path / "pids").read_text().split()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    record = outcome.checks["announces"]
    assert (record.verdict, record.death, record.observations) == ("FAIL", "confirmed", {})
    assert "it refuses connections" in record.observed


def test_a_check_whose_length_was_never_sent_is_skipped(suite: Suite, hungry: MakeHungry) -> None:
    waits = ANNOUNCES.replace(
        "peer = wire();", "stage.wait(stage.connections.stretch(1.5)); peer = wire();"
    ).replace("wire, announced", "wire, announced, stage")
    suite.write(UNWATCHED + waits)
    outcome = suite.run_apart("--target", hungry("sound").url, *QUICK)
    record = outcome.checks["announces"]
    assert (record.verdict, outcome.exit_code) == ("SKIP", 0)
    assert record.reason.startswith("the length of the check was not announced: the server took ")


@pytest.mark.parametrize(
    ("mode", "why"),
    [("grows", "its memory grows without this"), ("once", "its memory grew with 256 MiB, and not again")],
)
def test_growth_for_other_reasons_is_no_failure(
    suite: Suite, hungry: MakeHungry, mode: str, why: str
) -> None:
    outcome = judged(suite, hungry(mode))
    record = outcome.checks["announces"]
    assert (record.verdict, record.reason) == ("SKIP", f"the length of the check was not announced: {why}")
