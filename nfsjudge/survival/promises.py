# SPDX-License-Identifier: MIT
"""What a server promises by an acknowledgement, and how a state after a crash breaks it."""

from __future__ import annotations

import enum
from dataclasses import dataclass


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

    def inside(self, path: str) -> Violation:
        """The same, of an object with a path."""
        return Violation(self.promise, f"{self.what} of {path}", self.expected, self.observed, self.is_weak)
