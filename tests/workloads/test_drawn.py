# SPDX-License-Identifier: MIT
"""A fixed sample of drawn settings of the knobs: a right server, whatever it chooses, is not red."""

from __future__ import annotations

import pytest

from nfsjudge.verdict import Verdict
from nfsserver.knobs import draw
from tests.workloads.rig import run_whole


@pytest.mark.parametrize(
    ("seed", "workload", "version", "policy"),
    [
        (45, "write10", "3", "v3-like"),
        (46, "connectathon-basic", "4.2", "v4-like"),
        (47, "find", "4.1", "raw"),
        (48, "recall", "4.1", "delegated"),
    ],
)
def test_a_drawn_setting_is_not_red(seed: int, workload: str, version: str, policy: str) -> None:
    outcome, _ = run_whole(
        workload,
        version=version,
        policy=policy,
        prepare=lambda server: server.knobs.update(**draw(seed)),
        parameters={"recall": {"files": 3}, "find": {"files": 20, "directories": 4, "levels": 2}}.get(
            workload
        ),
    )
    assert (outcome.result.verdict, outcome.result.reasons) == (Verdict.PASS, ())
    assert outcome.left == ()
