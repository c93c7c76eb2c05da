# SPDX-License-Identifier: MIT
"""From a path to a file handle: LOOKUPs in one compound, name by name where symbolic links are (RFC 5661 18.13)."""

from __future__ import annotations

import typing as t

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.errors import ServerViolation
from nfsclient.highlevel import resolve
from nfsclient.highlevel.nfs4.calls import LiveCalls
from nfsclient.highlevel.resolve import Node
from nfsclient.paths import names_of, shown
from nfsclient.protocol import nfs4 as p

_MOST_NAMES: t.Final = 8
"""LOOKUPs of one compound: every server allows this many operations."""


class Resolver(resolve.Resolver):
    """Finds paths below `root`, whose own path on the server is `base`."""

    def __init__(self, calls: LiveCalls, root: bytes, base: bytes = b"/") -> None:
        super().__init__(calls, root, base)
        self._files = calls.files

    def find(self, path: bytes, *, follow: bool = True) -> Node:
        """The object at `path`; of a symbolic link at its end the target, unless `follow` is False.

        Raises `NfsStatusError` and `LinkNotFollowed`.
        """
        names = names_of(path)
        if b".." not in names and len(names) <= _MOST_NAMES:
            try:
                found = self._calls.do(self._files.lookup_all(self._root, names), path)
            except CompoundError as error:
                if error.status not in {p.Nfsstat4.NFS4ERR_SYMLINK, p.Nfsstat4.NFS4ERR_NOTDIR}:
                    raise
            else:
                node = self.node(found, b"/" + b"/".join(names), path)
                self._require_sound(node, path)
                if not follow or not self._attributes(node, path).is_link:
                    return node
        return self._walk(path, follow=follow)

    def _require_sound(self, node: Node, path: bytes) -> None:
        for name in ("type", "size"):
            if getattr(node.attributes, name) is None:
                raise ServerViolation(f"GETATTR of {shown(path)}: the REQUIRED attribute {name} is missing")
