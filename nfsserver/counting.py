# SPDX-License-Identifier: MIT
"""Counts the calls of clients by procedure, and tells them to whoever asks on a separate port.

So the calls of any client can be counted, also of one whose system does not count them. Only NFS counts: not MOUNT,
portmap and rpcbind. A call of NFSv4 counts as one, under the operation that it is for. A call that is answered from
the replay cache is not performed again, and not counted again; its bytes are.

Each connection to the port gets one line of JSON, `Counts.to_json`, and its end.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections import Counter
from collections.abc import Callable, Sequence

from nfsclient.protocol.nfs4 import COMPOUND
from nfsclient.protocol.nfs4.purpose import purpose_of
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import AnyOperation, Procedure
from nfsclient.rpc.service import CallContext
from nfsclient.rpc.sockets import Address, address_of
from nfsclient.xdr import XdrType
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Answer, AnyAroundCall, AroundMessage, Proceed, ProceedMessage
from nfsserver.server import Server
from nfsserver.transport import TransportMiddleware

_NFS = 100003
_PROGRAM = slice(12, 16)
"""Where a call has the number of its program (RFC 5531 section 9)."""
_BACKLOG = 16


class Counts:
    """What clients have sent since the server began to count. As `Middleware`."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        """By procedure."""
        self.call_bytes = 0
        """Of RPC messages, without record marks."""
        self.reply_bytes = 0

    def to_json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "calls": dict(sorted(self.calls.items())),
                "call_bytes": self.call_bytes,
                "reply_bytes": self.reply_bytes,
            }
        )

    # ------------------------------------------------------------ middleware

    def around_calls(self, operation: AnyOperation, /) -> Sequence[AnyAroundCall]:
        """Counts whole calls; what a compound carries is no call."""
        if operation.program != _NFS or not isinstance(operation, Procedure):
            return ()
        return (self._count_compound if operation is COMPOUND else self._counter(operation.name),)

    def around_messages(self) -> Sequence[AroundMessage]:
        """Counts bytes."""
        return (self._message,)

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return ()

    def _counter(self, name: str) -> AnyAroundCall:
        def count(
            _: ServerApi, context: CallContext, args: XdrType, proceed: Proceed[XdrType, XdrType]
        ) -> XdrType:
            self.calls[name] += 1
            return proceed(context, args)

        return count

    def _count_compound(
        self, _: ServerApi, context: CallContext, args: XdrType, proceed: Proceed[XdrType, XdrType]
    ) -> XdrType:
        self.calls[_name_of(args)] += 1
        return proceed(context, args)

    def _message(self, _: ServerApi, message: bytes, proceed: ProceedMessage) -> Answer:
        answer = proceed(message)
        if message[_PROGRAM] == _NFS.to_bytes(4, "big"):
            self.call_bytes += len(message)
            self.reply_bytes += sum(map(len, answer or ()))
        return answer


def _name_of(args: XdrType) -> str:
    """COMPOUND for what nobody can be for: without operations, or too large to be decoded."""
    try:
        return purpose_of(args.argarray)  # type: ignore[attr-defined]
    except (AttributeError, KeyError):
        return "COMPOUND"


class CountsPort:
    """A port that tells the counts. A member of the loop until `close`."""

    def __init__(self, counts: Counts, loop: Loop, host: str, port: int) -> None:
        """Raises OSError."""
        self._counts = counts
        self._loop = loop
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        self._sock = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        self._sock.setblocking(False)
        self.address: Address = address_of(self._sock.getsockname())
        loop.add(self)

    def close(self) -> None:
        """Stop listening."""
        self._loop.remove(self)
        self._sock.close()

    def fileno(self) -> int:
        return self._sock.fileno()

    def wants_to_read(self) -> bool:
        return True

    def wants_to_write(self) -> bool:
        return False

    def on_readable(self) -> None:
        """Tell one caller. A line is shorter than what the kernel takes at once, so nobody is waited for."""
        with contextlib.suppress(OSError):  # the caller has gone
            connection, _ = self._sock.accept()
            with connection:
                connection.setblocking(False)
                connection.send(self._counts.to_json().encode() + b"\n")

    def on_writable(self) -> None:
        """It never waits for that."""

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        """Nothing is timed."""


def count(server: Server) -> tuple[Counts, Callable[[], None]]:
    """Count the calls of a server from now on; call the second result to end that."""
    counts = Counts()
    return counts, server.surround(counts)
