# SPDX-License-Identifier: MIT
"""A typed client of NFSv3: one method per procedure, each giving the reply whatever its status (RFC 1813)."""

from __future__ import annotations

import typing as t

from nfsclient.clients.caller import Caller, TypedClient
from nfsclient.clients.patience import Patience
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, Void, XdrType

if t.TYPE_CHECKING:
    from nfsclient.rpc.auth import Credential

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_NOTHING_SET: t.Final = p.Sattr3()
_MODE_OF_LINKS: t.Final = p.Sattr3(mode=0o777)
"""As other clients ask for; some servers make nothing without a mode."""
_ZERO_VERF: t.Final = bytes(8)


def is_jukebox(reply: object) -> bool:
    """Whether a reply asks to try again later in a new call (RFC 1813 section 2.6)."""
    return getattr(reply, "status", None) == p.Nfsstat3.NFS3ERR_JUKEBOX


class Nfs3(TypedClient):
    """NFSv3 over one connection. File handles are bytes; arguments are named as in the RFC.

    With `patience` a JUKEBOX answer is tried again, each time as a new call, and given back only when
    patience ends; without, it is given back at once like any other. Raises `RpcError` and `XdrError` only.
    """

    __slots__ = ("patience", "put_off")

    def __init__(
        self,
        rpc: Caller,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(rpc, credential=credential, timeout=timeout)
        self.patience = patience
        self.put_off = 0
        """Calls that were answered with JUKEBOX at first, and tried again: a server may have begun them each time."""

    def call(self, procedure: Procedure[A, R], args: A, *, into: memoryview | None = None) -> R:
        """Make one call, and further ones while the answer is JUKEBOX and patience lasts."""
        reply = self.rpc.call(procedure, args, credential=self.credential, timeout=self.timeout, into=into)
        if self.patience is None or not is_jukebox(reply):
            return reply
        self.put_off += 1
        again = super().call
        return self.patience.retry(lambda: again(procedure, args, into=into), is_jukebox, reply)

    def null(self) -> None:
        """NULL: nothing, but an answer (section 3.3.0)."""
        self.call(p.NULL, Void())

    def getattr(self, object: bytes) -> p.Getattr3Res:
        """GETATTR: the attributes of an object (section 3.3.1)."""
        return self.call(p.GETATTR, p.Getattr3Args(object))

    def setattr(
        self, object: bytes, new_attributes: p.Sattr3, guard: p.Nfstime3 | None = None
    ) -> p.Setattr3Res:
        """SETATTR: change attributes, with `guard` only if it is the object's ctime (section 3.3.2)."""
        return self.call(p.SETATTR, p.Setattr3Args(object, new_attributes, guard))

    def lookup(self, dir: bytes, name: bytes) -> p.Lookup3Res:
        """LOOKUP: the handle of a name in a directory (section 3.3.3)."""
        return self.call(p.LOOKUP, p.Lookup3Args(p.Diropargs3(dir, name)))

    def access(self, object: bytes, access: int) -> p.Access3Res:
        """ACCESS: which of the ACCESS3_* bits in `access` the caller is granted (section 3.3.4)."""
        return self.call(p.ACCESS, p.Access3Args(object, access))

    def readlink(self, symlink: bytes) -> p.Readlink3Res:
        """READLINK: the text of a symbolic link (section 3.3.5)."""
        return self.call(p.READLINK, p.Readlink3Args(symlink))

    def read(self, file: bytes, offset: int, count: int, into: memoryview | None = None) -> p.Read3Res:
        """READ: up to `count` bytes from `offset` on (section 3.3.6).

        The data is a memoryview of the reply; with `into`, of at least `count` bytes, it lands there instead.
        """
        return self.call(p.READ, p.Read3Args(file, offset, count), into=into)

    def write(
        self,
        file: bytes,
        offset: int,
        data: Buffer,
        stable: p.StableHow = p.StableHow.FILE_SYNC,
        count: int | None = None,
    ) -> p.Write3Res:
        """WRITE: `data` at `offset`; `count` says something else than its length (section 3.3.7)."""
        size = len(data) if count is None else count
        return self.call(p.WRITE, p.Write3Args(file, offset, size, stable, data))

    def create(
        self,
        dir: bytes,
        name: bytes,
        mode: p.CreateMode3 = p.CreateMode3.UNCHECKED,
        attributes: p.Sattr3 = _NOTHING_SET,
        verf: bytes = _ZERO_VERF,
    ) -> p.Create3Res:
        """CREATE: a regular file; `verf` is sent with EXCLUSIVE, `attributes` otherwise (section 3.3.8)."""
        if mode == p.CreateMode3.EXCLUSIVE:
            how = p.Createhow3(mode, verf=verf)
        else:
            how = p.Createhow3(mode, obj_attributes=attributes)
        return self.call(p.CREATE, p.Create3Args(p.Diropargs3(dir, name), how))

    def mkdir(self, dir: bytes, name: bytes, attributes: p.Sattr3 = _NOTHING_SET) -> p.Mkdir3Res:
        """MKDIR: a directory (section 3.3.9)."""
        return self.call(p.MKDIR, p.Mkdir3Args(p.Diropargs3(dir, name), attributes))

    def symlink(
        self, dir: bytes, name: bytes, data: bytes, attributes: p.Sattr3 = _MODE_OF_LINKS
    ) -> p.Symlink3Res:
        """SYMLINK: a symbolic link with the text `data` (section 3.3.10)."""
        link = p.Symlinkdata3(attributes, data)
        return self.call(p.SYMLINK, p.Symlink3Args(p.Diropargs3(dir, name), link))

    def mknod(self, dir: bytes, name: bytes, what: p.Mknoddata3) -> p.Mknod3Res:
        """MKNOD: a device, socket or FIFO (section 3.3.11)."""
        return self.call(p.MKNOD, p.Mknod3Args(p.Diropargs3(dir, name), what))

    def remove(self, dir: bytes, name: bytes) -> p.Remove3Res:
        """REMOVE: a name that is not a directory's (section 3.3.12)."""
        return self.call(p.REMOVE, p.Remove3Args(p.Diropargs3(dir, name)))

    def rmdir(self, dir: bytes, name: bytes) -> p.Rmdir3Res:
        """RMDIR: a directory (section 3.3.13)."""
        return self.call(p.RMDIR, p.Rmdir3Args(p.Diropargs3(dir, name)))

    def rename(self, from_dir: bytes, from_name: bytes, to_dir: bytes, to_name: bytes) -> p.Rename3Res:
        """RENAME: give an object another name, in one step (section 3.3.14)."""
        source = p.Diropargs3(from_dir, from_name)
        return self.call(p.RENAME, p.Rename3Args(source, p.Diropargs3(to_dir, to_name)))

    def link(self, file: bytes, dir: bytes, name: bytes) -> p.Link3Res:
        """LINK: a further name for an object (section 3.3.15)."""
        return self.call(p.LINK, p.Link3Args(file, p.Diropargs3(dir, name)))

    def readdir(
        self, dir: bytes, cookie: int = 0, cookieverf: bytes = _ZERO_VERF, count: int = 8192
    ) -> p.Readdir3Res:
        """READDIR: names after `cookie`, in at most `count` bytes of result (section 3.3.16)."""
        return self.call(p.READDIR, p.Readdir3Args(dir, cookie, cookieverf, count))

    def readdirplus(
        self,
        dir: bytes,
        cookie: int = 0,
        cookieverf: bytes = _ZERO_VERF,
        dircount: int = 8192,
        maxcount: int = 32768,
    ) -> p.Readdirplus3Res:
        """READDIRPLUS: names with attributes and handles, in at most `maxcount` bytes (section 3.3.17)."""
        args = p.Readdirplus3Args(dir, cookie, cookieverf, dircount, maxcount)
        return self.call(p.READDIRPLUS, args)

    def fsstat(self, fsroot: bytes) -> p.Fsstat3Res:
        """FSSTAT: how full the file system is (section 3.3.18)."""
        return self.call(p.FSSTAT, p.Fsstat3Args(fsroot))

    def fsinfo(self, fsroot: bytes) -> p.Fsinfo3Res:
        """FSINFO: limits and preferences of the file system (section 3.3.19)."""
        return self.call(p.FSINFO, p.Fsinfo3Args(fsroot))

    def pathconf(self, object: bytes) -> p.Pathconf3Res:
        """PATHCONF: limits and rules for names (section 3.3.20)."""
        return self.call(p.PATHCONF, p.Pathconf3Args(object))

    def commit(self, file: bytes, offset: int = 0, count: int = 0) -> p.Commit3Res:
        """COMMIT: make written data stable; `count` 0 means to the end of the file (section 3.3.21)."""
        return self.call(p.COMMIT, p.Commit3Args(file, offset, count))
