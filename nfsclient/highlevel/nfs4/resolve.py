# SPDX-License-Identifier: MIT
"""From a path to a file handle: LOOKUPs in one compound, name by name where symbolic links are (RFC 5661 18.13)."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from nfsclient.clients.nfs4 import CompoundError
from nfsclient.clients.nfs4 import operations as op
from nfsclient.highlevel.errors import LinkNotFollowed
from nfsclient.highlevel.nfs4.live import LiveClient
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
_MOST_LINKS: t.Final = 40
_MOST_NAMES: t.Final = 8
"""LOOKUPs of one compound: every server allows this many operations."""


@dataclass(frozen=True, slots=True)
class Node4:
    """An object: its handle, the path it was found by, and its attributes."""

    handle: bytes
    path: bytes
    attributes: p.Fattr4


class Resolver4:
    """Finds paths below `root`, whose own path on the server is `base`. ".." never leads above `root`."""

    def __init__(self, live: LiveClient, root: bytes, base: bytes = b"/") -> None:
        self._live = live
        self._root = root
        self._base = names_of(base)

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
        return self._step_by_step(path, follow)

    def _step_by_step(self, path: bytes, follow: bool) -> Node4:
        way = [self._lookup(self._root, [], b"/")]
        todo = names_of(path)[::-1]
        links = 0
        while todo:
            name = todo.pop()
            if name == b"..":
                way = way[:-1] or way
                continue
            node = self._lookup(way[-1].handle, [name], path)
            if (follow or todo) and node.attributes.type == p.NfsFtype4.NF4LNK:
                links += 1
                if links > _MOST_LINKS:
                    raise LinkNotFollowed(
                        f"{shown(path)} leads through more than {_MOST_LINKS} symbolic links"
                    )
                text = self.read_link(node.handle, path)
                if text.startswith(b"/"):
                    way = way[:1]
                todo += self._names_of_link(text, path)[::-1]
            else:
                here = way[-1].path.rstrip(b"/") + b"/" + name
                way.append(Node4(node.handle, here, node.attributes))
        return way[-1]

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
        return Node4(reply.handle, b"/" + b"/".join(names), reply.attributes)

    def _names_of_link(self, text: bytes, path: bytes) -> t.Sequence[bytes]:
        names = names_of(text)
        if not text.startswith(b"/"):
            return names
        if names[: len(self._base)] != self._base:
            raise LinkNotFollowed(
                f"{shown(path)} leads through a symbolic link to {shown(text)}, out of the export"
            )
        return names[len(self._base) :]
