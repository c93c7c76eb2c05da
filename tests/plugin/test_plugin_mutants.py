# SPDX-License-Identifier: MIT
"""`--mutants`: a check counts as able to fail only when it says Nonconformance on the mutant that it names."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from fixtures.kills.mutants import Trace
from fixtures.kills.table import KillTable, in_sample, without_mutant
from nfsclient.protocol.nfs3 import GETATTR, WRITE
from nfsjudge import Verdict
from nfsjudge.wording import NEEDS_PACKETS
from nfsmutants import all_mutants
from tests.plugin.conftest import Suite

SEES_IT = """
    @proves(RULE, killed_by="write3-reports-more-than-sent")
    def test_sees_it(nfs3, scratch):
        reply = nfs3.write(scratch.file("f"), 0, b"data")
        expect(expect(reply).ok().count, "count").at_most(4)
"""
BLIND = """
    @proves(RULE, killed_by="write3-reports-more-than-sent")
    def test_is_blind(nfs3, scratch):
        nfs3.write(scratch.file("f"), 0, b"data")
"""
STUMBLES = """
    @proves(RULE, killed_by="write3-reports-more-than-sent")
    def test_stumbles(nfs3, scratch):
        reply = nfs3.write(scratch.file("f"), 0, b"data")
        assert reply.resok.count == 4
"""
GIVES_UP = """
    @proves(RULE, killed_by="write3-reports-more-than-sent")
    def test_gives_up(nfs3, scratch):
        reply = nfs3.write(scratch.file("f"), 0, b"data")
        if reply.resok.count != 4:
            unsupported("odd")
"""
NEVER_CLEAN = """
    @proves(RULE, killed_by="write3-reports-more-than-sent")
    def test_never_clean():
        expect(1, "count").equals(2)
"""
UNKNOWN = """
    @proves(RULE, killed_by="write3-no-such-mutant")
    def test_names_no_mutant(nfs3, scratch):
        expect(1, "count").equals(2)
