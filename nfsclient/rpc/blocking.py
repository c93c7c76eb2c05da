# SPDX-License-Identifier: MIT
"""The blocking client: calls that return their result, singly or many at a time, and everything below them."""

from __future__ import annotations

import contextlib
import socket
import struct
import typing as t
from collections.abc import Callable, Iterable, Iterator, Sequence

from nfsclient.errors import ConnectFailed, ConnectionLost, RpcTimeout, XdrError
from nfsclient.rpc.auth import AuthNone, Credential
from nfsclient.rpc.core import USUAL_REPLY, DatagramCore, Pending, StreamCore
from nfsclient.rpc.link import CLOSED_BY_US, MOST_BUFFERS, RECEIVE, Link
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.pipeline import Pipeline
from nfsclient.rpc.plan import JOIN_BELOW, WORTH_IT, Plan
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import DEFAULT_MAX_RECORD, LAST_FRAGMENT, fragment, size_of
from nfsclient.rpc.sockets import UDP_BUFFER, open_socket
from nfsclient.xdr import Buffer, XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_MARK_AND_XID = struct.Struct(">II")
_HEAD = struct.Struct(">II20s")
"""Record mark, XID, and what follows the XID in a usual reply."""
_HEAD_SIZE = _HEAD.size
IDLE: t.Final = 0.1
"""Seconds without a call after which a connection counts as idle: who closes it sooner has received something."""
DEFAULT_TIMEOUT = 10.0


