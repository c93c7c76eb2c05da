# SPDX-License-Identifier: MIT
"""The world: what exchanges have shown of one server so far, and which of these facts cannot have changed since.

In doubt, the world forgets. Attributes are kept by handle. A call that may change an object makes the
world forget them for every handle that may be of that object: those of the same fsid and fileid, or all where these
are not known. Only objects that were made within the exchanges count as unknown to others.
"""

from __future__ import annotations

import typing as t
from collections.abc import Collection, Container, Iterable

from nfsclient.protocol.nfs3 import Ftype3
from nfsclient.rpc.exchange import Exchange
from nfsjudge.lint.case import Attributes, View

MOST_HANDLES = 50_000
"""Handles that are remembered; if there are more, everything is forgotten."""

Identity: t.TypeAlias = tuple[int, int]
"""fsid and fileid."""


class Source(t.NamedTuple):
    """Which exchange something was learned from: its number, and who asked."""

    number: int
    credential: object


class Facts:
    """What is known of the object of one handle."""

    __slots__ = (
        "attributes",
        "drifts",
        "epoch",
        "first",
        "generation",
        "is_ours",
        "latest",
        "mtime_set",
        "origin",
        "source",
        "undefined",
    )

    def __init__(self) -> None:
        self.first: Attributes | None = None
        """The first attributes seen: type, fsid and fileid stay as they are."""
        self.generation = 0
        self.origin: Source | None = None
        """Where `first` was seen."""
        self.attributes: Attributes | None = None
        """The latest, unless something may have changed them since."""
        self.source: Source | None = None
        """Where `attributes` were seen."""
        self.latest: tuple[Attributes, Source] | None = None
        """The latest, whatever has happened since."""
        self.epoch = -1
        self.is_ours = False
        """Made within the exchanges, where nobody else knows of it."""
        self.drifts = False
        """Times may move by themselves: data was written that was not committed."""
        self.mtime_set = False
        """A client has set times."""
        self.undefined = False
        """After an EXCLUSIVE CREATE, until SETATTR (RFC 1813 section 3.3.8)."""


