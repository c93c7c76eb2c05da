# SPDX-License-Identifier: MIT
# ruff: noqa: ASYNC109  (a timeout is a property of a call here, as in the blocking driver; it ends in RpcTimeout)
"""The asyncio driver: the same core as the blocking one, with futures where that one waits.

A single call costs about twice what it costs there; with many calls outstanding the two are alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import typing as t
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence

from nfsclient.errors import BadReply, ConnectFailed, ConnectionLost, RpcError, RpcTimeout
from nfsclient.rpc.auth import AuthNone, Credential
from nfsclient.rpc.channel import Answerer
from nfsclient.rpc.core import CallReceived, DatagramCore, Event, Pending, StreamCore
from nfsclient.rpc.exchange import Recorder
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import DEFAULT_MAX_RECORD, fragment, size_of
from nfsclient.rpc.sockets import SOURCE_PORT_TAKEN, Address, address_of, format_address, source_ports
from nfsclient.rpc.window import CallWindow
from nfsclient.xdr import Buffer, XdrType

if t.TYPE_CHECKING:
    import ssl

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_JOIN_BELOW = 64 << 10
"""Output up to this size is joined and written at once; larger goes out buffer by buffer, uncopied."""
DEFAULT_TIMEOUT = 10.0
_MOST_UNREAD = 16 << 20
"""Bytes that wait for a server which makes calls and does not read, before its connection is closed."""


class AsyncRpcClient(asyncio.Protocol, asyncio.DatagramProtocol):
    """A connection to an RPC server, for coroutines. Use `connect_tcp` or `connect_udp` to make one.

    Raises `RpcError` for calls without result, `XdrError` for results that do not decode. Belongs to the
    event loop in which it was made. The `asyncio` callbacks among its methods are not for callers.
    """

    def __init__(self, core: StreamCore | DatagramCore, *, credential: Credential, timeout: float) -> None:
        self.core = core
        self.credential = credential
        self.timeout = timeout
        self.is_open = False
        self.on_call: Callable[[bytes], list[Buffer] | None] | None = None
        """Answers calls that the server makes on this connection: message in, message out (None: silence).

        None: such calls are among `core.strays`.
        """
        self.peer_address: Address = ("", 0)
        self.local_address: Address = ("", 0)
        self._transport: asyncio.Transport | asyncio.DatagramTransport
        self._loop = asyncio.get_running_loop()
        self._waiters: dict[Pending[t.Any], asyncio.Future[None]] = {}
        self._readers: dict[CallWindow[t.Any, t.Any], asyncio.Future[None]] = {}
        self._closed = self._loop.create_future()
        self._failure = "not connected yet"
        self._flush_is_due = False
        self._room = asyncio.Event()
        self._stray = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def on_exchange(self) -> Recorder | None:
        """Called with each finished exchange; None (the default) costs nothing."""
        return self.core.recorder

    @on_exchange.setter
    def on_exchange(self, recorder: Recorder | None) -> None:
        self.core.recorder = recorder

    async def __aenter__(self) -> t.Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; calls under way end with `ConnectionLost`."""
        self._lose("closed by us")
        await self._closed

    async def start_tls(self, context: ssl.SSLContext, server_hostname: str | None = None) -> None:
        """Use TLS from now on, with the server's certificate judged by `context`.

        To be called while nothing is under way. Raises `ConnectionLost` with what is wrong, or how long it took.
        """
        if not self.is_open:
            raise ConnectionLost("start_tls", self._failure)
        if not isinstance(self.core, StreamCore):
            raise TypeError("TLS needs a TCP connection")
        if self.core.pending or self.core.windows:
            raise ValueError("calls are under way")
        plain = t.cast("asyncio.Transport", self._transport)
        try:
            transport = await self._loop.start_tls(
                plain,
                self,
                context,
                server_hostname=server_hostname,
                ssl_handshake_timeout=self.timeout,
            )
        except OSError as error:
            self._lose(str(error))
            self.connection_lost(error)  # asyncio tells it to its own protocol for TLS only
            raise ConnectionLost("start_tls", str(error)) from error
        if transport is None:
            raise ConnectionLost("start_tls", self._failure)
        self._transport = transport

    async def wait_closed(self, timeout: float | None = None) -> bool:
        """Whether the connection ends within `timeout` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.timeout if timeout is None else timeout):
                await asyncio.shield(self._closed)
        return not self.is_open

    # ------------------------------------------------------------ calls

    async def call(
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
        """Make a call and wait for its result, at most `timeout` seconds; any number may be under way.

        `into` is where bulk data of the result is to go, if it fits; the result then holds a view of it. A
        call that is cancelled is forgotten: its reply will be among `core.strays`.
        """
        if not self._room.is_set() and self.is_open:
            await self._wait_for(self._room, timeout, procedure.label)
        if not self.is_open:
            raise ConnectionLost(procedure.label, self._failure)
        pending = self.core.submit(
            procedure,
            args,
            self._loop.time(),
            credential=self.credential if credential is None else credential,
            timeout=self.timeout if timeout is None else timeout,
            xid=xid,
            into=into,
        )
        self._plan_flush()
        self._plan_timeout(self.core.next_deadline() if self._timer is None else pending.deadline)
        waiter = self._waiters[pending] = self._loop.create_future()
        try:
            await waiter
        except asyncio.CancelledError:
            self._waiters.pop(pending, None)
            self.core.cancel(pending, RpcError(f"{procedure.label} was cancelled by its caller"))
            raise
        if pending.error is not None:
            raise pending.error
        assert pending.result is not None
        return pending.result

    async def pipeline(
        self,
        procedure: Procedure[A, R],
        arguments: Iterable[A],
        /,
        *,
        outstanding: int = 64,
        credential: Credential | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[tuple[A, R], None]:
        """Make many calls of one procedure, up to `outstanding` at a time; (arguments, result) as they end.

        New arguments are drawn as soon as replies have arrived, before the results are given back. The first
        error ends it, and so does a pause of `timeout` seconds in which no answer comes. Over UDP, or while
        exchanges are recorded, calls are made singly underneath.
        """
        core, limit = self.core, self.timeout if timeout is None else timeout
        chosen = self.credential if credential is None else credential
        plan = core.plans.plan(procedure, chosen)
        is_plain = core.recorder is None and plan.security is None
        if not isinstance(core, StreamCore) or not is_plain or core.fragment_sizes is not None:
            singly = self._pipeline_singly(procedure, iter(arguments), outstanding, chosen, limit)
            async with contextlib.aclosing(singly):
                async for pair in singly:
                    yield pair
            return
        window: CallWindow[A, R] = CallWindow(core, plan, iter(arguments), self._receive)
        core.windows.append(window)
        try:
            await self._fill(window, outstanding, limit)
            while window.inflight:
                await self._wait_for_replies(window, limit)
                answered = window.answered()
                if answered > 1:
                    await self._fill(window, outstanding + answered, limit)
                for pair in window.take():
                    yield pair
                for pair in window.take_late():
                    yield pair
                await self._fill(window, outstanding, limit)
        finally:
            window.release()
            core.windows.remove(window)

    async def _fill(self, window: CallWindow[A, R], outstanding: int, timeout: float) -> None:
        """Make new calls until `outstanding` are under way."""
        label = window.plan.procedure.label
        if not self._room.is_set():
            await self._wait_for(self._room, timeout, label)
        burst = window.burst(max(outstanding, 1) - len(window.inflight))
        if burst:
            if not self.is_open:
                raise ConnectionLost(label, self._failure)
            self._flush()
            self._write(burst)

    async def _wait_for_replies(self, window: CallWindow[A, R], timeout: float) -> None:
        """Wait until the window has a chunk or late replies."""
        label = window.plan.procedure.label
        while not window.has_late:
            if not self.is_open:
                raise ConnectionLost(label, self._failure)
            waiter = self._readers[window] = self._loop.create_future()
            timer = self._loop.call_later(timeout, _time_out, waiter, label, timeout)
            try:
                await waiter
            finally:
                timer.cancel()
                self._readers.pop(window, None)
            if window.is_holding:
                return

    async def _pipeline_singly(
        self,
        procedure: Procedure[A, R],
        arguments: Iterator[A],
        outstanding: int,
        credential: Credential,
        timeout: float,
    ) -> AsyncGenerator[tuple[A, R], None]:
        under_way: dict[asyncio.Task[R], A] = {}
        finished: list[tuple[A, asyncio.Task[R]]] = []

        def fill() -> None:
            while len(under_way) < max(outstanding, 1) and (args := next(arguments, None)) is not None:
                call = self.call(procedure, args, credential=credential, timeout=timeout)
                under_way[self._loop.create_task(call)] = args

        try:
            fill()
            while under_way:
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                finished = [(under_way.pop(task), task) for task in done]
                fill()
                while finished:
                    args, task = finished.pop(0)
                    yield args, task.result()
        finally:
            # No await here: who leaves the generator without closing it has it closed by the event loop, which may be
            # about to end, and closes it a second time then. Nobody will look at the calls that are given up.
            for task in [*under_way, *(task for _, task in finished)]:
                task.cancel()
                task.add_done_callback(_look_at)

    # ------------------------------------------------------------ below calls

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are, without a record mark (TCP), or as one datagram (UDP)."""
        if not self.is_open:
            raise ConnectionLost("send_raw", self._failure)
        self._flush()
        self._write([data])

    def send_record(self, data: bytes, fragment_sizes: Sequence[int] | None = None) -> None:
        """Send one record with any contents, in fragments of the given sizes (the rest in a last one)."""
        self.send_raw(fragment(data, fragment_sizes or ()))

    async def receive_record(self, timeout: float | None = None) -> bytes:
        """The next record or datagram that is no reply to a call of this client, unchanged.

        Raises `RpcTimeout`, or `ConnectionLost` when the connection ends first.
        """
        while not self.core.strays:
            if not self.is_open:
                raise ConnectionLost("receive_record", self._failure)
            self._stray.clear()
            await self._wait_for(self._stray, timeout, "receive_record")
        return self.core.strays.popleft()

    def shutdown_write(self) -> None:
        """Half-close: no more calls from us; answers may still come.

        Raises NotImplementedError over TLS, of which asyncio closes no single side.
        """
        if self.is_open and isinstance(self.core, StreamCore):
            self._flush()
            t.cast("asyncio.Transport", self._transport).write_eof()

    async def _wait_for(self, event: asyncio.Event, timeout: float | None, what: str) -> None:
        limit = self.timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(limit):
                await event.wait()
        except TimeoutError:
            raise RpcTimeout(what, limit) from None

    def serve(self, answerer: Answerer) -> None:
        """Answer the calls that the server makes on this connection, at any time that the event loop runs."""

        def answer(message: bytes) -> list[Buffer] | None:
            return answerer.answer(message, self.peer_address, self.core.transport)

        self.on_call = answer

    def send_reply(self, message: list[Buffer]) -> None:
        """Send a whole RPC message, such as a late reply to a call that `on_call` left unanswered.

        Raises `ConnectionLost` where the connection has ended. It ends here if the server does not read such replies.
        """
        if not self.is_open:
            raise ConnectionLost("a reply to a call of the server", self._failure)
        self.core.send_message(message)
        self._plan_flush()
        is_stream = isinstance(self.core, StreamCore)
        if is_stream and t.cast("asyncio.Transport", self._transport).get_write_buffer_size() > _MOST_UNREAD:
            self._lose("the server does not read the replies to its calls")

    # ------------------------------------------------------------ output

    def _plan_flush(self) -> None:
        """Send when the tasks that are ready have made their calls: one write for all of them."""
        if not self._flush_is_due:
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_is_due = False
        output = self.core.take_output()
        if output and self.is_open:
            self._write(output)

    def _write(self, buffers: Sequence[Buffer]) -> None:
        if isinstance(self.core, DatagramCore):
            for datagram in buffers:
                t.cast("asyncio.DatagramTransport", self._transport).sendto(datagram)
            return
        stream = t.cast("asyncio.Transport", self._transport)
        if size_of(buffers) <= _JOIN_BELOW:
            buffers = [b"".join(buffers)]
        for buffer in buffers:
            stream.write(buffer)

    # ------------------------------------------------------------ input and time

    def _plan_timeout(self, deadline: float | None) -> None:
        """Let `_on_timer` run at `deadline`, unless it runs earlier anyway."""
        if deadline is None or (self._timer is not None and self._timer.when() <= deadline):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(deadline, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._settle(self.core.handle_timeout(self._loop.time()))
        self._flush()
        self._plan_timeout(self.core.next_deadline())

    def _receive(self, data: bytes) -> None:
        """Give received bytes to the window that waits alone for them, or else to the core."""
        core = self.core
        if core.windows:
            for window, waiter in self._readers.items():
                if window.is_alone and not waiter.done():
                    window.hold(data)
                    waiter.set_result(None)
                    return
            for each in core.windows:
                each.release()
        try:
            events = core.receive(data, self._loop.time())
        except BadReply as error:
            for pending in list(core.pending.values()):
                core.cancel(pending, error)
            self._lose(error.why)
            return
        self._settle(events)
        if core.strays:
            self._stray.set()
        self._wake_readers(late_only=True)

    def _wake_readers(self, *, late_only: bool) -> None:
        for window, waiter in self._readers.items():
            if not waiter.done() and (window.has_late or not late_only):
                waiter.set_result(None)

    def _settle(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, CallReceived):
                self._answer(event.message)
            else:
                self._wake(event)

    def _wake(self, pending: Pending[t.Any]) -> None:
        waiter = self._waiters.pop(pending, None)
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _answer(self, message: bytes) -> None:
        if self.on_call is None:
            self.core.keep_stray(message)
            return
        answer = self.on_call(message)
        if answer is not None and self.is_open:
            self.send_reply(answer)

    def _lose(self, cause: str) -> None:
        if not self.is_open:
            return
        self.is_open = False
        self._failure = cause
        self.core.fail_all(cause)
        for pending in list(self._waiters):
            self._wake(pending)
        self._room.set()
        self._stray.set()
        self._wake_readers(late_only=False)
        if self._timer is not None:
            self._timer.cancel()
        self._transport.abort()

    # ------------------------------------------------------------ asyncio's callbacks

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio: the connection is there."""
        self._transport = t.cast("asyncio.Transport | asyncio.DatagramTransport", transport)
        self.is_open = True
        self._room.set()
        self.peer_address = address_of(transport.get_extra_info("peername"))
        self.local_address = address_of(transport.get_extra_info("sockname"))
        self.core.peer = format_address(*self.peer_address)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio: bytes of the stream."""
        self._receive(data)

    def datagram_received(self, data: bytes, addr: t.Any) -> None:  # noqa: ARG002  (the socket is connected)
        """Called by asyncio: a datagram."""
        self._receive(data)

    def error_received(self, exc: Exception) -> None:
        """Called by asyncio: an ICMP message about an earlier datagram; only the deadline ends the call."""

    def pause_writing(self) -> None:
        """Called by asyncio: too much output waits."""
        self._room.clear()

    def resume_writing(self) -> None:
        """Called by asyncio: there is room again."""
        self._room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio: the connection is over."""
        self._lose("the server closed it" if exc is None else str(exc))
        if not self._closed.done():
            self._closed.set_result(None)


def _time_out(waiter: asyncio.Future[None], label: str, seconds: float) -> None:
    if not waiter.done():
        waiter.set_exception(RpcTimeout(label, seconds))


def _look_at(task: asyncio.Task[t.Any]) -> None:
    """Take the error of a call that nobody wants any more, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


async def connect_tcp(
    host: str,
    port: int,
    *,
    timeout: float = DEFAULT_TIMEOUT,
    source_port: int | None = None,
    privileged: bool = False,
    fragment_sizes: Sequence[int] | None = None,
    max_record: int = DEFAULT_MAX_RECORD,
    credential: Credential | None = None,
) -> AsyncRpcClient:
    """Connect over TCP (IPv4 or IPv6). `timeout` is that of each call, in seconds. Raises `ConnectFailed`.

    `privileged` asks for a source port below 1024, which some servers demand; `fragment_sizes` cuts calls
    into fragments.
    """
    sock = await _open(host, port, socket.SOCK_STREAM, timeout, source_port, privileged)
    core = StreamCore(fragment_sizes=fragment_sizes, max_record=max_record)
    _, client = await asyncio.get_running_loop().create_connection(
        lambda: AsyncRpcClient(core, credential=credential or AuthNone(), timeout=timeout), sock=sock
    )
    return client


async def connect_udp(
    host: str,
    port: int,
    *,
    timeout: float = DEFAULT_TIMEOUT,
    source_port: int | None = None,
    privileged: bool = False,
    credential: Credential | None = None,
    first_interval: float = 0.7,
) -> AsyncRpcClient:
    """A client over UDP (IPv4 or IPv6); only answers from the address that was called are taken.

    An unanswered call is sent again after `first_interval` seconds, then after twice as long each time, until
    `timeout` has passed. Raises `ConnectFailed` when the name does not resolve.
    """
    sock = await _open(host, port, socket.SOCK_DGRAM, timeout, source_port, privileged)
    core = DatagramCore(first_interval=first_interval)
    _, client = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: AsyncRpcClient(core, credential=credential or AuthNone(), timeout=timeout), sock=sock
    )
    return client


