# SPDX-License-Identifier: MIT
"""Opens of NFSv4: open-owners, and the stateids of what they have open (RFC 5661 sections 9.7, 18.2, 18.16, 18.18).

What is reserved is in `shares`, which knows no stateids. Here an open-owner of a client gets one `Open` for each file.
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
        mine = sum(one.client == client for one in self.of_file(file))
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
        one = self.find(client, owner, file)
        if one is None:
            one = Open(client, file, owner, self._shares)
            self._stateids.add(one)
            self._of_file[file][client, owner] = one
        else:
            one.changed()
        one.modes.add((access, deny))
        self._shares.put(file, one.key, one.access | access, one.deny | deny)
        return one

    def downgrade(self, one: Open, access: Share, deny: Share) -> None:
        """Reduce the access and denial of an open to those of some of its OPENs (section 18.18.3). Raises INVAL."""
        fitting = {(a, d) for a, d in one.modes if not (a & ~access or d & ~deny)}
        union_access, union_deny = Share.NONE, Share.NONE
        for a, d in one.modes:
            union_access |= a if not a & ~access else Share.NONE
            union_deny |= d if not d & ~deny else Share.NONE
        if not access or (union_access, union_deny) != (access, deny):
            raise StateError("INVAL")
        one.modes = fitting | {(access, deny)}
        self._shares.put(one.file, one.key, access, deny)
        one.changed()

    def close(self, one: Open) -> None:
        """End the opens of an owner."""
        opens = self._of_file.get(one.file)
        if opens is not None and opens.pop(one.key, None) is not None:
            self._shares.release(one.file, one.key)
            if not opens:
                del self._of_file[one.file]
        self._stateids.remove(one)
        if not self.is_open(one.file):
            self.on_last_close(one.file)
