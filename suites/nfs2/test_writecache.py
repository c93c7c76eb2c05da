# SPDX-License-Identifier: MIT
"""WRITECACHE (RFC 1094 section 2.2.8) is not used and returns no results."""

from __future__ import annotations

from nfsclient.clients import Nfs2
from nfsjudge import expect_that, proves, should
from suites.nfs2.objects import surplus_results

WRITECACHE_RETURNS_NOTHING = should(
    "RFC 1094",
    "2.2.8",
    "WRITECACHE, reserved for a later revision, takes no arguments and returns no results",
)


@proves(WRITECACHE_RETURNS_NOTHING, killed_by="writecache2-returns-a-status")
def test_no_results(nfs2: Nfs2) -> None:
    """WRITECACHE returns no results."""
    wrong = surplus_results(nfs2.writecache)
    expect_that(not wrong, "no results", wrong, "reply to WRITECACHE")
