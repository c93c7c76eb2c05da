# SPDX-License-Identifier: MIT
"""NFSv3 as a `CommittingClient` and `TreeClient`."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    DONT_CHANGE_TIME,
    CreateMode3,
    Fattr3,
    Ftype3,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    StableHow,
)
from nfsclient.rpc.blocking import RpcClient
from suites.common_client import Answer, CommittingClient, Entry, Page, Put, Seen, Sync, TreeClient
from suites.nfs3.listing import DOTS
from suites.nfs3.new_objects import VERIFIER
from suites.nfs3.times import at_client_time
from suites.replies import copies_sent

_PAGE: t.Final = 8192
_START: t.Final = (0, bytes(8))
_HOW: t.Final = {
    "unchecked": CreateMode3.UNCHECKED,
    "guarded": CreateMode3.GUARDED,
    "exclusive": CreateMode3.EXCLUSIVE,
}


def _seen(attributes: Fattr3) -> Seen:
    return Seen(
        attributes.type is Ftype3.NF3REG,
        attributes.size,
        attributes.mode,
        attributes.nlink,
        attributes.fileid,
        attributes.mtime.seconds,
    )


class CommonNfs3(CommittingClient, TreeClient):
    """NFSv3 on one connection. Listings come from READDIRPLUS, unless the server does not support it."""

    def __init__(self, nfs3: Nfs3) -> None:
        self._nfs3 = nfs3
        self._has_plus = True

    def copies_sent(self) -> int:
        return copies_sent(self._nfs3.rpc)

    def calls_repeated(self) -> int:
        return self.copies_sent() + self._nfs3.put_off

    def connect_again(self) -> None:
        if isinstance(self._nfs3.rpc, RpcClient):
            self._nfs3.rpc.reconnect()

    def getattr(self, handle: bytes) -> Answer[Seen]:
        reply = self._nfs3.getattr(handle)
        return Answer(reply, None if reply.resok is None else _seen(reply.resok.obj_attributes))

    def lookup(self, where: bytes, name: bytes) -> Answer[tuple[bytes, Seen | None]]:
        reply = self._nfs3.lookup(where, name)
        if reply.resok is None:
            return Answer(reply)
        found = reply.resok.obj_attributes
        return Answer(reply, (reply.resok.object, None if found is None else _seen(found)))

    def read(self, handle: bytes, offset: int, count: int) -> Answer[tuple[bytes, bool]]:
        reply = self._nfs3.read(handle, offset, count)
        resok = reply.resok
        return Answer(reply, None if resok is None else (bytes(resok.data), resok.eof))

    def put(self, handle: bytes, offset: int, data: bytes, how: Sync) -> Answer[Put]:
        reply = self._nfs3.write(handle, offset, data, StableHow(how))
        if reply.resok is None:
            return Answer(reply)
        done = reply.resok
        return Answer(reply, Put(done.count, done.committed != StableHow.UNSTABLE, done.verf))

    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Answer[bytes]:
        reply = self._nfs3.commit(handle, offset, count)
        return Answer(reply, None if reply.resok is None else reply.resok.verf)

    def set(
        self, handle: bytes, *, size: int | None = None, mode: int | None = None, mtime: int | None = None
    ) -> Answer[None]:
        time = DONT_CHANGE_TIME if mtime is None else at_client_time(Nfstime3(mtime))
        return Answer(self._nfs3.setattr(handle, Sattr3(size=size, mode=mode, mtime=time)))

    def create(self, where: bytes, name: bytes) -> Answer[bytes]:
        reply = self._nfs3.create(where, name, CreateMode3.GUARDED, Sattr3(mode=0o644))
        return Answer(reply, None if reply.resok is None else reply.resok.obj or b"")

    def mkdir(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs3.mkdir(where, name, Sattr3(mode=0o755)))

    def remove(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs3.remove(where, name))

    def rmdir(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs3.rmdir(where, name))

    def rename(self, where: bytes, name: bytes, to_name: bytes) -> Answer[None]:
        return Answer(self._nfs3.rename(where, name, where, to_name))

    def move(self, where: bytes, name: bytes, to: bytes, to_name: bytes) -> Answer[None]:
        return Answer(self._nfs3.rename(where, name, to, to_name))

    def take(self, where: bytes, name: bytes, *, size: int | None = None) -> Answer[None]:
        return Answer(self._nfs3.create(where, name, CreateMode3.UNCHECKED, Sattr3(mode=0o644, size=size)))

    def set_group(self, handle: bytes) -> Answer[None]:
        known = self._nfs3.getattr(handle)
        if known.resok is None:
            return Answer(known)
        return Answer(self._nfs3.setattr(handle, Sattr3(gid=known.resok.obj_attributes.gid)))

    def link(self, handle: bytes, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs3.link(handle, where, name))

    def page(self, where: bytes, at: t.Any = None) -> Answer[Page]:
        cookie, verifier = at or _START
        if self._has_plus:
            plus = self._nfs3.readdirplus(where, cookie, verifier, _PAGE, _PAGE)
            if plus.status != Nfsstat3.NFS3ERR_NOTSUPP:
                return Answer(plus, None if plus.resok is None else _page(plus.resok))
            self._has_plus = False
        reply = self._nfs3.readdir(where, cookie, verifier, _PAGE)
        return Answer(reply, None if reply.resok is None else _page(reply.resok))

    def symlink(self, where: bytes, name: bytes, text: bytes) -> Answer[None]:
        return Answer(self._nfs3.symlink(where, name, text))

    def readlink(self, handle: bytes) -> Answer[bytes]:
        reply = self._nfs3.readlink(handle)
        return Answer(reply, None if reply.resok is None else bytes(reply.resok.data))

    def parent(self, directory: bytes) -> Answer[bytes]:
        reply = self._nfs3.lookup(directory, b"..")
        return Answer(reply, None if reply.resok is None else reply.resok.object)

    def create_empty(self, where: bytes, name: bytes, how: str) -> Answer[None]:
        return Answer(self._nfs3.create(where, name, _HOW[how], Sattr3(mode=0o644, size=0), VERIFIER))


def _page(resok: t.Any) -> Page:
    entries: list[t.Any] = resok.entries
    ends = resok.eof or not entries
    found = [
        (entry.name, getattr(entry, "name_attributes", None)) for entry in entries if entry.name not in DOTS
    ]
    shown = [Entry(name, None if attributes is None else _seen(attributes)) for name, attributes in found]
    return Page(shown, None if ends else (entries[-1].cookie, resok.cookieverf))
