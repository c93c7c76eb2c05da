# SPDX-License-Identifier: MIT
"""The engine: takes exchanges in order of time, applies the rules to each operation, and learns from it.

The operations of a compound run one after the other: each is judged by what those before it have left. Where other
exchanges overlap with a compound, nobody knows what came first, and its operations disturb each other like calls do.

What happens to a group of exchanges that overlap in time (`in_groups`; one alone, as a rule):

    1. units     each exchange becomes its operations (`_units`)
    2. touched   what each may change, so that the others' replies about it are not believed (`_Touched`)
    3. judge     the rules look at each unit, with the `World` of its address and version of NFS
    4. learn     the world takes in what its reply says, and forgets what it may have changed
    5. linger    a call without an answer, or one that may run once more, may change its objects at any later time

What must stay true:

- In a group of one, each operation is judged before it is learned from, and the next one after that. In a larger
  group all are judged first: none is judged by another whose place in time is not known.
- A request that reuses slot and sequence id may be another one and get the reply of the first, which does not fit its
  operations (RFC 5661 section 2.10.6.1.3): of its reply only SEQUENCE is judged (`is_retry`).
- A call that came before, by XID or by its slot, may be answered from a cache, with what was true then. It is judged
  without a world (`is_replayed`), teaches nothing, and still may have changed what it names. With `has_gaps` that is
  so for every request that is not certainly new (`nfs4_slots`).
- A reply for which a check has failed (`excused`) is not reported again unless a rule is more severe, and is not
  believed: only what its call may have changed counts.
- Two addresses may be of one server, and two versions have other handles: each has its own world, and what one may
  have changed all others forget.
- A rule is reported once, at the first breach; later ones are counted.
- In doubt the engine forgets or is silent (`doubt`, `linger`): a rule that speaks must be right.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import itertools
import math
import typing as t
from collections import deque
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nfsclient.protocol.registry import parts_of, protocols
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import AnyOperation, Step
from nfsclient.xdr import Unread
from nfsjudge.lint.case import Case
from nfsjudge.lint.nfs4_slots import Slots
from nfsjudge.lint.rule import SEVERITIES, Finding, Rule, Severity, all_rules
from nfsjudge.lint.seen import Source, View
from nfsjudge.lint.views import HARMLESS, UNKNOWN, Views, views_for
from nfsjudge.lint.world import World

parts_of("nfsjudge.lint", "{}_views")
_SLOW: t.Final = 0.4
"""Seconds after which a call over UDP may have been sent again, and be executed again at any later time."""

_MOST_LINGERING: t.Final = 10_000
_MOST_ASKED: t.Final = 50_000


class Happening(enum.Enum):
    """What may happen to a target between two exchanges without being seen in one."""

    RESTART = "restart"
    """It was restarted or reconfigured: its earlier replies do not bind it any more."""
    TOUCHED = "touched"
    """Files were changed without the protocol."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that no exchange shows, at a time of the same clock."""

    at: float
    what: Happening
    note: str = ""


class _Unit:
    """One operation of an exchange. An exchange without operations is one unit without a step."""

    __slots__ = ("_views", "actor", "exchange", "is_first", "is_retry", "number", "protocol", "step")

    def __init__(
        self, number: int, exchange: Exchange, step: Step | None, protocol: Views, actor: int, is_first: bool
    ) -> None:
        self.number = number
        self.exchange = exchange
        self.step = step
        self.protocol = protocol
        self.actor = actor
        """Whose changes do not disturb it: those of units with the same number."""
        self.is_first = is_first
        """Whether it begins its call."""
        self.is_retry = False
        """Whether its slot has had a request with this sequence id, which may have had other operations."""
        self._views: list[View] | None = None

    def views(self) -> list[View]:
        """What its result says of objects."""
        if self._views is None:
            self._views = [] if self.step is None else self.protocol.views(self.step)
        return self._views

    def changed(self) -> Sequence[bytes] | None:
        """The handles of what it may have changed; None for anything."""
        if self.step is None:
            return [] if self.protocol is HARMLESS else None
        return self.protocol.changed(self.step)


def _units(group: Sequence[tuple[int, Exchange]]) -> list[list[_Unit]]:
    """The operations of each exchange."""
    actors = itertools.count() if len(group) > 1 else itertools.repeat(0)
    found = []
    for number, exchange in group:
        protocol = views_for(exchange)
        steps: Sequence[Step | None] = [_with_fields(step) for step in exchange.steps] or [None]
        found.append(
            [_Unit(number, exchange, step, protocol, next(actors), not at) for at, step in enumerate(steps)]
        )
    return found


