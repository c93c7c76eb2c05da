# SPDX-License-Identifier: MIT
"""What a request is too much of, and what does not decode: the operation that is refused, and what came before it."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import GarbageArgs
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import Unread
from tests.nfsserver.nfs4.conftest import Rig4, S

_CUT = Unread(p.LOOKUP.number, bytes([0, 0, 0, 9]))
"""LOOKUP of a name of nine bytes that are not there."""


def test_arguments_that_do_not_decode_are_of_their_operation(rig4: Rig4) -> None:
    session = rig4.session()
    reply = session.compound(op.putrootfh(), _CUT)
    statuses = [p.status_of(result) for result in reply.res.resarray]
    assert statuses == [S.NFS4_OK, S.NFS4_OK, S.NFS4ERR_BADXDR]
    assert p.operation_of(reply.res.resarray[-1]) is p.LOOKUP
    assert session.renew().status == S.NFS4_OK  # the slot has moved on


def test_whole_call_is_refused_where_all_is_decoded_first(rig4: Rig4) -> None:
    rig4.server.knobs.update(decodes_first=True)
    with pytest.raises(GarbageArgs):
        rig4.session().compound(op.putrootfh(), _CUT)


@pytest.mark.parametrize(("first", "results"), [(False, 4), (True, 1)])
def test_operation_that_is_too_many_is_refused(rig4: Rig4, first: bool, results: int) -> None:
    session = rig4.session(reclaim_complete=False, fore=op.channel(operations=3))
    rig4.server.knobs.update(refuses_large_first=first)
    reply = session.compound(*[op.putrootfh()] * 4)
    assert (reply.status, len(reply.res.resarray)) == (S.NFS4ERR_TOO_MANY_OPS, results)


@pytest.mark.parametrize(("first", "results"), [(False, 3), (True, 1)])
def test_operation_that_is_too_large_is_refused(rig4: Rig4, first: bool, results: int) -> None:
    session = rig4.session(reclaim_complete=False, fore=op.channel(requestsize=1024))
    rig4.server.knobs.update(refuses_large_first=first)
    large = op.test_stateid(*[op.ANONYMOUS] * 100)
    reply = session.compound(op.putrootfh(), large, op.getfh())
    assert (reply.status, len(reply.res.resarray)) == (S.NFS4ERR_REQ_TOO_BIG, results)


def test_refusal_of_setattr_has_room(rig4: Rig4) -> None:
    """It says which attributes were set, so that it is larger than others."""
    file = rig4.make(rig4.session(), b"f", bytes(4096))
    session = rig4.session(reclaim_complete=False, fore=op.channel(responsesize=1024))
    for count in range(880, 960, 4):
        operations = op.putfh(file), op.read(op.ANONYMOUS, 0, count), op.setattr(p.Fattr4(mode=0o600))
        reply = session.compound(*operations)
        assert 24 + len(reply.res.to_xdr()) <= 1024
    assert reply.status == S.NFS4ERR_REP_TOO_BIG


def test_directory_without_room_in_the_reply_is_no_small_maxcount(rig4: Rig4) -> None:
    file = rig4.make(rig4.session(), b"f", bytes(4096))
    session = rig4.session(reclaim_complete=False, fore=op.channel(responsesize=1024))
    reading = op.putfh(file), op.read(op.ANONYMOUS, 0, 860), op.putrootfh()
    assert session.compound(*reading, op.readdir(maxcount=4096)).status == S.NFS4ERR_REP_TOO_BIG
    assert session.compound(op.putrootfh(), op.readdir(maxcount=16)).status == S.NFS4ERR_TOOSMALL
