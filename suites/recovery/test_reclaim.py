# SPDX-License-Identifier: MIT
"""Reclaims in the grace period after a restart (RFC 5661 sections 8.4.2.1, 9.11 and 18.51)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.across import CRASH, Steps, across
from fixtures.checks.dialects.nfs4 import Nfs4Dialect, new_state_owner
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsjudge import Harm, expect, must, observe, proves, should, skip, stated
from suites.nfs4.locks import WRITE_LT
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, another_session, try_open
from suites.nfs4.test_two_clients import RECLAIMS_END
from suites.recovery.reclaims import (
    DENY_BOTH,
    MAY_BE_RECLAIMED,
    NOT_AGAINST_OTHERS,
    RECLAIMS_COME_FIRST,
    REFUSALS,
    STATE,
    back,
    former,
    leave,
    lock_again,
    locker,
    need_excluded,
    need_reclaimed,
    reclaim_open,
    returned,
)
from suites.recovery.v4 import file_again

OWN_LOCKS_WAIT = must(  # "must always be returned"
    "RFC 5661",
    "8.4.2.1",
    "a client that requests a new lock before its RECLAIM_COMPLETE always gets NFS4ERR_GRACE",
)
WHO_HAD_NOTHING = should(  # what a server records of its clients is its own choice (section 8.4.3)
    "RFC 5661",
    "8.4.2.1",
    "reclaims are for locks that were obtained from the earlier instance of the server",
)
LASTS_FOR_A_LEASE = should(  # "SHOULD NOT terminate the grace period before"
    "RFC 5661",
    "8.4.2.1",
    "the grace period is not ended before a lease period is over, or all clients have completed their reclaims",
)
FLAG_ENDS = stated(
    "RFC 5661",
    "18.46.3",
    "SEQUENCE returns RESTART_RECLAIM_NEEDED until the client sends RECLAIM_COMPLETE, and not after it",
)
OLD_STATES_ARE_GONE = stated(
    "RFC 5661",
    "8.4.2.1",
    "locks that were lost in a restart of the server exist again once they are reclaimed, not before",
    harm=Harm.DATA,
)


@MINORS
@across(CRASH, STATE)
@proves(MAY_BE_RECLAIMED, killed_by="open4-reclaims-are-bad")
def test_open(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """An open of before a crash is granted again to its client."""
    had = former(v4, deny=DENY_BOTH)
    leave(target)
    yield CRASH
    file = file_again(v4)
    need_reclaimed(reclaim_open(back(v4, had), had, file))


@MINORS
@across(CRASH, STATE)
@proves(MAY_BE_RECLAIMED, killed_by="lock4-reclaims-are-bad")
def test_lock(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A byte-range lock of before a crash is granted again to its client."""
    had, owner = locker(v4)
    leave(target)
    yield CRASH
    session, opened = returned(v4, had)
    need_reclaimed(lock_again(session, opened, owner))


