# SPDX-License-Identifier: MIT
"""The blocking driver of a window of calls."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.rpc.bulk import BulkReply
from nfsclient.rpc.core import StreamCore
from nfsclient.rpc.link import Link
from nfsclient.rpc.plan import WORTH_IT, Plan
from nfsclient.rpc.window import CallWindow
from nfsclient.xdr import XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


class Pipeline(t.Generic[A, R]):
    """Keeps a window of calls filled over one link, and waits for their replies."""

    def __init__(
        self, link: Link, core: StreamCore, plan: Plan[R], arguments: Iterator[A], timeout: float
    ) -> None:
        self._link = link
        self._core = core
        self._timeout = timeout
        self._window: CallWindow[A, R] = CallWindow(core, plan, arguments, link.take)

    def run(self, outstanding: int) -> Iterator[tuple[A, R]]:
        """(arguments, result) as replies arrive. Raises the error of the first call that has one."""
        window = self._window
        self._core.windows.append(window)
        try:
            self._fill(outstanding)
            while window.inflight:
                reply = self._receive()
                if isinstance(reply, BulkReply):
                    yield window.inflight.pop(reply.xid), reply.result
                elif reply:
                    # Calls that are answered by now make room: let the server work while we decode.
                    answered = window.answered()
                    if answered > 1:
                        self._fill(outstanding + answered)
                    yield from window.take()
                yield from window.take_late()
                self._fill(outstanding)
        finally:
            self._core.windows.remove(window)

    def _fill(self, outstanding: int) -> None:
        """Make new calls until `outstanding` are under way."""
        burst = self._window.burst(max(outstanding, 1) - len(self._window.inflight))
        if burst:
            self._link.transmit(burst, self._timeout)

    def _receive(self) -> BulkReply | bool:
        """Wait for replies: one in place, or a chunk that the window holds (True), or late ones (False)."""
        link, window, clock = self._link, self._window, self._link.loop.clock
        label = window.plan.procedure.label
        deadline = clock() + self._timeout
        while not window.has_late:
            if not link.is_open:
                raise ConnectionLost(label, link.why_closed)
            if not window.is_alone:
                link.pump(deadline)
            else:
                reply = self._receive_alone(deadline)
                if isinstance(reply, BulkReply):
                    return reply
                if reply:
                    window.hold(reply)
                    return True
            if clock() >= deadline and not window.has_late:
                link.loop.catch_up()
                if self._link.is_open and not window.has_late:  # else the loop goes round once more
                    raise RpcTimeout(label, self._timeout)
        return False

    def _receive_alone(self, deadline: float) -> BulkReply | bytes:
        plan, inflight = self._window.plan, self._window.inflight
        procedure, first = plan.procedure, next(iter(inflight.values()))
        bulk = procedure.bulk_for(first)
        if bulk is None or bulk.asked(first) < WORTH_IT:
            return self._link.receive_chunk(deadline)

        def find(xid: int) -> tuple[A, None] | None:
            args = inflight.get(xid)
            return None if args is None or procedure.bulk_for(args) is not bulk else (args, None)

        return self._link.receive_bulk(plan, bulk, find, deadline)
