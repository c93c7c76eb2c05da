# SPDX-License-Identifier: MIT
"""Stateids: how a client names an open, a set of locks or a delegation, and how they are validated.

RFC 5661 section 8.2.

A stateid is 4 bytes of seqid and 12 of `other`. `other` is the number of the server's instance and a number that is
never used twice in it: a stateid from before a restart is found invalid, and a freed one stays invalid.

    valid --a change of its state: seqid + 1, past 0--> valid --close, free, return--> (none: BAD_STATEID)
      |
      +--expiry, an administrator, a recall that was not obeyed--> lost: answers why, until FREE_STATEID --> (none)

`find` compares in this order (section 8.2.4): known, of this client, not reserved: BAD_STATEID; lost: the reason; the
seqid. A seqid of 0 means the latest one, an older one is OLD_STATEID, one that was never given is BAD_STATEID. Which
of two is older is a question of wraparound: the client can have as many requests under way as it has slots
(`is_older`, section 8.2.2).

What must stay true: a stateid says nothing of its kind or file, so whoever finds one compares both (`Held.require`).
The reserved stateids are no entries of the table (`special`). The table is bounded for all clients together
(`MOST.states`).
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from nfsserver.bounds import MOST

SEQID_MAX: t.Final = 0xFFFF_FFFF
_OTHER = struct.Struct(">IQ")
_ZEROS: t.Final = bytes(12)
_ONES: t.Final = b"\xff" * 12

Kind: t.TypeAlias = t.Literal["open", "lock", "delegation"]
Loss: t.TypeAlias = t.Literal["EXPIRED", "ADMIN_REVOKED", "DELEG_REVOKED"]
Special: t.TypeAlias = t.Literal["anonymous", "bypass", "current", "invalid"]


class StateError(Exception):
    """A refusal; `status` is the name of the status without its prefix."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class Stateid(t.NamedTuple):
    """A stateid as it stands in a message."""

    seqid: int
    other: bytes


ANONYMOUS: t.Final = Stateid(0, _ZEROS)
BYPASS: t.Final = Stateid(SEQID_MAX, _ONES)
CURRENT: t.Final = Stateid(1, _ZEROS)
INVALID: t.Final = Stateid(SEQID_MAX, _ZEROS)
_SPECIAL: t.Final[dict[Stateid, Special]] = {
    # RFC 5661 section 8.2.3
    ANONYMOUS: "anonymous",
    BYPASS: "bypass",
    CURRENT: "current",
    INVALID: "invalid",
}


def special(stateid: Stateid) -> Special | None:
    """What a reserved stateid means; None for one that the server gave. Raises `StateError` for other reserved ones."""
    if stateid.other not in {_ZEROS, _ONES}:
        return None
    meaning = _SPECIAL.get(stateid)
    if meaning is None:
        raise StateError("BAD_STATEID")
    return meaning


@dataclass(eq=False)
class State:
    """What one stateid stands for."""

    client: Hashable
    file: Hashable
    kind: t.ClassVar[Kind]
    other: bytes = field(default=b"", init=False)
    seqid: int = field(default=0, init=False)
    lost: Loss | None = field(default=None, init=False)
    """Why the server took it away; the stateid stays until FREE_STATEID."""

    def changed(self) -> Stateid:
        """The stateid after a change of the state: seqid counts up, past 0 (section 8.2.2)."""
        self.seqid = 1 if self.seqid == SEQID_MAX else self.seqid + 1
        return self.stateid

    @property
    def stateid(self) -> Stateid:
        """The most recent one."""
        return Stateid(self.seqid, self.other)


def is_older(seqid: int, than: int, slots: int) -> bool:
    """Whether a seqid comes before another; `slots` are those of all sessions of the client (section 8.2.2)."""
    if seqid < slots and than > SEQID_MAX - slots:
        return False
    if than < slots and seqid > SEQID_MAX - slots:
        return True
    return seqid < than


class Stateids:
    """The table of all states of one instance of the server."""

    def __init__(self, instance: int) -> None:
        self._instance = instance & 0xFFFF_FFFF
        self._last = 0
        self._states: dict[bytes, State] = {}
        self._of_client: dict[Hashable, dict[bytes, State]] = {}

    def __len__(self) -> int:
        return len(self._states)

    def add(self, state: State) -> None:
        """Give a state its stateid; its first seqid is 1. Raises `StateError` when the table is full."""
        if len(self._states) >= MOST.states:
            raise StateError("DELAY")
        self._last += 1
        state.other = _OTHER.pack(self._instance, self._last)
        state.changed()
        self.restore(state)

    def restore(self, state: State) -> None:
        """Keep a stateid whose state was taken away."""
        self._states[state.other] = state
        self._of_client.setdefault(state.client, {})[state.other] = state

    def remove(self, state: State) -> None:
        """The stateid is invalid from now on."""
        self._states.pop(state.other, None)
        mine = self._of_client.get(state.client)
        if mine is not None:
            mine.pop(state.other, None)
            if not mine:
                del self._of_client[state.client]

    def find(self, stateid: Stateid, client: Hashable, *, slots: int = 0) -> State:
        """The state of a stateid of a client, whatever its kind and file: what TEST_STATEID checks (section 18.48).

        Raises `StateError`: BAD_STATEID, OLD_STATEID, or why the state was lost.
        """
        state = self._states.get(stateid.other)
        if state is None or state.client != client or special(stateid) is not None:
            raise StateError("BAD_STATEID")
        if state.lost is not None:
            raise StateError(state.lost)
        if stateid.seqid and stateid.seqid != state.seqid:
            raise StateError("OLD_STATEID" if is_older(stateid.seqid, state.seqid, slots) else "BAD_STATEID")
        return state

    def find_lost(self, stateid: Stateid, client: Hashable) -> State:
        """The state of a stateid, lost or not: for FREE_STATEID. Raises BAD_STATEID, OLD_STATEID."""
        state = self._states.get(stateid.other)
        if state is not None and state.client == client and state.lost is not None:
            return state
        return self.find(stateid, client)

    def of_client(self, client: Hashable) -> Iterator[State]:
        """All states of a client."""
        return iter(list(self._of_client.get(client, {}).values()))
