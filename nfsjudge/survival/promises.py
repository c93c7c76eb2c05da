# SPDX-License-Identifier: MIT
"""What a server promises by an acknowledgement, and how a state after a crash breaks it."""

from __future__ import annotations

import enum
import typing as t
from dataclasses import dataclass, replace

from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.terms import outcome_of

_KINDS: t.Final = {"data": Deviation.DATA, "text": Deviation.DATA, "names": Deviation.NAMES}


class Promise(enum.Enum):
    """The kinds of acknowledgements. A check has a requirement for each."""

    NAMES = "a change of names"
    FILE_SYNC = "WRITE with FILE_SYNC"
    DATA_SYNC = "WRITE with DATA_SYNC"
    COMMIT = "COMMIT"
    UNSTABLE = "WRITE with UNSTABLE"
    """It may be lost, but it leaves nothing else in the file than what was written."""
    SETATTR = "SETATTR"
    """Where its effects may be lost (NFSv3), a state without them is one more that is allowed, and is reported."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A state after a crash that the acknowledgements do not allow. The texts are those of a failure."""

    promise: Promise
    what: str
    expected: str
    observed: str
    is_weak: bool = False
    """Only a SETATTR is lost, in a version of NFS whose list of synchronous procedures does not have it."""
    field: str = ""
    """What is wrong, in a word: ``data``, ``names``, ``nlink``."""

    @property
    def outcome(self) -> OutcomeRecord:
        """The same in fields."""
        kind = _KINDS.get(self.field, Deviation.FIELD)
        return outcome_of((self.expected,), self.observed, kind=kind, field=self.field)

    def inside(self, path: str) -> Violation:
        """The same, of an object with a path."""
        return replace(self, what=f"{self.what} of {path}")
