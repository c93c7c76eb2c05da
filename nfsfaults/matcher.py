# SPDX-License-Identifier: MIT
"""A plan at work, without sockets and without a clock: messages and the time go in, writes with their times come out.

A `Matcher` belongs to one plan and counts for all connections. Each connection is a `Flow`. The way of a message
through a flow has two stages for each direction:

1. The rules. What they leave is a `Departure` with a time: at once, later (delay, duplicate, replay), or held until
   others have gone. Departures leave in the order of their times.
2. The stream. It applies the link (latency, gaps), divides a departure into writes, and keeps their order: what stalls
   in the middle of a record holds up everything after it, as TCP does.

An executor calls `Flow.receive` for each message, `Flow.events` when `Flow.deadline` has come, and carries the events
out in their order. For speed it may ask `Flow.is_clear` at the first bytes of a message, and pass all of it by.

    where a message is       what moves it on
    `leaving`, by time       its time: to the stream; what is lost goes there too, and leaves its place
    `held`                   as many others of its direction have left, or its own time
    `writes`, by time        its time: an event for the executor

What must stay true:

- Each message, unless a `Blackhole` swallows it, is counted by every rule that describes it, and at most one acts on
  it: the first in the plan whose turn it is. So `nth` and `every` of a rule do not depend on what rules before it
  did.
- A rule fires only if one of its actions could do something: `unfired` and reports rest on that.
- In the stream of one direction nothing overtakes: what is written next is never earlier than what was written before
  (`busy_until`). Messages change places in the first stage only.
- The same plan, seed and messages give the same events. All randomness is that of `Matcher.random`, drawn in the
  order of messages, and the time is what the executor says.
- A message passes by (`is_clear`) only if nothing is before it in its direction and no rule could want it; it is
  counted all the same, so that a later reply finds its call.
- What is remembered is bounded: anybody may send through a proxy. `queued` is what waits; the executor stops reading
  above its own limit.
"""

from __future__ import annotations

import heapq
import itertools
import random
import typing as t
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nfsclient.rpc.record import fragment, frame
from nfsfaults import actions as a
from nfsfaults import with_scapy
from nfsfaults.fields import with_bytes, with_field
from nfsfaults.functions import CannotMake, PacketFunction
from nfsfaults.messages import Heading, Kind, Message, Toward, Tracker
from nfsfaults.plan import Firing, Link, Plan, Rule

Transport: t.TypeAlias = t.Literal["tcp", "udp"]
MOST_FIRINGS: t.Final = 10_000
"""Firings that are kept with their bytes; later ones are counted only."""
MOST_FAILURES: t.Final = 100
_MOST_KINDS: t.Final = 4096
"""Different messages that are counted apart: anybody can send calls of any program."""


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes to write to one side: a piece of the stream with its record marks, or a datagram."""

    at: float
    toward: Toward
    data: bytes
    packets: tuple[a.PacketAction, ...] = ()
    """What happens to the packets of a datagram."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The connection ends, on both sides."""

    at: float
    toward: Toward
    """The side that was to get the message."""
    how: t.Literal["close", "reset"]


@dataclass(frozen=True, slots=True)
class SendElsewhere:
    """A whole message, without record mark, that does not go on this connection."""

    at: float
    toward: Toward
    data: bytes
    via: a.Via


Event: t.TypeAlias = Write | Finish | SendElsewhere


@dataclass(slots=True)
class Departure:
    """A message as the rules leave it."""

    data: bytes
    at: float
    hold: a.Hold | None = None
    via: a.Via = "same"
    fragments: a.Fragments | None = None
    segments: a.Segments | None = None
    stalls: tuple[a.Stall, ...] = ()
    stop_at: int | None = None
    """Where the record is cut off; None: not."""
    end: a.End = ""
    packets: tuple[a.PacketAction, ...] = ()
    is_lost: bool = False
    """Nothing of it goes out; it still has its place, at which the connection may end."""


@dataclass(slots=True)
class _Held:
    departure: Departure
    left: int
    until: float


@dataclass(slots=True)
class WayOut:
    """Where messages leave one after the other."""

    free_at: float = 0.0
    """When the link can take the next message."""


@dataclass
class _Direction:
    """One way through a flow."""

    link: Link | None
    leaving: list[tuple[float, int, Departure]] = field(default_factory=list)
    held: list[_Held] = field(default_factory=list)
    writes: deque[Event] = field(default_factory=deque)
    """What has passed both stages, by time."""
    way_out: WayOut = field(default_factory=WayOut)
    busy_until: float = 0.0
    """When the stream has written what it has."""
    dark_until: float = 0.0

    @property
    def is_empty(self) -> bool:
        return not (self.leaving or self.held or self.writes)