def _with_fields(step: Step) -> Step:
    """The step without its arguments, if the server could not decode them: nobody knows their fields."""
    is_undecoded = isinstance(step.args, Unread) and step.result is not None
    return dataclasses.replace(step, args=None) if is_undecoded else step


class _Touched:
    """What several operations may touch, at the same time."""

    def __init__(self, lingering: Collection[bytes] | None) -> None:
        self._lingering = lingering
        self._anything: set[int] = set()
        """Those that may touch anything."""
        self._handles: dict[bytes, set[int]] = {}
        """Handle -> those that may touch it."""

    def add(self, actor: int, handles: Collection[bytes] | None) -> None:
        """`actor` may touch these; None for anything."""
        if handles is None:
            self._anything.add(actor)
        else:
            for handle in handles:
                self._handles.setdefault(handle, set()).add(actor)

    def by_others(self, actor: int) -> Container[bytes] | None:
        """What all but one may touch; None for anything."""
        if self._lingering is None or self._anything - {actor}:
            return None
        return _ByOthers(self._handles, self._lingering, actor)


class _ByOthers:
    """Handles that others than one actor may touch."""

    def __init__(self, handles: dict[bytes, set[int]], lingering: Collection[bytes], own: int) -> None:
        self._handles, self._lingering, self._own = handles, lingering, own

    def __contains__(self, handle: object) -> bool:
        touching = self._handles.get(t.cast("bytes", handle), ())
        return handle in self._lingering or any(actor != self._own for actor in touching)


