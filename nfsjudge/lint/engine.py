# SPDX-License-Identifier: MIT
"""The engine: takes exchanges in order of time, holds the rules against each, and learns from it."""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfsclient.protocol import mount, nfs3, portmap
from nfsclient.rpc.exchange import Exchange
from nfsjudge.lint import nfs3_views
from nfsjudge.lint.case import Case, View
from nfsjudge.lint.rule import AnyProcedure, Finding, Rule, all_rules
from nfsjudge.lint.world import Source, World

_SLOW: t.Final = 0.4
"""Seconds after which a call over UDP may have been sent again, and be executed again at any later time."""

_MOST_LINGERING: t.Final = 10_000
_MOST_ASKED: t.Final = 50_000


class Happening(enum.Enum):
    """What may happen to a target between two exchanges that no exchange shows."""

    RESTART = "restart"
    """It was started anew, or something about it was changed: what it said before does not bind it any more."""
    TOUCHED = "touched"
    """Files were changed behind the protocol."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that no exchange shows, at a time of the same clock."""

    at: float
    what: Happening
    note: str = ""


@dataclass(frozen=True, slots=True)
class Protocol:
    """How the world learns from a protocol. Its rules are found by their procedures."""

    views: Callable[[Exchange], list[View]]
    changed: Callable[[Exchange], Sequence[bytes] | None]
    learn: Callable[..., None]


def _nothing(_exchange: Exchange) -> list[View]:
    return []


def _no_change(_exchange: Exchange) -> list[bytes]:
    return []


def _learn_nothing(*_args: object, **_options: object) -> None:
    pass


def _anything(_exchange: Exchange) -> None:
    return None


def _learn_of_change(world: World, _exchange: Exchange, _views: list[View], *, is_shared: bool) -> None:  # noqa: ARG001
    world.removed()


NFS3: t.Final = Protocol(nfs3_views.views_of, nfs3_views.changed, nfs3_views.learn)
_HARMLESS: t.Final = Protocol(_nothing, _no_change, _learn_nothing)
_UNKNOWN: t.Final = Protocol(_nothing, _anything, _learn_of_change)
_PROTOCOLS: t.Final[dict[tuple[int, int], Protocol]] = {(nfs3.PROGRAM, nfs3.VERSION): NFS3}
_HARMLESS_PROGRAMS: t.Final = frozenset({mount.PROGRAM, portmap.PROGRAM, 100_011, 100_021, 100_024})
"""Programs that change no files: MOUNT, portmap and rpcbind, RQUOTA, NLM, NSM."""


