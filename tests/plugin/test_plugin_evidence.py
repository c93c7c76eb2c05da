# SPDX-License-Identifier: MIT
"""What a run keeps of its checks: for which, what is in it, and what happens when it cannot be kept."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from nfsjudge.capture import OWN_BYTES
from nfsjudge.records import FindingRecord, RunRecord, StatisticsRecord
from tests.plugin.conftest import Suite
from tests.plugin.test_plugin_wireshark import packets_of
from tests.waiting import AT_MOST

RED = """
@proves(RULE, killed_by=MUTANT)
def test_green(nfs3):
    nfs3.null()

@proves(RULE, killed_by=MUTANT)
def test_red(nfs3, root):
    nlink = nfs3.getattr(root).resok.obj_attributes.nlink
    expect(nlink, "links", field="nlink").equals(77)

@proves(ADVICE, killed_by=MUTANT)
def test_advised(nfs3):
    nfs3.null()
    expect(1, "x").equals(2)

@proves(RULE, killed_by=MUTANT)
def test_void(nfs3):
    nfs3.null()
    raise KeyError

@proves(RULE, killed_by=MUTANT)
def test_skipped(nfs3):
    nfs3.null()
    skip("because")
"""
KEPT = {
    "failure": {"red", "advised", "void"},
    "always": {"red", "advised", "void", "green", "skipped"},
    "never": set(),
}


@pytest.mark.parametrize("mode", KEPT)
def test_of_which_checks_evidence_is_kept(suite: Suite, mode: str) -> None:
    suite.write(RED)
    checks = suite.run(f"--evidence={mode}").checks
    assert {name for name, check in checks.items() if check.capture} == KEPT[mode]
    assert {name for name, check in checks.items() if check.messages} == KEPT[mode]


def test_messages_have_all_fields_and_the_deviating_one_is_pointed_at(suite: Suite) -> None:
    suite.write(RED)
    call, reply = suite.run().checks["red"].messages[-2:]
    assert (call.direction, reply.direction) == ("call", "reply")
    assert call.number == reply.number
    assert 0 <= call.time <= reply.time < 60
    assert call.summary.startswith("GETATTR xid 0x")
    assert reply.summary.endswith(": NFS3_OK")
    assert [line.partition(":")[0].strip() for line in call.fields] == ["credential", "object"]
    (at,) = reply.deviating
    assert reply.fields[at].strip().startswith("nlink: ")
    assert "    mode: " in "\n".join(reply.fields)


def test_a_capture_names_its_check_its_verdict_and_what_deviates(suite: Suite) -> None:
    suite.write(RED)
    outcome = suite.run()
    path = outcome.report / outcome.checks["red"].capture
    assert (
        b"check nfs3/fake/red\nverdict FAIL\nRFC 1813 section 3.3.1: the rule of this suite"
        in path.read_bytes()
    )
    comments = [comment for _, _, comment in packets_of(path)]
    assert comments[0].startswith("check nfs3/fake/red\nverdict FAIL")
    assert comments[-1].startswith("FAIL nfs3/fake/red: links: expected ")
    assert "77" in comments[-1]


def test_what_the_lint_finds_keeps_the_evidence_of_a_check_that_passes(suite: Suite) -> None:
    suite.write(
        """
        @proves(RULE, killed_by=MUTANT)
        def test_looks_elsewhere(stage, nfs3, root):
            from nfsclient.protocol.nfs3 import Ftype3
            nfs3.getattr(root)
            stage.traffic.exchanges[-1].result.resok.obj_attributes.type = Ftype3(99)
        """
    )
    outcome = suite.run()
    (finding, *_) = [line for line in outcome.lines if isinstance(line, FindingRecord)]
    check = outcome.checks["looks_elsewhere"]
    assert check.verdict == "PASS"
    assert finding.capture == check.capture != ""
    assert any(message.deviating for message in check.messages)


def test_bytes_of_a_check_itself_are_in_the_capture_with_their_record_marks(suite: Suite) -> None:
    suite.write(
        """
        @proves(RULE, killed_by=MUTANT)
        def test_raw(wire):
            one = wire()
            one.send_raw(b"\\x80\\x00\\x00\\x08" + b"notacall")
            one.call(one.make())
            expect(1, "x").equals(2)
        """
    )
    outcome = suite.run()
    check = outcome.checks["raw"]
    packets = list(packets_of(outcome.report / check.capture))
    own = [frame[54:] for _, frame, comment in packets if OWN_BYTES in comment]
    assert own[0] == b"\x80\x00\x00\x08notacall"
    assert len(own) == 2  # the call is there once, though it is an exchange as well
    assert check.messages[0].number == 0
    assert check.messages[0].summary == "12 bytes of the check itself"


def test_when_a_check_began_and_what_it_ran_on(suite: Suite) -> None:
    suite.write(RED)
    outcome = suite.run()
    run = outcome.lines[0]
    assert isinstance(run, RunRecord)
    assert platform.python_version() in run.environment["python"]
    assert run.environment["pytest"] == pytest.__version__
    assert set(run.environment) == {"python", "platform", "nfsproof", "pytest"}
    assert platform.node() not in " ".join(run.environment.values()).split()
    times = [check.began for check in outcome.checks.values()]
    assert times == sorted(times)
    assert 0 < times[0] < times[-1] < 60


@pytest.mark.parametrize("place", ["report", "report/evidence", "report/below"])
def test_a_folder_that_cannot_be_written_ends_the_run_before_it_begins(suite: Suite, place: str) -> None:
    suite.write(RED)
    in_the_way = suite.pytester.path / ("report" if place == "report/below" else place)
    in_the_way.parent.mkdir(exist_ok=True)
    in_the_way.write_text("a file")
    report = str(suite.pytester.path / place) if place == "report/below" else str(suite.report)
    result = suite.pytester.runpytest_subprocess(*suite.arguments("--report", report), timeout=AT_MOST)
    assert result.ret == 4
    (line,) = [line for line in [*result.outlines, *result.errlines] if line.strip()]
    assert "expected a writable folder for the report" in line
    assert in_the_way.read_text() == "a file"


def test_records_that_cannot_be_written_as_well(suite: Suite) -> None:
    suite.write(RED)
    (suite.report / "records.jsonl").mkdir(parents=True)
    outcome_of = suite.pytester.runpytest_subprocess(*suite.arguments(), timeout=AT_MOST)
    assert outcome_of.ret == 4


def test_a_disk_that_fails_while_the_run_goes_on_is_reported(suite: Suite) -> None:
    suite.write(
        RED
        + """
