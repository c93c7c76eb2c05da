# SPDX-License-Identifier: MIT
"""A server that becomes hostile when it gets SIGUSR1: a separate process, for tests of runs that are interrupted.

``python -m tests.plugin.hostile_server MODE FILE`` prints its URL, and makes FILE when it is hostile; if FILE is there
from the beginning, it is hostile at once. What it then does is the function of MODE in `MODES` or `BELOW`.
"""

from __future__ import annotations

import itertools
import signal
import sys
import typing as t
from collections.abc import Callable
from pathlib import Path

from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.record import frame
from nfsclient.rpc.server import Connection
from nfsclient.xdr import replace
from nfsserver.middleware import AnyAroundCall
from nfsserver.nfs4.common import failed
from nfsserver.serve import serve
from nfsserver.server import Server
from nfsserver.transport import AnswerRecord, TransportMiddleware

_PAUSE = 1.0
"""Seconds between the bytes of a server that dribbles."""
_MARK = (0x8000_0000 + 1000).to_bytes(4, "big")
_NUMBERS = itertools.count(1)


def _refuses(operation: nfs4.AnyOperation, status: Nfsstat4) -> AnyAroundCall:
    return lambda _server, _context, _args, _proceed: failed(operation, status)


def _sequence_delay() -> dict[t.Any, AnyAroundCall]:
    return {nfs4.SEQUENCE: _refuses(nfs4.SEQUENCE, Nfsstat4.NFS4ERR_DELAY)}


def _getattr_delay() -> dict[t.Any, AnyAroundCall]:
    return {nfs4.GETATTR: _refuses(nfs4.GETATTR, Nfsstat4.NFS4ERR_DELAY)}


def _grace() -> dict[t.Any, AnyAroundCall]:
    changing = (nfs4.OPEN, nfs4.CREATE, nfs4.REMOVE, nfs4.READ, nfs4.WRITE, nfs4.SETATTR, nfs4.LOCK)
    return {operation: _refuses(operation, Nfsstat4.NFS4ERR_GRACE) for operation in changing}


def _jukebox() -> dict[t.Any, AnyAroundCall]:
    def around(_server: t.Any, _context: t.Any, _args: t.Any, _proceed: t.Any) -> t.Any:
        return nfs3.Lookup3Res(Nfsstat3.NFS3ERR_JUKEBOX, resfail=nfs3.Lookup3ResFail())

    return {nfs3.LOOKUP: around}


def _endless() -> dict[t.Any, AnyAroundCall]:
    """Each page of a listing has names and cookies that are new, and none is the last."""

    def page4(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))
        if result.resok4 is None:
            return result
        new = [
            nfs4.Entry4(number, b"endless-%d" % number, nfs4.Fattr4())
            for number in itertools.islice(_NUMBERS, 100)
        ]
        return replace(result, resok4=replace(result.resok4, reply=nfs4.Dirlist4(new, eof=False)))

    def page3(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, replace(args, cookie=0, cookieverf=bytes(8)))
        if result.resok is None:
            return result
        new = [
            nfs3.Entry3(number, b"endless-%d" % number, number) for number in itertools.islice(_NUMBERS, 100)
        ]
        return replace(result, resok=replace(result.resok, entries=new, eof=False))

    return {nfs4.READDIR: page4, nfs3.READDIR: page3}


