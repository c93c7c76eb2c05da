# SPDX-License-Identifier: MIT
"""Ctrl-C ends a run in bounded time, whatever the server says, and wherever the run then is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfsjudge.records import EndRecord
from tests.plugin.conftest import ROOT, Outcome, Suite
from tests.waiting import AT_MOST

pytestmark = pytest.mark.usefixtures("suite")

PATIENT = ("--call-timeout", "3000", "-p", "patient")
"""What has no other bound than that of the interrupt takes longer than a test may."""


@dataclass(slots=True)
class Server:
    """A server in another process that is right until it is asked to be hostile."""

    process: subprocess.Popen[str]
    url: str
    flag: Path


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """A function that starts one: its mode, and whether it is hostile from the beginning."""
    servers: list[subprocess.Popen[str]] = []

    def start(mode: str, *, now: bool = False) -> Server:
        flag = tmp_path / "hostile"
        if now:
            flag.touch()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.plugin.hostile_server", mode, str(flag)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        servers.append(process)
        assert process.stdout is not None
        return Server(process, process.stdout.readline().strip(), flag)

    yield start
    for process in servers:
        process.kill()
        process.communicate()


HELPERS = """
    import pathlib
    import signal
    import threading
    import time

    def turn(victim):
        '''The server becomes hostile; a moment later the run gets Ctrl-C.'''
        os.kill({server}, signal.SIGUSR1)
        deadline = time.monotonic() + 600
        while not pathlib.Path({flag!r}).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        threading.Timer(0.5, os.kill, (victim, signal.SIGINT)).start()

    def victim():
        return os.getppid() if {has_workers} else os.getpid()
"""
PHASES = {
    "setup": """
    @pytest.fixture
    def broken({scratch}):
        {scratch}.file("before")
        turn(victim())
        while True:
            {scratch}.file("more")

    @proves(RULE, killed_by=MUTANT)
    def test_a(broken):
        pass
""",
    "call": """
    @proves(RULE, killed_by=MUTANT)
    def test_a({scratch}):
        {scratch}.file("before")
        turn(victim())
        while True:
            try:
                {scratch}.names()
                {scratch}.attributes()
            except Exception:
                pass
""",
    "cleanup": """
    @pytest.fixture
    def turning({scratch}):
        yield
        turn(victim())

    @proves(RULE, killed_by=MUTANT)
    def test_a({scratch}, turning):
        for number in range(3):
            {scratch}.file(f"file {{number}}")
        {scratch}.directory("directory")
""",
}
RINGING = """
import os, signal, threading
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart():
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
"""
LATE = """
import os, signal
from fixtures.plugin import results

write = results.Recorder.write_reports

def interrupted(self, *args, **options):
    os.kill(os.getpid(), signal.SIGINT)
    return write(self, *args, **options)

results.Recorder.write_reports = interrupted
"""


def interrupted(suite: Suite, server: Server, phase: str, protocol: str, *more: str) -> Outcome:
    """A run of one check that turns the server, and is interrupted."""
    helpers = HELPERS.format(server=server.process.pid, flag=str(server.flag), has_workers=bool(more))
    scratch = "scratch"
    suite.write(helpers + PHASES[phase].format(scratch=scratch), f"suites/{protocol}/test_fake.py")
    (suite.pytester.path / "patient.py").write_text(
        "from fixtures.stage import limits\n\nlimits.CLEANING = 3000.0\n"
    )
    arguments = suite.arguments("--target", server.url, *PATIENT, *more)
    return suite.judge(suite.pytester.runpytest_subprocess(*arguments, timeout=AT_MOST))


@pytest.mark.parametrize(
    ("mode", "phase"),
    [
        ("sequence-delay", "cleanup"),
        ("getattr-delay", "call"),
        ("grace", "cleanup"),
        ("jukebox", "cleanup"),
        ("endless", "call"),
        ("silent", "setup"),
        ("dribble", "cleanup"),
    ],
)
def test_a_hostile_server(suite: Suite, serve: Callable[..., Server], mode: str, phase: str) -> None:
    protocol = "nfs3" if mode == "jukebox" else "nfs4"
    outcome = interrupted(suite, serve(mode), phase, protocol)
    assert outcome.exit_code == 2, outcome.text
    assert "interrupted before the first check was finished" in outcome.text
    last = outcome.lines[-1]
    assert isinstance(last, EndRecord)
    assert last.exit_code == 2
    assert "Traceback" not in outcome.text
    if phase == "cleanup":
        assert "left in the export: 1 directory (nfsproof-" in outcome.text


def test_while_the_probes_run(suite: Suite, serve: Callable[..., Server]) -> None:
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_a():
            pass
    """)
    (suite.pytester.path / "ringing.py").write_text(RINGING)
    server = serve("sequence-delay", now=True)
    arguments = suite.arguments("--target", server.url, "-p", "ringing")
    outcome = suite.judge(suite.pytester.runpytest_subprocess(*arguments, timeout=AT_MOST))
    assert outcome.exit_code == 2, outcome.text


def test_a_first_interrupt_does_not_stop_the_reports(suite: Suite) -> None:
    """All checks have run, and their reports are nearly there."""
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_a():
            pass
    """)
    (suite.pytester.path / "late.py").write_text(LATE)
    outcome = suite.judge(
        suite.pytester.runpytest_subprocess(*suite.arguments("-p", "late"), timeout=AT_MOST)
    )
    assert outcome.exit_code == 0, outcome.text
    assert outcome.verdicts == {"a": "PASS"}
    assert (suite.report / "report.html").exists()


def test_workers(suite: Suite, serve: Callable[..., Server]) -> None:
    """They get the signal from the controller if the terminal did not send it, and say what they leave."""
    outcome = interrupted(suite, serve("sequence-delay"), "call", "nfs4", "-p", "xdist.plugin", "-n2")
    assert outcome.exit_code == 2, outcome.text
    assert isinstance(outcome.lines[-1], EndRecord)
    assert "left in the export: 1 directory" in outcome.text