"""


@pytest.mark.parametrize("workers", [[], ["-p", "xdist.plugin", "-n2"]], ids=["serial", "xdist"])
def test_a_check_that_sees_its_mutant(suite: Suite, workers: list[str]) -> None:
    suite.write(SEES_IT)
    outcome = suite.run_apart("--mutants", *workers)
    assert outcome.exit_code == 0
    assert "1 check, 1 mutant named, 1 killed" in outcome.text
    assert "SURVIVED" not in outcome.text
    assert "2 passed" in outcome.text


@pytest.mark.parametrize("body", [BLIND, STUMBLES, GIVES_UP], ids=["passes", "has_a_bug", "gives_up"])
def test_anything_but_a_nonconformance_is_no_kill(suite: Suite, body: str) -> None:
    suite.write(body)
    outcome = suite.run("--mutants")
    assert outcome.exit_code == 1
    assert "SURVIVED  write3-reports-more-than-sent" in outcome.text
    assert "1 failed, 1 passed" in outcome.text


def test_a_check_must_pass_on_the_clean_server(suite: Suite) -> None:
    suite.write(NEVER_CLEAN)
    outcome = suite.run("--mutants")
    assert outcome.exit_code == 1
    assert "NOT CLEAN nfs3/fake/never-clean: FAIL" in outcome.text


def test_a_check_that_this_machine_cannot_make_is_left_out(suite: Suite) -> None:
    suite.write(f"""
        @proves(RULE, killed_by=MUTANT)
        def test_packets(nfs3, scratch):
            unsupported("{NEEDS_PACKETS}needs scapy")
    """)
    outcome = suite.run("--mutants")
    assert outcome.exit_code == 0
    assert "LEFT OUT  1 check: the plan needs packets: needs scapy" in outcome.text
    assert "NOT CLEAN" not in outcome.text
    assert "SURVIVED" not in outcome.text


def test_a_mutant_that_does_not_exist_is_named(suite: Suite) -> None:
    suite.write(UNKNOWN)
    outcome = suite.run("--mutants")
    assert outcome.exit_code == 1
    assert "write3-no-such-mutant" in outcome.text


def test_a_mutant_does_not_reach_the_next_check(suite: Suite) -> None:
    suite.write(SEES_IT + SEES_IT.replace("sees_it", "sees_it_again"))
    outcome = suite.run("--mutants")
    assert outcome.exit_code == 0
    assert "4 passed" in outcome.text


def test_parametrized_checks(suite: Suite) -> None:
    suite.write("""
        @pytest.mark.parametrize("size", [4, 5])
        @proves(RULE, killed_by="write3-reports-more-than-sent")
        def test_sizes(nfs3, scratch, size):
            reply = nfs3.write(scratch.file("f"), 0, bytes(size))
            expect(reply).field("resok.count").at_most(size)
    """)
    outcome = suite.run("--mutants")
    assert outcome.exit_code == 0
    assert "nfs3/fake/sizes[4]" in outcome.text
    assert "4 passed" in outcome.text


def test_parameters_share_the_mutants_that_a_check_does_not_name(suite: Suite) -> None:
    suite.write("""
        @pytest.mark.parametrize("size", [1, 2])
        @proves(RULE, killed_by="getattr3-rounds-small-sizes-up")
        def test_sizes(nfs3, scratch, size):
            file, directory = nfs3.getattr(scratch.file("f", bytes(size))), nfs3.getattr(scratch.directory("d"))
            expect(file).field("resok.obj_attributes.size").equals(size)
            expect(directory).field("resok.obj_attributes.type").equals(2)
    """)
    outcome = suite.run_apart("--mutants=matrix")
    rows = [line.split() for line in outcome.text.splitlines() if line.startswith("getattr3-")]
    assert ["getattr3-rounds-small-sizes-up", "2", "nfs3/fake/sizes[1],", "nfs3/fake/sizes[2]"] in rows
    assert ["getattr3-wrong-type", "1", "nfs3/fake/sizes[1]"] in rows


def test_matrix_runs_every_check_on_every_mutant(suite: Suite) -> None:
    suite.write(SEES_IT)
    outcome = suite.run_apart("--mutants=matrix")
    assert outcome.exit_code == 0
    assert "mutants that no check names" in outcome.text
    (row,) = [line for line in outcome.text.splitlines() if line.startswith("write3-reports-more-than-sent ")]
    assert row.split()[1:] == ["1", "nfs3/fake/sees-it"]


def test_a_mutant_that_kills_everything_is_blunt_and_red(suite: Suite) -> None:
    suite.write("".join(SEES_IT.replace("sees_it", f"sees_it_{number}") for number in range(10)))
    outcome = suite.run_apart("--mutants=matrix")
    assert "BLUNT     write3-reports-more-than-sent kills 10 of 10 checks" in outcome.text
    assert outcome.exit_code == 1


def test_the_table_counts_a_mutant_once_a_check() -> None:
    table = KillTable()
    for name in "abcdefghij":
        table.add(f"suites/nfs3/test_x.py::test_{name}[clean]", "clean", Verdict.PASS, "", ["m"])
        table.add(f"suites/nfs3/test_x.py::test_{name}[m]", "m", Verdict.FAIL, "", ["m"])
        table.add(f"suites/nfs3/test_x.py::test_{name}[n]", "n", Verdict.VOID, "", ["m"])
    assert len(table.checks) == 10
    assert table.blunt() == [("m", 10, 10)]
    assert not table.survived


@pytest.mark.parametrize(
    ("check_id", "name", "bare"),
    [
        ("nfs3/write/x[clean]", "clean", "nfs3/write/x"),
        ("nfs3/write/x[write3-a-b]", "write3-a-b", "nfs3/write/x"),
        ("nfs3/write/x[write3-a-b-4]", "write3-a-b", "nfs3/write/x[4]"),
        ("nfs3/write/x[4-write3-a-b]", "write3-a-b", "nfs3/write/x[4]"),
        ("nfs3/write/x[4-y-clean]", "clean", "nfs3/write/x[4-y]"),
        ("nfs3/write/x", "clean", "nfs3/write/x"),
    ],
)
def test_ids_without_the_mutant(check_id: str, name: str, bare: str) -> None:
    assert without_mutant(check_id, name) == bare


def test_a_mutant_of_what_a_check_never_calls_is_left_out() -> None:
    trace = Trace()
    node = "suites/nfs3/test_x.py::test_x"
    assert trace.may_see(f"{node}[clean]", "write3-reports-more-than-sent")
    trace.note(f"{node}[clean]", Counter({GETATTR: 1}))
    assert not trace.may_see(f"{node}[clean]", "write3-reports-more-than-sent")
    trace.note(f"{node}[clean]", Counter({WRITE: 1}))
    assert trace.may_see(f"{node}[clean]", "write3-reports-more-than-sent")


def test_checks_that_make_thousands_of_calls_are_tried_on_what_they_name_alone() -> None:
    trace = Trace()
    node = "suites/nfs3/test_x.py::test_x[clean]"
    trace.note(node, Counter({WRITE: 1999, GETATTR: 1}))
    assert trace.may_see(node, "write3-reports-more-than-sent")
    trace.note(node, Counter({WRITE: 2000, GETATTR: 1}))
    assert not trace.may_see(node, "write3-reports-more-than-sent")


def test_a_sample_is_one_in_twelve_of_the_pairs_and_the_same_each_time() -> None:
    pairs = [(f"nfs3/read/c{first}", f"read3-m{other}") for first in range(60) for other in range(60)]
    chosen = [pair for pair in pairs if in_sample(*pair)]
    assert 240 < len(chosen) < 360
    assert chosen == [pair for pair in pairs if in_sample(*pair)]


def test_a_sample_counts_each_kill_for_those_that_it_left_out() -> None:
    table = KillTable(is_sample=True)
    for number in range(200):
        table.add(f"suites/nfs3/test_x.py::test_c{number}[clean]", "clean", Verdict.PASS, "", [])
    table.killers["m"] = {f"nfs3/x/c{number}" for number in range(5)}
    assert not table.has_blunt
    table.killers["m"] = {f"nfs3/x/c{number}" for number in range(6)}
    assert table.has_blunt


def test_three_kills_of_a_small_sample_prove_nothing() -> None:
    table = KillTable(is_sample=True)
    table.checks = {f"faults/x/c{number}" for number in range(43)}
    table.killers["m"] = {f"faults/x/c{number}" for number in range(3)}
    assert not table.has_blunt
    table.killers["m"] = {f"faults/x/c{number}" for number in range(4)}
    assert table.has_blunt


def test_a_mutant_of_a_basic_rule_may_kill_many() -> None:
    table = KillTable(kills_many={"basic": "every check reads attributes"})
    table.checks = {f"nfs3/x/c{number}" for number in range(60)}
    table.killers["basic"] = table.killers["other"] = {f"nfs3/x/c{number}" for number in range(30)}
    assert [name for name, _, _ in table.blunt()] == ["other"]
    lines = table.lines([], whole=True)
    assert "BLUNT     other kills 30 of 60 checks" in lines
    assert "basic     basic kills 30 of 60 checks, which is allowed: every check reads attributes" in lines


def test_a_mutant_of_the_wire_is_never_left_out() -> None:
    trace = Trace()
    wires = [mutant.name for mutant in all_mutants() if mutant.on_message is not None]
    for name in wires:
        trace.note("suites/nfs3/test_x.py::test_x[clean]", Counter())
        assert trace.may_see("suites/nfs3/test_x.py::test_x[clean]", name)


def test_a_mutant_of_what_typed_clients_never_send_is_for_checks_that_make_bytes() -> None:
    trace = Trace()
    typed, raw = "suites/nfs3/test_x.py::test_x", "suites/rpc/test_x.py::test_x"
    trace.note(f"{typed}[clean]", Counter(), is_raw=False)
    trace.note(f"{raw}[clean]", Counter(), is_raw=True)
    name = "rpc-accepts-any-rpc-version"
    assert not trace.may_see(f"{typed}[clean]", name)
    assert trace.may_see(f"{raw}[clean]", name)


def test_what_is_left_out_leaves_fixtures_in_order(suite: Suite) -> None:
    body = (
        SEES_IT
        + """
    @pytest.fixture(scope="module")
    def whole():
        yield 1

    @proves(RULE, killed_by="write3-reports-more-than-sent")
    def test_sees_it_last(nfs3, scratch, whole):
        reply = nfs3.write(scratch.file("f"), 0, b"data")
        expect(expect(reply).ok().count, "count").at_most(4)
"""
    )
    suite.write(body)
    suite.write(body, "suites/nfs3/test_other.py")
    outcome = suite.run_apart("--mutants=matrix", "-Werror")
    assert outcome.exit_code == 0
    assert "4 checks, 1 mutant named, 1 killed" in outcome.text


def test_the_table_is_left_in_a_report_folder_that_is_named(suite: Suite) -> None:
    suite.write(SEES_IT)
    outcome = suite.run("--mutants")
    table = json.loads((outcome.report / "mutants.json").read_text())
    assert table["killers"] == {"write3-reports-more-than-sent": ["nfs3/fake/sees-it"]}
    assert table["survived"] == []
    assert "1 killed" in (outcome.report / "mutants.txt").read_text()
