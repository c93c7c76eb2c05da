# SPDX-License-Identifier: MIT
"""The world: what exchanges have shown of one server so far, and which of these facts cannot have changed since.

In doubt, the world forgets. A rule that speaks of two exchanges is sound only if nothing between them can have
changed what it compares, and the lint sees one side of one network: other clients, the server's own programs and
calls whose reply is still under way change things unseen. So what the world remembers is divided by what may end it:

    what                        kept in                  ended by
    type, fsid, fileid          Facts.first              `generation`: some object may be gone, its handle reused
    latest attributes           Facts.attributes         `touch` of the object, `touch_all`, a restart
    attributes ever seen        Facts.latest             a restart, or another object under the handle
    what ACCESS granted         Facts.granted            as attributes; `epoch` says whether it is still of today
    names                       World.names              any change of any directory, `touch_all`
    write verifiers             World.verifiers          a restart
    the clock of the server     World.clock              a restart; only times that no client has set move it
    sessions, stateids          World.state4             a restart, a change by somebody unseen

Three counters say what of it is still valid, so that forgetting everything costs nothing:

- `epoch` grows when anything may have changed. Facts with an older epoch are history, not knowledge.
- `generation` grows when an object may be gone. A handle may then be of another object: what it was is not known.
- `Facts.touched` grows when this object may have changed. A rule that compares two replies notes the number.

What must stay true:

- Attributes are kept by handle, and handles are no identities: two may be of one object. A change of an object makes
  the world forget them for every handle that may be of it: those of the same fsid and fileid, or all where these are
  not known.
- `is_ours` is set for objects that were made within the exchanges, and only while nobody else can know of them. Rules
  that say "nobody changed it" ask `is_alone`; with `others` no reply is compared with an earlier one at all.
- Of exchanges that overlap nobody knows which came first: `disturbed` has the handles that they may touch, and what a
  reply says of these is not learned (`absorb`).
- Only the engine calls what learns and forgets, one exchange at a time, after the rules have looked: a rule sees the
  world as it was before its exchange. Rules change nothing here.
- Memory is bounded: beyond `MOST_HANDLES` handles everything is forgotten, which makes the lint silent and never
  wrong.
"""

from __future__ import annotations

import typing as t
from collections.abc import Collection, Container, Hashable, Iterable

from nfsclient.protocol.nfs2 import Timeval
from nfsclient.protocol.nfs3 import Ftype3, Nfstime3
from nfsclient.rpc.exchange import Exchange
from nfsjudge.lint.nfs4_known import Identity4, Object4, State4
from nfsjudge.lint.seen import Attributes, Source, View
from nfsjudge.lint.snfs_opens import Openers

MOST_HANDLES = 50_000
"""Handles that are remembered; if there are more, everything is forgotten."""

Identified: t.TypeAlias = Attributes | Identity4
"""What tells objects apart: type, fsid and fileid."""
Identity: t.TypeAlias = tuple[Hashable, int]
"""fsid and fileid."""
AnyTime: t.TypeAlias = Nfstime3 | Timeval
Moment: t.TypeAlias = int
"""A time in nanoseconds."""
_SECOND: t.Final = 1_000_000_000


class Facts:
    """What is known of the object of one handle."""

    __slots__ = (
        "attributes",
        "clock",
        "drifts",
        "earlier_ctime",
        "epoch",
        "first",
        "generation",
        "granted",
        "is_ours",
        "latest",
        "mtime_set",
        "object4",
        "origin",
        "source",
        "touched",
        "undefined",
        "unstable",
    )

    def __init__(self) -> None:
        self.first: Identified | None = None
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
        self.clock: Moment | None = None
        """What the clock of the server had reached when `latest` was seen."""
        self.earlier_ctime: AnyTime | None = None
        """The last ctime that was seen before the one in `latest`."""
        self.granted: tuple[int, Source, int] | None = None
        """What ACCESS granted, to whom, and the epoch; None where something may have changed the object since."""
        self.epoch = -1
        self.is_ours = False
        """Made within the exchanges, where nobody else knows of it."""
        self.drifts = False
        """Times may move by themselves: data was written that was not committed, or something was read."""
        self.unstable = False
        """Data was written that was not committed: its times may be updated later, one by one."""
        self.mtime_set = False
        """A client has set times."""
        self.undefined = False
        """After an EXCLUSIVE CREATE, until SETATTR (RFC 1813 section 3.3.8)."""
        self.touched = 0
        """Grows when something may have changed the object."""
        self.object4: Object4 | None = None
        """What NFSv4 said of it."""


class Named(t.NamedTuple):
    """What was said of a name in a directory."""

    is_there: bool
    source: Source
    handle: bytes | None = None
    """What LOOKUP found by it."""


