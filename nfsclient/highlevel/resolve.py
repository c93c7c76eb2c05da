# SPDX-License-Identifier: MIT
"""From a path to a file handle, one LOOKUP per name (RFC 1813 section 3.3.3), symbolic links followed."""

from __future__ import annotations

import typing as t

from nfsclient.errors import ServerViolation
from nfsclient.files import Attributes, FileType, Found
from nfsclient.highlevel.session import Calls
from nfsclient.highlevel.walking import Walker
from nfsclient.paths import names_of, shown
from nfsclient.replies import status_error


class Node(t.NamedTuple):  # a frozen dataclass would take twice as long to make, once for each name
    """An object: its handle, the path it was found by, and its attributes if the server gave them along."""

    handle: bytes
    path: bytes
    attributes: Attributes | None = None

    def below(self, name: bytes) -> bytes:
        """The path of a name in this directory."""
        return self.path.rstrip(b"/") + b"/" + name


class Resolver(Walker[Node]):
    """Finds paths below `root`, whose own path on the server is `base`."""

    def __init__(self, calls: Calls, root: bytes, base: bytes = b"/") -> None:
        super().__init__(base)
        self._calls = calls
        self._root = root
        self._top = Node(root, b"/")

    def find(self, path: bytes, *, follow: bool = True) -> Node:
        """The object at `path`; of a symbolic link at its end the target, unless `follow` is False.

        Raises `NfsStatusError` and `LinkNotFollowed`.
        """
        return self._walk(path, follow=follow)

    def root_node(self) -> Node:
        return self._top

    def _step(self, directory: Node, name: bytes, path: bytes) -> Node:
        return self.child(directory, name, path)

    def _link_text(self, node: Node, path: bytes) -> bytes | None:
        attributes = node.attributes or self._attributes(node, path)
        return self.read_link(node, path) if attributes.type is FileType.LINK else None

    def parent(self, path: bytes) -> tuple[Node, bytes]:
        """The directory that holds the last name of `path`, and that name. Raises like `find`."""
        names = names_of(path)
        if not names or names[-1] == b"..":
            no_name = self._calls.files.no_name
            raise status_error(no_name, "LOOKUP", f"{shown(path)} (ends in no name)")
        above = names[:-1]
        return (self.find(b"/".join(above)) if above else self.root_node()), names[-1]

    def require_file_name(self, path: bytes, what: str) -> None:
        """Raise ISDIR of `what` for a path that ends in no name: it can only be a directory's. Raises like `find`."""
        names = names_of(path)
        if not names or names[-1] == b"..":
            self.find(path)
            raise status_error(self._calls.files.is_directory, what, shown(path))

    def child(self, directory: Node, name: bytes, path: bytes) -> Node:
        """The object `name` in `directory`, not followed. `path` is for errors."""
        found = self._calls.do(self._calls.files.lookup(directory.handle, name), path)
        node = self.node(found, directory.below(name), path)
        self._require_sound(node, path)
        return node

    def node(self, found: Found, at: bytes, path: bytes) -> Node:
        """What was found or created `at` a path. Raises `ServerViolation` if its attributes cannot be true."""
        try:
            return Node(found.handle, at, found.attributes)
        except ServerViolation as error:
            raise error.about(shown(path)) from None

    def _require_sound(self, node: Node, path: bytes) -> None:
        """Raise `ServerViolation` if something is missing of what LOOKUP must give."""

    def attributes(self, node: Node) -> Attributes:
        """The attributes of an object, by GETATTR where the server withheld them."""
        return self._attributes(node, node.path)

    def read_link(self, node: Node, path: bytes) -> bytes:
        """The text of a symbolic link."""
        return self._calls.do(self._calls.files.readlink(node.handle), path)

    def _attributes(self, node: Node, path: bytes) -> Attributes:
        if node.attributes is not None:
            return node.attributes
        return self._calls.do(self._calls.files.getattr(node.handle), path)
