# SPDX-License-Identifier: MIT
"""The slot table of a channel, as its requester keeps it (RFC 5661 section 2.10.6.1)."""

from __future__ import annotations

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

    __slots__ = ("id", "in_use", "sequence_id")

    def __init__(self, id: int) -> None:
        self.id = id
        self.sequence_id = 1
        """Of the next new request. The first one of a slot is 1 (section 2.10.6.1)."""
        self.in_use = False

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

    def __getitem__(self, id: int) -> Slot:
        """The slot with this number, allowed or not: a caller may want to try one that is not."""
        slot = self._slots.get(id)
        if slot is None:
            slot = self._slots[id] = Slot(id)
        return slot

    def acquire(self) -> Slot:
        """The lowest free slot, in use from now on. Raises `NoFreeSlot`."""
        for number in range(self.allowed):
            slot = self[number]
            if not slot.in_use:
                return self.take(slot)
        raise NoFreeSlot(self.allowed)

    def take(self, slot: Slot) -> Slot:
        """Mark a slot as in use."""
        slot.in_use = True
        self._in_use.add(slot.id)
        return slot

    def release(self, slot: Slot) -> None:
        """Its request is answered."""
        slot.in_use = False
        self._in_use.discard(slot.id)

    @property
    def has_free(self) -> bool:
        """Whether `acquire` would succeed."""
        return any(not self[number].in_use for number in range(self.allowed))

    @property
    def highest_in_use(self) -> int:
        """For `sa_highest_slotid`: the highest slot with a request under way, 0 without any."""
        return max(self._in_use, default=0)

    def comply(self, enforced: int, target: int) -> None:
        """Follow the highest slot ids of a SEQUENCE reply: never above the enforced one, and up or down to the target.

        Requests that are under way above it go on; no new one starts there.
        """
        self.allowed = max(1, min(enforced, target, self.most - 1) + 1)

    def limit(self, highest: int) -> None:
        """Do not begin requests above this slot: what CB_RECALL_SLOT wants (section 20.8)."""
        self.allowed = max(1, min(self.allowed, highest + 1))
