# SPDX-License-Identifier: MIT
"""The answering side of a session's backchannel, without I/O (RFC 5661 sections 2.10.6 and 20).

The client is the replier here: it has the slots with a reply cache, and answers CB_COMPOUNDs of the server. What an
operation answers is a table of functions, which a caller may replace one by one, be it by wrong ones.

What CB_SEQUENCE decides, by the sequence id of the request and that of the slot:

    the same, same arguments     a retry: the cached reply, nothing is executed
    the same, others             SEQ_FALSE_RETRY
    the same, of a new slot      SEQ_MISORDERED (section 18.36.4: the first request has 1)
    one more                     a new request: executed, its reply cached
    anything else                SEQ_MISORDERED

What must stay true:

- A refusal by CB_SEQUENCE leaves the slot as it was. Every request that is executed gets its reply cached, whole.
- No answer waits. What a callback causes (DELEGRETURN) is for the functions `on_*`, which may only note it: the
  server waits for our reply, and may hold up the very request that we would make.
- A recall of a delegation that we do not know is DELAY while the OPEN that may have granted it has no reply
  (`_races`, section 2.10.6.3), and an error afterwards.
- The server chooses slots and operations: both are bounded (`MOST_SLOTS`, `MOST_OPERATIONS`), and so is what is
  remembered (`received`).
"""

from __future__ import annotations

import contextlib
import typing as t
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.session import SessionState
from nfsclient.sessions.slots import next_sequence_id
from nfsclient.sessions.state import HeldState
from nfsclient.xdr import Unread, XdrType, bits_of

_KEPT: t.Final = 256
"""Callbacks that are remembered for whoever asks what came."""
MOST_OPERATIONS: t.Final = 16
MOST_SLOTS: t.Final = 64
"""Of a backchannel: more are never offered, so that the reply cache stays small."""
OK: t.Final = p.Nfsstat4.NFS4_OK

Answer: t.TypeAlias = XdrType | p.Nfsstat4
"""The result of an operation, or just its status."""
Handler: t.TypeAlias = Callable[[t.Any], Answer]


@dataclass(frozen=True, slots=True)
class Callback:
    """One callback operation that came, with the CB_SEQUENCE in front of it and its answer."""

    operation: p.AnyOperation
    args: t.Any
    sequence: p.CbSequence4Args
    result: XdrType


class _CallbackSlot:
    """Sequence id and cached reply of a slot. The first request has 1 (section 18.36.4)."""

    __slots__ = ("args", "reply", "sequence_id")

    def __init__(self) -> None:
        self.sequence_id = 0
        self.args: p.CbCompound4Args | None = None
        self.reply: p.CbCompound4Res | None = None


def result_of(operation: p.AnyOperation, status: p.Nfsstat4) -> XdrType:
    """The results of an operation that has nothing to say but its status."""
    return t.cast("XdrType", operation.res(status))


