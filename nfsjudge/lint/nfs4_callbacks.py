# SPDX-License-Identifier: MIT
"""Rules for callbacks of NFSv4.1 and 4.2, and for the sizes that both channels of a session were granted (RFC 5661).

In a callback the server is the caller: what it says is in the arguments, and the client's results only tell whether a
slot has moved on. A callback finds its session in the world of the address and version that the session was made at.

What CB_SEQUENCE may say about a slot, by what is known of it:

    nothing                          anything: the beginning was not seen, or the last callback has no answer
    sequence id n was answered       n with the same operations, which is a retry, or n + 1
    n was refused by CB_SEQUENCE     as before it: the slot has not moved (section 20.9.3)

What must stay true: a sequence id further ahead is not judged, because callbacks may be lost on their way.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.program import Step
from nfsjudge.lint.case import Case
from nfsjudge.lint.nfs4_known import MOST_STATEIDS, CalledBack
from nfsjudge.lint.nfs4_views import OK, note_slots, request_of
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.lint.seen import View
from nfsjudge.lint.views import HARMLESS, Views, register
from nfsjudge.lint.world import World
from nfsjudge.requirement import must, stated

BEGINS_WITH_SEQUENCE = must(
    "RFC 5661", "20.9.3", "CB_SEQUENCE appears once in a CB_COMPOUND, as its first operation"
)
KEEPS_THE_LIMITS = stated(
    "RFC 5661",
    "18.36.3",
    "a callback is within the backchannel that CREATE_SESSION granted: slots, operations, and size of the request",
)
SLOTS_GO_ON = stated(
    "RFC 5661",
    "20.9.3",
    "the sequence id of a slot is one more than the last, or that of a retry of the same request",
)
REPLIES_FIT = stated(
    "RFC 5661", "2.10.6.4", "a reply that exceeds ca_maxresponsesize has the status NFS4ERR_REP_TOO_BIG"
)
_ALL: t.Final = 1 << 32
_HALF: t.Final = 1 << 31


# ---------------------------------------------------------------- what the world learns


def sequence_of(args: t.Any) -> p.CbSequence4Args | None:
    """The CB_SEQUENCE that a callback begins with."""
    first = next(iter(args.argarray), None) if isinstance(args, p.CbCompound4Args) else None
    return first if isinstance(first, p.CbSequence4Args) else None


def learn(world: World, step: Step | None, views: Sequence[View], *, is_shared: bool) -> None:  # noqa: ARG001
    """Take in where a slot is after a callback. `is_shared`: the answer was perhaps not sent."""
    state = world.state4
    if step is None or step.args is None:
        state.slot_called = None
    elif step.operation is p.CB_SEQUENCE:
        state.slot_called = bytes(step.args.csa_sessionid), step.args.csa_slotid
        if step.result is None or is_shared:
            state.called_back.pop(state.slot_called, None)
        elif p.status_of(step.result) == OK:
            if len(state.called_back) >= MOST_STATEIDS:
                state.called_back.clear()
            state.called_back[state.slot_called] = CalledBack(step.args.csa_sequenceid, [], world.source)
            if (given := step.result.csr_resok4) is not None:
                offered = given.csr_highest_slotid, given.csr_target_highest_slotid
                note_slots(state.highest_back, state.slot_called[0], *offered)
        else:
            state.slot_called = None
    elif state.slot_called in state.called_back:
        state.called_back[state.slot_called].operations.append(step.args)


register(p.NFS4_CALLBACK, Views(HARMLESS.views, HARMLESS.changed, learn))


# ---------------------------------------------------------------- callbacks


@rule(
    "nfs4/callback-begins",
    BEGINS_WITH_SEQUENCE,
    of=(p.CB_COMPOUND,),
    killed_by=("open4-recalls-without-a-sequence", "open4-recalls-with-two-sequences"),
)
def callback_begins(case: Case) -> Breach | None:
    """A callback that does not begin with CB_SEQUENCE, or has another one."""
    args = case.args
    if args is None or args.minorversion == 0:
        return None
    places = [at for at, each in enumerate(args.argarray) if isinstance(each, p.CbSequence4Args)]
    if places == [0]:
        return None
    seen = f"CB_SEQUENCE at {', '.join(str(at + 1) for at in places)}" if places else "no CB_SEQUENCE"
    return Breach("CB_SEQUENCE as the first operation, and once", seen, "argarray")


@rule(
    "nfs4/callback-limits",
    KEEPS_THE_LIMITS,
    of=(p.CB_COMPOUND,),
    killed_by=(
        "open4-recalls-beyond-the-slots",
        "open4-recalls-with-a-higher-slot",
        "open4-recalls-with-more-operations",
        "open4-recalls-with-a-long-tag",
    ),
)
def callback_limits(case: Case) -> Breach | None:
    """A callback beyond the slots, the operations or the size that the client offers."""
    sequence = sequence_of(case.args)
    known = None if sequence is None else case.world.state4.channels.get(bytes(sequence.csa_sessionid))
    if sequence is None or known is None:
        return None
    granted, earlier = known.value.back, known.source.number
    operations, size = len(case.args.argarray), len(case.exchange.call)
    # A client may offer more slots later (section 2.10.6.1).
    offered = case.world.state4.highest_back.get(bytes(sequence.csa_sessionid), 0)
    slots = max(granted.ca_maxrequests, offered + 1)
    if sequence.csa_slotid >= slots:
        return Breach(
            f"a slot below {slots}", f"slot {sequence.csa_slotid}", "argarray[0].csa_slotid", earlier
        )
    if sequence.csa_highest_slotid >= slots:
        seen = f"highest slot {sequence.csa_highest_slotid}"
        return Breach(f"a highest slot below {slots}", seen, "argarray[0].csa_highest_slotid", earlier)
    if operations > granted.ca_maxoperations:
        expected = f"at most {granted.ca_maxoperations} operations"
        return Breach(expected, f"{operations} operations", "argarray", earlier)
    if size > granted.ca_maxrequestsize:
        return Breach(f"at most {granted.ca_maxrequestsize} bytes", f"a call of {size} bytes", None, earlier)
    return None


@rule(
    "nfs4/callback-order",
    SLOTS_GO_ON,
    of=(p.CB_COMPOUND,),
    killed_by=("open4-recalls-by-an-old-sequence", "open4-recalls-by-the-same-sequence"),
)
def callback_order(case: Case) -> Breach | None:
    """A callback with a sequence id that its slot has left, or that another request had."""
    sequence = sequence_of(case.args)
    if sequence is None:
        return None
    known = case.world.state4.called_back.get((bytes(sequence.csa_sessionid), sequence.csa_slotid))
    if known is None:
        return None
    ahead = (sequence.csa_sequenceid - known.sequence) % _ALL
    if 0 < ahead < _HALF or (not ahead and case.args.argarray[1:] == known.operations):
        return None
    what = f"sequence id {sequence.csa_sequenceid}"
    seen = f"{what} after {known.sequence}" if ahead else f"{what} again, with other operations"
    expected = f"sequence id {(known.sequence + 1) % _ALL}"
    return Breach(expected, seen, "argarray[0].csa_sequenceid", known.source.number)


# ---------------------------------------------------------------- the fore channel


@rule(
    "nfs4/reply-size",
    REPLIES_FIT,
    of=(p.COMPOUND,),
    killed_by="createsession4-sends-larger-replies",
)
def reply_size(case: Case) -> Breach | None:
    """A compound that succeeds with a longer reply than the session was granted."""
    asked = request_of(case.exchange)
    known = None if asked is None else case.world.state4.channels.get(asked[0])
    if known is None or case.exchange.reply is None or case.result is None or case.result.status != OK:
        return None
    most, size = known.value.fore.ca_maxresponsesize, len(case.exchange.reply)
    if size <= most:
        return None
    return Breach(
        f"NFS4ERR_REP_TOO_BIG for more than {most} bytes",
        f"success with a reply of {size} bytes",
        "status",
        known.source.number,
    )
