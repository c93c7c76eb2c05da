# SPDX-License-Identifier: MIT
"""From a path to a file handle: LOOKUPs in one compound, name by name where symbolic links are (RFC 5661 18.13)."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ServerViolation
from nfsclient.highlevel.nfs4.live import LiveClient
from nfsclient.highlevel.walking import Walker
from nfsclient.paths import names_of, shown
from nfsclient.protocol import nfs4 as p
from nfsclient.replies import status_error

STAT: t.Final = (
    "type",
    "change",
    "size",
    "fsid",
    "fileid",
    "mode",
    "numlinks",
    "owner",
    "owner_group",
    "rawdev",
    "space_used",
    "time_access",
    "time_metadata",
    "time_modify",
)
"""The attributes that come with every object."""
_MOST_NAMES: t.Final = 8
"""LOOKUPs of one compound: every server allows this many operations."""


@dataclass(frozen=True, slots=True)
class Node4:
    """An object: its handle, the path it was found by, and its attributes."""

    handle: bytes
    path: bytes
    attributes: p.Fattr4


class Resolver4(Walker[Node4]):
    """Finds paths below `root`, whose own path on the server is `base`."""

    def __init__(self, live: LiveClient, root: bytes, base: bytes = b"/") -> None:
        super().__init__(base)
        self._live = live
        self._root = root

    def find(self, path: bytes, *, follow: bool = True) -> Node4:
        """The object at `path`; of a symbolic link at its end the target, unless `follow` is False.

        Raises `NfsStatusError` and `LinkNotFollowed`.
        """
        names = names_of(path)
        if names and b".." not in names and len(names) <= _MOST_NAMES:
            try:
                node = self._lookup(self._root, names, path)
            except CompoundError as error:
                if error.status not in {p.Nfsstat4.NFS4ERR_SYMLINK, p.Nfsstat4.NFS4ERR_NOTDIR}:
                    raise
            else:
                if not follow or node.attributes.type != p.NfsFtype4.NF4LNK:
                    return node
        return self._walk(path, follow=follow)

    def _root_node(self) -> Node4:
        return self._lookup(self._root, [], b"/")

    def _step(self, directory: Node4, name: bytes, path: bytes) -> Node4:
        node = self._lookup(directory.handle, [name], path)
        return Node4(node.handle, directory.path.rstrip(b"/") + b"/" + name, node.attributes)

    def _link_text(self, node: Node4, path: bytes) -> bytes | None:
        return self.read_link(node.handle, path) if node.attributes.type == p.NfsFtype4.NF4LNK else None

    def parent(self, path: bytes) -> tuple[Node4, bytes]:
        """The directory that holds the last name of `path`, and that name. Raises like `find`."""
        names = names_of(path)
        if not names or names[-1] == b"..":
            raise status_error(p.Nfsstat4.NFS4ERR_INVAL, "LOOKUP", f"{shown(path)} (ends in no name)")
        return self.find(b"/".join(names[:-1])), names[-1]

    def child(self, directory: Node4, name: bytes, path: bytes) -> Node4:
        """The object `name` in `directory`, not followed."""
        return self._lookup(directory.handle, [name], path)

    def attributes(self, handle: bytes, path: bytes, names: t.Iterable[str] = STAT) -> p.Fattr4:
        """The attributes of an object now."""
        wanted = tuple(names)
        return self._live.run(lambda: [op.putfh(handle), op.getattr(*wanted)], path).attributes

    def read_link(self, handle: bytes, path: bytes) -> bytes:
        """The text of a symbolic link."""
        result = self._live.run(lambda: [op.putfh(handle), op.readlink()], path).of(p.READLINK).resok4
        assert result is not None
        return result.link

    def _lookup(self, start: bytes, names: t.Sequence[bytes], path: bytes) -> Node4:
        reply = self._live.run(
            lambda: [op.putfh(start), *[op.lookup(name) for name in names], op.getfh(), op.getattr(*STAT)],
            path,
        )
        attributes = reply.attributes
        if attributes.type is None or attributes.size is None:
            missing = "type" if attributes.type is None else "size"
            raise ServerViolation(f"GETATTR of {shown(path)}: the REQUIRED attribute {missing} is missing")
        if not attributes.type.is_known:
            raise ServerViolation(
                f"{shown(path)}: expected an nfs_ftype4 in the attributes, saw {attributes.type}"
            )
        return Node4(reply.handle, b"/" + b"/".join(names), attributes)
