# SPDX-License-Identifier: MIT
"""FREE_STATEID (RFC 5661 section 18.38)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, proves, stated
from suites.nfs4.locks import WRITE_LT, lock_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, open_file

VALID_IS_LOCKS_HELD = stated(
    "RFC 5661", "18.38.3", "a stateid with valid locks of any kind is not freed: NFS4ERR_LOCKS_HELD"
)
FREED_IS_BAD = stated(
    "RFC 5661", "18.38.3", "after FREE_STATEID any subsequent use of the stateid gets NFS4ERR_BAD_STATEID"
)
OUTLIVES_ITS_LOCKS = stated(
    "RFC 5661",
    "8.2.4",
    "the stateid of byte-range locks is valid after the last LOCKU, until CLOSE or FREE_STATEID",
)
UNKNOWN_IS_BAD = stated(
    "RFC 5661", "15.1.5.2", "NFS4ERR_BAD_STATEID: the stateid does not designate any valid state"
)


@MINORS
@proves(VALID_IS_LOCKS_HELD, killed_by="freestateid4-frees-everything")
def test_open(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of an open fails with LOCKS_HELD, and the file stays open."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    reply = compounds.compound(op.free_stateid(opened.stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKS_HELD, because=VALID_IS_LOCKS_HELD)
    expect(compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))).ok()


@MINORS
@proves(VALID_IS_LOCKS_HELD, killed_by="freestateid4-frees-everything")
def test_locked(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of a lock-owner with locks fails with LOCKS_HELD."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    reply = compounds.compound(op.free_stateid(stateid))
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKS_HELD, because=VALID_IS_LOCKS_HELD)


@MINORS
@proves(
    FREED_IS_BAD,
    OUTLIVES_ITS_LOCKS,
    killed_by=("freestateid4-frees-nothing", "locku4-ends-the-stateid"),
)
def test_unlocked(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of a lock-owner without locks succeeds, and its stateid is bad afterwards."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 10)
    unlocked = expect(compounds.compound(op.putfh(opened.handle), op.locku(stateid, 0, 10))).ok().stateid
    reply = compounds.compound(op.free_stateid(unlocked))
    expect(reply, because=OUTLIVES_ITS_LOCKS).ok()
    tested = expect(compounds.compound(op.test_stateid(unlocked))).of(p.TEST_STATEID).ok()
    expect(
        list(tested.tsr_status_codes),
        "status codes",
        of=tested,
        field="tsr_status_codes",
        because=FREED_IS_BAD,
    ).equals([Nfsstat4.NFS4ERR_BAD_STATEID])


@MINORS
@proves(UNKNOWN_IS_BAD, killed_by="freestateid4-unknown-is-ok")
def test_closed(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """FREE_STATEID of a stateid that was closed fails with BAD_STATEID, or OLD_STATEID if the server keeps it."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    reply = compounds.compound(op.free_stateid(opened.stateid))
    # A server may retain the stateid for the same purpose (section 8.2.4).
    expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, Nfsstat4.NFS4ERR_OLD_STATEID, because=UNKNOWN_IS_BAD)
