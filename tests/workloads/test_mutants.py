# SPDX-License-Identifier: MIT
"""Servers that are wrong in what a workload uses end red.

A few mutants of each kind are run; `NFSPROOF_WORKLOAD_MUTANTS=all` runs all of `mutants.RED`, which takes minutes.
"""

from __future__ import annotations

import os
import typing as t

import pytest

from nfsjudge.verdict import Verdict
from nfsmutants import find_mutant
from tests.workloads.mutants import GREEN, HOW, LIKE, NAMED, RED
from tests.workloads.rig import run_whole
from tests.workloads.survivors import GREEN_2, GREEN_4

_WANTS_ALL = os.environ.get("NFSPROOF_WORKLOAD_MUTANTS") == "all"
_EVERY: t.Final = 40
"""Each fortieth is run, besides those that are always run."""
_RUN = [each for at, each in enumerate(RED) if _WANTS_ALL or each[2] in NAMED or at % _EVERY == 0]


@pytest.mark.parametrize(("how", "version", "name"), _RUN)
def test_a_mutant_is_red(how: str, version: str, name: str) -> None:
    workload, order = HOW[how]
    more: dict[str, t.Any] = {"timeout": 1.0, "most_seconds": 20.0, "policy": "raw", **order}
    more["policy"] = more["policy"] or LIKE[version]
    for longer in (1, 8):  # what a rate does in its time depends on the machine
        if "duration" in order:
            more["duration"] = order["duration"] * longer
        outcome, _ = run_whole(workload, version=version, mutants=frozenset({name}), **more)
        if outcome.result.verdict is Verdict.FAIL:
            return
    raise AssertionError((outcome.result.verdict, outcome.result.reasons))


def test_the_tables_name_mutants_that_exist_and_each_once() -> None:
    for green, of in ((GREEN, "3"), (GREEN_2, "2"), (GREEN_4, "4.1")):
        survivors = [name for names in green.values() for name in names.split()]
        assert len(survivors) == len(set(survivors))
        assert not set(survivors) & {name for _, version, name in RED if version == of}
        for name in survivors:
            find_mutant(name)
    for name in {*(name for _, _, name in RED), *NAMED}:
        find_mutant(name)
    assert len(RED) == len({(version, name) for _, version, name in RED})
    assert {name for _, _, name in RED} >= NAMED
