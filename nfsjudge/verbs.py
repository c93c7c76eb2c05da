# SPDX-License-Identifier: MIT
"""Expectations in the words of file systems: contents, names, attributes. They read and mark better than bare values.

expect_data(scratch.read(file), wanted)          # data at offset 4: expected 05, got 00 (file of 5 bytes)
expect_names(scratch.names(), [b"a", b"b"])      # names: expected 'a', 'b', got 'a' (missing 'b')
expect_once(listing.names, made)                 # names: expected each of 300 once, got 'f7' twice
expect_unchanged(before, after, ("size", "mtime"))   # mtime: expected 1.0, got 2.0
expect_attributes(seen, size=4, uid=0)           # size: expected 4, got 5
expect_all(addresses, is_universal, "addresses in DUMP", "universal addresses")
expect_that(page.eof or later, "eof or further entries", "neither")

Each finds the reply that shows the deviation among the latest ones, and marks it in the transcript. Where the check has
that reply, `reply` and `field` say it.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from nfsclient.xdr import Buffer
from nfsjudge.expect import fail
from nfsjudge.pointing import Claim
from nfsjudge.requirement import Requirement
from nfsjudge.showing import NONE, show, show_data, show_names

T = t.TypeVar("T")
Name = t.TypeVar("Name", bytes, str)

_MOST_BYTES = 8
_MOST_NAMES = 6
"""Names listed in full; of more than that only those that deviate."""
_MOST_FIELDS = 4


def _of(what: str, of: str) -> str:
    return f"{what} of {of}" if of else what


# ---------------------------------------------------------------- contents


def expect_data(
    seen: Buffer,
    expected: Buffer,
    what: str = "data",
    *,
    at: int = 0,
    of: str = "",
    reply: object = None,
    field: str | None = None,
    because: Requirement | None = None,
) -> None:
    """Data is as expected: the same bytes, and as many of them.

    `at` is the offset in the file where both begin, `of` says what is compared if it is not a whole file: "range".
    """
    __tracebackhide__ = True
    seen, expected = bytes(seen), bytes(expected)
    if seen == expected:
        return
    first = next(
        (place for place, (one, other) in enumerate(zip(seen, expected, strict=False)) if one != other),
        min(len(seen), len(expected)),
    )
    container = of or ("range" if at else "file")
    wanted, got = _run(seen, expected, first)
    if first == min(len(seen), len(expected)):
        wanted, got = _ends(seen, expected)
        what, note = f"{what}, length", f"the first {first} are as expected" if first else ""
    else:
        what = f"{what} at offset {at + first}"
        note = _extent(seen, expected, container)
    clue = Claim(data=(at + first, seen[first : first + 1]))
    fail(
        what,
        (wanted,),
        f"{got} ({note})" if note else got,
        because,
        subject=reply,
        field=field,
        claim=clue if reply is None else None,
    )


def _run(seen: bytes, expected: bytes, first: int) -> tuple[str, str]:
    """What was expected and seen from the first difference on, as far as they differ without a break."""
    end = first
    while end < min(len(seen), len(expected)) and seen[end] != expected[end]:
        end += 1
    return show_data(expected[first:end], _MOST_BYTES), show_data(seen[first:end], _MOST_BYTES)


def _ends(seen: bytes, expected: bytes) -> tuple[str, str]:
    """Where one only is longer."""
    surplus = (
        f", ending in {show_data(seen[len(expected) :], _MOST_BYTES)}" if len(seen) > len(expected) else ""
    )
    return f"{len(expected)} bytes", f"{len(seen)}{surplus}"


def _extent(seen: bytes, expected: bytes, container: str) -> str:
    differing = sum(one != other for one, other in zip(seen, expected, strict=False))
    size = f"{container} of {len(seen)} bytes"
    if len(seen) != len(expected):
        size += f", not {len(expected)}"
    return f"{size}; {differing} differ" if differing > 1 else size


# ---------------------------------------------------------------- names


def expect_names(
    seen: Iterable[Name],
    expected: Iterable[Name],
    what: str = "names",
    *,
    others: bool = False,
    reply: object = None,
    field: str | None = None,
    because: Requirement | None = None,
) -> None:
    """The names are the expected ones, each as often, in any order; with `others`, at least these, however often."""
    __tracebackhide__ = True
    found: Counter[Name] = Counter(seen)
    wanted: Counter[Name] = Counter(expected)
    missing = sorted(wanted.keys() - found.keys() if others else (wanted - found).elements())
    surplus = [] if others else sorted((found - wanted).elements())
    if not missing and not surplus:
        return
    unexpected = {name for name in surplus if name not in wanted}
    again = {name for name in surplus if found[name] > 1}
    named = {"missing": missing, "unexpected": unexpected, "repeated": again}
    notes = [f"{word} {show_names(names)}" for word, names in named.items() if names]
    is_plain = not found or (not wanted and not again)
    _fail_names(
        what,
        _names(wanted) + (" among them" if others else ""),
        _names(found) + ("" if is_plain else f" ({'; '.join(notes)})"),
        surplus[:1],
        found,
        reply,
        field,
        because,
    )


def expect_once(
    seen: Iterable[Name],
    wanted: Iterable[Name] | None = None,
    what: str = "names",
    *,
    reply: object = None,
    field: str | None = None,
    because: Requirement | None = None,
) -> None:
    """Each of `wanted` was listed exactly once, whatever else was. Without `wanted`: nothing was listed twice."""
    __tracebackhide__ = True
    found = Counter(seen)
    owed = set(found) if wanted is None else set(wanted)
    missing = [name for name in owed if found[name] == 0]
    again = sorted(name for name in owed if found[name] > 1)
    if not missing and not again:
        return
    asked = "each at most once" if wanted is None else f"each of {_names(Counter(owed))} exactly once"
    got = [f"{show(name)} {found[name]} times" for name in again[:_MOST_NAMES]]
    got += [f"... ({len(again)} names more than once)"] if len(again) > _MOST_NAMES else []
    got += [f"missing {show_names(missing)}"] if missing else []
    _fail_names(what, asked, "; ".join(got), again[:1], found, reply, field, because)


def _names(names: Counter[Name]) -> str:
    """The names where they are few, and how many they are otherwise."""
    every = [*names.elements()]
    return show_names(every) if len(every) <= _MOST_NAMES else f"{len(every)} names"


def _fail_names(
    what: str,
    expected: str,
    observed: str,
    telling: Sequence[bytes | str],
    found: Collection[bytes | str],
    reply: object,
    field: str | None,
    because: Requirement | None,
) -> t.NoReturn:
    __tracebackhide__ = True
    name = next((one for one in telling if isinstance(one, bytes)), None)
    clue = Claim(value=list(found), what=what, name=name) if reply is None else None
    fail(what, (expected,), observed, because, subject=reply, field=field, claim=clue)


# ---------------------------------------------------------------- attributes


def expect_attributes(
    seen: object, of: str = "", *, because: Requirement | None = None, **expected: object
) -> None:
    """Attributes have the values that are given by name: ``expect_attributes(seen, size=4, uid=0)``."""
    __tracebackhide__ = True
    _hold_fields(seen, expected, of, because)


def expect_unchanged(
    before: object, after: object, fields: Iterable[str], of: str = "", *, because: Requirement | None = None
) -> None:
    """Attributes are as they were: `before` and `after` have the same values in `fields`."""
    __tracebackhide__ = True
    _hold_fields(after, {name: getattr(before, name) for name in fields}, of, because)


def _hold_fields(seen: object, expected: dict[str, t.Any], of: str, because: Requirement | None) -> None:
    __tracebackhide__ = True
    wrong = [name for name, value in expected.items() if getattr(seen, name) != value]
    if not wrong:
        return
    shown = wrong[:_MOST_FIELDS]
    more = f", ... ({len(wrong)} fields)" if len(wrong) > len(shown) else ""
    fail(
        _of(" and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown), of),
        (", ".join(show(expected[name], name) for name in shown) + more,),
        ", ".join(show(getattr(seen, name), name) for name in shown) + more,
        because,
        claim=Claim(getattr(seen, wrong[0]), (wrong[0],), ((seen, (wrong[0],)),), wrong[0]),
    )


# ---------------------------------------------------------------- anything


def expect_all(
    items: Iterable[T],
    holds: Callable[[T], bool],
    what: str,
    expected: str,
    *,
    because: Requirement | None = None,
) -> None:
    """`holds` is true of every item. `expected` says in the plural what the items should be."""
    __tracebackhide__ = True
    every = [*items]
    wrong = [item for item in every if not holds(item)]
    if wrong:
        count = f" ({len(wrong)} of {len(every)})" if len(every) > 1 else ""
        fail(what, (expected,), f"{show(wrong)}{count}", because, claim=Claim(wrong[0], what=what))


def expect_that(
    holds: bool,
    expected: str,
    observed: str,
    what: str = "",
    *,
    reply: object = None,
    field: str | None = None,
    because: Requirement | None = None,
) -> None:
    """A condition holds. The texts are nouns or clauses that read after "expected" and "got"."""
    __tracebackhide__ = True
    if not holds:
        fail(what, (expected,), observed or NONE, because, subject=reply, field=field)
