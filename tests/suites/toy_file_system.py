# SPDX-License-Identifier: MIT
"""A file system in memory with the calls of a `CommonClient`: right, or with one fault of real servers."""

from __future__ import annotations

import itertools
import typing as t
from dataclasses import dataclass, field

from fixtures.checks.scratch import as_name
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from suites.common_client import Answer, CommonClient, Entry, Page, Seen

NOW: t.Final = 1_700_000_000
LOSES_AFTER_RENAME: t.Final = "a rename makes nlink 2, and a write after it is lost"


@dataclass
class Reply:
    """A reply with a status, as `expect` wants it."""

    status: Nfsstat3 | Nfsstat4 = Nfsstat3.NFS3_OK
    resok: object = None


@dataclass(eq=False)
class Node:
    """A file, or a directory if it has names."""

    fileid: int
    data: bytes = b""
    cut: bytes = b""
    """What a truncation has removed."""
    mode: int = 0o644
    mtime: int = NOW
    nlink: int = 1
    names: dict[bytes, Node] | None = None
    text: bytes | None = None
    """Of a symbolic link."""
    was_written: bool = False
    """Since somebody has looked at it."""
    was_moved: bool = False
    """Its directory was renamed."""
    was_renamed: bool = False
    uses: int = 0


@dataclass
class Toy:
    """The server; `fault` is what it does wrong, or one of its freedoms."""

    fault: str = ""
    numbers: t.Iterator[int] = field(default_factory=lambda: itertools.count(2))
    handles: dict[bytes, Node] = field(default_factory=dict)
    expired: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.top = Node(1, names={})
        self.handles[b"1"] = self.top

    def expires(self, handle: bytes) -> bool:
        """Whether this handle has expired: that of a file does so at the seventh use; then the file has another."""
        node = self.handles.get(handle)
        if handle in self.expired:
            return True
        if self.fault != "handles expire" or node is None or node.names is not None:
            return False
        node.uses += 1
        if node.uses % _USES:
            return False
        del self.handles[handle]
        self.expired.add(handle)
        self.handles[b"%d" % next(self.numbers)] = node
        return True

    def handle_of(self, node: Node) -> bytes:
        """The handle of an object."""
        return next(handle for handle, known in self.handles.items() if known is node)

    def make(self, where: bytes, name: bytes, *, is_directory: bool = False) -> bytes:
        """A new object, in place of none."""
        node = Node(next(self.numbers), names={} if is_directory else None)
        names = self.handles[where].names
        assert names is not None
        assert name not in names
        names[name] = node
        handle = b"%d" % node.fileid
        self.handles[handle] = node
        return handle


_USES: t.Final = 7
_EXPIRED: t.Final = Answer[t.Any](Reply(Nfsstat4.NFS4ERR_FHEXPIRED))
_STALE: t.Final = Answer[t.Any](Reply(Nfsstat3.NFS3ERR_STALE))
_NOENT: t.Final = Answer[t.Any](Reply(Nfsstat3.NFS3ERR_NOENT))
_DONE: t.Final = Answer[t.Any](Reply())


