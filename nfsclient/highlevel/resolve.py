# SPDX-License-Identifier: MIT
"""From a path to a file handle, one LOOKUP per name (RFC 1813 section 3.3.3), symbolic links followed."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.highlevel.errors import LinkNotFollowed
from nfsclient.highlevel.session import Session
from nfsclient.paths import names_of, shown
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import status_error

_MOST_LINKS = 40


@dataclass(frozen=True, slots=True)
class Node:
    """An object: its handle, the path it was found by, and its attributes if the server gave them along."""

    handle: bytes
    path: bytes
    attributes: p.Fattr3 | None = None


class Resolver:
    """Finds paths below `root`, whose own path on the server is `base`.

    A symbolic link with an absolute text is followed if it stays below `base`. ".." is answered from the way
    that was gone, so it needs nothing of the server and never leads above `root`.
    """

    def __init__(self, session: Session, root: bytes, base: bytes = b"/") -> None:
        self._session = session
        self._root = root
        self._base = names_of(base)

    def find(self, path: bytes, *, follow: bool = True) -> Node:
        """The object at `path`; of a symbolic link at its end the target, unless `follow` is False.

        Raises `NfsStatusError` and `LinkNotFollowed`.
        """
        way = [Node(self._root, b"/")]
        todo = names_of(path)[::-1]
        links = 0
        while todo:
            name = todo.pop()
            if name == b"..":
                way = way[:-1] or way
                continue
            node = self._lookup(way[-1], name, path)
            if (follow or todo) and self._attributes(node, path).type == p.Ftype3.NF3LNK:
                links += 1
                if links > _MOST_LINKS:
                    raise LinkNotFollowed(
                        f"{shown(path)} leads through more than {_MOST_LINKS} symbolic links"
                    )
                text = self.read_link(node, path)
                if text.startswith(b"/"):
                    way = way[:1]
                todo += self._names_of_link(text, path)[::-1]
            else:
                way.append(node)
        return way[-1]

    def parent(self, path: bytes) -> tuple[Node, bytes]:
        """The directory that holds the last name of `path`, and that name. Raises like `find`."""
        names = names_of(path)
        if not names or names[-1] == b"..":
            raise status_error(p.Nfsstat3.NFS3ERR_INVAL, "LOOKUP", f"{shown(path)} (ends in no name)")
        return self.find(b"/".join(names[:-1])), names[-1]

    def child(self, directory: Node, name: bytes, path: bytes) -> Node:
        """The object `name` in `directory`, not followed."""
        return self._lookup(directory, name, path)

    def attributes(self, node: Node) -> p.Fattr3:
        """The attributes of an object, by GETATTR where the server withheld them."""
        return self._attributes(node, node.path)

    def read_link(self, node: Node, path: bytes) -> bytes:
        """The text of a symbolic link."""
        return self._session.ok(self._session.nfs.readlink(node.handle), path).data

    def _lookup(self, directory: Node, name: bytes, path: bytes) -> Node:
        found = self._session.ok(self._session.nfs.lookup(directory.handle, name), path)
        return Node(found.object, directory.path.rstrip(b"/") + b"/" + name, found.obj_attributes)

    def _attributes(self, node: Node, path: bytes) -> p.Fattr3:
        if node.attributes is not None:
            return node.attributes
        return self._session.ok(self._session.nfs.getattr(node.handle), path).obj_attributes

    def _names_of_link(self, text: bytes, path: bytes) -> t.Sequence[bytes]:
        names = names_of(text)
        if not text.startswith(b"/"):
            return names
        if names[: len(self._base)] != self._base:
            raise LinkNotFollowed(
                f"{shown(path)} leads through a symbolic link to {shown(text)}, out of the export"
            )
        return names[len(self._base) :]
