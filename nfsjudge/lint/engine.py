# SPDX-License-Identifier: MIT
"""The engine: takes exchanges in order of time, holds the rules against each, and learns from it."""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfsclient.protocol import mount, nfs2, nfs3, portmap
from nfsclient.rpc.exchange import Exchange
from nfsjudge.lint import nfs2_views, nfs3_views
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
NFS2: t.Final = Protocol(nfs2_views.views_of, nfs2_views.changed, nfs2_views.learn)
_PROTOCOLS: t.Final[dict[tuple[int, int], Protocol]] = {
    (nfs2.PROGRAM, nfs2.VERSION): NFS2,
    (nfs3.PROGRAM, nfs3.VERSION): NFS3,
}
_HARMLESS_PROGRAMS: t.Final = frozenset({mount.PROGRAM, portmap.PROGRAM, 100_011, 100_021, 100_024})
"""Programs that change no files: MOUNT, portmap and rpcbind, RQUOTA, NLM, NSM."""


class _Touched:
    """What several calls may touch, at the same time."""

    def __init__(self, lingering: Collection[bytes] | None) -> None:
        self._lingering = lingering
        self._anything: set[int] = set()
        """Exchanges, by `id`, that may touch anything."""
        self._handles: dict[bytes, set[int]] = {}
        """Handle -> the exchanges, by `id`, that may touch it."""

    def add(self, exchange: Exchange, handles: Collection[bytes] | None) -> None:
        """An exchange may touch these; None for anything."""
        if handles is None:
            self._anything.add(id(exchange))
        else:
            for handle in handles:
                self._handles.setdefault(handle, set()).add(id(exchange))

    def by_others(self, exchange: Exchange) -> Container[bytes] | None:
        """What all but one exchange may touch; None for anything."""
        if self._lingering is None or self._anything - {id(exchange)}:
            return None
        return _ByOthers(self._handles, self._lingering, id(exchange))


class _ByOthers:
    """Handles that others than one exchange may touch."""

    def __init__(self, handles: dict[bytes, set[int]], lingering: Collection[bytes], own: int) -> None:
        self._handles, self._lingering, self._own = handles, lingering, own

    def __contains__(self, handle: object) -> bool:
        touching = self._handles.get(t.cast("bytes", handle), ())
        return handle in self._lingering or any(one != self._own for one in touching)


class Linter:
    """Judges exchanges as they come; `findings` has what was found, one for each rule."""

    def __init__(self, *, others: bool = False, excused: Collection[int] = ()) -> None:
        self.others = others
        self.excused = excused
        """Exchanges, by `id`, that are learned from but not judged."""
        self.findings: dict[str, Finding] = {}
        self.worlds: dict[tuple[str, int], World] = {}
        """By address and version of NFS."""
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
        touched = self._touched(group) if is_shared else None
        replayed = [self._is_replayed(exchange) for _, exchange in group]
        for (number, exchange), is_replayed in zip(group, replayed, strict=True):
            if is_replayed:
                self._judge(number, Case(exchange, World(others=True), []))
                continue
            world = self._world(exchange)
            if touched is not None:
                world.disturbed = touched.by_others(exchange)
            self._judge(number, Case(exchange, world, protocol_of(exchange).views(exchange)))
        for (number, exchange), is_replayed in zip(group, replayed, strict=True):
            self._learn(number, exchange, touched, is_replayed=is_replayed)

    def _is_replayed(self, exchange: Exchange) -> bool:
        """Whether a call with the same XID was made before."""
        key = (exchange.xid, exchange.procedure)
        if not exchange.call or key not in self._asked:
            self._asked[key] = None
            if len(self._asked) > _MOST_ASKED:
                del self._asked[next(iter(self._asked))]
            return False
        return True

    def _learn(self, number: int, exchange: Exchange, touched: _Touched | None, *, is_replayed: bool) -> None:
        world, protocol = self._world(exchange), protocol_of(exchange)
        changed = protocol.changed(exchange)
        if is_replayed:
            world.forget(changed)
        else:
            if touched is not None:
                world.disturbed = touched.by_others(exchange)
            world.source = Source(number, exchange.credential)
            protocol.learn(world, exchange, protocol.views(exchange), is_shared=touched is not None)
        world.disturbed = ()
        for other in self.worlds.values():
            if other is not world:  # two addresses may be of one server
                other.forget(changed)
        if is_replayed or exchange.received_at is None or _may_come_again(exchange):
            self.linger(exchange)

    def doubt(self) -> None:
        """From now on, anything may change anything at any time."""
        self._lingering = None

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
        if exchange.received_at is None:
            world.reboot()

    # ------------------------------------------------------------ judging

    def _world(self, exchange: Exchange) -> World:
        # A handle of one version means nothing in another.
        version = exchange.procedure.version if exchange.procedure is not None else 0
        name = (exchange.peer.rpartition(":")[0], version)
        world = self.worlds.get(name)
        if world is None:
            world = self.worlds[name] = World(others=self.others)
        return world

    def _touched(self, group: Sequence[tuple[int, Exchange]]) -> _Touched:
        """What a group may touch, and calls of before that were never answered."""
        touched = _Touched(self._lingering)
        for _, exchange in group:
            world = self._world(exchange)
            changed = protocol_of(exchange).changed(exchange)
            if changed is None or any(world.first(handle) is None for handle in changed):
                touched.add(exchange, None)
            else:
                touched.add(exchange, {one for handle in changed for one in world.handles_like(handle)})
        return touched

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
