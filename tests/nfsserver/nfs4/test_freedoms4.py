# SPDX-License-Identifier: MIT
"""Knobs of data and of DELAY in NFSv4: short counts, commitment above the request, calls that come too early."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

import pytest

from nfsclient.clients import Patience
from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType
from tests.nfsserver.nfs4.conftest import Rig4, S

UNSTABLE, FILE_SYNC = p.StableHow4.UNSTABLE4, p.StableHow4.FILE_SYNC4
Rigs: t.TypeAlias = Callable[..., tuple[Rig4, Session, bytes]]


@pytest.fixture
def rigs() -> Iterator[Rigs]:
    """A server on which knobs are set when it has a file f with the data 0123456789."""
    made: list[Rig4] = []

    def make(**knobs: t.Any) -> tuple[Rig4, Session, bytes]:
        rig = Rig4()
        made.append(rig)
        rig.listen()
        session = rig.session()
        file = rig.make(session, b"f", b"0123456789")
        for name, value in knobs.items():
            rig.server.knobs.set(name, value)
        return rig, session, file

    yield make
    for rig in made:
        rig.close()


def _statuses(session: Session, *operations: XdrType) -> list[S]:
    """Of one request, which is not repeated."""
    request = session.state.begin(list(operations))
    return [p.status_of(result) for result in session.perform(request).res.resarray[1:]]


def test_write_takes_the_beginning(rigs: Rigs) -> None:
    _, session, file = rigs(write_accepts=4)
    reply = session.compound(op.putfh(file), op.write(p.ANONYMOUS_STATEID, 2, b"abcdefgh", FILE_SYNC)).ok()
    result = reply.of(p.WRITE).resok4
    assert result is not None
    assert (result.count, result.committed) == (4, FILE_SYNC)
    read = session.compound(op.putfh(file), op.read(p.ANONYMOUS_STATEID, 0, 100)).ok().of(p.READ).resok4
    assert read is not None
    assert (bytes(read.data), read.eof) == (b"01abcd6789", True)


@pytest.mark.parametrize(
    ("offset", "data", "eof"), [(0, b"012", False), (6, b"678", False), (8, b"89", True)]
)
def test_read_gives_the_beginning(rigs: Rigs, offset: int, data: bytes, eof: bool) -> None:
    _, session, file = rigs(read_returns=3)
    read = session.compound(op.putfh(file), op.read(p.ANONYMOUS_STATEID, offset, 100)).ok().of(p.READ).resok4
    assert read is not None
    assert (bytes(read.data), read.eof) == (data, eof)


def test_write_commits_more_than_asked(rigs: Rigs) -> None:
    _, session, file = rigs(always_commits=True)
    reply = session.compound(op.putfh(file), op.write(p.ANONYMOUS_STATEID, 0, b"x", UNSTABLE)).ok()
    result = reply.of(p.WRITE).resok4
    assert result is not None
    assert result.committed == FILE_SYNC


def test_each_file_is_late_once(rigs: Rigs) -> None:
    _, session, file = rigs(jukebox_calls=1, jukebox_names="f")
    reading = (op.putfh(file), op.read(p.ANONYMOUS_STATEID, 0, 1))
    assert _statuses(session, *reading) == [S.NFS4_OK, S.NFS4ERR_DELAY]
    assert _statuses(session, *reading) == [S.NFS4_OK, S.NFS4_OK]


def test_names_are_late_too_and_nothing_has_happened(rigs: Rigs) -> None:
    _, session, _ = rigs(jukebox_calls=1, jukebox_names="f")
    removing = (op.putrootfh(), op.lookup(b"export"), op.remove(b"f"))
    assert _statuses(session, *removing) == [S.NFS4_OK, S.NFS4_OK, S.NFS4ERR_DELAY]
    assert _statuses(session, *removing) == [S.NFS4_OK] * 3


def test_first_try_of_each_operation_is_late(rigs: Rigs) -> None:
    """SEQUENCE too, and then its slot has not moved; GETFH is not, which has no DELAY in its list."""
    _, session, file = rigs(jukebox_tries=1)
    request = session.state.begin([op.putfh(file), op.getfh(), op.read(p.ANONYMOUS_STATEID, 0, 1)])
    before = request.slot.sequence_id
    assert [p.status_of(result) for result in session.perform(request).res.resarray] == [S.NFS4ERR_DELAY]
    session.state.resume(request)
    assert session.perform(request).statuses == [S.NFS4ERR_DELAY]
    assert request.slot.sequence_id == before + 1
    patient = Nfs4(session.nfs4.rpc, patience=Patience(lambda _: None, lambda: 0.0))
    again = Session(patient, session.state).compound(*request.operations)
    assert again.statuses == [S.NFS4_OK] * 3


def test_what_has_begun_is_not_delayed(rigs: Rigs) -> None:
    _, session, file = rigs(jukebox_calls=9, jukebox_names="g")
    making = [
        op.putrootfh(),
        op.lookup(b"export"),
        op.savefh(),
        op.putfh(file),
        op.getattr("size"),
        op.savefh(),
        op.putrootfh(),
        op.lookup(b"export"),
        op.link(b"g"),
    ]
    assert _statuses(session, *making) == [S.NFS4_OK] * 9


@pytest.mark.parametrize(("needs", "status"), [(True, S.NFS4ERR_OPENMODE), (False, S.NFS4_OK)])
def test_lock_and_the_mode_of_its_open(rigs: Rigs, needs: bool, status: p.Nfsstat4) -> None:
    _, session, file = rigs(lock_needs_access=needs)
    opening = op.open(None, p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=b"reader")
    opened = session.compound(op.putfh(file), opening).ok()
    lock = op.lock(opened.stateid, p.NfsLockType4.WRITE_LT, 0, 10, owner=b"reader")
    assert session.compound(op.putfh(file), lock).status == status
