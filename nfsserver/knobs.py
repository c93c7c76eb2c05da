# SPDX-License-Identifier: MIT
"""Knobs: choices that the RFCs leave to a server, which can be changed while it runs.

Every value leaves the server correct. That distinguishes a knob from a mutant. `Settings` declares
them, once; names, parsing, bounds and lists of them are derived from it.
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

Value: t.TypeAlias = int | float | bool | str | None
"""A value of a knob. None is the default of some."""

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


def _knob(
    default: Value,
    meaning: str,
    *cites: str,
    draws: tuple[Value, ...],
    rarely: bool = False,
    least: float | None = None,
    most: float | None = None,
    limit: str | None = None,
) -> t.Any:
    """One knob. `limit` names the field of `Limits` that it stands for; for `draws` and `rarely` see `draw`."""
    metadata = {
        "meaning": meaning,
        "cites": cites,
        "draws": draws,
        "rarely": rarely,
        "least": least,
        "most": most,
        "limit": limit,
    }
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Settings:
    """All knobs. Sizes are in bytes, globs are over names (the last component, the root's being ``/``)."""

    write_accepts: int | None = _knob(
        None,
        "WRITE accepts at most this many bytes",
        "RFC 1813 section 3.3.7",
        least=1,
        draws=(1000, 100, 333, 4096),
    )
    write_accepts_random: int | None = _knob(
        None,
        "WRITE accepts a random share, at least 1 byte; the value is the seed",
        "RFC 1813 section 3.3.7",
        least=0,
        draws=(1, 7, 23),
    )
    read_returns: int | None = _knob(
        None,
        "READ returns at most this many bytes",
        "RFC 1813 section 3.3.6",
        "RFC 1094 section 2.2.7",
        least=1,
        draws=(37, 100, 4000),
    )
    jukebox_calls: int = _knob(
        0,
        "the number of first calls about each file that are answered with JUKEBOX",
        "RFC 1813 section 2.6",
        least=0,
        draws=(1, 2, 3),
    )
    jukebox_seconds: float = _knob(
        0.0,
        "seconds after the first call about a file in which its calls are answered with JUKEBOX",
        "RFC 1813 section 2.6",
        least=0,
        draws=(0.001, 0.01),
    )
    jukebox_names: str = _knob(
        "*", "glob of the files whose calls answer JUKEBOX", "RFC 1813 section 2.6", draws=("f*", "?")
    )
    delegated_names: str = _knob(
        "",
        "glob of files on which an NFSv4 client holds a write delegation: until the knob is reset, calls that "
        "would need its recall are answered with JUKEBOX",
        "RFC 5661 section 10.2",
        "RFC 1813 section 2.6",
        draws=("one",),
        rarely=True,
    )
    withhold_pre_op: bool = _knob(
        False, "replies omit the attributes from before the operation", "RFC 1813 section 2.5", draws=(True,)
    )
    withhold_post_op: bool = _knob(
        False,
        "replies other than of GETATTR omit the attributes from after the operation",
        "RFC 1813 section 2.5",
        draws=(True,),
    )
    withhold_handles: bool = _knob(
        False,
        "replies other than of LOOKUP and MNT omit handles",
        "RFC 1813 section 2.5",
        "RFC 1813 section 3.3.8",
        draws=(True,),
    )
    readdir_page: int | None = _knob(
        None,
        "READDIR and READDIRPLUS return at most this many entries",
        "RFC 1813 section 3.3.16",
        "RFC 1094 section 2.2.17",
        least=1,
        draws=(1, 2, 3, 50),
    )
    time_granularity: float | None = _knob(
        None,
        "seconds between two times that the server can distinguish",
        "RFC 1813 section 3.3.19",
        least=1e-9,
        most=86400,
        draws=(1e-6, 0.01, 1.0, 2.0),
    )
    hard_links: bool = _knob(
        True,
        "the server supports hard links",
        "RFC 1813 section 3.3.15",
        "RFC 1813 section 3.3.19",
        limit="hard_links",
        draws=(False,),
        rarely=True,
    )
    symlinks: bool = _knob(
        True,
        "the server supports symbolic links",
        "RFC 1813 section 3.3.10",
        "RFC 1813 section 3.3.19",
        limit="symlinks",
        draws=(False,),
        rarely=True,
    )
    max_file_size: int | None = _knob(
        None,
        "the largest file",
        "RFC 1813 section 3.3.19",
        least=1,
        most=2**63 - 1,
        limit="max_file_size",
        draws=(2**32 - 1, 2**31 - 1, 1_000_000),
    )
    name_max: int | None = _knob(
        None,
        "the longest name",
        "RFC 1813 section 3.3.20",
        least=1,
        most=255,
        limit="name_max",
        draws=(64, 128, 200),
    )
    path_max: int | None = _knob(
        None,
        "the longest text of a symbolic link",
        "RFC 1813 section 3.3.10",
        least=1,
        most=65536,
        limit="path_max",
        draws=(255, 1023, 65536),
    )
    free_bytes: int | None = _knob(
        None,
        "free space at the moment it is set, as if others used the rest",
        "RFC 1813 section 2.6",
        least=0,
        draws=(0, 20_000),
        rarely=True,
    )
    free_files: int | None = _knob(
        None,
        "number of objects that can still be created",
        "RFC 1813 section 2.6",
        least=0,
        draws=(0, 3),
        rarely=True,
    )
    quota_bytes: int | None = _knob(
        None,
        "space for the data of one user's files, counted in pages",
        "RFC 1813 section 2.6",
        least=0,
        limit="quota",
        draws=(0, 20_000),
        rarely=True,
    )
    read_only: bool = _knob(
        False, "the exports are read-only", "RFC 1813 section 2.6", draws=(True,), rarely=True
    )
    root_squash: bool = _knob(False, "root is treated as nobody", "RFC 1813 section 4.4", draws=(True,))
    all_squash: bool = _knob(
        False, "every user is treated as nobody", "RFC 1813 section 4.4", draws=(True,), rarely=True
    )
    read_only_names: str = _knob(
        "",
        "glob of files whose data and attributes nobody may change",
        "RFC 1813 section 4.4",
        limit="read_only_names",
        draws=("f", "*"),
        rarely=True,
    )
    offline_names: str = _knob(
        "",
        "glob of files whose data is fetched from slow storage first: READ, WRITE, COMMIT and a size in SETATTR are "
        "answered with JUKEBOX once (NFSv2 waits for it)",
        "RFC 1813 section 2.6",
        draws=("*", "f*"),
    )
    rtmax: int | None = _knob(
        None,
        "the largest READ, as in FSINFO",
        "RFC 1813 section 3.3.19",
        least=1,
        most=2**32 - 1,
        limit="read_max",
        draws=(64, 512, 4096, 65536),
    )
    wtmax: int | None = _knob(
        None,
        "the largest WRITE, as in FSINFO",
        "RFC 1813 section 3.3.19",
        least=1,
        most=2**32 - 1,
        limit="write_max",
        draws=(64, 512, 4096, 65536),
    )
    dtmax: int | None = _knob(
        None,
        "the largest page of a directory listing",
        "RFC 1813 section 3.3.19",
        least=512,
        most=2**32 - 1,
        limit="directory_max",
        draws=(512, 4096),
    )
    case_insensitive: bool = _knob(
        False,
        "names that differ only in the case of ASCII letters are the same",
        "RFC 1813 section 3.3.20",
        limit="case_insensitive",
        draws=(True,),
    )
    stale_on_remove: bool = _knob(
        True,
        "handles of a file become stale when its last name is removed, also when it is removed without NFS; "
        "with `no` they work until the server restarts",
        "RFC 1813 section 3.3.12",
        limit="stale_on_remove",
        draws=(False,),
    )


@dataclass(frozen=True, slots=True)
class Knob:
    """One knob, as `Settings` declares it. `least` and `most` bound numbers.

    `draws` has values that `draw` chooses from, none of them the default. With a knob that is `rarely` turned, the
    server refuses so much that few checks can judge it.
    """

    name: str
    kind: type[int | float | bool | str]
    may_be_none: bool
    default: Value
    meaning: str
    cites: tuple[str, ...]
    draws: tuple[Value, ...]
    rarely: bool
    least: float | None
    most: float | None
    limit: str | None

    @property
    def takes(self) -> str:
        """What it may be set to, in words."""
        bounds = f" of at least {self.least:g}" if self.least is not None else ""
        if self.most is not None:
            bounds += f" and at most {int(self.most) if self.kind is int else self.most}"
        kinds = {int: f"a whole number{bounds}", float: f"a number{bounds}", bool: "yes or no", str: "a glob"}
        return kinds[self.kind] + (", or none" if self.may_be_none else "")

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


def draw(seed: int) -> dict[str, Value]:
    """Values for a random part of the knobs, none of them its default: a right server that is unlike others."""
    chance = random.Random(seed)
    turned = {
        knob.name: chance.choice(knob.draws)
        for knob in KNOBS.values()
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
            before, jukebox_calls=0, jukebox_seconds=0.0, delegated_names="", offline_names=""
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
        return chosen
