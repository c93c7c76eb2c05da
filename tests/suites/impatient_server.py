# SPDX-License-Identifier: MIT
"""A server that closes connections, or asks to be called again later: a separate process.

``python -m tests.suites.impatient_server MODE VALUE`` prints ``serving URL``. What it does is the function of MODE
in `MODES`; VALUE is a number of seconds, or the name of an operation.
"""

from __future__ import annotations

import sys
import typing as t
from collections.abc import Callable, Sequence

from nfsclient.protocol import nfs3, nfs4
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.server import Connection
from nfsserver.middleware import AnyAroundCall
from nfsserver.nfs3.freedoms import reply_with_nothing
from nfsserver.nfs4.common import failed
from nfsserver.serve import serve
from nfsserver.server import Server
from nfsserver.transport import AnswerRecord, TransportMiddleware

_LEASE: t.Final = 10.0
"""Seconds."""


class _Racing(TransportMiddleware):
    """A connection that was idle for some time is closed just as a call arrives, which is not executed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._used: dict[Connection, float] = {}
        self.closed = 0

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer it, or close the connection instead."""
        self._used = {connection: at for connection, at in self._used.items() if connection.is_open}
        now = connection.now()
        if now - self._used.get(connection, now) > self._seconds:
            connection.close()
            return
        self._used[connection] = now
        proceed(connection, message)


class _Slamming(TransportMiddleware):
    """The connection of a call of some procedure is closed, always: the server has received the call."""

    def __init__(self, procedure: AnyOperation) -> None:
        self._number = procedure.number.to_bytes(4, "big")
        self._program = procedure.program.to_bytes(4, "big")

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        """Answer it, or close the connection instead."""
        if (message[12:16], message[20:24]) == (self._program, self._number):
            connection.close()
        else:
            proceed(connection, message)


class _Bent:
    """Middleware: functions around operations, and what is below messages."""

    def __init__(
        self, calls: dict[AnyOperation, AnyAroundCall], below: Sequence[TransportMiddleware] = ()
    ) -> None:
        self._calls = calls
        self._below = below

    def around_calls(self, operation: AnyOperation, /) -> Sequence[AnyAroundCall]:
        return (self._calls[operation],) if operation in self._calls else ()

    def around_messages(self) -> tuple[()]:
        return ()

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return self._below


def _later(server: Server, name: str) -> None:
    """JUKEBOX or DELAY for ever to one operation: ``v3-COMMIT``, ``v4-OPEN``; ``v4-SEQUENCE`` spares only NULL."""
    version, _, operation_name = name.partition("-")
    operation: t.Any
    if version == "v3":
        operation = next(procedure for procedure in nfs3.NFS3.procedures if procedure.name == operation_name)
        reply = reply_with_nothing(operation.res, Nfsstat3.NFS3ERR_JUKEBOX)
    else:
        operation = nfs4.BY_NAME[operation_name]
        reply = failed(operation, Nfsstat4.NFS4ERR_DELAY)
    server.surround(_Bent({operation: lambda *_: reply}))


def _race(server: Server, seconds: str) -> None:
    server.surround(_Bent({}, [_Racing(float(seconds))]))


def _idle(server: Server, seconds: str) -> None:
    # A connection that was closed is made again when its client renews its lease: only then can it be called.
    server.knobs.update(idle_close=float(seconds), lease_time=_LEASE)


def _slam(server: Server, name: str) -> None:
    procedure = next(procedure for procedure in nfs3.NFS3.procedures if procedure.name == name)
    server.surround(_Bent({}, [_Slamming(procedure)]))


MODES: dict[str, Callable[[Server, str], None]] = {
    "later": _later,
    "race": _race,
    "idle": _idle,
    "slam": _slam,
}


def _announce(server: Server) -> None:
    sys.stdout.write(f"serving {server.url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    made = Server()
    MODES[sys.argv[1]](made, sys.argv[2])
    serve(made, Loop(), announce=_announce)