class Versioned(t.NamedTuple):
    """The version of a file, as an OPEN has returned it."""

    version: int
    source: Source


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
        self.names: dict[tuple[bytes, bytes], Named] = {}
        """(directory, name) -> what was said of it."""
        self.verifiers: dict[Hashable, tuple[bytes, Source]] = {}
        """fsid -> the write verifier seen last."""
        self.properties: dict[Hashable, tuple[int, Source]] = {}
        """fsid -> properties of FSINFO."""
        self.clock: Moment | None = None
        """The latest time that the server itself chose for an object."""
        self.unseen = False
        """A call that is not of this world, or one that came twice, may have changed objects and set times."""
        self.odd_times = False
        """A client has set times that are none, or times may hold an exclusive verifier anywhere."""
        self.state4 = State4()
        """Sessions and stateids of NFSv4."""
        self.versions: dict[bytes, Versioned] = {}
        """Handle -> the latest version of the file that Spritely NFS has returned."""
        self.openers: dict[bytes, Openers] = {}
        """Handle -> who has opened the file by Spritely NFS."""
        self.opened: set[Hashable] = set()
        """Files that somebody has opened by it, ever: each handle, and each fsid with fileid. It may be too large."""

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
        return disturbed != () and any(alias in disturbed for alias in self.handles_like(handle))

    def quiet(self, handle: bytes, exchange: Exchange) -> Facts | None:
        """Facts with attributes that hold still, as the same user saw them."""
        facts = self.facts.get(handle)
        if facts is None or facts.attributes is None or facts.epoch != self.epoch or facts.source is None:
            return None
        if not self.is_alone(handle) or not same_user(facts.source, exchange):
            return None
        return None if self.is_any(handle, "undefined") else facts

    def is_any(self, handle: bytes, what: t.Literal["drifts", "mtime_set", "undefined", "unstable"]) -> bool:
        """Whether something is said of a handle, or of another one of the same object."""
        for alias in self.handles_like(handle):
            facts = self.facts.get(alias)
            if facts is not None and getattr(facts, what):
                return True
        return False

    def handles_like(self, handle: bytes) -> Collection[bytes]:
        """The handles of the same object, as far as is known; itself among them."""
        first = self.first(handle)
        return (handle,) if first is None else self.aliases.get((first.fsid, first.fileid), (handle,))

    def first(self, handle: bytes) -> Identified | None:
        """What the object of a handle was when it was first seen; None if that is not known."""
        facts = self.facts.get(handle)
        return None if facts is None or facts.generation != self.generation else facts.first

    # ------------------------------------------------------------ learning

    def drift(self, handle: bytes, *, unstable: bool = False) -> None:
        """From now on, times of the object may move by themselves; `unstable` after data that is not committed."""
        for alias in self.handles_like(handle):
            facts = self.of(alias)
            facts.drifts = True
            facts.unstable |= unstable

    def identify(self, handle: bytes, attributes: Identified) -> Facts:
        """Note which object a handle is of."""
        facts = self.of(handle)
        if facts.first is None or facts.generation != self.generation:
            facts.first, facts.origin, facts.generation = attributes, self.source, self.generation
            facts.latest = facts.earlier_ctime = None
            self.aliases.setdefault((attributes.fsid, attributes.fileid), set()).add(handle)
        return facts

    def learn(self, handle: bytes, attributes: Attributes) -> None:
        """Keep the latest attributes."""
        facts = self.identify(handle, attributes)
        facts.attributes, facts.source, facts.epoch = attributes, self.source, self.epoch
        if facts.latest is not None and facts.latest[0].ctime != attributes.ctime:
            facts.earlier_ctime = facts.latest[0].ctime
        facts.latest = (attributes, self.source)
        is_odd = self.odd_times or self.unseen
        if facts.is_ours and not is_odd and not facts.mtime_set and not facts.undefined:
            # Another object may have a time that a client chose, also as a copy in ctime (RFC 1813 section 1.6).
            self.clock = max(self.clock or 0, moment(attributes.mtime), moment(attributes.ctime))
        facts.clock = self.clock

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
        for alias in self.handles_like(handle):
            self.facts[alias].attributes = self.facts[alias].granted = None
            self.facts[alias].touched += 1

    def touch_all(self) -> None:
        """Anything may have changed."""
        self.epoch += 1
        self.names.clear()

    def forget(self, handles: Collection[bytes] | None) -> None:
        """These objects may have changed, or (None) any, and be gone."""
        self.unseen |= handles is None or bool(handles)
        if handles is None:
            self.removed()
            self.state4.forget()
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
            facts.latest = facts.earlier_ctime = facts.object4 = None
        self.clock = None
        self.state4 = State4()
        self.versions.clear()
        self.openers.clear()
        self.verifiers.clear()
        self.properties.clear()


def same_user(source: Source, exchange: Exchange) -> bool:
    """Whether two calls were made with the same credential."""
    return source.credential is exchange.credential or source.credential == exchange.credential


def moment(time: AnyTime) -> Moment:
    """A time of either version in nanoseconds."""
    fraction = 1000 * time.useconds if isinstance(time, Timeval) else time.nseconds
    return time.seconds * _SECOND + fraction


def is_directory(attributes: Attributes) -> bool:
    """Whether it is one: sizes and link counts of directories are the server's own affair."""
    return attributes.type == Ftype3.NF3DIR
