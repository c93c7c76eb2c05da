# SPDX-License-Identifier: MIT
"""Expired leases (RFC 5661 sections 8.3, 8.4.3 and 18.46.3): what a client has lost, and how it learns of that.

A server may end the session, revoke everything, revoke what is in the way of others, or keep it all until somebody
needs it: each of them is right. What it must not do is to take state away without a sign, or to serve the client with
state that somebody else has got meanwhile.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Waiting, side_by_side
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, expect_that, must, observe, proves, should, skip, stated
from suites.nfs4.delegations import Lease
from suites.nfs4.leases import flags_of, kept_leases, lease_passes, lease_to_wait_for, need_all, yields
from suites.nfs4.locks import WRITE_LT, lock_range, try_lock
from suites.nfs4.opens import BOTH, READ, Opened, another_session, open_file, try_open

LOSS_IS_FLAGGED = stated(
    "RFC 5661",
    "8.4.3",
    "where the session of an expired client goes on, sr_status_flags of SEQUENCE indicate that it has lost state",
    harm=Harm.DATA,
)
LOST_IS_USELESS = stated(
    "RFC 5661",
    "8.4.3",
    "an operation with a stateid that was revoked for the end of a lease fails",
    harm=Harm.DATA,
)
LOST_IS_EXPIRED = should(  # a stateid that is long dead may be a bad one (section 8.2.4)
    "RFC 5661",
    "8.4.3",
    "an operation with a stateid that was revoked for the end of a lease should get NFS4ERR_EXPIRED",
)
FLAG_STAYS = stated(
    "RFC 5661",
    "18.46.3",
    "the flag remains set on all SEQUENCE replies until the loss was acknowledged by FREE_STATEID",
)
FLAG_ENDS = stated(
    "RFC 5661",
    "18.46.3",
    "once FREE_STATEID has acknowledged the loss of all that expired, the flag is not set any more",
)
LOST_CAN_BE_FREED = stated(
    "RFC 5661",
    "8.2.4",
    "the stateid of revoked state is valid for FREE_STATEID as long as the client id is",
)
FREED_IS_BAD = stated(
    "RFC 5661", "18.38.3", "after FREE_STATEID any subsequent use of the stateid gets NFS4ERR_BAD_STATEID"
)
ALL_IS_ALL = stated(
    "RFC 5661",
    "18.46.3",
    "SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED says that the server has released all state of the client",
    harm=Harm.DATA,
)
NO_FLAG_NO_LOSS = stated(
    "RFC 5661",
    "8.4.3",
    "a server that has freed state of an expired client reports it: without a report the state is there",
    harm=Harm.DATA,
)
OK_RENEWS = must(
    "RFC 5661",
    "18.46.3",
    "SEQUENCE that succeeds renews the lease, unless it returns SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED",
    harm=Harm.DATA,
)
_EXPIRED: t.Final = p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED | p.SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED
_LOST: t.Final = _EXPIRED | p.SEQ4_STATUS_ADMIN_STATE_REVOKED
_REVOKED: t.Final = frozenset({Nfsstat4.NFS4ERR_EXPIRED, Nfsstat4.NFS4ERR_ADMIN_REVOKED})
_BEYOND_HELP: t.Final = frozenset(
    {
        Nfsstat4.NFS4ERR_BADSESSION,
        Nfsstat4.NFS4ERR_DEADSESSION,
        Nfsstat4.NFS4ERR_STALE_CLIENTID,
        Nfsstat4.NFS4ERR_EXPIRED,  # not listed for SEQUENCE, which is no verdict; it hides no loss
    }
)
"""What SEQUENCE answers where the server has ended the session of an expired client, or is about to."""


class _Expired(t.NamedTuple):
    """A client whose lease is over, and another one that may have taken a file from it."""

    lease: float
    silent: Session
    lost: Opened
    """What it has opened of the file that the other client wants, denying everything to others."""
    stateid: p.Stateid4
    """That of `lost`, or of a lock in it."""
    spare: Opened
    """What it has opened of a file that nobody else wants."""
    other: Session
    kept: Sequence[Lease]
    theirs: p.Stateid4 = p.ANONYMOUS_STATEID
    """By which the other client reads the file: that of its lock, if it has one (locks may be mandatory)."""

    def heard(self) -> CompoundReply:
        """The reply to the next SEQUENCE of the client. SKIP where its session has ended: it hides no loss."""
        need_all(self.kept)
        reply = self.silent.renew()
        observe("SEQUENCE after the lease", reply.status.name)
        if reply.status in _BEYOND_HELP:
            skip(f"the server refuses the session of a client whose lease is over: {reply.status.name}")
        expect(reply).ok()
        observe("flags after the lease", f"{flags_of(reply):#x}")
        return reply

    def tested(self, *stateids: p.Stateid4) -> list[Nfsstat4]:
        """What TEST_STATEID says of stateids."""
        result = expect(self.silent.compound(op.test_stateid(*stateids))).of(p.TEST_STATEID).ok()
        return [Nfsstat4(code) for code in result.tsr_status_codes]

    def free_all(self) -> None:
        """FREE_STATEID of all that was revoked. CLOSE of the rest would need it to be in force."""
        stateids = [self.lost.stateid, self.spare.stateid]
        if self.stateid.other != self.lost.stateid.other:
            stateids.append(self.stateid)
        for stateid, code in zip(stateids, self.tested(*stateids), strict=True):
            if code not in {Nfsstat4.NFS4_OK, *_REVOKED}:
                skip("TEST_STATEID does not know what was lost: another check judges that")
            if code in _REVOKED:
                expect(self.silent.compound(op.free_stateid(stateid)), because=LOST_CAN_BE_FREED).ok()


def _expired(target: TargetView, v4: Nfs4Dialect, *, kind: str = "open") -> Waiting[_Expired]:
    """A client has been silent for a lease; nobody has needed yet what it has."""
    lease = lease_to_wait_for(target, v4)
    wanted, unwanted = v4.scratch.file("file", b"data"), v4.scratch.file("spare", b"data")
    began = v4.connections.now()
    silent, other = another_session(v4), another_session(v4)
    lost = open_file(silent, wanted, BOTH, p.OPEN4_SHARE_DENY_BOTH if kind == "open" else 0)
    stateid = lock_range(silent, lost) if kind == "lock" else lost.stateid
    spare = open_file(silent, unwanted, BOTH)
    kept = kept_leases(v4, lease, began, v4.session, other)
    yield from lease_passes(lease, kept)
    return _Expired(lease, silent, lost, stateid, spare, other, kept)


def _taken(target: TargetView, v4: Nfs4Dialect, *, kind: str = "open") -> Waiting[_Expired]:
    """The same, and another client has got what it had."""
    found = yield from _expired(target, v4, kind=kind)
    file = found.lost.handle
    theirs = open_file(found.other, file, BOTH) if kind == "lock" else None

    def attempt() -> CompoundReply:
        if theirs is None:
            return try_open(found.other, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
        return try_lock(found.other, theirs, WRITE_LT, 0, 10)

    reply = yield from yields(v4, found.lease, found.kept, attempt)
    need_all(found.kept)
    if reply.status != Nfsstat4.NFS4_OK:
        skip(f"the other client does not get the file: another check judges that ({reply.status.name})")
    return found._replace(theirs=reply.stateid)


# ---------------------------------------------------------------- when somebody else has got it


@side_by_side(short_lease=True)
@proves(LOSS_IS_FLAGGED, killed_by="sequence4-hides-expiry")
def test_flagged(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """SEQUENCE of a client that has lost a file to another one after its lease says so, or its session is over."""
    found = yield from _taken(target, v4)
    flags = flags_of(found.heard())
    expect_that(bool(flags & _LOST), "a flag of lost state in sr_status_flags", f"{flags:#x}")


@side_by_side(short_lease=True)
@pytest.mark.parametrize("kind", ["open", "lock"])
@proves(
    LOST_IS_USELESS, LOST_IS_EXPIRED, killed_by=("write4-takes-expired-stateids", "write4-expired-is-access")
)
def test_write(target: TargetView, v4: Nfs4Dialect, kind: str) -> Waiting[None]:
    """WRITE with what another client has got after the lease fails, and does not change the data."""
    found = yield from _taken(target, v4, kind=kind)
    found.heard()
    file = found.lost.handle
    reply = found.silent.compound(op.putfh(file), op.write(found.stateid, 0, b"more"))
    seen = found.other.compound(op.putfh(file), op.read(found.theirs, 0, 4))
    data = expect(seen).of(p.READ).ok().data
    expect_data(data, b"data"[: len(data)], because=LOST_IS_USELESS)
    expect(reply, because=LOST_IS_USELESS).refused(Nfsstat4.NFS4ERR_EXPIRED, because=LOST_IS_EXPIRED)


@side_by_side(short_lease=True)
@proves(LOST_IS_USELESS, LOST_IS_EXPIRED, killed_by="teststateid4-expired-is-valid")
def test_tested(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """TEST_STATEID says that a stateid has expired whose file another client has got after the lease."""
    found = yield from _taken(target, v4)
    found.heard()
    code = found.tested(found.stateid)[0]
    expect(
        code, "status code of the stateid", field="tsr_status_codes", because=LOST_IS_USELESS
    ).differs_from(Nfsstat4.NFS4_OK)
    expect(code, "status code of the stateid", field="tsr_status_codes", because=LOST_IS_EXPIRED).equals(
        Nfsstat4.NFS4ERR_EXPIRED
    )


@side_by_side(short_lease=True)
@proves(FLAG_STAYS, killed_by="sequence4-flags-expiry-once")
def test_flag_stays(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A flag that state has expired is in the next replies of SEQUENCE, too, while nothing was freed."""
    found = yield from _taken(target, v4)
    if not flags_of(found.heard()) & _EXPIRED:
        skip("SEQUENCE does not say that state has expired: another check judges that")
    for _ in range(2):
        flags = flags_of(expect(found.silent.renew()).ok())
        expect_that(bool(flags & _EXPIRED), "the flag of expired state", f"{flags:#x}", because=FLAG_STAYS)


