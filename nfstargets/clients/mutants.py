# SPDX-License-Identifier: MIT
"""Mutants of a client: the library of nfsproof, each with one mistake that an implementer could make.

The checks of `suites/clients` name them in `killed_by`, and must fail on them. A mutant runs in the process of
`program`, as the client does, and speaks all versions of NFS. Without faults it does its work: if the control failed,
nothing would be judged. Only `client-does-nothing` is for the control. Three kinds:

- the library without its recovery, whose errors nobody reports (`_Hiding`);
- the same, with replies as a client would see them that reads the stream of TCP wrongly (`_Relay` with a reader);
- READ, WRITE and COMMIT by single calls, whose results are not looked at (`_Careless`).
"""

from __future__ import annotations

import contextlib
import functools
import socket
import struct
import threading
import typing as t
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from nfsclient import Nfs3, NfsUrl, Patience, connect
from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.discovery import discover, open_connection
from nfsclient.errors import NfsClientError
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs3 import StableHow
from nfsclient.rpc.loop import Loop

_SOON: t.Final = 0.15
"""Seconds after which an impatient client gives up: less than the plans delay a reply."""
_RECEIVED: t.Final = 1 << 20
_LAST: t.Final = 1 << 31
"""The bit of a record mark that says that the fragment is the last one of its record."""


@dataclass(frozen=True, slots=True)
class ClientMutant:
    """One client that misbehaves."""

    name: str
    gist: str
    """What it does wrong, in one sentence."""
    make: Callable[[str], t.Any]
    """The URL of an export -> the files of the client, in the form of `program.Files`."""


# ---------------------------------------------------------------- errors that nobody reports


class _File:
    """An open file whose errors are hidden; None: it could not even be opened."""

    def __init__(self, file: t.Any) -> None:
        self._file = file

    def pwrite(self, data: bytes, offset: int) -> int:
        if self._file is not None:
            with contextlib.suppress(Exception):
                self._file.seek(offset)
                self._file.write(data)
        return len(data)

    def append(self, data: bytes) -> int:
        if self._file is not None:
            with contextlib.suppress(Exception):
                self._file.write(data)
        return len(data)

    def pread(self, count: int, offset: int) -> bytes:
        if self._file is None:
            return b""
        try:
            self._file.seek(offset)
            data: bytes = self._file.read(count)
        except Exception:  # noqa: BLE001  that it hides all is its mistake
            return b""
        return data

    def sync(self) -> None:
        if self._file is not None:
            with contextlib.suppress(Exception):
                self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(Exception):
                self._file.close()


class _Hiding:
    """The files of a client that reports no error; None: it has no connection."""

    def __init__(self, nfs: t.Any) -> None:
        self._nfs = nfs

    def __getattr__(self, name: str) -> Callable[..., None]:
        def do(*values: t.Any) -> None:
            if self._nfs is not None:
                with contextlib.suppress(Exception):
                    getattr(self._nfs, name)(*values)

        return do

    def open(self, path: str, mode: str) -> _File:
        file = None
        if self._nfs is not None:
            with contextlib.suppress(Exception):
                file = self._nfs.open(path, "r+" if mode == "+" else mode)
        return _File(file)

    def names(self, path: str) -> list[str]:
        if self._nfs is None:
            return []
        try:
            found: list[str] = self._nfs.listdir(path)
        except Exception:  # noqa: BLE001  as above
            return []
        return found


def _hiding(at: str, *, timeout: float = 10.0, reconnect: bool = False, waits: bool = True) -> _Hiding:
    loop = Loop()
    patience = None if waits else Patience.of(loop, total=0.0)
    try:
        nfs = connect(at, loop=loop, timeout=timeout, reconnect=reconnect, patience=patience)
    except NfsClientError:
        return _Hiding(None)
    return _Hiding(nfs)


# ---------------------------------------------------------------- a stream that is read wrongly


class _Reader(t.Protocol):
    """How a client understands what it receives."""

    def call(self, xid: bytes) -> None:
        """It has sent a call."""

    def read(self, data: bytes) -> bytes:
        """It has received this: what it takes it for, as bytes of a right stream."""
        ...


