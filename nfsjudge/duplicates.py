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
    "lost-udp": "sent again over UDP after a lost reply",
    "lost-tcp": "sent again over TCP after a lost reply",
    "doubled-udp": "doubled over UDP",
    "doubled-tcp": "doubled over TCP",
    "late-udp": "sent again later over UDP from the same port",
    "late-tcp": "sent again later on the same connection",
    "port-udp": "sent again later over UDP from another port",
    "port-tcp": "sent again later on another connection",
    "reconnect-same": "sent again later after a reconnect from the same port",
    "reconnect-other": "sent again later after a reconnect from another port",
    "crash-tcp": "sent again over TCP after a crash of the server",
    "arguments-udp": "sent over UDP with the XID of an earlier call and other arguments",
    "arguments-tcp": "sent over TCP with the XID of an earlier call and other arguments",
    "credential-udp": "sent again later over UDP with another credential",
    "credential-tcp": "sent again later over TCP with another credential",
}
"""The ways of a duplicate, in the order of reports, and how a sentence about a call goes on.

Later: after another call has undone the change.
"""

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
