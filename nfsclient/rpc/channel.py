# SPDX-License-Identifier: MIT
"""Calls in the other direction: from a server to its client, over the connection that the client made.

RPC has no direction (RFC 5531 section 9: CALL and REPLY are types of messages), and NFSv4.1 uses a connection both ways
(RFC 5661 sections 2.10.3.1 and 2.10.4). XIDs are those of the caller: a call and a call of the peer may have the same
one, since the type of a message tells which of them is meant.

- On a server each connection has a `Channel` (`CallContext.channel`, None over UDP). A handler or a timer makes calls
  with it; the loop brings the reply, or its loss, to a function. Nothing waits.
- On a client `serve(answerer)` answers the calls that arrive on a connection, with a `Dispatcher` for example, while
  anything waits on its loop. A function in `on_call` does the same message by message, so that a test may answer
  wrong, later (`send_reply`), or never. The blocking and the asyncio client are alike in this.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.errors import ConnectionLost, NfsClientError, RpcError
from nfsclient.rpc.auth import AuthNone, Credential
from nfsclient.rpc.core import Pending, StreamCore
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import Record
from nfsclient.rpc.sockets import Address, format_address
from nfsclient.xdr import Buffer, XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

MAX_CALLS = 256
"""Calls to one client that may be under way over one connection."""
_NOBODY: t.Final = AuthNone()
_REPLY: t.Final = b"\0\0\0\1"

OnDone: t.TypeAlias = Callable[[Pending[R]], None]
"""Called once when a call is over: then `result` or `error` of it is set."""


class Answerer(t.Protocol):
    """What turns a message into a reply: `Dispatcher`, or something around one."""

    def answer(
        self,
        message: bytes,
        peer: Address,
        transport: t.Literal["tcp", "udp"],
        channel: Channel | None = None,
    ) -> list[Buffer] | None:
        """The reply, or None for silence. With `channel`, calls can be made to whoever sent the message."""
        ...


class Carrier(t.Protocol):
    """The connection under a channel."""

    @property
    def peer(self) -> Address:
        """The client's address."""

    @property
    def is_open(self) -> bool:
        """Whether messages can go both ways."""

    @property
    def is_choked(self) -> bool:
        """Whether the client does not read what it is sent."""

    def now(self) -> float:
        """Seconds, by the clock of the loop."""
        ...

    def send(self, buffers: list[Buffer]) -> None:
        """Send framed bytes."""
        ...

    def note_deadline(self) -> None:
        """Calls have begun or were cancelled: `next_deadline` of the channel may be different."""
        ...


class Channel:
    """Calls to the client of one connection. Two channels are equal when they are the same connection.

    `on_done` is called from the loop, never from within `call`: with the result, with `RpcTimeout` at the deadline,
    with `ConnectionLost` when the connection ends first, or with what `RpcClient.call` would raise. It may make calls,
    and close connections; it must not raise.
    """

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier
        self._core: StreamCore | None = None
        self._waiting: dict[Pending[t.Any], OnDone[t.Any]] = {}

    @property
    def peer(self) -> Address:
        """The client's address."""
        return self._carrier.peer

    @property
    def is_open(self) -> bool:
        """Whether calls can be made and answered. Once False, it stays so."""
        return self._carrier.is_open

    @property
    def under_way(self) -> int:
        """How many calls wait for their replies."""
        return len(self._waiting)

    def call(
        self,
        procedure: Procedure[A, R],
        args: A,
        on_done: OnDone[R],
        *,
        timeout: float,
        credential: Credential = _NOBODY,
        xid: int | None = None,
    ) -> Pending[R]:
        """Make a call that is to be answered within `timeout` seconds of the loop's clock.

        Raises `ConnectionLost` where the connection has ended, `RpcError` where too many calls are under way or the
        client does not read, and `XdrError` for arguments that cannot be encoded; `on_done` is not called then.
        """
        if not self.is_open:
            raise ConnectionLost(procedure.label, "the client's connection has ended")
        if len(self._waiting) >= MAX_CALLS:
            raise RpcError(f"{procedure.label}: {MAX_CALLS} calls to the client are under way")
        if self._carrier.is_choked:
            raise RpcError(f"{procedure.label}: the client does not read")
        if self._core is None:
            self._core = StreamCore(peer=format_address(*self.peer))
        core = self._core
        pending = core.submit(
            procedure, args, self._carrier.now(), credential=credential, timeout=timeout, xid=xid
        )
        self._waiting[pending] = on_done
        self._carrier.note_deadline()
        self._carrier.send(core.take_output())
        return pending

    def cancel(self, pending: Pending[t.Any]) -> None:
        """Forget a call: its reply is ignored, and `on_done` is not called."""
        if self._waiting.pop(pending, None) is not None and self._core is not None:
            self._core.cancel(pending, RpcError(f"{pending.procedure.label} was cancelled by its caller"))
            self._carrier.note_deadline()

    # ------------------------------------------------------------ for the connection

    def take(self, record: Record) -> bool:
        """Whether a message is the reply to a call that is under way; then that call is over."""
        buf, start, end = record
        core = self._core
        if core is None or end - start < 8 or buf[start + 4 : start + 8] != _REPLY:
            return False
        if int.from_bytes(buf[start : start + 4], "big") not in core.pending:
            return False
        event = core.take_message(record, self._carrier.now())
        assert isinstance(event, Pending)
        self._finish(event)
        return True

    def next_deadline(self) -> float | None:
        """When `on_deadline` is to be called."""
        return None if self._core is None else self._core.next_deadline()

    def on_deadline(self, now: float) -> None:
        """Give up the calls whose deadline has passed."""
        if self._core is not None:
            for event in self._core.handle_timeout(now):
                assert isinstance(event, Pending)
                self._finish(event)

    def lose(self, cause: str) -> None:
        """The connection has ended, and with it every call."""
        if self._core is not None:
            self._core.fail_all(cause)
            for pending in list(self._waiting):
                self._finish(pending)

    def _finish(self, pending: Pending[t.Any]) -> None:
        on_done = self._waiting.pop(pending, None)
        if on_done is not None:
            on_done(pending)


def result_of(pending: Pending[R]) -> R:
    """The result of a call that is over. Raises its error."""
    error: NfsClientError | None = pending.error
    if error is not None:
        raise error.with_traceback(None)
    assert pending.result is not None
    return pending.result


__all__ = ["MAX_CALLS", "Answerer", "Carrier", "Channel", "OnDone", "result_of"]
