# SPDX-License-Identifier: MIT
"""Compares the attributes that come with replies with what the programs have made: of every reply that has some.

    type      of each object that the run has made
    size      of a file: that which was written; a range while a write or a cut was under way between call and reply
    nlink     of a file: its names, unless one of them changed meanwhile
    mode      that which a program has set, or which was seen after the object was made. That a new object has no
              permission that was not requested is a SHOULD (RFC 1813 section 3.3.8): counted, and never red
    fileid    is remembered, for entries of listings (`names`): that it never changes is not promised
    mtime     of a file stays what it was while nobody writes or cuts it and all its data is stable: it is the time of
              the last modification (RFC 1094 section 2.3.5, RFC 1813 section 2.5, RFC 5661 section 5.8.2.43). That a
              write moves it is not compared: how coarse the clock of a server is, nobody knows
              That mtime and ctime never go back is not promised, a clock may be set: counted, and never red

A server may leave all of them out (RFC 1813 section 2.5). Sizes and numbers of links of directories mean nothing, nor
does the mode of a symbolic link.

Objects are found by their handles. `know` says whose a new one is; what came with it before waits until then.
"""

from __future__ import annotations

import functools
import typing as t
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from nfsclient.files import Attributes, FileType
from nfsclient.protocol import nfs2, nfs3
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4.operations import operation_of
from nfsclient.sessions.reply import CompoundReply
from nfsclient.xdr import XdrType
from workloads.contents import wrong_size
from workloads.ledger import Item, Ledger
from workloads.trouble import Wrong, WrongAnswer

_MOST_WAITING: t.Final = 256
"""Handles of which nobody has said whose they are."""
_PERMISSIONS: t.Final = 0o777
_SECOND: t.Final = 1_000_000_000
TIMES_BACK: t.Final = "times that went back"
"""The name of the number of replies with a time before one that was seen earlier, among the troubles of a result."""
MORE_THAN_REQUESTED: t.Final = "new objects with permissions that nobody requested"
"""The name of their number among the troubles of a result."""
Sighting: t.TypeAlias = tuple[bytes, t.Any]
"""(handle, attributes as the protocol has them, or None)."""


