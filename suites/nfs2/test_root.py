# SPDX-License-Identifier: MIT
"""ROOT (RFC 1094 section 2.2.4) is obsolete and returns no results."""

from __future__ import annotations

from nfsclient.clients import Nfs2
from nfsjudge import expect_that, proves, should
from suites.nfs2.objects import surplus_results

ROOT_RETURNS_NOTHING = should(  # it is no longer used: an answer of another form does no harm
    "RFC 1094", "2.2.4", "the obsolete procedure ROOT takes no arguments and returns no results"
)


@proves(ROOT_RETURNS_NOTHING, killed_by="root2-returns-a-status")
def test_no_results(nfs2: Nfs2) -> None:
    """ROOT returns no results."""
    wrong = surplus_results(nfs2.root)
    expect_that(not wrong, "no results", wrong, "reply to ROOT")
