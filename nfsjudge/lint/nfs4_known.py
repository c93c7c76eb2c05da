# SPDX-License-Identifier: MIT
"""What is known of objects and of state from the replies of NFSv4: attributes that came one by one, and stateids."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from nfsjudge.lint.seen import Source

MOST_STATEIDS: t.Final = 50_000
MOST_VALUES: t.Final = 64


class Identity4(t.NamedTuple):
    """What an object is, for as long as it exists."""

    type: int
    fsid: tuple[int, int]
    fileid: int


class Known(t.NamedTuple):
    """A value, and where it was seen."""

    value: t.Any
    source: Source


@dataclass(slots=True)
class Object4:
    """The object of one handle."""

    identity: dict[str, Known] = field(default_factory=dict)
    """Type, fsid and fileid."""
    generation: int = -1
    """Of the world, when `identity` and `read` were seen."""
    values: dict[str, Known] = field(default_factory=dict)
    """The latest attributes; they hold while nothing may have changed the object since."""
    epoch: int = -1
    touched: int = -1
    """Of the world and of the facts, when `values` were seen."""
    read: Known | None = None
    """The attribute change as GETATTR gave it last, whatever has happened since."""
    past: dict[int, Source] = field(default_factory=dict)
    """Values of change that GETATTR gave before that one, each with where it was seen last; `MOST_VALUES` of them."""
    is_delegated: bool = False
    """Whether somebody has had a write delegation: others then get a change that was made up (section 10.4.3)."""
    losses: int = 0
    """Of the state, when `past` began."""
    changed_by: str = ""
    """An operation that has certainly changed the object since `read`; empty if there was none."""

    def read_change(self, value: int, source: Source, *, is_apart: bool) -> None:
        """GETATTR gave the attribute change. Replies that overlapped with others may have come in another order."""
        if self.read is not None and self.read.value != value and is_apart and len(self.past) < MOST_VALUES:
            self.past[self.read.value] = self.read.source
        if not is_apart:
            self.past.clear()
        self.read, self.changed_by = Known(value, source), ""


class Channels(t.NamedTuple):
    """What CREATE_SESSION granted: the attributes of both channels; and its minor version, if that was seen."""

    fore: t.Any
    back: t.Any
    minor: int | None = None


class CalledBack(t.NamedTuple):
    """The last callback that was executed on a slot of a backchannel; `operations` are those after CB_SEQUENCE."""

    sequence: int
    operations: list[t.Any]
    source: Source


@dataclass(slots=True)
class State4:
    """Sessions and stateids."""

    session: bytes = b""
    """Of the compound that goes on."""
    clients: dict[bytes, int] = field(default_factory=dict)
    """Session -> client id."""
    stateids: dict[tuple[int, bytes], Known] = field(default_factory=dict)
    """(client id, other) -> the seqid that was returned last."""
    flags: dict[bytes, Known] = field(default_factory=dict)
    """Session -> the status flags that SEQUENCE returned last, if nothing since can have ended their reasons."""

    channels: dict[bytes, Known] = field(default_factory=dict)
    """Session -> `Channels`."""
    highest: dict[bytes, int] = field(default_factory=dict)
    """Session -> the highest slot that SEQUENCE ever returned, also as its target (RFC 5661 section 2.10.6.1)."""
    highest_back: dict[bytes, int] = field(default_factory=dict)
    """The same of its backchannel, by the replies to CB_SEQUENCE."""
    notices: dict[tuple[int, bytes], Known] = field(default_factory=dict)
    """(client id, handle) -> whether an OPEN has returned OPEN4_RESULT_MAY_NOTIFY_LOCK."""
    called_back: dict[tuple[bytes, int], CalledBack] = field(default_factory=dict)
    """Session and slot of its backchannel -> the last callback; none if its answer is not known."""
    slot_called: tuple[bytes, int] | None = None
    """Those of the callback that goes on."""

    losses: int = 0
    """How often a session or client was not known any more: the server may have lost data, and values of change."""
    has_delegated_times: bool = False
    """Whether a client keeps the times of some file (RFC 9754)."""

    def forget(self) -> None:
        """Anything may have happened to state."""
        self.stateids.clear()
        self.flags.clear()
        self.notices.clear()

    def key(self, other: bytes) -> tuple[int, bytes] | None:
        """By what a stateid is known: another client may have one with the same bytes (RFC 5661 section 8.2.1)."""
        clientid = self.clients.get(self.session)
        return None if clientid is None else (clientid, other)
