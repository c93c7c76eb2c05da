# SPDX-License-Identifier: MIT
"""Special stateids (RFC 5661 sections 8.2.3 and 9.1.2): where they are valid, and what they cannot bypass."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import Harm, expect, expect_data, must, observe, proves, stated
from suites.nfs4.locks import WRITE_LT, lock_range, test_range
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, open_file
from suites.nfs4.test_stateids import WITH_STATEID

RESERVED_IS_BAD = must(
    "RFC 5661",
    "8.2.3",
    "a stateid whose other is all zeros or all ones, and which is no special stateid, gets NFS4ERR_BAD_STATEID",
)
OUT_OF_PLACE_IS_BAD = stated(
    "RFC 5661",
    "8.2.4",
    "a special stateid where an open, lock or delegation is needed gets NFS4ERR_BAD_STATEID",
)
SHARES_REFUSE_IO = must(
    "RFC 5661",
    "9.1.2",
    "READ or WRITE that conflicts with a share reservation is refused, whatever its stateid",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.6")},
)
DENIAL_IS_LOCKED = stated(
    "RFC 5661",
    "9.1.2",
    "READ or WRITE that an OPEN denies is rejected with NFS4ERR_LOCKED",
    also={"4.0": ("RFC 7530", "9.1.6")},
)
WRITE_BYPASSES_NOTHING = must(
    "RFC 5661",
    "9.1.2",
    "WRITE and SETATTR of the size with the READ bypass stateid do not bypass share reservations",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.6")},
)
READING_FOR_WRITERS_IS_CHECKED = must(
    "RFC 5661",
    "9.1.2",
    "a server that lets a file that is open for writing only be read still checks what other opens deny",
    harm=Harm.DATA,
)
_OUT_OF_PLACE: t.Final = ("lock", "open_downgrade", "close", "locku", "delegreturn", "free_stateid")
_RESERVED: t.Final = (
    p.Stateid4(2, bytes(12)),
    p.Stateid4(0, b"\xff" * 12),
    p.Stateid4(1, b"\xff" * 12),
)
_WHO = pytest.mark.parametrize("who", ["other", "same"])


@pytest.mark.parametrize("operation", WITH_STATEID)
@proves(RESERVED_IS_BAD, killed_by=("stateids4-reserved-are-any", "stateids4-reserved-write"))
def test_undefined(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation with a reserved stateid that has no meaning is refused, and changes nothing."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    for stateid in _RESERVED:
        reply = compounds.compound(op.putfh(opened.handle), WITH_STATEID[operation](stateid))
        expect_data(scratch.read(opened.handle), b"data")
        expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=RESERVED_IS_BAD)


@pytest.mark.parametrize("operation", _OUT_OF_PLACE)
@proves(OUT_OF_PLACE_IS_BAD, killed_by="stateids4-special-are-any")
def test_misplaced(compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """An operation that needs an open, a lock or a delegation is refused with a special stateid."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    for stateid in (p.ANONYMOUS_STATEID, p.READ_BYPASS_STATEID):
        reply = compounds.compound(op.putfh(opened.handle), WITH_STATEID[operation](stateid))
        expect(reply).refused(Nfsstat4.NFS4ERR_BAD_STATEID, because=OUT_OF_PLACE_IS_BAD)
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10)).ok()
    expect(compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"more"))).ok()


# ---------------------------------------------------------------- share reservations


@_WHO
@proves(
    SHARES_REFUSE_IO,
    DENIAL_IS_LOCKED,
    killed_by=("write4-anonymous-ignores-denials", "data4-denied-is-access"),
)
def test_write_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, who: str) -> None:
    """WRITE with the anonymous stateid fails with LOCKED while an open denies writing, and writes nothing."""
    file = scratch.file("file", b"data")
    open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE)
    caller = compounds if who == "same" else another_client(v4)
    reply = caller.compound(op.putfh(file), op.write(p.ANONYMOUS_STATEID, 0, b"more"))
    expect_data(scratch.read(file), b"data")
    expect(reply, because=SHARES_REFUSE_IO).refused(Nfsstat4.NFS4ERR_LOCKED, because=DENIAL_IS_LOCKED)