class AttributeChecks:
    """The attributes that one worker sees."""

    def __init__(
        self, ledger: Ledger, troubles: Counter[str], *, knows_writes: bool = True, knows_sizes: bool = True
    ) -> None:
        """`knows_writes`: what is written is on the server, not at a client that has a delegation to write.

        `knows_sizes`: the server has all data when a file is closed; clients of Spritely NFS keep it longer.
        """
        self._ledger = ledger
        self._knows_writes = knows_writes
        self._knows_sizes = knows_sizes
        self._troubles = troubles
        self._known: dict[bytes, tuple[Item, int]] = {}
        """By handle: the object, and the tick from which on it has this handle."""
        self._waiting: dict[bytes, list[tuple[t.Any, int, str]]] = {}

    def begin(self) -> int:
        """A call begins now; `take` needs this number."""
        return self._ledger.ticks.next()

    def take(self, procedure: str, args: t.Any, result: t.Any, begun: int) -> None:
        """Compare what a reply of NFSv2 or NFSv3 says. Raises `Wrong`."""
        done = result.resok
        look = _LOOKS.get(procedure)
        if done is None or look is None:
            return
        for handle, raw in look(args, done):
            if raw is not None:
                self._see(handle, raw, begun, procedure, _end_of(procedure, args, done))

    def take_compound(self, operations: Sequence[XdrType], reply: CompoundReply, begun: int, by: str) -> None:
        """Compare what a reply of NFSv4 says; `by`: what the compound is for. Raises `Wrong`."""
        if not _has_attributes(tuple(map(type, operations))):
            return
        for handle, raw in _in_compound(operations, reply):
            self._see(handle, raw, begun, by, 0)

    def know(self, handle: bytes, path: str) -> None:
        """This handle is that of an object of the run. Raises `Wrong` for what it came with."""
        waiting = self._waiting.pop(handle, ())
        item = self._ledger.items.get(path)
        if item is None:
            return
        known = self._known.get(handle)
        if known is not None and known[0] is not item and not known[0].is_gone:
            raise WrongAnswer(
                f"{path}: the server gives it the handle of {known[0].path or 'the directory of the run'}"
            )
        if known is None or known[0] is not item:
            self._known[handle] = item, self._ledger.ticks.now
            item.handles.append(handle)
        for raw, begun, by in waiting:
            self.judge(item, raw, begun, by)

    def forget(self, path: str, *, renamed: bool = False) -> None:
        """The object of a name is about to be removed, or has another name: a server may make handles stale then."""
        item = self._ledger.items.get(path)
        if item is not None and (item.names == 1 or renamed):
            for handle in item.handles:
                self._known.pop(handle, None)
            item.handles.clear()

    def _see(self, handle: bytes, raw: t.Any, begun: int, by: str, end: int) -> None:
        known = self._known.get(handle)
        if known is None:
            waiting = self._waiting
            if handle not in waiting and len(waiting) >= _MOST_WAITING:
                del waiting[next(iter(waiting))]
            waiting.setdefault(bytes(handle), [])[:0] = [(raw, begun, by)]
            del waiting[handle][4:]
        elif known[1] <= begun:
            self.judge(known[0], raw, begun, by, end)

    def judge(self, item: Item, raw: t.Any, begun: int, by: str, end: int = 0) -> None:
        """Compare attributes that came with a reply to a call that began then; `end`: of the data of a WRITE.

        Raises `Wrong`.
        """
        if item.is_gone:
            return
        kind, mode, nlink = raw.type, raw.mode, raw.numlinks if type(raw) is p.Fattr4 else raw.nlink
        if kind is not None and int(kind) != item.type:
            raise _wrong(item, by, f"its type is {_TYPES.get(item.type)}", f"{int(kind)}", "type")
        if item.state is not None:
            if raw.size is not None and self._knows_sizes:
                self._judge_size(item, raw.size, begun, by, end)
            if nlink is not None and nlink != item.names and item.is_quiet(begun):
                raise _wrong(item, by, f"its number of names is {item.names}", str(nlink), "number of links")
        if mode is not None and item.type is not FileType.LINK and item.is_quiet(begun):
            self._judge_mode(item, mode & 0o7777, by)
        if raw.fileid is not None:
            item.fileid = raw.fileid
        self._judge_times(item, raw, begun, by)

    def _judge_times(self, item: Item, raw: t.Any, begun: int, by: str) -> None:
        modified, changed = _TIMES.get(type(raw), _neutral_times)(raw)
        if modified is None:
            return
        seen, state = item.seen, item.state
        if seen is None or begun > seen[2]:
            if seen is not None and (modified < seen[0] or changed < seen[1]):
                self._troubles[TIMES_BACK] += 1
            item.seen = modified, changed, self._ledger.ticks.now
        if state is None or not self._knows_writes or item.changing or not state.is_quiet(begun):
            return
        quiet_since = item.quiet_since
        if quiet_since > begun:
            return
        known = item.modified
        if known is None or known[1] < quiet_since or known[1] < state.quiet_since:
            item.modified = modified, self._ledger.ticks.now
        elif modified != known[0] and begun > known[1]:
            raise _wrong(
                item, by, f"nobody has modified it since {_show(known[0])}", _show(modified), "mtime"
            )

    def _judge_size(self, item: Item, size: int, begun: int, by: str, end: int) -> None:
        state = item.state
        assert state is not None
        sizes = state.sizes_since(begun)
        if sizes is None:
            return
        least, most = sizes
        if not state.was_cut:
            least = max(least, end)
        if least <= size <= most:
            return
        wrong = wrong_size(
            state, f"a size of {size} bytes in {by}", self._ledger.writer, min(size, state.size), least, most
        )
        if size < least and state.unstable:
            state.doubts = state.doubts or [wrong]
        elif not (self._ledger.losses and state.was_cut):  # a crash may undo a cut
            raise wrong

    def _judge_mode(self, item: Item, mode: int, by: str) -> None:
        if item.mode is not None:
            if mode & _PERMISSIONS != item.mode & _PERMISSIONS:
                raise _wrong(item, by, f"its mode is {item.mode:04o}", f"{mode:04o}", "mode")
            return
        item.mode = mode
        if _beyond_request(item):
            self._troubles[MORE_THAN_REQUESTED] += 1


