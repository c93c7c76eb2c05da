# SPDX-License-Identifier: MIT
"""LOCKT (RFC 5661 section 18.11): tests for a conflicting lock."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Level, expect, must, proves, should, skip, stated
from suites.nfs4.locks import READ_LT, WRITE_LT, lock_range, need_64_bits, opened_by_two, test_range
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, open_file

FINDS_CONFLICTS = stated(
    "RFC 5661",
    "18.11.3",
    "if a conflicting lock exists, its owner, offset, length, and type are returned",
    also={"4.0": ("RFC 7530", "16.11.4")},
)
OWNER_HAS_A_CLIENTID = stated(
    "RFC 5661",
    "18.11.3",
    "the owner in the results includes the client id of the owner of the conflicting lock",
)
NOTHING_HELD_IS_OK = stated(
    "RFC 5661",
    "18.11.3",
    "without a conflicting lock, nothing other than NFS4_OK is returned",
    also={"4.0": ("RFC 7530", "16.11.4")},
)
OWN_LOCKS_DO_NOT_CONFLICT = should(
    "RFC 5661",
    "18.11.4",
    "the test for conflicting locks excludes locks of the current lock-owner",
    also={"4.0": ("RFC 7530", "16.11.5")},
)
RANGE_IS_CHECKED = must(
    "RFC 5661",
    "18.11.3",
    "NFS4ERR_INVAL is returned under the same circumstances as for LOCK",
    also={"4.0": ("RFC 7530", "16.11.4", Level.STATED)},
)
TYPE_IS_CHECKED = stated(
    "RFC 5661",
    "18.11.3",
    "NFS4ERR_ISDIR for a directory, NFS4ERR_SYMLINK for a symbolic link, else NFS4ERR_WRONG_TYPE",
)
OWNERS_CLIENTID_IS_IGNORED = must(
    "RFC 5661",
    "18.11.3",
    "the client may set the clientid in the owner of LOCKT to any value, and the server ignores it",
)


@MINORS
@proves(
    FINDS_CONFLICTS,
    OWNER_HAS_A_CLIENTID,
    killed_by=("lockt4-finds-nothing", "lockt4-names-nobody"),
)
def test_conflict(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT of a range that another client has locked is denied, with that lock."""
    pair, owner = opened_by_two(v4, compounds, scratch), new_state_owner()
    lock_range(pair.other, pair.theirs, WRITE_LT, 100, 50, owner=owner)
    reply = test_range(compounds, pair.file, READ_LT, 149, 10)
    expect(reply).refused(Nfsstat4.NFS4ERR_DENIED, because=FINDS_CONFLICTS)
    denied = reply.of(p.LOCKT).denied
    assert denied is not None
    # The range of the request, where the server cannot tell that of the lock (section 18.11.4).
    expect((denied.offset, denied.length), "offset and length", of=denied, field="offset").one_of(
        (100, 50), (149, 10)
    )
    expect(denied).field("locktype").equals(WRITE_LT)
    expect(bytes(denied.owner.owner), "owner", of=denied, field="owner.owner").equals(owner)
    expect(denied.owner, because=OWNER_HAS_A_CLIENTID).field("clientid", "client id").equals(
        pair.other.clientid
    )


@MINORS
@proves(NOTHING_HELD_IS_OK, killed_by="lockt4-always-denies")
def test_free(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT of a range that nobody has locked succeeds."""
    pair = opened_by_two(v4, compounds, scratch)
    lock_range(pair.other, pair.theirs, WRITE_LT, 100, 50)
    expect(test_range(compounds, pair.file, WRITE_LT, 150, 10)).ok()


@MINORS
@proves(OWN_LOCKS_DO_NOT_CONFLICT, killed_by="lockt4-finds-own-locks")
def test_own(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT by the owner of a lock does not find that lock."""
    opened, owner = open_file(compounds, scratch.file("file"), BOTH), new_state_owner()
    lock_range(compounds, opened, WRITE_LT, 0, 10, owner=owner)
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10, owner=owner)).ok()


@MINORS
@pytest.mark.parametrize(("offset", "length"), [(0, 0), (p.NFS4_UINT64_MAX - 5, 10)], ids=["zero", "beyond"])
@proves(RANGE_IS_CHECKED, killed_by="lockt4-wrong-range-is-ok")
def test_invalid_range(compounds: Compounds, scratch: Nfs4Scratch, offset: int, length: int) -> None:
    """A range without bytes, or with bytes that no file can have, is invalid."""
    file = scratch.file("file")
    if offset > p.NFS4_UINT32_MAX:
        need_64_bits(compounds, file)
    reply = test_range(compounds, file, WRITE_LT, offset, length)
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=RANGE_IS_CHECKED)


@MINORS
@proves(TYPE_IS_CHECKED, killed_by="lockt4-of-a-directory-is-inval")
def test_directory(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT of a directory fails with ISDIR."""
    reply = test_range(compounds, scratch.handle, WRITE_LT, 0, 10)
    expect(reply).refused(Nfsstat4.NFS4ERR_ISDIR, because=TYPE_IS_CHECKED)


@MINORS
@proves(TYPE_IS_CHECKED, killed_by="lockt4-of-a-link-is-wrong-type")
def test_symlink(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT of a symbolic link fails with SYMLINK."""
    reply = test_range(compounds, scratch.symlink("link", b"target"), WRITE_LT, 0, 10)
    expect(reply).refused(Nfsstat4.NFS4ERR_SYMLINK, because=TYPE_IS_CHECKED)


@MINORS
@proves(OWNERS_CLIENTID_IS_IGNORED, killed_by="lockt4-compares-the-clientid")
def test_clientid_of_owner(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOCKT knows the locks of its lock-owner although the client ID in that is another one."""
    opened, owner = open_file(compounds, scratch.file("file"), BOTH), new_state_owner()
    lock_range(compounds, opened, WRITE_LT, 0, 10, owner=owner)
    if test_range(compounds, opened.handle, WRITE_LT, 0, 10, owner=owner).status == Nfsstat4.NFS4ERR_DENIED:
        skip("LOCKT finds the locks of the lock-owner itself: another check judges that")
    other = p.StateOwner4(compounds.clientid ^ 1, owner)
    expect(test_range(compounds, opened.handle, WRITE_LT, 0, 10, owner=other)).ok()