@_WHO
@proves(
    SHARES_REFUSE_IO,
    DENIAL_IS_LOCKED,
    killed_by=("read4-anonymous-ignores-denials", "data4-denied-is-access"),
)
def test_read_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, who: str) -> None:
    """READ with the anonymous stateid fails with LOCKED while an open denies reading."""
    file = scratch.file("file", b"data")
    open_file(compounds, file, WRITE, p.OPEN4_SHARE_DENY_READ)
    caller = compounds if who == "same" else another_client(v4)
    reply = caller.compound(op.putfh(file), op.read(p.ANONYMOUS_STATEID, 0, 4))
    expect(reply, because=SHARES_REFUSE_IO).refused(Nfsstat4.NFS4ERR_LOCKED, because=DENIAL_IS_LOCKED)


@proves(SHARES_REFUSE_IO, killed_by="data4-denied-forever")
def test_denial_ends(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ and WRITE with the anonymous stateid succeed again once the open that denied them is closed."""
    file, other = scratch.file("file", b"data"), another_client(v4)
    opened = open_file(compounds, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    acts = op.read(p.ANONYMOUS_STATEID, 0, 4), op.write(p.ANONYMOUS_STATEID, 0, b"more")
    for act in acts:
        expect(other.compound(op.putfh(file), act)).refused()
    expect(compounds.compound(op.putfh(file), op.close(opened.stateid))).ok()
    for act in acts:
        expect(other.compound(op.putfh(file), act)).ok()


@pytest.mark.parametrize("operation", ["write", "setattr"])
@proves(WRITE_BYPASSES_NOTHING, killed_by="changes4-bypass-denials")
def test_bypass_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, operation: str) -> None:
    """WRITE, or SETATTR of the size, with the READ bypass stateid is refused while an open denies writing."""
    file, stateid = scratch.file("file", b"data"), p.READ_BYPASS_STATEID
    open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE)
    act = op.write(stateid, 0, b"more") if operation == "write" else op.setattr(Fattr4(size=2), stateid)
    reply = another_client(v4).compound(op.putfh(file), act)
    expect_data(scratch.read(file), b"data")
    observe(f"{operation} with the READ bypass stateid, denied", reply.status.name)
    expect(reply).refused()


@proves(READING_FOR_WRITERS_IS_CHECKED, killed_by="read4-of-writers-is-not-checked")
def test_read_by_writer(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with the stateid of an OPEN for writing is refused while another open denies reading."""
    file = scratch.file("file", b"data")
    writing = open_file(compounds, file, WRITE)
    open_file(another_client(v4), file, WRITE, p.OPEN4_SHARE_DENY_READ)
    reply = compounds.compound(op.putfh(file), op.read(writing.stateid, 0, 4))
    observe("READ by a writer that another open denies", reply.status.name)
    expect(reply).refused()


@proves(SHARES_REFUSE_IO, killed_by="data4-denies-the-owner")
def test_owner_is_served(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ and WRITE with the stateid of an open that denies both to others succeed."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    written = compounds.compound(op.putfh(file), op.write(opened.stateid, 0, b"more"))
    count = expect(written).of(p.WRITE).ok().count
    result = expect(compounds.compound(op.putfh(file), op.read(opened.stateid, 0, 4))).of(p.READ).ok()
    wanted = b"more"[:count] + b"data"[count:]
    expect_data(result.data, wanted[: len(result.data)])


@proves(SHARES_REFUSE_IO, killed_by="data4-denies-lock-owners")
def test_lock_owner_is_served(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ and WRITE with the stateid of a lock-owner succeed under the open that denies both to others."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    stateid = lock_range(compounds, opened, WRITE_LT, 0, 4)
    expect(compounds.compound(op.putfh(file), op.write(stateid, 0, b"more"))).ok()
    expect(compounds.compound(op.putfh(file), op.read(stateid, 0, 4))).ok()
