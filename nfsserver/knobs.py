# SPDX-License-Identifier: MIT
"""Knobs: choices that the RFCs leave to a server, which can be changed while it runs.

`nfsserver.settings` declares them, once; names, parsing, bounds and lists of them are derived from it.
"""

from __future__ import annotations

import dataclasses
import random
import types
import typing as t
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from nfsclient.similar import similar_text
from nfsserver.settings import Settings, Value

_NONE = "none"
_BOOLS = {
    "yes": True,
    "on": True,
    "true": True,
    "1": True,
    "no": False,
    "off": False,
    "false": False,
    "0": False,
}


class BadKnob(ValueError):
    """An unknown knob, or a value that it cannot have; the text lists the valid ones."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One knob, as `Settings` declares it."""

    name: str
    kind: type[int | float | bool | str]
    may_be_none: bool
    default: Value
    meaning: str
    cites: tuple[str, ...]
    """The clauses that permit it."""
    draws: tuple[Value, ...]
    """What `draw` chooses from; none is the default."""
    rarely: bool
    """With this knob the server refuses so much that few checks can judge it: `draw` rarely sets it."""
    nonstrict: tuple[str, ...]
    """Clauses whose SHOULD the server then does not follow: ``CITATION: WORDS``, the words being from the gist of the
    requirement. Its checks may be NONSTRICT."""
    least: float | None
    most: float | None
    """Bounds of numbers."""
    choices: tuple[str, ...]
    """The words that a text may be; empty: it is a glob."""
    limit: str | None
    """The field of `Limits` that it stands for."""
    is_of_rpc: bool
    """It matters to calls of any program, not only to those about files."""
    of_nfs4: bool
    """It matters to NFSv4 only."""
    of_snfs: bool
    """It matters only where clients of Spritely NFS have anything."""

    @property
    def takes(self) -> str:
        """What it may be set to, in words."""
        bounds = f" of at least {self.least:g}" if self.least is not None else ""
        if self.most is not None:
            bounds += f" and at most {int(self.most) if self.kind is int else self.most}"
        kinds = {
            int: f"a whole number{bounds}",
            float: f"a number{bounds}",
            bool: "yes or no",
            str: self._texts,
        }
        return kinds[self.kind] + (", or none" if self.may_be_none else "")

    def excuses(self, citation: str, gist: str) -> bool:
        """Whether a server with this knob need not follow a requirement of level SHOULD."""
        clauses = (clause.partition(": ") for clause in self.nonstrict)
        return any(citation == where and words in gist for where, _, words in clauses)

    @property
    def _texts(self) -> str:
        return f"one of {', '.join(self.choices)}" if self.choices else "a glob"

    @property
    def usual(self) -> str:
        """The default as one would type it."""
        return self.spell(self.default)

    @staticmethod
    def spell(value: Value) -> str:
        """A value as one would type it."""
        if value is None:
            return _NONE
        return ("yes" if value else "no") if isinstance(value, bool) else str(value)

    def parse(self, text: str) -> Value:
        """The value that `text` means. Raises `BadKnob`."""
        word = text.strip()
        if self.may_be_none and word.lower() == _NONE:
            return None
        try:
            value: Value = _BOOLS[word.lower()] if self.kind is bool else self.kind(word)
        except (ValueError, KeyError):
            raise self._bad(text) from None
        return self.check(value)

    def check(self, value: object) -> Value:
        """The value, if the knob can have it. Raises `BadKnob`."""
        if value is None and self.may_be_none:
            return None
        if self.kind is float and type(value) is int:
            value = float(value)
        if type(value) is not self.kind:
            raise self._bad(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            low = self.least is not None and not value >= self.least
            high = self.most is not None and not value <= self.most
            if low or high or value == float("inf"):
                raise self._bad(value)
        if self.choices and value not in self.choices:
            raise self._bad(value)
        return t.cast("Value", value)

    def _bad(self, value: object) -> BadKnob:
        return BadKnob(f"{self.name} is {self.takes}, not {value!r}")


def _knobs() -> Iterator[Knob]:
    hints = t.get_type_hints(Settings)
    for field in dataclasses.fields(Settings):
        hint = hints[field.name]
        parts = t.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        kind = next(part for part in parts if part is not type(None))
        yield Knob(field.name, kind, len(parts) > 1, t.cast("Value", field.default), **field.metadata)


KNOBS: t.Final[Mapping[str, Knob]] = {knob.name: knob for knob in _knobs()}
"""Every knob by name, in the order in which they are declared."""


_TURNED: t.Final = 0.4
_RARELY_TURNED: t.Final = 0.04
"""The share of draws in which a knob differs from its default. With every knob turned, one would hide another."""


_NEWER: t.Final = (
    "asks_holders",
    "delegations_kept",
    "lock_notices",
    "slots_kept",
    "optional_attributes",
    "mandatory_locks",
    "snfs_versions",
    "snfs_version_step",
    "snfs_entries",
    "snfs_callback_timeout",
    "snfs_honors_lost",
    "snfs_grace",
    "snfs_recovery",
    "snfs_nfs_interval",
    "snfs_version_growth",
    "snfs_calls_opener",
    "snfs_needs_open",
    "snfs_dirty_kept",
    "snfs_waits_after_error",
)
"""Knobs that are drawn after all others, so that a seed still draws what it drew before there were these."""


def _in_order_of_drawing() -> list[Knob]:
    older = [name for name in KNOBS if name not in {"delegations", "conflicts", *_NEWER}]
    at = older.index("one_principal")  # before it they were declared, when seeds got their meaning
    return [KNOBS[name] for name in (*older[:at], "delegations", "conflicts", *older[at:], *_NEWER)]


def draw(seed: int) -> dict[str, Value]:
    """Values for a random part of the knobs, none of them its default: a right server that is unlike others."""
    chance = random.Random(seed)
    turned = {
        knob.name: chance.choice(knob.draws)
        for knob in _in_order_of_drawing()
        if chance.random() < (_RARELY_TURNED if knob.rarely else _TURNED)
    }
    return turned or {"withhold_pre_op": True}


def find_knob(name: str) -> Knob:
    """The knob of this name. Raises `BadKnob`."""
    try:
        return KNOBS[name]
    except KeyError:
        near = similar_text(name, KNOBS)
        raise BadKnob(
            f"no knob is named {name!r}{near}; `nfsproof serve --list-knobs` shows all names"
        ) from None


def parse_setting(text: str) -> tuple[str, Value]:
    """Name and value of ``NAME=VALUE``. Raises `BadKnob`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise BadKnob(f"a knob is set by NAME=VALUE, not {text!r}")
    knob = find_knob(name.strip())
    return knob.name, knob.parse(value)


class Knobs:
    """The knobs of one server. `now` holds the values; every change calls `on_change`.

    `memory` belongs to whatever obeys the knobs (what was answered already, random numbers); it is empty again
    after every change.
    """

    def __init__(self, usual: Mapping[str, Value], on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._usual = self._with(Settings(), usual)
        self.now: Settings = self._usual
        self.memory: dict[t.Hashable, t.Any] = {}

    @staticmethod
    def _with(settings: Settings, values: Mapping[str, Value]) -> Settings:
        checked = {name: find_knob(name).check(value) for name, value in values.items()}
        return dataclasses.replace(settings, **t.cast("t.Any", checked))

    def set(self, name: str, value: Value) -> None:
        """Set one knob. Raises `BadKnob`."""
        self.update(**{name: value})

    def update(self, **values: Value) -> None:
        """Set several knobs at once, or none if one of them is wrong. Raises `BadKnob`."""
        self._become(self._with(self.now, values))

    def reset(self) -> None:
        """Reset all knobs to the values that the server was made with."""
        self._become(self._usual)

    @contextmanager
    def released(self) -> Iterator[None]:
        """Inside of it, no call gets JUKEBOX: for middleware that makes a call which the server has delayed."""
        before = self.now
        self.now = dataclasses.replace(
            before,
            jukebox_calls=0,
            jukebox_seconds=0.0,
            jukebox_tries=0,
            jukebox_tries_random=None,
            delegated_names="",
            offline_names="",
        )
        try:
            yield
        finally:
            self.now = before

    def _become(self, settings: Settings) -> None:
        self.memory.clear()
        self.now = settings
        self._on_change()

    def limits(self) -> dict[str, t.Any]:
        """The fields of `Limits` that the knobs decide now."""
        values = {
            knob.limit: getattr(self.now, knob.name) for knob in KNOBS.values() if knob.limit is not None
        }
        chosen = {name: value for name, value in values.items() if value is not None}
        if self.now.time_granularity is not None:
            chosen["time_granularity"] = round(self.now.time_granularity * 1e9)
        chosen["directory_times_lag"] = round(self.now.directory_times_lag * 1e9)
        return chosen
