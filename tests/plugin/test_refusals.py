# SPDX-License-Identifier: MIT
"""Whole runs on servers that refuse what checks need: once, again and again, or while they do it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import typing as t
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from fixtures.checks.contradictions import PLAIN_NAME, contradicted
from fixtures.stage.refusals import Refusals
from nfsclient.protocol import mount, nfs2, nfs3
from nfsjudge.records import CheckRecord, RunRecord
from reports import load
from reports.run import Run
from tests.plugin.conftest import ROOT
from tests.waiting import AT_MOST

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
PROGRAM = (sys.executable, "-P", "-m")
IO, ACCES, SERVERFAULT, NOSPC, FBIG, BAD_STATEID = "5", "13", "10006", "28", "27", "10025"


class Ended:
    """A run that is over."""

    def __init__(self, status: int, run: Run) -> None:
        self.status = status
        self.verdicts = Counter(check.verdict for check in run.checks)
        self.checks = run.checks
        assert run.about is not None
        self.about: RunRecord = run.about

    def failed(self) -> list[CheckRecord]:
        return [check for check in self.checks if check.verdict == "FAIL"]


_TRIED_FIRST = 26
"""Calls of MKDIR: hardly more than the probes make, two for each capability that needs a directory."""
RunOn = Callable[..., Ended]


@pytest.fixture
def run_on(tmp_path: Path) -> Iterator[RunOn]:
    """Runs checks on `tests.plugin.refusing_server`, or on `serve` with options, by a URL."""
    servers: list[subprocess.Popen[str]] = []

    def run(server: tuple[str, ...], *checks: str) -> Ended:
        program = (*PROGRAM, *server)
        servers.append(subprocess.Popen(program, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True))
        stdout = servers[-1].stdout
        assert stdout is not None
        url = stdout.readline().split()[1]
        report = tmp_path / "report"
        command = (
            *PROGRAM,
            "nfsproof",
            "run",
            url,
            *checks,
            f"--report={report}",
            "--evidence=never",
            "--probe-again",
        )
        done = subprocess.run(
            command,
            env=ENVIRONMENT,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=AT_MOST,
            check=False,
        )
        return Ended(done.returncode, load(report))

    yield run
    for server in servers:
        server.kill()
        server.communicate()


def refusing(operations: str, status: str, which: str, effect: str) -> tuple[str, ...]:
    return ("tests.plugin.refusing_server", operations, status, which, effect)


CHECKS = ("nfs3/SYMLINK", "nfs3/READLINK", "nfs3/LINK", "nfs3/NULL")
"""They need directories; most need a capability that a probe shows in a directory."""


def test_one_mkdir_that_fails_changes_no_verdict(run_on: RunOn) -> None:
    """The first MKDIR of a run is that of the probes."""
    healthy = run_on(("nfsproof", "serve", "--port", "0"), *CHECKS)
    once = run_on(refusing("2.MKDIR,3.MKDIR,4.CREATE", IO, "1", "not"), *CHECKS)
    assert once.status == healthy.status == 0
    assert once.verdicts == healthy.verdicts
    assert healthy.verdicts["PASS"] > 30
    kept = {
        name for name in healthy.about.capabilities if not name.startswith(("portmap", "rpcbind", "callit"))
    }
    assert {once.about.capabilities[name] for name in kept} == {"yes"}


def test_what_is_not_known_is_probed_again_when_a_check_needs_it(run_on: RunOn) -> None:
    """While the run probes, no directory can be made; then one can."""
    ended = run_on(refusing("3.MKDIR", ACCES, str(_TRIED_FIRST), "not"), *CHECKS)
    assert ended.status == 0
    assert ended.about.capabilities["symlink"] == "yes"
    assert ended.about.capabilities["mknod"].startswith("not known: ")  # no check has needed it
    assert ended.verdicts["PASS"] > 30
    assert not ended.verdicts["SKIP"]


def test_a_server_whose_every_second_mkdir_fails_is_red(run_on: RunOn) -> None:
    ended = run_on(
        refusing("3.MKDIR", SERVERFAULT, "second", "not"), "nfs3/READ", "nfs3/LINK", "nfs3/SYMLINK"
    )
    assert ended.status == 1
    assert ended.verdicts["SKIP"] > ended.verdicts["FAIL"] == 1
    (check,) = ended.failed()
    assert check.what == "status of MKDIR, in more than one check"
    assert check.requirement is not None
    assert check.requirement.section == "3.3.9"


@pytest.mark.parametrize("status", [ACCES, NOSPC])
def test_what_cannot_be_set_up_is_not_known_and_counts_in_the_floor(run_on: RunOn, status: str) -> None:
    ended = run_on(refusing("3.MKDIR", status, "all", "not"), *CHECKS)
    assert ended.status == 10
    assert not ended.failed()
    needing = [
        check
        for check in ended.checks
        if check.reason.startswith("whether the target has symlink is not known: ")
    ]
    assert needing
    assert {check.verdict for check in needing} == {"SKIP"}
    assert ended.about.capabilities["symlink"].startswith(
        "not known: a scratch directory cannot be made: MKDIR"
    )


def test_what_a_server_lacks_is_still_unsupported(run_on: RunOn) -> None:
    ended = run_on(("nfsproof", "serve", "--port", "0", "--knob=symlinks=no"), *CHECKS)
    assert ended.status == 0
    assert ended.verdicts["UNSUPPORTED"] > 10


@pytest.mark.parametrize(
    ("sections", "checks"),
    [
        (
            {"2.MKDIR": "2.2.15", "3.MKDIR": "3.3.9", "4.CREATE": "15"},
            ("nfs2/GETATTR", "nfs3/GETATTR", "nfs4/LOOKUP"),
        ),
        (
            {"2.CREATE": "2.2.10", "3.CREATE": "3.3.8"},
            ("nfs2/GETATTR", "nfs3/READ/one-byte", "nfs3/READ/eof-at-end"),
        ),
        (
            {
                "2.WRITE": "2.3.1",
                "2.RENAME": "2.3.1",
                "3.WRITE": "3.3.7",
                "3.RENAME": "3.3.14",
                "4.WRITE": "15",
            },
            ("nfs2/READ", "nfs2/RENAME", "nfs3/READ/one-byte", "nfs3/RENAME", "nfs4/READ"),
        ),
        (
            {
                "2.REMOVE": "2.3.1",
                "2.SETATTR": "2.3.1",
                "3.REMOVE": "3.3.12",
                "3.RMDIR": "3.3.13",
                "3.SETATTR": "3.3.2",
                "4.REMOVE": "15",
                "4.RENAME": "15",
            },
            (
                "nfs2/REMOVE",
                "nfs2/SETATTR/sets-mode",
                "nfs3/REMOVE",
                "nfs3/RMDIR",
                "nfs3/SETATTR/file-mode",
                "nfs4/REMOVE",
                "nfs4/RENAME",
            ),
        ),
    ],
)
def test_a_denial_of_what_was_done_is_red_once(
    run_on: RunOn, sections: dict[str, str], checks: tuple[str, ...]
) -> None:
    """ACCES excuses a check: without a look, nearly all of them would be SKIP."""
    operations = ",".join(sections)
    ended = run_on(refusing(operations, ACCES, "all", "done"), *checks)
    assert ended.status == 1
    found = []
    for check in ended.failed():
        name = re.search(r" that (\w+) refuses", check.what)
        if name is not None and check.requirement is not None:
            found.append((f"{check.id[3]}.{name[1]}", check.requirement.section, check.requirement.level))
    assert sorted(found) == sorted((name, section, "STATED") for name, section in sections.items())
    denied = run_on(refusing(operations, ACCES, "all", "not"), *checks)
    assert not [check for check in denied.failed() if " refuses" in check.what]


def test_an_open_that_fails_may_have_created_the_file(run_on: RunOn) -> None:
    """It creates, and then opens: a right server may be unable to do the second only."""
    ended = run_on(refusing("4.OPEN", ACCES, "all", "done"), "nfs4/OPEN/creates", "nfs4/OPEN/upgrade")
    assert ended.failed() == []
    assert ended.verdicts["NONSTRICT"] == 1


def test_an_object_without_what_was_requested_is_not_all_of_the_request(run_on: RunOn) -> None:
    """A server may make the directory and fail at its mode: an error is right then (RFC 1813 section 3.3.9)."""
    ended = run_on(refusing("3.MKDIR", ACCES, "all", "modeless"), "nfs3/GETATTR")
    assert not [check for check in ended.failed() if " refuses" in check.what]


def test_an_error_of_the_disk_counts_when_it_is_met_again(run_on: RunOn) -> None:
    ended = run_on(refusing("3.RENAME", IO, "all", "done"), "nfs3/RENAME")
    refused = [check for check in ended.failed() if " refuses" in check.what]
    assert len(refused) == 1
    ended = run_on(refusing("3.RENAME", IO, "1", "done"), "nfs3/RENAME")
    assert not [check for check in ended.failed() if " refuses" in check.what]


def test_an_error_that_contradicts_an_announced_limit_is_red_once(run_on: RunOn) -> None:
    """maxfilesize is 2^63 - 1, and WRITE answers FBIG: without a look, all of the checks would be SKIP."""
    ended = run_on(refusing("3.WRITE,4.WRITE", FBIG, "all", "not"), "nfs3/WRITE/wtmax", "nfs4/WRITE")
    assert ended.status == 1
    sections = {check.requirement.section for check in ended.failed() if check.requirement is not None}
    assert sections == {"3.3.19", "5.8.2.17"}
    assert len(ended.failed()) == 2
    small = run_on(
        ("nfsproof", "serve", "--port", "0", "--knob=max_file_size=3"), "nfs3/READ/one-byte", "nfs4/READ"
    )
    assert small.status == 0
    assert small.verdicts["SKIP"] > 2


def test_an_error_that_contradicts_earlier_answers_is_red_once(run_on: RunOn) -> None:
    """CLOSE does not know the stateid that OPEN has given in the same check."""
    ended = run_on(refusing("4.CLOSE", BAD_STATEID, "all", "not"), "nfs4/READ", "nfs4/READLINK")
    assert ended.status == 1
    (check,) = ended.failed()
    assert check.what == "status of CLOSE"
    assert check.requirement is not None
    assert (check.requirement.section, check.requirement.level) == ("8.2.4", "MUST")
    assert ended.verdicts["SKIP"] > 2


def test_each_error_of_an_operation_is_counted_by_itself() -> None:
    refusals = Refusals()
    assert not refusals.counts("WRITE", "a", "STALE", at_once=False)
    assert not refusals.counts("WRITE", "b", "IO", at_once=False)
    assert refusals.counts("WRITE", "c", "BADHANDLE", at_once=True)
    assert refusals.counts("WRITE", "c", "IO", at_once=False)
    assert not refusals.counts("WRITE", "d", "IO", at_once=False)


def _step(operation: t.Any, status: int = 0, **values: object) -> t.Any:
    """A step of NFSv2 or NFSv3 that found, or was about, a handle."""
    return SimpleNamespace(
        operation=operation,
        status=status,
        args=SimpleNamespace(object=values.get("about")),
        result=SimpleNamespace(resok=SimpleNamespace(object=values.get("found"))),
    )


@pytest.mark.parametrize(
    ("giver", "is_own_user", "contradicts"),
    [
        (nfs3.LOOKUP, True, True),
        (mount.MNT3, True, True),
        (nfs3.LOOKUP, False, False),
        (nfs2.LOOKUP, True, False),
        (mount.MNT1, True, False),
    ],
)
def test_a_handle_is_proved_for_its_version_and_the_user_of_the_run(
    giver: t.Any, is_own_user: bool, contradicts: bool
) -> None:
    before, badhandle, stale = [_step(giver, found=b"handle")], 10001, 70
    for status in (badhandle, stale):
        refused = _step(nfs3.GETATTR, status, about=b"handle")
        found = contradicted(before, refused, is_own_user=is_own_user)
        assert (found is not None) == contradicts
        if found is not None:
            assert found.counts_at_once == (status == badhandle)
            assert found.requirement.is_binding == (status == badhandle)


@pytest.mark.parametrize("name", [b".", b"..", b".hidden", b"", b"a" * 65, b"a/b"])
def test_names_that_a_server_may_treat_differently_are_not_plain(name: bytes) -> None:
    assert PLAIN_NAME.fullmatch(name) is None
    assert PLAIN_NAME.fullmatch(b"a.B-1_") is not None


@pytest.mark.parametrize("status", [ACCES, SERVERFAULT])
def test_a_listing_that_is_denied_ends_the_check_as_skip(run_on: RunOn, status: str) -> None:
    """The directory of the probes is removed without one. Only what says nothing of the claim is SKIP."""
    ended = run_on(refusing("4.READDIR", status, "1", "not"), "nfs4/with_nfs3/readdir4")
    assert ended.verdicts["SKIP" if status == ACCES else "VOID"] == 1


def test_a_refused_call_is_looked_at_in_a_check_of_several_versions(tmp_path: Path) -> None:
    """NFSv2 asks for what an NFSv4 client has a delegation of: the attributes before are those that NFSv2 has seen."""
    words = ("nfsproof", "run", "embedded", "--knob=read_only_names=*", "nfs2/delegations/recall[setattr]")
    command = [*PROGRAM, *words, "--report", str(tmp_path)]
    done = subprocess.run(
        command, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=AT_MOST
    )
    assert "INTERNALERROR" not in done.stdout
    assert Counter(check.verdict for check in load(tmp_path).checks) == {"SKIP": 1}
