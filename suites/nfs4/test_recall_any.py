# SPDX-License-Identifier: MIT
"""CB_RECALL_ANY: a client is to return some of its delegations, and chooses which (RFC 5661 section 20.6).

No server owes one: where none comes, these checks are SKIP. That is learnt once in a run. The embedded server is set to
send it to a client with a few delegations.
"""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from fixtures.checks.side_by_side import Wait, Waiting, side_by_side
from fixtures.checks.target import KnobsView
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import bits_of
from nfsjudge import Part, expect, proves, should, skip, stated
from suites.nfs4.delegations import (
    ACCESS,
    Granted,
    delegated,
    recalls,
    seconds_for,
    seconds_to_see_nothing,
)

pytestmark = [pytest.mark.late, pytest.mark.exclusive]

TYPES_ARE_DEFINED = stated(
    "RFC 5661", "20.6.3", "the type mask of CB_RECALL_ANY has bits of defined types of recallable objects"
)
CLIENT_CHOOSES = stated(
    "RFC 5661",
    "20.6.3",
    "after CB_RECALL_ANY the client chooses which delegations it returns: it keeps the others",
)
LEASE_TO_RETURN = should(
    "RFC 5661",
    "20.6.4",
    "after CB_RECALL_ANY the client has a lease period before the server recalls single delegations",
    part=Part.IMPLEMENTATION,
)
_WHAT: t.Final = "CB_RECALL_ANY"
_COMES: t.Final = 2.0
"""Seconds for the callback."""
_QUIET: t.Final = 1.0
_KEPT: t.Final = 3
_FILES: t.Final = 6


def _many(
    v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView
) -> Waiting[tuple[list[Granted], p.CbRecallAny4Args]]:
    """Enough read delegations of a client to bring CB_RECALL_ANY. SKIP where it does not come."""
    waits = v4.connections.waits
    if v4.connections.is_known_never_to(_WHAT):
        skip("the server sends no CB_RECALL_ANY")
    if knobs.are_there:
        knobs.set(delegations_kept=_KEPT)
    granted = [(yield from delegated(v4, scratch, ACCESS["read"], b"0"))]
    holder = granted[0].holder
    for name in (b"%d" % number for number in range(1, _FILES)):
        another = yield from delegated(v4, scratch, ACCESS["read"], name, holder=holder)
        granted.append(another)
    calls: list[p.CbRecallAny4Args] = []

    def has_come() -> bool:
        calls[:] = [
            each.args for each in holder.callbacks.received if isinstance(each.args, p.CbRecallAny4Args)
        ]
        return bool(calls)

    yield Wait(seconds_for(v4, _COMES), has_come)
    waits.note(_WHAT, came=has_come())
    if not calls:
        skip("the server sends no CB_RECALL_ANY")
    return granted, calls[-1]


@side_by_side
@proves(TYPES_ARE_DEFINED, killed_by="open4-recalls-any-of-undefined-types")
def test_types(v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView) -> Waiting[None]:
    """CB_RECALL_ANY names types of recallable objects that an RFC defines."""
    _, call = yield from _many(v4, scratch, knobs)
    undefined = sorted({*bits_of(call.craa_type_mask)} - p.RECALLABLE)
    expect(undefined, "bits without a meaning", of=call, field="craa_type_mask").equals([])


@side_by_side
@proves(CLIENT_CHOOSES, killed_by="open4-chooses-what-to-return")
def test_choice(v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView) -> Waiting[None]:
    """A client that returns its newest delegations after CB_RECALL_ANY has all others afterwards."""
    granted, call = yield from _many(v4, scratch, knobs)
    kept = granted[: call.craa_objects_to_keep]
    if not kept:
        skip("the server wants all delegations back")
    for each in granted[len(kept) :]:
        each.give_back()
    testing = op.test_stateid(*(each.stateid for each in kept))
    tested = expect(granted[0].holder.compound(testing)).of(p.TEST_STATEID).ok()
    states = expect(list(tested.tsr_status_codes), "status codes", of=tested, field="tsr_status_codes")
    states.equals([Nfsstat4.NFS4_OK] * len(kept))
    for each in kept:
        each.give_back()


@side_by_side
@proves(LEASE_TO_RETURN, killed_by="open4-recalls-each-after-any")
def test_no_recall_yet(v4: Nfs4Dialect, scratch: Nfs4Scratch, knobs: KnobsView) -> Waiting[None]:
    """Right after CB_RECALL_ANY no CB_RECALL comes."""
    granted, _ = yield from _many(v4, scratch, knobs)
    holder = granted[0].holder
    yield Wait(seconds_to_see_nothing(v4, _QUIET, granted[0].lease), lambda: bool(recalls(holder)))
    expect(len(recalls(holder)), "CB_RECALLs after CB_RECALL_ANY").equals(0)