async def _open(
    host: str,
    port: int,
    kind: socket.SocketKind,
    timeout: float,
    source_port: int | None,
    privileged: bool,
) -> socket.socket:
    """A connected socket to the first address of `host` that answers. Raises `ConnectFailed`."""
    where = format_address(host, port)
    failure = "the name has no address"
    try:
        async with asyncio.timeout(timeout):
            for family, _, proto, _, sockaddr in await _addresses(host, port, kind):
                for chosen in source_ports(source_port, privileged=privileged):
                    sock = socket.socket(family, kind, proto)
                    try:
                        await _connect(sock, sockaddr, chosen)
                    except OSError as error:
                        failure = str(error)
                        if error.errno not in SOURCE_PORT_TAKEN:
                            break
                    else:
                        return sock
    except TimeoutError:
        failure = "no answer in time"
    except (OSError, UnicodeError) as error:
        failure = f"the name does not resolve: {error}"
    raise ConnectFailed(where, failure)


async def _addresses(host: str, port: int, kind: socket.SocketKind) -> list[t.Any]:
    try:
        # An address needs no resolver, which would go through asyncio's pool of threads.
        return socket.getaddrinfo(host, port, type=kind, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        return await asyncio.get_running_loop().getaddrinfo(host, port, type=kind)


async def _connect(sock: socket.socket, sockaddr: t.Any, source_port: int) -> None:
    try:
        sock.setblocking(False)
        if source_port:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("", source_port))
        await asyncio.get_running_loop().sock_connect(sock, sockaddr)
        if sock.type is socket.SOCK_STREAM:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise


__all__ = ["AsyncRpcClient", "connect_tcp", "connect_udp"]
