# SPDX-License-Identifier: MIT
"""Requests that come again in the same slot: what failed, what runs, and what is another one (RFC 5661 2.10.6)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Nfs4, Request, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost, RpcRejected
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient
from nfsclient.xdr import Unread, XdrType
from nfsjudge import Harm, expect, expect_names, expect_that, must, observe, proves, should, skip, stated
from suites.nfs4.clauses import RETRY_GETS_THE_CACHED_REPLY, RETRY_IS_NOT_EXECUTED
from suites.nfs4.opens import READ, open_file
from suites.nfs4.principals import STRANGER
from suites.nfs4.retries import (
    need_answer,
    own_session,
    performed,
    reconnect,
    send_again,
    send_another,
    without_sequence,
)

CACHED_WHATEVER_ITS_END = must(
    "RFC 5661",
    "2.10.6.4",
    "with sa_cachethis, the reply is cached whichever error it ends with, unless SEQUENCE itself fails",
)
ILLEGAL_IS_NEVER_UNCACHED = must(
    "RFC 5661",
    "2.10.6.1.3",
    "the retry of an illegal or removed operation never gets NFS4ERR_RETRY_UNCACHED_REP, but what it got before",
)
REPLY_IS_OF_ITS_USER = must(
    "RFC 5661",
    "2.10.6.1.3.1",
    "the cached reply is for a retry by the same user: another user gets NFS4ERR_SEQ_FALSE_RETRY",
    harm=Harm.SECRET,
)
FALSE_RETRY_IS_ONE_OF_FOUR = stated(
    "RFC 5661",
    "2.10.6.1.3",
    "another request with the same slot and sequence id gets the cached reply, NFS4ERR_SEQ_FALSE_RETRY from SEQUENCE, "
    "or an error from the second operation",
)
RUNNING_IS_DELAY = should(  # "but implementations MAY return NFS4ERR_MISORDERED"
    "RFC 5661",
    "2.10.6.2",
    "a retry while the original runs gets NFS4ERR_DELAY or NFS4ERR_SEQ_MISORDERED from SEQUENCE",
)
ANY_CONNECTION_CARRIES_RETRIES = stated(
    "RFC 5661",
    "2.10.6.2",
    "a request may be sent again over a different connection of the session",
)
_ILLEGAL: t.Final = 10043
"""The number of an operation that nobody defines."""
_ROUNDS: t.Final = 12
_LITTLE: t.Final = 600
"""Bytes of replies that are kept."""
_MUCH: t.Final = 4096


def _making(directory: bytes, name: bytes) -> list[XdrType]:
    return [op.putfh(directory), op.mkdir(name), op.getfh()]


# ---------------------------------------------------------------- what failed


@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by="sequence4-keeps-the-error-only")
def test_retry_of_partial(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A retry of a request that failed in its third operation gets the results of all three."""
    session = own_session(v4)
    asked = [op.putfh(scratch.handle), op.mkdir(b"made"), op.lookup(b"absent"), op.mkdir(b"never")]
    request, first = performed(session, asked, cache_this=True)
    expect(need_answer(first)).field("status").equals(Nfsstat4.NFS4ERR_NOENT)
    again = send_again(v4, session, request)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))


@pytest.mark.parametrize("cached", [True, False], ids=["cached", "uncached"])
@proves(RETRY_IS_NOT_EXECUTED, killed_by="sequence4-goes-on-after-errors")
def test_partial_runs_once(v4: Nfs4Dialect, scratch: Nfs4Scratch, cached: bool) -> None:
    """A retry of a request that failed in the middle executes neither what succeeded nor what is left."""
    session = own_session(v4)
    asked = [op.putfh(scratch.handle), op.mkdir(b"made"), op.lookup(b"later"), op.mkdir(b"never")]
    request, first = performed(session, asked, cache_this=cached)
    expect(need_answer(first)).field("status").equals(Nfsstat4.NFS4ERR_NOENT)
    expect(scratch.run(op.putfh(scratch.handle), op.remove(b"made"))).ok()
    send_again(v4, session, request)
    expect_names(scratch.names(), [])


def _illegal_reply(session: Session, operation: XdrType, *, cached: bool) -> tuple[Request, CompoundReply]:
    """A request of an illegal operation, and its reply. SKIP if the call is refused as a whole."""
    try:
        request, reply = performed(session, [operation], cache_this=cached)
    except (RpcRejected, ConnectionLost) as refusal:
        skip(f"the whole call is refused: {type(refusal).__name__}")
    expect(reply).refused(because=None)
    return request, reply


