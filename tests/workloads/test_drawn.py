# SPDX-License-Identifier: MIT
"""A right server is not red, whatever it chooses: a sample of settings of the knobs, of each alone and of several.

A server that refuses what a workload needs ends it without a verdict. `NFSPROOF_WORKLOAD_KNOBS=all` runs each value of
each knob with each workload of the table.
"""

from __future__ import annotations

import os
import typing as t
from collections.abc import Iterator

import pytest

from nfsjudge.verdict import Verdict
from nfsserver.knobs import KNOBS, draw
from tests.workloads.rig import run_whole
from workloads.trouble import Refused

_RATE: t.Final[dict[str, t.Any]] = {"duration": 0.2, "warmup": 0.0}
_TREE: t.Final[dict[str, t.Any]] = {"parameters": {"files": 20, "directories": 4, "levels": 2}}
_LOCKS: t.Final[dict[str, t.Any]] = {"parameters": {"files": 2, "rounds": 2}, "clients": 2}
_MAIL: t.Final[dict[str, t.Any]] = {"callers": 2, "parameters": {"files": 8, "mean": 3000}, **_RATE}
_RUNS: t.Final[tuple[tuple[str, str, str, dict[str, t.Any]], ...]] = (
    ("connectathon-basic", "2", "v2-like", {}),
    ("connectathon-basic", "3", "v3-like", {}),
    ("connectathon-basic", "4.2", "v4-like", {}),
    ("connectathon-basic", "3", "raw", {}),
    ("write10", "3", "v3-like", {}),
    ("write10", "4.1", "delegated", {}),
    ("find", "2", "raw", _TREE),
    ("find", "3", "v3-like", _TREE),
    ("find", "4.1", "v4-like", _TREE),
    ("lockedreads", "4.1", "delegated", _LOCKS),
    ("lockedreads", "4.2", "v4-like", _LOCKS),
    ("recall", "4.1", "delegated", {"parameters": {"files": 3}}),
    ("mailserver", "3", "v3-like", _MAIL),
    ("mailserver", "4.1", "delegated", _MAIL),
)
"""(workload, version, policy, the rest of the order)."""
_WANTS_ALL: t.Final = os.environ.get("NFSPROOF_WORKLOAD_KNOBS") == "all"
_EVERY: t.Final = 89
"""Of all pairs of a value and a workload, each of this distance is run."""
_SLOW: t.Final = frozenset({"jukebox_calls", "jukebox_seconds", "jukebox_tries", "jukebox_tries_random"})
"""Knobs with which a workload waits for most of its time; `test_lies` has them with short times."""


def _settings() -> Iterator[tuple[str, dict[str, t.Any]]]:
    for knob in KNOBS.values():
        if _WANTS_ALL or knob.name not in _SLOW:
            yield from ((f"{knob.name}={value}", {knob.name: value}) for value in knob.draws)
    yield from ((f"drawn {seed}", draw(seed)) for seed in range(30 if _WANTS_ALL else 0))


_PAIRS = [(label, knobs, at) for label, knobs in _settings() for at in range(len(_RUNS))]
_PAIRS = _PAIRS if _WANTS_ALL else _PAIRS[::_EVERY]


def _is_not_red(knobs: dict[str, t.Any], at: int, **more: t.Any) -> Verdict | None:
    """The verdict; None if the server refused the directory of the run."""
    workload, version, policy, order = _RUNS[at]
    try:
        outcome, _ = run_whole(
            workload,
            version=version,
            policy=policy,
            prepare=lambda server: server.knobs.update(**knobs),
            **{"most_seconds": 60.0, **order, **more},
        )
    except Refused:
        return None
    assert outcome.result.verdict is not Verdict.FAIL, outcome.result.reasons
    assert outcome.left == () or knobs.keys() & _SLOW  # a server may be too busy to remove anything
    return outcome.result.verdict


@pytest.mark.parametrize(
    ("knobs", "at"),
    [pytest.param(knobs, at, id=f"{label} {_RUNS[at][0]} {_RUNS[at][1]}") for label, knobs, at in _PAIRS],
)
def test_a_choice_is_not_red(knobs: dict[str, t.Any], at: int) -> None:
    _is_not_red(knobs, at)


@pytest.mark.parametrize(("seed", "at"), [(45, 4), (46, 2), (57, 8), (48, 11)])
def test_a_drawn_setting_is_carried_out(seed: int, at: int) -> None:
    """But for a full disk, on which no workload can be."""
    knobs = {name: value for name, value in draw(seed).items() if name != "free_bytes"}
    assert _is_not_red(knobs, at) is Verdict.PASS
