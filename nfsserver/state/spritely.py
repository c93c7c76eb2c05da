# SPDX-License-Identifier: MIT
"""What the clients of Spritely NFS have open, and what they may have cached (section 4.3 of its paper).

One `Entry` for each file that is open, or closed with a last writer that may have dirty blocks. It has a `Block` for
each client. States and transitions are those of table 1 (`transitions.py`); this module counts, and looks rows up.
Nothing here sends: `nfsserver.snfs.calling` makes the callbacks, and says here how they ended.

    an open       `plan_open` says which clients are to be called first; when that is over, `open` counts it
    a close       `close`
    a callback    `begin_call` locks the entry; `end_call` says what the client has done, and unlocks it

What must stay true:

- While an entry is locked, no open and no close changes it (section 4.3.4). Reads and writes go on.
- What a callback has done holds when it is over, whether or not the open that needed it comes again: over UDP it comes
  again as a retransmission (section 3.2). `Block.settled` says that this client needs no further callback for it.
- Versions never come again, and grow with each open for writing (section 4.3.3). They are part of the file, or come
  from a counter of which stable storage has an upper bound.
- The number of entries is bounded (section 4.3.1). Files are the keys by identity: what is removed is forgotten.
- Who was given up stays so after a crash: its blocks are old (section 3.2).
- After a restart with clients that had something, nothing changes but by them, until they have all come back or the
  time for it is over (section 2.4).
"""

from __future__ import annotations

import typing as t
from collections import Counter, OrderedDict
from collections.abc import Callable

from nfsserver.bounds import MOST
from nfsserver.state.spritely_entries import NFS, Block, Entry, File, Key, Stable, TableFull, Terms
from nfsserver.state.transitions import TABLE, Callback, Row, State, When, find

_MOST_DEAD: t.Final = 1024
_MOST_LOST: t.Final = 1024
_MOST_SEEN: t.Final = 4096
_MOST_CHANNELS: t.Final = 1024


