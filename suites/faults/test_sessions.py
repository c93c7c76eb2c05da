# SPDX-License-Identifier: MIT
"""Sessions of NFSv4.1 that lose messages (RFC 5661 sections 2.10.6 and 2.10.13).

A session promises what NFSv3 does not: each request is executed exactly once, whichever of its messages was lost. A
request whose connection is lost is sent again in the same slot, with the same sequence id, on a new connection.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.faults import MakeFaulty
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Requirement, expect, observe, proves
from suites.faults.changes import CHANGES, VISIBLE
from suites.faults.lost import (
    expect_lost_reply,
    expect_same_state,
    lose_call,
    lose_reply,
    retry,
    state_of,
)
from suites.nfs4.clauses import RETRY_GETS_THE_CACHED_REPLY, RETRY_IS_NOT_EXECUTED
from suites.nfs4.retries import session_of_its_own, without_sequence

CALL_IS_SENT_AGAIN = Requirement(
    rfc="RFC 5661",
    section="2.10.13.1.2",
    gist="after the connection is lost, the client sends the request again on a new one, and the server executes it",
)

EACH_CHANGE = pytest.mark.parametrize("change", CHANGES)
EACH_VISIBLE = pytest.mark.parametrize("change", VISIBLE)


@EACH_CHANGE
@proves(RETRY_GETS_THE_CACHED_REPLY, RETRY_IS_NOT_EXECUTED, killed_by="sequence4-executes-retries")
def test_reply_lost(v4: Nfs4Dialect, faults: MakeFaulty, change: str) -> None:
    """A change whose reply is lost is executed once: its retry gets the lost reply, and changes nothing."""
    session, scratch = session_of_its_own(v4), v4.scratch
    made = CHANGES[change](session, scratch)
    lost = lose_reply(faults, session, made.operations)
    if made.meddle is not None:
        made.meddle()
    before = state_of(scratch, made.file, with_data=made.with_data)
    again = retry(v4, session, lost.request)
    expect_same_state(before, state_of(scratch, made.file, with_data=made.with_data))
    expect_lost_reply(lost, again)


@EACH_CHANGE
@proves(CALL_IS_SENT_AGAIN, killed_by="sequence4-new-connection-is-misordered")
def test_call_lost(v4: Nfs4Dialect, faults: MakeFaulty, change: str) -> None:
    """A change whose call is lost is executed when it comes again, and its slot goes on."""
    session, scratch = session_of_its_own(v4), v4.scratch
    made = CHANGES[change](session, scratch)
    request = lose_call(faults, session, made.operations)
    expect(retry(v4, session, request)).ok()
    expect(session.compound(op.putrootfh(), slot=request.slot.id)).ok()


@EACH_VISIBLE
@proves(RETRY_IS_NOT_EXECUTED, killed_by="sequence4-executes-uncached-retries")
def test_uncached_reply_lost(
    v4: Nfs4Dialect, faults: MakeFaulty, change: str
) -> None:
    """The retry of a change whose reply was not to be cached, and is lost, executes nothing."""
    session, scratch = session_of_its_own(v4), v4.scratch
    made = CHANGES[change](session, scratch)
    lost = lose_reply(faults, session, made.operations, cache_this=False)
    if made.meddle is not None:
        made.meddle()
    before = state_of(scratch, made.file, with_data=made.with_data)
    again = retry(v4, session, lost.request)
    expect_same_state(before, state_of(scratch, made.file, with_data=made.with_data))
    expect(again).of(p.SEQUENCE).ok()
    observe("retry of an uncached request", again.status.name)
    if again.status == Nfsstat4.NFS4_OK:
        expect(without_sequence(again), "results of the retry").equals(without_sequence(lost.reply))
    else:
        expect(len(again), "results after SEQUENCE").equals(1)