class ToyClient(CommonClient):
    """A client of the server."""

    def __init__(self, toy: Toy) -> None:
        self.toy = toy

    def _names(self, where: bytes) -> dict[bytes, Node]:
        names = self.toy.handles[where].names
        assert names is not None
        return names

    def getattr(self, handle: bytes) -> Answer[Seen]:
        if self.toy.expires(handle):
            return _EXPIRED
        node = self.toy.handles.get(handle)
        if node is None:
            return _STALE
        if node.was_written and self.toy.fault == "a write sets mtime when somebody looks":
            node.mtime = NOW
        node.was_written = False
        seen = Seen(node.names is None, len(node.data), node.mode, node.nlink, node.fileid, node.mtime)
        return Answer(Reply(), seen)

    def lookup(self, where: bytes, name: bytes) -> Answer[tuple[bytes, Seen | None]]:
        if where not in self.toy.handles:
            return _STALE
        node = self._names(where).get(name)
        if node is None:
            return _NOENT
        handle = self.toy.handle_of(node)
        return Answer(Reply(), (handle, self.getattr(handle).value))

    def read(self, handle: bytes, offset: int, count: int) -> Answer[tuple[bytes, bool]]:
        if self.toy.expires(handle):
            return _EXPIRED
        node = self.toy.handles.get(handle)
        if node is None:
            return _STALE
        return Answer(Reply(), (node.data[offset : offset + count], offset + count >= len(node.data)))

    def write(self, handle: bytes, offset: int, data: bytes) -> Answer[int]:
        if self.toy.expires(handle):
            return _EXPIRED
        node = self.toy.handles.get(handle)
        if node is None:
            return _STALE
        if node.was_moved and self.toy.fault == "files cannot be written after their directory was renamed":
            return Answer(Reply(Nfsstat3.NFS3ERR_IO))
        if offset > len(node.data) and self.toy.fault == "no gaps":
            return Answer(Reply(Nfsstat3.NFS3ERR_INVAL))
        if node.was_renamed and self.toy.fault == LOSES_AFTER_RENAME:
            return Answer(Reply(), len(data))
        before = node.data.ljust(offset, b"\0")
        node.data = before[:offset] + data + before[offset + len(data) :]
        node.mtime, node.was_written = NOW, True
        return Answer(Reply(), len(data))

    def set(
        self, handle: bytes, *, size: int | None = None, mode: int | None = None, mtime: int | None = None
    ) -> Answer[None]:
        if self.toy.expires(handle):
            return _EXPIRED
        node = self.toy.handles.get(handle)
        if node is None:
            return _STALE
        if size is not None:
            restores = self.toy.fault == "what was cut off comes back"
            more = (node.cut if restores else b"") + bytes(size)
            if size < len(node.data):
                node.cut = node.data[size:]
            node.data = (node.data + more)[:size]
            if self.toy.fault != "sizes leave mtime":
                node.mtime = NOW
        if mode is not None:
            node.mode = mode & 0o600 if self.toy.fault == "modes of the owner only" else mode
        if mtime is not None:
            node.mtime = mtime
        return _DONE

    def create(self, where: bytes, name: bytes) -> Answer[bytes]:
        return Answer(Reply(), self.toy.make(where, name)) if where in self.toy.handles else _STALE

    def mkdir(self, where: bytes, name: bytes) -> Answer[None]:
        if where not in self.toy.handles:
            return _STALE
        self.toy.make(where, name, is_directory=True)
        return _DONE

    def remove(self, where: bytes, name: bytes) -> Answer[None]:
        if where not in self.toy.handles:
            return _STALE
        if name not in self._names(where):
            return _NOENT
        self._drop(self._names(where).pop(name))
        return _DONE

    rmdir = remove

    def _drop(self, node: Node) -> None:
        node.nlink -= 1
        if not node.nlink:
            del self.toy.handles[self.toy.handle_of(node)]

    def rename(self, where: bytes, name: bytes, to_name: bytes) -> Answer[None]:
        if where not in self.toy.handles:
            return _STALE
        names = self._names(where)
        if to_name in names:
            self._drop(names[to_name])
        moved = names[to_name] = names.pop(name)
        moved.was_renamed = True
        if self.toy.fault == LOSES_AFTER_RENAME:
            moved.nlink += 1
        if self.toy.fault == "hidden files":
            names[b".fuse_hidden%d" % next(self.toy.numbers)] = Node(next(self.toy.numbers))
            self.toy.handles[b"h%d" % next(self.toy.numbers)] = [*names.values()][-1]
        for node in (moved, *(moved.names or {}).values()):
            node.was_moved = node is not moved
            if self.toy.fault == "handles become stale":
                self.toy.handles[b"%d" % next(self.toy.numbers)] = node
                del self.toy.handles[self.toy.handle_of(node)]
        return _DONE

    def move(self, where: bytes, name: bytes, to: bytes, to_name: bytes) -> Answer[None]:
        if where not in self.toy.handles or to not in self.toy.handles:
            return _STALE
        self._names(to)[to_name] = self._names(where).pop(name)
        return _DONE

    def take(self, where: bytes, name: bytes, *, size: int | None = None) -> Answer[None]:
        found = self._names(where).get(name)
        if found is None:
            self.toy.make(where, name)
        elif size == 0:
            return self.set(self.toy.handle_of(found), size=0)
        return _DONE

    def set_group(self, handle: bytes) -> Answer[None]:
        return _DONE if handle in self.toy.handles else _STALE

    def link(self, handle: bytes, where: bytes, name: bytes) -> Answer[None]:
        if handle in self.toy.expired:
            return _EXPIRED
        node = self.toy.handles.get(handle)
        if node is None:
            return _STALE
        self._names(where)[name] = node
        node.nlink += 1
        return _DONE

    def page(self, where: bytes, at: t.Any = None) -> Answer[Page]:
        if where not in self.toy.handles:
            return _STALE
        entries = [
            Entry(name, self.getattr(self.toy.handle_of(node)).value)
            for name, node in self._names(where).items()
        ]
        return Answer(Reply(), Page(entries, None))


class ToyScratch:
    """What `World` needs of a scratch directory."""

    handle = b"1"

    def __init__(self, toy: Toy) -> None:
        self._toy = toy

    def directory(self, name: str | bytes, *, directory: bytes | None = None) -> bytes:
        return self._toy.make(directory or self.handle, as_name(name), is_directory=True)

    def file(self, name: str | bytes, data: bytes = b"", *, directory: bytes | None = None) -> bytes:
        handle = self._toy.make(directory or self.handle, as_name(name))
        self._toy.handles[handle].data = data
        return handle

    def symlink(self, name: str | bytes, text: bytes) -> bytes:
        handle = self._toy.make(self.handle, as_name(name))
        self._toy.handles[handle].text = text
        return handle

    def link(self, handle: bytes, name: str | bytes) -> None:
        ToyClient(self._toy).link(handle, self.handle, as_name(name))

    def lookup(self, name: str | bytes) -> bytes | None:
        found = ToyClient(self._toy).lookup(self.handle, as_name(name)).value
        return None if found is None else found[0]

    def read(self, handle: bytes) -> bytes:
        return self._toy.handles[handle].data

    def names(self) -> list[bytes]:
        return sorted(self._toy.top.names or {})
