# SPDX-License-Identifier: MIT
"""Exit statuses. docs/verdicts-and-exit-codes.md documents them."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """pytest's own, 0 to 5, with their meaning narrowed; ours begin at 10."""

    OK = 0
    FAIL = 1
    INTERRUPTED = 2
    INTERNAL = 3
    USAGE = 4
    NOTHING = 5
    VOID = 10
    BASELINE = 11


EXIT_CODES = {
    Exit.OK: "nothing is red",
    Exit.FAIL: "a check failed",
    Exit.INTERRUPTED: "interrupted",
    Exit.INTERNAL: "internal error",
    Exit.USAGE: "wrong usage, or the target does not answer",
    Exit.NOTHING: "no check was selected",
    Exit.VOID: "no check failed but one could not be judged (VOID), or too few could",
    Exit.BASELINE: "the run differs from its baseline",
}


class Trouble(Exception):
    """Something that the user can fix: printed without a traceback, exit status 4."""
