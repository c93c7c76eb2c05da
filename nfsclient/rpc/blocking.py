# SPDX-License-Identifier: MIT
"""The blocking driver: one connection, calls that return their result.

Where the connection is alone on its loop it waits on its own socket, because a synchronous call costs little
more than the wake-up. With others on the loop (a server in the same process, a second client) it runs the
loop, so that all of them are served while it waits.
"""

from __future__ import annotations

import contextlib
import socket
import typing as t
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from nfsclient.errors import BadReply, ConnectionLost, NfsClientError, RpcTimeout
from nfsclient.rpc.auth import AuthNone, Credential
from nfsclient.rpc.bulk import BulkReceiver
from nfsclient.rpc.core import CallCore, CallReceived, DatagramCore, Pending, StreamCore
from nfsclient.rpc.exchange import Recorder
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.pipeline import PipelineWindow
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.record import fragment, size_of
from nfsclient.rpc.sockets import Address, KernelTimeout, address_of, format_address, open_socket
from nfsclient.xdr import Buffer, XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

_RECEIVE = 256 << 10
_JOIN_BELOW = 64 << 10
"""Output up to this size is joined and sent at once; larger goes out as buffers, uncopied."""
_MOST_BUFFERS = 512
DEFAULT_TIMEOUT = 10.0