class Matcher:
    """The counters of a plan: which message is a rule's n-th, and what has fired."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = random.Random(plan.seed)
        self.firings: list[Firing] = []
        """At most `MOST_FIRINGS`, in their order."""
        self.seen: Counter[int] = Counter()
        """Index of a rule -> messages that its selector describes."""
        self.fired: Counter[int] = Counter()
        """Index of a rule -> how often it acted."""
        self.passed: Counter[tuple[Kind, int, int, int]] = Counter()
        """Kind, program, version and procedure of a message -> how many came; zeros are what is unknown."""
        self.ways_out: dict[Toward, WayOut] = {"server": WayOut(), "client": WayOut()}
        """Those of links that all connections share."""
        self.failures: list[str] = []
        """What of the plan could not be carried out, and why; at most `MOST_FAILURES`."""
        self.on_failure: Callable[[str], None] | None = None
        """Called with each of them."""
        self.on_firing: Callable[[Firing], None] | None = None
        """Called whenever a rule has acted."""

    def flow(self, transport: Transport = "tcp", *, has_packets: bool = False) -> Flow:
        """A new connection, or the datagrams between two addresses. With `has_packets`, functions get packets."""
        return Flow(self, transport, has_packets=has_packets)

    def fail(self, text: str) -> None:
        """Something of the plan could not be done."""
        if len(self.failures) < MOST_FAILURES:
            self.failures.append(text)
        if self.on_failure is not None:
            self.on_failure(text)

    @property
    def unfired(self) -> tuple[Rule, ...]:
        """The rules that had to act and did not."""
        return tuple(
            rule for index, rule in enumerate(self.plan.rules) if rule.must_fire and not self.fired[index]
        )

    def acting_rule(self, message: Message) -> int | None:
        """The index of the rule whose turn it is; counts the message in each that describes it."""
        acting: int | None = None
        for index, rule in enumerate(self.plan.rules):
            if not rule.select.describes(message):
                continue
            self.seen[index] += 1
            if acting is None and self._is_turn(index, rule):
                acting = index
        return acting

    def _is_turn(self, index: int, rule: Rule) -> bool:
        select = rule.select
        if select.count is not None and self.fired[index] >= select.count:
            return False
        if select.nth is not None:
            return self.seen[index] == select.nth
        if select.every is not None:
            return self.seen[index] % select.every == 0
        return select.probability is None or self.random.random() < select.probability

    def note(self, index: int, firing: Firing) -> None:
        """A rule has acted."""
        self.fired[index] += 1
        if len(self.firings) < MOST_FIRINGS:
            self.firings.append(firing)
        if self.on_firing is not None:
            self.on_firing(firing)

    def count(self, heading: Heading) -> None:
        """A message has come."""
        _, kind, program, version, procedure = heading
        key = (kind, program, version, procedure)
        if key not in self.passed and len(self.passed) >= _MOST_KINDS:
            key = (kind, 0, 0, 0)
        self.passed[key] += 1


class Flow:
    """The messages of one connection in both directions."""

    def __init__(self, matcher: Matcher, transport: Transport, *, has_packets: bool = False) -> None:
        links = {link.toward: link for link in matcher.plan.links}
        self.tracker = Tracker()
        self.transport: Transport = transport
        self._has_packets = has_packets
        self._matcher = matcher
        self._directions: dict[Toward, _Direction] = {
            "server": _Direction(links.get("server")),
            "client": _Direction(links.get("client")),
        }
        for toward, link in links.items():
            if link.shared:
                self._directions[toward].way_out = matcher.ways_out[toward]
        self._order = 0
        self.queued = 0
        """Bytes of messages that wait here: an executor has its own bound, above which it stops reading."""

    # Cut-through

    def is_clear(self, heading: Heading, toward: Toward) -> bool:
        """Whether a message with this heading passes as it comes: no rule wants it and nothing is before it."""
        way = self._directions[toward]
        if way.link is not None or not way.is_empty or way.dark_until:
            return False
        kind, program, version = heading.kind, heading.program, heading.version
        return not any(rule.select.could_be(kind, program, version) for rule in self._matcher.plan.rules)

    def pass_by(self, heading: Heading, toward: Toward, data: bytes | None = None) -> None:
        """A message goes past the flow; its call is remembered."""
        self.tracker.note(heading, toward, data)
        self._matcher.count(heading)

    # First stage: the rules

    def receive(
        self,
        now: float,
        data: bytes,
        toward: Toward,
        sizes: tuple[int, ...] = (),
        read_packet: Callable[[], t.Any] | None = None,
    ) -> None:
        """A whole message, without record mark, has arrived from the other side, in fragments of these sizes.

        `read_packet` reads the packet that it came in, for rules that look at it.
        """
        way = self._directions[toward]
        if now < way.dark_until:
            return
        way.dark_until = 0.0
        message = self.tracker.message(data, toward)
        whole = Departure(data, now, fragments=a.Fragments(sizes) if len(sizes) > 1 else None)
        departures = [whole]
        if message is not None:
            message.read_packet = read_packet
            self._matcher.count(message.heading)
            index = self._matcher.acting_rule(message)
            if index is not None:
                departures = self._act(index, message, whole)
        for departure in departures:
            self._enter(way, departure)

    def _enter(self, way: _Direction, departure: Departure) -> None:
        self.queued += len(departure.data)
        self._order += 1
        if departure.hold is not None:
            until = departure.at + departure.hold.seconds
            way.held.append(_Held(departure, departure.hold.messages, until))
        else:
            heapq.heappush(way.leaving, (departure.at, self._order, departure))

    def _act(self, index: int, message: Message, whole: Departure) -> list[Departure]:
        """What a rule makes of a message; the message as it is if no action of the rule can do anything with it."""
        rule = self._matcher.plan.rules[index]
        departures, now = [whole], whole.at
        did = False
        for action in rule.actions:
            changed = self._apply(action, message, departures, now)
            if changed is not None:
                departures, did = changed, True
        if not did:
            return departures
        gone = [departure.data for departure in departures if not departure.is_lost]
        after = next((data for data in gone if data != message.data), None)
        self._matcher.note(index, Firing(now, rule, message.label, message.data, after, message.toward))
        return departures

    def _apply(
        self, action: a.Action, message: Message, departures: list[Departure], now: float
    ) -> list[Departure] | None:
        """The departures after one action; None if it does not apply here."""
        if action.need == "stream" and self.transport == "udp" and not isinstance(action, a.Truncate):
            return None
        match action:
            case a.SetField(path, value):
                new = with_field(message, path, value)
                return None if new is None else [replace(departure, data=new) for departure in departures]
            case a.SetBytes(at, data, cut, flip):
                new = with_bytes(departures[0].data, at, data, cut, flip) if departures else None
                return None if new is None else [replace(departure, data=new) for departure in departures]
            case a.CallFunction(name, function) if not self._has_packets:
                return self._by_function(name, function, message, departures)
            case a.Blackhole(seconds, both):
                for toward, way in self._directions.items():
                    if both or toward == message.toward:
                        way.dark_until = max(way.dark_until, now + seconds)
        return _rescheduled(departures, action)

    def _by_function(
        self, name: str, function: PacketFunction | None, message: Message, departures: list[Departure]
    ) -> list[Departure] | None:
        """What a function of the user's makes of a message; None if it fails, and the message passes."""
        assert function is not None
        call = None if message.call is None else message.call.heading
        changed: list[Departure] = []
        try:
            for departure in departures:
                new = with_scapy.making().messages_by(function, name, departure.data, call)
                changed += [replace(departure, data=data) for data in new] or [
                    replace(departure, is_lost=True)
                ]
        except CannotMake as error:
            self._matcher.fail(str(error))
            return None
        return changed

    # Second stage: the stream

    def events(self, now: float) -> list[Event]:
        """What is to be written until now, in order."""
        due: list[Event] = []
        for toward, way in self._directions.items():
            self._release(toward, way, now)
            while way.writes and way.writes[0].at <= now:
                due.append(way.writes.popleft())
        due.sort(key=lambda event: event.at)
        return due

    @property
    def deadline(self) -> float | None:
        """When `events` has something next; None if nothing waits."""
        times = [time for way in self._directions.values() for time in _times(way)]
        return min(times, default=None)

    def _release(self, toward: Toward, way: _Direction, now: float) -> None:
        """Move every departure whose time has come, or whose hold has ended, to the stream, by time."""
        while True:
            expired = [held for held in way.held if held.until <= now]
            first = min(expired, key=lambda held: held.until, default=None)
            if way.leaving and way.leaving[0][0] <= now:
                at, _, departure = way.leaving[0]
                if first is None or at <= first.until:
                    heapq.heappop(way.leaving)
                    self._depart(toward, way, departure, at)
                    if not departure.is_lost and departure.via == "same":
                        self._count_down(toward, way, at)
                    continue
            if first is None:
                return
            way.held.remove(first)
            self._depart(toward, way, first.departure, first.until)

    def _count_down(self, toward: Toward, way: _Direction, at: float) -> None:
        """A message has gone: those that waited for it go right after it."""
        for held in list(way.held):
            held.left -= 1
            if held.left <= 0:
                way.held.remove(held)
                self._depart(toward, way, held.departure, max(at, held.departure.at))

    def _depart(self, toward: Toward, way: _Direction, departure: Departure, at: float) -> None:
        self.queued -= len(departure.data)
        link = way.link
        if link is not None and not departure.is_lost:
            if link.loss and self._matcher.random.random() < link.loss:
                return
            start = max(at, way.way_out.free_at)
            took = link.overhead + link.gap_per_byte * len(departure.data)
            way.way_out.free_at = start + max(link.gap, took)
            at = start + took + link.latency
        at = max(at, way.busy_until)
        if departure.is_lost:
            way.busy_until = at
        elif departure.via != "same":
            way.writes.append(SendElsewhere(at, toward, departure.data, departure.via))
            way.busy_until = at
        else:
            for piece in _pieces(departure, self.transport):
                at += piece.wait
                way.writes.append(Write(at, toward, piece.data, departure.packets))
            way.busy_until = at
        if departure.end:
            way.writes.append(Finish(at, toward, departure.end))


