# SPDX-License-Identifier: MIT
"""expect() on compounds: the last operation is judged, those before it must succeed."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import Nonconformance, Skipped, Unsupported, expect, stated

RULE = stated("RFC 5661", "16.2.3", "a rule")
OK = Nfsstat4.NFS4_OK
NOENT = Nfsstat4.NFS4ERR_NOENT
CALLS: list[XdrType] = [op.putfh(b"handle"), op.lookup(b"name"), op.getfh()]
FOUND: list[XdrType] = [p.Putfh4Res(OK), p.Lookup4Res(OK), p.Getfh4Res(OK, p.Getfh4ResOk(b"found"))]


def reply(*results: XdrType, status: Nfsstat4 | None = None, calls: int = 3) -> CompoundReply:
    ends = p.status_of(results[-1]) if results else OK
    args = p.Compound4Args(b"", 1, CALLS[:calls])
    return CompoundReply(args, p.Compound4Res(ends if status is None else status, b"", list(results)))


def test_success_gives_the_reply() -> None:
    assert expect(reply(*FOUND)).ok().handle == b"found"
    assert expect(reply(*FOUND)).of(p.GETFH).ok().object == b"found"
    expect(reply(*FOUND)).status(OK)


def test_the_last_operation_is_refused() -> None:
    refused = reply(p.Putfh4Res(OK), p.Lookup4Res(NOENT), calls=2)
    assert expect(refused).refused(NOENT, because=RULE) is NOENT
    expect(refused).of(p.LOOKUP).status(NOENT)
    with pytest.raises(Nonconformance) as caught:
        expect(refused).refused(Nfsstat4.NFS4ERR_NOTDIR, because=RULE)
    assert (caught.value.what, caught.value.observed) == ("status of LOOKUP", "NFS4ERR_NOENT (2)")
    assert caught.value.subject is refused.res.resarray[1]


def test_an_earlier_operation_must_succeed() -> None:
    stale = reply(p.Putfh4Res(Nfsstat4.NFS4ERR_STALE), calls=2)
    for judge in (lambda: expect(stale).refused(Nfsstat4.NFS4ERR_STALE), lambda: expect(stale).ok()):
        with pytest.raises(Nonconformance) as caught:
            judge()
        assert caught.value.what == "status of PUTFH"
    with pytest.raises(Nonconformance, match="PUTFH"):
        expect(stale).of(p.LOOKUP)


def test_results_that_are_missing_fail() -> None:
    for judge in (
        lambda: expect(reply(*FOUND[:2])).ok(),
        lambda: expect(reply(*FOUND[:2])).refused(),
        lambda: expect(reply(*FOUND[:2])).of(p.GETFH),
    ):
        with pytest.raises(Nonconformance) as caught:
            judge()
        assert caught.value.what == "results of COMPOUND"


def test_a_compound_without_results_has_its_own_status() -> None:
    mismatch = reply(status=Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH)
    expect(mismatch).status(Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH)
    with pytest.raises(Nonconformance) as caught:
        expect(mismatch).ok()
    assert caught.value.what == "status of COMPOUND"


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        (Nfsstat4.NFS4ERR_DELAY, Skipped),
        (Nfsstat4.NFS4ERR_GRACE, Skipped),
        (Nfsstat4.NFS4ERR_ACCESS, Skipped),
        (Nfsstat4.NFS4ERR_ATTRNOTSUPP, Unsupported),
        (Nfsstat4.NFS4ERR_NOTSUPP, Nonconformance),
        (Nfsstat4(1002), Nonconformance),
    ],
)
def test_statuses_that_judge_nothing(status: Nfsstat4, ending: type[Exception]) -> None:
    with pytest.raises(ending):
        expect(reply(p.Putfh4Res(OK), p.Lookup4Res(status))).ok()


def test_getattr_must_not_say_that_an_attribute_is_missing() -> None:
    args = p.Compound4Args(b"", 1, [op.getattr("size")])
    res = p.Compound4Res(Nfsstat4.NFS4ERR_ATTRNOTSUPP, b"", [p.Getattr4Res(Nfsstat4.NFS4ERR_ATTRNOTSUPP)])
    with pytest.raises(Nonconformance):
        expect(CompoundReply(args, res)).ok()


def test_an_optional_operation_may_be_missing() -> None:
    args = p.Compound4Args(b"", 1, [op.link(b"name")])
    res = p.Compound4Res(Nfsstat4.NFS4ERR_NOTSUPP, b"", [p.Link4Res(Nfsstat4.NFS4ERR_NOTSUPP)])
    with pytest.raises(Unsupported):
        expect(CompoundReply(args, res)).ok()


def test_results_with_other_names_for_their_status() -> None:
    result = p.ExchangeId4Res(Nfsstat4.NFS4ERR_INVAL)
    expect(result).refused(Nfsstat4.NFS4ERR_INVAL)
    with pytest.raises(Nonconformance) as caught:
        expect(result).ok()
    assert (caught.value.what, caught.value.field) == ("status of EXCHANGE_ID", "eir_status")
