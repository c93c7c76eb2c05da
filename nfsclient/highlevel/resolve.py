# SPDX-License-Identifier: MIT
"""From a path to a file handle, one LOOKUP per name (RFC 1813 section 3.3.3), symbolic links followed."""

from __future__ import annotations

from dataclasses import dataclass

from nfsclient.highlevel.errors import ServerViolation
from nfsclient.highlevel.session import Session
from nfsclient.highlevel.walking import Walker
from nfsclient.paths import names_of, shown
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import status_error


@dataclass(frozen=True, slots=True)
class Node:
    """An object: its handle, the path it was found by, and its attributes if the server gave them along."""

    handle: bytes
    path: bytes
    attributes: p.Fattr3 | None = None


class Resolver(Walker[Node]):
    """Finds paths below `root`, whose own path on the server is `base`."""

    def __init__(self, session: Session, root: bytes, base: bytes = b"/") -> None:
        super().__init__(base)
        self._session = session
        self._root = root

    def find(self, path: bytes, *, follow: bool = True) -> Node:
        """The object at `path`; of a symbolic link at its end the target, unless `follow` is False.

        Raises `NfsStatusError` and `LinkNotFollowed`.
        """
        return self._walk(path, follow=follow)

    def _root_node(self) -> Node:
        return Node(self._root, b"/")

    def _step(self, directory: Node, name: bytes, path: bytes) -> Node:
        return self._lookup(directory, name, path)

    def _link_text(self, node: Node, path: bytes) -> bytes | None:
        return self.read_link(node, path) if self._attributes(node, path).type == p.Ftype3.NF3LNK else None

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
        known = node.attributes
        if known is None:
            known = self._session.ok(self._session.nfs.getattr(node.handle), path).obj_attributes
        if not known.type.is_known:
            raise ServerViolation(f"{shown(path)}: expected an ftype3 in the attributes, saw {known.type}")
        return known
