# SPDX-License-Identifier: MIT
"""Opens with their share reservations (RFC 5661 sections 9.7, 18.2, 18.16, 18.18)."""

from __future__ import annotations

import enum
import typing as t
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from nfsserver.state.stateids import Kind, State, StateError, Stateids


class Share(enum.IntFlag):
    """Access or denial: bits of share_access and share_deny."""

    NONE = 0
    READ = 1
    WRITE = 2
    BOTH = 3


@dataclass(eq=False)
class Open(State):
    """The opens of a file by one open-owner, which share a stateid."""

    kind: t.ClassVar[Kind] = "open"
    owner: bytes
    access: Share = Share.NONE
    deny: Share = Share.NONE
    modes: set[tuple[Share, Share]] = field(default_factory=set)
    """(access, deny) of each OPEN that is in effect: what OPEN_DOWNGRADE may go back to."""


class _Shares:
    """How many opens of a file have each access and each denial, so that nobody has to look at all of them."""

    def __init__(self) -> None:
        self._access = {Share.READ: 0, Share.WRITE: 0}
        self._deny = {Share.READ: 0, Share.WRITE: 0}

    def count(self, access: Share, deny: Share, number: int) -> None:
        """An open begins (1), or ends (-1)."""
        for bit in self._access:
            self._access[bit] += number if access & bit else 0
            self._deny[bit] += number if deny & bit else 0

    @property
    def access(self) -> Share:
        """What the opens together have."""
        return Share(sum(bit for bit, number in self._access.items() if number))

    @property
    def deny(self) -> Share:
        """What they deny together."""
        return Share(sum(bit for bit, number in self._deny.items() if number))


class Opens:
    """The opens of all clients."""

    def __init__(self, stateids: Stateids) -> None:
        self._stateids = stateids
        self._of_file: dict[Hashable, dict[tuple[Hashable, bytes], Open]] = defaultdict(dict)
        self._shares: dict[Hashable, _Shares] = defaultdict(_Shares)
        self.on_last_close: Callable[[t.Any], None] = lambda _file: None
        """Called with a file that nobody has open any more."""

    def is_open(self, file: Hashable) -> bool:
        """Whether anybody has a file open."""
        return file in self._of_file

    def of_file(self, file: Hashable) -> Iterable[Open]:
        """The opens of a file."""
        return self._of_file.get(file, {}).values()

    def has_others(self, file: Hashable, client: Hashable) -> bool:
        """Whether another client has a file open."""
        return any(one.client != client for one in self.of_file(file))

    def find(self, client: Hashable, owner: bytes, file: Hashable) -> Open | None:
        """The open of a file by an owner."""
        return self._of_file.get(file, {}).get((client, owner))

    def require_shareable(self, file: Hashable, access: Share, deny: Share) -> None:
        """Raises SHARE_DENIED if an open excludes another with this access and denial.

        The owner's own opens count as well (section 18.16.3: "with no exception for the existing OPEN").
        """
        shares = self._shares.get(file)
        if shares is not None and (shares.access & deny or shares.deny & access):
            raise StateError("SHARE_DENIED")

    def shares(self, file: Hashable) -> tuple[Share, Share]:
        """(access, denial) of all opens of a file together."""
        shares = self._shares.get(file)
        return (Share.NONE, Share.NONE) if shares is None else (shares.access, shares.deny)

    def _change(self, one: Open, access: Share, deny: Share) -> None:
        """Another access and denial of an open."""
        shares = self._shares[one.file]
        shares.count(one.access, one.deny, -1)
        shares.count(access, deny, 1)
        one.access, one.deny = access, deny

    def open(self, client: Hashable, owner: bytes, file: Hashable, access: Share, deny: Share) -> Open:
        """Open a file, or add to what the owner has open of it. Raises SHARE_DENIED, DELAY."""
        self.require_shareable(file, access, deny)
        one = self.find(client, owner, file)
        if one is None:
            one = Open(client, file, owner)
            self._stateids.add(one)
            self._of_file[file][client, owner] = one
        else:
            one.changed()
        one.modes.add((access, deny))
        self._change(one, one.access | access, one.deny | deny)
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
        self._change(one, access, deny)
        one.changed()

    def close(self, one: Open) -> None:
        """End the opens of an owner."""
        opens = self._of_file.get(one.file)
        if opens is not None and opens.pop((one.client, one.owner), None) is not None:
            self._shares[one.file].count(one.access, one.deny, -1)
            if not opens:
                del self._of_file[one.file], self._shares[one.file]
        self._stateids.remove(one)
        if not self.is_open(one.file):
            self.on_last_close(one.file)

    def denies(self, file: Hashable, access: Share, besides: Open | None = None) -> bool:
        """Whether an open of somebody else excludes I/O of this kind."""
        if not self.shares(file)[1] & access:
            return False
        return any(one.deny & access for one in self.of_file(file) if one is not besides)
