# SPDX-License-Identifier: MIT
"""Inconclusive statuses that mean the same in several protocols. Each table gives them its own numbers."""

from __future__ import annotations

import typing as t

from nfsjudge.policy.engine import Ends, Inconclusive
from nfsjudge.reason import Lack
from nfsjudge.verdict import Verdict

NO_ROOM: t.Final = Inconclusive(Verdict.SKIP, Ends.NAMED, "there is no room")
QUOTA: t.Final = Inconclusive(Verdict.SKIP, Ends.NAMED, "the quota is used up")
TOO_SMALL: t.Final = Inconclusive(Verdict.SKIP, Ends.SUCCESS, "the server wants a larger buffer")
NOT_READY: t.Final = Inconclusive(
    Verdict.SKIP, Ends.ANY, "the server is still not ready after all retries", lack=Lack.NOT_READY
)
DENIED: t.Final = Inconclusive(Verdict.SKIP, Ends.OK, "the server denies it")
"""Who may do what is the server's policy (RFC 1813 sections 2.6 and 4.4)."""
NOT_SUPPORTED: t.Final = Inconclusive(
    Verdict.UNSUPPORTED, Ends.ANY, "the server answers NOTSUPP", lack=Lack.NOT_SUPPORTED
)
"""Any procedure may answer so (RFC 1813 section 1.6)."""


def too_large(*replies: type) -> Inconclusive:
    """Files of the server cannot be as large. Another check tests whether they can be as large as FSINFO says."""
    return Inconclusive(Verdict.SKIP, Ends.OK, "the server's files are smaller", replies)