class Backchannel:
    """Answers the CB_COMPOUNDs of one session.

    `held` is what the client holds, so that recalls are answered by the truth; without it they are accepted. `on`
    replaces what an operation answers. `received` has the latest callbacks.
    """

    def __init__(
        self,
        session_id: bytes,
        held: HeldState | None = None,
        *,
        slots: int = 1,
        operations: int = MOST_OPERATIONS,
        minor: int = 1,
    ) -> None:
        self.session_id = session_id
        self.held = held
        self.minor = minor
        self.most_operations = max(2, min(operations, MOST_OPERATIONS))
        self.highest_slot = max(0, min(slots, MOST_SLOTS) - 1)
        self.received: deque[Callback] = deque(maxlen=_KEPT)
        self.refused: deque[p.Nfsstat4] = deque(maxlen=_KEPT)
        """What CB_SEQUENCE has answered to the latest requests that were not executed."""
        self.count = 0
        """How many callback operations have come, CB_SEQUENCE not counted."""
        self.is_outstanding: Callable[[bytes, int, int], bool] = lambda _session, _slot, _sequence: False
        """Whether a request (session id, slot, sequence id) still waits for its reply (section 2.10.6.3)."""
        self.on_recall: Callable[[p.Stateid4, bytes], None] | None = None
        """Called for each delegation that the server wants back: stateid, handle. It must not wait."""
        self.on_recall_any: Callable[[int, list[int]], None] | None = None
        """Called with how many objects may stay, and a bitmap of their types."""
        self.on_recall_slot: Callable[[int], None] | None = None
        """Called with the highest slot of the fore channel that the server wants to be used."""
        self.on_lock_notice: Callable[[bytes, p.StateOwner4], None] | None = None
        """Called when a lock that was denied may now be available: handle, lock owner."""
        self._slots: dict[int, _CallbackSlot] = {}
        self._referring: list[p.ReferringCallList4] = []
        self._handlers: dict[p.AnyOperation, Handler] = {
            p.CB_GETATTR: self._getattr,
            p.CB_RECALL: self._recall,
            p.CB_LAYOUTRECALL: lambda _: p.Nfsstat4.NFS4ERR_NOMATCHING_LAYOUT,  # 20.3.3: we hold none
            p.CB_NOTIFY: lambda _: p.Nfsstat4.NFS4ERR_BAD_STATEID,  # 20.4: we have no directory delegation
            p.CB_PUSH_DELEG: lambda _: p.Nfsstat4.NFS4ERR_REJECT_DELEG,  # 20.5.3: we want none
            p.CB_RECALL_ANY: self._recall_any,
            p.CB_RECALLABLE_OBJ_AVAIL: lambda _: OK,  # 20.7: advice
            p.CB_RECALL_SLOT: self._recall_slot,
            p.CB_WANTS_CANCELLED: lambda _: OK,  # 20.10: we have no wants left, whatever it says
            p.CB_NOTIFY_LOCK: self._notify_lock,
            p.CB_NOTIFY_DEVICEID: lambda _: OK,  # 20.12: we know no devices
            p.CB_OFFLOAD: lambda _: OK,  # RFC 7862 16.1: we copy synchronously
            p.CB_ILLEGAL: lambda _: p.Nfsstat4.NFS4ERR_OP_ILLEGAL,
        }
        self._right = dict(self._handlers)

    @classmethod
    def of(cls, state: SessionState) -> Backchannel:
        """The backchannel of a session as CREATE_SESSION granted it."""
        back = state.back
        made = cls(state.id, slots=back.ca_maxrequests, operations=back.ca_maxoperations, minor=state.minor)
        made.is_outstanding = lambda session, slot, sequence_id: (
            session == state.id and (slot, sequence_id) in state.outstanding
        )
        made.on_recall_slot = state.slots.limit
        return made

    def on(self, operation: p.AnyOperation, answer: Answer | Handler | None) -> None:
        """Answer an operation by a status, a result, or a function of its arguments; None: rightly again."""
        if answer is None:
            self._handlers[operation] = self._right[operation]
        elif callable(answer) and not isinstance(answer, p.Nfsstat4 | XdrType):
            self._handlers[operation] = answer
        else:
            fixed: Answer = answer
            self._handlers[operation] = lambda _: fixed

    def right_answer(self, operation: p.AnyOperation, args: t.Any) -> Answer:
        """What would be answered if nothing were replaced; it has its effects too."""
        return self._right[operation](args)

    # ------------------------------------------------------------ compounds

    def answer(self, args: p.CbCompound4Args) -> p.CbCompound4Res:
        """The reply to a CB_COMPOUND of this session (section 20.9.3)."""
        refusal = self._refusal(args)
        if refusal is not None:
            self.refused.append(refusal)
            return p.CbCompound4Res(refusal, args.tag, [p.CbSequence4Res(refusal)])
        first = t.cast("p.CbSequence4Args", args.argarray[0])
        slot = self._slots.setdefault(first.csa_slotid, _CallbackSlot())
        if slot.reply is not None and first.csa_sequenceid == slot.sequence_id:
            return slot.reply
        reply = self._execute(args, first)
        slot.sequence_id, slot.args, slot.reply = first.csa_sequenceid, args, reply
        return reply

    def _refusal(self, args: p.CbCompound4Args) -> p.Nfsstat4 | None:
        """The error of CB_SEQUENCE, which leaves the slot as it is; None to go on."""
        first = t.cast("p.CbSequence4Args", args.argarray[0])
        if first.csa_slotid > self.highest_slot:
            return p.Nfsstat4.NFS4ERR_BADSLOT
        if first.csa_highest_slotid > self.highest_slot:
            return p.Nfsstat4.NFS4ERR_BAD_HIGH_SLOT
        if len(args.argarray) > self.most_operations:
            return p.Nfsstat4.NFS4ERR_TOO_MANY_OPS
        slot = self._slots.get(first.csa_slotid)
        known = 0 if slot is None else slot.sequence_id
        if first.csa_sequenceid == known:
            if slot is None:  # 18.36.4: the contrived reply of a fresh slot
                return p.Nfsstat4.NFS4ERR_SEQ_MISORDERED
            return None if slot.args == args else p.Nfsstat4.NFS4ERR_SEQ_FALSE_RETRY
        return None if first.csa_sequenceid == next_sequence_id(known) else p.Nfsstat4.NFS4ERR_SEQ_MISORDERED

    def _execute(self, args: p.CbCompound4Args, first: p.CbSequence4Args) -> p.CbCompound4Res:
        sound = p.CbSequence4ResOk(
            self.session_id, first.csa_sequenceid, first.csa_slotid, self.highest_slot, self.highest_slot
        )
        results: list[XdrType] = [p.CbSequence4Res(OK, sound)]
        status = OK
        self._referring = first.csa_referring_call_lists
        for call in args.argarray[1:]:
            result = self._perform(call, first)
            results.append(result)
            status = p.status_of(result)
            if status != OK:
                break
        return p.CbCompound4Res(status, args.tag, results)

    def _perform(self, call: XdrType, first: p.CbSequence4Args) -> XdrType:
        if isinstance(call, Unread):
            return p.CbIllegal4Res(p.Nfsstat4.NFS4ERR_OP_ILLEGAL)
        operation = p.operation_of(call)
        if operation is p.CB_SEQUENCE:
            return p.CbSequence4Res(p.Nfsstat4.NFS4ERR_SEQUENCE_POS)
        if not operation.is_in(self.minor):
            return p.CbIllegal4Res(p.Nfsstat4.NFS4ERR_OP_ILLEGAL)
        answer = self._handlers[operation](call)
        result = result_of(operation, answer) if isinstance(answer, p.Nfsstat4) else answer
        self.received.append(Callback(operation, call, first, result))
        self.count += 1
        return result

    # ------------------------------------------------------------ the right answers

    def _races(self) -> bool:
        """Whether the callback is about a request whose reply has not come (section 2.10.6.3)."""
        return any(
            self.is_outstanding(referring.rcl_sessionid, call.rc_slotid, call.rc_sequenceid)
            for referring in self._referring
            for call in referring.rcl_referring_calls
        )

    def _recall(self, args: p.CbRecall4Args) -> Answer:
        """CB_RECALL: the delegation is given back after the reply (section 20.2)."""
        if self.held is not None and self.held.recall(args.fh, args.stateid) is None:
            if self._races():
                return p.Nfsstat4.NFS4ERR_DELAY
            is_known = args.fh in self.held.delegations
            return p.Nfsstat4.NFS4ERR_BAD_STATEID if is_known else p.Nfsstat4.NFS4ERR_BADHANDLE
        if self.on_recall is not None:
            self.on_recall(args.stateid, args.fh)
        return OK

    def _getattr(self, args: p.CbGetattr4Args) -> Answer:
        """CB_GETATTR: what is known. Nothing is written later, so `change` is that of the grant (section 10.4.3)."""
        delegation = None if self.held is None else self.held.delegations.get(args.fh)
        if delegation is None or not delegation.is_write:
            return p.Nfsstat4.NFS4ERR_BADHANDLE
        wanted = set(p.names_of(args.attr_request))
        change = delegation.change if "change" in wanted else None
        size = delegation.size if "size" in wanted else None
        return p.CbGetattr4Res(OK, p.CbGetattr4ResOk(p.Fattr4(change=change, size=size)))

    def _recall_any(self, args: p.CbRecallAny4Args) -> Answer:
        """CB_RECALL_ANY: INVAL for types that no RFC defines, and only for these (section 20.6.3)."""
        if not p.RECALLABLE.issuperset(bits_of(args.craa_type_mask)):
            return p.Nfsstat4.NFS4ERR_INVAL
        if self.on_recall_any is not None:
            self.on_recall_any(args.craa_objects_to_keep, args.craa_type_mask)
        return OK

    def _recall_slot(self, args: p.CbRecallSlot4Args) -> Answer:
        if self.on_recall_slot is not None:
            self.on_recall_slot(args.rsa_target_highest_slotid)
        return OK

    def _notify_lock(self, args: p.CbNotifyLock4Args) -> Answer:
        if self.on_lock_notice is not None:
            self.on_lock_notice(args.cnla_fh, args.cnla_lock_owner)
        return OK


