# SPDX-License-Identifier: MIT
"""The lint in a run: findings in records, summary, reports, JUnit and exit code."""

from __future__ import annotations

import json

import pytest

from nfsjudge.records import CheckRecord, EndRecord, FindingRecord, StatisticsRecord
from tests.plugin.conftest import Outcome, Suite

BENT = """
    @pytest.fixture
    def bent(stage):
        def bend(name):
            stage.target.set_mutants({name})
        yield bend
        stage.target.set_mutants(set())
"""
UNSEEN = (
    BENT
    + """
    @proves(RULE, killed_by=MUTANT)
    def test_unseen(nfs3, scratch, bent):
        file = scratch.file("f")
        bent("write3-reports-more-than-sent")
        for _ in range(3):
            nfs3.write(file, 0, b"data")
"""
)


def findings(outcome: Outcome) -> list[FindingRecord]:
    return [record for record in outcome.lines if isinstance(record, FindingRecord)]


def test_a_finding_is_red_like_a_failed_check(suite: Suite) -> None:
    suite.write(UNSEEN)
    outcome = suite.run()
    assert outcome.exit_code == 1
    assert outcome.verdicts == {"unseen": "PASS"}
    (finding,) = findings(outcome)
    assert finding.id == "lint/nfs3/write-count"
    assert (finding.check, finding.verdict, finding.count) == ("nfs3/fake/unseen", "FAIL", 3)
    assert finding.requirement is not None
    assert finding.requirement.section == "3.3.7"
    assert (suite.report / finding.capture).stat().st_size > 1000
    (marked,) = [line for line in finding.transcript if "<-- " in line]
    assert "count" in marked
    assert "FAIL  lint/nfs3/write-count\n  check:      nfs3/fake/unseen\n" in outcome.text
    (line,) = [line for line in outcome.text.splitlines() if line.startswith("FAIL       ")]
    assert line.endswith("(RFC 1813 3.3.7): lint write-count in 1 check")
    end = outcome.lines[-1]
    assert isinstance(end, EndRecord)
    assert end.findings == {"lint/nfs3/write-count": 1}


def test_findings_are_in_every_report(suite: Suite) -> None:
    suite.write(UNSEEN)
    outcome = suite.run()
    for name in ("report.txt", "report.html"):
        text = (suite.report / name).read_text()
        assert "lint/nfs3/write-count" in text
        assert "count is 5, 4 were sent" in text
    properties = {element.attrib["name"] for element in outcome.junit()["unseen"].iter("property")}
    assert "finding.lint/nfs3/write-count" in properties
    assert outcome.junit()["nfs3/write-count"].find("failure") is not None


@pytest.mark.parametrize(("mode", "found", "exit_code"), [("off", 0, 0), ("report", 1, 0), ("fail", 1, 1)])
def test_modes(suite: Suite, mode: str, found: int, exit_code: int) -> None:
    suite.write(UNSEEN)
    outcome = suite.run(f"--lint={mode}")
    assert (len(findings(outcome)), outcome.exit_code) == (found, exit_code)


def test_what_breaks_a_should_is_red_on_request(suite: Suite) -> None:
    suite.write(
        BENT
        + """
    @proves(RULE, killed_by=MUTANT)
    def test_unseen(nfs3, scratch, bent):
        file = scratch.file("f")
        bent("write3-accepts-nothing")
        nfs3.write(file, 0, b"x")
"""
    )
    assert suite.run().exit_code == 0
    outcome = suite.run("--strict-should")
    assert outcome.exit_code == 1
    assert [finding.verdict for finding in findings(outcome)] == ["NONSTRICT"]


def test_what_the_check_itself_failed_for_is_not_found_again(suite: Suite) -> None:
    suite.write(
        BENT
        + """
    @proves(RULE, killed_by=MUTANT)
    def test_seen(nfs3, scratch, bent):
        file = scratch.file("f")
        bent("write3-reports-more-than-sent")
        reply = nfs3.write(file, 0, b"data")
        expect(reply).field("resok.count").at_most(4)
"""
    )
    outcome = suite.run()
    assert outcome.verdicts == {"seen": "FAIL"}
    assert findings(outcome) == []


def test_what_the_check_saw_in_a_part_is_not_found_again(suite: Suite) -> None:
    """The check judges a field of a part of the reply, and the lint would find the same."""
    suite.write(
        BENT
        + """
    @proves(RULE, killed_by=MUTANT)
    def test_seen(nfs3, scratch, bent):
        file = scratch.file("f")
        bent("write3-reports-more-than-sent")
        resok = nfs3.write(file, 0, b"data").resok
        expect(resok).field("count").at_most(4)
"""
    )
    outcome = suite.run()
    assert outcome.verdicts == {"seen": "FAIL"}
    assert findings(outcome) == []