@side_by_side(short_lease=True)
@proves(
    LOST_CAN_BE_FREED,
    FREED_IS_BAD,
    killed_by=("freestateid4-expired-has-locks", "freestateid4-expired-stays"),
)
def test_freed(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """FREE_STATEID of what has expired succeeds, and the stateid is bad afterwards."""
    found = yield from _taken(target, v4)
    found.heard()
    code = found.tested(found.stateid)[0]
    if code != Nfsstat4.NFS4ERR_EXPIRED:
        skip(f"TEST_STATEID does not say that the stateid has expired: {code.name}")
    expect(found.silent.compound(op.free_stateid(found.stateid)), because=LOST_CAN_BE_FREED).ok()
    codes = found.tested(found.stateid)
    expect(codes, "status codes", field="tsr_status_codes", because=FREED_IS_BAD).equals(
        [Nfsstat4.NFS4ERR_BAD_STATEID]
    )


@side_by_side(short_lease=True)
@proves(FLAG_ENDS, LOST_CAN_BE_FREED, killed_by="sequence4-flags-expiry-forever")
def test_flag_ends(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """After FREE_STATEID of all that has expired, SEQUENCE has no flag of that any more."""
    found = yield from _taken(target, v4)
    if not flags_of(found.heard()) & _EXPIRED:
        skip("SEQUENCE does not say that state has expired: another check judges that")
    found.free_all()
    reply = expect(found.silent.renew()).ok()
    seen = flags_of(reply) & _EXPIRED
    expect(
        seen,
        "flags of expired state",
        of=reply.sequence,
        field="sr_resok4.sr_status_flags",
        because=FLAG_ENDS,
    ).equals(0)


@side_by_side(short_lease=True)
@proves(OK_RENEWS, LOST_CAN_BE_FREED, killed_by="sequence4-renews-no-lease-again")
def test_lives_again(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client that has freed what has expired, and renews its lease, keeps what it opens then."""
    found = yield from _taken(target, v4)
    found.heard()
    found.free_all()
    since = v4.connections.now()
    reply = found.silent.renew()
    if reply.status != Nfsstat4.NFS4_OK or flags_of(reply) & p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED:
        skip("SEQUENCE does not renew the lease: another check judges its flags")
    file = v4.scratch.file("another", b"data")
    opened = open_file(found.silent, file, BOTH, p.OPEN4_SHARE_DENY_BOTH)
    kept = [*found.kept, *kept_leases(v4, found.lease, since, found.silent)]
    yield from lease_passes(found.lease, kept)
    denied = try_open(found.other, file, READ)
    need_all(kept)
    expect(denied, because=OK_RENEWS).refused(Nfsstat4.NFS4ERR_SHARE_DENIED, because=OK_RENEWS)
    expect(found.silent.compound(op.putfh(file), op.read(opened.stateid, 0, 4))).ok()


@side_by_side(short_lease=True)
@proves(
    ALL_IS_ALL,
    NO_FLAG_NO_LOSS,
    killed_by=("nfs4-revokes-some-and-says-all", "nfs4-revokes-all-and-says-nothing"),
)
def test_spare(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """What nobody else wanted is lost if SEQUENCE says that all is, and in force if SEQUENCE says nothing."""
    found = yield from _taken(target, v4)
    flags = flags_of(found.heard())
    code = found.tested(found.spare.stateid)[0]
    observe("what nobody else wanted", code.name)
    if flags & p.SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED:
        expect(
            code, "status code of what nobody wanted", field="tsr_status_codes", because=ALL_IS_ALL
        ).differs_from(Nfsstat4.NFS4_OK)
    elif not flags & _LOST:
        expect(
            code, "status code of what nobody wanted", field="tsr_status_codes", because=NO_FLAG_NO_LOSS
        ).equals(Nfsstat4.NFS4_OK)


# ---------------------------------------------------------------- when nobody else has wanted it


@side_by_side(short_lease=True)
@proves(NO_FLAG_NO_LOSS, killed_by="sequence4-forgets-silently")
def test_comes_back(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client that was silent for longer than its lease finds its files open, if SEQUENCE does not say otherwise."""
    found = yield from _expired(target, v4)
    if flags_of(found.heard()) & _LOST:
        skip("SEQUENCE says that state has expired, which is right as well")
    for opened in (found.lost, found.spare):
        reply = found.silent.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"more"))
        expect(reply, because=NO_FLAG_NO_LOSS).ok()


@side_by_side(short_lease=True)
@proves(OK_RENEWS, killed_by="sequence4-renews-no-expired-lease")
def test_renewed_late(target: TargetView, v4: Nfs4Dialect) -> Waiting[None]:
    """A client that comes back after its lease without a loss has a lease again: it keeps what it has open."""
    found = yield from _expired(target, v4)
    since = v4.connections.now()
    if flags_of(found.heard()) & _LOST:
        skip("SEQUENCE says that state has expired, which is right as well")
    reply = try_open(found.other, found.lost.handle, READ)
    mine = kept_leases(v4, found.lease, since, found.silent)
    need_all([*found.kept, *mine])
    expect(reply, because=OK_RENEWS).refused(Nfsstat4.NFS4ERR_SHARE_DENIED, because=OK_RENEWS)
