# SPDX-License-Identifier: MIT
"""A fault plan: rules, each with a selector and actions, and the link that all messages pass. Data only.

Every rule counts the messages that its selector describes. The first rule of the plan whose turn it is acts on the
message; later rules count it and do nothing. Actions of one rule apply in their order.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from nfsclient.protocol.registry import is_of_callbacks
from nfsfaults.actions import READING, Action, Need, name_of
from nfsfaults.messages import Kind, Message, Toward
from nfsfaults.names import BadPlan, Names, names_of

Predicate: t.TypeAlias = Callable[[Message], bool]


@dataclass(frozen=True)
class Selector:
    """Which messages a rule is about, and at which of them it acts.

    Without `nth`, `every` and `probability` it acts at each one. They exclude each other.
    """

    on: Kind = "call"
    program: str | int | None = None
    """A name of `registry.families` or a number; None: any."""
    version: int | None = None
    operations: tuple[str, ...] = ()
    """Procedures ("WRITE") and operations of a compound ("SEQUENCE"); empty: any."""
    where: Predicate | None = None
    """What else must be true of the message. It counts as not matching if the predicate raises `AttributeError`,
    `IndexError` or `TypeError`: the fields that it reads are not there."""
    nth: int | None = None
    """Only at the n-th, counted from 1."""
    every: int | None = None
    """At the n-th, the 2n-th, and so on."""
    probability: float | None = None
    """By the random numbers of the plan's seed."""
    count: int | None = None
    """How often it acts at most."""
    reads_packets: bool = False
    """Whether `where` looks at fields of packets (`Message.packet`)."""

    def __post_init__(self) -> None:
        _ = self.names
        if sum(choice is not None for choice in (self.nth, self.every, self.probability)) > 1:
            raise BadPlan("nth: nth, every and probability exclude each other")
        for name in ("nth", "every", "count"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or value < 1):
                raise BadPlan(f"{name}: expected a number, 1 or more, seen {value!r}")
        if self.probability is not None and not 0 < self.probability <= 1:
            raise BadPlan(f"probability: expected more than 0 and at most 1, seen {self.probability!r}")

    @cached_property
    def names(self) -> Names:
        """What the words mean."""
        return names_of(self.program, self.version, self.operations)

    @property
    def _wants_callbacks(self) -> bool:
        return isinstance(self.program, str) and is_of_callbacks(self.program)

    def could_be(self, kind: Kind, program: int, version: int) -> bool:
        """Whether a message with such a heading may be meant; a reply to an unknown call (0) may be."""
        if kind != self.on:
            return False
        if program == 0:
            return self.program is None and self.version is None and not self.operations
        if self.names.programs is not None and program not in self.names.programs:
            return self._wants_callbacks  # clients choose the number
        return self.version is None or version == self.version

    def _is_callback(self, message: Message) -> bool:
        return message.procedure is not None and message.procedure.program in (self.names.programs or ())

    def describes(self, message: Message) -> bool:
        """Whether a message is one of these."""
        heading = message.heading
        if not self.could_be(heading.kind, heading.program, heading.version):
            return False
        operations = self.names.operations
        if operations is not None and operations.isdisjoint(message.operations):
            return False
        if self._wants_callbacks and not self._is_callback(message):
            return False
        if self.where is None:
            return True
        try:
            return bool(self.where(message))
        except (AttributeError, IndexError, TypeError):
            return False


@dataclass(frozen=True)
class Rule:
    """A selector and what is done to the messages at which it acts."""

    select: Selector
    actions: tuple[Action, ...]
    name: str = ""
    """For people; empty: what it does."""
    must_fire: bool = True
    """Whether a check is VOID if the rule never acted."""

    def __post_init__(self) -> None:
        if not self.actions:
            raise BadPlan("do: a rule without an action")

    @cached_property
    def label(self) -> str:
        """The name, or what it does in one line."""
        if self.name:
            return self.name
        select = self.select
        turn = next(
            (f"{word} {value}" for word, value in (("nth", select.nth), ("every", select.every)) if value),
            "each",
        )
        what = " or ".join(select.operations) or str(select.program or "any")
        return f"{' and '.join(map(name_of, self.actions))} on {select.on} of {what} ({turn})"