@MINORS
@across(CRASH, STATE)
@proves(LASTS_FOR_A_LEASE, MAY_BE_RECLAIMED, killed_by="reclaimcomplete4-ends-the-grace-period")
def test_two_clients(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """After one client has reclaimed and sent RECLAIM_COMPLETE, another one can reclaim, too."""
    first, second = former(v4, b"f"), former(v4, b"g")
    leave(target)
    yield CRASH
    session, _ = returned(v4, first)
    expect(session.compound(op.reclaim_complete())).ok()
    file = file_again(v4, b"g")
    reply = reclaim_open(back(v4, second), second, file)
    if reply.status == Nfsstat4.NFS4ERR_NO_GRACE:
        expect(reply, because=LASTS_FOR_A_LEASE).ok()
    expect(reply, because=MAY_BE_RECLAIMED).ok()


# ---------------------------------------------------------------- what is refused


@MINORS
@across(CRASH, STATE)
@proves(NOT_AGAINST_OTHERS, killed_by="open4-reclaims-against-shares")
def test_other_share(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A reclaim that a reclaimed share reservation of another client excludes is refused."""
    owner, other = former(v4, b"f", DENY_BOTH), former(v4, b"g")
    leave(target)
    yield CRASH
    returned(v4, owner)
    file = file_again(v4)
    expect(reclaim_open(back(v4, other), other, file)).refused(because=NOT_AGAINST_OTHERS)


@MINORS
@across(CRASH, STATE)
@proves(NOT_AGAINST_OTHERS, killed_by="lock4-reclaims-against-locks")
def test_other_lock(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A reclaim of a byte range that another client has reclaimed is refused."""
    had, owner = locker(v4)
    other = former(v4, file=had.file)
    leave(target)
    yield CRASH
    session, opened = returned(v4, had)
    need_reclaimed(lock_again(session, opened, owner))
    second, theirs = returned(v4, other)
    expect(lock_again(second, theirs, new_state_owner())).refused(because=NOT_AGAINST_OTHERS)


@MINORS
@across(CRASH, STATE)
@proves(NOT_AGAINST_OTHERS, killed_by="open4-reclaims-for-every-user", needs="nfs4_other_users")
def test_other_user(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A reclaim by a user who may not open the file is refused."""
    user = AuthSys(4242, 4242)
    had = former(v4, b"f", access=READ, credential=user)
    private = v4.scratch.file("private", b"data", mode=0o600)
    if try_open(had.session, private, READ).status == Nfsstat4.NFS4_OK:
        skip("the server lets every user open a file of mode 0600")
    leave(target)
    yield CRASH
    private = file_again(v4, b"private")
    expect(reclaim_open(back(v4, had, credential=user), had, private)).refused(because=NOT_AGAINST_OTHERS)


@MINORS
@across(CRASH, STATE)
@pytest.mark.parametrize("what", ["open", "lock"])
@proves(RECLAIMS_END, killed_by="reclaims4-go-on-after-reclaim-complete")
def test_completed(v4: Nfs4Dialect, target: TargetView, what: str) -> Steps:
    """After its RECLAIM_COMPLETE, a client that had opens and locks cannot reclaim any: NO_GRACE."""
    had, owner = locker(v4)
    leave(target)
    yield CRASH
    session, opened = returned(v4, had)
    expect(session.compound(op.reclaim_complete())).ok()
    is_open = what == "open"
    reply = reclaim_open(session, had, opened.handle) if is_open else lock_again(session, opened, owner)
    expect(reply).refused(Nfsstat4.NFS4ERR_NO_GRACE, because=RECLAIMS_END)


@MINORS
@across(CRASH, STATE)
@proves(WHO_HAD_NOTHING, killed_by="open4-reclaims-for-anybody")
def test_new_client(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A client that the server has not known before the crash can reclaim nothing."""
    had = former(v4)
    leave(target)
    yield CRASH
    file = file_again(v4)
    stranger = v4.client(v4.connections.connect("nfs")).new_client().create_session()
    reply = reclaim_open(stranger, had, file)
    back(v4, had)  # nobody waits for it any longer
    observe("reclaim by an unknown client", reply.status.name)
    expect(reply).refused(*REFUSALS, because=WHO_HAD_NOTHING)


# ---------------------------------------------------------------- what is no reclaim


@MINORS
@across(CRASH, STATE)
@proves(RECLAIMS_COME_FIRST, killed_by="open4-ignores-grace")
def test_open_in_grace(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A new OPEN in the grace period gets nothing that another client may still reclaim."""
    had = former(v4, deny=DENY_BOTH)
    leave(target)
    since = v4.connections.now()
    yield CRASH
    file = file_again(v4)
    session, other = back(v4, had), another_session(v4)
    reply = other.compound(op.putfh(file), op.open(None, BOTH, owner=new_state_owner()))
    observe("OPEN in the grace period", reply.status.name)
    need_excluded(v4, since, reply, reclaim_open(session, had, file))


@MINORS
@across(CRASH, STATE)
@proves(RECLAIMS_COME_FIRST, killed_by="lock4-ignores-grace")
def test_lock_in_grace(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A new LOCK in the grace period gets nothing that another client may still reclaim."""
    had, owner = locker(v4)
    other = former(v4, file=had.file)
    leave(target)
    since = v4.connections.now()
    yield CRASH
    second, theirs = returned(v4, other)
    session, opened = returned(v4, had)
    expect(second.compound(op.reclaim_complete())).ok()
    reply = lock_again(second, theirs, new_state_owner(), reclaim=False)
    observe("LOCK in the grace period", reply.status.name)
    need_excluded(v4, since, reply, lock_again(session, opened, owner))


@MINORS
@across(CRASH, STATE)
@pytest.mark.parametrize("operation", ["read", "write"])
@proves(RECLAIMS_COME_FIRST, killed_by="io4-ignores-grace")
def test_io_in_grace(v4: Nfs4Dialect, target: TargetView, operation: str) -> Steps:
    """READ and WRITE without an OPEN are not served in the grace period against an open that may be reclaimed."""
    had = former(v4, deny=DENY_BOTH)
    using = op.read(op.ANONYMOUS, 0, 4) if operation == "read" else op.write(op.ANONYMOUS, 0, b"else")
    if v4.compounds.compound(op.putfh(had.file), using).status == Nfsstat4.NFS4_OK:
        skip("share reservations do not keep the anonymous stateid from the file")
    leave(target)
    since = v4.connections.now()
    yield CRASH
    file = file_again(v4)
    session, other = back(v4, had), another_session(v4)
    reply = other.compound(op.putfh(file), using)
    observe(f"{operation.upper()} in the grace period", reply.status.name)
    need_excluded(v4, since, reply, reclaim_open(session, had, file))


@MINORS
@across(CRASH, STATE)
@proves(OWN_LOCKS_WAIT, killed_by="lock4-before-reclaim-complete-is-inval")
def test_own_lock_waits(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """A new LOCK by a client that has reclaimed its open, before its RECLAIM_COMPLETE, fails with GRACE."""
    had = former(v4)
    leave(target)
    yield CRASH
    session, opened = returned(v4, had)
    expect(lock_again(session, opened, new_state_owner(), reclaim=False)).status(Nfsstat4.NFS4ERR_GRACE)


# ---------------------------------------------------------------- before and after the reclaim


@MINORS
@across(CRASH, STATE)
@pytest.mark.parametrize("kind", ["open", "lock"])
@proves(OLD_STATES_ARE_GONE, killed_by="teststateid4-old-instances-are-valid")
def test_old_stateid(v4: Nfs4Dialect, target: TargetView, kind: str) -> Steps:
    """A stateid of before the crash is not valid for a new client id."""
    had, _ = locker(v4)
    old = had.stateid
    if kind == "lock":
        reply = had.session.compound(
            op.putfh(had.file), op.lock(old, WRITE_LT, 20, 10, owner=new_state_owner())
        )
        old = expect(reply).ok().stateid
    leave(target)
    yield CRASH
    session = back(v4, had)
    if session.state.clientid == had.id:
        skip("the server has kept the client id over the crash")
    tested = expect(session.compound(op.test_stateid(old))).of(p.TEST_STATEID).ok()
    expect(list(tested.tsr_status_codes), "status codes", of=tested, field="tsr_status_codes").differs_from(
        [Nfsstat4.NFS4_OK]
    )


@MINORS
@across(CRASH, STATE)
@proves(FLAG_ENDS, killed_by="sequence4-wants-reclaims-for-ever")
def test_flag_ends(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """After RECLAIM_COMPLETE, SEQUENCE does not return RESTART_RECLAIM_NEEDED."""
    had = former(v4)
    leave(target)
    yield CRASH
    session, _ = returned(v4, had)
    observe("RESTART_RECLAIM_NEEDED before RECLAIM_COMPLETE", "set" if _is_flagged(session) else "not set")
    expect(session.compound(op.reclaim_complete())).ok()
    _expect_flag(session, is_set=False)


@MINORS
@across(CRASH, STATE)
@proves(FLAG_ENDS, killed_by="sequence4-wants-reclaims-once")
def test_flag_stays(v4: Nfs4Dialect, target: TargetView) -> Steps:
    """Once SEQUENCE has returned RESTART_RECLAIM_NEEDED, it does so until RECLAIM_COMPLETE."""
    had = former(v4)
    leave(target)
    yield CRASH
    session = back(v4, had)
    if not _is_flagged(session):
        skip("the server does not say that the client has something to reclaim")
    need_reclaimed(reclaim_open(session, had, file_again(v4)))
    _expect_flag(session, is_set=True)


def _is_flagged(session: t.Any) -> bool:
    """Whether SEQUENCE says now that the client has something to reclaim."""
    flags = expect(session.renew()).of(p.SEQUENCE).ok().sr_status_flags
    return bool(flags & p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED)


def _expect_flag(session: t.Any, *, is_set: bool) -> None:
    result = expect(session.renew()).of(p.SEQUENCE).ok()
    seen = bool(result.sr_status_flags & p.SEQ4_STATUS_RESTART_RECLAIM_NEEDED)
    expect(seen, "RESTART_RECLAIM_NEEDED", of=result, field="sr_status_flags").equals(is_set)
