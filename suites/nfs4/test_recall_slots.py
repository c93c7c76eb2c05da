# SPDX-License-Identifier: MIT
"""CB_RECALL_SLOT: the server wants a client to use fewer slots (RFC 5661 sections 2.10.6.1, 18.46.3, 20.8).

No server owes one, and nobody can make it send one: where none comes, these checks are SKIP. That is learnt once in a
run. The embedded server is set to send it.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from fixtures.checks.target import KnobsView
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, must, proves, should, skip, stated
from suites.nfs4.delegations import seconds_for

pytestmark = pytest.mark.exclusive

TARGET_IS_THE_SAME = should(  # no text says that the server keeps its mind
    "RFC 5661",
    "20.8.3",
    "after CB_RECALL_SLOT, sr_target_highest_slotid of SEQUENCE is the target that it had, or less",
)
TARGET_SLOTS_SERVE = stated(
    "RFC 5661",
    "20.8.3",
    "a client that has reduced its highest slot to the target of CB_RECALL_SLOT goes on with the slots up to it",
)
NOT_AT_ONCE = must(
    "RFC 5661",
    "2.10.6.1",
    "a replier that wants fewer slots does not immediately require the requester to comply",
)
_WHAT: t.Final = "CB_RECALL_SLOT"
_COMES: t.Final = 1.0
"""Seconds for the callback."""
_SHORT: t.Final = 0.1
_KEPT: t.Final = 2
_REQUESTS: t.Final = 3


class _Recalled(t.NamedTuple):
    """A session of which slots were recalled."""

    session: Session
    target: int
    """The highest slot that it should use."""
    enforced: int
    """The highest slot that the server accepts, as it has said before."""


def _recalled(v4: Nfs4Dialect, knobs: KnobsView, *, holds: bool = False) -> Waiting[_Recalled]:
    """SKIP where no CB_RECALL_SLOT comes. `holds`: the server gets no answer to it."""
    waits = v4.connections.waits
    if knobs.are_there:
        knobs.set(slots_kept=_KEPT)
    client = v4.client(v4.connections.connect("nfs"))
    client.callbacks.holds = holds
    session = client.establish(callbacks=True)
    calls: list[p.CbRecallSlot4Args] = []

    def has_come() -> bool:
        calls[:] = [
            each.args for each in session.callbacks.received if isinstance(each.args, p.CbRecallSlot4Args)
        ]
        return bool(calls)

    enforced = session.state.fore.ca_maxrequests - 1
    for _ in range(_REQUESTS):
        if not has_come():
            result = expect(session.compound(op.putrootfh())).of(p.SEQUENCE).ok()
            enforced = min(enforced, result.sr_highest_slotid)
    yield Wait(seconds_for(v4, waits.seconds(_WHAT, _COMES, _SHORT)), has_come)
    waits.note(_WHAT, came=has_come())
    if not calls:
        skip("the server sends no CB_RECALL_SLOT")
    return _Recalled(session, calls[-1].rsa_target_highest_slotid, enforced)


@side_by_side
@proves(TARGET_IS_THE_SAME, killed_by="sequence4-ignores-recalled-slots")
def test_target(v4: Nfs4Dialect, knobs: KnobsView) -> Waiting[None]:
    """After CB_RECALL_SLOT, SEQUENCE has its target as sr_target_highest_slotid, or less."""
    recalled = yield from _recalled(v4, knobs)
    result = expect(recalled.session.compound(op.putrootfh())).of(p.SEQUENCE).ok()
    expect(result).field("sr_target_highest_slotid").at_most(recalled.target)


@side_by_side
@pytest.mark.parametrize("slot", ["first", "last"])
@proves(TARGET_SLOTS_SERVE, killed_by="sequence4-retires-too-many-slots")
def test_goes_on(v4: Nfs4Dialect, knobs: KnobsView, slot: str) -> Waiting[None]:
    """After the SEQUENCE by which a client gives slots back, its requests in the others succeed."""
    recalled = yield from _recalled(v4, knobs)
    session, target = recalled.session, recalled.target
    given_back = expect(session.compound(highest_slot=target)).of(p.SEQUENCE).ok()
    if given_back.sr_highest_slotid < target:
        skip("the server wants still fewer slots")
    number = 0 if slot == "first" else target
    expect(session.compound(op.putrootfh(), slot=number, highest_slot=target)).ok()


@side_by_side
@proves(NOT_AT_ONCE, killed_by="sequence4-retires-slots-at-once")
def test_on_its_way(v4: Nfs4Dialect, knobs: KnobsView) -> Waiting[None]:
    """A request above the target that crosses CB_RECALL_SLOT on its way, which has no answer yet, is served."""
    recalled = yield from _recalled(v4, knobs, holds=True)
    number = recalled.target + 1
    if number > recalled.enforced:
        skip("the session has no slot above the target")
    reply = recalled.session.compound(op.putrootfh(), slot=number, highest_slot=number)
    recalled.session.nfs4.callbacks.holds = False
    recalled.session.nfs4.callbacks.release()
    expect(reply).ok()