class Linter:
    """Judges exchanges as they come; `findings` has what was found, one for each rule."""

    def __init__(self, *, others: bool = False, excused: Collection[int] = ()) -> None:
        self.others = others
        self.excused = excused
        """Exchanges, by `id`, that are learned from but not judged."""
        self.findings: dict[str, Finding] = {}
        self.worlds: dict[str, World] = {}
        self._asked: dict[tuple[int, AnyProcedure | None], None] = {}
        """Calls by XID: one that comes again may be answered from memory, with what was true then."""
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
        is_shared = len(group) > 1 or self._lingering is None or bool(self._lingering)
        for number, exchange in group:
            world = self._world(exchange)
            if is_shared:
                world.disturbed = self._disturbed(exchange, group)
            replayed = self._is_replayed(exchange)
            views = [] if replayed else protocol_of(exchange).views(exchange)
            self._judge(number, Case(exchange, World(others=True) if replayed else world, views))
            if replayed:
                self.linger(exchange)
        for number, exchange in group:
            self._learn(number, exchange, group, is_shared=is_shared)

    def _is_replayed(self, exchange: Exchange) -> bool:
        """Whether a call with the same XID was made before."""
        key = (exchange.xid, exchange.procedure)
        if not exchange.call or key not in self._asked:
            self._asked[key] = None
            if len(self._asked) > _MOST_ASKED:
                del self._asked[next(iter(self._asked))]
            return False
        return True

    def _learn(
        self, number: int, exchange: Exchange, group: Sequence[tuple[int, Exchange]], *, is_shared: bool
    ) -> None:
        world = self._world(exchange)
        if is_shared:
            world.disturbed = self._disturbed(exchange, group)
        protocol = protocol_of(exchange)
        world.source = Source(number, exchange.credential)
        protocol.learn(world, exchange, protocol.views(exchange), is_shared=is_shared)
        world.disturbed = ()
        if len(self.worlds) > 1:
            self._touch_elsewhere(world, protocol.changed(exchange))
        if exchange.reply is None or _may_come_again(exchange):
            self.linger(exchange)

    def linger(self, exchange: Exchange) -> None:
        """Keep in mind a call that may still be executed; a connection that was lost may mean a restart."""
        if not exchange.call:
            return
        changed, world = protocol_of(exchange).changed(exchange), self._world(exchange)
        if changed is None or any(world.first(handle) is None for handle in changed):
            self._lingering = None
        elif self._lingering is not None:
            for handle in changed:
                self._lingering.update(world.handles_like(handle))
            if len(self._lingering) > _MOST_LINGERING:
                self._lingering = None
        if exchange.reply is None:
            world.reboot()

    def _touch_elsewhere(self, own: World, changed: Sequence[bytes] | None) -> None:
        """Two addresses may be of one server."""
        for world in self.worlds.values():
            if world is own:
                continue
            if changed is None:
                world.removed()
            else:
                for handle in changed:
                    world.touch(handle)

    # ------------------------------------------------------------ judging

    def _world(self, exchange: Exchange) -> World:
        name = exchange.peer.rpartition(":")[0]
        world = self.worlds.get(name)
        if world is None:
            world = self.worlds[name] = World(others=self.others)
        return world

    def _disturbed(
        self, exchange: Exchange, group: Sequence[tuple[int, Exchange]]
    ) -> frozenset[bytes] | None:
        """What the others of a group may touch, and calls of before that were never answered."""
        if self._lingering is None:
            return None
        found = set(self._lingering)
        world = self._world(exchange)
        for _, other in group:
            if other is exchange:
                continue
            changed = protocol_of(other).changed(other)
            if changed is None:
                return None
            for handle in changed:
                if world.first(handle) is None:
                    return None
                found.update(world.handles_like(handle))
        return frozenset(found)

    def _judge(self, number: int, case: Case) -> None:
        if id(case.exchange) in self.excused:
            return
        for rule in rules_for(case.exchange.procedure):
            breach = rule.look(case)
            if breach is None:
                continue
            known = self.findings.get(rule.name)
            if known is not None:
                known.count += 1
                continue
            self.findings[rule.name] = Finding(rule, breach, case.exchange, number)


def protocol_of(exchange: Exchange) -> Protocol:
    """How to learn from an exchange. What is not known may have changed anything."""
    procedure = exchange.procedure
    if procedure is None:
        program = int.from_bytes(exchange.call[12:16], "big")
        return _HARMLESS if not exchange.call or program in _HARMLESS_PROGRAMS else _UNKNOWN
    if procedure.program in _HARMLESS_PROGRAMS or procedure.number == 0:
        return _HARMLESS
    return _PROTOCOLS.get((procedure.program, procedure.version), _UNKNOWN)


_by_procedure: dict[AnyProcedure | None, tuple[Rule, ...]] = {}


def rules_for(procedure: AnyProcedure | None) -> tuple[Rule, ...]:
    """The rules that look at exchanges of a procedure."""
    found = _by_procedure.get(procedure)
    if found is None:
        general = [rule for rule in all_rules() if rule.procedures is None]
        own = [rule for rule in all_rules() if rule.procedures is not None and procedure in rule.procedures]
        found = _by_procedure[procedure] = (*general, *own)
    return found


def _may_come_again(exchange: Exchange) -> bool:
    """Whether a call over UDP was perhaps sent twice, and is executed again when its answer is long here."""
    if exchange.transport != "udp" or exchange.received_at is None:
        return False
    return exchange.received_at - exchange.sent_at >= _SLOW


def in_groups(exchanges: Iterable[tuple[int, Exchange]]) -> Iterator[list[tuple[int, Exchange]]]:
    """Exchanges in order of time, those that overlap together. One without a reply ends when it began."""
    ordered = sorted(exchanges, key=lambda one: one[1].sent_at)
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
    excused: Collection[int] = (),
) -> list[Finding]:
    """What is wrong with exchanges, judged together: one finding for each rule that was broken.

    `events` are what happened to the target beside them. `others` says that somebody else may use the objects
    unseen: then no exchange is held against an earlier one, but for what nobody may change.
    `excused` are exchanges, by `id`, that were judged otherwise.
    """
    linter = Linter(others=others, excused=excused)
    waiting = sorted(events, key=lambda event: event.at, reverse=True)
    for group in in_groups(enumerate(exchanges, 1)):
        while waiting and waiting[-1].at <= group[0][1].sent_at:
            linter.happen(waiting.pop())
        linter.take(group)
        end = max(one.received_at or one.sent_at for _, one in group)
        while waiting and waiting[-1].at <= end:
            linter.happen(waiting.pop())
    return list(linter.findings.values())
