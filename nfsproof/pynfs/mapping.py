# SPDX-License-Identifier: MIT
"""Which checks of nfsproof test what a test of pynfs tests, or why no check does: `known/NAME.toml`.

The facts (codes, what is tested) are those of pynfs; no text of it is repeated. An id is that of a check without its
parameters: it means the check with all of them, in each minor version. Words in brackets choose among its parameters:
``nfs4/types/wrong[rename-into-file]`` means each parameter that has all of these words.
"""

from __future__ import annotations

import enum
import functools
import tomllib
import typing as t
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reports.idlist import function_of, known_ids

_KNOWN: t.Final = Path(__file__).with_name("known")
_TOPIC: t.Final = "topic"


class Absence(enum.StrEnum):
    """Why no check tests the same."""

    LACKING = "lacking"
    """nfsproof should have one, and has none yet."""
    PNFS = "pnfs"
    """Layouts and devices of pNFS, which nfsproof does not test."""
    LATER = "later"
    """An operation or attribute that nfsproof does not know yet."""
    FREEDOM = "freedom"
    """The text leaves it open, or demands something else."""
    SETTING = "setting"
    """It needs something that a server under test rarely has."""
    LOAD = "load"
    """It tests how much a server bears, which no clause says."""
    UNUSED = "unused"
    """pynfs has the function, and does not run it."""


IN_WORDS: t.Final = {
    Absence.LACKING: "we lack a check",
    Absence.PNFS: "we do not test pNFS",
    Absence.LATER: "we do not know this yet",
    Absence.FREEDOM: "we think otherwise",
    Absence.SETTING: "we have no check: it needs a special server",
    Absence.LOAD: "we have no check: it is about load",
    Absence.UNUSED: "pynfs does not run it itself",
}


@dataclass(frozen=True, slots=True)
class Counterpart:
    """What nfsproof has for one test of pynfs."""

    code: str
    topic: str
    ids: tuple[str, ...] = ()
    part: str = ""
    """What the test of pynfs tests in addition to these checks; empty: nothing."""
    absence: Absence | None = None
    why: str = ""
    """In words: the reason of the absence, or why nfsproof judges otherwise."""
    clause: str = ""
    """Where the text says so: ``RFC 8881 section 18.35.3``."""


def matches(wanted: str, check_id: str) -> bool:
    """Whether an id of the mapping means a check."""
    if function_of(wanted) != function_of(check_id):
        return False
    words = set(filter(None, _words(wanted)))
    return words <= set(_words(check_id))


def _words(check_id: str) -> list[str]:
    return check_id[len(function_of(check_id)) :].strip("[]").split("-")


def unknown_ids(known: Iterable[Counterpart]) -> list[str]:
    """The ids that no check of this version has, each with its code."""
    present: dict[str, list[str]] = {}
    for check_id in known_ids().present:
        present.setdefault(function_of(check_id), []).append(check_id)
    return [
        f"{each.code}: {wanted}"
        for each in known
        for wanted in each.ids
        if not any(matches(wanted, check_id) for check_id in present.get(function_of(wanted), ()))
    ]


@functools.cache
def mapping_of(protocol: str) -> Mapping[str, Counterpart]:
    """The mapping of ``pynfs41``, by code; empty for a protocol that has none. Raises ValueError for a bad file."""
    path = _KNOWN / f"{protocol}.toml"
    if not path.is_file():
        return {}
    found: dict[str, Counterpart] = {}
    for table in tomllib.loads(path.read_text(encoding="utf-8")).values():
        topic = table.pop(_TOPIC)
        for code, entry in table.items():
            if code in found:
                raise ValueError(f"{path.name}: {code} twice")
            found[code] = _counterpart(code, topic, entry)
    return found


def _counterpart(code: str, topic: str, entry: t.Any) -> Counterpart:
    fields: dict[str, t.Any] = {"ids": entry} if isinstance(entry, list) else dict(entry)
    absence = fields.pop("none", None)
    if bool(fields.get("ids")) == bool(absence):
        raise ValueError(f"{code}: expected either ids or none")
    ids = tuple(fields.pop("ids", ()))
    return Counterpart(code, topic, ids, absence=Absence(absence) if absence else None, **fields)
