# SPDX-License-Identifier: MIT
"""What the server keeps of a client and of a session: one module, because each has the other.

A client has its sessions, and a session its client, from `Sessions.add` until `Sessions.remove`, which keep the two
directions equal; nobody else adds to `Client.sessions` or changes `Session.client`. `Clients` and `Sessions` have the
records by id and decide what becomes of them.
"""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from nfsserver.bounds import MOST
from nfsserver.state.stateids import StateError

if t.TYPE_CHECKING:
    from nfsclient.rpc.channel import Channel

WRAP: t.Final = 1 << 32
"""Sequence ids have 32 bits (RFC 5661 section 2.10.6.1)."""


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
    target: int | None = None
    """The highest slot that the client should use, by CB_RECALL_SLOT; None: any that it has."""
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
        for connection in list(self.connections):
            if connection is channel or not connection.is_open or len(self.connections) >= MOST.connections:
                del self.connections[connection]
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
                self.callback_slots[number] = (last + 1) % WRAP
                return number, self.callback_slots[number]
        return None


@dataclass(eq=False)
class Client:
    """A client record."""

    ownerid: bytes
    verifier: bytes
    principal: Hashable
    """Who the requests come from: what "the same principal" means."""
    id: int
    renewed: float
    """When its lease was last renewed, in seconds."""
    sequence: int
    """The sequence id of the last CREATE_SESSION."""
    reply: t.Any = None
    """The result of that CREATE_SESSION, for a replay; None before the first."""
    is_confirmed: bool = False
    sessions: dict[bytes, Session] = field(default_factory=dict)
    has_completed: bool = False
    """Whether it has said RECLAIM_COMPLETE."""
    may_reclaim: bool = False
    """Whether it held state when an earlier instance of the server ended."""
    unsent: list[Callable[[], None]] = field(default_factory=list)
    """What sends the callbacks that wait for a session with a backchannel."""
    is_to_keep_few: bool = False
    """Whether CB_RECALL_ANY was sent for the delegations that it has."""

    @property
    def slots(self) -> int:
        """Slots of all its sessions, which the comparison of seqids needs (section 8.2.2)."""
        return sum(len(session.slots) for session in self.sessions.values())
