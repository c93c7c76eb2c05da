# SPDX-License-Identifier: MIT
"""Judging: requirements, verdicts, `expect()`, records, transcripts and captures."""

from __future__ import annotations

from nfsjudge import policy
from nfsjudge.expect import expect_error
from nfsjudge.harm import Harm
from nfsjudge.judge import expect
from nfsjudge.outcome import (
    Damage,
    Nonconformance,
    Proof,
    Skipped,
    Unsupported,
    measure,
    observe,
    proof_of,
    proves,
    running,
    skip,
    unsupported,
)
from nfsjudge.requirement import Level, Part, Requirement, may, must, should, stated
from nfsjudge.showing import show
from nfsjudge.verbs import (
    expect_all,
    expect_attributes,
    expect_data,
    expect_names,
    expect_once,
    expect_that,
    expect_unchanged,
)
from nfsjudge.verdict import Verdict, worst

__all__ = [
    "Damage",
    "Harm",
    "Level",
    "Nonconformance",
    "Part",
    "Proof",
    "Requirement",
    "Skipped",
    "Unsupported",
    "Verdict",
    "expect",
    "expect_all",
    "expect_attributes",
    "expect_data",
    "expect_error",
    "expect_names",
    "expect_once",
    "expect_that",
    "expect_unchanged",
    "may",
    "measure",
    "must",
    "observe",
    "policy",
    "proof_of",
    "proves",
    "running",
    "should",
    "show",
    "skip",
    "stated",
    "unsupported",
    "worst",
]
