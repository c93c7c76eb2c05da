# SPDX-License-Identifier: MIT
"""Operations on files by NFSv4.1 and 4.2 (RFC 5661 section 18): a compound for each."""

from __future__ import annotations

import secrets
import typing as t
from collections.abc import Callable, Sequence

from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ImpossibleResult
from nfsclient.files import operations
from nfsclient.files.neutral import (
    ALL_ACCESS,
    NOTHING_SET,
    Access,
    Attributes,
    Create,
    Data,
    Entry,
    Found,
    Info,
    NewAttributes,
    Page,
    Position,
    SetTo,
    Space,
    Stable,
    Time,
    Written,
)
from nfsclient.files.operations import PAGE, START, Stat, file_type
from nfsclient.files.steps import Compound, Steps
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.reply import CompoundReply
from nfsclient.xdr import Buffer, XdrType

STAT: t.Final = (
    "type",
    "change",
    "size",
    "fsid",
    "fileid",
    "mode",
    "numlinks",
    "owner",
    "owner_group",
    "rawdev",
    "space_used",
    "time_access",
    "time_metadata",
    "time_modify",
)
"""The attributes that `Attributes` has."""
_LIMITS: t.Final = ("maxfilesize", "maxread", "maxwrite")
_SPACE: t.Final = ("space_total", "space_free", "space_avail", "files_total", "files_free", "files_avail")
_MOST_NAMES: t.Final = 16
"""Names of one compound of `stat_many`: with them it has 51 operations."""
_LARGEST_ID: t.Final = 10
"""Digits of an owner that is a number of 32 bits."""

StateidOf: t.TypeAlias = Callable[[bool], p.Stateid4]
"""The stateid for data of a file: of an open, a lock, a delegation. True: for WRITE and a size."""


def anonymous(_is_write: bool) -> p.Stateid4:
    """No state: the server compares with the share reservations of others (section 8.2.3)."""
    return op.ANONYMOUS


