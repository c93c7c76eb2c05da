# SPDX-License-Identifier: MIT
"""An outcome in fields: what a sentence of a failure text says for people, for what compares records.

Who finds a deviation fills it (`nfsjudge.terms`, `fixtures.plugin.classify`), and nobody reads it back from the text.
Causes, severities and harm are decided by these fields alone.
"""

from __future__ import annotations

import enum
import typing as t
from dataclasses import dataclass, field


class Deviation(enum.StrEnum):
    """What kind of thing is not as expected."""

    STATUS = "status"
    """The status of an operation, or what RPC answered: ``NFS3ERR_IO``, ``GARBAGE_ARGS``."""
    FIELD = "field"
    """A value in results."""
    DATA = "data"
    """The contents of a file, or of a link."""
    NAMES = "names"
    """The names in a directory."""
    UNDECODABLE = "undecodable"
    """The form of a message."""
    UNANSWERED = "unanswered"
    """No reply came, or the connection was closed instead."""
    DIED = "died"
    """The server ended."""
    GREW = "grew"
    """The server took memory out of proportion."""
    OTHER = "other"
    """Something else, which the check puts in its own words."""


OF_FORM: t.Final = frozenset({Deviation.UNDECODABLE, Deviation.UNANSWERED})
"""What any operation may break in the same way: the clause says nothing of the defect."""
SUCCESS: t.Final = "success"
AN_ERROR: t.Final = "an error"
"""Any error, where no particular one is expected."""
UNNAMED: t.Final = "other"
"""What was expected, where only a sentence says what that is."""
LACKED_MEMORY: t.Final = "lack of memory"
"""How a server ended that was granted no more memory, whatever its process said then."""
PADDING: t.Final = "padding"
"""Seen in a message whose padding is not zero: it may be of the memory of the server."""
_SAYS_GONE: t.Final = frozenset({"NOENT"})
"""Errors that show the loss of an object; others say only that the server refused to do something with it.

STALE and its like do not: a handle may be revoked at any time (RFC 1813 section 2.5), and the name still be there."""


@dataclass(slots=True)
class OutcomeRecord:
    """What deviates in a check or a finding. Names of statuses and types are those of the RFCs."""

    kind: str = Deviation.OTHER.value
    """A value of `Deviation`."""
    operation: str = ""
    """Whose answer deviates: ``READ``. Empty if it is that of no single operation."""
    expected: list[str] = field(default_factory=list)
    """What is acceptable: statuses by name, ``success``, ``an error``; of values their kind: ``TRUE``, ``number``."""
    seen: str = ""
    """The same of what was seen. Empty where only a sentence says it."""
    field: str = ""
    """Where in the result, as a dotted path without indices: ``resok.eof``; or what the check calls it, in a word."""
    ended: str = ""
    """How the server ended: ``exit status 2``, ``signal 11 (SIGSEGV)``, ``lack of memory``."""
    pending: str = ""
    """The operation that was not answered when it did."""

    @property
    def name(self) -> str:
        """The last part of the field: ``eof``."""
        return self.field.rpartition(".")[2]

    @property
    def is_error(self) -> bool:
        """Whether an error was seen: of an operation, not of RPC."""
        return self.kind == Deviation.STATUS and is_error(self.seen)

    @property
    def is_wrong_error(self) -> bool:
        """Whether an error was seen where only other errors are right."""
        return self.is_error and bool(self.expected) and all(map(is_error, self.expected))

    @property
    def is_refusal(self) -> bool:
        """Whether no results came, or an error instead of success or of another error: then nothing wrong was done.

        Instead of success, an error may say that the object is gone, which is a loss and no refusal.
        """
        if self.kind == Deviation.UNANSWERED or (self.kind == Deviation.STATUS and self.seen in REFUSALS):
            return True
        if not self.is_error or not self.expected:
            return False
        if SUCCESS in self.expected and short(self.seen) in _SAYS_GONE:
            return False
        return all(term == SUCCESS or is_error(term) for term in self.expected)


ACCEPTED: t.Final = "SUCCESS"
"""What RPC answers where results follow."""
FAILED_INSIDE: t.Final = "SYSTEM_ERR"
REFUSALS: t.Final = frozenset(
    {
        "PROG_UNAVAIL",
        "PROG_MISMATCH",
        "PROC_UNAVAIL",
        "GARBAGE_ARGS",
        FAILED_INSIDE,
        "RPC_MISMATCH",
        "AUTH_ERROR",
    }
)
"""What RPC answers instead of results (RFC 5531 section 9)."""


_NO_ERRORS: t.Final = frozenset({"", SUCCESS, ACCEPTED, UNNAMED, *REFUSALS})


def is_error(name: str) -> bool:
    """Whether the name of a status is one of an error, whatever the protocol. Of terms, only names are one word."""
    return name == AN_ERROR or (name not in _NO_ERRORS and " " not in name)


def short(name: str) -> str:
    """A status without its protocol: ``NOENT``."""
    return name.rpartition("ERR_")[2]
