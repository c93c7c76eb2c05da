# SPDX-License-Identifier: MIT
"""Delegations (RFC 5661 sections 10.2 to 10.4, 18.6, 20.2): recalled when another client needs the file.

No server owes one. Where none is granted, these checks are SKIP. A caller in conflict may wait for its reply, or get
DELAY: both are accepted (section 18.30.4).
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import XdrType
from nfsjudge import Level, Part, Requirement, expect, expect_that, observe, proves, skip
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import READ, another_client, create_file

CONFLICT_RECALLS = Requirement(
    rfc="RFC 5661",
    section="10.2",
    gist="a conflicting request makes the server recall the delegation, and proceeds when it is returned or revoked",
)
RECALL_NAMES_THE_DELEGATION = Requirement(
    rfc="RFC 5661",
    section="20.2.3",
    gist="CB_RECALL has the stateid of the delegation, and the filehandle",
)
SEQID_IS_ZERO = Requirement(
    rfc="RFC 5661",
    section="8.2.2",
    level=Level.MUST,  # "is required to be zero"
    gist="the seqid of a stateid in a callback is zero",
)
RETURNED_IS_BAD = Requirement(
    rfc="RFC 5661",
    section="8.2.4",
    gist="a stateid is valid until what it stands for is returned by an operation such as CLOSE or DELEGRETURN",
)
WRITER_IS_ASKED = Requirement(
    rfc="RFC 5661",
    section="18.7.4",
    part=Part.IMPLEMENTATION,
    level=Level.MUST,
    says_must=True,
    gist="GETATTR of size or change waits for CB_GETATTR, or for the end of a write delegation of another client",
)
_REVOKED: t.Final = frozenset(
    {Nfsstat4.NFS4ERR_DELEG_REVOKED, Nfsstat4.NFS4ERR_EXPIRED, Nfsstat4.NFS4ERR_ADMIN_REVOKED}
)
_PATIENCE: t.Final = 3.0
"""Seconds in which a conflicting request must not succeed while the delegation is neither returned nor revoked."""
_TRIES: t.Final = 4
_PAUSE: t.Final = 0.5
"""Seconds between two OPENs of which the second may get a delegation that the first did not get."""
_ARRIVES: t.Final = 20.0
"""Seconds for a recall to arrive."""


class Granted(t.NamedTuple):
    """A delegation, and who has it."""

    holder: Session4
    file: bytes
    stateid: p.Stateid4
    opened: p.Stateid4
    patience: float
    """Seconds for what must come."""

    def await_recall(self) -> bool:
        """Serve the backchannel until a CB_RECALL comes; False when time is up."""
        loop = t.cast("RpcClient", self.holder.nfs4.rpc).loop
        return loop.run_until(lambda: bool(recalls(self.holder)), loop.clock() + self.patience)

    def need_kept(self) -> None:
        """SKIP if the server has revoked it."""
        tested = expect(self.holder.compound(op.test_stateid(self.stateid))).of(p.TEST_STATEID).ok()
        if list(tested.tsr_status_codes) != [Nfsstat4.NFS4_OK]:
            skip("the server has revoked the delegation")

    def give_back(self) -> None:
        """DELEGRETURN that must succeed, unless the server has revoked the delegation meanwhile."""
        reply = self.holder.compound(op.putfh(self.file), op.delegreturn(self.stateid))
        if reply.failed is p.DELEGRETURN and reply.status in _REVOKED:
            skip(f"the server has revoked the delegation: {reply.status.name}")
        expect(reply).ok()


def _opened(holder: Session4, file: bytes, access: int) -> p.Open4ResOk:
    opening = op.open(None, access, owner=new_state_owner())
    result = expect(through_grace(holder, op.putfh(file), opening)).ok().of(p.OPEN).resok4
    assert result is not None
    return result


def delegated(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> Granted:
    """A file that a new client has opened, with a delegation. SKIP if the server grants none.

    Nobody has opened the file for writing before: Linux has it open for a while after that, and grants no reader one.
    """
    made = create_file(v4.session, scratch.handle, b"file", access=READ)
    expect(v4.session.compound(op.putfh(made.handle), op.close(made.stateid))).ok()
    file = made.handle
    holder = v4.client(v4.connections.connect("nfs")).establish(callbacks=True)
    want = (
        p.OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG
        if access & p.OPEN4_SHARE_ACCESS_WRITE
        else p.OPEN4_SHARE_ACCESS_WANT_READ_DELEG
    )
    holder.callbacks.on(p.CB_RECALL, Nfsstat4.NFS4_OK)
    result = _opened(holder, file, access | want)
    kind = result.delegation
    for _ in range(_TRIES):
        if kind.read is not None or kind.write is not None:
            break
        # Some servers first try the backchannel, in their own time.
        expect(holder.compound(op.putfh(file), op.close(result.stateid))).ok()
        holder.await_callbacks(holder.callbacks.count + 1, _PAUSE)
        result = _opened(holder, file, access | want)
        kind = result.delegation
    found = kind.read or kind.write
    if found is None:
        skip(f"the server grants no delegation: {kind.delegation_type.name}")
    patience = v4.connections.stretch(_ARRIVES)
    granted = Granted(holder, file, found.stateid, result.stateid, patience)
    if access & p.OPEN4_SHARE_ACCESS_WRITE and kind.write is None:
        granted.give_back()  # the file could not be removed before that
        skip("the server grants no write delegation")
    return granted


def recalls(holder: Session4) -> list[p.CbRecall4Args]:
    """The CB_RECALLs that have come, among other callbacks."""
    return [one.args for one in holder.callbacks.received if isinstance(one.args, p.CbRecall4Args)]


class Attempt:
    """A request that may have to wait: it is sent, and its reply is awaited for a while."""

    def __init__(self, session: Session4, *operations: XdrType) -> None:
        self._session = session
        self._request = session.state.begin(list(operations))
        self._rpc = t.cast("RpcClient", session.nfs4.rpc)
        self._pending = self._rpc.submit(p.COMPOUND, self._request.args)

    @property
    def loop(self) -> Loop:
        """The loop that its connection is in."""
        return self._rpc.loop

    @property
    def has_succeeded(self) -> bool:
        """Whether the reply has come, and is no refusal."""
        return self._pending.result is not None and self._pending.result.status == Nfsstat4.NFS4_OK

    def reply(self, seconds: float) -> CompoundReply | None:
        """The reply, if it comes in time."""
        loop = self._rpc.loop
        loop.run_until(lambda: self._pending.done, loop.clock() + seconds)
        if not self._pending.done or self._pending.result is None:
            return None
        return self._session.state.finish(self._request, self._pending.result)


_READ: t.Final = p.OPEN4_SHARE_ACCESS_READ
_BOTH: t.Final = p.OPEN4_SHARE_ACCESS_BOTH
_KINDS = pytest.mark.parametrize("access", [_READ, _BOTH], ids=["read", "write"])


def conflicting() -> p.Open4Args:
    """An OPEN that conflicts with any delegation of another client."""
    return op.open(None, _BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=new_state_owner())


@MINORS
@_KINDS
@proves(CONFLICT_RECALLS, RECALL_NAMES_THE_DELEGATION, SEQID_IS_ZERO, killed_by="open4-invents-delegations")
def test_recall(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> None:
    """OPEN for writing by another client recalls a delegation, and succeeds once it is returned."""
    granted = delegated(v4, scratch, access)
    other = another_client(v4)
    attempt = Attempt(other, op.putfh(granted.file), conflicting())
    expect_that(granted.await_recall(), "CB_RECALL", "no CB_RECALL", because=CONFLICT_RECALLS)
    call = recalls(granted.holder)[-1]
    expect(call.stateid.other, "other field of the stateid", because=RECALL_NAMES_THE_DELEGATION).equals(
        granted.stateid.other
    )
    expect(call.stateid.seqid, "seqid of the stateid", because=SEQID_IS_ZERO).equals(0)
    early = attempt.reply(0)
    observe("request that conflicts with a delegation", "waits" if early is None else early.status.name)
    granted.give_back()
    expect_same_object(scratch, call.fh, granted.file, "fh of CB_RECALL", because=RECALL_NAMES_THE_DELEGATION)
    first = early or attempt.reply(granted.patience)
    expect_that(first is not None, "a reply to OPEN after DELEGRETURN", "none", because=CONFLICT_RECALLS)
    assert first is not None
    if first.status != Nfsstat4.NFS4_OK:
        expect(other.compound(op.putfh(granted.file), conflicting())).ok()


@MINORS
@_KINDS
@proves(CONFLICT_RECALLS, killed_by="open4-ignores-delegations")
def test_waits(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> None:
    """OPEN for writing by another client does not succeed before the delegation is returned."""
    granted = delegated(v4, scratch, access)
    attempt = Attempt(another_client(v4), op.putfh(granted.file), conflicting())
    reply = attempt.reply(_PATIENCE)
    if reply is not None:
        granted.need_kept()
        expect(reply.status, "status of OPEN").equals(Nfsstat4.NFS4ERR_DELAY)
    granted.give_back()


@MINORS
@_KINDS
@proves(RETURNED_IS_BAD, killed_by="delegreturn4-returns-nothing")
def test_returned(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> None:
    """After DELEGRETURN the stateid of the delegation is bad, and the file stays open."""
    granted = delegated(v4, scratch, access)
    granted.give_back()
    tested = expect(granted.holder.compound(op.test_stateid(granted.stateid))).of(p.TEST_STATEID).ok()
    # A server may retain the stateid for the same purpose.
    expect(list(tested.tsr_status_codes), "status codes").one_of(
        [Nfsstat4.NFS4ERR_BAD_STATEID], [Nfsstat4.NFS4ERR_OLD_STATEID]
    )
    expect(granted.holder.compound(op.putfh(granted.file), op.read(granted.opened, 0, 4))).ok()


@MINORS
@_KINDS
@proves(CONFLICT_RECALLS, killed_by="remove4-ignores-delegations")
def test_recall_by_remove(v4: Nfs4Dialect, scratch: Nfs4Scratch, access: int) -> None:
    """REMOVE by another client recalls a delegation, and is not executed before that is returned."""
    granted = delegated(v4, scratch, access)
    attempt = Attempt(another_client(v4), op.putfh(scratch.handle), op.remove(b"file"))
    came = granted.await_recall()
    reply = attempt.reply(_PATIENCE if came else 0)
    # The holder has it open, and the server may know that without a recall (section 18.25.4).
    if reply is not None and reply.status == Nfsstat4.NFS4ERR_FILE_OPEN:
        skip("the server removes no file that is open")
    expect_that(came, "CB_RECALL", "no CB_RECALL")
    if reply is not None:
        granted.need_kept()
        expect(reply.status, "status of REMOVE").differs_from(Nfsstat4.NFS4_OK)
    granted.give_back()
    attempt.reply(granted.patience)


def _interrogate(granted: Granted, other: Session4) -> tuple[Attempt, set[type]]:
    """GETATTR of size and change by another client, and which callbacks have come for it."""
    attempt = Attempt(other, op.putfh(granted.file), op.getattr("size", "change"))
    loop = attempt.loop

    def came() -> set[type]:
        seen = {type(one.args) for one in granted.holder.callbacks.received}
        return seen & {p.CbGetattr4Args, p.CbRecall4Args}

    # What has succeeded was not asked before; after DELAY the callback is still to come.
    loop.run_until(lambda: bool(came()) or attempt.has_succeeded, loop.clock() + granted.patience)
    if not came():  # it may be on its way, on another connection
        loop.run_until(lambda: bool(came()), loop.clock() + granted.patience / 40)
    return attempt, came()


@MINORS
@proves(WRITER_IS_ASKED, killed_by="getattr4-asks-no-writer")
def test_getattr(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """GETATTR of size and change by another client makes the server call the holder of a write delegation."""
    granted = delegated(v4, scratch, _BOTH)
    attempt, came = _interrogate(granted, another_client(v4))
    expect_that(bool(came), "CB_GETATTR or CB_RECALL", "neither")
    granted.give_back()
    attempt.reply(granted.patience)


@MINORS
@proves(WRITER_IS_ASKED, killed_by="getattr4-answers-before-the-return")
def test_getattr_waits(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """GETATTR that recalls a write delegation does not succeed before that is returned."""
    granted = delegated(v4, scratch, _BOTH)
    attempt, came = _interrogate(granted, another_client(v4))
    if came != {p.CbRecall4Args}:
        granted.give_back()
        skip("the server recalls nothing for GETATTR")
    reply = attempt.reply(_PATIENCE)
    if reply is not None:
        granted.need_kept()
        expect(reply.status, "status of GETATTR").differs_from(Nfsstat4.NFS4_OK)
    granted.give_back()
    attempt.reply(granted.patience)