def _beyond_request(item: Item) -> int:
    """Permissions that a new object has although nobody requested them."""
    if item.requested is None or item.mode is None:
        return 0
    return item.mode & _PERMISSIONS & ~item.requested


Times: t.TypeAlias = tuple[int | None, int]
"""(time of the last modification, of the last change) in nanoseconds; None where one of them is not there."""


def _times2(raw: nfs2.Fattr) -> Times:
    mtime, ctime = raw.mtime, raw.ctime
    return mtime.seconds * _SECOND + mtime.useconds * 1000, ctime.seconds * _SECOND + ctime.useconds * 1000


def _times3(raw: nfs3.Fattr3) -> Times:
    mtime, ctime = raw.mtime, raw.ctime
    return mtime.seconds * _SECOND + mtime.nseconds, ctime.seconds * _SECOND + ctime.nseconds


def _times4(raw: p.Fattr4) -> Times:
    mtime, ctime = raw.time_modify, raw.time_metadata
    if mtime is None or ctime is None:
        return None, 0
    return mtime.seconds * _SECOND + mtime.nseconds, ctime.seconds * _SECOND + ctime.nseconds


def _neutral_times(raw: Attributes) -> Times:
    mtime, ctime = raw.mtime, raw.ctime
    if mtime is None or ctime is None:
        return None, 0
    return mtime.seconds * _SECOND + mtime.nseconds, ctime.seconds * _SECOND + ctime.nseconds


_TIMES: t.Final[Mapping[type, Callable[[t.Any], Times]]] = {
    nfs2.Fattr: _times2,
    nfs3.Fattr3: _times3,
    p.Fattr4: _times4,
}


def _show(moment: int) -> str:
    return f"{moment // _SECOND}.{moment % _SECOND:09d}"


_TYPES: t.Final = {
    FileType.REGULAR: "1, a regular file",
    FileType.DIRECTORY: "2, a directory",
    FileType.LINK: "5, a link",
}


def _name(item: Item) -> str:
    return item.path or "the directory of the run"


def _wrong(item: Item, by: str, expected: str, seen: str, what: str) -> Wrong:
    wrong = WrongAnswer(f"{_name(item)}: {expected}; {by} says {what} {seen}")
    wrong.procedure = by
    return wrong


def _end_of(procedure: str, args: t.Any, done: t.Any) -> int:
    """Where the data of a WRITE ends: the file is at least as long after it."""
    if procedure != "WRITE":
        return 0
    count = getattr(done, "count", None)
    return int(args.offset) + (len(args.data) if count is None else int(count))


# ---------------------------------------------------------------- where attributes are in replies

Look: t.TypeAlias = Callable[[t.Any, t.Any], Sequence[Sighting]]


def _of(handle: str, *where: str) -> Look:
    """Of a reply that has the attributes of one object, which the arguments name."""

    def look(args: t.Any, done: t.Any) -> Sequence[Sighting]:
        for name in where:
            done = getattr(done, name)
        return ((getattr(args, handle), done),)

    return look


def _of_directory(place: str, where: str) -> Look:
    """Of a reply that has the attributes of the directory of a name."""

    def look(args: t.Any, done: t.Any) -> Sequence[Sighting]:
        return ((getattr(args, place).dir, getattr(done, where).after),)

    return look


