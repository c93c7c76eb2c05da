# SPDX-License-Identifier: MIT
"""How two contents, listings or sequences differ: what is compared, what was expected, what was seen."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Iterable, Sequence

from nfsjudge.showing import by_bytes, show, show_data, show_names

Name: t.TypeAlias = bytes | str

MOST_NAMES = 6
"""Lists up to this length are shown in full, longer ones only where they deviate."""
_SHORT = 16
"""Bytes, or items of a list, that are shown whole."""


class Difference(t.NamedTuple):
    """The three parts of a failure text, and the place or the name in which the difference shows."""

    what: str
    expected: str
    observed: str
    place: int = 0
    name: bytes | None = None
    seen: str = ""
    """What is wrong in a word, for records: ``missing``, ``unexpected``, ``repeated`` of names; ``length``."""


def difference_of_values(seen: object, expected: object, what: str) -> Difference | None:
    """Where two long values differ; None where they are short enough to be shown whole."""
    match seen, expected:
        case (bytes() | bytearray() | memoryview(), bytes() | bytearray() | memoryview()):
            data, other = bytes(seen), bytes(expected)
            return difference_of_data(data, other, what) if max(len(data), len(other)) > _SHORT else None
        case (list() | tuple(), list() | tuple()) if max(len(seen), len(expected)) > MOST_NAMES:
            if all(isinstance(name, bytes) for name in (*seen, *expected)):
                found = difference_of_names(seen, expected, what)
                if found is not None:
                    return found
            return _difference_of_items(seen, expected, what)
    return None


def _difference_of_items(seen: Sequence[object], expected: Sequence[object], what: str) -> Difference | None:
    """The first item that differs."""
    pairs = enumerate(zip(seen, expected, strict=False))
    at = next((place for place, (value, other) in pairs if value != other), None)
    if at is None:
        return Difference(f"{what}, number", str(len(expected)), str(len(seen)))
    return Difference(f"{what}, item {at}", show(expected[at]), f"{show(seen[at])} (of {len(seen)})")


def difference_of_data(
    seen: bytes, expected: bytes, what: str = "data", *, at: int = 0, of: str = ""
) -> Difference | None:
    """The first difference of two contents. `at` is the offset of both, `of` what they are: "file"."""
    if seen == expected:
        return None
    shorter = min(len(seen), len(expected))
    place = next((offset for offset in range(shorter) if seen[offset] != expected[offset]), shorter)
    if place == shorter:
        return _difference_of_ends(seen, expected, what, at + place)
    end = next((offset for offset in range(place, shorter) if seen[offset] == expected[offset]), shorter)
    differing = sum(byte != other for byte, other in zip(seen, expected, strict=False))
    note = f"{of} of {len(seen)} bytes" if of else f"{len(seen)} bytes in all"
    note += f", not {len(expected)}" if len(seen) != len(expected) else ""
    note += f"; {differing} differ" if differing > 1 else ""
    return Difference(
        f"{what} at offset {at + place}",
        show_data(expected[place:end]),
        f"{show_data(seen[place:end])} ({note})",
        at + place,
    )


def _difference_of_ends(seen: bytes, expected: bytes, what: str, place: int) -> Difference:
    """One only is longer."""
    surplus = seen[len(expected) :]
    got = f"{len(seen)}, ending in {show_data(surplus)}" if surplus else str(len(seen))
    note = f" (the first {min(len(seen), len(expected))} are as expected)" if seen and expected else ""
    return Difference(f"{what}, length", f"{len(expected)} bytes", got + note, place, seen="length")


def difference_of_names(
    seen: Iterable[Name], expected: Iterable[Name], what: str = "names", *, others: bool = False
) -> Difference | None:
    """Names that are missing, unexpected or repeated, in any order; with `others` only those that are missing."""
    found: Counter[Name] = Counter(seen)
    wanted: Counter[Name] = Counter(iter(expected))
    missing = by_bytes(wanted.keys() - found.keys() if others else (wanted - found).elements())
    surplus = [] if others else by_bytes((found - wanted).elements())
    if not missing and not surplus:
        return None
    named = {
        "missing": [] if not found or _are_shown(wanted, missing) else missing,
        "unexpected": [] if not wanted or _are_shown(found, surplus) else {*surplus} - wanted.keys(),
        "repeated": {name for name in surplus if found[name] > 1},
    }
    notes = "; ".join(f"{word} {show_names(names, MOST_NAMES)}" for word, names in named.items() if names)
    got = name_or_count(found) if wanted else show_names(found.elements())
    return Difference(
        what,
        name_or_count(wanted) + (" among them" if others else ""),
        f"{got} ({notes})" if notes else got,
        name=next((name for name in surplus if isinstance(name, bytes)), None),
        seen=" and ".join(
            word
            for word, is_so in (
                ("missing", bool(missing)),
                ("unexpected", bool({*surplus} - wanted.keys())),
                ("repeated", not wanted.keys().isdisjoint(surplus)),
            )
            if is_so
        ),
    )


def difference_of_times(
    seen: Iterable[Name], wanted: Iterable[Name] | None, what: str = "names"
) -> Difference | None:
    """Names of `wanted` that were not seen exactly once; without `wanted` those that were seen twice."""
    found: Counter[Name] = Counter(seen)
    owed = set(found) if wanted is None else set(wanted)
    missing = [name for name in owed if found[name] == 0]
    again = by_bytes(name for name in owed if found[name] > 1)
    if not missing and not again:
        return None
    got = [] if wanted is None else [f"{len(owed) - len(missing) - len(again)} once"]
    got += [f"{show(name)} {found[name]} times" for name in again[:MOST_NAMES]]
    got += [f"... ({len(again)} names more than once)"] if len(again) > MOST_NAMES else []
    got += [f"missing {show_names(missing, MOST_NAMES)}"] if missing else []
    return Difference(
        what,
        "each at most once" if wanted is None else f"each of {name_or_count(Counter(owed))} exactly once",
        "; ".join(got),
        name=next((name for name in again if isinstance(name, bytes)), None),
        seen=" and ".join(word for word, some in (("missing", missing), ("repeated", again)) if some),
    )


def _are_shown(names: Counter[Name], some: Sequence[Name]) -> bool:
    """Whether `some` are all of the names, which are few enough to be listed: to name them again would add nothing."""
    return len(some) == names.total() <= MOST_NAMES


def name_or_count(names: Counter[Name]) -> str:
    """The names where they are few, and how many they are otherwise."""
    every = [*names.elements()]
    return show_names(every) if len(every) <= MOST_NAMES else f"{len(every)} names"
