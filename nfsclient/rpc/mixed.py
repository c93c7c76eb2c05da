# SPDX-License-Identifier: MIT
"""Calls of any procedures at once over one connection, each with its times and a function that gets its end.

For whoever drives many independent things on few connections: loads, scripts with callers that run side by side. A
reply costs the same whatever number of calls is under way: it is found by its XID, and the function that was given with
the call is called.

    state       where it is                 what ends it
    queued      `_output`                   `flush` sends all that is queued in one send
    under way   `inflight`, by XID          its reply (`deliver`), its deadline (`expire`), the end of the connection
    over        `over`                      `dispatch` calls its function

What must stay true:

- Functions are called by `dispatch` only, never while bytes are being received: they may make new calls, and raise.
- All calls of a connection have the same timeout, so `inflight` is in the order of deadlines, and only its first call
  is looked at. A call that is to be sent again (another XID, the same function) is a new call.
- A call is `over` once. A reply that comes after its deadline answers no call, and the core keeps it as a stray.
- XIDs are drawn from the core, as those of all windows: an XID is in one window or in `core.pending`, never in both.
- A connection that is made again has a new core: `attach` registers there, and the calls of the old one are over.
"""

from __future__ import annotations

import contextlib
import typing as t
from collections import deque
from collections.abc import Callable

from nfsclient.errors import ConnectionLost, NfsClientError, RpcTimeout
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import IDLE, RpcClient
from nfsclient.rpc.core import USUAL_REPLY, CallCore, StreamCore, decode_reply
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import LAST_FRAGMENT, Record, size_of
from nfsclient.xdr import Buffer, XdrType

MARK_SIZE: t.Final = 4
_REPLY_HEAD: t.Final = 4 + len(USUAL_REPLY)


class TimedCall:
    """One call: its procedure and arguments, when it was intended, sent and answered, and its result or its error.

    Times are seconds of the clock of the loop.
    """

    __slots__ = (
        "args", "credential", "done", "error", "intended", "procedure", "received_at", "received_bytes", "refused",
        "result", "sent_at", "sent_bytes", "xid",
    )  # fmt: skip

    def __init__(
        self,
        procedure: Procedure[t.Any, t.Any],
        args: t.Any,
        done: Callable[[TimedCall], None],
        intended: float,
        xid: int,
        credential: Credential,
    ) -> None:
        self.credential = credential
        self.procedure = procedure
        self.args = args
        self.done = done
        self.intended = intended
        """When it should have been made: in an open loop before it could be sent."""
        self.sent_at = intended
        self.received_at: float | None = None
        """None: no reply has come."""
        self.xid = xid
        self.result: t.Any = None
        self.error: NfsClientError | None = None
        self.refused: bytes | None = None
        """The reply that has no result: a refusal of RPC, or bytes that do not decode."""
        self.sent_bytes = 0
        """Of the call with its record mark."""
        self.received_bytes = 0