def _times(way: _Direction) -> list[float]:
    times = [held.until for held in way.held]
    if way.leaving:
        times.append(way.leaving[0][0])
    if way.writes:
        times.append(way.writes[0].at)
    return times


def _rescheduled(departures: list[Departure], action: a.Action) -> list[Departure]:
    """The departures after an action that leaves the bytes as they are."""
    match action:
        case a.Drop(then):
            return [replace(departure, is_lost=True, end=then) for departure in departures[:1]]
        case a.Blackhole():
            return [replace(departure, is_lost=True) for departure in departures[:1]]
        case a.Delay(seconds):
            return [replace(departure, at=departure.at + seconds) for departure in departures]
        case a.Duplicate(copies, gap):
            return [
                replace(departure, at=departure.at + n * gap)
                for departure in departures
                for n in range(copies + 1)
            ]
        case a.Hold():
            return [replace(departure, hold=action) for departure in departures]
        case a.Replay(seconds, via):
            return [
                *departures,
                *(replace(departure, at=departure.at + seconds, via=via) for departure in departures[:1]),
            ]
        case _:
            return [_shaped(departure, action) for departure in departures]


def _shaped(departure: Departure, action: a.Action) -> Departure:
    """A departure that is written in another way."""
    match action:
        case a.Truncate(at, then):
            return replace(departure, stop_at=at, end=then)
        case a.Reset(at):
            return replace(departure, stop_at=at, end="reset")
        case a.Segments():
            return replace(departure, segments=action)
        case a.Fragments():
            return replace(departure, fragments=action)
        case a.Stall():
            return replace(departure, stalls=(*departure.stalls, action))
        case _ if action.need == "packets" or isinstance(action, a.CallFunction):
            return replace(departure, packets=(*departure.packets, t.cast("a.PacketAction", action)))
        case _:
            raise AssertionError(f"no shape: {action!r}")


