# SPDX-License-Identifier: MIT
"""NFSv4 as a `CommittingClient` and `TreeClient`."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import new_state_owner, note_open, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, NfsFtype4, StableHow4
from nfsclient.xdr import XdrType
from suites.common_client import Answer, CommittingClient, Entry, Page, Put, Seen, Sync, TreeClient
from suites.nfs4.opens import BOTH, WRITE

_ATTRIBUTES: t.Final = ("type", "size", "mode", "numlinks", "fileid", "time_modify")
_LISTED: t.Final = ("rdattr_error", *_ATTRIBUTES)
_PAGE: t.Final = 8192
_VERIFIER: t.Final = b"nfsproof"


def _seen(attributes: Fattr4) -> Seen | None:
    if attributes.type is None or attributes.size is None:
        return None  # in a listing, with rdattr_error
    mtime = None if attributes.time_modify is None else attributes.time_modify.seconds
    return Seen(
        attributes.type == NfsFtype4.NF4REG,
        attributes.size,
        attributes.mode,
        attributes.numlinks,
        attributes.fileid,
        mtime,
    )


class CommonNfs4(CommittingClient, TreeClient):
    """A client of NFSv4. A write is an OPEN, a WRITE and a CLOSE; no file stays open."""

    def __init__(self, compounds: Compounds) -> None:
        self._compounds = compounds

    def _run(self, *operations: XdrType) -> CompoundReply:
        return through_grace(self._compounds, *operations)

    def getattr(self, handle: bytes) -> Answer[Seen]:
        reply = self._run(op.putfh(handle), op.getattr(*_ATTRIBUTES))
        return Answer(reply, None if reply.status else _seen(reply.attributes))

    def lookup(self, where: bytes, name: bytes) -> Answer[tuple[bytes, Seen | None]]:
        reply = self._run(op.putfh(where), op.lookup(name), op.getfh(), op.getattr(*_ATTRIBUTES))
        return Answer(reply, None if reply.status else (reply.handle, _seen(reply.attributes)))

    def read(self, handle: bytes, offset: int, count: int) -> Answer[tuple[bytes, bool]]:
        reply = self._run(op.putfh(handle), op.read(op.ANONYMOUS, offset, count))
        found = None if reply.status else reply.of(p.READ).resok4
        return Answer(reply, None if found is None else (bytes(found.data), found.eof))

    def look(self, handle: bytes, count: int) -> Answer[tuple[Seen, bytes, bool]]:
        reading = op.getattr(*_ATTRIBUTES), op.read(op.ANONYMOUS, 0, count)
        reply = self._run(op.putfh(handle), *reading)
        found = None if reply.status else reply.of(p.READ).resok4
        seen = None if reply.status else _seen(reply.attributes)
        return Answer(reply, None if found is None or seen is None else (seen, bytes(found.data), found.eof))

    def put(self, handle: bytes, offset: int, data: bytes, how: Sync) -> Answer[Put]:
        opened = self._run(op.putfh(handle), op.open(None, WRITE, owner=new_state_owner()))
        if opened.status:
            return Answer(opened)
        written = self._write(opened.stateid, handle, offset, data, how)
        closed = self._run(op.putfh(handle), op.close(opened.stateid))
        return Answer(closed) if written.succeeded and closed.status else written

    def _write(self, stateid: p.Stateid4, handle: bytes, offset: int, data: bytes, how: Sync) -> Answer[Put]:
        reply = self._run(op.putfh(handle), op.write(stateid, offset, data, StableHow4(how)))
        done = None if reply.status else reply.of(p.WRITE).resok4
        if done is None:
            return Answer(reply)
        return Answer(reply, Put(done.count, done.committed != StableHow4.UNSTABLE4, done.writeverf))

    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Answer[bytes]:
        reply = self._run(op.putfh(handle), op.commit(offset, count))
        done = None if reply.status else reply.of(p.COMMIT).resok4
        return Answer(reply, None if done is None else done.writeverf)

    def set(
        self, handle: bytes, *, size: int | None = None, mode: int | None = None, mtime: int | None = None
    ) -> Answer[None]:
        time = None if mtime is None else p.client_time(mtime)
        asked = Fattr4(size=size, mode=mode, time_modify_set=time)
        return Answer(self._run(op.putfh(handle), op.setattr(asked)))

    def create(self, where: bytes, name: bytes) -> Answer[bytes]:
        opening = op.open(name, BOTH, owner=new_state_owner(), how=op.guarded())
        reply = self._run(op.putfh(where), opening, op.getfh())
        if reply.status:
            return Answer(reply)
        closed = self._run(op.putfh(reply.handle), op.close(reply.stateid))
        return Answer(closed if closed.status else reply, reply.handle)

    def mkdir(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._run(op.putfh(where), op.mkdir(name)))

    def remove(self, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._run(op.putfh(where), op.remove(name)))

    def rmdir(self, where: bytes, name: bytes) -> Answer[None]:
        return self.remove(where, name)

    def rename(self, where: bytes, name: bytes, to_name: bytes) -> Answer[None]:
        return Answer(self._run(op.putfh(where), op.savefh(), op.rename(name, to_name)))

    def move(self, where: bytes, name: bytes, to: bytes, to_name: bytes) -> Answer[None]:
        return Answer(self._run(op.putfh(where), op.savefh(), op.putfh(to), op.rename(name, to_name)))

    def take(self, where: bytes, name: bytes, *, size: int | None = None) -> Answer[None]:
        how = op.unchecked(Fattr4(mode=0o644, size=size))
        reply = self._run(op.putfh(where), op.open(name, BOTH, owner=new_state_owner(), how=how), op.getfh())
        if reply.status:
            return Answer(reply)
        closed = self._run(op.putfh(reply.handle), op.close(reply.stateid))
        return Answer(closed if closed.status else reply)

    def set_group(self, handle: bytes) -> Answer[None]:
        known = self._run(op.putfh(handle), op.getattr("owner_group"))
        if known.status:
            return Answer(known)
        group = Fattr4(owner_group=known.attributes.owner_group)
        return Answer(self._run(op.putfh(handle), op.setattr(group)))

    def link(self, handle: bytes, where: bytes, name: bytes) -> Answer[None]:
        return Answer(self._run(op.putfh(handle), op.savefh(), op.putfh(where), op.link(name)))

    def page(self, where: bytes, at: t.Any = None) -> Answer[Page]:
        cookie, verifier = at or (0, bytes(p.NFS4_VERIFIER_SIZE))
        asking = op.readdir(cookie, verifier, maxcount=_PAGE, dircount=_PAGE, attributes=_LISTED)
        reply = self._run(op.putfh(where), asking)
        found = None if reply.status else reply.of(p.READDIR).resok4
        if found is None:
            return Answer(reply)
        entries = found.reply.entries
        ends = found.reply.eof or not entries
        shown = [
            Entry(entry.name, _seen(entry.attrs)) for entry in entries if entry.name not in {b".", b".."}
        ]
        return Answer(reply, Page(shown, None if ends else (entries[-1].cookie, found.cookieverf)))

    def symlink(self, where: bytes, name: bytes, text: bytes) -> Answer[None]:
        return Answer(self._run(op.putfh(where), op.symlink(name, text)))

    def readlink(self, handle: bytes) -> Answer[bytes]:
        reply = self._run(op.putfh(handle), op.readlink())
        found = None if reply.status else reply.of(p.READLINK).resok4
        return Answer(reply, None if found is None else bytes(found.link))

    def parent(self, directory: bytes) -> Answer[bytes]:
        reply = self._run(op.putfh(directory), op.lookupp(), op.getfh())
        return Answer(reply, None if reply.status else reply.handle)

    def create_empty(self, where: bytes, name: bytes, how: str) -> Answer[None]:
        empty = Fattr4(mode=0o644, size=0)
        ways = {
            "unchecked": op.unchecked(empty),
            "guarded": op.guarded(empty),
            "exclusive": op.exclusive4_1(_VERIFIER, Fattr4()),
        }
        opening = op.open(name, BOTH, owner=new_state_owner(), how=ways[how])
        reply = self._run(op.putfh(where), opening)
        if not reply.status:
            self._run(op.putfh(where), op.lookup(name), op.close(reply.stateid))
        return Answer(reply)


class OpenNfs4(CommonNfs4):
    """The same, but a file stays open from its first `put` on: a server may commit what it has at OPEN and CLOSE."""

    def __init__(self, compounds: Compounds) -> None:
        super().__init__(compounds)
        self._opens: dict[bytes, p.Stateid4] = {}

    def put(self, handle: bytes, offset: int, data: bytes, how: Sync) -> Answer[Put]:
        if handle not in self._opens:
            opened = self._run(op.putfh(handle), op.open(None, WRITE, owner=new_state_owner()))
            if opened.status:
                return Answer(opened)
            self._opens[handle] = opened.stateid
            note_open(self._compounds, handle, opened.stateid)
        return self._write(self._opens[handle], handle, offset, data, how)
