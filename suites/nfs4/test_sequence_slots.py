# SPDX-License-Identifier: MIT
"""What moves a slot: every request that SEQUENCE takes, and no other (RFC 5661 sections 2.10.6.1 and 2.10.6.1.2)."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundError, CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost, RpcRejected
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4, StableHow4
from nfsclient.xdr import Unread, XdrType
from nfsjudge import expect, must, observe, proves, skip, stated

ERRORS_KEEP_THE_SLOT = must(
    "RFC 5661", "2.10.6.1.2", "if SEQUENCE returns an error, the sequence id of the slot does not change"
)
REQUESTS_MOVE_THE_SLOT = stated(
    "RFC 5661",
    "2.10.6.1",
    "a new request has the sequence id of the one before it plus one, however that ended after SEQUENCE",
)
_SMALL: t.Final[dict[str, t.Any]] = {
    "requestsize": 4096,
    "responsesize": 4096,
    "responsesize_cached": 1024,
    "operations": 8,
    "requests": 2,
}
"""Limits that are easy to exceed. A server may grant less, and never more bytes."""
_TOO_MUCH: t.Final = 8192
_MANY: t.Final = 128
"""Operations: more than servers grant to whom asks for eight."""


class _On(t.NamedTuple):
    """What operations are about."""

    session: Session
    directory: bytes
    file: bytes
    """A file of `_TOO_MUCH` bytes."""


Failing: t.TypeAlias = Callable[[_On], Sequence[XdrType]]
_NO_STABLE_HOW: t.Final = StableHow4(0x7FFF_FFF0)
AFTER_SEQUENCE: t.Final[dict[str, Failing]] = {
    "noent": lambda on: [op.putfh(on.directory), op.lookup(b"absent")],
    "nofilehandle": lambda _on: [op.getfh()],
    "badhandle": lambda _on: [op.putfh(b"no handle of anybody")],
    "bad-stateid": lambda on: [op.putfh(on.file), op.close(p.Stateid4(1, b"nobody\0\0\0\0\0\0"))],
    "op-illegal": lambda _on: [op.putrootfh(), Unread(10043, b"")],
    "notsupp": lambda _on: [p.Renew4Args(1)],
    "sequence-pos": lambda on: [on.session.sequence(1)],
    "not-only-op": lambda on: [op.bind_conn_to_session(on.session.id)],
    "badxdr": lambda on: [op.putfh(on.file), op.write(op.ANONYMOUS, 0, b"x", _NO_STABLE_HOW)],
    "rep-too-big": lambda on: [op.putfh(on.file), op.read(op.ANONYMOUS, 0, _TOO_MUCH)],
    "too-big-to-cache": lambda on: [op.putfh(on.file), op.read(op.ANONYMOUS, 0, _TOO_MUCH)],
}
"""Requests that most servers refuse after SEQUENCE."""
BY_SEQUENCE: t.Final[dict[str, Failing]] = {
    "too-many-ops": lambda _on: [op.putrootfh()] * _MANY,
    "req-too-big": lambda on: [op.putfh(on.file), op.write(op.ANONYMOUS, 0, bytes(_TOO_MUCH))],
}
"""Those that most servers refuse by SEQUENCE."""


def _refused(v4: Nfs4Dialect, scratch: Nfs4Scratch, failing: Failing, case: str) -> tuple[_On, CompoundReply]:
    """A request that fails, in a session with small limits, and its reply."""
    file = scratch.file("file", bytes(_TOO_MUCH))
    try:
        session = v4.client().new_client().create_session(fore=op.channel(**_SMALL))
    except CompoundError as error:
        skip(f"no session with small limits: {error}")
    on = _On(session, scratch.handle, file)
    try:
        reply = session.compound(*failing(on), slot=0, cache_this=case == "too-big-to-cache")
    except (RpcRejected, ConnectionLost) as refusal:
        skip(f"the whole call is refused, which says nothing of the slot: {type(refusal).__name__}")
    if not reply.res.resarray or reply.status == Nfsstat4.NFS4_OK:
        skip(f"the server answers {reply.status} to the request, without the error that was to be provoked")
    observe("error", reply.status.name)
    observe("operation with the error", "SEQUENCE" if not len(reply) else "another")
    return on, reply


def _expect_that_the_slot_follows(on: _On, reply: CompoundReply) -> None:
    """The next request in the slot is executed: with the next sequence id, or the same one if SEQUENCE failed."""
    moved = reply.res.resarray[0].sr_status == Nfsstat4.NFS4_OK  # type: ignore[attr-defined]
    because = REQUESTS_MOVE_THE_SLOT if moved else ERRORS_KEEP_THE_SLOT
    following = on.session.compound(op.putfh(on.directory), op.getattr("type"), slot=0)
    if following.status == Nfsstat4.NFS4ERR_DELAY:
        skip("the server answers NFS4ERR_DELAY")
    number = "next" if moved else "same"
    expect(following, because=because).field(
        "status", f"status of a request with the {number} sequence id"
    ).equals(Nfsstat4.NFS4_OK)
    # Not what the failed request got, which a server might take this one for a retry of.
    expect(following.attributes, because=because).field("type", "type of the directory").equals(
        p.NfsFtype4.NF4DIR
    )


@pytest.mark.parametrize("case", AFTER_SEQUENCE)
@proves(REQUESTS_MOVE_THE_SLOT, ERRORS_KEEP_THE_SLOT, killed_by="sequence4-failed-requests-keep-the-slot")
def test_after_operation(v4: Nfs4Dialect, scratch: Nfs4Scratch, case: str) -> None:
    """After an error of an operation the slot has moved, and the next request is executed."""
    _expect_that_the_slot_follows(*_refused(v4, scratch, AFTER_SEQUENCE[case], case))


@pytest.mark.parametrize("case", BY_SEQUENCE)
@proves(ERRORS_KEEP_THE_SLOT, REQUESTS_MOVE_THE_SLOT, killed_by="sequence4-limits-move-the-slot")
def test_after_limit(v4: Nfs4Dialect, scratch: Nfs4Scratch, case: str) -> None:
    """After a request that is too large the slot has moved if SEQUENCE succeeded, and not otherwise."""
    _expect_that_the_slot_follows(*_refused(v4, scratch, BY_SEQUENCE[case], case))
