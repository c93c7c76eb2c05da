# SPDX-License-Identifier: MIT
"""What a run has found out about a URL is remembered, and no verdict rests on it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.stage.memory import LONGEST, Memory, forget, memory_file, recall, remember
from nfsclient.url import NfsUrl
from nfsjudge.records import RunRecord, StatisticsRecord
from nfstargets.finding import Found
from tests.plugin.conftest import ROOT, Outcome, Suite

URL = "nfs://host:24500/export"
FOUND = Found(NfsUrl.parse("nfs://host/export?nfsport=24500&mountport=24500"), 111, "no NFSv3")
MEMORY = Memory(1000.0, FOUND, {"nfs3": "yes", "udp": "no answer"})
KNOWN = ["nfs3", "udp"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


# ---------------------------------------------------------------- the file


def test_what_was_found_comes_back(cache: Path) -> None:
    remember(URL, "1", MEMORY)
    assert recall(URL, "1", KNOWN, 1001.0) == MEMORY
    assert memory_file(URL).is_relative_to(cache / "nfsproof" / "targets")


@pytest.mark.parametrize(
    ("url", "version", "known", "now"),
    [
        ("nfs://host/other", "1", KNOWN, 1001.0),
        (URL, "2", KNOWN, 1001.0),
        (URL, "1", [*KNOWN, "new"], 1001.0),
        (URL, "1", KNOWN, 1001.0 + LONGEST),
        (URL, "1", KNOWN, 999.0),  # a clock that was wrong
    ],
)
def test_what_may_be_wrong_is_ignored(url: str, version: str, known: list[str], now: float) -> None:
    remember(URL, "1", MEMORY)
    assert recall(url, version, known, now) is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '"nfs3"', "\xff", '{"target": 1}'],
)
def test_a_damaged_file_is_ignored(text: str) -> None:
    remember(URL, "1", MEMORY)
    memory_file(URL).write_text(text, encoding="latin-1")
    assert recall(URL, "1", KNOWN, 1001.0) is None


def test_damaged_fields_are_ignored() -> None:
    remember(URL, "1", MEMORY)
    whole = json.loads(memory_file(URL).read_text())
    for name in whole:
        values: list[object] = [None, {}, "x://y", -1e9]
        for value in values:
            memory_file(URL).write_text(json.dumps(whole | {name: value}))
            found = recall(URL, "1", KNOWN, 1001.0)
            assert found is None or name in {"rpcbind_port", "remark"}


def test_a_cache_that_cannot_be_written_is_no_trouble(cache: Path) -> None:
    cache.write_text("a file")
    remember(URL, "1", MEMORY)
    forget(URL)
    assert recall(URL, "1", KNOWN, 1001.0) is None


# ---------------------------------------------------------------- in runs

Serve = Callable[..., int]
"""Starts a server on a port (0: any) with knobs; the port.

Or one that takes `slow` seconds for each call, or one of which `versions` are the only version of NFS that it has, and
the lowest and highest that it says to have.
"""


@pytest.fixture
def serve() -> Iterator[Serve]:
    """The reference server in its own process: the next call ends the one before."""
    running: list[subprocess.Popen[str]] = []

    def end() -> None:
        for process in running:
            process.kill()
            process.communicate()
        running.clear()

    def start(port: int = 0, *knobs: str, slow: float = 0.0, versions: tuple[str, ...] = ()) -> int:
        end()
        settings = [f"--knob={knob}" for knob in knobs]
        program = ["nfsproof", "serve", "--port", str(port), *settings]
        if slow:
            program = ["tests.plugin.slow_server", str(slow), str(port)]
        if versions:
            program = ["tests.plugin.versions_server", *versions, str(port)]
        running.append(
            subprocess.Popen(
                [sys.executable, "-P", "-m", *program],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        assert running[0].stdout is not None
        line = running[0].stdout.readline()
        return int((line.partition("nfsport=")[2] or line).partition("&")[0])

    yield start
    end()


CHECKS = """
    @proves(RULE, killed_by=MUTANT)
    def test_plain(nfs3, scratch):
        scratch.file("f")

    @proves(RULE, killed_by=MUTANT, needs=("symlink",))
    def test_needs(nfs3, scratch):
        assert scratch.symlink("s", b"x")

    @proves(RULE, killed_by=MUTANT)
    def test_looks(target):
        if not target.has("symlink"):
            unsupported("no symbolic links")