class Files(operations.Files):
    """Compounds of NFSv4: `Compound` for each, in a session. CREATE of a file is OPEN and CLOSE.

    `stateid_of` gives the stateid of data, for each attempt. `new_owner` names the open owners of `create`.
    """

    name = "NFSv4"
    success = p.Nfsstat4.NFS4_OK
    is_directory = p.Nfsstat4.NFS4ERR_ISDIR
    no_name = p.Nfsstat4.NFS4ERR_INVAL

    def __init__(
        self,
        stateid_of: StateidOf = anonymous,
        new_owner: Callable[[], bytes] | None = None,
        *,
        checked: bool = True,
    ) -> None:
        super().__init__(checked=checked)
        self._stateid_of = stateid_of
        self._new_owner = new_owner or (lambda: b"owner " + secrets.token_hex(4).encode())

    def getattr(self, handle: bytes) -> Steps[Attributes]:
        """GETATTR."""
        reply = yield from ok(op.putfh(handle), op.getattr(*STAT))
        return attributes_of(reply.attributes)

    def setattr(self, handle: bytes, attributes: NewAttributes) -> Steps[None]:
        """SETATTR."""
        given = fattr4(attributes)

        def build() -> list[XdrType]:
            stateid = op.ANONYMOUS if attributes.size is None else self._stateid_of(True)
            return [op.putfh(handle), op.setattr(given, stateid)]

        yield from ok_built(build, repeatable=True)

    def access(self, handle: bytes, wanted: Access = ALL_ACCESS) -> Steps[Access]:
        """ACCESS."""
        result = (yield from ok(op.putfh(handle), op.access(wanted))).of(p.ACCESS).resok4
        return Access(_there(result, "ACCESS").access & wanted)

    def readlink(self, handle: bytes) -> Steps[bytes]:
        """READLINK."""
        result = (yield from ok(op.putfh(handle), op.readlink())).of(p.READLINK).resok4
        return bytes(_there(result, "READLINK").link)

    def read(self, handle: bytes, offset: int, count: int, *, into: memoryview | None = None) -> Steps[Data]:
        """READ."""

        def build() -> list[XdrType]:
            return [op.putfh(handle), op.read(self._stateid_of(False), offset, count)]

        reply = yield from ok_built(build, into=into)
        result = _there(reply.of(p.READ).resok4, "READ")
        self._require_read(offset, count, result.data)
        return Data(result.data, result.eof)

    def write(
        self, handle: bytes, offset: int, data: Buffer, stable: Stable = Stable.FILE_SYNC
    ) -> Steps[Written]:
        """WRITE."""
        how = p.StableHow4(stable)

        def build() -> list[XdrType]:
            return [op.putfh(handle), op.write(self._stateid_of(True), offset, data, how)]

        reply = yield from ok_built(build)
        done = _there(reply.of(p.WRITE).resok4, "WRITE")
        return self._written(offset, len(data), stable, done.count, done.committed, done.writeverf)

    def commit(self, handle: bytes, offset: int = 0, count: int = 0) -> Steps[bytes | None]:
        """COMMIT."""
        operations = (op.putfh(handle), op.commit(offset, count))
        reply = yield from ok_built(lambda: operations, repeatable=True)
        return bytes(_there(reply.of(p.COMMIT).resok4, "COMMIT").writeverf)

    def lookup(self, directory: bytes, name: bytes, *, attributes: bool = True) -> Steps[Found]:
        """LOOKUP, GETFH, GETATTR."""
        if attributes:
            return (yield from self.lookup_all(directory, [name]))
        return Found((yield from ok(op.putfh(directory), op.lookup(name), op.getfh())).handle)

    def lookup_all(self, directory: bytes, names: Sequence[bytes]) -> Steps[Found]:
        """The object at the end of several names, in one compound; of none, the directory itself."""
        way = [op.lookup(name) for name in names]
        reply = yield from ok(op.putfh(directory), *way, op.getfh(), op.getattr(*STAT))
        return Found(reply.handle, reply.attributes, attributes_of)

    def stat_many(self, directory: bytes, names: Sequence[bytes]) -> Steps[list[Stat]]:
        """LOOKUP and GETATTR for each name, many of them in one compound; an error ends one, and begins another."""
        found: list[Stat] = []
        while len(found) < len(names):
            wanted = names[len(found) : len(found) + _MOST_NAMES]
            each = [
                operation
                for name in wanted
                for operation in (op.lookup(name), op.getattr(*STAT), op.restorefh())
            ]
            operations = [op.putfh(directory), op.savefh(), *each]
            reply: CompoundReply = yield Compound(lambda operations=operations: operations)  # type: ignore[misc]
            if not isinstance(reply.args.argarray[max(0, len(reply.res.resarray) - 1)], p.Lookup4Args):
                reply.ok()
            reply.require_sound()
            results = [result for result in reply.results if isinstance(result, p.Getattr4Res)]
            found += [attributes_of(_there(result.resok4, "GETATTR").obj_attributes) for result in results]
            if (error := reply.error()) is not None:
                found.append(error)
        return found

    def create(
        self,
        directory: bytes,
        name: bytes,
        how: Create = Create.UNCHECKED,
        attributes: NewAttributes = NOTHING_SET,
        *,
        verifier: bytes = b"",
    ) -> Steps[Found]:
        """OPEN, for reading and writing, without a wish for a delegation, and CLOSE; EXCLUSIVE is EXCLUSIVE4_1."""
        given = fattr4(attributes)
        making = {Create.UNCHECKED: op.unchecked, Create.GUARDED: op.guarded}
        creating = op.exclusive4_1(verifier, given) if how is Create.EXCLUSIVE else making[how](given)
        access = p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
        opening = op.open(name, access, owner=self._new_owner(), how=creating)
        reply = yield from ok(op.putfh(directory), opening, op.getfh())
        handle, stateid = reply.handle, reply.stateid
        yield from ok(op.putfh(handle), op.close(stateid))
        return Found(handle)

    def mkdir(self, directory: bytes, name: bytes, attributes: NewAttributes = NOTHING_SET) -> Steps[Found]:
        """CREATE of a directory."""
        return (yield from self._made(directory, op.mkdir(name, fattr4(attributes))))

    def symlink(
        self, directory: bytes, name: bytes, text: bytes, attributes: NewAttributes = NOTHING_SET
    ) -> Steps[Found]:
        """CREATE of a symbolic link."""
        return (yield from self._made(directory, op.symlink(name, text, fattr4(attributes))))

    def _made(self, directory: bytes, making: p.Create4Args) -> Steps[Found]:
        """CREATE and GETFH. GETFH cannot answer DELAY, so a DELAY says that nothing was executed."""
        return Found((yield from ok(op.putfh(directory), making, op.getfh())).handle)

    def link(self, handle: bytes, directory: bytes, name: bytes) -> Steps[None]:
        """LINK."""
        yield from ok(op.putfh(handle), op.savefh(), op.putfh(directory), op.link(name))

    def remove(self, directory: bytes, name: bytes) -> Steps[None]:
        """REMOVE, which removes empty directories too (section 18.25.3)."""
        yield from ok(op.putfh(directory), op.remove(name))

    def rmdir(self, directory: bytes, name: bytes) -> Steps[None]:
        """REMOVE, which removes any name."""
        yield from self.remove(directory, name)

    def rename(self, directory: bytes, name: bytes, to_directory: bytes, to_name: bytes) -> Steps[None]:
        """RENAME."""
        yield from ok(op.putfh(directory), op.savefh(), op.putfh(to_directory), op.rename(name, to_name))

    def readdir(
        self, directory: bytes, at: Position = START, size: int = PAGE, *, attributes: bool = False
    ) -> Steps[Page]:
        """READDIR; attributes that the server cannot give show in `rdattr_error` of the raw ones, and end no page."""
        wanted = (*STAT, "filehandle", "rdattr_error") if attributes else ()
        reading = op.readdir(at.cookie, at.verifier, maxcount=size, dircount=size, attributes=wanted)
        reply = yield from ok(op.putfh(directory), reading)
        result = _there(reply.of(p.READDIR).resok4, "READDIR")
        entries = [entry_of(each) for each in result.reply.entries]
        last = result.reply.entries[-1].cookie if entries else at.cookie
        verifier = bytes(result.cookieverf) if entries else at.verifier
        return Page(entries, result.reply.eof, Position(last, verifier))

    def fsinfo(self, handle: bytes) -> Steps[Info]:
        """GETATTR of `maxread`, `maxwrite`, `maxfilesize`."""
        known = (yield from ok(op.putfh(handle), op.getattr(*_LIMITS))).attributes
        return Info(rtmax=known.maxread, wtmax=known.maxwrite, maxfilesize=known.maxfilesize)

    def statfs(self, handle: bytes) -> Steps[Space]:
        """GETATTR of the space and the files."""
        known = (yield from ok(op.putfh(handle), op.getattr(*_SPACE))).attributes
        return Space(*(getattr(known, name) for name in _SPACE))


