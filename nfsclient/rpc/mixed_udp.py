# SPDX-License-Identifier: MIT
"""Calls of any procedures at once over UDP: as `mixed.MixedCalls`, with datagrams that are sent again.

A call without a reply is sent again after `first_interval` of the core, then after twice as long each time, until
its deadline. What must stay true, besides what `mixed` says:

- Each time it is the same datagram with the same XID, so that a server may know it. The first reply ends the call;
  those that follow answer no call, and are strays.
- A call is over once, however often it was sent: `DatagramCall.resent` says how often it was sent again. A server
  without a memory of calls may have carried it out as often; what that means is the caller's business.
- `next_deadline` and `expire` are about both, sending again and giving up. Whoever serves the loop calls them.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.errors import RpcTimeout
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.core import DatagramCore
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.mixed import MARK_SIZE, MixedCalls, TimedCall
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Buffer, XdrType


class DatagramCall(TimedCall):
    """One call, its datagram, and how often that was sent again."""

    __slots__ = ("datagram", "interval", "resend_at", "resent")

    def __init__(self, *of_call: t.Any) -> None:
        super().__init__(*of_call)
        self.datagram = b""
        self.interval = 0.0
        self.resend_at = 0.0
        self.resent = 0


class MixedDatagrams(MixedCalls):
    """Calls over UDP, any number at a time. Bytes count as over TCP: with the record marks that they do not have."""

    inflight: dict[int, DatagramCall]  # type: ignore[assignment]
    _core: DatagramCore

    def attach(self) -> None:
        """Register with the core."""
        core = self.rpc.core
        if not isinstance(core, DatagramCore):
            raise TypeError("expected UDP")
        self._core = core
        self._to_send: list[DatagramCall] = []
        core.windows.append(self)

    def start(
        self,
        procedure: Procedure[t.Any, t.Any],
        args: XdrType,
        done: Callable[[TimedCall], None],
        *,
        intended: float | None = None,
        credential: Credential | None = None,
    ) -> DatagramCall:
        """As `MixedCalls.start`."""
        if not self.rpc.is_open and not self.inflight:
            self.reopen()
        core = self._core
        caller = self.rpc.credential if credential is None else credential
        body: list[Buffer] = []
        args.pack(body)
        xid = core.next_xid()
        begins = self.rpc.loop.clock() if intended is None else intended
        call = DatagramCall(procedure, args, done, begins, xid, caller)
        call.datagram = b"".join((xid.to_bytes(4, "big"), core.plans.plan(procedure, caller).header, *body))
        call.sent_bytes = MARK_SIZE + len(call.datagram)
        self.inflight[xid] = call
        self._to_send.append(call)
        return call

    def flush(self) -> None:
        """Send what is queued."""
        queued, self._to_send = self._to_send, []
        if not queued:
            return
        now = self.rpc.loop.clock()
        for call in queued:
            call.sent_at, call.interval = now, self._core.first_interval
            call.resend_at = now + call.interval
            self._send(call)
        self.check()

    def _send(self, call: DatagramCall) -> None:
        if self.rpc.is_open:
            self.rpc.transmit([call.datagram], self.timeout)

    @property
    def has_queued(self) -> bool:
        """Whether `flush` has something to send."""
        return bool(self._to_send)

    def next_deadline(self) -> float | None:
        """When `expire` is to be called next; None while no call is under way."""
        times = (min(call.resend_at, call.sent_at + self.timeout) for call in self.inflight.values())
        return min(times, default=None)

    def expire(self, now: float) -> None:
        """End the calls whose deadline has passed, with `RpcTimeout`; send again what is due."""
        for call in list(self.inflight.values()):
            if call.sent_at + self.timeout <= now:
                del self.inflight[call.xid]
                call.error = RpcTimeout(call.procedure.label, self.timeout)
                self.over.append(call)
            elif call.resend_at <= now:
                call.resent += 1
                call.interval = min(call.interval * 2, self._core.longest_interval)
                call.resend_at = now + call.interval
                self._send(call)
        self.check()

    def exchange_of(self, call: TimedCall) -> Exchange:
        """As `MixedCalls.exchange_of`; it says how often the call was sent again."""
        assert isinstance(call, DatagramCall)
        return self._exchange(call, call.datagram, self._core, call.resent)