class SpritelyState:
    """The state table of one instance of the service."""

    def __init__(
        self, stable: Stable, now: Callable[[], float], terms: Callable[[], Terms], *, restarted: bool
    ) -> None:
        self._stable = stable
        self._now = now
        self._terms = terms
        self.rows: tuple[Row, ...] = TABLE
        self.entries: dict[File, Entry] = {}
        """In the order in which they were made."""
        self.ended = 0
        """How many callbacks are over, and how often recovery has ended: what calls wait for."""
        self.is_used = False
        """Whether any client has called this instance, other than by NULL."""
        self.channels: dict[Key, t.Any] = {}
        """Client -> what calls it: that of the connection that its latest call came from."""
        self.dead, self.lost = stable.dead, stable.lost
        self._seen: OrderedDict[File, tuple[float, bool]] = OrderedDict()
        """File without an entry -> when it was last accessed by other versions, and whether it was written."""
        self._counter = stable.ceiling
        self._versions: dict[File, int] = {}
        """Of files with an entry, where versions come from the counter."""
        self.blocks = 0
        """Of all entries."""
        self._having: Counter[Key] = Counter()
        """Client -> how many files it has something of."""
        self._missing = set(stable.clients) if restarted else set()
        self._recovers_until = now() + terms().grace
        self._is_recovering = bool(self._missing)

    @property
    def is_watching(self) -> bool:
        """Whether accesses by other versions matter."""
        return self.is_used or self._is_recovering or self._stable.has_versions

    # ------------------------------------------------------------ versions

    def known_version(self, file: File) -> int:
        """The version of a file; 0 if it has none."""
        return self._versions.get(file, 0) if self._terms().by_counter else file.version

    def version(self, file: File) -> int:
        """The version of a file; it gets one if it has none."""
        return self.known_version(file) or self._set_version(file, self._next(0))

    def highest(self, file: File) -> int:
        """The highest version of a file that any client can know."""
        return self._stable.ceiling if self._terms().by_counter else file.version

    def is_overtaken(self, file: File, version: int) -> bool:
        """Whether others must have written since the last writer got this version.

        It can have lost one OPEN, and a crash may have raised the version by one (`Inode.crash`).
        """
        return version < self.known_version(file) - self._terms().growth - 1

    def _set_version(self, file: File, version: int) -> int:
        self._stable.has_versions = True
        if self._terms().by_counter:
            self._versions[file] = version
        else:
            file.version = version
        return version

    def grow(self, file: File, by: int = 1) -> None:
        """The file has another version from now on."""
        for _ in range(by):
            self._set_version(file, self._next(self.known_version(file)))

    def changed(self, file: File) -> None:
        """It was changed without an open: what clients have cached of it is old."""
        if self.known_version(file):
            self.grow(file)

    def _next(self, version: int) -> int:
        terms = self._terms()
        if not terms.by_counter:
            return version + terms.growth
        self._counter = max(self._counter, version) + terms.growth
        if self._counter > self._stable.ceiling:
            self._stable.ceiling = self._counter + terms.step - 1
        return self._counter

    # ------------------------------------------------------------ entries

    def entry(self, file: File) -> Entry | None:
        """What is known of a file; None: it is closed."""
        entry = self.entries.get(file)
        if entry is not None:
            self._drop_nfs(entry)
        return self.entries.get(file)

    def make(self, file: File) -> Entry:
        """The entry of a file, made if there is none. Raises `TableFull`."""
        entry = self.entry(file)
        if entry is not None:
            return entry
        if len(self.entries) >= self._terms().entries:
            self._forget_closed()
        if len(self.entries) >= self._terms().entries:
            dirty = [each for each in self.entries.values() if each.state is State.CLOSED_DIRTY]
            raise TableFull(min(dirty, key=lambda each: not each.is_locked, default=None))
        entry = self.entries[file] = Entry(file)
        seen = self._seen.pop(file, None)
        if seen is not None and self._now() - seen[0] < self._terms().nfs_interval:
            self._count(self.put(entry, Block(NFS, seen_at=seen[0], caches=False)), writes=seen[1])
            entry.state = State.ONE_WRITER if seen[1] else State.ONE_READER
        return entry

    def surplus(self, kept: int) -> list[Entry]:
        """The oldest closed files with dirty blocks, if there are more than these; not those that are called for."""
        dirty = [each for each in self.entries.values() if each.state is State.CLOSED_DIRTY]
        return [each for each in dirty[: max(0, len(dirty) - kept)] if not each.is_locked]

    def has_room(self, entry: Entry, key: Key) -> bool:
        """Whether a client may have something of a file, as far as memory goes."""
        if key not in entry.blocks and self.blocks >= MOST.snfs_blocks:
            self._close_nfs(besides=entry)
        return key in entry.blocks or self.blocks < MOST.snfs_blocks

    def may_wait(self, entry: Entry, call: t.Any) -> bool:
        """Note an open that waits for callbacks; False: there are too many."""
        if call not in entry.waiting and len(entry.waiting) >= MOST.snfs_waiting:
            return False
        entry.waiting.add(call)
        return True

    def _forget_closed(self) -> None:
        """Forget the entries that only wait for opens that do not come again, or for accesses by other versions; and
        those of files that have no name, of which nothing is written back (section 4.2.5)."""
        self._close_nfs()
        for entry in [each for each in self.entries.values() if not each.is_locked]:
            if entry.state is State.CLOSED or not entry.file.nlink:
                self._remove(entry)

    def _remove(self, entry: Entry) -> None:
        self.entries.pop(entry.file, None)
        self._versions.pop(entry.file, None)
        for key in list(entry.blocks):
            self._drop(entry, key)
        entry.calls.clear()

    def forget(self, file: File) -> None:
        """A file has gone, and with it what clients have of it: nothing is written back."""
        entry = self.entries.get(file)
        self._seen.pop(file, None)
        self.lost.pop(file, None)
        for dead in [each for each in self.dead if each[1] is file]:
            del self.dead[dead]
        if entry is not None:
            self._remove(entry)

    def _settle(self, entry: Entry) -> None:
        """Forget what has nothing any more."""
        for key in [key for key, block in entry.blocks.items() if not block.is_open and not block.is_dirty]:
            self._drop(entry, key)
        if entry.state is State.CLOSED and not entry.is_locked and not entry.waiting:
            self._remove(entry)

    def put(self, entry: Entry, block: Block) -> Block:
        """Let a client have something of a file; who may cache is on stable storage from then on."""
        if block.key not in entry.blocks:
            entry.blocks[block.key] = block
            self.blocks += 1
            if block.caches:
                self._having[block.key] += 1
                self._stable.clients.add(block.key)
        return entry.blocks[block.key]

    def _drop(self, entry: Entry, key: Key) -> None:
        block = entry.blocks.pop(key)
        self.blocks -= 1
        if block.caches:
            self._having[key] -= 1
            if not self._having[key]:
                del self._having[key]
                if key not in self._missing:
                    self._stable.clients.discard(key)

    # ------------------------------------------------------------ opens and closes

    def plan_open(self, entry: Entry, key: Key, *, writes: bool) -> dict[Key, Callback]:
        """Which clients are to be called for what, before a client may open; empty: it may."""
        row = self._row(entry, When.OPEN_FOR_WRITE if writes else When.OPEN_FOR_READ, key)
        if row is None or not row.callback:
            return {}
        found, calls_opener = {}, self._terms().calls_opener
        for block in entry.blocks.values():
            missing = row.callback & ~block.settled
            if (block.key != key or calls_opener) and block.caches and missing:
                found[block.key] = row.callback
        return found

    def open(
        self,
        entry: Entry,
        key: Key,
        mdev: int,
        *,
        writes: bool,
        grows: bool = True,
        can_be_called: bool = True,
    ) -> tuple[int, int]:
        """Count an open whose callbacks are over: the version of the file now, and before."""
        row = self._row(entry, When.OPEN_FOR_WRITE if writes else When.OPEN_FOR_READ, key)
        before = self.version(entry.file)
        if writes and grows:
            self.grow(entry.file)
        block = self.put(entry, Block(key, caches=can_be_called))
        block.mdev, block.settled = mdev, Callback.NONE
        self._count(block, writes=writes)
        if row is not None:
            entry.state = row.after
            if row.callback:  # what was called for is over
                for other in entry.blocks.values():
                    other.settled = Callback.NONE
        for other in entry.blocks.values():
            other.is_dirty = other.is_dirty and (other.key == key or not row or not row.callback)
        self._settle(entry)
        return self.version(entry.file), before

    @staticmethod
    def _count(block: Block, *, writes: bool) -> None:
        if writes:
            block.writers += 1
        else:
            block.readers += 1

    def close(self, entry: Entry, key: Key, *, writes: bool) -> bool:
        """Count a close; False: the client has nothing of this kind open."""
        block = entry.blocks.get(key)
        if block is None or not (block.writers if writes else block.readers):
            return False
        if writes:
            block.writers -= 1
        else:
            block.readers -= 1
        self._after_close(entry, block, wrote=writes)
        return True

    def close_all(self, entry: Entry, key: Key) -> None:
        """A client has nothing of a file any more, neither opens nor dirty blocks."""
        block = entry.blocks.get(key)
        if block is None:
            return
        wrote, block.readers, block.writers = block.writers > 0, 0, 0
        self._after_close(entry, block, wrote=wrote)
        block.is_dirty = False
        if entry.state is State.CLOSED_DIRTY:
            entry.state = State.CLOSED
        self._settle(entry)

    def _after_close(self, entry: Entry, block: Block, *, wrote: bool) -> None:
        users = entry.users
        when: When | None = None
        if not users:
            when = When.FINAL_CLOSE
        elif len(users) == 1 and users[0] is block and wrote and not block.writers:
            when = When.FINAL_CLOSE_FOR_WRITE
        elif len(users) == 1 and users[0] is not block:
            when = When.CLOSE_BEFORE_LAST
        row = None if when is None else self._row(entry, when, block.key)
        if row is not None:
            entry.state = row.after
            block.is_dirty = block.caches and (block.is_dirty or row.is_last_writer)
            if entry.state is State.CLOSED:
                block.is_dirty = False
            if entry.state is State.CLOSED_DIRTY and not block.caches:
                entry.state = State.CLOSED
        self._settle(entry)

    def _row(self, entry: Entry, when: When, key: Key) -> Row | None:
        block = entry.blocks.get(key)
        if when is When.OPEN_FOR_READ and block is not None and block.is_open:
            return None
        if when is When.OPEN_FOR_WRITE and block is not None and block.writers:
            return None
        return find(self.rows, entry.state, when, entry.who(key))

    # ------------------------------------------------------------ callbacks

    def end_call(self, entry: Entry, key: Key, done: Callback) -> None:
        """A client has done what it was called for."""
        block = entry.blocks.get(key)
        if block is not None:
            block.settled |= done
            if Callback.WRITE_BACK in done and not block.writers:
                block.is_dirty = False
                if entry.state is State.CLOSED_DIRTY:
                    entry.state = State.CLOSED
                elif entry.state is State.ONE_RDRDIRTY:
                    entry.state = State.ONE_READER
        self._unlock(entry, key)

    def end_call_closed(self, entry: Entry, key: Key) -> None:
        """It has nothing of the file any more (section 6.2)."""
        self.close_all(entry, key)
        self._unlock(entry, key)

    def give_up(self, entry: Entry, key: Key, *, lost: bool) -> None:
        """It does not answer: it counts as dead for this file. `lost`: what it had not written back is lost."""
        self.close_all(entry, key)
        self.dead[key, entry.file] = False
        while len(self.dead) > _MOST_DEAD:
            self.dead.popitem(last=False)
        self.grow(entry.file, by=2)
        if lost:
            entry.uninformed |= entry.waiting
            self.lost[entry.file] = None  # perhaps nobody waits, or nobody of those comes again
            while len(self.lost) > _MOST_LOST:
                self.lost.popitem(last=False)
        self._unlock(entry, key)

    def _unlock(self, entry: Entry, key: Key) -> None:
        entry.calls.pop(key, None)
        self.ended += 1
        self._settle(entry)

    def informs(self, entry: Entry, call: t.Any) -> bool:
        """Whether an open is to learn that the file may be inconsistent; it does not wait any more."""
        entry.waiting.discard(call)
        is_lost = call in entry.uninformed or entry.file in self.lost
        entry.uninformed.discard(call)
        return is_lost

    def forget_call(self, call: t.Any) -> None:
        """An open does not wait any more, and is not carried out."""
        for entry in [each for each in self.entries.values() if call in each.waiting]:
            self.informs(entry, call)
            self._settle(entry)

    def loss_is_known(self, file: File) -> None:
        """An open is answered with what may be lost of a file: later ones need not be."""
        self.lost.pop(file, None)

    def note_channel(self, key: Key, channel: t.Any) -> None:
        """Call a client over this connection from now on."""
        if len(self.channels) > _MOST_CHANNELS:
            self.channels = {key: each for key, each in self.channels.items() if each.is_open}
        self.channels[key] = channel

    # ------------------------------------------------------------ clients that were given up

    def is_dead(self, key: Key, file: File) -> bool:
        """Whether a client may not use the handle that it has."""
        return self.dead.get((key, file)) is False

    def was_given_up(self, key: Key, file: File) -> bool:
        """Whether a client has not opened a file since it was given up."""
        return (key, file) in self.dead

    def obtained(self, key: Key, file: File) -> None:
        """A client has obtained a handle."""
        if (key, file) in self.dead:
            self.dead[key, file] = True

    def reopened(self, key: Key, file: File) -> None:
        """It has opened the file again."""
        self.dead.pop((key, file), None)

    # ------------------------------------------------------------ other versions

    def nfs_block(self, entry: Entry, *, writes: bool) -> bool:
        """Whether other versions count as having the file open like this; then it is noted that they have used it."""
        block = entry.blocks.get(NFS)
        if block is None or (writes and not block.writers):
            return False
        block.seen_at = self._now()
        return True

    def nfs_open(self, entry: Entry, *, writes: bool) -> None:
        """Count an access by another version as an open."""
        if entry.blocks.get(NFS) is None or writes:
            self.open(entry, NFS, 0, writes=writes, can_be_called=False)
        entry.blocks[NFS].seen_at = self._now()

    def nfs_seen(self, file: File, *, writes: bool) -> None:
        """Another version has accessed a file without an entry."""
        seen = self._seen.pop(file, (0.0, False))
        is_recent = self._now() - seen[0] < self._terms().nfs_interval
        if writes and not (is_recent and seen[1]):
            self.changed(file)
        self._seen[file] = self._now(), writes or (seen[1] and is_recent)
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)

    def _close_nfs(self, besides: Entry | None = None) -> None:
        """Close what other versions have not accessed for long, where room is needed."""
        for entry in list(self.entries.values()):
            if entry is not besides:
                self._drop_nfs(entry)

    def _drop_nfs(self, entry: Entry) -> None:
        """Close what other versions have not accessed for long (section 6.1)."""
        block = entry.blocks.get(NFS)
        if (
            block is not None
            and not entry.is_locked
            and self._now() - block.seen_at >= self._terms().nfs_interval
        ):
            self.close_all(entry, NFS)

    # ------------------------------------------------------------ recovery

    @property
    def is_recovering(self) -> bool:
        """Whether the server waits for the clients of before its restart."""
        if self._is_recovering and (not self._missing or self._now() >= self._recovers_until):
            self.end_recovery()
        return self._is_recovering

    def end_recovery(self) -> None:
        """Wait for nobody any more: who has not come back has nothing."""
        self._is_recovering = False
        self._missing.clear()
        self._stable.clients.clear()
        self._stable.clients.update(self._having)
        self.ended += 1

    def forget_clients(self) -> None:
        """Nobody has anything, and after a restart nobody comes back."""
        for entry in list(self.entries.values()):
            self._remove(entry)
        self._having.clear()
        self.end_recovery()

    def may_reclaim(self, key: Key) -> bool:
        """Whether a client had something before the restart, and has not said that it is ready."""
        return self.is_recovering and key in self._missing

    def recovered(self, key: Key) -> None:
        """A client has reopened everything."""
        self._missing.discard(key)
        if key not in self._having:
            self._stable.clients.discard(key)

    def reopen(
        self,
        entry: Entry,
        key: Key,
        mdev: int,
        *,
        readers: int,
        writers: int,
        dirty: bool,
        version: int,
        can_be_called: bool = True,
    ) -> None:
        """Set what a client has of a file; the callbacks for it are over."""
        if version and not self.known_version(entry.file):
            self._set_version(entry.file, version)  # the counter has forgotten it
        block = self.put(entry, Block(key, caches=can_be_called))
        if writers and not block.writers:
            self.open(entry, key, mdev, writes=True, grows=False)
        elif readers and not block.is_open:
            self.open(entry, key, mdev, writes=False)
        wrote, block.mdev = block.writers > writers, mdev
        block.readers, block.writers = readers, writers
        block.is_dirty = dirty and not writers and entry.state is not State.WRITE_SHARED
        block.settled = Callback.NONE  # it may cache again
        self._set_state(entry, block, wrote=wrote)

    def _set_state(self, entry: Entry, block: Block, *, wrote: bool) -> None:
        """The state, where a client has less than before, or other blocks that are dirty."""
        dirty = block.is_dirty
        if not entry.users and dirty:
            entry.state = State.CLOSED_DIRTY
        elif wrote and not block.writers:
            self._after_close(entry, block, wrote=True)
            block.is_dirty = dirty
        if entry.state is State.ONE_READER and dirty:
            entry.state = State.ONE_RDRDIRTY
        elif entry.state is State.ONE_RDRDIRTY and not dirty:
            entry.state = State.ONE_READER


__all__ = ["NFS", "Block", "Entry", "File", "Key", "SpritelyState", "Stable", "TableFull", "Terms"]