"""
SOME = ("-k", "plain or needs or looks")
"""A run of some checks, although these are all."""


def calls(outcome: Outcome) -> int:
    (statistics,) = (line for line in outcome.lines if isinstance(line, StatisticsRecord))
    return sum(procedure.calls for procedure in statistics.procedures if not procedure.within)


def about(outcome: Outcome) -> RunRecord:
    (record,) = (line for line in outcome.lines if isinstance(line, RunRecord))
    return record


def test_a_second_run_asks_less_and_says_so(suite: Suite, serve: Serve) -> None:
    suite.write(CHECKS)
    url = f"nfs://127.0.0.1:{serve()}/export"
    first = suite.run("--target", url, "-k", "plain")
    assert first.verdicts == {"plain": "PASS"}
    assert calls(first) > 100
    assert "remembered from" not in first.text
    capabilities = about(first).capabilities
    second = suite.run("--target", url, "-k", "plain")
    assert second.verdicts == {"plain": "PASS"}
    assert calls(second) < 40
    assert "remembered from" in second.text
    assert "remembered from" in about(second).environment["capabilities"]
    assert about(second).capabilities == capabilities


@pytest.mark.parametrize("option", [("--probe-again", *SOME), ()], ids=["asked for", "whole run"])
def test_all_is_probed_again(suite: Suite, serve: Serve, option: tuple[str, ...]) -> None:
    suite.write(CHECKS)
    url = f"nfs://127.0.0.1:{serve()}/export"
    suite.run("--target", url)
    again = suite.run("--target", url, *option)
    assert set(again.verdicts.values()) == {"PASS"}
    assert calls(again) > 100
    assert "remembered" not in again.text


@pytest.mark.parametrize(
    ("check", "before", "after", "verdict"),
    [
        # Consulted while the check runs: it runs again.
        ("looks", (), ("symlinks=no",), "UNSUPPORTED"),
        # Known before it runs.
        ("needs", ("symlinks=no",), (), "PASS"),
    ],
)
def test_a_server_that_has_changed_is_judged_by_what_it_is_now(
    suite: Suite, serve: Serve, check: str, before: tuple[str, ...], after: tuple[str, ...], verdict: str
) -> None:
    suite.write(CHECKS)
    port = serve(0, *before)
    url = f"nfs://127.0.0.1:{port}/export"
    suite.run("--target", url)
    assert serve(port, *after) == port
    outcome = suite.run("--target", url, "-k", check)
    assert outcome.verdicts == {check: verdict}
    assert "not as it was remembered" in outcome.text
    assert (about(outcome).capabilities["symlink"] == "yes") is (verdict == "PASS")
    assert "capabilities" not in about(outcome).environment
    # The next run remembers the new server.
    assert "not as it was" not in suite.run("--target", url, "-k", check).text


def test_a_port_that_answers_no_more_is_forgotten(suite: Suite, serve: Serve) -> None:
    suite.write(CHECKS)
    registry = serve()
    url = f"nfs://127.0.0.1/export?rpcbindport={registry}"
    suite.run("--target", url)
    path = memory_file(url)
    plain = json.loads(path.read_text())
    path.write_text(json.dumps(plain | {"found": plain["found"].replace(str(registry), "9")}))
    outcome = suite.run("--target", url, "-k", "plain")
    assert outcome.verdicts == {"plain": "PASS"}
    assert "remembered" not in outcome.text


# Ports and the version decide which checks are UNSUPPORTED, and no probe can notice that they are wrong.


def test_nfsv3_that_was_repaired_is_tested(suite: Suite, serve: Serve) -> None:
    suite.write(CHECKS)
    port = serve(0, versions=("4", "4", "4"))
    url = f"nfs://127.0.0.1:{port}/export"
    before = suite.run("--target", url, "-k", "plain")
    assert before.verdicts == {"plain": "UNSUPPORTED"}
    assert "version=4" in json.loads(memory_file(url).read_text())["found"]
    assert serve(port) == port
    after = suite.run("--target", url, "-k", "plain")
    assert after.verdicts == {"plain": "PASS"}
    assert "remembered" not in after.text
    assert "version=4" not in json.loads(memory_file(url).read_text())["found"]


def test_nfsv3_that_is_broken_now_is_not_tested_as_it_was(suite: Suite, serve: Serve) -> None:
    """Neither is it green with NFSv4: the server says that it has NFSv3."""
    suite.write(CHECKS)
    port = serve()
    url = f"nfs://127.0.0.1:{port}/export"
    assert suite.run("--target", url).verdicts["plain"] == "PASS"
    assert serve(port, versions=("4", "2", "4")) == port
    result = suite.pytester.runpytest_inprocess(*suite.arguments("--target", url, "-k", "plain"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*NFS version 3 is refused, but its answer * gives 2 to 4*", "*NFSv4 alone: version=4.1 in the URL"]
    )


def test_rpcbind_is_looked_for_again(suite: Suite, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it lists this server decides whether the checks of it run."""
    suite.write(
        """
        @proves(RULE, killed_by=MUTANT, needs=("portmap",))
        def test_asks(target):
            pass
        """
    )
    port = serve()
    url = f"nfs://127.0.0.1:{port}/export"
    for registry, verdict in ((1, "UNSUPPORTED"), (port, "PASS"), (1, "UNSUPPORTED")):
        monkeypatch.setattr("nfsclient.protocol.portmap.PORT", registry)
        for _ in range(2):
            assert suite.run("--target", url, "-k", "asks").verdicts == {"asks": verdict}