def _listing(bend: Callable[[list[nfs3.Entry3]], None]) -> dict[t.Any, AnyAroundCall]:
    """READDIR with other entries."""

    def page(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        if result.resok is not None:
            bend(result.resok.entries)
        return result

    return {nfs3.READDIR: page}


_LONG: t.Final = 200
"""Bytes of a name."""


def _hides_long_names() -> dict[t.Any, AnyAroundCall]:
    """No listing has long names, and all else works with them."""

    def page3(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        if result.resok is None:
            return result
        return replace(result, resok=replace(result.resok, entries=_short(result.resok.entries)))

    def page4(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        result = proceed(context, args)
        if result.resok4 is None:
            return result
        listed = result.resok4.reply
        return replace(
            result, resok4=replace(result.resok4, reply=replace(listed, entries=_short(listed.entries)))
        )

    return {nfs3.READDIR: page3, nfs3.READDIRPLUS: page3, nfs4.READDIR: page4}


def _short(entries: list[t.Any]) -> list[t.Any]:
    return [entry for entry in entries if len(entry.name) <= _LONG]


def _leads_up() -> dict[t.Any, AnyAroundCall]:
    """Each directory has an entry whose name is the path of a file outside, and names are paths."""

    def by_path(field: str) -> AnyAroundCall:
        def around(server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
            where = getattr(args, field)
            if b"/" in where.name:
                root = server.backend.handle_of(server.fs.root)
                where = nfs3.Diropargs3(root, where.name.rpartition(b"/")[2])
            return proceed(context, replace(args, **{field: where}))

        return around

    calls = _listing(lambda entries: entries.append(nfs3.Entry3(99, b"../precious", 1 << 40)))
    return {**calls, nfs3.LOOKUP: by_path("what"), nfs3.REMOVE: by_path("object")}


def _ring() -> dict[t.Any, AnyAroundCall]:
    """LOOKUP of a name in a directory that is not the root finds the root."""

    def lookup(server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        root = server.backend.handle_of(server.fs.root)
        result = proceed(context, args)
        if result.resok is not None and args.what.dir != root:
            return replace(result, resok=replace(result.resok, object=root, obj_attributes=None))
        return result

    return {nfs3.LOOKUP: lookup}


def _answers(procedure: t.Any, answer: t.Any) -> dict[t.Any, AnyAroundCall]:
    return {procedure: lambda _server, _context, _args, _proceed: answer}


def _no_listing(status: Nfsstat3) -> dict[t.Any, AnyAroundCall]:
    return _answers(nfs3.READDIR, nfs3.Readdir3Res(status, resfail=nfs3.Readdir3ResFail()))


def _never_empty() -> dict[t.Any, AnyAroundCall]:
    """RMDIR refuses the directories of checks, and no others."""
    wcc = nfs3.WccData()
    refusal = nfs3.Rmdir3Res(Nfsstat3.NFS3ERR_NOTEMPTY, resfail=nfs3.Rmdir3ResFail(wcc))

    def around(_server: t.Any, context: t.Any, args: t.Any, proceed: t.Any) -> t.Any:
        return refusal if args.object.name.startswith(b"nfsproof-") else proceed(context, args)

    return {nfs3.RMDIR: around}


def _keeps_names() -> dict[t.Any, AnyAroundCall]:
    """REMOVE says that it has done it."""
    wcc = nfs3.WccData()
    return _answers(nfs3.REMOVE, nfs3.Remove3Res(Nfsstat3.NFS3_OK, resok=nfs3.Remove3ResOk(wcc)))


class _Mute(TransportMiddleware):
    """One procedure of NFSv3 is never answered."""

    def __init__(self, number: int) -> None:
        self._number = number

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """All others are."""
        if not _is_call_of(message, self._number):
            proceed(connection, message)


def _is_call_of(message: bytes, number: int) -> bool:
    return [int.from_bytes(message[at : at + 4], "big") for at in (12, 16, 20)] == [100003, 3, number]


class _Garbage(TransportMiddleware):
    """Results of one procedure of NFSv3 that do not decode."""

    def __init__(self, number: int) -> None:
        self._number = number

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """The header of a success, and a status that is followed by nothing that fits."""
        if _is_call_of(message, self._number):
            connection.send(frame([message[:4], bytes(3), b"\x01", bytes(16), bytes(4), b"\xff" * 12]))
        else:
            proceed(connection, message)


class _Silent(TransportMiddleware):
    def __init__(self, _loop: Loop) -> None:
        """Nothing is timed."""

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Nothing is answered."""


class _Dribbling(TransportMiddleware):
    """Each reply comes a byte a second: the length of its record, and then one byte of it after the other."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._waiting: dict[Connection, bytes] = {}
        self._next = 0.0
        loop.add(t.cast("t.Any", self))

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """A reply of which the first byte comes at once."""
        self._waiting[connection] = _MARK + message[:4]
        self._next = self._loop.clock()
        self._loop.changed(t.cast("t.Any", self))

    def fileno(self) -> int:
        return sys.stdin.fileno()

    def wants_to_read(self) -> bool:
        return False

    def wants_to_write(self) -> bool:
        return False

    def next_deadline(self) -> float | None:
        return self._next if self._waiting else None

    def on_deadline(self, now: float) -> None:
        """One byte of each."""
        self._next = now + _PAUSE
        for connection, left in list(self._waiting.items()):
            if not connection.is_open:
                del self._waiting[connection]
                continue
            connection.send([left[:1] or b"\0"])
            connection.on_writable()
            self._waiting[connection] = left[1:]


MODES: dict[str, Callable[[], dict[t.Any, AnyAroundCall]]] = {
    "sequence-delay": _sequence_delay,
    "getattr-delay": _getattr_delay,
    "grace": _grace,
    "jukebox": _jukebox,
    "endless": _endless,
    "hides-long-names": _hides_long_names,
    "leads-up": _leads_up,
    "ring": _ring,
    "readdir-noent": lambda: _no_listing(Nfsstat3.NFS3ERR_NOENT),
    "readdir-denied": lambda: _no_listing(Nfsstat3.NFS3ERR_ACCES),
    "never-empty": _never_empty,
    "keeps-names": _keeps_names,
}
BELOW: dict[str, Callable[[Loop], TransportMiddleware]] = {
    "silent": _Silent,
    "dribble": _Dribbling,
    "garbage-readdir": lambda _loop: _Garbage(nfs3.READDIR.number),
    "garbage-remove": lambda _loop: _Garbage(nfs3.REMOVE.number),
    "mute-commit": lambda _loop: _Mute(nfs3.COMMIT.number),
    "mute-readdir": lambda _loop: _Mute(nfs3.READDIR.number),
    "mute-readdirplus": lambda _loop: _Mute(nfs3.READDIRPLUS.number),
}


class _Hostile:
    """The mode as middleware, in force from the signal on."""

    def __init__(self, loop: Loop, mode: str) -> None:
        self.is_on = False
        self._calls = MODES[mode]() if mode in MODES else {}
        self._loop = loop
        self._below = BELOW.get(mode)
        self._made: list[TransportMiddleware] = []

    def around_calls(self, operation: t.Any, /) -> tuple[AnyAroundCall, ...]:
        return (self._calls[operation],) if self.is_on and operation in self._calls else ()

    def around_messages(self) -> tuple[()]:
        return ()

    def below_messages(self) -> list[TransportMiddleware]:
        if self.is_on and self._below is not None and not self._made:
            self._made.append(self._below(self._loop))
        return self._made


def _announce(server: Server) -> None:
    sys.stdout.write(f"{server.url}\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until the process is ended."""
    loop, server = Loop(), Server()
    hostile = _Hostile(loop, sys.argv[1])
    server.surround(hostile)

    def turn(_number: int, _frame: object) -> None:
        hostile.is_on = True
        Path(sys.argv[2]).touch()

    signal.signal(signal.SIGUSR1, turn)
    hostile.is_on = Path(sys.argv[2]).exists()
    serve(server, loop, announce=_announce)


if __name__ == "__main__":
    main()
