# SPDX-License-Identifier: MIT
"""Tables 2 to 7 of the paper on Spritely NFS: one clock for all columns, and a reason for each count that differs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from nfsjudge.verdict import Verdict
from tests.workloads.rig import calls_of, run
from workloads.papers import PAPERS, spritely
from workloads.papers.filling import Filled, fill
from workloads.papers.model import Kind, Plan
from workloads.result import Result
from workloads.scripts.sort import pace_of

PAPER = PAPERS["spritely"]


@pytest.fixture(scope="module")
def measured() -> Mapping[Plan, list[Result]]:
    """What all columns have on the embedded server."""
    return {plan: [_run(plan)] for plan in PAPER.plans()}


@pytest.fixture(scope="module")
def filled(measured: Mapping[Plan, list[Result]]) -> list[Filled]:
    return [fill(table, measured) for table in PAPER.tables]


def _run(plan: Plan) -> Result:
    result = run(
        plan.workload,
        version=plan.version,
        policy=plan.policy,
        parameters={name: float(text) for name, text in plan.parameters.items()},
        rsize=plan.size,
        wsize=plan.size,
        page=plan.page,
    )
    assert (result.verdict, result.reasons) == (Verdict.PASS, ())
    return result


def test_all_columns_of_a_table_have_the_clock_of_the_paper() -> None:
    for table in PAPER.tables:
        plans = [column.plan for column in table.columns if isinstance(column.plan, Plan)]
        assert len({tuple(plan.parameters.items()) for plan in plans}) == 1, table.title
        parameters = plans[0].parameters
        if plans[0].workload == "sort":
            for size, each in spritely.SORTS.items():
                assert parameters[pace_of(size)] == spritely.pace(*each)
        else:
            expected = spritely.LOCAL if parameters.get("tmp") == "0" else spritely.REMOTE
            assert parameters["pace"] == spritely.pace(*expected)


def test_a_pace_is_the_time_of_the_paper_by_the_calls_of_the_program(
    measured: Mapping[Plan, list[Result]],
) -> None:
    for plan, (result,) in measured.items():
        if plan.workload == "sort":
            assert {phase.name: phase.operations for phase in result.phases} == {
                f"{size} KB": number for size, (_, number) in spritely.SORTS.items()
            }
        else:
            expected = spritely.LOCAL if plan.parameters.get("tmp") == "0" else spritely.REMOTE
            assert sum(phase.operations for phase in result.phases) == expected[1]


def test_each_count_that_differs_has_a_reason(filled: list[Filled]) -> None:
    assert [each.unexplained for each in filled] == [[]] * len(filled)


def test_each_reason_is_that_of_a_cell(filled: list[Filled]) -> None:
    """A reason that is never printed explains nothing."""
    printed = {cell.reason for each in filled for row in each.rows for cell in row.cells if cell.reason}
    for table in PAPER.tables:
        for reason in table.reasons:
            assert any(reason.text in text for text in printed), reason


def test_a_share_that_differs_needs_a_reason() -> None:
    assert Kind.SHARE.is_count


def test_the_counts_that_the_footnotes_name(measured: Mapping[Plan, list[Result]]) -> None:
    results = {
        (plan.workload, plan.policy, plan.parameters.get("tmp")): each for plan, (each,) in measured.items()
    }
    assert calls_of(results["sort", "spritely", None], "1408 KB")["WRITE"] == 199
    names = calls_of(results["sort", "v2-like", None], "2816 KB")
    assert names["LOOKUP"] + names["CREATE"] + names["REMOVE"] == 4 * names["CREATE"]
    assert results["sort", "spritely-lazy", None].calls.get("WRITE", 0) == 0
    assert (
        results["andrew", "spritely", None].calls["READ"] == results["andrew", "v3-like", None].calls["READ"]
    )


def test_the_numbers_of_the_paper_on_local_disks_are_there(filled: list[Filled]) -> None:
    """Tables 2, 4 and 6, which have them as columns; nfsproof has nothing next to them."""
    found = [
        [row.row.paper[at] for row in each.rows if row.row.paper[at] is not None]
        for each in filled
        for at, column in enumerate(each.table.columns)
        if column.name == "local disk"
    ]
    assert found == [[4.7, 24, 43, 37, 215, 322], [4], [33], [74], [32, 69]]
    assert all("local disk" in each.lacking for each in filled if "local disk" in str(each.table.columns))


def test_without_temporaries_on_the_server_nothing_is_cancelled(
    measured: Mapping[Plan, list[Result]],
) -> None:
    """And the last line of table 3 has fewer calls."""
    both = [
        each for plan, (each,) in measured.items() if (plan.workload, plan.policy) == ("andrew", "spritely")
    ]
    remote, local = both
    assert local.calls.get("REMOVE", 0) == 0 < remote.calls["REMOVE"]
    assert sum(local.calls.values()) < sum(remote.calls.values())
