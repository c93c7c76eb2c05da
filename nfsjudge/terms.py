# SPDX-License-Identifier: MIT
"""What values are, in words that records compare: a text for people keeps the term of what it shows.

`show(status)` is ``NFS3ERR_IO (5)`` for people, and has the term `NFS3ERR_IO`. Whoever raises a deviation passes such
texts on, and `outcome_of` makes the fields of its record of their terms.
"""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from nfsclient.xdr import XdrEnum, XdrType
from nfsjudge.deviation import ACCEPTED, AN_ERROR, REFUSALS, SUCCESS, UNNAMED, Deviation, OutcomeRecord
from nfsjudge.policy.engine import is_status, statuses

NONE: t.Final = "none"
ABSENT: t.Final = "absent"
PRESENT: t.Final = "present"
SILENCE: t.Final = "no reply"
CLOSED: t.Final = "a closed connection"
NUMBER: t.Final = "number"


class Term(t.NamedTuple):
    """What a value is."""

    name: str
    """``NFS3ERR_IO``, ``TRUE``, ``none``; of what has too many values, only what they are: ``number``."""
    kind: Deviation
    """What deviates where it is seen."""


class Shown(str):
    """A text for people that knows the term of what it shows."""

    __slots__ = ("term",)
    term: Term

    def __new__(cls, text: str, term: Term) -> t.Self:
        made = super().__new__(cls, text)
        made.term = term
        return made


_OF_RPC: t.Final = MappingProxyType(
    {
        **{name: Term(name, Deviation.STATUS) for name in (SUCCESS, AN_ERROR, ACCEPTED, *REFUSALS)},
        **{name: Term(name, Deviation.UNANSWERED) for name in (SILENCE, CLOSED)},
        **{name: Term(name, Deviation.FIELD) for name in (NONE, ABSENT, PRESENT)},
    }
)
"""The words that are terms themselves."""


def term_of_value(value: object) -> Term:  # noqa: PLR0911  (one case a kind)
    """What a value is."""
    match value:
        case XdrEnum() if is_status(value):
            return Term(SUCCESS if value == 0 else value.name, Deviation.STATUS)
        case enum.Flag():
            return Term("flags", Deviation.FIELD)
        case enum.Enum():
            return Term(value.name, Deviation.FIELD)
        case bool():
            return Term("TRUE" if value else "FALSE", Deviation.FIELD)
        case int() | float():
            return Term(NUMBER, Deviation.FIELD)
        case None:
            return Term(NONE, Deviation.FIELD)
        case str():
            return term_of(value) or Term("text", Deviation.FIELD)
        case bytes() | bytearray() | memoryview():
            return Term("bytes", Deviation.FIELD)
        case Mapping() | Sequence() | AbstractSet():
            return Term("list" if value else NONE, Deviation.FIELD)
        case XdrType():
            is_time = hasattr(value, "seconds")
            return Term("time" if is_time else type(value).__name__, Deviation.FIELD)
    return Term(UNNAMED, Deviation.FIELD)


def term_of(text: str) -> Term | None:
    """The term of what a text shows, if it is no more than that: a word of the vocabulary, or the name of a status."""
    if isinstance(text, Shown):
        return text.term
    return _OF_RPC.get(text) or (Term(text, Deviation.STATUS) if text in statuses() else None)


def worded(text: str, *words: str) -> Shown:
    """A limit in words, such as ``at most 4``: its term has the number left out."""
    return Shown(text, Term(" ".join([*words, NUMBER]), Deviation.FIELD))


def value_at(value: object, path: str) -> object:
    """What stands at a dotted path, which may have indices: ``entries[3].name``. None if nothing does."""
    for step in path.split("."):
        name, _, index = step.partition("[")
        value = getattr(value, name, None)
        if index and isinstance(value, list):
            value = value[int(index.rstrip("]"))]
    return value


def plain_path(path: str | None) -> str:
    """A dotted path without indices: ``entries.name`` of ``entries[3].name``."""
    return ".".join(step.partition("[")[0] for step in (path or "").split("."))


def outcome_of(
    expected: Sequence[str],
    observed: str,
    *,
    kind: Deviation | None = None,
    operation: str = "",
    what: str = "",
    field: str | None = None,
) -> OutcomeRecord:
    """The fields of an outcome: by the terms of the texts, as far as these have any.

    `kind` is that of values: a status or a missing reply says itself what it is. `what` is a noun for people: it is the
    name of a field if it is one word.
    """
    seen = term_of(observed)
    if seen is not None and (kind is None or seen.kind is not Deviation.FIELD):
        kind = seen.kind  # a status, or none, comes before what it was to be a status of
    kind = kind or Deviation.OTHER
    terms = [term_of(word) for word in expected]
    is_named = seen is not None or any(term is not None for term in terms)
    is_value = kind not in {Deviation.STATUS, Deviation.UNANSWERED}
    names = [
        term.name if term is not None and (is_value or term.kind is not Deviation.FIELD) else UNNAMED
        for term in terms
    ]
    return OutcomeRecord(
        str(kind),
        operation,
        names if is_named else [],
        "" if seen is None else seen.name,
        plain_path(field) or (what if what.replace(".", "_").isidentifier() else ""),
    )