class RpcClient(Link):
    """A connection to an RPC server. Use `connect_tcp` or `connect_udp` to make one.

    Raises `RpcError` for calls without result, `XdrError` for results that do not decode. Not thread-safe.
    """

    def __init__(
        self,
        dial: Callable[[], socket.socket],
        make_core: Callable[[str], StreamCore | DatagramCore],
        *,
        loop: Loop | None = None,
        credential: Credential | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        self.credential: Credential = credential if credential is not None else AuthNone()
        self.spoke_raw = False
        """Whether bytes were sent that are no calls of this client: answers to them may look like strays."""
        self.before_call: Callable[[Procedure[t.Any, t.Any], XdrType], float | None] | None = None
        """Called with each call before it is sent: the most seconds that it may take, or None for its own timeout.

        What it raises is raised instead of sending the call.
        """
        self.outlives_idleness = False
        """Whether to connect again where the server has closed the connection while nothing was under way, and to send
        a call again, with the same XID, that may have crossed such a close. A server may close what is idle."""
        self.on_reopened: list[Callable[[], None]] = []
        """Called after that, before any call is made: a session may want to be bound to the new connection."""
        self.sent_again = 0
        """Calls that were sent again with the same XID because of `outlives_idleness`."""
        self._ended_idle = False
        self._used_at = 0.0
        """When the last call went out, or the last reply was waited for."""
        super().__init__(dial, make_core, loop=loop, timeout=timeout)
        self._used_at = self.loop.clock()

    # ------------------------------------------------------------ calls

    def call(
        self,
        procedure: Procedure[A, R],
        args: A,
        /,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
        xid: int | None = None,
        into: memoryview | None = None,
    ) -> R:
        """Make a call and wait for its result, at most `timeout` seconds.

        `into` is where bulk data of the result is to go, if it fits; the result then holds a view of it.
        """
        core = self.core
        if (
            xid is not None
            or self.loop.sole is not self
            or core.pending
            or core.windows
            or core.recorder is not None
            or self.before_call is not None
            or self.outlives_idleness
            or self._unsent
            or not isinstance(core, StreamCore)
            or core.fragment_sizes is not None
            or core.assembler.buffered
        ):
            return self.wait(
                self.submit(procedure, args, credential=credential, timeout=timeout, xid=xid, into=into)
            )
        # The socket is ours to wait on, and the call shares nothing with others: one send, one receive, one
        # decoding, noted nowhere unless the reply is unusual. All in this function on purpose: it runs just
        # after the processor has slept, when each Python call costs several times what it does in a loop.
        plan = core.plans.plan(procedure, self.credential if credential is None else credential)
        limit = self.timeout if timeout is None else timeout
        # Attributes that are no methods cost less as variables than in a call of a method.
        next_xid, unpack, clock = core.next_xid, plan.unpack, self.loop.clock
        number = next_xid()
        message: list[Buffer] = [plan.header]
        args.pack(message)
        if into is not None or (not plan.is_plain and plan.is_in_steps(args)):
            return self._call_in_steps(plan, args, number, message, limit, into)
        framed: bytes | None = None
        if plan.sends_bulk:
            length = size_of(message) + 8
            message.insert(0, _MARK_AND_XID.pack(LAST_FRAGMENT - 4 + length, number))
            if length <= JOIN_BELOW or len(message) > MOST_BUFFERS:
                framed = b"".join(message)
        else:
            body = b"".join(message)
            length = len(body) + 8
            framed = _MARK_AND_XID.pack(LAST_FRAGMENT - 4 + length, number) + body
        if self._send_timeout.seconds != limit or self._receive_timeout.seconds != limit:
            self.allow(limit)
        now = clock()
        sent, data, failure = 0, b"", None
        try:
            sent = self._sock.sendmsg(message) if framed is None else self._sock.send(framed)
            if sent == length:
                data = self._sock.recv(RECEIVE)
        except OSError as error:
            failure = error
        size = len(data)
        if size >= _HEAD_SIZE:
            mark, got, usual = _HEAD.unpack_from(data)
            if got == number and usual == USUAL_REPLY and mark == LAST_FRAGMENT - 4 + size:
                try:
                    result, end = unpack(data, _HEAD_SIZE)
                except XdrError:
                    end = 0
                if end == size:
                    return result
        self.judge_exchange(message if framed is None else [framed], sent, data, failure)
        return self._finish(plan, args, number, now, limit, data)

    def submit(
        self,
        procedure: Procedure[A, R],
        args: A,
        /,
        *,
        credential: Credential | None = None,
        timeout: float | None = None,
        xid: int | None = None,
        into: memoryview | None = None,
    ) -> Pending[R]:
        """Start a call without waiting; any number may be under way."""
        limit = self.timeout if timeout is None else timeout
        if self.before_call is not None and (most := self.before_call(procedure, args)) is not None:
            limit = min(limit, most)
        now = self.loop.clock()
        if self.outlives_idleness:
            self.keep_open()
            self.core.is_quiet |= now - self._used_at >= IDLE
            self._used_at = now
        self.require_open(procedure.label)
        pending = self.core.submit(
            procedure,
            args,
            now,
            credential=self.credential if credential is None else credential,
            timeout=limit,
            xid=xid,
            into=into,
        )
        pending.may_be_unread = self.core.is_quiet
        self.loop.changed(self)  # it has a deadline
        self.flush(limit)
        return pending

    def wait(self, pending: Pending[R]) -> R:
        """The result of a call that was started, or its error."""
        while not pending.done:
            self.pump(pending.deadline)
            self._used_at = self.loop.clock()
        error = pending.error
        if isinstance(error, ConnectionLost) and pending.may_be_unread and self.outlives_idleness:
            return self.wait(self._send_again(pending, error))
        if error is not None:
            raise error.with_traceback(None)
        assert pending.result is not None
        return pending.result

    @property
    def is_usable(self) -> bool:
        """Whether the connection is there, or the next call makes it again."""
        return self.is_open or (self.outlives_idleness and self._ended_idle)

    def keep_open(self) -> None:
        """Connect again if the server has closed the connection while nothing was under way. Raises `ConnectFailed`.

        To be called now and then by who waits for calls of the server. Only with `outlives_idleness`.
        """
        if self.is_usable and not self.is_open:
            self._reopen()

    def _reopen(self) -> None:
        """From the same port, if possible: what may be sent again is known to a server by that, too."""
        self._ended_idle = False  # or what `on_reopened` calls would come here again
        self.reconnect(same_port=True)
        self._used_at = self.loop.clock()
        for call in list(self.on_reopened):
            call()

    def _send_again(self, pending: Pending[R], lost: ConnectionLost) -> Pending[R]:
        """The same call on a new connection, from the same port: a server that has executed it knows it by its XID.

        All calls that were under way are lost at once: the first one brings the connection.
        """
        if not self.is_open:
            try:
                self._reopen()
            except ConnectFailed:
                raise lost from None
        self.sent_again += 1
        return self.submit(
            pending.procedure,
            pending.args,
            credential=pending.credential,
            timeout=pending.timeout,
            xid=pending.xid,
            into=pending.into,
        )

    def lose(self, cause: str) -> None:
        """Close the connection because of `cause`, which ends the calls in progress."""
        if self.is_open:
            is_busy = self.core.windows or not all(
                pending.may_be_unread for pending in self.core.pending.values()
            )
            self._ended_idle = self._is_stream and cause != CLOSED_BY_US and not is_busy
        super().lose(cause)

    def wait_any(self, pendings: Iterable[Pending[t.Any]]) -> Pending[t.Any]:
        """The first of several calls that is over."""
        calls = list(pendings)
        while True:
            for pending in calls:
                if pending.done:
                    return pending
            self.pump(min(pending.deadline for pending in calls))

    def pipeline(
        self,
        procedure: Procedure[A, R],
        arguments: Iterable[A],
        /,
        *,
        outstanding: int = 64,
        credential: Credential | None = None,
        timeout: float | None = None,
    ) -> Iterator[tuple[A, R]]:
        """Make many calls of one procedure, up to `outstanding` at a time: (arguments, result) as they come.

        New arguments are drawn as soon as replies have arrived, before the results are given back.
        The first error ends it, and so does a pause of `timeout` seconds in which no answer comes. Over UDP, while
        exchanges are recorded, or when calls are sealed, they are made singly underneath, each with its own deadline.
        """
        chosen = self.credential if credential is None else credential
        limit = self.timeout if timeout is None else timeout
        core = self.core
        is_plain = core.recorder is None and self.before_call is None
        if isinstance(core, StreamCore) and is_plain and core.fragment_sizes is None:
            plan = core.plans.plan(procedure, chosen)
            if plan.security is None:
                pipeline: Pipeline[A, R] = Pipeline(self, core, plan, iter(arguments), limit)
                return pipeline.run(outstanding)
        return self._pipeline_singly(procedure, iter(arguments), outstanding, chosen, limit)

    def _pipeline_singly(
        self,
        procedure: Procedure[A, R],
        arguments: Iterator[A],
        outstanding: int,
        credential: Credential,
        timeout: float,
    ) -> Iterator[tuple[A, R]]:
        under_way: dict[int, Pending[R]] = {}
        exhausted = False
        while True:
            while not exhausted and len(under_way) < outstanding:
                args = next(arguments, None)
                if args is None:
                    exhausted = True
                    break
                pending = self.submit(procedure, args, credential=credential, timeout=timeout)
                under_way[pending.xid] = pending
            if not under_way:
                return
            done = self.wait_any(under_way.values())
            del under_way[done.xid]
            yield done.args, self.wait(done)

    # ------------------------------------------------------------ the direct way

    def _call_in_steps(
        self,
        plan: Plan[R],
        args: XdrType,
        xid: int,
        message: list[Buffer],
        timeout: float,
        into: memoryview | None,
    ) -> R:
        """A direct call whose reply has much data, which are received in their place.

        What no direct way can do, a sealed call, takes the ordinary one.
        """
        if plan.security is not None:
            return self.wait(
                self.submit(
                    plan.procedure, args, credential=plan.credential, timeout=timeout, xid=xid, into=into
                )
            )
        size = 8 + size_of(message)
        message.insert(0, _MARK_AND_XID.pack(LAST_FRAGMENT - 4 + size, xid))
        now = self.loop.clock()
        result: R | None = None
        bulk = plan.procedure.bulk_for(args)
        if bulk is not None and bulk.asked(args) >= WORTH_IT:
            data = self.exchange(message, size, timeout, bulk.head)
            if int.from_bytes(data[4:8], "big") == xid:
                result, data = self.complete(plan, bulk, args, into, data, now + timeout)
        else:
            data = self.exchange(message, size, timeout)
            if into is None:
                result = _usual_result(plan, data, xid)
        return self._finish(plan, args, xid, now, timeout, data, into) if result is None else result

    def _finish(
        self,
        plan: Plan[R],
        args: XdrType,
        xid: int,
        now: float,
        timeout: float,
        data: bytes,
        into: memoryview | None = None,
    ) -> R:
        """Nothing usual has come: note the call after all, and let the ordinary way find out what it is."""
        pending = self.core.expect(plan.procedure, args, xid, plan.credential, now, timeout)
        pending.into = into
        self.loop.changed(self)
        if not self.is_open:
            self.core.fail_all(self.why_closed)
        elif data:
            self.take(data)
        return self.wait(pending)

    # ------------------------------------------------------------ below calls

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are, without a record mark (TCP), or as one datagram (UDP)."""
        self.require_open("send_raw")
        self.spoke_raw = True
        if self.on_raw is not None:
            self.on_raw(True, data)
        self.transmit([data], self.timeout)

    def send_record(self, data: bytes, fragment_sizes: Sequence[int] | None = None) -> None:
        """Send one record with any contents, in fragments of the given sizes (the rest in a last one).

        Over UDP it is one datagram.
        """
        self.send_raw(fragment(data, fragment_sizes or ()) if isinstance(self.core, StreamCore) else data)

    def receive_record(self, timeout: float | None = None) -> bytes:
        """The next record or datagram that is no reply to a call of this client, unchanged.

        Raises `RpcTimeout`, or `ConnectionLost` when the peer closes first.
        """
        limit = self.timeout if timeout is None else timeout
        deadline = self.loop.clock() + limit
        while not self.core.strays:
            self.require_open("receive_record")
            if self.loop.clock() < deadline:
                self.pump(deadline)
                continue
            self.loop.catch_up()
            if not self.core.strays:
                raise RpcTimeout("receive_record", limit)
        return self.core.strays.popleft()

    def wait_closed(self, timeout: float | None = None) -> bool:
        """Whether the peer closes the connection within `timeout` seconds."""
        deadline = self.loop.clock() + (self.timeout if timeout is None else timeout)
        while self.is_open and self.loop.clock() < deadline:
            self.pump(deadline)
        self.loop.catch_up()
        return not self.is_open


def _usual_result(plan: Plan[R], data: bytes, xid: int) -> R | None:
    """The result, if `data` is exactly one usual reply to the call and decodes; else None."""
    size = len(data)
    if size >= _HEAD_SIZE:
        mark, got, usual = _HEAD.unpack_from(data)
        if got == xid and usual == USUAL_REPLY and mark == LAST_FRAGMENT - 4 + size:
            try:
                result, end = plan.unpack(data, _HEAD_SIZE)
            except XdrError:
                return None
            if end == size:
                return result
    return None


def connect_tcp(
    host: str,
    port: int,
    *,
    loop: Loop | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    connect_timeout: float | None = None,
    source_port: int | None = None,
    source: str = "",
    privileged: bool = False,
    fragment_sizes: Sequence[int] | None = None,
    max_record: int = DEFAULT_MAX_RECORD,
    xids: Iterator[int] | None = None,
    credential: Credential | None = None,
) -> RpcClient:
    """Connect over TCP (IPv4 or IPv6). `timeout` is that of each call, in seconds. Raises `ConnectFailed`.

    `source` is the numeric address of this machine to call from; empty: the kernel chooses.
    `privileged` asks for a source port below 1024, which some servers demand; `fragment_sizes` cuts calls
    into fragments; `max_record` is the longest reply in bytes; `xids` gives the XIDs, random by default.
    """

    def dial(preferred_port: int | None = None) -> socket.socket:
        return open_socket(
            host,
            port,
            socket.SOCK_STREAM,
            timeout=timeout if connect_timeout is None else connect_timeout,
            source_port=source_port,
            source=source,
            privileged=privileged,
            preferred_port=preferred_port,
        )

    def make_core(peer: str) -> StreamCore:
        return StreamCore(peer=peer, fragment_sizes=fragment_sizes, max_record=max_record, xids=xids)

    client = RpcClient(dial, make_core, loop=loop, credential=credential, timeout=timeout)
    client.redial = dial
    return client


def connect_udp(
    host: str,
    port: int,
    *,
    loop: Loop | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    source_port: int | None = None,
    privileged: bool = False,
    xids: Iterator[int] | None = None,
    credential: Credential | None = None,
    first_interval: float = 0.7,
) -> RpcClient:
    """A client over UDP (IPv4 or IPv6); only answers from the address that was called are taken.

    An unanswered call is sent again after `first_interval` seconds, then after twice as long each time, until
    `timeout` has passed. Raises `ConnectFailed` when the name does not resolve.
    """

    def dial() -> socket.socket:
        sock = open_socket(
            host, port, socket.SOCK_DGRAM, timeout=timeout, source_port=source_port, privileged=privileged
        )
        with contextlib.suppress(OSError):  # a window of READs is more than the usual buffer has room for
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, UDP_BUFFER)
        return sock

    def make_core(peer: str) -> DatagramCore:
        return DatagramCore(peer=peer, first_interval=first_interval, xids=xids)

    return RpcClient(dial, make_core, loop=loop, credential=credential, timeout=timeout)