def ok(*operations: XdrType) -> Steps[CompoundReply]:
    """The reply to a compound that succeeds. Raises `CompoundError`, which is an `NfsStatusError`."""
    return (yield from ok_built(lambda: operations))


def ok_built(
    build: Callable[[], Sequence[XdrType]], *, into: memoryview | None = None, repeatable: bool = False
) -> Steps[CompoundReply]:
    """As `ok`, of operations that are built for each attempt."""
    reply: CompoundReply = yield Compound(build, into, repeatable)
    return reply.ok()


R = t.TypeVar("R")


def _there(result: R | None, operation: str) -> R:
    """The result of an operation that succeeded."""
    if result is None:
        raise ImpossibleResult(f"{operation} succeeded without a result")
    return result


def attributes_of(given: p.Fattr4) -> Attributes:
    """The neutral form of those attributes that are there. Raises `ImpossibleResult` for an unknown type."""
    rdev, fsid = given.rawdev, given.fsid
    return Attributes(
        type=None if given.type is None else file_type(given.type),
        mode=None if given.mode is None else given.mode & 0o7777,
        nlink=given.numlinks,
        uid=_number(given.owner),
        gid=_number(given.owner_group),
        owner=given.owner,
        group=given.owner_group,
        size=given.size,
        used=given.space_used,
        rdev=None if rdev is None else (rdev.specdata1, rdev.specdata2),
        fsid=None if fsid is None else (fsid.major, fsid.minor),
        fileid=given.fileid,
        atime=_time(given.time_access),
        mtime=_time(given.time_modify),
        ctime=_time(given.time_metadata),
        change=given.change,
    )


def _number(owner: bytes | None) -> int | None:
    """The number of an owner that is one (section 5.9)."""
    if owner is None or len(owner) > _LARGEST_ID or not owner.isdigit():
        return None
    return int(owner)


def _time(given: p.Nfstime4 | None) -> Time | None:
    return None if given is None else Time(given.seconds, given.nseconds)


def entry_of(raw: p.Entry4) -> Entry:
    """The neutral form of an entry."""
    return Entry(raw.name, raw.attrs.filehandle, raw, _attributes_of_entry)


def _attributes_of_entry(raw: p.Entry4) -> Attributes | None:
    """None where nothing came, or the server says that it could not give them."""
    error = raw.attrs.rdattr_error
    return None if raw.attrs.type is None or error else attributes_of(raw.attrs)


def fattr4(given: NewAttributes) -> p.Fattr4:
    """The fattr4 of attributes to set."""
    return p.Fattr4(
        mode=given.mode,
        owner=_principal(given.owner, given.uid),
        owner_group=_principal(given.group, given.gid),
        size=given.size,
        time_access_set=_set_time(given.atime),
        time_modify_set=_set_time(given.mtime),
    )


def _principal(name: bytes | None, number: int | None) -> bytes | None:
    return name if name is not None or number is None else b"%d" % number


def _set_time(given: Time | SetTo | None) -> p.Settime4 | None:
    if given is None:
        return None
    return p.SERVER_TIME if isinstance(given, SetTo) else p.client_time(*given)
