# SPDX-License-Identifier: MIT
"""A client of a program by NFSv4.1. Data uses the anonymous stateid: nothing stays open."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import new_state_owner, through_grace
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from suites.model.players import KINDS, PAGE, SECOND, Inconclusive, Player, verifier_of
from suites.model.seen import Answer, Entry, Info, Seen
from suites.model.steps import Step

_OVERHEAD: t.Final = 2048
"""Bytes of a request or a reply besides the data of a WRITE or READ."""
_ASKED: t.Final = (
    *("type", "change", "size", "fsid", "fileid", "mode", "numlinks"),
    *("owner", "owner_group", "time_metadata", "time_modify"),
)


def _nanoseconds(time: p.Nfstime4 | None) -> int | None:
    return None if time is None else time.seconds * SECOND + time.nseconds


def _number(principal: bytes | None) -> int | None:
    return int(principal) if principal is not None and principal.isdigit() else None


def seen4(found: Fattr4) -> Seen:
    """Attributes in the form of the model."""
    has_id = found.fileid is not None and found.fsid is not None
    return Seen(
        kind=None if found.type is None else KINDS.get(int(found.type), "special file"),
        size=found.size,
        nlink=found.numlinks,
        mode=None if found.mode is None else found.mode & 0o777,
        uid=_number(found.owner),
        gid=_number(found.owner_group),
        fileid=(found.fsid, t.cast("int", found.fileid)) if has_id else None,
        mtime=_nanoseconds(found.time_modify),
        ctime=_nanoseconds(found.time_metadata),
        change=found.change,
    )


def _info(found: p.ChangeInfo4) -> Info | None:
    return Info(found.before, found.after) if found.atomic else None


def _time(seconds: int | None) -> p.Settime4 | None:
    if seconds is None:
        return None
    return p.Settime4(p.TimeHow4.SET_TO_SERVER_TIME4) if seconds < 0 else p.client_time(seconds)


class Player4(Player):
    """NFSv4.1."""

    version = "v4"
    title = "NFSv4.1"

    def __init__(self, session: Session, root: bytes) -> None:
        self._session = session
        found = self._run(op.putfh(root), op.getattr("maxread", "maxwrite", "time_delta", "cansettime"))
        limits = found.attributes if found.status == Nfsstat4.NFS4_OK else Fattr4()
        fore = session.state.fore
        largest = min(fore.ca_maxrequestsize, fore.ca_maxresponsesize) - _OVERHEAD
        self.per_read = max(1, min(limits.maxread or 8192, fore.ca_maxresponsesize - _OVERHEAD, 1 << 20))
        self.per_write = max(1, min(limits.maxwrite or 8192, largest, 1 << 20))
        self.time_delta = _nanoseconds(limits.time_delta) or SECOND
        self.can_set_times = limits.cansettime is not False

    def _run(self, *operations: XdrType) -> CompoundReply:
        return through_grace(self._session, *operations)

    def _do(self, *operations: XdrType) -> tuple[Answer, t.Any]:
        """The answer to a compound, and the results of its last operation."""
        reply = self._run(*operations)
        answer = Answer(reply.status, reply)
        last = reply.results[-1] if reply.results else None
        return answer, getattr(last, "resok4", None) if answer.is_ok else None

    def getattr(self, handle: bytes) -> Answer:
        """GETATTR."""
        answer, found = self._do(op.putfh(handle), op.getattr(*_ASKED))
        if found is not None:
            answer.attributes = seen4(found.obj_attributes)
        return answer

    def setattr(self, handle: bytes, step: Step) -> Answer:
        """SETATTR of all that the step sets."""
        owner, group = (None, None) if step.owner is None else (str(each).encode() for each in step.owner)
        new = Fattr4(
            mode=step.mode,
            size=step.size,
            owner=owner,
            owner_group=group,
            time_modify_set=_time(step.mtime),
        )
        answer, _ = self._do(op.putfh(handle), op.setattr(new))
        if answer.is_ok:
            names = p.names_of(answer.reply.results[-1].attrsset)
            answer.set = frozenset(names)
        return answer

    def lookup(self, directory: bytes, name: bytes) -> Answer:
        """LOOKUP, with the attributes."""
        reply = self._run(op.putfh(directory), op.lookup(name), op.getfh(), op.getattr(*_ASKED))
        answer = Answer(reply.status, reply)
        if answer.is_ok:
            answer.handle, answer.attributes = reply.handle, seen4(reply.attributes)
        elif reply.failed in {p.GETFH, p.GETATTR}:
            raise Inconclusive
        return answer

    def access(self, handle: bytes) -> Answer:
        """ACCESS."""
        return self._do(op.putfh(handle), op.access(0x3F))[0]

    def read_link(self, handle: bytes) -> Answer:
        """READLINK."""
        answer, found = self._do(op.putfh(handle), op.readlink())
        answer.data = b"" if found is None else bytes(found.link)
        return answer

    def read(self, handle: bytes, offset: int, count: int) -> Answer:
        """READ."""
        answer, found = self._do(op.putfh(handle), op.read(op.ANONYMOUS, offset, count))
        if found is not None:
            answer.data, answer.is_end = bytes(found.data), found.eof
        return answer

    def write(self, handle: bytes, offset: int, data: bytes, level: int) -> Answer:
        """WRITE."""
        how = p.StableHow4(level)
        answer, found = self._do(op.putfh(handle), op.write(op.ANONYMOUS, offset, data, how))
        if found is not None:
            answer.count = min(found.count, len(data))
            answer.is_stable = found.committed == p.StableHow4.FILE_SYNC4
        return answer

    def commit(self, handle: bytes) -> Answer:
        """COMMIT of the whole file."""
        return self._do(op.putfh(handle), op.commit())[0]

    def make(self, directory: bytes, name: bytes, step: Step) -> Answer:
        """OPEN that creates, or CREATE."""
        if step.verb == "CREATE":
            return self._open(directory, name, step)
        making = {
            "MKDIR": lambda: op.mkdir(name, Fattr4(mode=step.mode)),
            "SYMLINK": lambda: op.symlink(name, step.text),
            "FIFO": lambda: op.create(name, p.NfsFtype4.NF4FIFO, Fattr4(mode=0o644)),
        }[step.verb]()
        reply = self._run(op.putfh(directory), making, op.getfh())
        answer = Answer(reply.status, reply)
        if answer.is_ok:
            answer.handle = reply.handle
            answer.infos = (_info(t.cast("p.Create4ResOk", reply.of(p.CREATE).resok4).cinfo),)
        elif reply.failed is p.GETFH:
            raise Inconclusive
        return answer

    def _open(self, directory: bytes, name: bytes, step: Step) -> Answer:
        attributes = Fattr4(mode=step.mode, size=step.size)
        # With a persistent reply cache, GUARDED4 takes the place of exclusive creation (RFC 5661 table 10).
        is_persistent = self._session.state.flags & p.CREATE_SESSION4_FLAG_PERSIST
        how = {
            "GUARDED": lambda: op.guarded(attributes),
            "UNCHECKED": lambda: op.unchecked(attributes),
            "EXCLUSIVE": lambda: op.exclusive4_1(verifier_of(step), Fattr4()),
        }["GUARDED" if is_persistent and step.how == "EXCLUSIVE" else step.how]()
        access = p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
        opening = op.open(name, access, owner=new_state_owner(), how=how)
        reply = self._run(op.putfh(directory), opening, op.getfh())
        answer = Answer(reply.status, reply)
        if not answer.is_ok:
            if reply.failed is p.GETFH:
                raise Inconclusive
            return answer
        result = reply.of(p.OPEN).resok4
        assert result is not None
        if result.delegation.delegation_type not in {
            p.OpenDelegationType4.OPEN_DELEGATE_NONE,
            p.OpenDelegationType4.OPEN_DELEGATE_NONE_EXT,
        }:
            raise Inconclusive
        answer.handle, answer.infos = reply.handle, (_info(result.cinfo),)
        if self._run(op.putfh(reply.handle), op.close(result.stateid)).status != Nfsstat4.NFS4_OK:
            raise Inconclusive
        return answer

    def link(self, handle: bytes, directory: bytes, name: bytes) -> Answer:
        """LINK."""
        answer, found = self._do(op.putfh(handle), op.savefh(), op.putfh(directory), op.link(name))
        answer.infos = () if found is None else (_info(found.cinfo),)
        return answer

    def remove(self, directory: bytes, name: bytes, *, is_directory: bool) -> Answer:
        """REMOVE."""
        answer, found = self._do(op.putfh(directory), op.remove(name))
        answer.infos = () if found is None else (_info(found.cinfo),)
        return answer

    def rename(self, source: bytes, name: bytes, target: bytes, new: bytes) -> Answer:
        """RENAME."""
        answer, found = self._do(op.putfh(source), op.savefh(), op.putfh(target), op.rename(name, new))
        answer.infos = () if found is None else (_info(found.source_cinfo), _info(found.target_cinfo))
        return answer

    def page(self, directory: bytes, cookie: int, verifier: bytes, *, plain: bool) -> tuple[Answer, bytes]:
        """A page of READDIR, with the attributes or without."""
        reading = op.readdir(
            cookie, verifier, maxcount=PAGE, dircount=PAGE, attributes=() if plain else _ASKED
        )
        answer, found = self._do(op.putfh(directory), reading)
        if found is None:
            return answer, verifier
        answer.is_end = found.reply.eof
        answer.entries = [
            Entry(each.name, each.cookie, None, None if plain else seen4(each.attrs), bytes(found.cookieverf))
            for each in found.reply.entries
        ]
        return answer, found.cookieverf
