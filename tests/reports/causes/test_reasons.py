# SPDX-License-Identifier: MIT
"""Why checks were not judged: a line for each reason, which says what would have to be given."""

from __future__ import annotations

import pytest

from nfsjudge.records import CheckRecord
from nfstargets.control import missing_control
from nfstargets.control.actions import ACTIONS
from reports.causes import reasons
from reports.causes.reasons import short_reason
from reports.floor import too_little
from suites.losses import LOSES_NOTHING

KEPT = ("data that WRITE did not commit", "the atime that READDIR moved")


def skipped(number: int, reason: str) -> list[CheckRecord]:
    return [CheckRecord(f"recovery/x/{reason[-20:]}-{one}", "SKIP", reason=reason) for one in range(number)]


def test_a_crash_that_loses_nothing_is_one_reason() -> None:
    records = [one for kept in KEPT for one in skipped(40, f"{LOSES_NOTHING} ({kept} is still there)")]
    (reason,) = reasons(records)
    assert "only a reset of the machine" in reason.line
    assert reason.line.endswith("80 checks not judged")
    (line,) = too_little(records)
    assert line.endswith(f"{LOSES_NOTHING} (80)")


@pytest.mark.parametrize("name", ACTIONS)
def test_a_missing_control_says_how_it_is_given(name: str) -> None:
    text = missing_control(name)
    assert f"--control {name}=COMMAND" in text
    assert short_reason(text) == text  # neither cut nor changed
    assert ("--control free_disk=COMMAND" in text) is (name in {"fill_disk", "free_disk"})


def test_a_control_that_no_command_stands_for() -> None:
    assert "only servers that nfsproof starts have it" in missing_control("known_clients")


def test_other_parentheses_stay() -> None:
    text = "MNT: the server does not have this procedure (PROC_UNAVAIL)"
    assert short_reason(text) == text