class Linter:
    """Judges exchanges as they come; `findings` has what was found, one for each rule."""

    def __init__(
        self,
        *,
        others: bool = False,
        excused: Mapping[int, Severity] | None = None,
        has_gaps: bool = False,
    ) -> None:
        self.others = others
        self._slots = Slots() if has_gaps else None
        """Of exchanges that begin within sessions, or of which some were not seen, as in captures."""
        self.excused = {} if excused is None else excused
        """Exchanges, by `id`, that a check judged, with its verdict. What they say is not believed."""
        self.findings: dict[str, Finding] = {}
        self.worlds: dict[tuple[str, int], World] = {}
        """By address and version of NFS."""
        self._by_peer: dict[tuple[str, int], World] = {}
        """The same by address with port."""
        self._asked: dict[Hashable, None] = {}
        """Calls by XID and by request: one that comes again may be answered from memory, with what was true then."""
        self._lingering: set[bytes] | None = set()
        """Objects that a call which was never answered may still change; None for all."""

    # ------------------------------------------------------------ input

    def happen(self, event: Event) -> None:
        """Take note of what no exchange shows."""
        for world in self.worlds.values():
            if event.what is Happening.RESTART:
                world.reboot()
            else:
                world.removed()
        if event.what is Happening.RESTART:
            self._lingering = set()

    def take(self, group: Sequence[tuple[int, Exchange]]) -> None:
        """Judge exchanges, with their numbers, that overlap in time: one alone, as a rule."""
        calls = _units(group)
        is_shared = len(group) > 1 or self._lingering is None or bool(self._lingering)
        touched = self._touched(calls) if is_shared else None
        again = [self._is_replayed(units) for units in calls]
        # What nobody saw for the first time teaches nothing either, but it is not executed once more.
        doubtful = [self._may_be_retry(units[0]) for units in calls]
        replayed = [was_made or may_be for was_made, may_be in zip(again, doubtful, strict=True)]
        together = list(zip(calls, replayed, strict=True))
        if len(together) > 1:
            for units, is_replayed in together:
                for unit in units:
                    self._judge(unit, touched, is_replayed=is_replayed)
        for (units, is_replayed), is_again in zip(together, again, strict=True):
            for unit in units:
                if len(together) == 1:
                    self._judge(unit, touched, is_replayed=is_replayed)
                self._learn(unit, touched, is_replayed=is_replayed)
            exchange = units[0].exchange
            if is_again or exchange.received_at is None or _may_come_again(exchange):
                self.linger(exchange)

    def take_callback(self, number: int, exchange: Exchange) -> None:
        """Judge a callback, and learn from it: the order of callbacks on a slot is known whatever else goes on."""
        units = _units([(number, exchange)])[0]
        world = self._world(exchange)
        for unit in units:
            self._judge(unit, None, is_replayed=False)
        world.source = Source(number, exchange.credential, client=exchange.local)
        # Of a reply that was not sent, or was lost, nobody knows whether the server has it.
        is_answered = exchange.reply is not None and exchange.received_at is not None
        for unit in units:
            unit.protocol.learn(world, unit.step, [], is_shared=not is_answered)

    def _is_replayed(self, units: Sequence[_Unit]) -> bool:
        """Whether a call with the same XID, or the same request in a session, was made before."""
        exchange, asked = units[0].exchange, self._asked
        is_known = False
        request = units[0].protocol.request(exchange)
        if request is not None and request in asked:
            for unit in units:
                unit.is_retry = True
        for key in ((exchange.xid, exchange.procedure) if exchange.call else None, request):
            if key is not None:
                is_known |= key in asked
                asked[key] = None
        while len(asked) > _MOST_ASKED:
            del asked[next(iter(asked))]
        return is_known

    def _may_be_retry(self, unit: _Unit) -> bool:
        """Whether a request of a session may be one that was made before the first exchange, or was not seen."""
        if self._slots is None:
            return False
        if unit.protocol is UNKNOWN:
            self._slots.forget()
        return self._slots.may_be_retry(unit.exchange)

    def _learn(self, unit: _Unit, touched: _Touched | None, *, is_replayed: bool) -> None:
        world = self._world(unit.exchange)
        if is_replayed:
            world.forget(unit.changed())
            unit.protocol.unsettle(world, unit.step)
        else:
            if touched is not None:
                world.disturbed = touched.by_others(unit.actor)
            seen = unit.exchange
            at = seen.sent_at if seen.received_at is None else seen.received_at
            world.source = Source(unit.number, seen.credential, seen.xid, at, seen.local)
            # What a check failed for is not reported again as a contradiction to later replies.
            is_excused = id(unit.exchange) in self.excused
            views = [] if is_excused else unit.views()
            unit.protocol.learn(world, unit.step, views, is_shared=is_excused or touched is not None)
        world.disturbed = ()
        for other in self.worlds.values():
            if other is not world:  # two addresses may be of one server
                other.forget(unit.changed())
                unit.protocol.unsettle(other, unit.step)

    def doubt(self) -> None:
        """From now on, anything may change anything at any time."""
        self._lingering = None

    def linger(self, exchange: Exchange) -> None:
        """Keep in mind a call that may still be executed; a connection that was lost may mean a restart."""
        if not exchange.call:
            return
        world = self._world(exchange)
        for unit in _units([(0, exchange)])[0]:
            self._linger_over(unit.changed(), world)
        if exchange.received_at is None:
            world.reboot()

    def _linger_over(self, changed: Sequence[bytes] | None, world: World) -> None:
        if changed is None or any(world.first(handle) is None for handle in changed):
            self._lingering = None
        elif self._lingering is not None:
            for handle in changed:
                self._lingering.update(world.handles_like(handle))
            if len(self._lingering) > _MOST_LINGERING:
                self._lingering = None

    # ------------------------------------------------------------ judging

    def _world(self, exchange: Exchange) -> World:
        # A handle of one version means nothing in another.
        version = 0 if exchange.procedure is None else _version_of(exchange.procedure)
        world = self._by_peer.get((exchange.peer, version))
        if world is None:
            name = (exchange.peer.rpartition(":")[0], version)
            world = self.worlds.get(name)
            if world is None:
                world = self.worlds[name] = World(others=self.others)
            self._by_peer[exchange.peer, version] = world
        return world

    def _touched(self, calls: Iterable[Iterable[_Unit]]) -> _Touched:
        """What a group may touch, and calls of before that were never answered."""
        touched = _Touched(self._lingering)
        for unit in itertools.chain.from_iterable(calls):
            world = self._world(unit.exchange)
            changed = unit.changed()
            if changed is None or any(world.first(handle) is None for handle in changed):
                touched.add(unit.actor, None)
            else:
                touched.add(unit.actor, {alias for handle in changed for alias in world.handles_like(handle)})
        return touched

    def _judge(self, unit: _Unit, touched: _Touched | None, *, is_replayed: bool) -> None:
        """Apply the rules to an operation; with the first one of a compound, also to the call as a whole."""
        exchange, step = unit.exchange, unit.step
        if is_replayed:
            world, views = World(others=True), []
        else:
            world, views = self._world(exchange), unit.views()
            if touched is not None:
                world.disturbed = touched.by_others(unit.actor)
        if not exchange.is_compound:
            self._hold(unit, Case(exchange, world, step, views))
            return
        assert exchange.procedure is not None
        if unit.is_first:
            whole = Step(exchange.procedure, exchange.args, exchange.result)
            self._hold(unit, Case(exchange, world, whole, [], is_retry=unit.is_retry))
        if step is not None and (unit.is_first or not unit.is_retry):
            self._hold(unit, Case(exchange, world, step, views), of_all=False)

    def _hold(self, unit: _Unit, case: Case, *, of_all: bool = True) -> None:
        """Ask the rules that may say something of a case; those about whole exchanges too, if wanted."""
        exchange = case.exchange
        operation = exchange.procedure if case.operation is None else case.operation
        excused = self.excused.get(id(exchange)) if self.excused else None
        rules = rules_for(
            operation,
            of_all=of_all,
            is_failed=exchange.error is not None or exchange.procedure is None or not exchange.call,
            is_refused=bool(case.status),
            is_shown=bool(case.views),
        )
        for rule in rules:
            if excused is not None and SEVERITIES.index(rule.severity) <= SEVERITIES.index(excused):
                continue
            breach = rule.look(case)
            if breach is None:
                continue
            known = self.findings.get(rule.name)
            if known is not None:
                known.count += 1
                continue
            step = case.step if case.operation is not None else None
            self.findings[rule.name] = Finding(rule, breach, case.exchange, unit.number, step=step)