@dataclass(frozen=True)
class Link:
    """The way to one side, in the terms of the LogGP model. Seconds; `loss` is a probability.

    A message takes ``latency + overhead + gap_per_byte * size``; the next one begins at least `gap` after it, and after
    its bytes and its overhead. Messages stay in order.
    If the link is `shared`, that is so for messages of all connections together.

    The last three are about packets.
    """

    toward: Toward
    latency: float = 0.0
    overhead: float = 0.0
    gap: float = 0.0
    gap_per_byte: float = 0.0
    shared: bool = False
    """Whether gaps and overheads are between messages of all connections, as on one wire or in one processor."""
    loss: float = 0.0
    rate: int | None = None
    """Bytes of packets in a second, by a token bucket: a bandwidth."""
    burst: int = 32_000
    """Bytes that may pass at once."""
    lost_syns: int = 0
    """How many SYN segments of each connection are lost, of those that go this way."""

    @property
    def needs_packets(self) -> bool:
        """Whether it is about packets, too."""
        return self.rate is not None or self.lost_syns > 0

    def __post_init__(self) -> None:
        for name, least in (("rate", 1), ("burst", 1600), ("lost_syns", 0)):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise BadPlan(f"{name}: expected a whole number, {least} or more, seen {value!r}")
        if not isinstance(self.shared, bool):
            raise BadPlan(f"shared: expected true or false, seen {self.shared!r}")
        for name in ("latency", "overhead", "gap", "gap_per_byte"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise BadPlan(f"{name}: expected seconds, 0 or more, seen {getattr(self, name)!r}")
        if not 0 <= self.loss < 1:
            raise BadPlan(f"loss: expected a probability, 0 or more and less than 1, seen {self.loss!r}")


@dataclass(frozen=True)
class Plan:
    """Rules in their order, at most one link for each direction, and the seed of all that is random."""

    rules: tuple[Rule, ...] = ()
    links: tuple[Link, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        towards = [link.toward for link in self.links]
        if len(set(towards)) < len(towards):
            raise BadPlan("link: more than one link for one direction")

    @cached_property
    def needs(self) -> frozenset[Need]:
        """What an executor must be able to do for it."""
        of_rules = {action.need for rule in self.rules for action in rule.actions}
        of_links: set[Need] = {"packets"} if any(link.needs_packets for link in self.links) else set()
        of_fields: set[Need] = {"packets"} if any(rule.select.reads_packets for rule in self.rules) else set()
        return frozenset(of_rules | of_links | of_fields)

    @cached_property
    def reads_packets(self) -> bool:
        """Whether a rule looks into packets, be it to choose or to change them."""
        return any(
            rule.select.reads_packets or any(isinstance(action, READING) for action in rule.actions)
            for rule in self.rules
        )

    @cached_property
    def needs_scapy(self) -> bool:
        """Whether packets are made or read for it."""
        return "packets" in self.needs or self.reads_packets

    @property
    def about_packets(self) -> str:
        """The first action or link that needs packets, in words; empty if nothing does."""
        actions = [action for rule in self.rules for action in rule.actions if action.need == "packets"]
        if actions:
            return name_of(actions[0])
        if any(rule.select.reads_packets for rule in self.rules):
            return "a field of packets"
        return next((f"the link toward the {link.toward}" for link in self.links if link.needs_packets), "")


@dataclass(slots=True, eq=False)
class Firing:
    """One time that a rule acted."""

    at: float
    rule: Rule
    message: str
    """What the message was (`Message.label`)."""
    before: bytes
    after: bytes | None = None
    """The bytes that went out instead; None if they are the same, or none went."""
    toward: Toward = "server"
    """Where the message was going."""
    notes: list[str] = field(default_factory=list)
