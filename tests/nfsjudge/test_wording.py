# SPDX-License-Identifier: MIT
"""Numbers with nouns."""

from __future__ import annotations

from nfsjudge.wording import count


def test_one_has_no_s() -> None:
    assert [count(number, "check") for number in (0, 1, 2)] == ["0 checks", "1 check", "2 checks"]
    assert [count(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
