# SPDX-License-Identifier: MIT
"""Why a check was not judged, as its record says it: what is equal in two reasons that are the same, and one line.

The fields decide (`nfsjudge.reason`). Where a reason has none, texts are compared without names and numbers.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterable
from dataclasses import replace

from nfsjudge.reason import Lack, ReasonRecord, fields_of
from nfsjudge.records import CheckRecord
from reports.plain import printable

_LONGEST = 1000
"""Characters of a text that are looked at: what a server sent may be as long as it likes."""
_VARIES = (
    (re.compile(r"'[^']*'|\"[^\"]*\""), "'...'"),
    (re.compile(r"\b(?:0x)?\d[0-9a-f]{7,}\b|\b\d[\d,.]*\b"), "N"),
    (re.compile(r"\s+"), " "),
)
"""What differs between two reasons, or two nouns, that say the same: names, handles, numbers."""
_SAME: t.Final[t.Mapping[str, tuple[str, ...]]] = {
    Lack.VERSION: ("title",),
    Lack.FORM: ("title",),
    Lack.CHOSEN: ("title",),
    Lack.SERVICE: ("title",),
    Lack.OPERATION: ("title", "operation"),
    Lack.ANSWER: ("operation", "status"),
    Lack.REFUSED: ("status",),
    Lack.NOT_SUPPORTED: (),
    Lack.NOT_READY: ("status",),
    Lack.DECLARED: (),
    Lack.CONTROL: ("control",),
    Lack.KNOBS: (),
    Lack.KEPT: (),
}
"""Kind of a reason -> the fields that are equal in two that are the same."""


def shape(text: str) -> str:
    """A free text without what varies: for reasons and nouns, which have no fields."""
    found = text[:_LONGEST]
    for pattern, stand_in in _VARIES:
        found = pattern.sub(stand_in, found)
    return found.strip()


def plain_line(text: str) -> str:
    """A text from anywhere in one line, of limited length."""
    return " ".join(printable(text[:_LONGEST]).split())


def reason_of(record: CheckRecord) -> ReasonRecord:
    """Why a check was not judged. Of a record of a version that had no fields for it, the text is all that is known."""
    return record.why or fields_of(record.reason)


def key_of(reason: ReasonRecord) -> tuple[object, ...]:
    """What is equal in two reasons that are the same."""
    of_probe = reason.capability if reason.doubt == "fails" else ""
    if (names := _SAME.get(reason.kind)) is None:
        return of_probe, shape(short_text(reason))
    return of_probe, reason.kind, *(getattr(reason, name) for name in names)


def text_of(reasons: Iterable[ReasonRecord]) -> str:
    """Reasons that are the same, in one line."""
    known = list(reasons)
    first, *others = dict.fromkeys(map(short_text, known))
    if not others or known[0].kind != Lack.ANSWER:
        return first
    return short_text(replace(known[0], text=f"{known[0].operation} answers {known[0].status}"))


def short_text(reason: ReasonRecord) -> str:
    """A reason in one line. A probe that met an error says which capability it was about."""
    text = plain_line(reason.text) or "no reason was recorded"
    return f"{reason.capability} fails: {text}" if reason.doubt == "fails" else text
