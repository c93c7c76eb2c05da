# SPDX-License-Identifier: MIT
"""The fore channel of a session, without I/O (RFC 5661 sections 2.10.6 and 18.46).

`begin` puts SEQUENCE in front of operations, `finish` takes the reply: it compares what SEQUENCE says with the
request, moves the slot on, and follows the server's limits.

The life of a request, and of its slot (`sessions.slots`):

    state         slot, `outstanding`    what comes next
    begun         taken, noted           it is sent, once or several times, always with the same numbers
    answered      free, not noted        `finish`: SEQUENCE succeeded, the sequence id of the slot moves on by one
    refused       free, not noted        `finish`: SEQUENCE failed, so nothing was executed and the sequence id stays
                                         (section 2.10.6.1.2); `resume` sends the same request again, after DELAY
    lost          taken, noted           its connection ended: the same numbers over a new one (section 2.10.6.2),
                                         or the session is given up

What must stay true:

- A request without a reply keeps its slot: nobody knows whether it was executed. If the slot were used for another
  request, the server would answer that with the reply of the lost one, or with SEQ_FALSE_RETRY.
- A sequence id moves on only if SEQUENCE succeeded and the request had the number that the slot expected. Callers may
  choose wrong numbers on purpose; the slot does not follow them.
- The reply of SEQUENCE is compared with the request before anything is learned from it. A reply for another session,
  slot or sequence id raises `SessionViolation`, and the slot stays taken: what it would be next is not known.
- `outstanding` has exactly the requests without a reply. The backchannel asks it whether a callback refers to one
  (section 2.10.6.3).
- Replies are cached only for requests that change something, unless the caller says otherwise: to repeat the others is
  harmless (section 2.10.6.1.3).
- Nothing here sends, waits or retries. `clients.nfs4.session` and `highlevel.nfs4.live` do, by the table in
  `recovery`.
"""

from __future__ import annotations

import typing as t
from collections.abc import Sequence
from dataclasses import dataclass

from nfsclient.errors import ServerViolation
from nfsclient.protocol.nfs4.compound import Compound4Args, Compound4Res
from nfsclient.protocol.nfs4.operations import BY_NAME, operation_of
from nfsclient.protocol.nfs4.sessions import (
    ChannelAttrs4,
    CreateSession4ResOk,
    Sequence4Args,
    Sequence4Res,
    Sequence4ResOk,
)
from nfsclient.protocol.nfs4.types import Nfsstat4
from nfsclient.sessions.owners import with_clientid
from nfsclient.sessions.reply import CompoundReply
from nfsclient.sessions.slots import Slot, SlotTable
from nfsclient.xdr import XdrType

READ_ONLY: t.Final = frozenset({
    "ACCESS", "GETATTR", "GETDEVICEINFO", "GETFH", "GETXATTR", "ILLEGAL", "LISTXATTRS", "LOCKT", "LOOKUP", "LOOKUPP",
    "NVERIFY", "PUTFH", "PUTPUBFH", "PUTROOTFH", "READ", "READDIR", "READLINK", "READ_PLUS", "RESTOREFH", "SAVEFH",
    "SECINFO", "SECINFO_NO_NAME", "SEEK", "SEQUENCE", "TEST_STATEID", "VERIFY",
})  # fmt: skip
"""Operations that change nothing on the server: to execute one again is harmless."""


HARMLESS: t.Final = frozenset(BY_NAME[name].args for name in READ_ONLY)
"""Their arguments."""


class SessionViolation(ServerViolation):
    """SEQUENCE succeeded, but its reply is about another session, slot or sequence id than the request."""


def changes_nothing(operations: Sequence[XdrType]) -> bool:
    """Whether operations may be executed twice: their replies need not be cached (RFC 5661 section 2.10.6.1.3)."""
    return HARMLESS.issuperset(map(type, operations))


@dataclass(slots=True, eq=False)
class Request:
    """A compound with SEQUENCE in front, which may be sent more than once with the same numbers."""

    args: Compound4Args
    slot: Slot
    sequence_id: int

    @property
    def operations(self) -> list[XdrType]:
        """Those of the caller."""
        return self.args.argarray[1:]


