# SPDX-License-Identifier: MIT
"""The clauses that several files of checks about faults prove."""

from __future__ import annotations

from nfsjudge import stated

COPIES_ARE_EXECUTIONS = stated(
    "RFC 1831", "4", "a call that comes again is executed once more, or not; it has no other effect"
)