class CallbackRouter:
    """Finds the backchannel of a CB_COMPOUND: several sessions may share a connection."""

    def __init__(self) -> None:
        self.sessions: dict[bytes, Backchannel] = {}
        self.expected = 0
        """CREATE_SESSIONs under way: a callback of a session that nobody knows may be of theirs."""
        self.minors: frozenset[int] = frozenset({1, 2})

    def answer(self, args: p.CbCompound4Args) -> p.CbCompound4Res:
        """The reply to a CB_COMPOUND (sections 16.2.3 and 20.9.3)."""
        if args.minorversion not in self.minors:
            return p.CbCompound4Res(p.Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH, args.tag, [])
        if not args.argarray:
            return p.CbCompound4Res(OK, args.tag, [])
        first = args.argarray[0]
        if isinstance(first, Unread):
            status = p.Nfsstat4.NFS4ERR_OP_ILLEGAL
            return p.CbCompound4Res(status, args.tag, [p.CbIllegal4Res(status)])
        if not isinstance(first, p.CbSequence4Args):
            status = p.Nfsstat4.NFS4ERR_OP_NOT_IN_SESSION
            return p.CbCompound4Res(status, args.tag, [result_of(p.operation_of(first), status)])
        session = self.sessions.get(first.csa_sessionid)
        if session is None:
            status = p.Nfsstat4.NFS4ERR_DELAY if self.expected else p.Nfsstat4.NFS4ERR_BADSESSION
            return p.CbCompound4Res(status, args.tag, [p.CbSequence4Res(status)])
        return session.answer(args)

    @contextlib.contextmanager
    def expecting(self) -> Iterator[None]:
        """While CREATE_SESSION is under way: a server may call back in the packet of its reply, and is to try again."""
        self.expected += 1
        try:
            yield
        finally:
            self.expected -= 1
