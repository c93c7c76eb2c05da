# SPDX-License-Identifier: MIT
"""A toy program, and a scripted peer on a real socket that serves it as a test wants."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.rpc.program import BulkResult, Procedure, Program
from nfsclient.rpc.record import RecordAssembler, fragment
from nfsclient.xdr import Buffer, Bulk, Case, Opaque, Struct, Union, Void, u32
from tests.waiting import AT_MOST

PROGRAM = 0x2000_0001


class EchoArgs(Struct):
    number: u32
    text: t.Annotated[bytes, Opaque(1000)] = b""


class EchoRes(Struct):
    number: u32
    text: t.Annotated[bytes, Opaque(1000)] = b""


class FetchArgs(Struct):
    count: u32


class FetchResOk(Struct):
    count: u32
    data: t.Annotated[Buffer, Bulk()]


class FetchRes(Union):
    status: u32
    resok: t.Annotated[FetchResOk | None, Case(0)] = None
    __void_default__ = True


class StoreArgs(Struct):
    data: t.Annotated[Buffer, Bulk()]


def _data(result: FetchRes) -> Buffer | None:
    return None if result.resok is None else result.resok.data


def _place(result: FetchRes, data: Buffer) -> None:
    assert result.resok is not None
    result.resok.data = data


NULL: Procedure[Void, Void] = Procedure(PROGRAM, 1, 0, "NULL", Void, Void)
ECHO: Procedure[EchoArgs, EchoRes] = Procedure(PROGRAM, 1, 1, "ECHO", EchoArgs, EchoRes)
FETCH: Procedure[FetchArgs, FetchRes] = Procedure(
    PROGRAM, 1, 2, "FETCH", FetchArgs, FetchRes, BulkResult(8, lambda args: args.count, _data, _place)
)
STORE: Procedure[StoreArgs, FetchArgs] = Procedure(PROGRAM, 1, 3, "STORE", StoreArgs, FetchArgs)
TOY = Program(PROGRAM, 1, "TOY", (NULL, ECHO, FETCH, STORE))

PATTERN = bytes(range(251)) * 10_000


def words(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def success(call: bytes, results: bytes = b"") -> bytes:
    """The successful reply to a call message, without record mark."""
    return call[:4] + words(1, 0, 0, 0, 0) + results


def answer(call: bytes) -> bytes:
    """What an honest server says to a call with empty credential and verifier."""
    procedure, args = int.from_bytes(call[20:24], "big"), call[40:]
    if procedure == ECHO.number:
        return success(call, args)
    if procedure == FETCH.number:
        count = FetchArgs.from_xdr(args).count
        return success(call, FetchRes(0, FetchResOk(count, PATTERN[:count])).to_xdr())
    if procedure == STORE.number:
        return success(call, FetchArgs(len(StoreArgs.from_xdr(args).data)).to_xdr())
    return success(call)


def framed(message: bytes) -> bytes:
    return fragment(message, ())


Script: t.TypeAlias = Callable[[list[bytes]], bytes | None]
"""Takes the calls that wait; gives bytes to send, None to wait for more calls; may raise `HangUp`."""


class HangUp(Exception):
    """Raised by a script: send `data`, then close the connection."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__()
        self.data = data


def honest(calls: list[bytes]) -> bytes | None:
    return b"".join(framed(answer(call)) for call in calls) if calls else None


class Peer:
    """Listens on a TCP port and answers one connection after another by `script`, from a thread of the test.

    Between the client and a peer of another thread nothing is shared but the socket, as with a real server.
    """

    def __init__(self, script: Script = honest, host: str = "127.0.0.1") -> None:
        self.script = script
        self.received = b""
        self._listener = socket.create_server(
            (host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
        self._listener.settimeout(30)
        self.host, self.port = self._listener.getsockname()[:2]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(AT_MOST)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                with sock, contextlib.suppress(OSError):
                    sock.settimeout(30)
                    for output in self._answers(sock):
                        sock.sendall(output)

    def _answers(self, sock: socket.socket) -> Iterator[bytes]:
        assembler = RecordAssembler()
        calls: list[bytes] = []
        while data := sock.recv(1 << 16):
            self.received += data
            calls += [record.payload() for record in assembler.feed(data)]
            try:
                output = self.script(calls)
            except HangUp as end:
                yield end.data
                return
            if output is not None:
                calls = []
                yield output
