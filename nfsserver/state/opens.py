# SPDX-License-Identifier: MIT
"""Opens of NFSv4: open-owners, and the stateids of what they have open (RFC 5661 sections 9.7, 18.2, 18.16, 18.18).

What is reserved is in `shares`, which knows no stateids. Here an open-owner of a client gets one `Open` for each file.

    (none) --OPEN--> open --OPEN, OPEN_DOWNGRADE--> open (the same stateid, next seqid) --CLOSE, loss--> (none)

What must stay true:

- An owner has one `Open` for a file, with one stateid, whatever it has opened it for: a further OPEN adds to its
  access and denial, one CLOSE ends all of it (sections 9.7 and 18.16.3).
- Access and denial stand in the table of share reservations alone (`Open.access` reads them there): the tables cannot
  differ.
- `modes` has each (access, denial) that was opened; OPEN_DOWNGRADE may go back to a sum of some of them, and to
  nothing else (section 18.18.3).
- A new OPEN is compared with all reservations, also with those of the same owner.
- `on_last_close` is called when nobody has the file open any more: a file without a name goes then.
"""

from __future__ import annotations

import typing as t
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from nfsserver.state.shares import Share, Shares
from nfsserver.state.stateids import Kind, State, StateError, Stateids


@dataclass(eq=False)
class Open(State):
    """The opens of a file by one open-owner, which share a stateid."""

    kind: t.ClassVar[Kind] = "open"
    owner: bytes
    table: Shares
    modes: set[tuple[Share, Share]] = field(default_factory=set)
    """(access, deny) of each OPEN that is in effect: what OPEN_DOWNGRADE may go back to."""
    may_notify: bool = False
    """Whether the last OPEN said that CB_NOTIFY_LOCK may come for locks that are denied (section 20.11.3)."""

    @property
    def key(self) -> tuple[Hashable, bytes]:
        """The owner, as the table of share reservations knows it."""
        return self.client, self.owner

    @property
    def access(self) -> Share:
        """What it may do."""
        return self.table.of(self.file, self.key)[0]

    @property
    def deny(self) -> Share:
        """What it denies others."""
        return self.table.of(self.file, self.key)[1]


class Opens:
    """The opens of all clients, over the table of share reservations that all protocols share."""

    def __init__(self, stateids: Stateids, shares: Shares) -> None:
        self._stateids = stateids
        self._shares = shares
        self._of_file: dict[Hashable, dict[tuple[Hashable, bytes], Open]] = defaultdict(dict)
        self.on_last_close: Callable[[t.Any], None] = lambda _file: None
        """Called with a file that nobody has open any more."""

    def is_open(self, file: Hashable) -> bool:
        """Whether anybody has a file open."""
        return file in self._of_file

    def of_file(self, file: Hashable) -> Iterable[Open]:
        """The opens of a file."""
        return self._of_file.get(file, {}).values()

    def has_others(self, file: Hashable, client: Hashable) -> bool:
        """Whether another client has a file open, or somebody by another protocol has reserved it."""
        mine = sum(opened.client == client for opened in self.of_file(file))
        return len(self._shares.owners(file)) > mine

    def find(self, client: Hashable, owner: bytes, file: Hashable) -> Open | None:
        """The open of a file by an owner."""
        return self._of_file.get(file, {}).get((client, owner))

    def require_shareable(self, file: Hashable, access: Share, deny: Share) -> None:
        """Raises SHARE_DENIED if an open excludes another with this access and denial.

        The owner's own opens count as well (section 18.16.3: "with no exception for the existing OPEN").
        """
        if self._shares.excludes(file, access, deny):
            raise StateError("SHARE_DENIED")

    def open(self, client: Hashable, owner: bytes, file: Hashable, access: Share, deny: Share) -> Open:
        """Open a file, or add to what the owner has open of it. Raises SHARE_DENIED, DELAY."""
        self.require_shareable(file, access, deny)
        opened = self.find(client, owner, file)
        if opened is None:
            opened = Open(client, file, owner, self._shares)
            self._stateids.add(opened)
            self._of_file[file][client, owner] = opened
        else:
            opened.changed()
        opened.modes.add((access, deny))
        self._shares.put(file, opened.key, opened.access | access, opened.deny | deny)
        return opened

    def downgrade(self, opened: Open, access: Share, deny: Share) -> None:
        """Reduce the access and denial of an open to those of some of its OPENs (section 18.18.3). Raises INVAL."""
        fitting = {(a, d) for a, d in opened.modes if not (a & ~access or d & ~deny)}
        union_access, union_deny = Share.NONE, Share.NONE
        for a, d in opened.modes:
            union_access |= a if not a & ~access else Share.NONE
            union_deny |= d if not d & ~deny else Share.NONE
        if not access or (union_access, union_deny) != (access, deny):
            raise StateError("INVAL")
        opened.modes = fitting | {(access, deny)}
        self._shares.put(opened.file, opened.key, access, deny)
        opened.changed()

    def close(self, opened: Open) -> None:
        """End the opens of an owner."""
        opens = self._of_file.get(opened.file)
        if opens is not None and opens.pop(opened.key, None) is not None:
            self._shares.release(opened.file, opened.key)
            if not opens:
                del self._of_file[opened.file]
        self._stateids.remove(opened)
        if not self.is_open(opened.file):
            self.on_last_close(opened.file)
