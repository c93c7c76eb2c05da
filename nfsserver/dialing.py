# SPDX-License-Identifier: MIT
"""Calls to clients over connections that the server makes.

Callbacks of NFSv4.0 (RFC 7530 section 10.2.1), GRANTED of the lock manager and NOTIFY of the status monitor go to an
address that a client has named. Since 4.1 callbacks come over the connection of the client (`nfsclient.rpc.channel`),
and nothing is dialed. Connections are of TCP.

    (none) --call--> connecting --> connected --idle, error, or its end--> (none)
                          |
                          +--refused, or no answer in time--> resting --REST seconds--> (none)

A stranger says whom to call. So, before a socket is made:

- The policy decides by the address that asks and the address to call. `loopback_only`, which is the usual one, calls
  nobody but programs of this machine, for programs of this machine, and no services: no port below 1024,
  and not the server itself. A server that others reach over a network calls none of them, unless whoever builds it
  gives another policy.
- Addresses are numbers. Names are never resolved.
- `MOST.dialed` connections exist at a time, one for each address; a new one takes the place of one without calls. An
  address that did not answer is left alone for `REST` seconds.

And afterwards: each call has a deadline, which includes connecting. Nothing waits for it. What comes back is bounded:
a reply of `REPLY_BYTES`, calls under way by the channel, bytes to be sent by `_UNSENT`. What is no reply to a call that
is under way is ignored. A connection without calls ends after `IDLE` seconds, whatever the other side sends.
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import typing as t
from collections import deque
from collections.abc import Callable

from nfsclient.errors import BadReply, RpcError
from nfsclient.rpc.auth import AuthNone, Credential
from nfsclient.rpc.channel import Channel, OnDone
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import RecordAssembler, size_of
from nfsclient.rpc.sockets import Address, format_address
from nfsclient.xdr import Buffer, XdrType
from nfsserver.bounds import MOST

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

IDLE: t.Final = 30.0
"""Seconds after which a connection without calls ends."""
REST: t.Final = 5.0
"""Seconds in which an address is not dialed again that could not be connected to."""
REPLY_BYTES: t.Final = 64 << 10
"""Longest reply: those of callbacks are some hundred bytes."""
_UNSENT: t.Final = 256 << 10
"""Bytes of calls that wait for a client that does not read."""
_RECEIVE: t.Final = 64 << 10
_LEAST_PORT: t.Final = 1024
_NOBODY: t.Final = AuthNone()
_UNDER_WAY: t.Final = frozenset({0, errno.EINPROGRESS, errno.EWOULDBLOCK})

Policy: t.TypeAlias = Callable[[Address, Address], str | None]
"""(address that asks, address to call) -> why it is not called; None: it is. Both hosts are numbers."""


class DialRefused(RpcError):
    """The server does not call this address: `why`."""

    def __init__(self, target: Address, why: str) -> None:
        super().__init__(f"{format_address(*target)} is not called: {why}")
        self.target = target
        self.why = why


def loopback_only(asker: Address, target: Address) -> str | None:
    """Call programs of this machine, for programs of this machine, at ports that need no privilege."""
    if not _is_loopback(asker[0]):
        return "only callers of this machine may name an address to call"
    if not _is_loopback(target[0]):
        return "it is not an address of this machine (loopback)"
    if target[1] < _LEAST_PORT:
        return f"ports below {_LEAST_PORT} are of services of this machine"
    return None


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host).is_loopback


def _numeric(host: str) -> str | None:
    """A host as the numbers of its address, those of IPv4 if it is an IPv4 address within IPv6; None: it is a name."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(address if mapped is None else mapped)


