# SPDX-License-Identifier: MIT
"""Expectations in the words of file systems: contents, names, attributes. They read and mark better than bare values.

expect_data(scratch.read(file), wanted)          # data at offset 4: expected 05, got 00 (file of 5 bytes)
expect_names(scratch.names(), [b"a", b"b"])      # names: expected 'a', 'b', got 'a' (missing 'b')
expect_once(listing.names, made)                 # names: expected each of 300 names exactly once, got 299 once; ...
expect_unchanged(before, after, ("size", "mtime"))   # mtime: expected 1.0, got 2.0
expect_attributes(seen, size=4, uid=0)           # size: expected 4, got 5
expect_all(addresses, is_universal, "addresses in DUMP", "universal addresses")
expect_that(page.eof or later, "eof or further entries", "neither")

Each finds the reply that shows the deviation among the latest ones, and marks it in the transcript. Where the check has
that reply, `reply` and `field` say it; a raw answer of `Wire` is marked as a whole.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from nfsclient.xdr import Buffer
from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.differences import (
    Difference,
    difference_of_data,
    difference_of_names,
    difference_of_times,
)
from nfsjudge.expect import fail
from nfsjudge.pointing import Claim
from nfsjudge.requirement import Requirement
from nfsjudge.showing import show
from nfsjudge.terms import NONE, Shown, plain_path, term_of_value

T = t.TypeVar("T")

_MOST_FIELDS = 4


def _fail(
    kind: Deviation,
    found: Difference,
    claim: Claim,
    reply: object,
    field: str | None,
    because: Requirement | None,
) -> t.NoReturn:
    __tracebackhide__ = True
    clue = claim if reply is None else None
    outcome = OutcomeRecord(str(kind), seen=found.seen, field=plain_path(field))
    texts = (found.expected,), found.observed
    fail(found.what, *texts, because, subject=reply, field=field, claim=clue, outcome=outcome)


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
    """Data is as expected: the same bytes, the same length.

    `at` is the offset in the file where both begin; `of` says what is compared: "file" by default, "range" with `at`.
    """
    __tracebackhide__ = True
    seen = bytes(seen)
    found = difference_of_data(seen, bytes(expected), what, at=at, of=of or ("range" if at else "file"))
    if found is not None:
        claim = Claim(data=(found.place, seen[found.place - at :][:1]))
        _fail(Deviation.DATA, found, claim, reply, field, because)


# ---------------------------------------------------------------- names


def is_of_removed_file(name: bytes | str) -> bool:
    """Whether a name is what NFS clients (``.nfs...``) and libfuse call a file that was removed while it was open.

    A server that exports another server's files, or those of FUSE, may show such names for a while.
    """
    text = name if isinstance(name, bytes) else name.encode()
    return text.startswith((b".nfs", b".fuse_hidden"))


def expect_names(
    seen: Iterable[bytes | str],
    expected: Iterable[bytes | str],
    what: str = "names",
    *,
    others: bool = False,
    reply: object = None,
    field: str | None = None,
    because: Requirement | None = None,
) -> None:
    """The names are the expected ones, each as often, in any order; with `others`, at least these, however often.

    Names that a server gives to removed files that are still open, as it may (RFC 1813 section 3.3.12 IMPLEMENTATION),
    count only if they are expected.
    """
    __tracebackhide__ = True
    expected = [*expected]
    names = [name for name in seen if name in expected or not is_of_removed_file(name)]
    found = difference_of_names(names, expected, what, others=others)
    if found is not None:
        _fail(Deviation.NAMES, found, Claim(value=names, name=found.name), reply, field, because)


def expect_once(
    seen: Iterable[bytes | str],
    wanted: Iterable[bytes | str] | None = None,
    what: str = "names",
    *,
    reply: object = None,
    field: str | None = None,
    because: Requirement | None = None,
) -> None:
    """Each of `wanted` was listed exactly once, whatever else was. Without `wanted`: nothing was listed twice."""
    __tracebackhide__ = True
    names = [*seen]
    found = difference_of_times(names, wanted, what)
    if found is not None:
        _fail(Deviation.NAMES, found, Claim(value=names, name=found.name), reply, field, because)


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
    what = " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
    terms = (term_of_value(expected[wrong[0]]), term_of_value(getattr(seen, wrong[0])))
    fail(
        f"{what} of {of}" if of else what,
        (", ".join(show(expected[name], name) for name in shown) + more,),
        ", ".join(show(getattr(seen, name), name) for name in shown) + more,
        because,
        claim=Claim(getattr(seen, wrong[0]), seen, wrong[0]),
        outcome=OutcomeRecord(str(terms[1].kind), "", [terms[0].name], terms[1].name, wrong[0]),
    )


# ---------------------------------------------------------------- anything


def expect_all(
    items: Iterable[T],
    holds: Callable[[T], bool],
    what: str,
    expected: str,
    *,
    field: str = "",
    because: Requirement | None = None,
) -> None:
    """`holds` is true of every item. `expected` says in the plural what the items should be.

    `field` is what replies call an item, if one of the latest replies has it.
    """
    __tracebackhide__ = True
    every = [*items]
    wrong = [item for item in every if not holds(item)]
    if wrong:
        count = f" ({len(wrong)} of {len(every)})" if len(every) > 1 else ""
        seen = Shown(f"{show(wrong)}{count}", term_of_value(wrong))
        fail(what, (expected,), seen, because, claim=Claim(wrong[0], field=field))


def expect_that(
    holds: bool,
    expected: str,
    observed: str,
    what: str = "",
    *,
    reply: object = None,
    field: str | None = None,
    because: Requirement | None = None,
    kind: Deviation | None = None,
    operation: str = "",
) -> None:
    """A condition holds. The texts are nouns or clauses that read after "expected" and "got".

    Causes compare the terms of the texts (`nfsjudge.terms`): pass what `show()` gives as it is, and say which
    `operation` has answered where no `reply` does.
    """
    __tracebackhide__ = True
    if not holds:
        texts = (expected,), observed or NONE
        fail(what, *texts, because, subject=reply, field=field, kind=kind, operation=operation)
