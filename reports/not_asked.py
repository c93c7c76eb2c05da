# SPDX-License-Identifier: MIT
"""Checks that were given up before their claim was tried: counted by reason, since each says the same."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Iterable

from nfsjudge.reason import Lack
from nfsjudge.records import CheckRecord

NOT_ASKED: t.Final = "not asked: "
"""How the reason of such a check begins."""


def is_not_asked(record: CheckRecord) -> bool:
    """Whether a check was given up: the target is gone, does not answer, or there was no time left."""
    if record.verdict != "VOID":
        return False
    # Of a version that had no fields, the text is all that is known.
    return record.reason.startswith(NOT_ASKED) if record.why is None else record.why.kind == Lack.NOT_ASKED


def not_asked(records: Iterable[CheckRecord]) -> list[tuple[str, int]]:
    """The reasons with the number of checks, the most first: ("not asked: the target is gone since ...", 1472)."""
    return Counter(record.reason for record in records if is_not_asked(record)).most_common()


def number_of(number: int, noun: str) -> str:
    """A large number with its noun: ``1,472 checks``."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"