class _AnyReply:
    """Takes the next reply for that to its oldest call, whatever the XID."""

    def __init__(self) -> None:
        self._calls: deque[bytes] = deque()
        self._replies: deque[bytes] = deque()
        self._rest = b""

    def call(self, xid: bytes) -> None:
        self._calls.append(xid)

    def read(self, data: bytes) -> bytes:
        self._rest += data
        while len(self._rest) >= 4 and len(self._rest) >= 4 + _length(self._rest):
            end = 4 + _length(self._rest)
            self._replies.append(self._rest[:end])
            self._rest = self._rest[end:]
        return self.matched()

    def matched(self) -> bytes:
        """The replies that have a call by now."""
        found = b""
        while self._calls and self._replies:
            reply = self._replies.popleft()
            found += reply[:4] + self._calls.popleft() + reply[8:]
        return found


class _WholeMarks:
    """Reads a record mark from what one recv() gives: less than four bytes are lost."""

    def __init__(self) -> None:
        self._left = 0

    def call(self, xid: bytes) -> None:
        """Nothing."""

    def read(self, data: bytes) -> bytes:
        found = b""
        while data:
            if not self._left:
                if len(data) < 4:
                    return found
                self._left = 4 + _length(data)
            piece, data = data[: self._left], data[self._left :]
            self._left -= len(piece)
            found += piece
        return found


class _Fragments:
    """Takes each fragment for a record."""

    def __init__(self) -> None:
        self._left = 0
        self._mark = b""

    def call(self, xid: bytes) -> None:
        """Nothing."""

    def read(self, data: bytes) -> bytes:
        found = b""
        while data:
            if self._left:
                piece, data = data[: self._left], data[self._left :]
                self._left -= len(piece)
                found += piece
                continue
            wanted = 4 - len(self._mark)
            self._mark, data = self._mark + data[:wanted], data[wanted:]
            if len(self._mark) == 4:
                self._left = _length(self._mark)
                found += struct.pack(">I", _LAST | self._left)
                self._mark = b""
        return found


def _length(mark: bytes) -> int:
    """The length in a record mark."""
    found: int = struct.unpack(">I", mark[:4])[0] & ~_LAST
    return found


class _Relay:
    """Stands between the library and its server, in this process, and gives it replies as a reader understands them.

    Its threads end with the process.
    """

    def __init__(self, host: str, port: int, make: Callable[[], _Reader]) -> None:
        self._to = (host, port)
        self._make = make
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            client, _ = self._listener.accept()
            try:
                server = socket.create_connection(self._to)
            except OSError:
                client.close()
                continue
            reader, lock = self._make(), threading.Lock()
            for target in (self._calls, self._replies):
                threading.Thread(target=target, args=(client, server, reader, lock), daemon=True).start()

    @staticmethod
    def _calls(client: socket.socket, server: socket.socket, reader: _Reader, lock: threading.Lock) -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while data := client.recv(_RECEIVED):
                rest += data
                while len(rest) >= 8 and len(rest) >= 4 + _length(rest):
                    with lock:
                        reader.call(rest[4:8])
                        if isinstance(reader, _AnyReply) and (early := reader.matched()):
                            client.sendall(early)
                    rest = rest[4 + _length(rest) :]
                server.sendall(data)
        _end(client, server)

    @staticmethod
    def _replies(client: socket.socket, server: socket.socket, reader: _Reader, lock: threading.Lock) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(_RECEIVED):
                with lock:
                    client.sendall(reader.read(data))
        _end(client, server)


def _end(*sockets: socket.socket) -> None:
    for sock in sockets:
        with contextlib.suppress(OSError):
            sock.shutdown(socket.SHUT_RDWR)


def _misreading(at: str, make: Callable[[], _Reader]) -> _Hiding:
    url = NfsUrl.parse(at)
    port = url.nfs_port
    assert port is not None
    relay = _Relay(url.host, port, make)
    return _hiding(at.replace(str(port), str(relay.port)), timeout=2.0)


# ---------------------------------------------------------------- results that nobody looks at


class _Calls(t.Protocol):
    """READ, WRITE and COMMIT of one file, each by one call; its results as they come."""

    def read(self, offset: int, count: int) -> bytes: ...

    def write(self, offset: int, data: bytes) -> None: ...

    def commit(self) -> None: ...


class _Calls3:
    """By NFSv3."""

    def __init__(self, url: NfsUrl, path: str, loop: Loop) -> None:
        endpoint = discover(url, loop=loop)
        self._nfs = Nfs3(open_connection(url, endpoint.nfs_port, loop=loop))
        self._file = endpoint.root
        for name in path.split("/"):
            found = self._nfs.lookup(self._file, name.encode()).resok
            if found is not None:
                self._file = found.object

    def read(self, offset: int, count: int) -> bytes:
        found = self._nfs.read(self._file, offset, count).resok
        return b"" if found is None else bytes(found.data)

    def write(self, offset: int, data: bytes) -> None:
        self._nfs.write(self._file, offset, data, StableHow.UNSTABLE)

    def commit(self) -> None:
        self._nfs.commit(self._file)


