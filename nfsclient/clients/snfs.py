# SPDX-License-Identifier: MIT
"""A typed client of Spritely NFS: the methods of NFSv2, and one for each procedure that it adds; callbacks."""

from __future__ import annotations

import typing as t
from collections import deque
from collections.abc import Callable

from nfsclient.clients.nfs2 import Nfs2
from nfsclient.protocol import snfs as p
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.link import Link
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.xdr import Buffer, Void, XdrType

if t.TYPE_CHECKING:
    from nfsclient.rpc.auth import Credential

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_MOST_WITHHELD: t.Final = 64


class Snfs(Nfs2):
    """Spritely NFS over one connection. File handles are 32 bytes; arguments are named as in the paper.

    A status is given back like any other result. Raises `RpcError` and `XdrError` only.
    """

    __slots__ = ()

    def call(self, procedure: Procedure[A, R], args: A, *, into: memoryview | None = None) -> R:
        """Make one call; a procedure of NFSv2 is the one of the same number here."""
        return super().call(p.in_snfs(procedure), args, into=into)

    def open(self, file: bytes, *, write_mode: bool = False, mdev: int = 0) -> p.Openopres:
        """OPEN: the versions of a file, whether it may be cached, and its attributes (section 3.1)."""
        return self.call(p.OPEN, p.Openargs(file, mdev, write_mode))

    def close(self, file: bytes, *, write_mode: bool = False) -> p.Closeopres:
        """CLOSE: the end of one OPEN in the same mode (section 3.1)."""
        return self.call(p.CLOSE, p.Closeargs(file, write_mode))

    def reopen(
        self,
        file: bytes,
        *,
        readers: int = 0,
        writers: int = 0,
        dirty: bool = False,
        cache_version: int = 0,
        mdev: int = 0,
    ) -> p.Openopres:
        """REOPEN: what this client had of a file when the server restarted."""
        return self.call(p.REOPEN, p.Reopenargs(file, mdev, readers, writers, dirty, cache_version))

    def recovered(self) -> p.Closeopres:
        """RECOVERED: everything was reopened."""
        return self.call(p.RECOVERED, Void())


class SnfsCallbacks:
    """Answers CALLBACK on the connection of a client, while anybody waits on its loop.

    `on` decides the status of the reply; it must not wait. Replies are withheld with `holds` until `release`, so that
    what is to be written back can be written first. Whoever records the exchanges of the connection gets the callbacks.
    """

    def __init__(self, link: Link, on: Callable[[p.Callbackargs], p.Snfsstat] | None = None) -> None:
        self.on = on
        self.holds = False
        """Whether replies wait for `release`."""
        self.silent = False
        """Whether callbacks are not answered at all."""
        self.received: list[p.Callbackargs] = []
        self.credential: object = None
        """That of the latest callback."""
        self._link = link
        self._withheld: deque[tuple[list[Buffer], Exchange]] = deque(maxlen=_MOST_WITHHELD)
        self._answered: tuple[CallContext, p.Callbackargs, p.Cbackopres] | None = None
        self._dispatcher = Dispatcher()
        self._dispatcher.register(p.SNFS_CALLBACK, {p.CALLBACK.number: self._callback})
        link.on_call = self._answer

    @property
    def withheld(self) -> int:
        """How many replies wait."""
        return len(self._withheld)

    def _callback(self, context: CallContext, args: p.Callbackargs) -> p.Cbackopres:
        self.received.append(args)
        self.credential = context.credential
        result = p.Cbackopres(p.Snfsstat.NFS_OK if self.on is None else self.on(args))
        self._answered = context, args, result
        return result

    def _answer(self, message: bytes) -> list[Buffer] | None:
        came_at = self._link.loop.clock()
        reply = self._dispatcher.answer(message, self._link.peer_address, "tcp")
        answered, self._answered = self._answered, None
        if answered is None:
            return reply
        context, args, result = answered
        exchange = Exchange(
            context.xid,
            p.CALLBACK,
            args,
            t.cast("Credential", context.credential),
            message,
            came_at,
            self._link.core.peer,
            "tcp",
            result=result,
            local=self._link.core.local,
            is_callback=True,
        )
        if reply is not None and not self.silent:
            if self.holds:
                self._withheld.append((reply, exchange))
            else:
                self._send(reply, exchange)
        if self._link.on_exchange is not None:
            self._link.on_exchange(exchange)
        return None

    def _send(self, reply: list[Buffer], exchange: Exchange) -> None:
        if self._link.is_open:
            exchange.reply, exchange.received_at = b"".join(reply), self._link.loop.clock()
            self._link.send_reply(reply)

    def release(self, status: p.Snfsstat | None = None) -> int:
        """Send the replies that were withheld, with another status if one is given; how many."""
        sent = 0
        while self._withheld:
            reply, exchange = self._withheld.popleft()
            if status is not None:
                exchange.result = p.Cbackopres(status)
                reply = [b"".join(reply)[:-4] + int(status).to_bytes(4, "big")]
            self._send(reply, exchange)
            sent += 1
        return sent
