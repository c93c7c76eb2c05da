# SPDX-License-Identifier: MIT
"""A client of a program by NFSv2, which has less: no COMMIT, ACCESS or MKNOD, no modes of CREATE, no eof."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable
from dataclasses import replace

from nfsclient.clients import Nfs2
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol import nfs2 as p
from suites.model.players import SECOND, Player, Silence
from suites.model.seen import Answer, Entry, Seen
from suites.model.steps import Step
from suites.model.things import World
from suites.replies import copies_sent

_KINDS: t.Final = {p.Ftype.NFREG: "file", p.Ftype.NFDIR: "directory", p.Ftype.NFLNK: "symbolic link"}
_PAGE: t.Final = 4096


def _nanoseconds(time: p.Timeval) -> int:
    return time.seconds * SECOND + time.useconds * 1000


def seen2(found: p.Fattr | None) -> Seen | None:
    """Attributes in the form of the model. NFSv2 has no word for FIFOs, and 32 bits for file ids."""
    if found is None:
        return None
    return Seen(
        kind=_KINDS.get(found.type),
        size=found.size,
        nlink=found.nlink,
        mode=found.mode & 0o777,
        uid=found.uid,
        gid=found.gid,
        fileid=None,
        mtime=_nanoseconds(found.mtime),
        ctime=_nanoseconds(found.ctime),
    )


def _settable(step: Step) -> p.Sattr:
    values: dict[str, t.Any] = {"mode": step.mode, "size": step.size}
    if step.owner is not None:
        values["uid"], values["gid"] = step.owner
    if step.mtime is not None:
        values["mtime"] = p.Timeval(step.mtime, 0)
    return p.Sattr(**{name: value for name, value in values.items() if value is not None})


class Player2(Player):
    """NFSv2."""

    version = "v2"
    title = "NFSv2"
    per_read = p.MAXDATA
    per_write = p.MAXDATA

    def __init__(self, nfs2: Nfs2) -> None:
        self._nfs2 = nfs2

    def learn_times(self, others: Iterable[Player]) -> None:
        """NFSv2 does not say how accurate times are, nor whether they can be set: other versions of the server do."""
        for other in others:
            self.time_delta = max(self.time_delta, other.time_delta)
            self.can_set_times = self.can_set_times and other.can_set_times

    def copies_sent(self) -> int:
        """As of `Player`."""
        return copies_sent(self._nfs2.rpc)

    def adapt(self, step: Step, world: World) -> Step | None:
        """The step as NFSv2 can make it. The text does not say what a gap, or a CREATE of what exists, leaves."""
        there = world.find(step.path)
        end = len(there.data) if there is not None else 0
        match step.verb:
            case "COMMIT" | "ACCESS" | "FIFO":
                return None
            case "CREATE":
                return None if there is not None else replace(step, how="GUARDED", size=None)
            case "WRITE":
                return replace(step, offset=min(step.offset, end), level=2)
            case "SETATTR":
                size = None if step.size is None else min(step.size, end)
                mtime = step.mtime if step.mtime is None or step.mtime >= 0 else None
                made = replace(step, size=size, mtime=mtime)
                return None if (size, step.mode, step.owner, mtime) == (None,) * 4 else made
            case _:
                return step

    @staticmethod
    def _made(call: t.Callable[[], t.Any]) -> t.Any:
        """A reply. Silence is all that NFSv2 has for a server that wants to be asked later."""
        try:
            return call()
        except (RpcTimeout, ConnectionLost) as error:
            raise Silence from error

    def _answer(self, call: t.Callable[[], t.Any]) -> Answer:
        """The answer to a call whose results are attributes, with a handle or without."""
        reply = self._made(call)
        found = getattr(reply, "resok", None)
        answer = Answer(reply.status, reply)
        if isinstance(found, p.Fattr):
            answer.attributes = seen2(found)
        elif isinstance(found, p.Diropok):
            answer.handle, answer.attributes = found.file, seen2(found.attributes)
        return answer

    def getattr(self, handle: bytes) -> Answer:
        """GETATTR."""
        return self._answer(lambda: self._nfs2.getattr(handle))

    def setattr(self, handle: bytes, step: Step) -> Answer:
        """SETATTR of all that the step sets."""
        if step.mtime is not None and step.mtime < 0:
            step = replace(step, mtime=None)
        return self._answer(lambda: self._nfs2.setattr(handle, _settable(step)))

    def lookup(self, directory: bytes, name: bytes) -> Answer:
        """LOOKUP."""
        return self._answer(lambda: self._nfs2.lookup(directory, name))

    def access(self, handle: bytes) -> Answer:
        """GETATTR: NFSv2 has no ACCESS."""
        return self.getattr(handle)

    def read_link(self, handle: bytes) -> Answer:
        """READLINK."""
        reply = self._made(lambda: self._nfs2.readlink(handle))
        return Answer(reply.status, reply, data=b"" if reply.resok is None else bytes(reply.resok))

    def read(self, handle: bytes, offset: int, count: int) -> Answer:
        """READ."""
        reply = self._made(lambda: self._nfs2.read(handle, offset, count))
        if reply.resok is None:
            return Answer(reply.status, reply)
        found = reply.resok
        return Answer(reply.status, reply, attributes=seen2(found.attributes), data=bytes(found.data))

    def write(self, handle: bytes, offset: int, data: bytes, level: int) -> Answer:
        """WRITE, which takes all or nothing, and is stable."""
        answer = self._answer(lambda: self._nfs2.write(handle, offset, data))
        answer.count = len(data)
        return answer

    def commit(self, handle: bytes) -> Answer:
        """GETATTR: all writes are stable."""
        return self.getattr(handle)

    def make(self, directory: bytes, name: bytes, step: Step) -> Answer:
        """CREATE, MKDIR or SYMLINK."""
        nfs2, attributes = self._nfs2, p.Sattr() if step.mode is None else p.Sattr(mode=step.mode)
        match step.verb:
            case "MKDIR":
                return self._answer(lambda: nfs2.mkdir(directory, name, attributes))
            case "SYMLINK":
                return self._answer(lambda: nfs2.symlink(directory, name, step.text))
            case _:
                return self._answer(lambda: nfs2.create(directory, name, attributes))

    def link(self, handle: bytes, directory: bytes, name: bytes) -> Answer:
        """LINK."""
        return self._answer(lambda: self._nfs2.link(handle, directory, name))

    def remove(self, directory: bytes, name: bytes, *, is_directory: bool) -> Answer:
        """REMOVE, or RMDIR."""
        call = self._nfs2.rmdir if is_directory else self._nfs2.remove
        return self._answer(lambda: call(directory, name))

    def rename(self, source: bytes, name: bytes, target: bytes, new: bytes) -> Answer:
        """RENAME."""
        return self._answer(lambda: self._nfs2.rename(source, name, target, new))

    def page(self, directory: bytes, cookie: int, verifier: bytes, *, plain: bool) -> tuple[Answer, bytes]:
        """A page of READDIR, which has names only."""
        start = cookie.to_bytes(p.COOKIESIZE, "big")
        reply = self._made(lambda: self._nfs2.readdir(directory, start, _PAGE))
        answer = Answer(reply.status, reply)
        if reply.resok is not None:
            answer.is_end = reply.resok.eof
            answer.entries = [
                Entry(each.name, int.from_bytes(each.cookie, "big"), each.fileid, None)
                for each in reply.resok.entries
            ]
        return answer, verifier