class Dialer:
    """Makes calls to clients. Everything happens on one loop, by its clock."""

    def __init__(self, policy: Policy = loopback_only) -> None:
        self.policy = policy
        self.loop: Loop | None = None
        self._own: Address | None = None
        self._connections: dict[Address, _Dialed] = {}
        self._resting: dict[Address, float] = {}
        """Address -> until when it is not dialed."""

    def start(self, loop: Loop, own: Address) -> None:
        """From now on calls can be made; `own` is the address that the server itself listens on."""
        self.loop, self._own = loop, own

    def close(self) -> None:
        """End all connections, and with them their calls; `start` begins again."""
        self.drop()
        self.loop = None

    def drop(self) -> None:
        """End all connections: what clients see of a restart."""
        for connection in list(self._connections.values()):
            connection.close("the server has ended it")
        self._resting.clear()

    def __len__(self) -> int:
        return len(self._connections)

    def call(
        self,
        asker: Address,
        target: Address,
        procedure: Procedure[A, R],
        args: A,
        on_done: OnDone[R],
        *,
        timeout: float,
        credential: Credential = _NOBODY,
    ) -> None:
        """Call a client at an address that it has named; it connects first where there is no connection.

        `asker` is where the request came from that named `target`. The reply is to come within `timeout` seconds.
        `on_done` is called from the loop, with what `Channel.call` says; with `ConnectionLost` where nothing answers
        there. Raises `DialRefused`, and what `Channel.call` raises; `on_done` is not called then.
        """
        connection = self._connection(asker, target)
        connection.channel.call(procedure, args, on_done, timeout=timeout, credential=credential)
        connection.note_use()

    def _connection(self, asker: Address, target: Address) -> _Dialed:
        """The connection to an address, made if there is none. Raises `DialRefused`."""
        loop = self.loop
        if loop is None:
            raise DialRefused(target, "the server does not listen")
        askers, host = _numeric(asker[0]), _numeric(target[0])
        if host is None or askers is None:
            raise DialRefused(target, "it is a name; only numeric addresses are called")
        if not 0 < target[1] <= 0xFFFF:
            raise DialRefused(target, "there is no such port")
        known = host, target[1]
        why = self.policy((askers, asker[1]), known)
        if why is None and self._is_own(known):
            why = "it is this server"
        if why is not None:
            raise DialRefused(target, why)
        if known not in self._connections:
            self._require_rested(known, loop.clock())
            self._make_room(known)
            try:
                self._connections[known] = _Dialed(self, loop, known)
            except DialRefused:
                self._rest(known, loop.clock())
                raise
        return self._connections[known]

    def _is_own(self, target: Address) -> bool:
        own = self._own
        if own is None or own[1] != target[1]:
            return False
        host = ipaddress.ip_address(_numeric(own[0]) or own[0])
        return host.is_unspecified or str(host) == target[0]

    def _require_rested(self, target: Address, now: float) -> None:
        for known in [address for address, until in self._resting.items() if until <= now]:
            del self._resting[known]
        if target in self._resting:
            raise DialRefused(target, f"it did not answer within the last {REST:g} s")

    def _make_room(self, target: Address) -> None:
        """End the connection that had no calls for the longest time, if there are as many as there may be."""
        if len(self._connections) < MOST.dialed:
            return
        idle = [connection for connection in self._connections.values() if not connection.channel.under_way]
        if not idle:
            raise DialRefused(target, f"{MOST.dialed} connections to clients have calls under way")
        min(idle, key=lambda connection: connection.used).close("its place is needed")

    def forget(self, connection: _Dialed, *, failed: bool) -> None:
        """A connection ends itself; `failed`: it never was one."""
        self._connections.pop(connection.peer, None)
        if failed:
            self._rest(connection.peer, connection.now())

    def _rest(self, target: Address, now: float) -> None:
        while len(self._resting) >= MOST.dialed:
            del self._resting[next(iter(self._resting))]
        self._resting[target] = now + REST