@proves(RULE, killed_by=MUTANT)
def test_spoils(nfs3, stage):
    import shutil
    shutil.rmtree(stage.report / "evidence")
    (stage.report / "evidence").write_text("in the way")
    nfs3.null()
    expect(1, "x").equals(2)
"""
    )
    outcome = suite.run()
    assert outcome.exit_code == 1
    assert outcome.checks["spoils"].capture == ""
    assert outcome.checks["spoils"].messages
    assert "the evidence of nfs3/fake/spoils could not be written" in outcome.text


def test_a_worker_tells_times_since_the_beginning_of_the_run(suite: Suite) -> None:
    suite.write(RED)
    outcome = suite.run_apart("-p", "xdist.plugin", "-n2")
    assert all(0 < check.began < 60 for check in outcome.checks.values())
    assert outcome.checks["red"].messages[-1].deviating
    assert Path(outcome.report / outcome.checks["red"].capture).exists()


@pytest.mark.parametrize("workers", [[], ["-p", "xdist.plugin", "-n2"]], ids=["serial", "xdist"])
def test_every_call_is_counted_also_those_of_workers(suite: Suite, workers: list[str]) -> None:
    body = "\n".join(
        f"@proves(RULE, killed_by=MUTANT)\ndef test_n{n}(nfs3):\n    nfs3.pathconf(b'x' * 16)"
        for n in range(10)
    )
    suite.write(body)
    outcome = suite.run_apart(*workers)
    statistics, end = outcome.lines[-2:]
    assert isinstance(statistics, StatisticsRecord)
    assert end.kind == "end"
    (row,) = [procedure for procedure in statistics.procedures if procedure.procedure == "PATHCONF"]
    probes = row.calls - 10
    assert 0 <= probes <= 3
    assert row.replies == row.calls
    assert 0 < row.latency["p50"] <= row.latency["max"] < 10
    assert "rpc: " in outcome.text
    assert "nfs3 pathconf" in (outcome.report / "report.txt").read_text()


IN_BULK = """
@proves(RULE, killed_by=MUTANT)
def test_in_bulk(nfs3, scratch, rpc_connect):
    from nfsclient.protocol.nfs3 import LOOKUP, Diropargs3, Lookup3Args
    rpc = rpc_connect("nfs")
    rpc.on_exchange = None
    what = (Lookup3Args(Diropargs3(scratch.handle, b"n%d" % number)) for number in range(20))
    assert len(list(rpc.pipeline(LOOKUP, what))) == 20
    expect(1, "x").equals(2)
