# SPDX-License-Identifier: MIT
"""Judging: requirements, verdicts, `expect()`, records, transcripts and captures."""

from __future__ import annotations

from nfsjudge.expect import expect, expect_error, show
from nfsjudge.outcome import (
    Nonconformance,
    Proof,
    Skipped,
    Unsupported,
    observe,
    proof_of,
    proves,
    running,
    skip,
    unsupported,
)
from nfsjudge.requirement import Level, Part, Requirement
from nfsjudge.verdict import Verdict, worst

__all__ = [
    "Level",
    "Nonconformance",
    "Part",
    "Proof",
    "Requirement",
    "Skipped",
    "Unsupported",
    "Verdict",
    "expect",
    "expect_error",
    "observe",
    "proof_of",
    "proves",
    "running",
    "show",
    "skip",
    "unsupported",
    "worst",
]