def test_what_is_worse_than_the_verdict_of_the_check_is_found(suite: Suite) -> None:
    suite.write(
        BENT
        + """
    @proves(ADVICE, killed_by=MUTANT)
    def test_seen(nfs3, scratch, bent):
        file = scratch.file("f")
        bent("write3-reports-more-than-sent")
        reply = nfs3.write(file, 0, b"data")
        expect(reply).field("resok.count").at_most(4)
"""
    )
    outcome = suite.run()
    assert outcome.verdicts == {"seen": "NONSTRICT"}
    assert [finding.id for finding in findings(outcome)] == ["lint/nfs3/write-count"]


def test_a_reply_that_a_check_failed_for_contradicts_no_later_one(suite: Suite) -> None:
    """The size that GETATTR returned was wrong: the right one in a later reply is no second fault."""
    suite.write(
        BENT
        + """
    @proves(RULE, killed_by=MUTANT)
    def test_seen(nfs3, scratch, bent, request):
        file = scratch.file("f", b"xy")
        bent("getattr3-rounds-small-sizes-up")
        reply = nfs3.getattr(file)
        request.addfinalizer(lambda: nfs3.access(file, 1))
        expect(reply).field("resok.obj_attributes.size").equals(2)
"""
    )
    outcome = suite.run()
    assert outcome.verdicts == {"seen": "FAIL"}
    assert findings(outcome) == []


def test_a_legal_rarity_is_an_observation(suite: Suite) -> None:
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_rare(nfs3, scratch):
            scratch.directory("d")
            nfs3.remove(scratch.handle, b"d")
    """)
    outcome = suite.run()
    assert outcome.exit_code == 0
    assert findings(outcome) == []
    assert "ISDIR" in outcome.checks["rare"].observations["lint/nfs3/status-listed"]


def test_mutants_are_for_the_checks_to_see(suite: Suite) -> None:
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_blind(nfs3, scratch):
            nfs3.write(scratch.file("f"), 0, b"data")
    """)
    outcome = suite.run("--mutants=pairs")
    kills = json.loads((suite.report / "mutants.json").read_text())
    assert [row[0] for row in kills["survived"]] == ["write3-reports-more-than-sent"]
    assert outcome.exit_code == 1


def test_a_restart_changes_what_the_server_is_bound_to(suite: Suite) -> None:
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_crash(nfs3, scratch, target):
            file = scratch.file("f")
            nfs3.write(file, 0, b"data", StableHow.UNSTABLE)
            target.crash()
            again = target.nfs3()
            again.getattr(file)
            again.write(file, 0, b"data", StableHow.FILE_SYNC)
    """)
    outcome = suite.run()
    assert findings(outcome) == []
    assert not any(name.startswith("lint/") for name in outcome.checks["crash"].observations)


def test_findings_travel_from_workers(suite: Suite) -> None:
    suite.write(UNSEEN)
    outcome = suite.run_apart("-p", "xdist", "-n", "2")
    (finding,) = findings(outcome)
    assert finding.worker.startswith("gw")
    assert outcome.exit_code == 1
    between = outcome.lines[1:-1]
    assert all(isinstance(record, CheckRecord | FindingRecord | StatisticsRecord) for record in between)


def test_a_fault_of_the_lint_is_void(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object) -> None:
        raise KeyError("a bug of ours")

    monkeypatch.setattr("fixtures.plugin.linting.run_lint", explode)
    suite.write("""
        @proves(RULE, killed_by=MUTANT)
        def test_it(nfs3, root):
            nfs3.getattr(root)
    """)
    outcome = suite.run()
    assert outcome.verdicts == {"it": "PASS"}
    (finding,) = findings(outcome)
    assert (finding.id, finding.verdict) == ("lint/error", "VOID")
    assert "a bug of ours" in finding.observed
    assert outcome.exit_code == 10


ALARMED = """
    from nfstargets.base import Alarm

    @proves(RULE, killed_by=MUTANT)
    def test_alarmed(nfs3, stage):
        said = [Alarm("{text}", ("{text}", "Call Trace:"), is_grave={grave})]
        stage.target.alarms = lambda: [said.pop() for _ in list(said)]

    @proves(RULE, killed_by=MUTANT)
    def test_later(nfs3):
        pass
"""


@pytest.mark.parametrize(("grave", "verdict", "code"), [(True, "VOID", 10), (False, "NONSTRICT", 0)])
def test_an_alarm_in_the_log_of_the_server_is_a_finding(
    suite: Suite, grave: bool, verdict: str, code: int
) -> None:
    suite.write(ALARMED.format(text="BUG: it is broken", grave=grave))
    outcome = suite.run()
    assert outcome.exit_code == code
    assert outcome.verdicts == {"alarmed": "PASS", "later": "PASS"}
    (finding,) = findings(outcome)
    assert (finding.id, finding.check, finding.verdict) == ("target/log", "nfs3/fake/alarmed", verdict)
    assert finding.transcript == ["BUG: it is broken", "Call Trace:"]
    assert "target/log in 1 check" in outcome.text
    for name in ("report.txt", "report.html"):
        assert "BUG: it is broken" in (suite.report / name).read_text()
