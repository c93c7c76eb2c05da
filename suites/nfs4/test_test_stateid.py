# SPDX-License-Identifier: MIT
"""TEST_STATEID (RFC 5661 section 18.48)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, proves, stated
from suites.nfs4.locks import WRITE_LT, lock_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, open_file

A_STATUS_FOR_EACH = stated(
    "RFC 5661",
    "18.48.3",
    "for each stateid, the status that its use in normal operation would have is returned",
)
SPECIAL_IS_BAD = stated(
    "RFC 5661", "18.48.3", "special stateids are always considered invalid: NFS4ERR_BAD_STATEID"
)


def codes(compounds: Compounds, *stateids: p.Stateid4) -> list[Nfsstat4]:
    """The status of each stateid."""
    result = expect(compounds.compound(op.test_stateid(*stateids))).of(p.TEST_STATEID).ok()
    return list(result.tsr_status_codes)


@MINORS
@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-nothing-is-valid")
def test_valid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The stateids of an open and of locks are valid, without a current filehandle."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    locked = lock_range(compounds, opened, WRITE_LT, 0, 10)
    expect(codes(compounds, opened.stateid, locked), "status codes", field="tsr_status_codes").equals(
        [Nfsstat4.NFS4_OK] * 2
    )


@MINORS
@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-all-are-valid")
def test_order(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Among stateids of which one was closed, that one is bad."""
    closed, other = (open_file(compounds, scratch.file(name), BOTH) for name in ("one", "other"))
    expect(compounds.compound(op.putfh(closed.handle), op.close(closed.stateid))).ok()
    found = codes(compounds, other.stateid, closed.stateid, other.stateid)
    expect(len(found), "status codes").equals(3)
    expect([found[0], found[2]], "status codes of the open").equals([Nfsstat4.NFS4_OK] * 2)
    expect(found[1], "status code of the stateid that was closed").one_of(
        Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_OLD_STATEID, Nfsstat4.NFS4ERR_EXPIRED
    )


@MINORS
@proves(A_STATUS_FOR_EACH, killed_by="teststateid4-ignores-the-seqid")
def test_future_seqid(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A seqid that the stateid never had is bad."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    future = p.Stateid4(opened.stateid.seqid + 5, opened.stateid.other)
    expect(codes(compounds, future), "status codes", field="tsr_status_codes").equals(
        [Nfsstat4.NFS4ERR_BAD_STATEID]
    )


@MINORS
@pytest.mark.parametrize(
    "stateid",
    [p.ANONYMOUS_STATEID, p.READ_BYPASS_STATEID, p.CURRENT_STATEID, p.INVALID_STATEID],
    ids=["anonymous", "bypass", "current", "invalid"],
)
@proves(SPECIAL_IS_BAD, killed_by="teststateid4-all-are-valid")
def test_special(compounds: Compounds, stateid: p.Stateid4) -> None:
    """Special stateids are bad."""
    expect(codes(compounds, stateid), "status codes", field="tsr_status_codes").equals(
        [Nfsstat4.NFS4ERR_BAD_STATEID]
    )