class SessionState:
    """One session: its id, limits, slots, and what the server last said of it."""

    def __init__(self, created: CreateSession4ResOk, *, clientid: int, minor: int = 1) -> None:
        self.id = created.csr_sessionid
        self.clientid = clientid
        self.minor = minor
        self.flags = created.csr_flags
        self.fore: ChannelAttrs4 = created.csr_fore_chan_attrs
        self.back: ChannelAttrs4 = created.csr_back_chan_attrs
        self.slots = SlotTable(self.fore.ca_maxrequests)
        self.outstanding: set[tuple[int, int]] = set()
        """(slot, sequence id) of the requests without a reply: callbacks may refer to them (section 2.10.6.3)."""
        self.status_flags = 0
        """SEQ4_STATUS_* bits of the latest reply."""

    def sequence(
        self,
        slot: int,
        sequence_id: int | None = None,
        *,
        highest_slot: int | None = None,
        cache_this: bool = False,
    ) -> Sequence4Args:
        """Arguments of SEQUENCE: what is not given is what is right for a new request in that slot."""
        number = self.slots[slot].sequence_id if sequence_id is None else sequence_id
        highest = max(slot, self.slots.highest_in_use) if highest_slot is None else highest_slot
        return Sequence4Args(self.id, number, slot, highest, cache_this)

    def begin(
        self,
        operations: Sequence[XdrType],
        *,
        tag: bytes = b"",
        minor: int | None = None,
        slot: int | None = None,
        sequence_id: int | None = None,
        highest_slot: int | None = None,
        cache_this: bool | None = None,
    ) -> Request:
        """A request in the lowest free slot, or in the given one, free or not. Raises `NoFreeSlot`.

        `cache_this` None: the reply is to be cached if the operations change something.

        The first bare SEQUENCE after CB_RECALL_SLOT, sent when no slot above its target is in use, names that target
        (section 20.8.3): then the slots above it are given back.
        """
        taken = self.slots.acquire() if slot is None else self.slots.take(self.slots[slot])
        cached = not changes_nothing(operations) if cache_this is None else cache_this
        number = taken.sequence_id if sequence_id is None else sequence_id
        highest = self.slots.highest_in_use if highest_slot is None else highest_slot
        if highest_slot is None and slot is None and not operations and self.slots.owes_return:
            highest = self.slots.give_back()
        first = Sequence4Args(self.id, number, taken.id, highest, cached)
        operations = with_clientid(operations, self.clientid)
        args = Compound4Args(tag, self.minor if minor is None else minor, [first, *operations])
        self.outstanding.add((taken.id, number))
        return Request(args, taken, number)

    def take_again(self, request: Request) -> None:
        """A request that SEQUENCE refused for now is to be sent once more with the same numbers."""
        self.slots.take(request.slot)
        self.outstanding.add((request.slot.id, request.sequence_id))

    def resume(self, request: Request) -> None:
        """A request is under way again: SEQUENCE was refused, and the slot has not moved (section 2.10.6.1.2)."""
        self.slots.take(request.slot)
        self.outstanding.add((request.slot.id, request.sequence_id))

    def finish(self, request: Request, res: Compound4Res) -> CompoundReply:
        """Take the reply to a request. Raises `SessionViolation`; then the slot is not used again."""
        reply = CompoundReply(request.args, res, supplied=1)
        self.outstanding.discard((request.slot.id, request.sequence_id))
        first = res.resarray[0] if res.resarray else None
        if isinstance(first, Sequence4Res) and first.sr_resok4 is not None:
            done = first.sr_resok4
            self._compare(request, done)
            self._executed(
                request, done.sr_highest_slotid, done.sr_target_highest_slotid, done.sr_status_flags
            )
        elif first is not None and not isinstance(first, Sequence4Res):
            raise SessionViolation(
                f"the first operation was SEQUENCE, the first result is of {operation_of(first).name}"
            )
        elif first is None and res.status == Nfsstat4.NFS4_OK:
            raise SessionViolation("COMPOUND succeeded without a result of SEQUENCE")
        # Any error of SEQUENCE leaves the sequence id of the slot as it was (section 2.10.6.1.2).
        self.slots.release(request.slot)
        return reply

    def finish_usual(self, request: Request, highest: int, target: int, flags: int) -> None:
        """Take a reply to a request whose SEQUENCE succeeded and was compared with it; these are its other numbers."""
        self.outstanding.discard((request.slot.id, request.sequence_id))
        self._executed(request, highest, target, flags)
        self.slots.release(request.slot)

    def _executed(self, request: Request, highest: int, target: int, flags: int) -> None:
        if request.sequence_id == request.slot.sequence_id:
            request.slot.advance()
        self.status_flags = flags
        self.slots.comply(highest, target)

    def _compare(self, request: Request, result: Sequence4ResOk) -> None:
        sent: t.Any = request.args.argarray[0]
        if (
            sent.sa_sequenceid == result.sr_sequenceid
            and sent.sa_slotid == result.sr_slotid
            and sent.sa_sessionid == result.sr_sessionid
        ):
            return
        asked = (sent.sa_sessionid, sent.sa_slotid, sent.sa_sequenceid)
        names = ("session id", "slot id", "sequence id")
        said = (result.sr_sessionid, result.sr_slotid, result.sr_sequenceid)
        for name, expected, got in zip(names, asked, said, strict=True):
            if expected != got:
                shown = (
                    (expected.hex(), got.hex())
                    if isinstance(expected, bytes) and isinstance(got, bytes)
                    else (expected, got)
                )
                raise SessionViolation(f"SEQUENCE: {name}: expected {shown[0]}, got {shown[1]}")
