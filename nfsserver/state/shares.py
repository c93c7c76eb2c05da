# SPDX-License-Identifier: MIT
"""Share reservations by owner: what each may do with a file, and what it denies others. No protocol is in here.

Files and owners are whatever the caller identifies them by: NFSv4 has (client ID, open-owner), a lock manager for NFSv3
would have (host, caller). All protocols of a server share one table. What stays true: each owner has one pair of access
and denial for a file, and the sums of a file (`granted`) count each pair once.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable


class Share(enum.IntFlag):
    """Access or denial."""

    NONE = 0
    READ = 1
    WRITE = 2
    BOTH = 3


NOTHING = (Share.NONE, Share.NONE)
"""The access and the denial of who has none."""


class _Sums:
    """How many owners of a file have each access and each denial, so that nobody has to look at all of them."""

    def __init__(self) -> None:
        self._access = {Share.READ: 0, Share.WRITE: 0}
        self._deny = {Share.READ: 0, Share.WRITE: 0}

    def count(self, access: Share, deny: Share, number: int) -> None:
        """A pair begins (1), or ends (-1)."""
        for bit in self._access:
            self._access[bit] += number if access & bit else 0
            self._deny[bit] += number if deny & bit else 0

    @property
    def both(self) -> tuple[Share, Share]:
        """What the owners together have, and what they deny."""
        return (
            Share(sum(bit for bit, number in self._access.items() if number)),
            Share(sum(bit for bit, number in self._deny.items() if number)),
        )


class Shares:
    """The share reservations of all files."""

    def __init__(self) -> None:
        self._of_file: dict[Hashable, dict[Hashable, tuple[Share, Share]]] = {}
        self._sums: dict[Hashable, _Sums] = {}

    def of(self, file: Hashable, owner: Hashable) -> tuple[Share, Share]:
        """(access, denial) of an owner; `NOTHING` if it has no reservation."""
        return self._of_file.get(file, {}).get(owner, NOTHING)

    def owners(self, file: Hashable) -> tuple[Hashable, ...]:
        """Who has a reservation, the first one first."""
        return tuple(self._of_file.get(file, ()))

    def granted(self, file: Hashable) -> tuple[Share, Share]:
        """(access, denial) of all owners together."""
        sums = self._sums.get(file)
        return NOTHING if sums is None else sums.both

    def excludes(
        self, file: Hashable, access: Share, deny: Share = Share.NONE, *, besides: Hashable = None
    ) -> bool:
        """Whether a reservation is in the way of this access and denial; that of the owner `besides` never is."""
        all_access, all_deny = self.granted(file)
        if not (all_access & deny or all_deny & access):
            return False
        if besides is None:
            return True
        return any(
            mine & deny or denied & access
            for owner, (mine, denied) in self._of_file[file].items()
            if owner != besides
        )

    def put(self, file: Hashable, owner: Hashable, access: Share, deny: Share) -> None:
        """Give an owner this access and denial in place of what it had. `excludes` says whether it may have them."""
        sums = self._sums.setdefault(file, _Sums())
        sums.count(*self.of(file, owner), -1)
        sums.count(access, deny, 1)
        self._of_file.setdefault(file, {})[owner] = access, deny

    def release(self, file: Hashable, owner: Hashable) -> None:
        """An owner has no reservation any more."""
        owners = self._of_file.get(file)
        if owners is None or owner not in owners:
            return
        self._sums[file].count(*owners.pop(owner), -1)
        if not owners:
            self.forget(file)

    def forget(self, file: Hashable) -> None:
        """A file is gone: nobody has a reservation of it."""
        self._of_file.pop(file, None)
        self._sums.pop(file, None)
