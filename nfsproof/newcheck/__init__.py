# SPDX-License-Identifier: MIT
"""`nfsproof new-check`: writes the frame of a check, of its clause and of its mutant, red until it is filled in."""

from __future__ import annotations

from nfsproof.newcheck.plan import CannotMake, Plan, Wish, make_plan
from nfsproof.newcheck.writing import Written, write_check

TESTS = (
    "tests/nfsmutants",
    "tests/suites/test_clauses.py",
    "tests/plugin/test_plugin_marks.py::test_a_claim_about_a_field_says_which",
    "tests/style/test_words.py",
)
"""Our own tests that read checks, clauses and mutants: what a new check can break, besides what other commands see."""

__all__ = ["TESTS", "CannotMake", "Plan", "Wish", "Written", "make_plan", "write_check"]
