# SPDX-License-Identifier: MIT
"""Why a check was not judged, in fields: what the sentence says for people, for what groups records.

Who knows the reason makes the sentence and its fields together (`because`), and nobody reads them back from the text.
Where nobody has given fields, the text itself is the reason.
"""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


class Lack(enum.StrEnum):
    """What was missing for a verdict. In brackets: the fields that are equal in two reasons that are the same."""

    OTHER = "other"
    """Something else, which only the text says (`text`)."""
    VERSION = "version"
    """The server does not serve a program, or not in this version (`title`)."""
    FORM = "form"
    """It answers the calls of this version in the form of another one (`title`)."""
    CHOSEN = "chosen"
    """The run, or the URL of the target, is about another version (`title`, which names that one)."""
    SERVICE = "service"
    """The run knows no port of a service of the target (`title`)."""
    OPERATION = "operation"
    """RPC answers that the program has no such procedure (`operation`)."""
    ANSWER = "answer"
    """The answer of an operation to what was needed first (`operation`, `status`)."""
    REFUSED = "refused"
    """An error that says nothing of the claim, whichever operation answers it: no room, a denial (`status`)."""
    NOT_SUPPORTED = "not supported"
    """NOTSUPP, whichever operation answers it (none)."""
    NOT_READY = "not ready"
    """The server asks to wait, longer than the run has patience (`status`)."""
    DECLARED = "declared"
    """Its owner says that it does not have a capability: `--lacks` (none)."""
    CONTROL = "control"
    """What nfsproof cannot do to the server from outside (`control`)."""
    KNOBS = "knobs"
    """Only the embedded server can be set so (none)."""
    NOT_ASKED = "not asked"
    """The check was given up before its claim was tried: the target does not answer, or no time is left (`text`)."""
    KEPT = "kept"
    """The crash has lost nothing, so it shows nothing (none)."""


@dataclass(slots=True)
class ReasonRecord:
    """Why a check was not judged. Names of statuses and operations are those of RFCs; what is not known is empty."""

    kind: str = Lack.OTHER.value
    """A value of `Lack`."""
    text: str = ""
    """In one line, without what varies between checks with the same reason, and without the log of a server."""
    doubt: str = ""
    """Of a capability: ``fails`` if its probe met an error, ``not known`` if that came to no answer."""
    capability: str = ""
    """The capability that the check needs."""
    title: str = ""
    """The version of a program, as people write it: ``NFSv3``, ``MOUNT version 3``."""
    program: int = 0
    """The same as numbers; 0 if no program is meant."""
    version: int = 0
    operation: str = ""
    """What was answered with an error, or is missing: ``MKNOD``."""
    status: str = ""
    """The error: ``NFS3ERR_NOTSUPP``."""
    control: str = ""
    """The action that nobody can carry out: ``crash``."""


class Because(str):
    """A reason for people that has its fields with it."""

    __slots__ = ("fields",)
    fields: ReasonRecord

    def __new__(cls, text: str, fields: ReasonRecord) -> t.Self:
        made = super().__new__(cls, text)
        made.fields = fields
        return made

    def __getnewargs__(self) -> tuple[str, ReasonRecord]:  # type: ignore[override]
        return str(self), self.fields


def because(kind: Lack, text: str, *, short: str = "", **fields: t.Any) -> Because:
    """A reason with fields of `ReasonRecord`. `short`: the text that is shown of many checks, if it is another one."""
    return Because(text, ReasonRecord(kind.value, short or text, **fields))


def fields_of(text: str) -> ReasonRecord:
    """The fields of a reason; of a text that has none, its first line is all that is known."""
    if isinstance(text, Because):
        return text.fields
    return ReasonRecord(text=text.partition("\n")[0])


def fields_in(capabilities: Mapping[str, str]) -> list[ReasonRecord]:
    """The fields of the values of capabilities that have some, with the names."""
    return [
        replace(value.fields, capability=name)
        for name, value in capabilities.items()
        if isinstance(value, Because)
    ]


def with_fields(capabilities: Mapping[str, str], lacking: Iterable[ReasonRecord]) -> dict[str, str]:
    """The values of capabilities in a record, with their fields."""
    known = {reason.capability: reason for reason in lacking}
    return {
        name: Because(value, known[name]) if name in known else value for name, value in capabilities.items()
    }


def within(text: str, reason: str, /, **fields: t.Any) -> Because:
    """A longer sentence about the same reason; `fields` are those that it adds or changes."""
    return Because(text, replace(fields_of(reason), **fields))
