# SPDX-License-Identifier: MIT
"""The clauses that several files of checks about faults prove."""

from __future__ import annotations

from nfsjudge import Requirement

COPIES_ARE_EXECUTIONS = Requirement(
    rfc="RFC 1831",
    section="4",
    gist="a call that comes again is executed once more, or not; it has no other effect",
)
