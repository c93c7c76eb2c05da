# SPDX-License-Identifier: MIT
"""From a path to an object name by name, symbolic links followed; what it takes of the protocol is three methods."""

from __future__ import annotations

import abc
import typing as t
from collections.abc import Sequence

from nfsclient.highlevel.errors import LinkNotFollowed
from nfsclient.paths import names_of, shown

_MOST_LINKS: t.Final = 40

N = t.TypeVar("N")


class Walker(abc.ABC, t.Generic[N]):
    """Finds paths below a root, whose own path on the server is `base`. `N` is what stands for an object.

    A symbolic link with an absolute text is followed if it stays below `base`. ".." is answered from the way
    that was gone, so it needs nothing of the server and never leads above the root.
    """

    def __init__(self, base: bytes) -> None:
        self._base = names_of(base)

    @abc.abstractmethod
    def root_node(self) -> N:
        """The directory that paths start at."""

    @abc.abstractmethod
    def _step(self, directory: N, name: bytes, path: bytes) -> N:
        """The object `name` in `directory`, not followed. `path` is for errors."""

    @abc.abstractmethod
    def _link_text(self, node: N, path: bytes) -> bytes | None:
        """The text of a symbolic link, None for anything else."""

    def _walk(self, path: bytes, *, follow: bool) -> N:
        """The object at `path`; of a symbolic link at its end the target, unless `follow` is False."""
        way = [self.root_node()]
        todo = names_of(path)[::-1]
        links = 0
        while todo:
            name = todo.pop()
            if name == b"..":
                way = way[:-1] or way
                continue
            node = self._step(way[-1], name, path)
            text = self._link_text(node, path) if follow or todo else None
            if text is None:
                way.append(node)
                continue
            links += 1
            if links > _MOST_LINKS:
                raise LinkNotFollowed(f"{shown(path)} leads through more than {_MOST_LINKS} symbolic links")
            if text.startswith(b"/"):
                way = way[:1]
            todo += self._names_of_link(text, path)[::-1]
        return way[-1]

    def _names_of_link(self, text: bytes, path: bytes) -> Sequence[bytes]:
        names = names_of(text)
        if not text.startswith(b"/"):
            return names
        if names[: len(self._base)] != self._base:
            raise LinkNotFollowed(
                f"{shown(path)} leads through a symbolic link to {shown(text)}, out of the export"
            )
        return names[len(self._base) :]