class _Piece(t.NamedTuple):
    wait: float
    """Seconds after the piece before it."""
    data: bytes


def _pieces(departure: Departure, transport: Transport) -> list[_Piece]:
    """A departure as the writes of a stream, or as a datagram."""
    if transport == "udp":
        return [_Piece(0.0, departure.data[: departure.stop_at])]
    waits: dict[int, float] = {}
    if departure.fragments is None:
        stream = b"".join(bytes(part) for part in frame([departure.data]))
    else:
        stream = fragment(departure.data, departure.fragments.sizes)
        for position in _fragment_ends(stream):
            waits[position] = departure.fragments.gap
    if departure.segments is not None:
        for position in _segment_ends(departure.segments.sizes, len(stream)):
            waits[position] = waits.get(position, 0.0) + departure.segments.gap
    for stall in departure.stalls:
        position = min(stall.at, len(stream))
        waits[position] = waits.get(position, 0.0) + stall.seconds
    stop = len(stream) if departure.stop_at is None else min(departure.stop_at, len(stream))
    cuts = sorted(position for position in waits if position < stop)
    bounds = [0, *(position for position in cuts if position), stop]
    return [
        _Piece(waits.get(start, 0.0), stream[start:end])
        for start, end in itertools.pairwise(bounds)
        if end > start
    ]


def _fragment_ends(stream: bytes) -> list[int]:
    """Where the fragments of a record begin, but for the first."""
    ends: list[int] = []
    position = 0
    while position < len(stream):
        position += 4 + (int.from_bytes(stream[position : position + 4], "big") & 0x7FFF_FFFF)
        ends.append(position)
    return ends[:-1]


def _segment_ends(sizes: tuple[int, ...], length: int) -> list[int]:
    ends: list[int] = []
    position = 0
    for index in range(length):
        position += sizes[min(index, len(sizes) - 1)]
        if position >= length:
            break
        ends.append(position)
    return ends
