# SPDX-License-Identifier: MIT
"""Servers that break one thing in every call, also while fixtures set up: a run on them is not green, and says why.

`selftest --mutants` shows that a named check catches its mutant, which is on during the call of that check only. A
real server is broken all the time: probes and fixtures meet the damage first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import typing as t
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfsjudge.records import CheckRecord
from reports import load
from reports.run import Run
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
PROGRAM = (sys.executable, "-P", "-m", "nfsproof")
SERVE = (*PROGRAM, "serve", "--port", "0")
SUPERVISED = (sys.executable, "-P", "-m", "tests.suites.supervised")


@dataclass
class Ended:
    """A run on a broken server that is over."""

    status: int
    text: str
    run: Run

    def of(self, verdict: str) -> set[str]:
        """The ids of the checks with this verdict."""
        return {check.id for check in self.run.checks if check.verdict == verdict}

    def first_of_summary(self) -> str:
        """The first line below the heading of the verdicts."""
        lines = self.text.splitlines()
        return lines[next(at for at, line in enumerate(lines) if " verdicts " in line) + 1]


RunOn: t.TypeAlias = Callable[..., Ended]


@pytest.fixture
def run_on(tmp_path: Path) -> Iterator[RunOn]:
    """Runs checks on a server with the given options of `nfsproof serve`, by its URL."""
    servers: list[subprocess.Popen[str]] = []

    def run(
        options: tuple[str, ...], *checks: str, program: tuple[str, ...] = SERVE, query: str = ""
    ) -> Ended:
        server = subprocess.Popen([*program, *options], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        servers.append(server)
        assert server.stdout is not None
        url = server.stdout.readline().split()[1]
        done = subprocess.run(
            [*PROGRAM, "run", url + query, *checks, f"--report={tmp_path / 'report'}", "--evidence=never"],
            env=ENVIRONMENT,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=AT_MOST,
            check=False,
        )
        return Ended(done.returncode, done.stdout, load(tmp_path / "report"))

    yield run
    for server in servers:
        server.kill()
        server.communicate()


def _with(*mutants: str) -> tuple[str, ...]:
    return tuple(f"--mutant={name}" for name in mutants)


# ---------------------------------------------------------------- denial and lack of room


def test_procedures_that_are_denied_to_everybody_are_red(run_on: RunOn) -> None:
    denied = ("read", "write", "setattr", "rename")
    broken = _with(*(f"{name}3-denies-everybody" for name in denied))
    checks = [f"nfs3/{name.upper()}" for name in denied]
    ended = run_on(broken, *checks, "nfs3/grants")
    assert ended.status == 1
    assert {f"nfs3/grants/{name}" for name in denied} <= ended.of("FAIL")
    assert ended.run.about is not None
    assert ended.run.about.capabilities["writable"] == "WRITE answers NFS3ERR_ACCES"
    assert ended.first_of_summary().startswith("NOT JUDGED nfs3: only ")


OF_VERSION_2 = (
    "read",
    "write",
    "setattr",
    "rename",
    "lookup",
    "readdir",
    "create",
    "remove",
    "rmdir",
)


@pytest.mark.parametrize("procedure", OF_VERSION_2)
def test_a_procedure_of_version_2_that_is_denied_to_everybody_is_red(run_on: RunOn, procedure: str) -> None:
    # Which permissions it checks is the server's choice (RFC 1094 section 3.3), so that breaks a SHOULD.
    broken = _with(f"{procedure}2-denies-everybody")
    ended = run_on(broken, "nfs2/grants", f"nfs2/{procedure.upper()}", "--strict")
    assert ended.status in {1, 10}  # where not even cleaning up works, VOID outranks it
    assert f"nfs2/grants/{procedure}" in ended.of("NONSTRICT") | ended.of("VOID")


def test_a_server_that_denies_every_directory_in_version_2_is_not_green(run_on: RunOn) -> None:
    ended = run_on(_with("mkdir2-denies-everybody"), "nfs2/SETATTR")
    assert ended.status == 10
    assert ended.first_of_summary().startswith("NOT JUDGED nfs2: only 0 of ")


@pytest.mark.parametrize(
    ("procedure", "mutant"),
    [
        ("lookup", "lookup3-denies-everybody"),
        ("create", "create3-denies-everybody"),
        ("commit", "commit3-never-has-room"),
    ],
)
def test_one_procedure_that_never_works_is_red(run_on: RunOn, procedure: str, mutant: str) -> None:
    ended = run_on(_with(mutant), f"nfs3/{procedure.upper()}", "nfs3/grants")
    assert ended.status == 1
    assert f"nfs3/grants/{procedure}" in ended.of("FAIL")


def test_a_server_that_removes_nothing_is_reported_once(run_on: RunOn) -> None:
    broken = _with("remove3-denies-everybody", "rmdir3-denies-everybody")
    ended = run_on(broken, "nfs3/REMOVE", "nfs3/RMDIR", "nfs3/MKDIR", "nfs3/grants")
    assert ended.status == 1
    assert ended.of("FAIL") == {"nfs3/grants/remove", "nfs3/grants/rmdir"}
    assert not ended.of("VOID")
    assert "lacks removable (fails: REMOVE answers NFS3ERR_ACCES)" in ended.text


def test_too_little_to_judge_is_said_first_and_not_green(run_on: RunOn) -> None:
    ended = run_on(("--knob=read_only=yes",), "nfs3/WRITE")
    assert ended.status == 10
    assert not ended.of("FAIL")
    first = ended.first_of_summary()
    assert first.startswith("NOT JUDGED nfs3: only 0 of ")
    assert "(0 %) could be judged: MKDIR answers NFS3ERR_ROFS (" in first


# ---------------------------------------------------------------- what looks like a lack


def test_an_error_is_no_lack(run_on: RunOn) -> None:
    broken = _with("symlink3-fails-after-linking", "link3-fails-after-linking")
    chosen = ("nfs3/SYMLINK", "nfs3/LINK", "nfs3/FSINFO", "nfs3/optional", "nfs3/refusals")
    ended = run_on(broken, *chosen)
    assert ended.status == 1
    assert {"nfs3/FSINFO/symlinks-claimed", "nfs3/FSINFO/hard-links-claimed"} <= ended.of("FAIL")
    for name, capability in (("symlink", "symlink"), ("link", "hardlink")):
        assert f"nfs3/optional/works-or-notsupp[{name}]" in ended.of("FAIL")
        assert f"nfs3/refusals/leave-nothing[{name}]" in ended.of("NONSTRICT")
        needing = [check for check in ended.run.checks if check.reason.startswith(f"{capability} fails: ")]
        assert needing
        assert {check.verdict for check in needing} == {"SKIP"}
        assert not _lacking(ended, capability)


def test_an_error_of_any_optional_procedure_is_red(run_on: RunOn) -> None:
    ended = run_on(_with("nfs3-optional-is-a-fault"), "nfs3/optional", "nfs3/MKNOD", "nfs3/READDIRPLUS")
    assert ended.status == 1
    named = ("symlink", "link", "mknod", "exclusive", "readdirplus")
    assert {f"nfs3/optional/works-or-notsupp[{name}]" for name in named} <= ended.of("FAIL")
    for capability in ("mknod", "readdirplus", "exclusive_create"):
        assert not _lacking(ended, capability)


def test_an_error_of_version_2_is_no_lack(run_on: RunOn) -> None:
    ended = run_on(_with("nfs2-optional-is-an-io-error"), "nfs2/optional", "nfs2/SYMLINK", "nfs2/LINK")
    named = ("symlink", "link")
    assert {f"nfs2/optional/works-or-unavailable[{name}]" for name in named} <= ended.of("NONSTRICT")
    for capability in ("nfs2_symlink", "nfs2_hardlink"):
        assert not _lacking(ended, capability)


def test_a_system_error_is_no_lack(run_on: RunOn) -> None:
    ended = run_on(_with("nfs3-optional-is-a-system-error"), "nfs3/optional", "nfs3/FSINFO", "nfs3/MKNOD")
    assert ended.status == 1
    assert {"nfs3/FSINFO/symlinks-claimed", "nfs3/FSINFO/hard-links-claimed"} <= ended.of("FAIL")
    named = ("symlink", "link", "mknod", "exclusive", "readdirplus")
    assert {f"nfs3/optional/works-or-notsupp[{name}]" for name in named} <= ended.of("NONSTRICT")
    for capability in ("symlink", "hardlink", "mknod", "readdirplus", "exclusive_create"):
        assert not _lacking(ended, capability)


def _lacking(ended: Ended, capability: str) -> list[CheckRecord]:
    """The checks that did not run because the server is said to lack something."""
    return [check for check in ended.run.checks if check.reason.startswith(f"the target lacks {capability}:")]


def test_what_is_not_supported_is_lacking(run_on: RunOn) -> None:
    ended = run_on(("--knob=symlinks=no",), "nfs3/SYMLINK", "nfs3/optional", "nfs3/FSINFO")
    assert ended.status == 0
    assert _lacking(ended, "symlink")
    assert "nfs3/optional/works-or-notsupp[symlink]" in ended.of("UNSUPPORTED")


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize(
    ("mutant", "check"),
    [
        ("rmdir3-destroys-data", "nfs3/RMDIR/file-kept"),
        ("rmdir3-removes-the-parent", "nfs3/RMDIR/other-entries-kept"),
    ],
)
def test_damage_outranks_what_cannot_be_arranged(run_on: RunOn, mutant: str, check: str) -> None:
    ended = run_on(_with(mutant), "nfs3/RMDIR")
    assert ended.status == 1
    assert check in ended.of("FAIL")


# ---------------------------------------------------------------- handles


def test_a_server_that_takes_any_handle_for_its_root_is_red(run_on: RunOn) -> None:
    chosen = ("nfs3/handles", "nfs3/LINK", "nfs3/RENAME")
    ended = run_on(_with("nfs3-invalid-handle-is-the-root"), *chosen)
    assert ended.status == 1
    assert "nfs3/handles/invalid-is-none" in ended.of("NONSTRICT")


# ---------------------------------------------------------------- death


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ("0", ("its write verifier changed from 0x",)),
        ("1", ("connections were refused for ", "its write verifier")),
    ],
)
def test_a_server_that_dies_and_is_started_again_is_reported_as_that(
    run_on: RunOn, seconds: str, shown: tuple[str, ...]
) -> None:
    died = "nfs3/ACCESS/empty-mask"
    ended = run_on(
        ("ACCESS", seconds),
        "nfs3/WRITE/append-grows-size",
        died,
        "nfs3/WRITE/counted-bytes",
        program=SUPERVISED,
    )
    assert ended.status == 1
    assert not ended.of("VOID")
    assert ended.of("FAIL") == {died}
    (check,) = (check for check in ended.run.checks if check.id == died)
    assert check.observed.startswith(tuple(f"the server died ({text}" for text in shown))
    assert check.observed.endswith("while ACCESS was outstanding")


def test_a_server_that_refuses_connections_for_a_while_and_is_the_same_did_not_die(run_on: RunOn) -> None:
    lost = "nfs3/ACCESS/empty-mask"
    checks = ("nfs3/WRITE/append-grows-size", lost, "nfs3/WRITE/counted-bytes")
    ended = run_on(("ACCESS", "1", "same"), *checks, program=SUPERVISED)
    assert not ended.of("VOID")
    assert ended.of("FAIL") == {lost}
    (check,) = (check for check in ended.run.checks if check.id == lost)
    assert check.observed.startswith("a closed connection")
    assert not check.death


def test_a_server_that_dies_while_capabilities_are_probed_is_red(run_on: RunOn) -> None:
    ended = run_on(("LINK", "1"), "nfs3/WRITE/counted-bytes", "nfs3/optional", program=SUPERVISED)
    assert ended.status == 1
    assert "nfs3/optional/works-or-notsupp[link]" in ended.of("FAIL")
    assert "nfs3/WRITE/counted-bytes" in ended.of("PASS")


# ---------------------------------------------------------------- not broken: one connection at a time


def test_a_server_that_serves_one_connection_at_a_time_is_not_red(run_on: RunOn) -> None:
    program = (sys.executable, "-P", "-m", "tests.suites.one_at_a_time")
    waiting = ("nfs3/READ/above-rtmax", "rpc/connections/client-never-reads")
    others = ("nfs3/READ/one-byte", "nfs3/NULL/no-results")
    ended = run_on((), *waiting, *others, "--call-timeout=1", program=program)
    assert ended.status == 0
    assert not ended.of("FAIL") | ended.of("VOID") | ended.of("NONSTRICT")
    assert ended.of("PASS")
    reasons = {check.id: check.reason for check in ended.run.checks if check.verdict == "SKIP"}
    assert set(waiting) <= set(reasons)
    assert all(reasons[name].startswith("the server serves one connection at a time") for name in waiting)


def test_a_server_that_hangs_until_a_connection_ends_is_red(run_on: RunOn) -> None:
    program = (sys.executable, "-P", "-m", "tests.suites.hangs_on_fragments")
    ended = run_on((), "rpc/fragments/many[16]", "nfs3/NULL", "--call-timeout=1", program=program)
    assert ended.status == 1
    assert "rpc/fragments/many[16]" in ended.of("FAIL")
    assert ended.of("PASS")
