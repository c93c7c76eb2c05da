# SPDX-License-Identifier: MIT
"""Calls that a delegation of an NFSv4.1 client is in the way of: JUKEBOX, or a late reply (RFC 5661 section 10.2).

`test_jukebox.py` has what JUKEBOX means; there a knob stands for the other client.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Dialect
from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.protocol.nfs3 import CREATE, CreateMode3, Sattr3
from nfsjudge import proves
from suites.catalogue import Call
from suites.nfs3.calls import CALLS, create_arguments
from suites.nfs4.other_versions import OTHERS_WAIT, READS_CONFLICT, expect_recall

pytestmark = pytest.mark.late

_TRUNCATING = Call(
    CREATE, lambda on: create_arguments(on._replace(attributes=Sattr3(size=0)), CreateMode3.UNCHECKED)
)


@side_by_side
@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize("name", ["write", "setattr", "remove", "rename", "link"])
@proves(
    OTHERS_WAIT,
    killed_by=("nfs3-ignores-delegations", "nfs3-executes-while-it-recalls", "nfs3-delays-after-the-return"),
)
def test_recall(v3: Nfs3Dialect, v4: Nfs4Dialect, name: str, access: str) -> Waiting[None]:
    """A change by NFSv3 recalls a delegation, waits or gets JUKEBOX while it is out, and then succeeds."""
    yield from expect_recall(v4, v3, access, CALLS[name])


@side_by_side
@pytest.mark.parametrize("access", ["read", "write"])
@proves(
    OTHERS_WAIT,
    killed_by=("nfs3-ignores-delegations", "nfs3-executes-while-it-recalls", "nfs3-delays-after-the-return"),
)
def test_truncating_create(v3: Nfs3Dialect, v4: Nfs4Dialect, access: str) -> Waiting[None]:
    """CREATE UNCHECKED that truncates a file recalls its delegation, waits while it is out, and then succeeds."""
    yield from expect_recall(v4, v3, access, _TRUNCATING, truncates=7)


@side_by_side
@proves(READS_CONFLICT, killed_by=("nfs3-ignores-delegations", "nfs3-executes-while-it-recalls"))
def test_read(v3: Nfs3Dialect, v4: Nfs4Dialect) -> Waiting[None]:
    """READ by NFSv3 recalls a write delegation, and does not succeed while that is out."""
    yield from expect_recall(v4, v3, "write", CALLS["read"], READS_CONFLICT)
