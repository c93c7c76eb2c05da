# SPDX-License-Identifier: MIT
"""On which servers a check can be judged: on any, on one that can be crashed or filled, or on the reference server.

`suites/reach.txt` has the checks that need more than a server and its address. `nfsproof regenerate` writes it from
the records of a whole run on the embedded server: they say what each check did to the server besides calls
(`CheckRecord.steered`). A check that is not in the list can be judged on any server that has what it tests.
"""

from __future__ import annotations

import enum
import functools
import typing as t
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from nfsjudge.records import CheckRecord
from nfsjudge.wording import count

KNOBS: t.Final = "knobs"
"""What `steered` has of a check that chose what the server does."""
NETWORK: t.Final = "network"
"""What it has of a check whose server was in a private network: one that nfsproof has started there."""
REACH: t.Final = "reach.txt"
_HEAD: t.Final = """\
# Checks that need more than a server and its address. Written by `nfsproof regenerate`, checked in CI.
# control: the server must be crashed, restarted or filled, its files changed without NFS, or be in a private network,
# or its owner must name a referral (`--referral`).
# reference: only the embedded server can be set to make the choice that is tested.
"""


class Reach(enum.StrEnum):
    """Which servers a check can judge."""

    ANY = "any"
    CONTROL = "control"
    REFERENCE = "reference"


def reach_of(steered: Iterable[str]) -> Reach:
    """By what a check did to the server besides calls."""
    found = set(steered)
    if KNOBS in found:
        return Reach.REFERENCE
    return Reach.CONTROL if found else Reach.ANY


def render_reach(checks: Iterable[CheckRecord]) -> str:
    """The list, from the records of a whole run on the embedded server."""
    return render_list({check.id: reach_of(check.steered) for check in checks})


def render_list(known: Mapping[str, Reach]) -> str:
    """The list, from the reach of each check."""
    found = sorted((reach, name) for name, reach in known.items())
    return _HEAD + "".join(f"{reach} {name}\n" for reach, name in found if reach is not Reach.ANY)


def parse_reach(text: str) -> dict[str, Reach]:
    """Check id -> reach, of a list; checks that are not in it have `Reach.ANY`."""
    rows = (line.split(maxsplit=1) for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return {name: Reach(reach) for reach, name in rows}


@functools.cache
def known_reach() -> Mapping[str, Reach]:
    """The list of this version of nfsproof; empty if there is none."""
    path = Path(__file__).resolve().parents[1] / "suites" / REACH
    return parse_reach(path.read_text(encoding="utf-8") if path.exists() else "")


def counted(ids: Iterable[str], known: Mapping[str, Reach]) -> Counter[Reach]:
    """How many of these checks have which reach."""
    return Counter(known.get(check_id, Reach.ANY) for check_id in ids)


def describe_reach(ids: Iterable[str], known: Mapping[str, Reach]) -> str:
    """One line: ``of 10 checks, 7 can be judged on any server, 2 with control of it, 1 needs the reference server``."""
    found = counted(ids, known)
    reference = found[Reach.REFERENCE]
    need = "needs" if reference == 1 else "need"
    return (
        f"of {count(found.total(), 'check')}, {found[Reach.ANY]} can be judged on any server, "
        f"{found[Reach.CONTROL]} with control of it, {reference} {need} the reference server"
    )