def _lookup(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    if hasattr(done, "file"):  # NFSv2
        return ((done.file, done.attributes),)
    return (done.object, done.obj_attributes), (args.what.dir, done.dir_attributes)


def _made(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    if hasattr(done, "file"):
        return ((done.file, done.attributes),)
    there = (args.where.dir, done.dir_wcc.after)
    return (there,) if done.obj is None else (there, (done.obj, done.obj_attributes))


def _after(name: str) -> Look:
    """Of a reply with `wcc_data` or, in NFSv2, attributes. `name` is of the field."""

    def look(args: t.Any, done: t.Any) -> Sequence[Sighting]:
        handle = args.object if hasattr(args, "object") else args.file
        wcc = getattr(done, name, None)
        return ((handle, done if wcc is None else wcc.after),)

    return look


def _getattr(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    return ((args.object, done.obj_attributes),) if hasattr(args, "object") else ((args.file, done),)


def _read(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    return ((args.file, done.attributes if hasattr(done, "attributes") else done.file_attributes),)


def _removed(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    return ((args.object.dir, done.dir_wcc.after),) if hasattr(done, "dir_wcc") else ()


def _renamed(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    if not hasattr(done, "fromdir_wcc"):
        return ()
    return (args.from_.dir, done.fromdir_wcc.after), (args.to.dir, done.todir_wcc.after)


def _linked(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    if not hasattr(done, "linkdir_wcc"):
        return ()
    return (args.file, done.file_attributes), (args.link.dir, done.linkdir_wcc.after)


def _listed(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    return ((args.dir, done.dir_attributes),) if hasattr(done, "dir_attributes") else ()


def _readlink(args: t.Any, done: t.Any) -> Sequence[Sighting]:
    return ((args.symlink, done.symlink_attributes),) if hasattr(done, "symlink_attributes") else ()


_LOOKS: t.Final[dict[str, Look]] = {
    "GETATTR": _getattr,
    "SETATTR": _after("obj_wcc"),
    "LOOKUP": _lookup,
    "ACCESS": _of("object", "obj_attributes"),
    "READLINK": _readlink,
    "READ": _read,
    "WRITE": _after("file_wcc"),
    "COMMIT": _after("file_wcc"),
    "CREATE": _made,
    "MKDIR": _made,
    "SYMLINK": lambda args, done: _made(args, done) if hasattr(done, "dir_wcc") else (),
    "REMOVE": _removed,
    "RMDIR": _removed,
    "RENAME": _renamed,
    "LINK": _linked,
    "READDIR": _listed,
    "READDIRPLUS": _listed,
    "FSSTAT": _of("fsroot", "obj_attributes"),
}
"""By procedure: the handles and attributes in its arguments and the result of its success."""


@functools.lru_cache(maxsize=1024)
def _has_attributes(classes: tuple[type[XdrType], ...]) -> bool:
    return p.Getattr4Args in classes


def _in_compound(operations: Sequence[XdrType], reply: CompoundReply) -> Iterator[tuple[bytes, p.Fattr4]]:
    """(handle, attributes) of each GETATTR whose object is known by PUTFH or GETFH."""
    current: bytes | None = None
    for operation, result in zip(operations, reply.results, strict=False):
        if isinstance(operation, p.Putfh4Args):
            current = bytes(operation.object)
        elif isinstance(result, p.Getfh4Res):
            current = None if result.resok4 is None else bytes(result.resok4.object)
        elif isinstance(result, p.Getattr4Res):
            if current is not None and result.resok4 is not None:
                yield current, result.resok4.obj_attributes
        elif operation_of(operation).name in _MOVING:
            current = None


_MOVING: t.Final = frozenset(
    {"LOOKUP", "LOOKUPP", "OPEN", "CREATE", "PUTROOTFH", "PUTPUBFH", "RESTOREFH", "OPENATTR"}
)
"""Operations after which another object is the current one."""
