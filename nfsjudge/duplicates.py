# SPDX-License-Identifier: MIT
"""What a server does with a duplicate of a call: how checks note it, and how reports read it.

Each cell of the profile is an observation. Its key names the call and the way of the duplicate, its value is one of
`ANSWERS`. Standard library and plain types only.
"""

from __future__ import annotations

import re
import typing as t

EXECUTED: t.Final = "executed again"
CACHED: t.Final = "replayed from cache"
DROPPED: t.Final = "dropped"
REFUSED: t.Final = "refused"
ALIKE: t.Final = "success either way"
"""The answer of a second execution would be the same, and nothing else tells which it was."""
ANSWERS: t.Final = (EXECUTED, CACHED, DROPPED, REFUSED, ALIKE)

WAYS: t.Final = {
    "lost-udp": "sent again after its reply was lost, over UDP",
    "lost-tcp": "sent again after its reply was lost, over TCP",
    "doubled-udp": "sent twice at once, over UDP",
    "doubled-tcp": "sent twice at once, over TCP",
    "late-udp": "sent again over UDP from the same port, after it was undone",
    "late-tcp": "sent again on the same connection, after it was undone",
    "port-udp": "sent again over UDP from another port, after it was undone",
    "port-tcp": "sent again on another connection beside the first, after it was undone",
    "reconnect-same": "sent again over TCP after a reconnect from the same port, after it was undone",
    "reconnect-other": "sent again over TCP after a reconnect from another port, after it was undone",
    "arguments-udp": "sent over UDP with the XID of an earlier call and other arguments",
    "arguments-tcp": "sent over TCP with the XID of an earlier call and other arguments",
    "credential-udp": "sent again over UDP with another credential of the same user, after it was undone",
    "credential-tcp": "sent again over TCP with another credential of the same user, after it was undone",
    "restart": "sent again from the same port after a restart of the server, after it was undone",
}
"""The ways of a duplicate, in the order of reports, and how a sentence about a call goes on."""

ENTRIES: t.Final = "entries"
SECONDS: t.Final = "seconds"
_KEY = re.compile(r"duplicate of (v[23]) ([A-Z]+(?: [A-Z]+)?): ([a-z-]+)")
_BOUND = re.compile(r"replay cache over (udp|tcp), (v[23]): (entries|seconds)")


class Cell(t.NamedTuple):
    """A cell of the profile."""

    version: str
    procedure: str
    """With its mode: ``CREATE EXCLUSIVE``."""
    way: str
    """One of `WAYS`."""


class Bound(t.NamedTuple):
    """How much, or how long, the cache keeps."""

    proto: str
    version: str
    unit: str


def cell_key(version: int, procedure: str, way: str) -> str:
    """The key of an observation: ``duplicate of v3 REMOVE: lost-udp``."""
    return f"duplicate of v{version} {procedure}: {way}"


def bound_key(version: int, proto: str, unit: str) -> str:
    """The key of an observation about the size of the cache: ``replay cache over udp, v3: entries``."""
    return f"replay cache over {proto}, v{version}: {unit}"


def cell_of(key: str) -> Cell | None:
    """The cell that a key is of; None for any other observation."""
    found = _KEY.fullmatch(key)
    return Cell(*found.groups()) if found is not None and found[3] in WAYS else None


def bound_of(key: str) -> Bound | None:
    """As `cell_of`, of `bound_key`."""
    found = _BOUND.fullmatch(key)
    return None if found is None else Bound(*found.groups())