"""


def test_calls_of_which_no_record_is_kept_are_in_the_capture_and_in_the_script(suite: Suite) -> None:
    suite.write(IN_BULK)
    outcome = suite.run()
    check = outcome.checks["in_bulk"]
    assert check.exchanges == 1
    script = (outcome.report / check.script).read_text()
    assert "replay.many(c2, nfs3.LOOKUP, nfs3.Lookup3Args(what=nfs3.Diropargs3(dir=g2, name=b'n0'))" in script
    assert "'what.name', [b'n0', b'n1', b'n2'," in script
    assert (outcome.report / check.capture).read_bytes().count(b"\x00\x00\x00\x03n19\x00") == 1


def test_a_script_says_that_more_was_sent_than_is_kept(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fixtures.stage.traffic._KEPT_BYTES", 1000)
    suite.write(IN_BULK)
    outcome = suite.run()
    script = (outcome.report / outcome.checks["in_bulk"].script).read_text()
    assert "replay.happened('more calls were made than are kept; " in script


def test_a_check_that_makes_bytes_only_has_a_transcript(suite: Suite) -> None:
    suite.write(
        """
        @proves(RULE, killed_by=MUTANT)
        def test_raw(wire, null_on_other_connection):
            wire().send_raw(b"\\x80\\x00")
            null_on_other_connection()
            expect(1, "x").equals(2)
        """
    )
    check = suite.run().checks["raw"]
    assert check.transcript == [
        "- sent 2 bytes of the check itself",
        "    000000  8000",
        "- NULL on a new connection -> answered",
    ]
    assert [(message.direction, message.summary) for message in check.messages] == [
        ("call", "2 bytes of the check itself"),
        ("", "NULL on a new connection -> answered"),
    ]


def test_a_call_in_fragments_stands_once_wherever_it_stands(suite: Suite) -> None:
    suite.write(
        """
        @proves(RULE, killed_by=MUTANT)
        def test_cut(wire):
            one = wire()
            one.call(one.make(cred=b"\\0" * 8), [20, 0, 10])
            expect(1, "x").equals(2)
        """
    )
    outcome = suite.run()
    check = outcome.checks["cut"]
    sent = [
        frame[54:] for _, frame, comment in packets_of(outcome.report / check.capture) if OWN_BYTES in comment
    ]
    assert [len(data) for data in sent] == [4 + 20 + 4 + 4 + 10 + 4 + 10]
    assert [message.direction for message in check.messages] == ["call", "reply"]
    script = (outcome.report / check.script).read_text()
    assert script.count("replay.send") == 1
    assert ", [20, 0, 10])" in script


def test_a_second_run_removes_the_scripts_of_the_first_and_no_file_elsewhere(suite: Suite) -> None:
    suite.write(RED)
    first = suite.run()
    script = first.report / first.checks["red"].script
    assert script.exists()
    own = suite.report / "own.py"
    own.write_text("")
    records = suite.report / "records.jsonl"
    records.write_text(
        records.read_text() + '{"capture":"evidence/../own.py","script":"evidence/../../x.py"}\n'
    )
    suite.write("def test_nothing():\n    pass\n")
    suite.run()
    assert not script.exists()
    assert own.exists()


def test_the_memory_for_the_messages_of_one_check_is_bounded(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fixtures.stage.traffic._KEPT_BYTES", 10_000)
    suite.write("""
@proves(RULE, killed_by=MUTANT)
def test_much(nfs3, scratch):
    file = scratch.file("f")
    for _ in range(20):
        nfs3.write(file, 0, bytes(4000))

@proves(RULE, killed_by=MUTANT)
def test_next(nfs3):
    nfs3.null()
""")
    checks = suite.run().checks
    assert 3 <= checks["much"].exchanges <= 6
    assert checks["next"].exchanges == 1
