# SPDX-License-Identifier: MIT
"""Files and directories by path, in every version of NFS: what the clients of all versions share."""

from __future__ import annotations

import abc
import os
import stat as modes
import typing as t
from contextlib import ExitStack

from nfsclient.clients.patience import SharedPatience, by_pages, one_patience
from nfsclient.files import SERVER_TIME, Attributes, Entry, Files, FileType, NewAttributes, Space, Time
from nfsclient.files.operations import Stat
from nfsclient.highlevel.files import NfsFile
from nfsclient.highlevel.listing import Lists
from nfsclient.highlevel.resolve import Node, Resolver
from nfsclient.highlevel.session import Calls
from nfsclient.highlevel.stats import stat_many
from nfsclient.listings import ListingBounds, require_shallow
from nfsclient.paths import PathLike, as_bytes, as_text, names_of
from nfsclient.xdr import Buffer

_WORTH_IT: t.Final = 2
"""Names of which attributes are wanted, before they are requested together."""


@one_patience
class NfsClient(abc.ABC):
    """A server's export as files and directories. Make one with `nfsclient.connect`, or with that of a version.

    The clients of NFSv2, NFSv3 and NFSv4 have this name too, each in its package (`nfsclient.nfs4.NfsClient`).

    Paths are text (UTF-8) or bytes, with "/" between names, and start at the directory that the URL named,
    with or without a leading "/". Names are returned in the type of the given path.
    Symbolic links are followed; by `lstat`, `remove`, `rename` and the like not at the end of the path.
    """

    listing_bounds: ListingBounds
    """Of one directory: more raises `EndlessListing`."""
    patience: SharedPatience
    """How long one call of a method waits in all, 30 s by default."""
    _calls: Calls
    _resolver: Resolver
    _closing: ExitStack

    @property
    def _files(self) -> Files:
        return self._calls.files

    @abc.abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ data

    @abc.abstractmethod
    def read_file(self, path: PathLike) -> bytes:
        """The whole contents of a file."""

    @abc.abstractmethod
    def write_file(self, path: PathLike, data: Buffer, *, mode: int = 0o644) -> None:
        """Make `data` the whole contents of a file, stable when this returns. `mode` is for a new file."""

    @abc.abstractmethod
    def open(self, path: PathLike, mode: str = "r", *, permissions: int = 0o644) -> NfsFile:
        """A binary file object; `mode` as of the built-in `open`: r, w, x or a, with + for both directions."""

    @abc.abstractmethod
    def truncate(self, path: PathLike, size: int) -> None:
        """Cut a file, or extend it by zeros, to `size` bytes."""

    # ------------------------------------------------------------ what is there

    def find(self, path: PathLike = "", *, follow: bool = True) -> Node:
        """Handle of an object, with its path and, if the server gave them along, its attributes."""
        return self._resolver.find(as_bytes(path), follow=follow)

    def stat(self, path: PathLike = "") -> Attributes:
        """The attributes of an object."""
        return self._resolver.attributes(self._resolver.find(as_bytes(path)))

    def lstat(self, path: PathLike) -> Attributes:
        """The attributes of an object, of a symbolic link itself."""
        return self._resolver.attributes(self.find(path, follow=False))

    def stat_many(self, paths: t.Iterable[PathLike], *, follow: bool = True) -> list[Stat]:
        """What `stat` of each path returns, or the `NfsStatusError` that it raises; in order.

        Names of one directory are requested together: in NFSv3 by a window of LOOKUPs, in NFSv4 by compounds of many
        names each. Without `follow`, as `lstat`. Other errors are raised.
        """
        stat = self.stat if follow else self.lstat
        return stat_many(paths, find=self._directory, names=self._stat_names, stat_of=stat, follow=follow)

    def _directory(self, path: bytes) -> Node:
        """A directory to look names up in: for the root that needs no call."""
        return self._resolver.find(path) if path else self._resolver.root_node()

    def _stat_names(self, directory: Node, names: t.Sequence[bytes]) -> t.Sequence[Stat | None]:  # noqa: ARG002
        """The attributes of names in a directory, not followed; None where there is no faster way than one by one."""
        return [None] * len(names)

    def exists(self, path: PathLike) -> bool:
        """Whether a path leads somewhere."""
        try:
            self.find(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def fsstat(self, path: PathLike = "") -> Space:
        """How full the file system is."""
        node = self.find(path)
        return self._calls.do(self._files.statfs(node.handle), node.path)

    @t.overload
    def listdir(self, path: str | os.PathLike[str] = "") -> list[str]: ...
    @t.overload
    def listdir(self, path: bytes | os.PathLike[bytes]) -> list[bytes]: ...
    def listdir(self, path: PathLike = "") -> list[str] | list[bytes]:
        """The names in a directory, in the server's order, without "." and ".."."""
        names = [name for page in self._lister(self.find(path)).names() for name in page]
        return names if isinstance(os.fspath(path), bytes) else [as_text(name) for name in names]

    @by_pages
    def scan(self, path: PathLike = "") -> t.Iterator[list[Entry]]:
        """The entries of a directory as they come, without "." and "..".

        `attributes` and `handle` are None where the server withholds them, as in all of NFSv2. While the caller works
        on a page the next one is on its way, except in NFSv2.
        """
        yield from self._lister(self.find(path)).entries()

    def walk(self, path: str | os.PathLike[str] = "") -> t.Iterator[tuple[str, list[str], list[str]]]:
        """(directory, names of directories in it, names of other objects) for a tree, as `os.walk` does.

        From the top down; the caller may remove names of directories to keep out of them. Symbolic links
        are not followed.
        """
        todo = [(os.fspath(path), self.find(path))]
        while todo:
            top, node = todo.pop()
            require_shallow(top)
            directories, others = self._sorted_out(node)
            names = list(directories)
            yield top, names, others
            todo += [(f"{top}/{name}" if top else name, directories[name]) for name in reversed(names)]

    def _sorted_out(self, node: Node) -> tuple[dict[str, Node], list[str]]:
        """The directories in a directory, and the names of what else is there."""
        directories: dict[str, Node] = {}
        others: list[str] = []
        lister = self._lister(node)
        lister.is_caller_ours = True
        for page in lister.entries():
            no_directories = self._found_no_directories(node, page)
            for entry in page:
                if entry.name in no_directories:
                    others.append(as_text(entry.name))
                    continue
                child = self._child(node, entry)
                if child is None:
                    continue
                if self._resolver.attributes(child).is_directory:
                    directories[as_text(entry.name)] = child
                else:
                    others.append(as_text(entry.name))
        return directories, others

    def _found_no_directories(self, directory: Node, page: t.Sequence[Entry]) -> t.Container[bytes]:
        """Of the entries that came without a handle those that are no directories: their attributes all at once."""
        names = [entry.name for entry in page if entry.handle is None]
        if len(names) < _WORTH_IT:
            return ()
        stats = zip(names, self._stat_names(directory, names), strict=True)
        return {
            name
            for name, stat in stats
            if getattr(stat, "type", FileType.DIRECTORY) is not FileType.DIRECTORY
        }

    def _child(self, directory: Node, entry: Entry) -> Node | None:
        """The object of an entry; None if it is gone since."""
        path = directory.below(entry.name)
        if entry.handle is not None:
            return Node(entry.handle, path, entry.attributes)
        try:
            return self._resolver.child(directory, entry.name, path)
        except FileNotFoundError:
            return None

    @abc.abstractmethod
    def _lister(self, node: Node) -> Lists: ...

    # ------------------------------------------------------------ names

    def mkdir(
        self, path: PathLike, mode: int = 0o755, *, parents: bool = False, exist_ok: bool = False
    ) -> Node:
        """Make a directory; `parents`: also those above it; `exist_ok`: unless it is there already."""
        wanted = as_bytes(path)
        above = names_of(wanted)[:-1] if parents else []
        for depth in range(1, len(above) + 1):
            self.mkdir(b"/".join(above[:depth]), mode, exist_ok=True)
        parent, name = self._resolver.parent(wanted)
        try:
            found = self._calls.do(self._files.mkdir(parent.handle, name, NewAttributes(mode=mode)), wanted)
        except FileExistsError:
            if exist_ok:
                node = self._resolver.find(wanted)
                if self._resolver.attributes(node).is_directory:
                    return node
            raise
        return self._resolver.node(found, parent.below(name), wanted)

    def symlink(self, target: PathLike, path: PathLike) -> Node:
        """Make a symbolic link with the text `target` at `path`."""
        wanted = as_bytes(path)
        parent, name = self._resolver.parent(wanted)
        making = self._files.symlink(parent.handle, name, as_bytes(target), NewAttributes(mode=0o777))
        found = self._calls.do(making, wanted)
        return self._resolver.node(found, parent.below(name), wanted)

    @t.overload
    def readlink(self, path: str | os.PathLike[str]) -> str: ...
    @t.overload
    def readlink(self, path: bytes | os.PathLike[bytes]) -> bytes: ...
    def readlink(self, path: PathLike) -> str | bytes:
        """The text of a symbolic link."""
        wanted = as_bytes(path)
        text = self._resolver.read_link(self._resolver.find(wanted, follow=False), wanted)
        return text if isinstance(os.fspath(path), bytes) else as_text(text)

    def link(self, path: PathLike, new: PathLike) -> None:
        """Give an object the further name `new`."""
        node = self._resolver.find(as_bytes(path), follow=False)
        parent, name = self._resolver.parent(as_bytes(new))
        self._calls.do(self._files.link(node.handle, parent.handle, name), as_bytes(new))

    def remove(self, path: PathLike) -> None:
        """Remove a name that is not a directory's."""
        wanted = as_bytes(path)
        parent, name = self._resolver.parent(wanted)
        self._calls.do(self._files.remove(parent.handle, name), wanted)

    def rmdir(self, path: PathLike) -> None:
        """Remove an empty directory."""
        wanted = as_bytes(path)
        parent, name = self._resolver.parent(wanted)
        self._calls.do(self._files.rmdir(parent.handle, name), wanted)

    def rename(self, path: PathLike, new: PathLike) -> None:
        """Give an object the name `new`; what had that name is replaced, if the server can."""
        source, source_name = self._resolver.parent(as_bytes(path))
        target, target_name = self._resolver.parent(as_bytes(new))
        renaming = self._files.rename(source.handle, source_name, target.handle, target_name)
        self._calls.do(renaming, as_bytes(path))

    # ------------------------------------------------------------ attributes

    def chmod(self, path: PathLike, mode: int) -> None:
        """Set the permission bits, as of `os.chmod`."""
        self._set(path, NewAttributes(mode=modes.S_IMODE(mode)))

    def chown(self, path: PathLike, uid: int | str | None = None, gid: int | str | None = None) -> None:
        """Set owner and group, as numbers, or `name@domain` in NFSv4; None leaves one."""
        owner, group = (each.encode() if isinstance(each, str) else None for each in (uid, gid))
        numbers = [each if isinstance(each, int) else None for each in (uid, gid)]
        self._set(path, NewAttributes(uid=numbers[0], gid=numbers[1], owner=owner, group=group))

    def utime(self, path: PathLike, times_ns: tuple[int, int] | None = None) -> None:
        """Set access and modification time, in nanoseconds since 1970; None takes the server's clock.

        NFSv2 has microseconds, and cannot take the server's clock (`NotInVersion`).
        """
        if times_ns is None:
            self._set(path, NewAttributes(atime=SERVER_TIME, mtime=SERVER_TIME))
            return
        atime, mtime = (Time.of_ns(each) for each in times_ns)
        self._set(path, NewAttributes(atime=atime, mtime=mtime))

    def setattr(self, path: PathLike, attributes: NewAttributes) -> None:
        """Set any attributes at once."""
        self._set(path, attributes)

    def _set(self, path: PathLike, attributes: NewAttributes) -> None:
        self._apply(self.find(path), attributes)

    def _apply(self, node: Node, attributes: NewAttributes) -> None:
        self._calls.do(self._files.setattr(node.handle, attributes), node.path)