@functools.cache
def rules_for(
    operation: AnyOperation | None,
    *,
    of_all: bool = True,
    is_failed: bool = True,
    is_refused: bool = True,
    is_shown: bool = True,
) -> tuple[Rule, ...]:
    """The rules that look at an operation; before them those that look at every exchange, if wanted.

    Those that can say nothing of a case that has not failed, is not refused, or shows no attributes may be left out.
    """
    applies = {"always": True, "failed": is_failed, "refused": is_refused, "shown": is_shown}
    rules = [rule for rule in all_rules() if applies[rule.when]]
    general = [rule for rule in rules if rule.operations is None and of_all]
    own = [rule for rule in rules if rule.operations is not None and operation in rule.operations]
    return (*general, *own)


@functools.cache
def _version_of(procedure: AnyOperation) -> int:
    """Of a callback, that of the program by which clients call the server."""
    number, version = procedure.program, procedure.version
    found = (
        protocol
        for protocol in protocols()
        if any((each.number, each.version) == (number, version) for each in protocol.callbacks)
    )
    protocol = next(found, None)
    return version if protocol is None else protocol.programs[0].version


def _may_come_again(exchange: Exchange) -> bool:
    """Whether a call over UDP was perhaps sent twice, and is executed again when its answer is long here."""
    if exchange.transport != "udp" or exchange.received_at is None:
        return False
    return exchange.received_at - exchange.sent_at >= _SLOW


def in_groups(exchanges: Iterable[tuple[int, Exchange]]) -> Iterator[list[tuple[int, Exchange]]]:
    """Exchanges in order of time, those that overlap together. One without a reply ends when it began."""
    ordered = sorted(exchanges, key=lambda numbered: numbered[1].sent_at)
    group: list[tuple[int, Exchange]] = []
    end = 0.0
    for number, exchange in ordered:
        if group and exchange.sent_at >= end:
            yield group
            group = []
        if not group:
            end = exchange.sent_at
        group.append((number, exchange))
        if exchange.received_at is not None:
            end = max(end, exchange.received_at)
    if group:
        yield group


def lint(
    exchanges: Sequence[Exchange],
    events: Iterable[Event] = (),
    *,
    others: bool = False,
    excused: Mapping[int, Severity] | None = None,
    has_gaps: bool = False,
) -> list[Finding]:
    """What is wrong with exchanges, judged together: one finding for each rule that was broken.

    `events` happened to the target outside the protocol. `others` says that somebody else may use the objects
    unseen: then no exchange is compared with an earlier one, except for what nobody may change.
    `excused` are exchanges, by `id`, that a check judged, with its verdict: the lint reports only what is worse.
    `has_gaps` says that requests of sessions may have been made before, or unseen: then a reply may be from the cache.
    Callbacks change nothing on the server: each is judged by itself, at the time when it came.
    """
    linter = Linter(others=others, excused=excused, has_gaps=has_gaps)
    waiting = sorted(events, key=lambda event: event.at, reverse=True)
    numbered = list(enumerate(exchanges, 1))
    callbacks = deque(
        sorted((each for each in numbered if each[1].is_callback), key=lambda each: each[1].sent_at)
    )

    def go_on_to(moment: float) -> None:
        while waiting and waiting[-1].at <= moment:
            linter.happen(waiting.pop())
        while callbacks and callbacks[0][1].sent_at <= moment:
            linter.take_callback(*callbacks.popleft())

    for group in in_groups(each for each in numbered if not each[1].is_callback):
        go_on_to(group[0][1].sent_at)
        linter.take(group)
        go_on_to(max(exchange.received_at or exchange.sent_at for _, exchange in group))
    go_on_to(math.inf)
    return list(linter.findings.values())