_REFUSED: t.Final[dict[str, Callable[[], XdrType]]] = {
    "illegal": lambda: Unread(_ILLEGAL, b""),
    "removed": lambda: p.Renew4Args(1),
}


@pytest.mark.parametrize("kind", _REFUSED)
@proves(ILLEGAL_IS_NEVER_UNCACHED, killed_by="sequence4-illegal-is-uncached")
def test_uncached_illegal(v4: Nfs4Dialect, kind: str) -> None:
    """A retry of an operation that the minor version does not have gets its error, though it need not be cached."""
    session = own_session(v4)
    request, _first = _illegal_reply(session, _REFUSED[kind](), cached=False)
    again = need_answer(send_again(v4, session, request))
    expect(again).of(p.SEQUENCE).ok()
    expect(again).field("status", "status of the retry").one_of(
        Nfsstat4.NFS4ERR_OP_ILLEGAL, Nfsstat4.NFS4ERR_BADXDR, Nfsstat4.NFS4ERR_NOTSUPP
    )


@pytest.mark.parametrize("kind", _REFUSED)
@proves(CACHED_WHATEVER_ITS_END, killed_by="sequence4-does-not-cache-refusals")
def test_cached_illegal(v4: Nfs4Dialect, kind: str) -> None:
    """A retry of an operation that the minor version does not have gets the reply of the first time."""
    session = own_session(v4)
    request, first = _illegal_reply(session, _REFUSED[kind](), cached=True)
    again = send_again(v4, session, request)
    expect(again).field("status", "status of the retry").equals(first.status)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))


@proves(CACHED_WHATEVER_ITS_END, killed_by="sequence4-forgets-what-is-too-big")
def test_cached_too_big(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A request whose reply is too large to be cached is executed once, and its retry gets the same results."""
    file = scratch.file("file", bytes(_MUCH))
    made = v4.client(v4.connections.connect("nfs")).new_client()
    session = made.create_session(fore=op.channel(responsesize_cached=_LITTLE, requests=2))
    expect(session.compound(op.reclaim_complete())).ok()
    reading = op.read(op.ANONYMOUS, 0, _MUCH)
    asked = [op.putfh(scratch.handle), op.mkdir(b"made"), op.putfh(file), reading]
    request = session.state.begin(asked, cache_this=True)
    first = need_answer(session.perform(request))
    if first.status != Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE or len(first) < 3:  # MKDIR was refused
        skip(f"the request ends with {first.status.name}: another check judges that")
    expect(scratch.run(op.putfh(scratch.handle), op.remove(b"made"))).ok()
    again = send_again(v4, session, request)
    expect_names(scratch.names(), [b"file"], because=RETRY_IS_NOT_EXECUTED)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))


# ---------------------------------------------------------------- other users, other requests


@proves(REPLY_IS_OF_ITS_USER, killed_by="sequence4-replies-are-for-everybody", needs="other_users")
def test_retry_by_stranger(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A retry by another user does not get the data that the first user has read."""
    file, session = scratch.file("file", b"secret", mode=0o600), own_session(v4)
    stranger = v4.client(v4.connections.connect("nfs"), AuthSys(*STRANGER))
    opened = open_file(session, file, READ)
    asked = [op.putfh(file), op.read(opened.stateid, 0, 6)]
    _need_denied(session, stranger, asked)
    request, first = performed(session, asked, cache_this=True)
    expect(first).ok()
    reconnect(v4, session)
    again = session.perform(request, via=stranger)
    observe("retry by another user", again.status.name)
    expect(again).field("status", "status of the retry").differs_from(Nfsstat4.NFS4_OK)


def _need_denied(session: Session, stranger: Nfs4, asked: Sequence[XdrType]) -> None:
    """SKIP unless another user may not do it: the users may be the same for the server, or permissions not checked."""
    reply = session.perform(session.state.begin(asked, cache_this=False), via=stranger)
    if reply.status == Nfsstat4.NFS4_OK:
        skip("another user may read the file, too")


_OTHERS: t.Final[dict[str, Callable[[bytes], Sequence[XdrType]]]] = {
    "other-name": lambda directory: _making(directory, b"second"),
    "other-operation": lambda _directory: [op.putrootfh(), op.getfh()],
    "fewer": lambda directory: _making(directory, b"first")[:-1],
    "more": lambda directory: [*_making(directory, b"first"), op.mkdir(b"below")],
    "illegal": lambda _directory: [Unread(_ILLEGAL, b"")],
}


@pytest.mark.parametrize("other", _OTHERS)
@proves(FALSE_RETRY_IS_ONE_OF_FOUR, killed_by="sequence4-false-retries-are-misordered")
def test_answer_to_false(v4: Nfs4Dialect, scratch: Nfs4Scratch, other: str) -> None:
    """Another request with the slot and sequence id of the last one gets an answer that the RFC lists."""
    session = own_session(v4)
    asked = _making(scratch.handle, b"first")
    request, first = performed(session, asked, cache_this=True)
    expect(first).ok()
    try:
        reply = send_another(v4, session, request, *_OTHERS[other](scratch.handle))
    except (RpcRejected, ConnectionLost) as refusal:
        skip(f"the whole call is refused: {type(refusal).__name__}")
    reply = need_answer(reply)
    observe("false retry", reply.status.name)
    if reply.status == Nfsstat4.NFS4_OK:
        expect(without_sequence(reply), "results").equals(without_sequence(first))
    elif len(reply.res.resarray) == 1:
        expect(reply).field("status").equals(Nfsstat4.NFS4ERR_SEQ_FALSE_RETRY)
    else:
        expect(len(reply), "results after SEQUENCE").equals(1)


# ---------------------------------------------------------------- what runs


@proves(ANY_CONNECTION_CARRIES_RETRIES, killed_by="sequence4-connections-have-caches")
def test_retry_elsewhere(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """A retry on a second connection of the session gets the cached reply, while the first connection lives."""
    session = own_session(v4)
    second = v4.client(v4.connections.connect("nfs"))
    request, first = performed(session, _making(scratch.handle, b"made"), cache_this=True)
    expect(first).ok()
    again = need_answer(session.perform(request, via=second))
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))


