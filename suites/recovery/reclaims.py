# SPDX-License-Identifier: MIT
"""Clients of NFSv4.1 that come back after a restart of the server, and reclaim what they had (RFC 5661 section 8.4.2).

A check has `Former`s: clients with an open file each, which they do not close. Before the crash it calls `leave`: a
server in a virtual machine may have their records in memory only (`TargetView.sync`). After it, `back` is the same
client on a new connection: the same owner with the same verifier, a new client id, no RECLAIM_COMPLETE yet.

A server may refuse any reclaim with NO_GRACE: because it keeps no record of its clients, because it suspects an edge
condition, because its grace period is over (section 8.4.3). So `need_reclaimed` ends a check as SKIP then. Whatever
else it answers to the client that is right is a failure.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, new_state_owner, through_grace
from fixtures.checks.target import TargetView
from nfsclient.clients.nfs4 import CompoundError, CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.protocol.nfs4 import OpenDelegationType4 as Type
from nfsclient.rpc.auth import Credential
from nfsjudge import Harm, Requirement, expect, must, skip
from suites.nfs4.leases import lease_of
from suites.nfs4.locks import WRITE_LT
from suites.nfs4.opens import BOTH, Opened, open_file
from suites.recovery.v4 import file_again

MAY_BE_RECLAIMED = must(
    "RFC 5661",
    "8.4.2",
    "after a restart, clients can establish the locking state again that the server has lost",
)
NOT_AGAINST_OTHERS = must(
    "RFC 5661",
    "8.4.2.1.1",
    "a reclaim is not granted if another lock, or the permissions, would refuse an ordinary request",
    harm=Harm.DATA,
)
RECLAIMS_COME_FIRST = must(
    "RFC 5661",
    "8.4.2.1",
    "what is granted in the grace period lets no later reclaim be refused, and no reclaim would have excluded it",
    harm=Harm.DATA,
)
REFUSALS: t.Final = (
    Nfsstat4.NFS4ERR_NO_GRACE,
    Nfsstat4.NFS4ERR_RECLAIM_BAD,
    Nfsstat4.NFS4ERR_RECLAIM_CONFLICT,
)
"""How a server says that it grants no reclaim: which of them fits depends on what it has recorded."""
_MARGIN: t.Final = 0.9
"""Of a lease: clocks of two machines differ."""
STATE: t.Final = "STATE"
"""The act of checks that leave clients: others would wait for the grace period, and use it up for reclaims."""
DENY_BOTH: t.Final = p.OPEN4_SHARE_DENY_BOTH


class Former(t.NamedTuple):
    """A client of before the crash, with an open file."""

    session: Session
    owner: p.ClientOwner4
    name: bytes
    file: bytes
    stateid: p.Stateid4
    state_owner: bytes
    access: int
    deny: int

    @property
    def id(self) -> int:
        """Its client id of before the crash."""
        assert self.session.client is not None
        return self.session.client.id


def former(
    v4: Nfs4Dialect,
    name: bytes = b"f",
    deny: int = 0,
    *,
    file: bytes | None = None,
    access: int = BOTH,
    credential: Credential | None = None,
) -> Former:
    """A new client that has opened `file`, or a new file with data."""
    handle = v4.scratch.file(name, b"data", mode=0o666) if file is None else file
    session = v4.new_session(v4.connections.connect("nfs"), credential)
    owner = new_state_owner()
    opened = open_file(session, handle, access, deny, owner=owner)
    assert session.client is not None
    return Former(session, session.client.owner, name, handle, opened.stateid, owner, access, deny)


def leave(target: TargetView) -> None:
    """What the server has recorded of its clients is on the disk, where nfsproof can do that."""
    target.sync()


def back(
    v4: Nfs4Dialect, had: Former, *, callbacks: bool = False, credential: Credential | None = None
) -> Session:
    """The same client after the crash, on a new connection. SKIP where the server refuses it, or is another one."""
    assert had.session.client is not None
    try:
        client = v4.client(v4.connections.connect("nfs"), credential).new_client(had.owner)
        if client.result.eir_server_scope != had.session.client.result.eir_server_scope:
            skip("the server has another scope than before: its clients have nothing to reclaim there")
        return client.create_session(callbacks=callbacks)
    except CompoundError as error:
        skip(f"the client cannot come back: {error}")


def reclaim_open(
    session: Session,
    had: Former,
    file: bytes,
    kind: p.OpenDelegationType4 = Type.OPEN_DELEGATE_NONE,
    deny: int | None = None,
) -> CompoundReply:
    """The reply to OPEN with CLAIM_PREVIOUS."""
    share = had.deny if deny is None else deny
    access = had.access & ~p.OPEN4_SHARE_ACCESS_WANT_DELEG_MASK
    opening = op.open(op.claim_previous(kind), access, share, owner=had.state_owner)
    return session.compound(op.putfh(file), opening)


def need_reclaimed(reply: CompoundReply, because: Requirement = MAY_BE_RECLAIMED) -> p.Stateid4:
    """The stateid of what was reclaimed. SKIP for NO_GRACE; any other refusal is a failure."""
    __tracebackhide__ = True
    if reply.status == Nfsstat4.NFS4ERR_NO_GRACE:
        skip("the server grants no reclaim now: NFS4ERR_NO_GRACE")
    return expect(reply, because=because).ok().stateid


class Returned(t.NamedTuple):
    """A client that has come back, and has reclaimed its open."""

    session: Session
    opened: Opened


def returned(v4: Nfs4Dialect, had: Former, *, callbacks: bool = False) -> Returned:
    """Come back, and reclaim the open."""
    __tracebackhide__ = True
    file = file_again(v4, had.name)
    session = back(v4, had, callbacks=callbacks)
    reply = reclaim_open(session, had, file)
    stateid = need_reclaimed(reply)
    result = reply.of(p.OPEN).resok4
    assert result is not None
    return Returned(session, Opened(file, stateid, result))


class Locker(t.NamedTuple):
    """A former client that has a byte-range lock, too."""

    had: Former
    owner: bytes


def locker(v4: Nfs4Dialect, name: bytes = b"f", file: bytes | None = None) -> Locker:
    """A new client that has opened a file, and locked its first ten bytes for writing."""
    had, owner = former(v4, name, file=file), new_state_owner()
    locking = op.lock(had.stateid, WRITE_LT, 0, 10, owner=owner)
    expect(through_grace(had.session, op.putfh(had.file), locking)).ok()
    return Locker(had, owner)


def lock_again(session: Session, opened: Opened, owner: bytes, *, reclaim: bool = True) -> CompoundReply:
    """The reply to LOCK of the same range, as a reclaim or as a new request."""
    locking = op.lock(opened.stateid, WRITE_LT, 0, 10, owner=owner, reclaim=reclaim)
    return session.compound(op.putfh(opened.handle), locking)


def need_excluded(
    v4: Nfs4Dialect, since: float, before: CompoundReply | None, reclaimed: CompoundReply
) -> None:
    """Fail if a request was granted in the grace period and the reclaim that excludes it was not refused for that.

    After a grant, only NO_GRACE is right: the server then refuses all reclaims, whatever they are about. SKIP where the
    grace period may have been over: a lease after the crash. `since` is a time before that.
    """
    __tracebackhide__ = True
    if before is None or before.status != Nfsstat4.NFS4_OK:
        return
    elapsed = v4.connections.now() - since
    if elapsed > lease_of(v4) * _MARGIN:
        skip("this machine, or the server, was too slow: the grace period may have been over")
    expect(reclaimed).refused(Nfsstat4.NFS4ERR_NO_GRACE, because=RECLAIMS_COME_FIRST)
