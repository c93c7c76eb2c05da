# SPDX-License-Identifier: MIT
"""CALLBACKs on the connection of a client (section 3.2): from a message to a reply that may come later.

The server waits for the reply, and serves WRITEs meanwhile. So nothing here waits: whoever carries the callback out
gets a `Callback`, and answers it when all is written.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from nfsclient.protocol import snfs as p
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.link import Link
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.xdr import Buffer


@dataclass(slots=True, eq=False)
class Callback:
    """One CALLBACK that waits for its answer."""

    args: p.Callbackargs
    _context: CallContext
    _link: Link
    _core: object
    """That of the connection it came on: another one knows nothing of it."""
    _came_at: float

    def answer(self, status: p.Snfsstat = p.Snfsstat.NFS_OK) -> None:
        """Send the reply, unless the connection has ended."""
        link, result = self._link, p.Cbackopres(status)
        message: list[Buffer] = accepted(self._context.xid, AcceptStat.SUCCESS).to_buffers()
        result.pack(message)
        is_sent = link.is_open and link.core is self._core
        if is_sent and link.on_exchange is not None:
            link.on_exchange(self._exchange(result, b"".join(message)))
        if is_sent:
            link.send_reply(message)

    def _exchange(self, result: p.Cbackopres, reply: bytes) -> Exchange:
        link, context = self._link, self._context
        return Exchange(
            context.xid,
            p.CALLBACK,
            self.args,
            t.cast("Credential", context.credential),
            context.message,
            self._came_at,
            link.core.peer,
            "tcp",
            reply=reply,
            result=result,
            received_at=link.loop.clock(),
            local=link.core.local,
            is_callback=True,
        )


class CallbackService:
    """Answers the calls of the server on a connection, and on each that replaces it, while anything waits on its "
    "loop."""

    def __init__(self, link: Link, on_callback: Callable[[Callback], None]) -> None:
        self._link = link
        self.on_callback = on_callback
        self._arrived: Callback | None = None
        self._dispatcher = Dispatcher()
        self._dispatcher.register(p.SNFS_CALLBACK, {p.CALLBACK.number: self._take})
        link.on_call = self._answer

    def _take(self, context: CallContext, args: p.Callbackargs) -> p.Cbackopres:
        self._arrived = Callback(args, context, self._link, self._link.core, self._link.loop.clock())
        return p.Cbackopres(p.Snfsstat.NFS_OK)

    def _answer(self, message: bytes) -> list[Buffer] | None:
        """The reply to anything but a CALLBACK, whose reply comes when it is carried out."""
        reply = self._dispatcher.answer(message, self._link.peer_address, "tcp")
        arrived, self._arrived = self._arrived, None
        if arrived is None:
            return reply
        self.on_callback(arrived)
        return None
