# SPDX-License-Identifier: MIT
"""A client of a program by NFSv3."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol import nfs3 as p
from suites.model.players import KINDS, SECOND, Player, verifier_of
from suites.model.seen import Answer, Entry, Seen
from suites.model.steps import Step
from suites.replies import copies_sent


def _nanoseconds(time: p.Nfstime3) -> int:
    return time.seconds * SECOND + time.nseconds


def seen3(found: p.Fattr3 | None) -> Seen | None:
    """Attributes in the form of the model."""
    if found is None:
        return None
    return Seen(
        kind=KINDS.get(int(found.type), "special file"),
        size=found.size,
        nlink=found.nlink,
        mode=found.mode & 0o777,
        uid=found.uid,
        gid=found.gid,
        fileid=(found.fsid, found.fileid),
        mtime=_nanoseconds(found.mtime),
        ctime=_nanoseconds(found.ctime),
    )


def _time(seconds: int | None) -> p.SetTime:
    if seconds is None:
        return p.DONT_CHANGE_TIME
    return p.SERVER_TIME if seconds < 0 else p.client_time(seconds)


class Player3(Player):
    """NFSv3."""

    version = "v3"
    title = "NFSv3"

    def __init__(self, nfs3: Nfs3, root: bytes) -> None:
        self._nfs3 = nfs3
        info = nfs3.fsinfo(root).resok
        if info is not None:
            self.per_read = min(info.rtmax or 8192, 1 << 20)
            self.per_write = min(info.wtmax or 8192, 1 << 20)
            self.time_delta = _nanoseconds(info.time_delta) or SECOND
            self.can_set_times = bool(info.properties & p.FSF3_CANSETTIME)

    def copies_sent(self) -> int:
        """As of `Player`."""
        return copies_sent(self._nfs3.rpc)

    @staticmethod
    def _answer(
        reply: t.Any, attributes: p.Fattr3 | None = None, wcc: p.WccData | None = None, **more: t.Any
    ) -> Answer:
        if wcc is not None:
            attributes = wcc.after
            before = wcc.before
            if before is not None:
                more["before"] = (before.size, _nanoseconds(before.mtime), _nanoseconds(before.ctime))
        return Answer(reply.status, reply, attributes=seen3(attributes), **more)

    def getattr(self, handle: bytes) -> Answer:
        """GETATTR."""
        reply = self._nfs3.getattr(handle)
        return self._answer(reply, None if reply.resok is None else reply.resok.obj_attributes)

    def setattr(self, handle: bytes, step: Step) -> Answer:
        """SETATTR of all that the step sets."""
        uid, gid = (None, None) if step.owner is None else step.owner
        new = p.Sattr3(mode=step.mode, uid=uid, gid=gid, size=step.size, mtime=_time(step.mtime))
        reply = self._nfs3.setattr(handle, new)
        return self._answer(reply, wcc=None if reply.resok is None else reply.resok.obj_wcc)

    def lookup(self, directory: bytes, name: bytes) -> Answer:
        """LOOKUP."""
        reply = self._nfs3.lookup(directory, name)
        if reply.resok is None:
            return Answer(reply.status, reply)
        return self._answer(reply, reply.resok.obj_attributes, handle=reply.resok.object)

    def access(self, handle: bytes) -> Answer:
        """ACCESS."""
        reply = self._nfs3.access(handle, 0x3F)
        return self._answer(reply, None if reply.resok is None else reply.resok.obj_attributes)

    def read_link(self, handle: bytes) -> Answer:
        """READLINK."""
        reply = self._nfs3.readlink(handle)
        if reply.resok is None:
            return Answer(reply.status, reply)
        return self._answer(reply, reply.resok.symlink_attributes, data=bytes(reply.resok.data))

    def read(self, handle: bytes, offset: int, count: int) -> Answer:
        """READ."""
        reply = self._nfs3.read(handle, offset, count)
        if reply.resok is None:
            return Answer(reply.status, reply)
        data = bytes(reply.resok.data)
        return self._answer(reply, reply.resok.file_attributes, data=data, is_end=reply.resok.eof)

    def write(self, handle: bytes, offset: int, data: bytes, level: int) -> Answer:
        """WRITE."""
        reply = self._nfs3.write(handle, offset, data, p.StableHow(level))
        if reply.resok is None:
            return Answer(reply.status, reply)
        count = min(reply.resok.count, len(data))
        is_stable = reply.resok.committed == p.StableHow.FILE_SYNC
        return self._answer(reply, wcc=reply.resok.file_wcc, count=count, is_stable=is_stable)

    def commit(self, handle: bytes) -> Answer:
        """COMMIT of the whole file."""
        reply = self._nfs3.commit(handle)
        return self._answer(reply, wcc=None if reply.resok is None else reply.resok.file_wcc)

    def make(self, directory: bytes, name: bytes, step: Step) -> Answer:
        """CREATE, MKDIR, SYMLINK or MKNOD."""
        nfs3, attributes = self._nfs3, p.Sattr3(mode=step.mode, size=step.size)
        reply: t.Any
        match step.verb:
            case "MKDIR":
                reply = nfs3.mkdir(directory, name, attributes)
            case "SYMLINK":
                reply = nfs3.symlink(directory, name, step.text)
            case "FIFO":
                what = p.Mknoddata3(p.Ftype3.NF3FIFO, pipe_attributes=p.Sattr3(mode=0o644))
                reply = nfs3.mknod(directory, name, what)
            case _:
                how = p.CreateMode3[step.how]
                reply = nfs3.create(directory, name, how, attributes, verifier_of(step))
        if reply.resok is None:
            return Answer(reply.status, reply)
        return self._answer(reply, reply.resok.obj_attributes, handle=reply.resok.obj)

    def link(self, handle: bytes, directory: bytes, name: bytes) -> Answer:
        """LINK."""
        reply = self._nfs3.link(handle, directory, name)
        return self._answer(reply, None if reply.resok is None else reply.resok.file_attributes)

    def remove(self, directory: bytes, name: bytes, *, is_directory: bool) -> Answer:
        """REMOVE, or RMDIR."""
        reply: t.Any = (self._nfs3.rmdir if is_directory else self._nfs3.remove)(directory, name)
        return Answer(reply.status, reply)

    def rename(self, source: bytes, name: bytes, target: bytes, new: bytes) -> Answer:
        """RENAME."""
        reply = self._nfs3.rename(source, name, target, new)
        return Answer(reply.status, reply)

    def page(self, directory: bytes, cookie: int, verifier: bytes, *, plain: bool) -> tuple[Answer, bytes]:
        """A page of READDIR, or of READDIRPLUS."""
        reply: t.Any = (self._nfs3.readdir if plain else self._nfs3.readdirplus)(directory, cookie, verifier)
        if reply.resok is None:
            return Answer(reply.status, reply), verifier
        entries = [
            Entry(
                each.name,
                each.cookie,
                each.fileid,
                None if plain else seen3(each.name_attributes),
            )
            for each in reply.resok.entries
        ]
        answer = Answer(reply.status, reply, entries=entries, is_end=reply.resok.eof)
        return answer, reply.resok.cookieverf