class _Calls4:
    """By NFSv4.1 or 4.2, with the anonymous stateid."""

    def __init__(self, url: NfsUrl, path: str, loop: Loop) -> None:
        assert url.nfs_port is not None
        rpc = open_connection(url, url.nfs_port, loop=loop)
        self._session: Session = Nfs4(rpc, minor=1 if url.minor is None else url.minor).establish()
        names = [*url.path.split(b"/"), *path.encode().split(b"/")]
        self._place = [op.putrootfh(), *(op.lookup(name) for name in names if name)]

    def read(self, offset: int, count: int) -> bytes:
        reply = self._session.compound(*self._place, op.read(op.ANONYMOUS, offset, count))
        found = reply.of(p.READ).resok4
        return b"" if found is None else bytes(found.data)

    def write(self, offset: int, data: bytes) -> None:
        self._session.compound(*self._place, op.write(op.ANONYMOUS, offset, data, p.StableHow4.UNSTABLE4))

    def commit(self) -> None:
        self._session.compound(*self._place, op.commit())


class _CarelessFile:
    """A file of single calls, each of which is made once more if its connection is lost."""

    def __init__(self, open_it: Callable[[], _Calls]) -> None:
        self._open = open_it
        self._calls = open_it()
        self._has_ended = False

    def _twice(self, call: Callable[[_Calls], t.Any]) -> t.Any:
        for _ in range(2):
            try:
                return call(self._calls)
            except NfsClientError:
                with contextlib.suppress(NfsClientError):
                    self._calls = self._open()
        return None

    def pwrite(self, data: bytes, offset: int) -> int:
        self._twice(lambda calls: calls.write(offset, data))
        return len(data)

    def pread(self, count: int, offset: int) -> bytes:
        if self._has_ended:
            return b""
        data: bytes = self._twice(lambda calls: calls.read(offset, count)) or b""
        self._has_ended = len(data) < count
        return data

    def sync(self) -> None:
        self._twice(lambda calls: calls.commit())

    def close(self) -> None:
        """Nothing."""


class _Careless:
    """Files that are read and written by single calls; everything else is done by the library."""

    def __init__(self, at: str) -> None:
        self._at = NfsUrl.parse(at)
        self._loop = Loop()
        self._nfs = connect(at, loop=self._loop)

    def open(self, path: str, mode: str) -> _CarelessFile:
        if mode == "w":
            self._nfs.write_file(path, b"")
        make = _Calls3 if self._at.version == 3 else _Calls4
        return _CarelessFile(functools.partial(make, self._at, path, self._loop))

    def close(self) -> None:
        self._nfs.close()


MUTANTS: t.Final = {
    mutant.name: mutant
    for mutant in (
        ClientMutant("client-does-nothing", "it reports that all is done", lambda _: _Hiding(None)),
        ClientMutant(
            "client-hides-lost-connections",
            "it does not connect again, and reports no error",
            _hiding,
        ),
        ClientMutant(
            "client-gives-up-soon",
            "it waits for a reply for a moment only, and reports no error",
            functools.partial(_hiding, timeout=_SOON),
        ),
        ClientMutant(
            "client-takes-any-reply",
            "it takes the next reply for that to its oldest call, whatever the XID",
            functools.partial(_misreading, make=_AnyReply),
        ),
        ClientMutant(
            "client-needs-whole-marks",
            "it reads a record mark from what one recv() gives",
            functools.partial(_misreading, make=_WholeMarks),
        ),
        ClientMutant(
            "client-takes-fragments-for-records",
            "it takes each fragment for a record",
            functools.partial(_misreading, make=_Fragments),
        ),
        ClientMutant(
            "client-hides-delay",
            "it does not try again after JUKEBOX and DELAY, and reports no error",
            functools.partial(_hiding, reconnect=True, waits=False),
        ),
        ClientMutant(
            "client-trusts-short-writes", "it ignores how many bytes a WRITE has written", _Careless
        ),
        ClientMutant("client-trusts-short-reads", "it takes a short READ for the end of the file", _Careless),
        ClientMutant(
            "client-ignores-write-verifiers",
            "it does not compare the verifiers of WRITE and COMMIT",
            _Careless,
        ),
    )
}
"""By name, as `killed_by` of checks has it."""