class RpcClient:
    """A connection to an RPC server. Use `connect_tcp` or `connect_udp` to make one.

    Raises `RpcError` for calls without result, `XdrError` for results that do not decode. Not thread-safe.
    """

    def __init__(
        self,
        dial: Callable[[], socket.socket],
        core_factory: Callable[[str], CallCore],
        *,
        loop: Loop | None = None,
        credential: Credential | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        self._dial = dial
        self._core_factory = core_factory
        self.loop = loop if loop is not None else Loop()
        self.credential: Credential = credential if credential is not None else AuthNone()
        self.timeout = timeout
        self.on_call: Callable[[bytes], list[Buffer] | None] | None = None
        """Answers calls that the server makes on this connection: message in, message out (None: silence)."""
        self._recorder: Recorder | None = None
        self._raw_records: deque[bytes] | None = None
        self._open(dial())

    # ------------------------------------------------------------ the connection

    def _open(self, sock: socket.socket) -> None:
        self._sock = sock
        self.is_open = True
        self.why_closed = ""
        self._unsent: deque[memoryview] = deque()
        self._receive_timeout = KernelTimeout(sock)
        self._send_timeout = KernelTimeout(sock, socket.SO_SNDTIMEO)
        self.peer_address: Address = address_of(sock.getpeername())
        self.local_address: Address = address_of(sock.getsockname())
        self.core = self._core_factory(format_address(*self.peer_address))
        self.core.recorder = self._recorder
        self._is_stream = isinstance(self.core, StreamCore)
        self._bulk = BulkReceiver(self.core) if isinstance(self.core, StreamCore) else None
        self.loop.add(self)

    @property
    def on_exchange(self) -> Recorder | None:
        """Told of each exchange when it is over; None (the default) costs nothing."""
        return self._recorder

    @on_exchange.setter
    def on_exchange(self, recorder: Recorder | None) -> None:
        self._recorder = self.core.recorder = recorder

    def close(self) -> None:
        """Close the connection; calls under way end with `ConnectionLost`."""
        if self.is_open:
            self._lose("closed by us")

    def reconnect(self) -> None:
        """Close, and connect again to the same address. Raises `ConnectFailed`."""
        self.close()
        self._open(self._dial())

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lose(self, cause: str) -> None:
        self.is_open = False
        self.why_closed = cause
        self.loop.remove(self)
        self._sock.close()
        self.core.fail_all(cause)

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
        return self.wait(
            self.submit(procedure, args, credential=credential, timeout=timeout, xid=xid, into=into)
        )

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
        if not self.is_open:
            raise ConnectionLost(procedure.label, self.why_closed)
        pending = self.core.submit(
            procedure,
            args,
            self.loop.clock(),
            credential=self.credential if credential is None else credential,
            timeout=self.timeout if timeout is None else timeout,
            xid=xid,
            into=into,
        )
        self._flush()
        return pending

    def wait(self, pending: Pending[R]) -> R:
        """The result of a call that was started, or its error."""
        while not pending.done:
            self._pump(pending.deadline)
        if pending.error is not None:
            raise pending.error.with_traceback(None)
        assert pending.result is not None
        return pending.result

    def wait_any(self, pendings: Iterable[Pending[t.Any]]) -> Pending[t.Any]:
        """The first of several calls that is over."""
        calls = list(pendings)
        while True:
            for pending in calls:
                if pending.done:
                    return pending
            self._pump(min(pending.deadline for pending in calls))

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

        The first error ends it. Over UDP, or while exchanges are recorded, calls are made singly underneath.
        """
        chosen = self.credential if credential is None else credential
        limit = self.timeout if timeout is None else timeout
        if isinstance(self.core, StreamCore) and self._recorder is None and self.core.fragment_sizes is None:
            window = PipelineWindow(self, self.core, procedure, chosen, limit)
            return window.run(iter(arguments), outstanding)
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

    # ------------------------------------------------------------ below calls

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are, without a record mark (TCP), or as one datagram (UDP)."""
        if not self.is_open:
            raise ConnectionLost("send_raw", self.why_closed)
        self.transmit([data])

    def send_record(self, data: bytes, fragment_sizes: Sequence[int] | None = None) -> None:
        """Send one record with any contents, in fragments of the given sizes (the rest in a last one)."""
        self.send_raw(fragment(data, fragment_sizes or ()))

    def receive_record(self, timeout: float | None = None) -> bytes:
        """The next record or datagram that is no reply to a call of ours, as it is.

        Raises `RpcTimeout`, or `ConnectionLost` when the peer closes first.
        """
        limit = self.timeout if timeout is None else timeout
        deadline = self.loop.clock() + limit
        while not self.core.strays:
            if not self.is_open:
                raise ConnectionLost("receive_record", self.why_closed)
            if self.loop.clock() >= deadline:
                raise RpcTimeout("receive_record", limit)
            self._pump(deadline)
        return self.core.strays.popleft()

    def wait_closed(self, timeout: float | None = None) -> bool:
        """Whether the peer closes the connection within `timeout` seconds."""
        deadline = self.loop.clock() + (self.timeout if timeout is None else timeout)
        while self.is_open and self.loop.clock() < deadline:
            self._pump(deadline)
        return not self.is_open

    def shutdown_write(self) -> None:
        """Half-close: no more calls from us; answers may still come."""
        if self.is_open:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)

    # ------------------------------------------------------------ output

    def _flush(self) -> None:
        output: Sequence[Buffer] = self.core.take_output()  # type: ignore[attr-defined]
        if output:
            self.transmit(output)

    def transmit(self, buffers: Sequence[Buffer]) -> None:
        """Send framed messages, or datagrams; waits for room only where nothing else is to be served."""
        if self._unsent or not self.loop.is_alone(self):
            self._unsent.extend(
                memoryview(buffer).cast("B") for buffer in self._batches(buffers) if len(buffer)
            )
            self.on_writable()
            return
        try:
            self._send_timeout.allow(self.timeout)
            self._send_all(buffers)
        except OSError as error:
            self._lose(_cause(error))

    def _batches(self, buffers: Sequence[Buffer]) -> Sequence[Buffer]:
        if self._is_stream and size_of(buffers) <= _JOIN_BELOW:
            return [b"".join(buffers)]
        return buffers

    def _send_all(self, buffers: Sequence[Buffer]) -> None:
        """Send in blocking mode, within the kernel's timeout."""
        if not self._is_stream:
            for datagram in buffers:
                self._sock.send(datagram)
            return
        if size_of(buffers) <= _JOIN_BELOW:
            self._sock.sendall(b"".join(buffers))
            return
        left = [memoryview(buffer).cast("B") for buffer in buffers if len(buffer)]
        while left:
            sent = self._sock.sendmsg(left[:_MOST_BUFFERS])
            index = 0
            while index < len(left) and sent >= len(left[index]):
                sent -= len(left[index])
                index += 1
            left = left[index:]
            if sent:
                left[0] = left[0][sent:]

    def on_writable(self) -> None:
        """Send what waits, as far as there is room."""
        try:
            while self._unsent:
                sent = self._sock.send(self._unsent[0], socket.MSG_DONTWAIT)
                if sent == len(self._unsent[0]):
                    self._unsent.popleft()
                else:
                    self._unsent[0] = self._unsent[0][sent:]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError as error:
            if self._is_stream or not isinstance(error, ConnectionRefusedError):
                self._lose(_cause(error))

    def wants_to_write(self) -> bool:
        """Whether output waits for room."""
        return bool(self._unsent)

    # ------------------------------------------------------------ input

    def _pump(self, deadline: float) -> None:
        """Serve until something has happened, but not past `deadline`."""
        if not self.is_open:
            raise ConnectionLost("waiting for an answer", self.why_closed)
        if self._unsent or not self.loop.is_alone(self):
            self.loop.run_once(deadline)
            return
        now = self.loop.clock()
        due = self.next_deadline()
        until = deadline if due is None else min(deadline, due)
        if until > now:
            left = until - now
            # A fresh call has its whole timeout left: the same value each time, so that nothing is to be set.
            self._receive_timeout.allow(self.timeout if abs(left - self.timeout) < 0.01 else left)
            if self._read(0):
                return
            now = self.loop.clock()
        self.on_deadline(now)

    def receive_chunk(self, deadline: float) -> bytes:
        """What arrives next, uninterpreted; empty at the deadline, at the end, or when others were served."""
        if self._unsent or not self.loop.is_alone(self):
            self.loop.run_once(deadline)
            return b""
        left = deadline - self.loop.clock()
        if left <= 0:
            return b""
        self._receive_timeout.allow(self.timeout if abs(left - self.timeout) < 0.01 else left)
        try:
            data = self._sock.recv(_RECEIVE)
        except (BlockingIOError, InterruptedError):
            return b""
        except OSError as error:
            self._lose(_cause(error))
            return b""
        if not data:
            self._lose("the server closed it")
        return data

    def on_readable(self) -> None:
        """Take in what has arrived."""
        self._read(socket.MSG_DONTWAIT)

    def _read(self, flags: int) -> bool:
        """Receive once; False when the kernel's timeout (or the lack of data) ended it."""
        try:
            if self._bulk is not None and not flags and self._bulk.is_expected:
                taken = self._bulk.receive(self._sock, self.loop.clock)
                if taken is None:
                    return True
                data = taken
            else:
                data = self._sock.recv(_RECEIVE, flags)
        except (BlockingIOError, InterruptedError):
            return False
        except ConnectionRefusedError as error:
            # UDP: an ICMP message about an earlier datagram; only the deadline ends the call.
            if self._is_stream:
                self._lose(_cause(error))
            return True
        except (OSError, NfsClientError) as error:
            self._lose(_cause(error))
            return True
        self.take(data)
        return True

    def take(self, data: bytes) -> None:
        """Give received bytes to the core and act on what comes out; none are the end of the stream."""
        if not data and self._is_stream:
            self._lose("the server closed it")
            return
        try:
            events = self.core.receive(data, self.loop.clock())  # type: ignore[attr-defined]
        except BadReply as error:
            for pending in list(self.core.pending.values()):
                self.core.cancel(pending, error)
            self._lose(error.why)
            return
        for event in events:
            if isinstance(event, CallReceived):
                self._answer(event.message)

    def _answer(self, message: bytes) -> None:
        answer = self.on_call(message) if self.on_call is not None else None
        if self.on_call is None:
            self.core.keep_stray(message)
        elif answer is not None:
            self.core.send_message(answer)  # type: ignore[attr-defined]
            self._flush()

    def fileno(self) -> int:
        """The descriptor of the socket."""
        return self._sock.fileno()

    def wants_to_read(self) -> bool:
        """Always: replies, or the end of the connection."""
        return True

    def next_deadline(self) -> float | None:
        """When a call is to be repeated or given up."""
        return self.core.next_deadline() if self.core.pending else None

    def on_deadline(self, now: float) -> None:
        """Repeat or give up what is due."""
        self.core.handle_timeout(now)
        if not self._is_stream and self.is_open:
            self._flush()


