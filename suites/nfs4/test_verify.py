# SPDX-License-Identifier: MIT
"""VERIFY (RFC 5661 section 18.31)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import expect, must, proves, stated
from suites.nfs4.attribute_values import (
    expect_attrnotsupp,
    expect_inval_without_value,
    expect_required_at_once,
    failures,
    made_object,
    mismatches,
    other_values,
    statuses,
    steady,
    steady_values,
)
from suites.nfs4.minors import MINORS

VERIFY_COMPARES = must(
    "RFC 5661",
    "18.31.3",
    "VERIFY succeeds if the attributes match; if one does not, it returns NFS4ERR_NOT_SAME",
)
UNSUPPORTED_IS_ATTRNOTSUPP = stated(
    "RFC 5661",
    "18.31.4",
    "a RECOMMENDED attribute that the server does not support for the object gets NFS4ERR_ATTRNOTSUPP",
)
WITHOUT_A_VALUE_IS_INVALID = stated(
    "RFC 5661", "18.31.4", "rdattr_error, and any attribute that can only be set, gets NFS4ERR_INVAL"
)


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-always-differs")
def test_same(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """VERIFY of the size that a file has succeeds."""
    verifying = (op.putfh(scratch.file("f", b"four")), op.verify(Fattr4(size=4)), op.getfh())
    expect(compounds.compound(*verifying)).ok()


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-always-matches")
def test_other(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """VERIFY of another size fails with NOT_SAME."""
    reply = compounds.compound(op.putfh(scratch.file("f", b"four")), op.verify(Fattr4(size=5)))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOT_SAME, because=VERIFY_COMPARES)


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-compares-the-first-only")
def test_one_of_two(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """VERIFY of a size that matches and a fileid that does not fails with NOT_SAME."""
    file = scratch.file("f")
    known = scratch.attributes(file, "size", "fileid")
    other = Fattr4(size=known.size, fileid=(known.fileid or 0) + 1)
    reply = compounds.compound(op.putfh(file), op.verify(other))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOT_SAME, because=VERIFY_COMPARES)


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-fsid-never-matches")
def test_each_same(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """VERIFY of each attribute that the server supports succeeds with the value that GETATTR returns."""
    file = scratch.file("file")
    values = steady_values(scratch, file)
    differing = failures(compounds, file, op.verify, values)
    seen = steady(compounds, file, op.verify, values, list(differing))
    expect(mismatches(seen, Nfsstat4.NFS4_OK), "attributes whose value VERIFY does not find").equals([])


@MINORS
@proves(VERIFY_COMPARES, killed_by="verify4-ignores-times")
def test_each_other(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """VERIFY of each attribute that the server supports fails with NOT_SAME with another value."""
    file = scratch.file("file")
    seen = statuses(compounds, file, op.verify, other_values(steady_values(scratch, file)))
    expect(
        mismatches(seen, Nfsstat4.NFS4ERR_NOT_SAME), "attributes whose other value is not NOT_SAME"
    ).equals([])


@MINORS
@proves(UNSUPPORTED_IS_ATTRNOTSUPP, killed_by="verify4-unsupported-is-not-same")
def test_unsupported(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """VERIFY of an attribute that is not in supported_attrs fails with ATTRNOTSUPP."""
    expect_attrnotsupp(compounds, scratch, op.verify)


@MINORS
@proves(WITHOUT_A_VALUE_IS_INVALID, killed_by="verify4-takes-rdattr-error")
def test_without_value(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """VERIFY of rdattr_error, and of a time that can only be set, fails with INVAL."""
    expect_inval_without_value(compounds, scratch, op.verify)


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
@proves(VERIFY_COMPARES, killed_by="verify4-of-many-differs")
def test_all_required(compounds: Compounds, scratch: Nfs4Scratch, minor: int, kind: str) -> None:
    """VERIFY of all REQUIRED attributes of an object at once, with the values of GETATTR, succeeds."""
    made = made_object(scratch, kind)
    expect_required_at_once(compounds, scratch, made, minor, op.verify, Nfsstat4.NFS4_OK)