SLOW = 0.3
"""Seconds for a call: many times as long as usual."""


def test_a_slow_server_has_the_verdicts_of_a_fast_one(suite: Suite, serve: Serve) -> None:
    """What is remembered of the fast one keeps the test short."""
    suite.write(CHECKS)
    port = serve()
    url = f"nfs://127.0.0.1:{port}/export"
    fast = suite.run("--target", url).verdicts
    assert "slow: " not in suite.run("--target", url, "-k", "plain or looks").text
    assert serve(port, slow=SLOW) == port
    slow = suite.run("--target", url, "-k", "plain or looks")
    assert slow.verdicts == {name: fast[name] for name in ("plain", "looks")}
    assert re.search(r"slow: .*, so time limits are \d+(\.\d+)? times the usual ones", slow.text)


# ---------------------------------------------------------------- a slow server that nobody has seen before


@pytest.fixture
def lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every server is slow enough, so that the tests are not."""
    monkeypatch.setattr("fixtures.plugin.opening.SLOW", -1.0)


@pytest.mark.usefixtures("lazy")
@pytest.mark.parametrize("knobs", [(), ("symlinks=no",)], ids=["has it", "lacks it"])
def test_only_what_the_checks_need_is_probed_of_a_slow_server(
    suite: Suite, serve: Serve, knobs: tuple[str, ...]
) -> None:
    """One says before that it needs it, one consults it; the verdicts are those of a run that probes everything."""
    suite.write(CHECKS)
    url = f"nfs://127.0.0.1:{serve(0, *knobs)}/export"
    everything = suite.run("--target", url, *SOME, "--probe-again")
    assert calls(everything) > 100
    forget(url)
    for check in ("plain", "needs", "looks"):
        outcome = suite.run("--target", url, "-k", check)
        assert outcome.verdicts == {check: everything.verdicts[check]}
        assert calls(outcome) < 60
        probed = about(outcome).capabilities
        assert ("symlink" in probed) == (check != "plain")
        assert probed.items() <= about(everything).capabilities.items()
        assert "only what the checks need is probed" in about(outcome).environment["capabilities"]
        assert "only what the checks need is probed" in outcome.text
        assert "lacks" not in outcome.text.replace("lacks symlink", "").replace("target lacks", "")


@pytest.mark.usefixtures("lazy")
def test_a_check_that_consults_several_things_runs_until_all_are_probed(suite: Suite, serve: Serve) -> None:
    suite.write("""
    @proves(RULE, killed_by=MUTANT)
    def test_several(target):
        if target.has("symlink"):
            unsupported("symbolic links are not lacking")
        if target.has("nfs2"):
            unsupported("NFSv2 is not lacking")
    """)
    url = f"nfs://127.0.0.1:{serve(0, 'symlinks=no')}/export"
    outcome = suite.run("--target", url, "-k", "several")
    assert outcome.verdicts == {"several": "UNSUPPORTED"}
    assert "NFSv2 is not lacking" in outcome.text
    assert {"symlink", "nfs2"} <= set(about(outcome).capabilities)


def test_a_server_that_nobody_has_seen_before_and_that_is_slow(suite: Suite, serve: Serve) -> None:
    suite.write(CHECKS)
    outcome = suite.run("--target", f"nfs://127.0.0.1:{serve(slow=2 * SLOW)}/export", "-k", "plain")
    assert outcome.verdicts == {"plain": "PASS"}
    assert "only what the checks need is probed" in outcome.text
    assert calls(outcome) < 40