def _cause(error: Exception) -> str:
    if isinstance(error, BlockingIOError | TimeoutError):
        return "the server takes no more data"
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error)


def connect_tcp(
    host: str,
    port: int,
    *,
    loop: Loop | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    connect_timeout: float | None = None,
    source_port: int | None = None,
    privileged: bool = False,
    fragment_sizes: Sequence[int] | None = None,
    credential: Credential | None = None,
) -> RpcClient:
    """Connect over TCP (IPv4 or IPv6). `timeout` is that of each call, in seconds. Raises `ConnectFailed`.

    `privileged` asks for a source port below 1024, which some servers demand; `fragment_sizes` cuts calls
    into fragments.
    """

    def dial() -> socket.socket:
        limit = timeout if connect_timeout is None else connect_timeout
        return open_socket(
            host, port, socket.SOCK_STREAM, timeout=limit, source_port=source_port, privileged=privileged
        )

    def core(peer: str) -> StreamCore:
        return StreamCore(peer=peer, fragment_sizes=fragment_sizes)

    return RpcClient(dial, core, loop=loop, credential=credential, timeout=timeout)


def connect_udp(
    host: str,
    port: int,
    *,
    loop: Loop | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    source_port: int | None = None,
    privileged: bool = False,
    credential: Credential | None = None,
    first_interval: float = 0.7,
) -> RpcClient:
    """A client over UDP (IPv4 or IPv6); only answers from the address that was called are taken.

    An unanswered call is sent again after `first_interval` seconds, then after twice as long each time, until
    `timeout` has passed. Raises `ConnectFailed` when the name does not resolve.
    """

    def dial() -> socket.socket:
        return open_socket(
            host, port, socket.SOCK_DGRAM, timeout=timeout, source_port=source_port, privileged=privileged
        )

    def core(peer: str) -> DatagramCore:
        return DatagramCore(peer=peer, first_interval=first_interval)

    return RpcClient(dial, core, loop=loop, credential=credential, timeout=timeout)
