# SPDX-License-Identifier: MIT
"""Calls that survive their connection: after its loss, or without an answer, they are made again on a new one.

A server may be restarted while a client works. NFS versions 2 and 3 keep no state of clients, so the same call is sent
again with the same XID, by which a server with a duplicate request cache knows it (RFC 1813 section 4.5). Without such
a cache, or after a crash, a CREATE or REMOVE that was executed is executed again and may answer EXIST or NOENT:
`resent` tells how often the latest call was sent again, and errors of such calls say so.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients.patience import Patience
from nfsclient.errors import ConnectFailed, ConnectionLost, RpcError, RpcTimeout, ServerDown
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType

if t.TYPE_CHECKING:
    from nfsclient.rpc.auth import Credential

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

Lost: t.TypeAlias = ConnectionLost | RpcTimeout
_LOST = (ConnectionLost, RpcTimeout)


class Reconnecting:
    """The calls of `RpcClient` that a path client makes, as a `Caller`. Without `patience` errors are raised at once.

    The first attempt follows a loss at once, later ones after the pauses of `patience`; an answer ends the spell.
    After its `total` seconds they raise `ServerDown`, and until there is an answer, later calls make one attempt
    each. A new connection has the source port of the lost one, if possible: some servers know a duplicate by it. Over
    UDP the driver has sent the call again itself; it is sent further on the same socket. A recorder sees each attempt
    as an exchange.
    """

    def __init__(self, rpc: RpcClient, patience: Patience | None = None) -> None:
        self.rpc = rpc
        self.resent = 0
        """How often the call that was answered last was made again."""
        self._patience = patience
        self._pauses: t.Iterator[float] | None = None
        self._is_hopeless = False
        """Whether patience ended, and no answer has come since."""
        self._since = 0.0
        self._attempts = 0
        self._opened_at = 0.0
        """When the connection was made that replaced a lost one; calls from before ended with that one."""
        self.on_reconnected: Callable[[], None] | None = None
        """Called when the connection was made again, before any call: its own calls may be lost, too."""

    def call(
        self,
        procedure: Procedure[A, R],
        args: A,
        /,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
        into: memoryview | None = None,
    ) -> R:
        """Make a call and wait for its result. Raises `ServerDown`, and other errors as `RpcClient.call` does."""
        self.resent = 0
        try:
            return self.rpc.call(procedure, args, credential=credential, timeout=timeout, into=into)
        except _LOST as error:
            lost: Lost = error
        while True:
            self.recover(lost)
            xid = None if lost.exchange is None else lost.exchange.xid
            self.resent += lost.exchange is not None
            try:
                result = self.rpc.call(
                    procedure, args, credential=credential, timeout=timeout, xid=xid, into=into
                )
            except _LOST as error:
                lost = _with_exchange(error, lost)
            else:
                self.answered()
                return result

    def end(self) -> None:
        """Make no connections from now on: the client is closed."""
        self._patience = None

    def answered(self) -> None:
        """A call was answered: the next loss has all patience again."""
        self._pauses, self._is_hopeless = None, False

    def submit(self, procedure: Procedure[A, R], args: A, *, into: memoryview | None = None) -> Pending[R]:
        """Start a call. Raises `ServerDown`."""
        while True:
            try:
                return self.rpc.submit(procedure, args, into=into)
            except ConnectionLost as error:
                self.recover(error)

    def result(self, pending: Pending[R]) -> R | Pending[R]:
        """The result of a call that is over; where its connection was lost, the same call under way again."""
        try:
            result = self.rpc.wait(pending)
        except _LOST as error:
            # All calls of a connection end with it: one of them brings the new one, for the others as well.
            is_old = pending.sent_at < self._opened_at
            if not (is_old and self.rpc.is_open):
                self.recover(error)
            self.resent += 1
            return self._again(pending, error)
        self.resent = 0
        self.answered()
        return result

    def wait(self, pending: Pending[R]) -> R:
        """The result of a call that was started. Raises `ServerDown`."""
        resent = 0
        while True:
            result = self.result(pending)
            if not isinstance(result, Pending):
                self.resent = resent
                return result
            pending = result
            resent += 1

    def _again(self, pending: Pending[R], lost: Lost) -> Pending[R]:
        while True:
            try:
                return self.rpc.submit(
                    pending.procedure,
                    pending.args,
                    credential=pending.credential,
                    timeout=pending.timeout,
                    xid=pending.xid,
                    into=pending.into,
                )
            except ConnectionLost as error:
                lost = _with_exchange(error, lost)
                self.recover(lost)

    def restore(self, what: str) -> None:
        """Connect again if the connection has ended. Raises `ServerDown`."""
        if not self.rpc.is_open:
            self.recover(ConnectionLost(what, self.rpc.why_closed))
            self.answered()

    def recover(self, lost: Lost) -> None:
        """Wait as long as it takes for the next attempt, and connect if that is needed. Raises `ServerDown`."""
        if self._patience is None:
            raise lost
        cause: RpcError = lost
        clock = self._patience.clock
        if self._pauses is None:
            self._pauses = iter(()) if self._is_hopeless else self._patience.pauses()
            self._since, self._attempts = clock(), 0
        elif next(self._pauses, None) is None:
            self._give_up(lost, lost)
        while True:
            self._attempts += 1
            if self.rpc.core.transport == "udp" and self.rpc.is_open:
                return
            try:
                self.rpc.reconnect(same_port=True)
                if self.on_reconnected is not None:
                    self.on_reconnected()
            except (ConnectFailed, *_LOST) as error:
                cause = error
            else:
                self._opened_at = self.rpc.loop.clock()
                return
            if next(self._pauses, None) is None:
                self._give_up(lost, cause)

    def _give_up(self, lost: Lost, cause: RpcError) -> t.NoReturn:
        assert self._patience is not None
        seconds = self._patience.clock() - self._since
        self._pauses, self._is_hopeless = None, True
        down = ServerDown(lost.what, self.rpc.core.peer, seconds, self._attempts, str(cause))
        down.exchange = lost.exchange
        raise down from cause


def _with_exchange(error: Lost, before: Lost) -> Lost:
    """An error that still knows the call that was sent before, if its own attempt sent none."""
    if error.exchange is None:
        error.exchange = before.exchange
    return error
