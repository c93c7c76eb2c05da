# SPDX-License-Identifier: MIT
"""Requests and replies above the limits of their session (RFC 5661 section 2.10.6.4), by operation.

A server may say so in the result of SEQUENCE, before it executes anything, or of the operation that exceeds the limit.
A server that does not keep a limit of requests at all has one defect, not one for each operation: the id of `_PLAIN`
says so, and the others end as SKIP.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.blocking import RpcClient
from nfsclient.xdr import XdrType
from nfsjudge import Requirement, expect, observe, proves, skip
from suites.nfs4.calls import ARRANGED, CALLS, IN_SESSIONS
from suites.nfs4.retries import need_answer
from suites.nfs4.test_compound import MAXOPERATIONS_IS_A_LIMIT
from suites.nfs4.test_limits import CACHED_REPLIES_FIT, LARGER_IS_REFUSED, REPLIES_FIT

_SMALL: t.Final = 4096
"""Bytes of requests and replies in the sessions of these checks, as far as the server grants so little."""
_MOST: t.Final = 1 << 16
"""Bytes: sessions that allow more are not tried."""
_MOST_OPERATIONS: t.Final = 2000
_RPC_HEADER: t.Final = 24
"""Bytes of the header of an accepted reply with an empty verifier."""
_NUMBERED: t.Final = 4
"""Bytes of the number of an operation."""
_PLAIN: t.Final = "getfh"
"""An operation without arguments, which changes nothing."""


# ---------------------------------------------------------------- requests


@pytest.mark.parametrize("name", IN_SESSIONS)
@proves(MAXOPERATIONS_IS_A_LIMIT, killed_by="compound4-too-many-is-serverfault")
def test_operations(session: Session, scratch: Nfs4Scratch, name: str) -> None:
    """A COMPOUND in which an operation is the first that is too many gets TOO_MANY_OPS."""
    most = session.state.fore.ca_maxoperations
    if most > _MOST_OPERATIONS:
        skip(f"the session allows {most} operations")
    before = [op.putfh(scratch.handle)] * (most - 1)  # SEQUENCE is the first
    _need_kept(session, name, "ca_maxoperations", *before)
    reply = need_answer(session.compound(*before, CALLS[name].plain))
    observe("operations above the limit", _place(reply))
    expect(_last(reply)).status(Nfsstat4.NFS4ERR_TOO_MANY_OPS)


@pytest.mark.parametrize("name", IN_SESSIONS)
@proves(LARGER_IS_REFUSED, killed_by="compound4-large-request-is-serverfault")
def test_request(session: Session, scratch: Nfs4Scratch, name: str) -> None:
    """A request in which an operation is the first bytes above ca_maxrequestsize gets REQ_TOO_BIG."""
    small = _session(session, requestsize=_SMALL)
    most = _need_small(small.state.fore.ca_maxrequestsize)
    putting = op.putfh(scratch.handle)
    left = most - _request_size(session, putting, op.test_stateid())
    asking = op.test_stateid(*[op.ANONYMOUS] * (left // _STATEID))
    tag = bytes(left % _STATEID)
    _need_kept(small, name, "ca_maxrequestsize", putting, asking, tag=tag)
    reply = need_answer(small.compound(putting, asking, CALLS[name].plain, tag=tag))
    observe("request above the limit", _place(reply))
    expect(_last(reply)).status(Nfsstat4.NFS4ERR_REQ_TOO_BIG)


def _need_kept(session: Session, name: str, limit: str, *operations: XdrType, tag: bytes = b"") -> None:
    """SKIP if one operation more, of whatever kind, is executed: another id of this check judges that."""
    if name == _PLAIN:
        return
    reply = need_answer(session.compound(*operations, CALLS[_PLAIN].plain, tag=tag))
    if reply.status == Nfsstat4.NFS4_OK:
        skip(f"the server does not keep {limit}: {_PLAIN.upper()} above it is executed", reply)


_STATEID: t.Final = len(op.ANONYMOUS.to_xdr())


def _request_size(session: Session, *operations: XdrType) -> int:
    """Bytes of a request after a SEQUENCE, without a tag, RPC header included (section 18.36.3)."""
    nfs4 = session.nfs4
    credential = nfs4.credential or t.cast("RpcClient", nfs4.rpc).credential
    header = 6 * 4 + sum(len(part) for part in credential.opaque())
    first = op.sequence(bytes(p.NFS4_SESSIONID_SIZE), 1)
    return header + len(p.Compound4Args(b"", 1, [first, *operations]).to_xdr())


# ---------------------------------------------------------------- replies


@pytest.mark.parametrize("name", ARRANGED)
@proves(REPLIES_FIT, killed_by="compound4-large-reply-is-serverfault")
def test_reply(session: Session, scratch: Nfs4Scratch, name: str) -> None:
    """An operation whose result has no room in the reply that the session allows gets REP_TOO_BIG."""
    small = _session(session, responsesize=_SMALL)
    most = _need_small(small.state.fore.ca_maxresponsesize)
    reply = _filled(session, small, scratch, name, most, cached=False)
    expect(_size(reply), "bytes in the reply", because=REPLIES_FIT).at_most(most)
    _expect_fits(reply, Nfsstat4.NFS4ERR_REP_TOO_BIG, REPLIES_FIT)


@pytest.mark.parametrize("name", ARRANGED)
@proves(CACHED_REPLIES_FIT, killed_by="compound4-large-to-cache-is-serverfault")
def test_cached(session: Session, scratch: Nfs4Scratch, name: str) -> None:
    """An operation whose result has no room in the cache of the slot gets REP_TOO_BIG_TO_CACHE, if that is wanted."""
    small = _session(session, responsesize_cached=_SMALL)
    granted = small.state.fore
    most = _need_small(granted.ca_maxresponsesize_cached)
    if granted.ca_maxresponsesize < 2 * most:
        skip(f"the session allows replies of {granted.ca_maxresponsesize} bytes, and {most} to be cached")
    reply = _filled(session, small, scratch, name, most, cached=True)
    # How much of a reply is cached is the server's to say: at least the results after SEQUENCE.
    results = sum(_NUMBERED + len(result.to_xdr()) for result in reply.res.resarray[1:])
    if not reply.status:
        expect(results, "bytes of results", because=CACHED_REPLIES_FIT).at_most(most)
    _expect_fits(reply, Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE, CACHED_REPLIES_FIT)


def _filled(
    session: Session, small: Session, scratch: Nfs4Scratch, name: str, most: int, *, cached: bool
) -> CompoundReply:
    """The reply to an operation after a READ of so much that not more than a refusal has room after it."""
    large = scratch.file("large", bytes(most))
    arranged = CALLS[name].arranged(session, scratch)
    reading = [op.putfh(large), op.read(op.ANONYMOUS, 0, 4), *arranged.before]
    probe = expect(need_answer(small.compound(*reading))).ok()
    count = (most - _REFUSED - _size(probe)) // 4 * 4 + 4
    if count < 4:
        skip(f"{most} bytes have no room for the operations in front of it")
    reading[1] = op.read(op.ANONYMOUS, 0, count)
    asked = [arranged.operation, *([op.getfh()] if name in _WITH_GETFH else [])]
    reply = need_answer(small.compound(*reading, *asked, cache_this=cached))
    observe("reply above the limit", _place(reply))
    return reply


_WITH_GETFH: t.Final = frozenset({"create", "open", "openattr"})
"""Operations that get UNSAFE_COMPOUND without a GETFH after them, from some servers (section 2.10.6.4)."""
_REFUSED: t.Final = 12
"""Bytes of an operation that fails: its number, its status and, of SETATTR, that nothing was set."""


def _expect_fits(reply: CompoundReply, status: Nfsstat4, because: Requirement) -> None:
    """A reply that is smaller than the limit, because READ has returned less, or a refusal."""
    of_readdir = (
        [Nfsstat4.NFS4ERR_TOOSMALL] if reply.failed is p.READDIR else []
    )  # not one entry fits, here as well
    judged = {Nfsstat4.NFS4_OK, status, Nfsstat4.NFS4ERR_NOTSUPP, Nfsstat4.NFS4ERR_SERVERFAULT, *of_readdir}
    if reply.status not in judged:
        skip(f"the operation is refused for another reason, and the reply fits: {reply.status.name}", reply)
    if reply.status:
        expect(_last(reply), because=because).status(status, *of_readdir)


def _size(reply: CompoundReply) -> int:
    """Bytes of a reply, RPC header included (section 18.36.3)."""
    return _RPC_HEADER + len(reply.res.to_xdr())


# ---------------------------------------------------------------- sessions


def _session(session: Session, **attributes: t.Any) -> Session:
    """Another session of the client, with these attributes of the fore channel."""
    assert session.client is not None
    return session.client.create_session(fore=op.channel(requests=4, **attributes))


def _need_small(most: int) -> int:
    if most > _MOST:
        skip(f"the session allows {most} bytes")
    return most


def _last(reply: CompoundReply) -> XdrType:
    """What says the status: the last result, whichever operation it is of; without results the reply."""
    return reply.res.resarray[-1] if reply.res.resarray else reply.res


def _place(reply: CompoundReply) -> str:
    """Which operation has answered what, for observations."""
    failed = "COMPOUND" if reply.failed is None else reply.failed.name
    return f"{failed} {reply.status.name}"
