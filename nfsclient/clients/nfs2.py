# SPDX-License-Identifier: MIT
"""A typed client of NFSv2: one method per procedure, each giving the reply whatever its status (RFC 1094)."""

from __future__ import annotations

import typing as t

from nfsclient.clients.caller import TypedClient
from nfsclient.protocol import nfs2 as p
from nfsclient.xdr import Buffer, Void

_NOTHING_SET: t.Final = p.Sattr()
START: t.Final = bytes(p.COOKIESIZE)
"""The cookie at the start of a directory (section 2.2.17)."""


class Nfs2(TypedClient):
    """NFSv2 over one connection. File handles are 32 bytes; arguments are named as in the RFC.

    A status is given back like any other result. Raises `RpcError` and `XdrError` only.
    """

    __slots__ = ()

    def null(self) -> None:
        """NULL: nothing, but an answer (section 2.2.1)."""
        self.call(p.NULL, Void())

    def getattr(self, file: bytes) -> p.Attrstat:
        """GETATTR: the attributes of an object (section 2.2.2)."""
        return self.call(p.GETATTR, p.FhandleArgs(file))

    def setattr(self, file: bytes, attributes: p.Sattr) -> p.Attrstat:
        """SETATTR: change those attributes that are not -1 (section 2.2.3)."""
        return self.call(p.SETATTR, p.Sattrargs(file, attributes))

    def root(self) -> None:
        """ROOT: obsolete; nothing (section 2.2.4)."""
        self.call(p.ROOT, Void())

    def lookup(self, dir: bytes, name: bytes) -> p.Diropres:
        """LOOKUP: handle and attributes of a name in a directory (section 2.2.5)."""
        return self.call(p.LOOKUP, p.Diropargs(dir, name))

    def readlink(self, file: bytes) -> p.Readlinkres:
        """READLINK: the text of a symbolic link (section 2.2.6)."""
        return self.call(p.READLINK, p.FhandleArgs(file))

    def read(
        self, file: bytes, offset: int, count: int, totalcount: int = 0, into: memoryview | None = None
    ) -> p.Readres:
        """READ: up to `count` bytes from `offset` on; `totalcount` is unused (section 2.2.7).

        The data is a memoryview of the reply; with `into`, of at least `count` bytes, it lands there instead.
        """
        return self.call(p.READ, p.Readargs(file, offset, count, totalcount), into=into)

    def writecache(self) -> None:
        """WRITECACHE: for a revision to come; nothing (section 2.2.8)."""
        self.call(p.WRITECACHE, Void())

    def write(
        self, file: bytes, offset: int, data: Buffer, beginoffset: int = 0, totalcount: int = 0
    ) -> p.Attrstat:
        """WRITE: `data` at `offset`, all of it; the last two arguments are ignored (section 2.2.9)."""
        return self.call(p.WRITE, p.Writeargs(file, beginoffset, offset, totalcount, data))

    def create(self, dir: bytes, name: bytes, attributes: p.Sattr = _NOTHING_SET) -> p.Diropres:
        """CREATE: a regular file (section 2.2.10)."""
        return self.call(p.CREATE, p.Createargs(p.Diropargs(dir, name), attributes))

    def remove(self, dir: bytes, name: bytes) -> p.StatRes:
        """REMOVE: a name that is not a directory's (section 2.2.11)."""
        return self.call(p.REMOVE, p.Diropargs(dir, name))

    def rename(self, from_dir: bytes, from_name: bytes, to_dir: bytes, to_name: bytes) -> p.StatRes:
        """RENAME: give an object another name, in one step (section 2.2.12)."""
        source = p.Diropargs(from_dir, from_name)
        return self.call(p.RENAME, p.Renameargs(source, p.Diropargs(to_dir, to_name)))

    def link(self, file: bytes, dir: bytes, name: bytes) -> p.StatRes:
        """LINK: a further name for an object (section 2.2.13)."""
        return self.call(p.LINK, p.Linkargs(file, p.Diropargs(dir, name)))

    def symlink(self, dir: bytes, name: bytes, data: bytes, attributes: p.Sattr = _NOTHING_SET) -> p.StatRes:
        """SYMLINK: a symbolic link with the text `data`; no handle comes back (section 2.2.14)."""
        return self.call(p.SYMLINK, p.Symlinkargs(p.Diropargs(dir, name), data, attributes))

    def mkdir(self, dir: bytes, name: bytes, attributes: p.Sattr = _NOTHING_SET) -> p.Diropres:
        """MKDIR: a directory (section 2.2.15)."""
        return self.call(p.MKDIR, p.Createargs(p.Diropargs(dir, name), attributes))

    def rmdir(self, dir: bytes, name: bytes) -> p.StatRes:
        """RMDIR: an empty directory (section 2.2.16)."""
        return self.call(p.RMDIR, p.Diropargs(dir, name))

    def readdir(self, dir: bytes, cookie: bytes = START, count: int = 4096) -> p.Readdirres:
        """READDIR: names after `cookie`, in at most `count` bytes of result (section 2.2.17)."""
        return self.call(p.READDIR, p.Readdirargs(dir, cookie, count))

    def statfs(self, file: bytes) -> p.Statfsres:
        """STATFS: sizes of the file system, and how full it is (section 2.2.18)."""
        return self.call(p.STATFS, p.FhandleArgs(file))
