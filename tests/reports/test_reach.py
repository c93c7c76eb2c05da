# SPDX-License-Identifier: MIT
"""On which servers checks can be judged: what a record says, the list, the line of a run."""

from __future__ import annotations

import pytest

from nfsjudge.records import CheckRecord
from reports.idlist import known_ids
from reports.reach import Reach, describe_reach, known_reach, parse_reach, reach_of, render_reach

CALLS = CheckRecord("nfs3/READ/a", "PASS")
CRASHES = CheckRecord("nfs3/crash/a[x]", "PASS", steered=["crash"])
CHOOSES = CheckRecord("nfs3/room/a", "PASS", steered=["fill_disk", "knobs"])


@pytest.mark.parametrize(
    ("check", "reach"),
    [
        (CALLS, Reach.ANY),
        (CRASHES, Reach.CONTROL),
        (CHOOSES, Reach.REFERENCE),
        (CheckRecord("nfs3/a/a", "PASS", steered=["network"]), Reach.CONTROL),
    ],
)
def test_the_record_of_a_check_says_what_it_needs(check: CheckRecord, reach: Reach) -> None:
    assert reach_of(check.steered) is reach


def test_the_list_has_the_checks_that_need_more_than_a_server() -> None:
    text = render_reach([CHOOSES, CALLS, CRASHES])
    assert text.splitlines()[-2:] == ["control nfs3/crash/a[x]", "reference nfs3/room/a"]
    assert parse_reach(text) == {CRASHES.id: Reach.CONTROL, CHOOSES.id: Reach.REFERENCE}


def test_a_line_counts_the_checks_of_a_run() -> None:
    known = parse_reach(render_reach([CALLS, CRASHES, CHOOSES]))
    assert describe_reach([CALLS.id, CRASHES.id, CHOOSES.id, "nfs3/READ/new"], known) == (
        "of 4 checks, 2 can be judged on any server, 1 with control of it, 1 needs the reference server"
    )


def test_the_list_of_this_version_names_checks_that_exist() -> None:
    known = known_reach()
    assert set(known) <= known_ids().present
    assert set(known.values()) == {Reach.CONTROL, Reach.REFERENCE}
