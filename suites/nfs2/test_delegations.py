# SPDX-License-Identifier: MIT
"""Calls that a delegation of an NFSv4.1 client is in the way of (RFC 5661 section 10.2).

NFSv2 has no status for that: the reply comes late, or not at all, and the client makes the call again.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsjudge import proves
from suites.nfs2.calls import CALLS
from suites.nfs4.other_versions import OTHERS_WAIT, expect_recall

pytestmark = pytest.mark.late


@side_by_side
@pytest.mark.parametrize("name", ["write", "setattr"])
@proves(OTHERS_WAIT, killed_by=("nfs2-ignores-delegations", "nfs2-executes-while-it-recalls"))
def test_recall(v2: Nfs2Dialect, v4: Nfs4Dialect, name: str) -> Waiting[None]:
    """A change by NFSv2 recalls a delegation, is not answered with success while it is out, and then succeeds."""
    yield from expect_recall(v4, v2, "read", CALLS[name])
