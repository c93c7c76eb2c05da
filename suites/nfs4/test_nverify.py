# SPDX-License-Identifier: MIT
"""NVERIFY (RFC 5661 section 18.15)."""

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

NVERIFY_COMPARES = must(
    "RFC 5661",
    "18.15.3",
    "NVERIFY returns NFS4ERR_SAME if all attributes match, and succeeds if one does not",
)
UNSUPPORTED_IS_ATTRNOTSUPP = stated(
    "RFC 5661",
    "18.15.4",
    "a RECOMMENDED attribute that the server does not support for the object gets NFS4ERR_ATTRNOTSUPP",
)
WITHOUT_A_VALUE_IS_INVALID = stated(
    "RFC 5661", "18.15.4", "rdattr_error, and any attribute that can only be set, gets NFS4ERR_INVAL"
)


@MINORS
@proves(NVERIFY_COMPARES, killed_by="nverify4-always-differs")
def test_same(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """NVERIFY of the size that a file has fails with SAME."""
    reply = compounds.compound(op.putfh(scratch.file("f", b"four")), op.nverify(Fattr4(size=4)))
    expect(reply).refused(Nfsstat4.NFS4ERR_SAME, because=NVERIFY_COMPARES)


@MINORS
@proves(NVERIFY_COMPARES, killed_by="nverify4-always-matches")
def test_other(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """NVERIFY of another size succeeds, and the COMPOUND goes on."""
    file = scratch.file("f", b"four")
    expect(compounds.compound(op.putfh(file), op.nverify(Fattr4(size=5)), op.getfh())).ok()


@MINORS
@proves(NVERIFY_COMPARES, killed_by="nverify4-times-never-match")
def test_each_same(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """NVERIFY of each attribute that the server supports fails with SAME with the value that GETATTR returns."""
    file = scratch.file("file")
    values = steady_values(scratch, file)
    seen = statuses(compounds, file, op.nverify, values)
    wrong = [name for name, status in seen.items() if status != Nfsstat4.NFS4ERR_SAME]
    seen = steady(compounds, file, op.nverify, values, wrong)
    expect(mismatches(seen, Nfsstat4.NFS4ERR_SAME), "attributes whose value is not SAME").equals([])


@MINORS
@proves(NVERIFY_COMPARES, killed_by="nverify4-ignores-booleans")
def test_each_other(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """NVERIFY of each attribute that the server supports succeeds with another value."""
    file = scratch.file("file")
    same = failures(compounds, file, op.nverify, other_values(steady_values(scratch, file)))
    expect(mismatches(same), "attributes whose other value NVERIFY does not tell").equals([])


@MINORS
@proves(UNSUPPORTED_IS_ATTRNOTSUPP, killed_by="nverify4-unsupported-is-ok")
def test_unsupported(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """NVERIFY of an attribute that is not in supported_attrs fails with ATTRNOTSUPP."""
    expect_attrnotsupp(compounds, scratch, op.nverify)


@MINORS
@proves(WITHOUT_A_VALUE_IS_INVALID, killed_by="nverify4-takes-rdattr-error")
def test_without_value(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """NVERIFY of rdattr_error, and of a time that can only be set, fails with INVAL."""
    expect_inval_without_value(compounds, scratch, op.nverify)


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
@proves(NVERIFY_COMPARES, killed_by="nverify4-of-many-differs")
def test_all_required(compounds: Compounds, scratch: Nfs4Scratch, minor: int, kind: str) -> None:
    """NVERIFY of all REQUIRED attributes of an object at once, with the values of GETATTR, fails with SAME."""
    made = made_object(scratch, kind)
    expect_required_at_once(compounds, scratch, made, minor, op.nverify, Nfsstat4.NFS4ERR_SAME)
