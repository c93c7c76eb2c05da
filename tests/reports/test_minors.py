# SPDX-License-Identifier: MIT
"""Which minor versions of NFSv4 a check runs in, and what baselines say of those that were left out."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable

import pytest

from nfsjudge.records import CheckRecord, EndRecord, RunRecord
from reports.baseline import Kind, compare_with_baseline, parse_baseline
from reports.baseline.update import updated
from reports.idlist import known_ids
from reports.minors import EACH, ONE_OF, claim_of, is_drawn, left_out, minor_of, names_a_minor
from reports.run import Run

TODAY = dt.date(2026, 11, 21)
IDS = known_ids().promised("embedded")
CLAIMS = {claim_of(check_id) for check_id in IDS if minor_of(check_id) is not None}
OUT = next(iter(sorted(left_out(IDS, 2))))
"""A check that does not run in 4.1 where there is 4.2."""
RUNS = OUT.replace("4.1", "4.2")


def minors_by_claim(ids: Iterable[str]) -> dict[str, set[int | None]]:
    found = defaultdict[str, set[int | None]](set)
    for check_id in ids:
        found[claim_of(check_id)].add(minor_of(check_id))
    return found


def test_a_claim_runs_in_the_highest_minor_version_of_the_server() -> None:
    all_minors = minors_by_claim(IDS)
    for highest in (1, 2):
        ran = minors_by_claim(IDS - left_out(IDS, highest))
        for claim in CLAIMS:
            minors = all_minors[claim]
            whole = is_drawn(claim) or claim.startswith(EACH) or len(minors) == 1
            assert ran[claim] == (minors if whole else {highest}), claim


def test_a_tenth_is_drawn_and_stays_the_same() -> None:
    drawn = {claim for claim in CLAIMS if is_drawn(claim)}
    assert 0.5 < len(drawn) * ONE_OF / len(CLAIMS) < 2
    # These were drawn when the rule was made: baselines may name them.
    assert {
        claim for claim in ("nfs4/READDIR/lists-all[4.*]", "nfs4/READ/data[4.*]") if claim in drawn
    } == set()
    assert {"nfs4/ACCESS/extended-attributes[4.*]", "nfs4/CLOSE/closed-stateid[4.*]"} <= drawn


def test_nothing_is_left_out_without_a_reason() -> None:
    assert not left_out(IDS, 0)
    assert not left_out({OUT}, 2), "an id that is chosen alone runs"
    assert not {check_id for check_id in left_out(IDS, 2) if not check_id.startswith(("nfs4/", "recovery/"))}
    for beginning in EACH:
        assert any(check_id.startswith(beginning) for check_id in IDS)


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("nfs4/LOOKUP/in-file[4.1]", True),
        ("nfs4/OPENATTR/rename[other-4.2]", True),
        ("nfs4/LOOKUP", False),
        ("nfs://host/x?version=4.1", False),
        ("--report=/tmp/v4.1", False),
    ],
)
def test_an_id_in_one_minor_version_is_recognised(word: str, names: bool) -> None:
    assert names_a_minor(word) is names


def run_of(*checks: CheckRecord, minor: int = 2) -> Run:
    return Run(RunRecord("mine", "Mine 1.0", minor=minor), list(checks), [], end=EndRecord(1))


def kinds(text: str, run: Run) -> list[Kind]:
    found = compare_with_baseline(run, parse_baseline(text, "b.toml"), today=TODAY)
    return [difference.kind for difference in found]


def test_a_baseline_may_name_a_minor_version_that_did_not_run() -> None:
    text = f'[[entry]]\nids = ["{OUT}", "{RUNS}"]\nreason = "why"\n'
    assert kinds(text, run_of(CheckRecord(RUNS, "FAIL"))) == []
    assert kinds(text, run_of(CheckRecord(RUNS, "FAIL"), minor=0)) == [Kind.STALE]
    assert kinds(text, run_of(CheckRecord(RUNS, "PASS"))) == [Kind.UNEXPECTED]


def test_an_update_keeps_what_did_not_run() -> None:
    text = f'[[entry]]\nid = "{OUT}"\nreason = "why"\n'
    assert OUT in updated(text, run_of(CheckRecord(RUNS, "FAIL")), "b.toml")


def test_the_floor_counts_a_check_for_the_versions_that_it_stands_for() -> None:
    text = "[baseline]\nfloor = 2\n"
    assert kinds(text, run_of(CheckRecord(RUNS, "PASS"))) == []
    assert kinds(text, run_of(CheckRecord(RUNS, "PASS"), minor=0)) == [Kind.FLOOR]
    assert kinds(text, run_of(CheckRecord(RUNS, "SKIP"))) == [Kind.FLOOR]


def test_the_promise_of_a_run_has_what_it_left_out_removed() -> None:
    assert OUT in known_ids().promised("embedded")
    assert OUT not in known_ids().promised("embedded", 2)
