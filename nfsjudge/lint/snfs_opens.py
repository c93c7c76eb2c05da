# SPDX-License-Identifier: MIT
"""Who has opened a file by Spritely NFS, as far as exchanges have shown it from its CREATE on.

    what                          kept in            ended by
    who has ever opened it        `Openers.ever`     nothing: it may only be too large
    who has it open for sure      `Openers.now`      any CLOSE by the client, a sign of a restart, a callback that it
                                                     has not answered with NFS_OK, an OPEN after which data may be lost
    who was granted caching       `Openers.granted`  the next OPEN by the same client

In doubt it is silent: a call that overlaps others ends what is known for sure, and a file is forgotten after an OPEN or
CLOSE that comes twice. `World.opened` has the files that were opened before: no later CREATE begins with those.
"""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from nfsjudge.lint.seen import Source

Client: t.TypeAlias = str
"""The address that it calls from."""
MOST_FILES: t.Final = 10_000


class Open(t.NamedTuple):
    """An OPEN that has succeeded."""

    order: int
    """By it, one is later than another."""
    writes: bool
    source: Source


@dataclass(slots=True)
class Openers:
    """Of one file."""

    generation: int
    """That of the world when the file was created: another one means that not everything was seen."""
    count: int = 0
    ever: dict[Client, bool] = field(default_factory=dict)
    """Client -> whether it has opened the file for writing."""
    now: dict[Client, Open] = field(default_factory=dict)
    """The first OPEN of those that it has not closed, after others that may cache; for writing if one of them is."""
    granted: dict[Client, Open] = field(default_factory=dict)

    def has_opened(self, client: Client, *, writes: bool) -> None:
        """It may have, at any time."""
        self.ever[client] = self.ever.get(client, False) or writes

    def opened(self, client: Client, source: Source, *, writes: bool, may_cache: bool, is_sure: bool) -> None:
        """An OPEN has succeeded. `is_sure`: nothing else went on meanwhile."""
        self.count += 1
        found = Open(self.count, writes, source)
        self.granted.pop(client, None)
        if may_cache:
            self.granted[client] = found
        first = self.now.get(client)
        if not is_sure:
            self.now.pop(client, None)
        elif first is None or (writes and not first.writes) or self._granted_since(first, client):
            self.now[client] = found

    def _granted_since(self, first: Open, client: Client) -> bool:
        """Whether others may cache by a later OPEN: then the client was perhaps given up, and begins again."""
        return any(other != client and grant.order > first.order for other, grant in self.granted.items())

    def granted_with(self, client: Client) -> Open | None:
        """An OPEN by another client that enabled caching next to this one, where one of the two writes."""
        mine = self.now.get(client)
        if mine is None:
            return None
        for other, grant in self.granted.items():
            if other != client and grant.order > mine.order and (grant.writes or mine.writes):
                return grant
        return None
