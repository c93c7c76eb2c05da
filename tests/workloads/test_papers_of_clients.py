# SPDX-License-Identifier: MIT
"""The table of a client next to policies: both sides are measured, and what nobody sends has no row."""

from __future__ import annotations

import dataclasses
import typing as t

import pytest

from nfsproof import workload_papers
from nfsproof.exits import Exit
from nfsproof.workload_papers import folder_of, wish_of
from reports.workloads.papers import paper_markdown, table_text
from tests.workloads import samples
from workloads.papers import PAPERS
from workloads.papers.filling import fill
from workloads.papers.model import Plan
from workloads.result import Result

PAPER = PAPERS["clients"]


def _result(calls: dict[str, int]) -> Result:
    phase = dataclasses.replace(samples.SCRIPT.phases[0], calls=calls, rpcs=sum(calls.values()))
    return dataclasses.replace(samples.SCRIPT, phases=(phase,))


def test_each_column_compares_a_policy_with_the_kernel() -> None:
    for table in PAPER.tables:
        for column in table.columns:
            assert isinstance(column.plan, Plan)
            assert column.reference is not None
            assert (column.plan.client, column.reference.client) == ("", "linux")
            assert dataclasses.replace(column.reference, client="", policy=column.plan.policy) == column.plan
    names = [folder_of(plan, 0) for plan in PAPER.plans()]
    assert len(set(names)) == len(names)


def test_both_sides_are_measured() -> None:
    table = PAPER.tables[0]
    measured: dict[t.Any, list[Result]] = {
        **{column.reference: [_result({"WRITE": 100, "ACCESS": 2})] for column in table.columns},
        **{column.plan: [_result({"WRITE": 101})] for column in table.columns},
    }
    filled = fill(table, measured)
    assert [row.row.name for row in filled.rows] == ["ACCESS", "WRITE", "all calls"]
    assert [(cell.paper, cell.ours) for cell in filled.rows[1].cells] == [(100, 101)] * 3
    assert filled.unexplained == []
    text = table_text(filled)
    assert "kernel" in text
    assert "paper" not in text.splitlines()[2]
    assert "READ" not in text.partition("[a]")[0]


def test_a_kernel_that_cannot_boot_is_said() -> None:
    table = PAPER.tables[0]
    measured: dict[Plan, list[Result] | str] = {}
    for column in table.columns:
        assert isinstance(column.plan, Plan)
        assert column.reference is not None
        measured[column.reference] = "no guest of Linux can be started here"
        measured[column.plan] = [_result({"WRITE": 101})]
    filled = fill(table, measured)
    assert filled.lacking == {
        column.name: "kernel: no guest of Linux can be started here" for column in table.columns
    }
    page = paper_markdown(PAPER, {"embedded": [fill(each, measured) for each in PAPER.tables]})
    assert "- v3: kernel: no guest of Linux can be started here" in page


def test_plans_are_wishes_with_their_knobs() -> None:
    plans = [plan for plan in PAPER.plans() if plan.client]
    wishes = [wish_of(plan, "embedded") for plan in plans]
    assert {wish.policy for wish in wishes} == {None}
    assert [wish.knobs for wish in wishes[:3]] == [{}, {"delegations": "none"}, {}]


def test_it_runs_on_the_embedded_server_only(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    wish = workload_papers.Wish(papers=["clients"], targets=["ganesha:vfs"])
    assert workload_papers.run(wish, say=said.append, progress=said.append) == Exit.OK
    assert said == ["clients: only on embedded, not on ganesha:vfs"]
    assert capsys.readouterr().out == ""


def test_a_column_without_delegations_says_so_instead_of_a_reason() -> None:
    """Ganesha, for example, grants none: then all calls are there, and nobody has to explain each."""
    table = next(each for each in PAPERS["nfsv41"].tables if each.name == "table 1")
    plan = table.columns[2].plan
    assert plan is not None
    filled = fill(table, {plan: [_result({"LOCK": 50_000})]})
    assert filled.lacking["v4.1 delegations"] == "the server granted no delegation"
    assert filled.unexplained == []