def _at_once(session: Session, second: RpcClient, request: Request) -> list[CompoundReply]:
    """The replies to a request that is sent on two connections at the same time."""
    first = t.cast("RpcClient", session.nfs4.rpc)
    sent = [(rpc, rpc.submit(p.COMPOUND, request.args)) for rpc in (first, second)]
    return [CompoundReply(request.args, rpc.wait(pending), supplied=1) for rpc, pending in sent]


_WAITS: t.Final = frozenset({Nfsstat4.NFS4ERR_DELAY, Nfsstat4.NFS4ERR_SEQ_MISORDERED})


@proves(
    RUNNING_IS_DELAY,
    RETRY_IS_NOT_EXECUTED,
    killed_by=("sequence4-retries-elsewhere-are-badslot", "sequence4-executes-retries"),
)
def test_at_once(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """Of a request that is sent on two connections at once, the second gets the reply of the first, or is put off."""
    session, second = own_session(v4), v4.connections.connect("nfs")
    expect(v4.client(second).compound(session.sequence(0))).ok()
    session.state.slots[0].advance()
    for number in range(_ROUNDS):
        request = session.state.begin(_making(scratch.handle, b"%d" % number), cache_this=True)
        replies = _at_once(session, second, request)
        done = [reply for reply in replies if len(reply.res.resarray) > 1]
        for reply in replies:
            if reply not in done:
                expect_that(
                    reply.status in _WAITS, "DELAY or SEQ_MISORDERED", reply.status.name, "status of SEQUENCE"
                )
        if not done:
            skip("the server puts both off")
        for reply in map(need_answer, done):
            expect(reply, because=RETRY_IS_NOT_EXECUTED).field("status").equals(Nfsstat4.NFS4_OK)
            expect(without_sequence(reply), "results", because=RETRY_IS_NOT_EXECUTED).equals(
                without_sequence(done[0])
            )
        session.state.finish(request, done[0].res)
    observe("rounds", _ROUNDS)


# ---------------------------------------------------------------- one slot


@proves(RETRY_GETS_THE_CACHED_REPLY, killed_by="sequence4-lone-slot-keeps-nothing")
def test_one_slot(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """In a session with one slot a retry gets the cached reply, and the next request is executed."""
    made = v4.client(v4.connections.connect("nfs")).new_client()
    session = made.create_session(fore=op.channel(requests=1))
    if session.state.fore.ca_maxrequests != 1:
        skip(f"the server grants {session.state.fore.ca_maxrequests} slots")
    request, first = performed(session, _making(scratch.handle, b"made"), cache_this=True)
    expect(first).ok()
    again = send_again(v4, session, request)
    expect(without_sequence(again), "results of the retry").equals(without_sequence(first))
    expect(session.compound(*_making(scratch.handle, b"next"))).ok()