class _Dialed:
    """One connection that the server has made: a member of the loop, and what carries a channel."""

    def __init__(self, dialer: Dialer, loop: Loop, peer: Address) -> None:
        self.peer = peer
        self.used = loop.clock()
        """When the last call was made or ended."""
        self.channel = Channel(self)
        self._dialer = dialer
        self._loop = loop
        self._is_connecting = True
        self._is_closed = False
        self._assembler = RecordAssembler(REPLY_BYTES)
        self._output: deque[memoryview] = deque()
        self._output_size = 0
        family = socket.AF_INET6 if ":" in peer[0] else socket.AF_INET
        try:
            self._sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            raise DialRefused(peer, f"there is no socket for it: {error.strerror}") from None
        self._sock.setblocking(False)
        failure = self._sock.connect_ex(peer)
        if failure not in _UNDER_WAY:
            self._sock.close()
            raise DialRefused(peer, os.strerror(failure))
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop.add(self)

    def note_use(self) -> None:
        """A call was made, or is over."""
        self.used = self._loop.clock()

    def close(self, why: str, *, failed: bool = False) -> None:
        """End it, and the calls under way with it."""
        if self._is_closed:
            return
        self._is_closed = True
        self._loop.remove(self)
        self._sock.close()
        self._dialer.forget(self, failed=failed)
        self.channel.lose(why)

    # ------------------------------------------------------------ for the channel

    @property
    def is_open(self) -> bool:
        """Whether calls can be made: they are sent as soon as it is connected."""
        return not self._is_closed

    @property
    def is_choked(self) -> bool:
        """Whether the client does not read."""
        return self._output_size >= _UNSENT

    def now(self) -> float:
        """Seconds, by the clock of the loop."""
        return self._loop.clock()

    def send(self, buffers: list[Buffer]) -> None:
        """Send a call when the loop says that there is room."""
        self._output_size += size_of(buffers)
        self._output.extend(memoryview(buffer).cast("B") for buffer in buffers if len(buffer))
        self._loop.changed(self)

    def note_deadline(self) -> None:
        """A call has begun, or was cancelled."""
        self._loop.changed(self)

    # ------------------------------------------------------------ for the loop

    def fileno(self) -> int:
        return self._sock.fileno()

    def wants_to_write(self) -> bool:
        """Until it is connected, and while calls wait."""
        return self._is_connecting or bool(self._output)

    def wants_to_read(self) -> bool:
        """Replies, or the end of the connection."""
        return not self._is_connecting

    def on_writable(self) -> None:
        """It is connected, or will not be; or there is room."""
        if self._is_connecting:
            failure = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if failure:
                self.close(os.strerror(failure), failed=True)
                return
            self._is_connecting = False
        try:
            while self._output:
                sent = self._sock.send(self._output[0])
                self._output_size -= sent
                self._output[0] = self._output[0][sent:]
                if not self._output[0]:
                    self._output.popleft()
        except BlockingIOError:
            return
        except OSError as error:
            self.close(str(error.strerror))

    def on_readable(self) -> None:
        """Take replies in."""
        try:
            data = self._sock.recv(_RECEIVE)
        except BlockingIOError:
            return
        except OSError as error:
            self.close(str(error.strerror))
            return
        if not data:
            self.close("the client closed it")
            return
        try:
            records = self._assembler.feed(data)
        except BadReply as error:
            self.close(error.why)
            return
        for record in records:
            if not self._is_closed and self.channel.take(record):
                self.note_use()

    def next_deadline(self) -> float | None:
        """That of a call, or of a connection without one."""
        if self.channel.under_way:
            return self.channel.next_deadline()
        return self.used + (0.0 if self._is_connecting else IDLE)

    def on_deadline(self, now: float) -> None:
        """Give up calls; end the connection if it has none, or never was one."""
        if self.channel.under_way:
            self.channel.on_deadline(now)
            self.note_use()
            if not self._is_connecting:
                return
        if self._is_connecting and not self.channel.under_way:
            self.close("no answer in time", failed=True)
        elif not self.channel.under_way and now >= self.used + IDLE:
            self.close("it had no calls")
