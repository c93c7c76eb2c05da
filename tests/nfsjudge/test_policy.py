# SPDX-License-Identifier: MIT
"""Policy tables: which statuses end which expectations, and what a protocol registers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.protocol import mount, nfs2, nfs3
from nfsclient.protocol.mount import MountStat1, MountStat3
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrEnum
from nfsjudge import Nonconformance, Skipped, Unsupported, expect, running
from nfsjudge.policy import (
    Ends,
    ProtocolPolicy,
    StatusPolicy,
    capability_for,
    optional_capability,
    policy_of,
    register,
)
from nfsjudge.policy.nfs4 import VOLATILE_HANDLES
from nfsjudge.requirement import CLOSED_STATUS

KINDS: list[type[XdrEnum]] = [Nfsstat2, Nfsstat3, MountStat1, MountStat3]


class Reply:
    """A reply of a status alone."""

    def __init__(self, status: XdrEnum) -> None:
        self.status = status
        self.resok = None


@given(st.sampled_from(KINDS), st.integers(0, 11_000))
def test_what_ends_an_expectation_ends_those_that_reach_less_far(kind: type[XdrEnum], number: int) -> None:
    policy = policy_of(kind(0))
    ended = [policy.explain(Reply(kind(number)), number, reach) is not None for reach in Ends]
    assert ended == sorted(ended, reverse=True)


@given(st.sampled_from(KINDS), st.integers(1, 11_000))
def test_a_status_that_is_expected_by_name_never_ends_a_check(kind: type[XdrEnum], number: int) -> None:
    status = kind(number)
    if not status.is_known and policy_of(status).closed_by is not None:
        return
    expect(Reply(status)).status(status)
    assert expect(Reply(status)).refused(status) == number


@given(st.sampled_from(KINDS), st.integers(1, 11_000))
def test_every_status_but_success_ends_ok(kind: type[XdrEnum], number: int) -> None:
    with pytest.raises((Nonconformance, Skipped, Unsupported)):
        expect(Reply(kind(number))).ok()


@pytest.mark.parametrize(
    ("status", "ends"),
    [
        (Nfsstat3.NFS3ERR_ACCES, Ends.OK),
        (Nfsstat3.NFS3ERR_TOOSMALL, Ends.SUCCESS),
        (Nfsstat3.NFS3ERR_NOSPC, Ends.NAMED),
        (Nfsstat3.NFS3ERR_JUKEBOX, Ends.ANY),
        (Nfsstat3.NFS3ERR_NOTSUPP, Ends.ANY),
        (Nfsstat3.NFS3ERR_IO, None),
        (MountStat3.MNT3ERR_ACCES, None),
        (MountStat3.MNT3ERR_NOTSUPP, Ends.ANY),
        (Nfsstat2(95), Ends.ANY),
        (MountStat1(45), Ends.ANY),
    ],
)
def test_how_far_a_status_reaches(status: XdrEnum, ends: Ends | None) -> None:
    policy = policy_of(status)
    reached = [reach for reach in Ends if policy.explain(Reply(status), status, reach) is not None]
    assert (reached[-1] if reached else None) == ends


def test_an_expired_filehandle_says_nothing_only_where_filehandles_are_volatile() -> None:
    reply = Reply(Nfsstat4.NFS4ERR_FHEXPIRED)
    for facts in ({}, {VOLATILE_HANDLES: lambda: False}):
        with running(None, facts), pytest.raises(Nonconformance):
            expect(reply).ok()
    with running(None, {VOLATILE_HANDLES: lambda: True}):
        with pytest.raises(Skipped, match="has expired"):
            expect(reply).ok()
        with pytest.raises(Skipped, match="has expired"):
            expect(reply).status(Nfsstat4.NFS4ERR_NOENT)
        expect(reply).status(Nfsstat4.NFS4ERR_FHEXPIRED)
    with pytest.raises(Nonconformance):
        expect(reply).ok()


def test_the_target_gets_a_call_only_when_a_verdict_depends_on_it() -> None:
    asked: list[str] = []

    def ask() -> bool:
        asked.append("whether handles expire")
        return True

    with running(None, {VOLATILE_HANDLES: ask}):
        assert expect(Reply(Nfsstat4.NFS4ERR_FHEXPIRED)).refused() == Nfsstat4.NFS4ERR_FHEXPIRED
        with pytest.raises(Nonconformance):
            expect(Reply(Nfsstat4.NFS4ERR_IO)).ok()
    assert not asked


def test_a_closed_enumeration_names_what_an_undefined_status_breaks() -> None:
    assert [policy_of(kind(0)).closed_by for kind in KINDS] == [None, CLOSED_STATUS, None, CLOSED_STATUS]
    with pytest.raises(Nonconformance) as failed:
        expect(mount.Mnt3Res(MountStat3(4711))).ok()
    assert (failed.value.field, failed.value.observed) == ("fhs_status", "UNKNOWN_4711 (4711)")


def test_a_status_of_no_protocol_is_a_fault_of_the_suite() -> None:
    with pytest.raises(LookupError, match="Ftype3"):
        policy_of(nfs3.Ftype3.NF3REG)


def test_versions_and_optional_procedures_lead_to_capabilities() -> None:
    assert capability_for(nfs2.GETATTR) == "nfs2"
    assert capability_for(mount.MNT3) == "mount"
    assert (optional_capability(nfs3.LINK), optional_capability(nfs3.READ)) == ("hardlink", None)


def test_nothing_is_registered_twice() -> None:
    with pytest.raises(ValueError, match="twice"):
        register(ProtocolPolicy(statuses=(StatusPolicy(status=Nfsstat3),)))
    with pytest.raises(ValueError, match="twice"):
        register(ProtocolPolicy(optional={nfs3.LINK: "link"}))
