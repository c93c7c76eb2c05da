# SPDX-License-Identifier: MIT
"""The slot table of a channel, as its requester keeps it (RFC 5661 section 2.10.6.1).

A slot is a lane of requests: one at a time, each with the sequence id that follows the one before. The replier keeps
the last reply of each slot, so that a request which is sent again gets that reply and is not executed a second time.

    state of a slot     what it means                                 what ends it
    free                the last request was answered, or none sent   `acquire`, `take`
    in use              a request is under way, or its fate unknown   `release`: its reply came
    out of use          its number is not below `allowed`             `comply` or `limit` raise `allowed` again

Who may change what:

- Only the session (`nfsclient.sessions.session`) takes and releases slots, and only it calls `Slot.advance`: after a
  reply whose SEQUENCE succeeded. A request that ended with an error of SEQUENCE leaves the sequence id as it was,
  unless the error says that the slot has moved (section 15.1.11).
- A request whose reply never came keeps its slot in use for the rest of the session. Its fate is unknown: a new
  request on this slot would have the sequence id that the replier may have used already (NFS4ERR_SEQ_FALSE_RETRY at
  best).
- The peer moves `allowed` by `sr_target_highest_slotid` of each reply and by CB_RECALL_SLOT. Requests that are under
  way above it go on; no new one begins there.

What must stay true:

- `sequence_id` survives while a slot is out of use: the replier may not have retired it, and expects the next one.
- `acquire` gives the lowest free slot: the replier may shrink its cache from above (section 2.10.6.1).
- `highest_in_use` is never below the number of a slot that is in use: SEQUENCE sends it as `sa_highest_slotid`, and
  the replier may forget the slots above.
- The heap has every free slot below `_unlisted`. It may also have slots in use; these leave it when they come up. So
  taking and releasing cost the logarithm of the slots, and slots cost no memory until they are used.
"""

from __future__ import annotations

import heapq
import typing as t

from nfsclient.errors import NfsClientError

MOST_SLOTS: t.Final = 1024
"""As many as a requester ever uses, whatever the replier offers: a bound for its memory."""
_WRAP: t.Final = 1 << 32


class NoFreeSlot(NfsClientError):
    """All slots that the peer allows have a request under way, or one whose fate is not known."""

    def __init__(self, slots: int) -> None:
        super().__init__(f"all {slots} slots of the session are in use: wait for a reply first")
        self.slots = slots


def next_sequence_id(sequence_id: int) -> int:
    """The one that follows: after 0xFFFFFFFF comes 0 (section 2.10.6.1)."""
    return (sequence_id + 1) % _WRAP


class Slot:
    """One slot: which sequence id its next new request has, and whether a request is under way."""

    __slots__ = ("id", "in_use", "is_listed", "sequence_id")

    def __init__(self, id: int) -> None:
        self.id = id
        self.sequence_id = 1
        """Of the next new request. The first one of a slot is 1 (section 2.10.6.1)."""
        self.in_use = False
        self.is_listed = False
        """Whether its number is in the heap of its table."""

    def advance(self) -> None:
        """The request with the present sequence id was executed."""
        self.sequence_id = next_sequence_id(self.sequence_id)


class SlotTable:
    """The slots 0 to `allowed` - 1. New requests get the lowest that is free, as section 2.10.6.1 wants it.

    The peer's target moves `allowed` up and down. A slot keeps its sequence id while it is out of use: a replier that
    has not retired it expects the next one when it is used again.
    """

    def __init__(self, slots: int, *, most: int = MOST_SLOTS) -> None:
        self.most = most
        self.allowed = max(1, min(slots, most))
        self._slots: dict[int, Slot] = {}
        self._in_use: set[int] = set()
        self._heap: list[int] = []
        """Numbers of all free slots below `_unlisted`, and of some in use, which leave it when they come up."""
        self._unlisted = 0
        """No slot from this number on has been in the heap."""
        self.highest_in_use = 0
        """For `sa_highest_slotid`: the highest slot with a request under way, 0 without any."""
        self.recalled: int | None = None
        """The highest slot that CB_RECALL_SLOT leaves, while the peer does not know yet that the others are free."""

    def __getitem__(self, id: int) -> Slot:
        """The slot with this number, allowed or not: a caller may want to try one that is not."""
        slot = self._slots.get(id)
        if slot is None:
            slot = self._slots[id] = Slot(id)
        return slot

    def acquire(self) -> Slot:
        """The lowest free slot, in use from now on. Raises `NoFreeSlot`."""
        slot = self._lowest_free()
        if slot is None:
            raise NoFreeSlot(self.allowed)
        return self.take(slot)

    def _lowest_free(self) -> Slot | None:
        heap = self._heap
        while True:
            if not heap:
                if self._unlisted >= self.allowed:
                    return None
                self._list(self[self._unlisted])
                self._unlisted += 1
            if heap[0] >= self.allowed:
                return None
            slot = self._slots[heap[0]]
            if not slot.in_use:
                return slot
            heapq.heappop(heap)
            slot.is_listed = False

    def _list(self, slot: Slot) -> None:
        slot.is_listed = True
        heapq.heappush(self._heap, slot.id)

    def take(self, slot: Slot) -> Slot:
        """Mark a slot as in use."""
        slot.in_use = True
        self._in_use.add(slot.id)
        self.highest_in_use = max(self.highest_in_use, slot.id)
        return slot

    def release(self, slot: Slot) -> None:
        """Its request is answered."""
        slot.in_use = False
        self._in_use.discard(slot.id)
        if not slot.is_listed and slot.id < self._unlisted:
            self._list(slot)
        if slot.id == self.highest_in_use:
            self.highest_in_use = max(self._in_use) if self._in_use else 0

    @property
    def has_free(self) -> bool:
        """Whether `acquire` would succeed."""
        return self._lowest_free() is not None

    def comply(self, enforced: int, target: int) -> None:
        """Follow the highest slot ids of a SEQUENCE reply: never above the enforced one, and up or down to the target.

        Requests that are under way above it go on; no new one starts there.
        """
        highest = min(target, enforced)
        self.allowed = highest + 1 if highest < self.most else self.most

    def limit(self, highest: int) -> None:
        """Do not begin requests above this slot: what CB_RECALL_SLOT wants (section 20.8)."""
        self.allowed = max(1, min(self.allowed, highest + 1))
        self.recalled = self.allowed - 1 if self.recalled is None else min(self.recalled, self.allowed - 1)

    @property
    def owes_return(self) -> bool:
        """Whether a SEQUENCE alone is due, which says that no slot above `recalled` is in use (section 20.8.3)."""
        return self.recalled is not None and self.highest_in_use <= self.recalled

    def give_back(self) -> int:
        """The `sa_highest_slotid` of that SEQUENCE, which is sent now."""
        recalled, self.recalled = self.recalled, None
        assert recalled is not None
        return recalled
