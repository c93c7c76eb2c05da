# SPDX-License-Identifier: MIT
"""NFSv2 as a `CommonClient` and `TreeClient`."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs2
from nfsclient.clients.nfs2 import START
from nfsclient.protocol.nfs2 import IGNORED, IGNORED_TIME, MAXDATA, Fattr, Ftype, Sattr, Timeval
from nfsclient.rpc.blocking import RpcClient
from suites.common_client import Answer, Entry, Page, Seen, TreeClient
from suites.replies import copies_sent

_DOTS: t.Final = frozenset({b".", b".."})


def _seen(attributes: Fattr) -> Seen:
    return Seen(
        attributes.type is Ftype.NFREG,
        attributes.size,
        attributes.mode,
        attributes.nlink,
        attributes.fileid,
        attributes.mtime.seconds,
    )


def _asked(value: int | None) -> int:
    return IGNORED if value is None else value


class CommonNfs2(TreeClient):
    """NFSv2 on one connection. Its listings have names only."""

    def __init__(self, nfs2: Nfs2) -> None:
        self._nfs2 = nfs2

    def copies_sent(self) -> int:
        return copies_sent(self._nfs2.rpc)

    def connect_again(self) -> None:
        if isinstance(self._nfs2.rpc, RpcClient):
            self._nfs2.rpc.reconnect()

    def getattr(self, handle: bytes) -> Answer[Seen]:
        reply = self._nfs2.getattr(handle)
        return Answer(reply, None if reply.resok is None else _seen(reply.resok))

    def lookup(self, where: bytes, name: bytes) -> Answer[tuple[bytes, Seen | None]]:
        reply = self._nfs2.lookup(where, name)
        resok = reply.resok
        return Answer(reply, None if resok is None else (resok.file, _seen(resok.attributes)))

    def read(self, handle: bytes, offset: int, count: int) -> Answer[tuple[bytes, bool]]:
        reply = self._nfs2.read(handle, offset, min(count, MAXDATA))
        if reply.resok is None:
            return Answer(reply)
        data = bytes(reply.resok.data)
        return Answer(reply, (data, offset + len(data) >= reply.resok.attributes.size))

    def write(self, handle: bytes, offset: int, data: bytes) -> Answer[int]:
        return Answer(self._nfs2.write(handle, offset, data), len(data))

    def set(
        self, handle: bytes, *, size: int | None = None, mode: int | None = None, mtime: int | None = None
    ) -> Answer[None]:
        time = IGNORED_TIME if mtime is None else Timeval(mtime)
        return Answer(self._nfs2.setattr(handle, Sattr(size=_asked(size), mode=_asked(mode), mtime=time)))

    def create(self, where: bytes, name: bytes) -> Answer[bytes]:
        reply = self._nfs2.create(where, name, Sattr(mode=0o644, size=0))
        return Answer(reply, None if reply.resok is None else reply.resok.file)

    def mkdir(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs2.mkdir(where, name, Sattr(mode=0o755)))

    def remove(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs2.remove(where, name))

    def rmdir(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs2.rmdir(where, name))

    def rename(self, where: bytes, name: bytes, to_name: bytes) -> Answer[None]:
        return Answer(self._nfs2.rename(where, name, where, to_name))

    def move(self, where: bytes, name: bytes, to: bytes, to_name: bytes) -> Answer[None]:
        return Answer(self._nfs2.rename(where, name, to, to_name))

    def take(self, where: bytes, name: bytes, *, size: int | None = None) -> Answer[None]:
        return Answer(self._nfs2.create(where, name, Sattr(mode=0o644, size=_asked(size))))

    def set_group(self, handle: bytes) -> Answer[None]:
        known = self._nfs2.getattr(handle)
        if known.resok is None:
            return Answer(known)
        return Answer(self._nfs2.setattr(handle, Sattr(gid=known.resok.gid)))

    def link(self, handle: bytes, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._nfs2.link(handle, where, name))

    def page(self, where: bytes, at: t.Any = None) -> Answer[Page]:
        reply = self._nfs2.readdir(where, at or START, MAXDATA)
        if reply.resok is None:
            return Answer(reply)
        entries = reply.resok.entries
        ends = reply.resok.eof or not entries
        shown = [Entry(entry.name, None) for entry in entries if entry.name not in _DOTS]
        return Answer(reply, Page(shown, None if ends else entries[-1].cookie))

    def symlink(self, where: bytes, name: bytes, text: bytes) -> Answer[None]:
        return Answer(self._nfs2.symlink(where, name, text, Sattr(mode=0o777)))

    def readlink(self, handle: bytes) -> Answer[bytes]:
        reply = self._nfs2.readlink(handle)
        return Answer(reply, None if reply.data is None else bytes(reply.data))

    def parent(self, directory: bytes) -> Answer[bytes]:
        reply = self._nfs2.lookup(directory, b"..")
        return Answer(reply, None if reply.resok is None else reply.resok.file)

    def create_empty(self, where: bytes, name: bytes, how: str) -> Answer[None]:
        return Answer(self._nfs2.create(where, name, Sattr(mode=0o644, size=0)))