class World:
    """One server, as far as exchanges have shown it."""

    def __init__(self, *, others: bool = False) -> None:
        self.source = Source(0, None)
        """Which exchange is being learned from."""
        self.others = others
        """Whether others may use the server unseen: then no reply is compared with earlier ones."""
        self.facts: dict[bytes, Facts] = {}
        self.aliases: dict[Identity, set[bytes]] = {}
        self.epoch = 0
        self.generation = 0
        """Grows when an object may have gone whose handle may then be given to another."""
        self.disturbed: Container[bytes] | None = ()
        """Handles that other calls may touch meanwhile; None for all."""
        self.names: dict[tuple[bytes, bytes], tuple[bool, Source]] = {}
        """(directory, name) -> whether it is there, and who says so."""
        self.verifiers: dict[int, tuple[bytes, Source]] = {}
        """fsid -> the write verifier seen last."""
        self.properties: dict[int, tuple[int, Source]] = {}
        """fsid -> properties of FSINFO."""
        self.odd_times = False
        """A client has set times that are none, or times may hold an exclusive verifier anywhere."""

    # ------------------------------------------------------------ asking

    def of(self, handle: bytes) -> Facts:
        """The facts of a handle, made when it is new."""
        facts = self.facts.get(handle)
        if facts is None:
            if len(self.facts) >= MOST_HANDLES:
                self.reboot()
                self.facts.clear()
            facts = self.facts[handle] = Facts()
        return facts

    def is_alone(self, handle: bytes) -> bool:
        """Whether nobody unseen, and no call under way at the same time, can have touched the object."""
        facts = self.facts.get(handle)
        return facts is not None and facts.is_ours and not self.others and not self._is_disturbed(handle)

    def _is_disturbed(self, handle: bytes) -> bool:
        disturbed = self.disturbed
        if disturbed is None:
            return True
        return disturbed != () and any(one in disturbed for one in self.handles_like(handle))

    def quiet(self, handle: bytes, exchange: Exchange) -> Facts | None:
        """Facts with attributes that hold still, as the same user saw them."""
        facts = self.facts.get(handle)
        if facts is None or facts.attributes is None or facts.epoch != self.epoch or facts.source is None:
            return None
        if not self.is_alone(handle) or not same_user(facts.source, exchange):
            return None
        return None if self.is_any(handle, "undefined") else facts

    def is_any(self, handle: bytes, what: t.Literal["drifts", "mtime_set", "undefined"]) -> bool:
        """Whether something is said of a handle, or of another one of the same object."""
        return any(getattr(self.facts[one], what) for one in self.handles_like(handle) if one in self.facts)

    def handles_like(self, handle: bytes) -> Collection[bytes]:
        """The handles of the same object, as far as is known; itself among them."""
        first = self.first(handle)
        return (handle,) if first is None else self.aliases.get((first.fsid, first.fileid), (handle,))

    def first(self, handle: bytes) -> Attributes | None:
        """What the object of a handle was when it was first seen; None if that is not known."""
        facts = self.facts.get(handle)
        return None if facts is None or facts.generation != self.generation else facts.first

    # ------------------------------------------------------------ learning

    def drift(self, handle: bytes) -> None:
        """From now on, times of the object may move by themselves."""
        for one in self.handles_like(handle):
            self.of(one).drifts = True

    def identify(self, handle: bytes, attributes: Attributes) -> Facts:
        """Note which object a handle is of."""
        facts = self.of(handle)
        if facts.first is None or facts.generation != self.generation:
            facts.first, facts.origin, facts.generation = attributes, self.source, self.generation
            self.aliases.setdefault((attributes.fsid, attributes.fileid), set()).add(handle)
        return facts

    def learn(self, handle: bytes, attributes: Attributes) -> None:
        """Keep the latest attributes."""
        facts = self.identify(handle, attributes)
        facts.attributes, facts.source, facts.epoch = attributes, self.source, self.epoch
        facts.latest = (attributes, self.source)

    def note(self, views: Iterable[View], changed: Collection[bytes] | None) -> None:
        """A reply came: which objects it speaks of, and which the call may have changed (None: any)."""
        for view in views:
            if view.after is not None:
                self.identify(view.handle, view.after)
        if changed is None:
            self.touch_all()
        elif changed:
            self.names.clear()
            for handle in changed:
                self.touch(handle)

    def absorb(self, views: Iterable[View], *, is_shared: bool) -> None:
        """Keep what a reply says, but for objects that others may have touched at the same time (`is_shared`)."""
        for view in views:
            if view.after is not None and not (is_shared and self._is_disturbed(view.handle)):
                self.learn(view.handle, view.after)

    # ------------------------------------------------------------ forgetting

    def touch(self, handle: bytes) -> None:
        """An object may have changed."""
        if self.first(handle) is None:
            self.touch_all()
            return
        for one in self.handles_like(handle):
            self.facts[one].attributes = None

    def touch_all(self) -> None:
        """Anything may have changed."""
        self.epoch += 1
        self.names.clear()

    def forget(self, handles: Collection[bytes] | None) -> None:
        """These objects may have changed, or (None) any, and be gone."""
        if handles is None:
            self.removed()
            return
        for handle in handles:
            self.touch(handle)

    def removed(self) -> None:
        """Some object may be gone, and its handle free for another."""
        self.touch_all()
        self.aliases.clear()
        self.generation += 1

    def disown(self) -> None:
        """Others may know of our objects from now on."""
        for facts in self.facts.values():
            facts.is_ours = False

    def reboot(self) -> None:
        """Nothing that was said before binds the server any more; others know as little of our objects as before."""
        self.removed()
        for facts in self.facts.values():
            facts.latest = None
        self.verifiers.clear()
        self.properties.clear()


def same_user(source: Source, exchange: Exchange) -> bool:
    """Whether two calls were made with the same credential."""
    return source.credential is exchange.credential or source.credential == exchange.credential


def is_directory(attributes: Attributes) -> bool:
    """Whether it is one: sizes and link counts of directories are the server's own affair."""
    return attributes.type == Ftype3.NF3DIR
