# SPDX-License-Identifier: MIT
"""Calls that a delegation of an NFSv4.1 client is in the way of: JUKEBOX, or a late reply (RFC 5661 section 10.2).

`test_jukebox.py` has what JUKEBOX means; there a knob stands for the other client.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsjudge import proves
from suites.nfs3.calls import CALLS
from suites.nfs4.other_versions import OTHERS_WAIT, expect_recall


@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize("name", ["write", "setattr", "remove"])
@proves(
    OTHERS_WAIT,
    killed_by=("nfs3-ignores-delegations", "nfs3-executes-while-it-recalls", "nfs3-delays-after-the-return"),
)
def test_recall(v3: Nfs3Dialect, v4: Nfs4Dialect, name: str, access: str) -> None:
    """A change by NFSv3 recalls a delegation, waits or gets JUKEBOX while it is out, and then succeeds."""
    expect_recall(v4, v3, access, CALLS[name])
