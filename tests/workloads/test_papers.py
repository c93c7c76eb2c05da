# SPDX-License-Identifier: MIT
"""Tables of papers: their numbers add up, ours are laid next to them by the rules, and what is missing says why."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Mapping
from pathlib import Path

import pytest

from nfsjudge.verdict import Verdict
from nfsproof import workload_papers
from nfsproof.exits import Exit, Trouble
from nfsproof.paper_studies import folder_of as study_folder
from nfsproof.workload_papers import carry_out, filled, folder_of, run_plan
from reports.workloads.paper_pages import merged
from reports.workloads.papers import paper_markdown, table_text
from tests.workloads import samples
from workloads import result
from workloads.papers import PAPERS
from workloads.papers.filling import Measured, fill
from workloads.papers.model import (
    Column,
    Kind,
    Paper,
    Plan,
    Reason,
    Row,
    Table,
    all_calls,
    calls,
    seconds_of,
)
from workloads.result import Result

TABLES = [(paper.name, table) for paper in PAPERS.values() for table in paper.tables]
PLAN = Plan(workload="find", version="3")
OTHER = dataclasses.replace(PLAN, version="2")


# ---------------------------------------------------------------- the numbers of the papers


@pytest.mark.parametrize(
    ("paper", "name", "total", "sums"),
    [
        ("nfsv3", "table 2", "all calls", [10559, 1133, 10877]),
        ("nfsv41", "table 1", "all", [60008, 88009, 3006]),  # the paper prints 3009
        ("spritely", "tables 2 and 3", "all", [8260, 7760]),
    ],
)
def test_calls_of_a_table_add_up_to_its_total(paper: str, name: str, total: str, sums: list[int]) -> None:
    table = next(each for each in PAPERS[paper].tables if each.name == name)
    rows = [row for row in table.rows if row.kind is Kind.CALLS and row.name != total]
    assert [sum(row.paper[at] or 0 for row in rows) for at in range(len(sums))] == sums
    (printed,) = (row.paper for row in table.rows if row.name == total)
    assert [each for each in printed if each is not None] == [3009 if each == 3006 else each for each in sums]


def test_calls_of_sort_add_up() -> None:
    tables = [table for table in PAPERS["spritely"].tables if table.name == "tables 4 and 5"]
    assert len(tables) == 2
    for table in tables:
        rows = {row.name: row.paper for row in table.rows if row.kind is Kind.CALLS}
        total = rows.pop("all")
        assert [sum(each[at] or 0 for each in rows.values()) for at in (0, 1)] == [total[0], total[1]]


def test_bytes_of_find_add_up() -> None:
    (table,) = (table for name, table in TABLES if name == "nfsv3" and table.name == "table 2")
    sent, received, both = (row.paper[:3] for row in table.rows if row.kind is Kind.BYTES)
    assert [a + b for a, b in zip(sent, received, strict=True) if a and b] == list(both)


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=[f"{name} {table.title}" for name, table in TABLES])
def test_each_column_has_a_plan_or_says_why_not(paper: str, table: Table) -> None:
    for column in table.columns:
        assert (column.plan is None) == bool(column.lacking or column.computed)
    assert len({column.name for column in table.columns}) == len(table.columns)


def test_each_reason_is_about_cells_of_its_table() -> None:
    for _, table in TABLES:
        rows, columns = {row.name for row in table.rows}, {column.name for column in table.columns}
        for reason in table.reasons:
            assert {*reason.rows} - {"*"} <= rows
            assert {*reason.columns} - {"*"} <= columns


def test_no_two_plans_share_a_folder() -> None:
    plans = {plan for paper in PAPERS.values() for plan in paper.plans()}
    studies = {plan for paper in PAPERS.values() for plan in paper.studies()}
    folders = {folder_of(plan, 0) for plan in plans} | set(map(study_folder, studies))
    assert len(folders) == len(plans) + len(studies)


# ---------------------------------------------------------------- ours next to them


def measured(seconds: float, **counts: int) -> Result:
    phase = dataclasses.replace(samples.SCRIPT.phases[0], name="find", seconds=seconds, calls=dict(counts))
    return dataclasses.replace(samples.SCRIPT, phases=(phase,))


def table(*, reasons: tuple[Reason, ...] = ()) -> Table:
    return Table(
        name="table 9",
        title="a tree",
        columns=(Column("v2", OTHER), Column("v3", PLAN), Column("v1", None, "nobody has it")),
        rows=(
            Row("time", Kind.SECONDS, (10.0, 5.0, None), seconds_of()),
            Row("LOOKUP", Kind.CALLS, (100, 50, 10), calls("LOOKUP")),
            Row("ACCESS", Kind.CALLS, (0, 0, 0), calls("ACCESS")),
            Row("all", Kind.CALLS, (100, None, None), all_calls),
        ),
        reasons=reasons,
    )


def both(v2: Result, v3: Result) -> Measured:
    return {OTHER: [v2], PLAN: [v3]}


def test_counts_are_compared_as_they_are_and_times_as_parts_of_the_base() -> None:
    made = fill(table(), both(measured(2.0, LOOKUP=100), measured(3.0, LOOKUP=51)))
    time, lookup, access, every = made.rows
    assert [(cell.paper, cell.ours, cell.ratio) for cell in time.cells] == [
        (1.0, 1.0, 1.0),
        (0.5, 1.5, 3.0),
        (None, None, None),
    ]
    assert [(cell.paper, cell.ours, cell.is_off) for cell in lookup.cells] == [
        (100, 100, False),
        (50, 51, False),
        (10, None, False),
    ]
    assert not any(cell.is_off for cell in (*time.cells, *access.cells, *every.cells))
    assert made.lacking == {"v1": "nobody has it"}
    assert made.unexplained == []


@pytest.mark.parametrize(("count", "is_off"), [(97, True), (98, False), (102, False), (103, True)])
def test_two_percent_are_tolerated(count: int, is_off: bool) -> None:
    made = fill(table(), both(measured(1.0, LOOKUP=count), measured(1.0, LOOKUP=50)))
    assert made.rows[1].cells[0].is_off == is_off
    assert bool(made.unexplained) == is_off


def test_a_call_where_the_paper_has_none_is_off() -> None:
    made = fill(table(), both(measured(1.0, LOOKUP=100), measured(1.0, LOOKUP=50, ACCESS=1)))
    assert made.unexplained == ["ACCESS, v3: the paper has 0, and here are 1"]


def test_a_reason_stands_at_its_cells_only() -> None:
    reason = Reason(("LOOKUP",), ("v3",), "names are kept")
    made = fill(table(reasons=(reason,)), both(measured(1.0, LOOKUP=70), measured(1.0, LOOKUP=70)))
    assert [cell.reason for cell in made.rows[1].cells] == ["", "names are kept", ""]
    assert made.unexplained == [
        "LOOKUP, v2: the paper has 100, and here are 70",
        "all, v2: the paper has 100, and here are 70",
    ]
    text = table_text(made)
    assert "70  1.40 [a]" in text
    assert "70  0.70 [?]" in text
    assert "[a] names are kept" in text.splitlines()
    assert "[?] no reason is known" in text.splitlines()
    assert "v1: nobody has it" in text.splitlines()


def test_repeats_give_medians() -> None:
    runs = [measured(seconds, LOOKUP=50) for seconds in (1.0, 9.0, 2.0)]
    made = fill(table(), {OTHER: [measured(1.0, LOOKUP=100)], PLAN: runs})
    assert made.rows[0].cells[1].ours == 2.0


def test_without_the_base_another_column_is_it() -> None:
    wider = Table(
        name="t",
        title="t",
        columns=(
            Column("v2", OTHER),
            Column("v3", PLAN),
            Column("v4", dataclasses.replace(PLAN, version="4.1")),
        ),
        rows=(Row("time", Kind.SECONDS, (10.0, 5.0, 20.0), seconds_of()),),
    )
    found: Mapping[Plan, t.Any] = {
        OTHER: "this server has no NFSv2",
        PLAN: [measured(2.0)],
        dataclasses.replace(PLAN, version="4.1"): [measured(4.0)],
    }
    made = fill(wider, found)
    assert [(cell.paper, cell.ours) for cell in made.rows[0].cells] == [(2.0, None), (1.0, 1.0), (4.0, 2.0)]
    assert "time (seconds, v3 = 1)" in table_text(made)
    assert "v2: this server has no NFSv2" in table_text(made)


DELEGATED = dataclasses.replace(PLAN, version="4.1", policy="delegated")


def delegated_table(name: str, *reasons: Reason) -> Table:
    """One row, of calls of a procedure, and one column, with delegations."""
    row = Row(name, Kind.CALLS, (10,), calls(name))
    return Table(
        name="t", title="t", columns=(Column("delegations", DELEGATED),), rows=(row,), reasons=reasons
    )


def test_a_server_without_delegations_is_named() -> None:
    table, run = delegated_table("LOOKUP"), measured(1.0, LOOKUP=10)
    assert fill(table, {DELEGATED: [run]}).lacking == {"delegations": "the server granted no delegation"}
    granted = dataclasses.replace(run, events={result.GRANTED: 3})
    assert fill(table, {DELEGATED: [granted]}).lacking == {}


def test_without_delegations_no_reason_is_about_them() -> None:
    table = delegated_table(
        "LOOKUP",
        Reason(("LOOKUP",), ("delegations",), "It is local.", needs_delegations=True),
        Reason(("LOOKUP",), ("*",), "The tree is larger."),
    )
    run = measured(1.0, LOOKUP=20)
    (row,) = fill(table, {DELEGATED: [run]}).rows
    assert row.cells[0].reason.startswith("The server granted no delegation")
    assert row.cells[0].reason.endswith("The tree is larger.")
    granted = dataclasses.replace(run, events={result.GRANTED: 3})
    (row,) = fill(table, {DELEGATED: [granted]}).rows
    assert row.cells[0].reason == "It is local. The tree is larger."


def test_few_delegations_are_named() -> None:
    table = delegated_table(
        "OPEN", Reason(("OPEN",), ("delegations",), "It is local.", needs_delegations=True)
    )
    run = dataclasses.replace(measured(1.0, OPEN=100), events={result.GRANTED: 3})
    filled = fill(table, {DELEGATED: [run]})
    assert filled.lacking == {"delegations": "the server granted 3 delegations for 100 OPENs"}
    reason = filled.rows[0].cells[0].reason
    assert reason == "The server granted few delegations: what it granted none for goes to it."


def test_a_page_keeps_what_was_not_run_again() -> None:
    older = "# P\n\n## A\n\n### T\n\nabout\n\n#### On x\n\n1\n\n#### On y\n\n2\n\n## B\n\n### U\n\n#### On x\n\n3\n"
    newer = "# P\n\nnew\n\n## A\n\n### T\n\nmore\n\n#### On y\n\n20\n\n#### On z\n\n4\n\n## C\n\n### V\n\n5\n"
    assert merged(older, newer) == (
        "# P\n\nnew\n\n## A\n\n### T\n\nmore\n\n#### On x\n\n1\n\n#### On y\n\n20\n\n#### On z\n\n4\n\n"
        "## B\n\n### U\n\n#### On x\n\n3\n\n## C\n\n### V\n\n5\n"
    )
    assert merged(newer, newer) == newer


def test_markdown_has_each_table_for_each_target() -> None:
    made = fill(table(), both(measured(2.0, LOOKUP=100), measured(3.0, LOOKUP=50)))
    text = paper_markdown(Paper("p", "A paper", (table(),)), {"embedded": [made], "x|y": [made]})
    lines = text.splitlines()
    assert lines[0] == "## A paper"
    assert "### Table 9: a tree" in lines
    assert [line for line in lines if line.startswith("####")] == ["#### On embedded", "#### On x|y"]
    rows = [line for line in lines if line.startswith("| LOOKUP ")]
    assert rows == ["| LOOKUP | 100 | 100 | 1.00 | 50 | 50 | 1.00 | 10 | - | - |"] * 2
    assert len({line.count("|") for line in lines if line.startswith("| ")}) == 1


PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_of_the_docs_has_the_tables_and_no_count_without_a_reason(name: str) -> None:
    """It is written by `nfsproof workload paper all TARGET... --markdown docs/papers.md`."""
    text = PAGE.read_text(encoding="utf-8")
    assert "[?]" not in text
    assert f"## {PAPERS[name].title}" in text.splitlines()
    for table in PAPERS[name].tables:
        part = text.partition(f"### {table.name.capitalize()}: {table.title}\n")[2].partition("\n### ")[0]
        assert part.count("#### On ") >= (1 if PAPERS[name].only_on else 2), table.title
        assert table.note in part
        expected = fill(table, {}).rows
        for each in expected:
            if each.row.kind in {Kind.CALLS, Kind.BYTES, Kind.SHARE}:
                numbers = [cells for cells in rows_of(part) if cells[0].partition(" (%")[0] == each.row.name]
                printed = {number for cells in numbers for number in cells[1:]}
                assert {
                    f"{cell.paper:g}" for cell in each.cells if cell.paper and cell.paper < 1e5
                } <= printed


def rows_of(markdown: str) -> list[list[str]]:
    lines = (line for line in markdown.splitlines() if line.startswith("| "))
    return [[cell.strip().partition(" [")[0] for cell in line.strip("|").split("|")] for line in lines]


# ---------------------------------------------------------------- runs

PAPER = Paper("p", "A paper", (table(),))


def test_all_columns_run_in_turn_and_results_are_used_again(tmp_path: Path) -> None:
    made: list[str] = []

    def run(plan: Plan, target: str) -> Result:
        made.append(f"{plan.version} {target}")
        return measured(1.0, LOOKUP=100)

    first = carry_out(PAPER, "somewhere", run, repeat=2, out=tmp_path)
    assert made == ["2 somewhere", "3 somewhere"] * 2
    assert carry_out(PAPER, "somewhere", run, repeat=2, out=tmp_path).results == first.results
    assert len(made) == 4
    carry_out(PAPER, "somewhere", run, repeat=3, out=tmp_path)
    assert len(made) == 6


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "MNT at 192.0.2.1: the server does not have this procedure (PROC_UNAVAIL)",
            "the server does not have NFSv2",
        ),
        ("192.0.2.1: PROG_MISMATCH", "the server does not have NFSv2"),
        ("192.0.2.1 does not answer", "could not be run with NFSv2"),
        ("nfsproof does not have the workload sort yet", "nfsproof does not have the workload sort yet"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_says_why_without_addresses(error: str, said: str) -> None:
    def run(plan: Plan, target: str) -> Result:
        if plan.version == "2":
            raise Trouble(error)
        return measured(1.0, LOOKUP=50)

    lines: list[str] = []
    made = carry_out(PAPER, "x", run, say=lines.append)
    assert filled(PAPER, made)[0].lacking == {"v2": said, "v1": "nobody has it"}
    assert lines == [f"find, NFSv2: {error}"]
    assert not made.is_wrong


def test_a_paper_of_which_nothing_can_be_run_is_no_table() -> None:

    def refuse(plan: Plan, target: str) -> Result:
        raise Trouble("nobody answers")

    with pytest.raises(
        Trouble,
        match="nothing of p can be run on x: could not be run with NFSv2; could not be run with NFSv3",
    ):
        carry_out(PAPER, "x", refuse)


@pytest.mark.parametrize(
    ("bad", "said", "status"),
    [
        (samples.WRONG_DATA, "FAIL: 1 read returned wrong data", Exit.FAIL),
        (samples.VOID, "VOID: the disk is full: NFS3ERR_NOSPC", Exit.OK),
    ],
)
def test_a_result_that_is_not_pass_is_never_a_number(
    bad: Result, said: str, status: Exit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workload_papers, "PAPERS", {"p": PAPER})

    def run(plan: Plan, target: str) -> Result:
        return bad if plan.version == "2" else measured(1.0, LOOKUP=50)

    lines: list[str] = []
    page = tmp_path / "page.md"
    wish = workload_papers.Wish(["p"], ["nfs://host/export"], markdown=page)
    assert workload_papers.run(wish, say=lines.append, progress=lines.append, runner=run) == status
    assert f"v2: {said}" in "\n".join(lines).splitlines()
    text = page.read_text(encoding="utf-8")
    assert "#### On URL" in text
    assert "host" not in text.split("## A paper")[1]


def test_kept_results_are_printed_without_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_papers, "PAPERS", {"p": PAPER})
    folder = tmp_path / "x" / folder_of(PLAN, 0)
    folder.mkdir(parents=True)
    result.write(measured(1.0, LOOKUP=50), folder)
    lines: list[str] = []
    wish = workload_papers.Wish(["p"], ["x"], out=tmp_path, kept_only=True)
    assert workload_papers.run(wish, say=lines.append, progress=lambda _text: None) == Exit.OK
    assert "v2: not run" in "\n".join(lines).splitlines()

    def refuse(_plan: Plan, _target: str) -> Result:
        raise Trouble("PROG_MISMATCH")

    workload_papers.run(
        dataclasses.replace(wish, kept_only=False), say=lines.append, progress=lines.append, runner=refuse
    )
    lines.clear()
    workload_papers.run(wish, say=lines.append, progress=lambda _text: None)
    assert "v2: the server does not have NFSv2" in "\n".join(lines).splitlines()
    with pytest.raises(Trouble, match="--kept needs --out"):
        workload_papers.run(dataclasses.replace(wish, out=None), say=lines.append, progress=lines.append)


def broke_a_rule(*reasons: str) -> Result:
    """A result of 50 LOOKUPs with a finding of the lint."""
    finding = result.LintFinding(rule="lint/nfs3/readdir-count", verdict=Verdict.FAIL, text="8212 bytes")
    return dataclasses.replace(
        measured(1.0, LOOKUP=50), findings=(finding,), verdict=Verdict.FAIL, reasons=reasons
    )


def test_a_broken_rule_of_the_lint_takes_the_times_away_and_leaves_the_counts() -> None:
    red = broke_a_rule("lint: lint/nfs3/readdir-count: 8212 bytes")
    made = carry_out(PAPER, "x", lambda plan, _target: red if plan is PLAN else measured(1.0, LOOKUP=100))
    assert made.is_wrong
    made_table = fill(table(), made.measured())
    time, lookup, *_ = made_table.rows
    assert (time.cells[1].ours, lookup.cells[1].ours) == (None, 50)
    assert made_table.lacking["v3"] == (
        "FAIL: lint: lint/nfs3/readdir-count: 8212 bytes; what was counted stands here, without times"
    )


def test_a_run_that_broke_a_rule_and_ended_early_is_no_number() -> None:
    red = broke_a_rule("full: NFS3ERR_NOSPC", "lint: lint/nfs3/readdir-count: 8212 bytes")
    made = carry_out(PAPER, "x", lambda _plan, _target: red)
    assert not made.results


def test_wrong_data_in_the_second_repeat_takes_the_numbers_away() -> None:
    runs = iter(
        [measured(1.0, LOOKUP=100), measured(1.0, LOOKUP=50), samples.WRONG_DATA, measured(1.0, LOOKUP=50)]
    )
    made = carry_out(PAPER, "x", lambda _plan, _target: next(runs), repeat=2)
    assert made.is_wrong
    assert OTHER not in made.results
    assert made.lacking[OTHER] == "FAIL: 1 read returned wrong data"


def test_a_kept_result_that_cannot_be_read_is_no_number(tmp_path: Path) -> None:
    folder = tmp_path / folder_of(OTHER, 0)
    folder.mkdir()
    (folder / result.FILE).write_text("{}", encoding="utf-8")
    made = carry_out(PAPER, "x", lambda _plan, _target: measured(1.0, LOOKUP=50), out=tmp_path)
    assert made.lacking[OTHER] == "could not be run with NFSv2"


def test_a_paper_is_found_by_name() -> None:
    with pytest.raises(
        Trouble, match="expected a paper of nfsv3, nfsv41, sensitivity, spritely, clients, got 'sfs'"
    ):
        workload_papers.find("sfs")


@pytest.mark.parametrize(("version", "plus", "lookups"), [("2", True, 54), ("3", True, 5), ("3", False, 54)])
def test_a_small_tree_on_the_embedded_server_follows_the_rules_of_the_table(
    version: str, plus: bool, lookups: int
) -> None:
    """40 files, 4 directories below the root, `.` and `..` of 5 directories; with READDIRPLUS only `..`."""
    parameters = {"files": "40", "directories": "5", "levels": "3"}
    plan = Plan(workload="find", version=version, plus=plus, parameters=parameters)
    made = run_plan(plan, "embedded", say=lambda _text: None)
    assert made.verdict == "PASS"
    assert made.setup.listing == ("" if version == "2" else "with attributes" if plus else "names")
    counts = made.calls
    assert counts["GETATTR"] == 5
    assert counts["LOOKUP"] == lookups
    assert counts.get("READDIRPLUS", 0) + counts.get("READDIR", 0) == 5


def test_a_target_that_nobody_knows_is_refused_at_once() -> None:
    said = list[str]()
    with pytest.raises(Trouble, match="unknown target 'nosuch'"):
        workload_papers.run(
            workload_papers.Wish(["nfsv3"], ["nosuch"]), say=said.append, progress=said.append
        )
    assert said == []