class MixedCalls:
    """Calls over one TCP connection, any number at a time. Not for connections whose calls are sealed (`Security`).

    The loop of the connection has to be served by the caller: `flush`, `Loop.run_once`, `dispatch`.
    """

    def __init__(
        self, rpc: RpcClient, *, over: deque[TimedCall] | None = None, timeout: float | None = None
    ) -> None:
        """`over` may be shared by several connections, so that one queue has all calls that are over."""
        self.rpc = rpc
        self.timeout = rpc.timeout if timeout is None else timeout
        self.inflight: dict[int, TimedCall] = {}
        self.over: deque[TimedCall] = deque() if over is None else over
        self._output: list[Buffer] = []
        self._queued: list[TimedCall] = []
        self._used_at = rpc.loop.clock()
        """When a call was sent, or a reply came."""
        self._core: CallCore
        """Where it is registered."""
        self.attach()

    def attach(self) -> None:
        """Register with the core of the connection; again after `RpcClient.reconnect`."""
        core = self.rpc.core
        if not isinstance(core, StreamCore):
            raise TypeError("expected a connection over TCP")
        self._core = core
        core.windows.append(self)

    def reopen(self) -> None:
        """Connect again after the connection has ended while no call was under way, which a server may do at any time.

        If that fails, calls are over with `ConnectionLost`, as before.
        """
        with contextlib.suppress(NfsClientError):
            self.rpc.reconnect()
            for call in list(self.rpc.on_reopened):
                call()
        self.close()
        self.attach()

    def close(self) -> None:
        """Leave the connection. Calls under way get no end."""
        if self in self._core.windows:
            self._core.windows.remove(self)

    # ------------------------------------------------------------ calls out

    def start(
        self,
        procedure: Procedure[t.Any, t.Any],
        args: XdrType,
        done: Callable[[TimedCall], None],
        *,
        intended: float | None = None,
        credential: Credential | None = None,
    ) -> TimedCall:
        """Queue a call; `flush` sends it. `done` gets it when it is over. Raises `XdrError` for bad arguments."""
        if not self.inflight and self.rpc.loop.clock() - self._used_at >= IDLE:
            self.rpc.loop.catch_up()  # the server may have closed what was idle
        if not self.rpc.is_open and not self.inflight:
            self.reopen()
        core = self._core
        caller = self.rpc.credential if credential is None else credential
        plan = core.plans.plan(procedure, caller)
        body: list[Buffer] = []
        args.pack(body)
        xid = core.next_xid()
        begins = self.rpc.loop.clock() if intended is None else intended
        call = TimedCall(procedure, args, done, begins, xid, caller)
        output = self._output
        mark = len(output)
        output.append(b"")
        if plan.sends_bulk:
            output += (plan.header, *body)
            size = 4 + len(plan.header) + size_of(body)
        else:
            encoded = b"".join(body)
            output += (plan.header, encoded)
            size = 4 + len(plan.header) + len(encoded)
        output[mark] = (LAST_FRAGMENT + size).to_bytes(4, "big") + xid.to_bytes(4, "big")
        call.sent_bytes = MARK_SIZE + size
        self.inflight[xid] = call
        self._queued.append(call)
        return call

    def flush(self) -> None:
        """Send what is queued. Calls on a connection that has ended are over, with `ConnectionLost`."""
        if not self._queued:
            return
        output, self._output = self._output, []
        queued, self._queued = self._queued, []
        now = self._used_at = self.rpc.loop.clock()
        for call in queued:
            call.sent_at = now
        if self.rpc.is_open:
            self.rpc.transmit(output, self.timeout)
        self.check()

    @property
    def has_queued(self) -> bool:
        """Whether `flush` has something to send."""
        return bool(self._queued)

    # ------------------------------------------------------------ replies in

    def release(self) -> None:
        """It holds no bytes back: every reply comes through the core."""

    def deliver(self, xid: int, record: Record) -> None:
        """Take a reply that the core has found; as of `rpc.core.Window`."""
        call = self.inflight.pop(xid)
        call.received_at = self._used_at = self.rpc.loop.clock()
        call.received_bytes = MARK_SIZE + record.end - record.start
        try:
            call.result = decode_reply(call.procedure, record)
        except NfsClientError as error:
            call.error, call.refused = error, record.payload()
        self.over.append(call)

    def check(self) -> None:
        """If the connection has ended, its calls are over."""
        if self.rpc.is_open:
            return
        lost, self.inflight = self.inflight, {}
        for call in lost.values():
            call.error = ConnectionLost(call.procedure.label, self.rpc.why_closed)
            self.over.append(call)

    def next_deadline(self) -> float | None:
        """When `expire` is to be called next; None while no call is under way."""
        for call in self.inflight.values():
            return call.sent_at + self.timeout
        return None

    def expire(self, now: float) -> None:
        """End the calls whose deadline has passed, with `RpcTimeout`. To be called after `Loop.catch_up`."""
        while self.inflight:
            call = next(iter(self.inflight.values()))
            if call.sent_at + self.timeout > now:
                return
            del self.inflight[call.xid]
            call.error = RpcTimeout(call.procedure.label, self.timeout)
            self.over.append(call)

    def dispatch(self) -> int:
        """Call the functions of the calls that are over, also of those that end meanwhile; how many there were."""
        return dispatch(self.over)

    def exchange_of(self, call: TimedCall) -> Exchange:
        """A call that is over, as a record for the lint, transcripts and captures.

        The bytes of a result are encoded again: XDR has one encoding of a value, and what was decoded was checked to
        be it. Those of any other reply are what came.
        """
        header = self._core.plans.plan(call.procedure, call.credential).header
        message: list[Buffer] = [call.xid.to_bytes(4, "big"), header]
        call.args.pack(message)
        return self._exchange(call, b"".join(message), self._core, 0)

    @staticmethod
    def _exchange(call: TimedCall, message: bytes, core: CallCore, resent: int) -> Exchange:
        reply = call.refused
        if call.result is not None:
            reply = b"".join((call.xid.to_bytes(4, "big"), USUAL_REPLY, call.result.to_xdr()))
        return Exchange(
            xid=call.xid,
            procedure=call.procedure,
            args=call.args,
            credential=call.credential,
            call=message,
            sent_at=call.sent_at,
            peer=core.peer,
            transport=core.transport,
            reply=reply,
            result=call.result,
            error=call.error,
            received_at=call.received_at,
            local=core.local,
            resent=resent,
        )


def dispatch(over: deque[TimedCall]) -> int:
    """As `MixedCalls.dispatch`, of a queue that several connections share."""
    count = 0
    while over:
        call = over.popleft()
        count += 1
        call.done(call)
    return count
