# SPDX-License-Identifier: MIT
"""Sessions: slots, their reply cache, and the connections of the backchannel (RFC 5661 sections 2.10 and 18.46).

What SEQUENCE compares is the sequence id of the request with that of the slot:

    the same          a retry: what the cache has
    one more          a new request
    anything else     SEQ_MISORDERED
"""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field

from nfsserver.bounds import MOST
from nfsserver.state.stateids import StateError

if t.TYPE_CHECKING:
    from nfsclient.rpc.channel import Channel
    from nfsserver.state.clients import Client

_WRAP: t.Final = 1 << 32


class Direction(enum.IntFlag):
    """What a connection of a session carries."""

    FORE = 1
    BACK = 2
    BOTH = 3


class Limits4(t.NamedTuple):
    """What a channel carries, as CREATE_SESSION decides (section 18.36.3). Sizes in bytes, RPC header included."""

    request: int
    response: int
    cached: int
    operations: int
    slots: int


@dataclass(slots=True)
class Slot:
    """The last request of a slot."""

    sequence_id: int = 0
    reply: t.Any = None
    """Its reply, if it is kept; None before the first request and where it is not kept."""
    fingerprint: t.Hashable = None
    """What tells this request from others that reuse its sequence id."""
    in_progress: bool = False
    """Whether the request waits in the middle of its operations."""


@dataclass(eq=False)
class Session:
    """A session of a client."""

    id: bytes
    client: Client
    fore: Limits4
    back: Limits4
    program: int
    """The RPC program number of its callbacks."""
    minor: int = 1
    """The minor version that made it, and that its callbacks have."""
    flavors: tuple[t.Any, ...] = ()
    """The credentials that callbacks may have, in the order of the client."""
    slots: list[Slot] = field(default_factory=list)
    connections: dict[Channel, Direction] = field(default_factory=dict)
    """What each connection is used for, the newest last."""
    had_backchannel: bool = False
    callback_slots: list[int] = field(default_factory=list)
    """The sequence id of the last callback in each slot of the backchannel."""
    busy: set[int] = field(default_factory=set)
    """Slots of the backchannel that wait for a reply."""
    unsent: list[Callable[[], None]] = field(default_factory=list)
    """What sends the callbacks that wait for a connection."""
    unanswered: dict[int, Callable[[], None]] = field(default_factory=dict)
    """Slot of the backchannel -> what sends its callback over another session of the client."""

    @property
    def is_destroyed(self) -> bool:
        """Whether it has ended."""
        return not self.slots

    def slot(self, number: int) -> Slot:
        """A slot. Raises BADSLOT."""
        if number >= len(self.slots):
            raise StateError("BADSLOT")
        return self.slots[number]

    def bind(self, channel: Channel, direction: Direction) -> None:
        """Use a connection from now on."""
        if self.connections.get(channel) == direction:
            return
        for one in list(self.connections):
            if one is channel or not one.is_open or len(self.connections) >= MOST.connections:
                del self.connections[one]
        self.connections[channel] = direction
        if direction & Direction.BACK:
            self.had_backchannel = True
            unsent, self.unsent = self.unsent, []
            for send in unsent:
                send()

    def take_over(self) -> None:
        """Send the callbacks that wait for a session. Not before the client has used it: only then it knows its id."""
        if self.client.unsent and self.back_connection is not None:
            unsent, self.client.unsent = self.client.unsent, []
            for send in unsent:
                send()

    @property
    def back_connection(self) -> Channel | None:
        """An open connection for callbacks."""
        for channel, direction in reversed(self.connections.items()):
            if direction & Direction.BACK and channel.is_open:
                return channel
        return None

    def take_callback_slot(self) -> tuple[int, int] | None:
        """(slot, sequence id) for a callback; None where all slots wait for replies."""
        for number, last in enumerate(self.callback_slots):
            if number not in self.busy:
                self.busy.add(number)
                self.callback_slots[number] = (last + 1) % _WRAP
                return number, self.callback_slots[number]
        return None


def is_retry(slot: Slot, sequence_id: int) -> bool:
    """Whether a request repeats the last one of its slot; False: it is a new one. Raises SEQ_MISORDERED.

    A slot that was never used has sequence id 0, and nothing to repeat.
    """
    if sequence_id == (slot.sequence_id + 1) % _WRAP:
        return False
    if sequence_id == slot.sequence_id and slot.fingerprint is not None:
        return True
    raise StateError("SEQ_MISORDERED")


def slot_size(cached: int) -> int:
    """Bytes that a slot may keep: a reply of as many bytes, and what a reply of SEQUENCE alone takes."""
    return cached + MOST.slot_bytes


def _kept_of(fore: Limits4) -> int:
    return slot_size(fore.cached) * fore.slots


class Sessions:
    """The sessions of one instance of the server, by id. `prefix` (8 bytes) makes its ids differ from others'."""

    def __init__(self, prefix: bytes) -> None:
        self._prefix = prefix
        self._last = 0
        self._by_id: dict[bytes, Session] = {}
        self._cache_size = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def require(self, number: bytes) -> Session:
        """The session of an id. Raises BADSESSION."""
        session = self._by_id.get(number)
        if session is None:
            raise StateError("BADSESSION")
        return session

    @property
    def cache_size(self) -> int:
        """Bytes that the reply caches of all sessions may take."""
        return self._cache_size

    def add(self, client: Client, fore: Limits4, back: Limits4, program: int) -> Session:
        """A new session. Raises NOSPC."""
        if len(self._by_id) >= MOST.sessions:
            raise StateError("NOSPC")
        self._last += 1
        session = Session(self._prefix + self._last.to_bytes(8, "big"), client, fore, back, program)
        session.slots = [Slot() for _ in range(fore.slots)]
        session.callback_slots = [0] * min(back.slots, MOST.callback_slots)
        self._by_id[session.id] = session
        client.sessions[session.id] = session
        self._cache_size += _kept_of(fore)
        return session

    def remove(self, session: Session) -> None:
        """End a session. Callbacks that the client has not answered go on over another one."""
        if self._by_id.pop(session.id, None) is not None:
            self._cache_size -= _kept_of(session.fore)
        session.client.sessions.pop(session.id, None)
        session.slots = []
        unanswered, session.unanswered, session.unsent = session.unanswered, {}, []
        for move in unanswered.values():
            move()
