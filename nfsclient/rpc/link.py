# SPDX-License-Identifier: MIT
"""A client's connection as a member of a loop: its socket, its core, and the waiting between them.

Where the connection is alone on its loop it waits on its own socket, because a synchronous call costs little
more than the wake-up. With others on the loop (a server in the same process, a second client) it runs the
loop, so that all of them are served while it waits. The socket stays in blocking mode throughout; deadlines
are the kernel's business (`KernelTimeout`), and the loop asks not to wait call by call.

    state     what ends it
    open      `close`; `lose`: an error, the end of the stream, bytes that cannot be framed, an interrupted receive
    closed    `reconnect`: a new socket and a new core, with what was set for the old ones

What must stay true:

- `lose` is the only way to closed. It leaves the loop, closes the socket and ends all calls under way with
  `ConnectionLost`; a second loss does nothing, so the first cause stays in `why_closed`. Over UDP an error of a
  receive ends nothing: it is an ICMP message about an earlier datagram.
- One reader at a time. Whoever receives outside of `take` (`exchange`, `receive_chunk`, `receive_bulk`) does so only
  as the only member of the loop, with nothing unsent and no TLS; otherwise the loop runs, and the core gets the bytes.
- A receive in several steps (`receive_bulk`, `complete`) ends at the end of a record, or it ends the connection.
- Output keeps its order: once something waits in `_unsent`, all that follows waits as well. It is sent while
  anything waits on the loop; a peer that makes calls and reads no replies is cut off (`MOST_UNREAD_REPLIES`).
- What was set for the connection is set for the next one as well: recorders, tap, `on_call`, TLS, `pass_through`. The
  core is new: XIDs of the old connection mean nothing on the new one.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import typing as t
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from nfsclient.errors import BadReply, ConnectFailed, ConnectionLost, RpcTimeout
from nfsclient.rpc.bulk import BulkReceiver, BulkReply, Find
from nfsclient.rpc.channel import Answerer
from nfsclient.rpc.core import CallReceived, DatagramCore, Pending, StreamCore
from nfsclient.rpc.exchange import RawRecorder, Recorder
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.plan import JOIN_BELOW, WORTH_IT, Plan
from nfsclient.rpc.program import BulkResult
from nfsclient.rpc.record import size_of
from nfsclient.rpc.sockets import Address, KernelTimeout, address_of, format_address
from nfsclient.rpc.tap import Tap, TappedSocket
from nfsclient.xdr import Buffer, XdrType

if t.TYPE_CHECKING:
    import ssl

    from nfsclient.rpc.stream import Stream, TlsStream

R = t.TypeVar("R", bound=XdrType)

Through: t.TypeAlias = Callable[[socket.socket], socket.socket]
"""Makes a socket that stands before a connected one, with its addresses."""

RECEIVE = 64 << 10
"""Most bytes of an ordinary receive; a much larger buffer makes the allocator ask the kernel each time."""
CLOSED_BY_US = "closed by us"
MOST_BUFFERS = 512  # of one `sendmsg`: the kernel accepts 1024
MOST_UNREAD_REPLIES = 4096
"""Messages that wait for a server which makes calls and does not read, before its connection is closed."""


class Link:
    """One connection over TCP or UDP. Not thread-safe."""

    def __init__(
        self,
        dial: Callable[[], socket.socket],
        make_core: Callable[[str], StreamCore | DatagramCore],
        *,
        loop: Loop | None,
        timeout: float,
    ) -> None:
        self._dial = dial
        self._make_core = make_core
        self.loop = loop if loop is not None else Loop()
        self.timeout = timeout
        self.on_call: Callable[[bytes], list[Buffer] | None] | None = None
        """Answers calls that the server makes on this connection: message in, message out (None: silence).

        None: such calls are among `core.strays`. A connection that is made again keeps it.
        """
        self._recorder: Recorder | None = None
        self._raw_recorder: RawRecorder | None = None
        self._tap: Tap | None = None
        self.redial: Callable[[int], socket.socket] | None = None
        """Connects again, if possible from the given source port; None: as `dial` does."""
        self._tls_options: tuple[ssl.SSLContext, str | None] | None = None
        self._through: Through | None = None
        self._open(dial())

    # ------------------------------------------------------------ the connection

    def _open(self, sock: socket.socket) -> None:
        self.is_open = True
        self.why_closed = ""
        self._unsent: deque[memoryview] = deque()
        self.peer_address: Address = address_of(sock.getpeername())
        self.local_address: Address = address_of(sock.getsockname())
        sock = sock if self._tap is None else TappedSocket(sock, self._tap)
        self._wait_on(sock if self._through is None else self._through(sock))
        self.core = self._make_core(format_address(*self.peer_address))
        self.core.recorder = self._recorder
        self.core.raw_recorder = self._raw_recorder
        self.core.local = format_address(*self.local_address)
        self._is_stream = isinstance(self.core, StreamCore)
        self.loop.add(self)

    def _wait_on(self, sock: socket.socket) -> None:
        self._sock: Stream = sock
        self._tls: TlsStream | None = None
        self._receive_timeout = KernelTimeout(sock)
        self._send_timeout = KernelTimeout(sock, socket.SO_SNDTIMEO)
        self._bulk = BulkReceiver(sock, self._receive_timeout, self.loop.clock)

    @property
    def on_wire(self) -> Tap | None:
        """Called with all bytes that pass, as they do: pieces of the stream with their record marks, or datagrams."""
        return self._tap

    @on_wire.setter
    def on_wire(self, tap: Tap | None) -> None:
        self._tap = tap
        if isinstance(self._sock, TappedSocket):
            self._sock.tap = tap
        elif tap is not None and self.is_open:
            if not isinstance(self._sock, socket.socket):
                raise ValueError("tap a connection before start_tls(), not after it")  # noqa: TRY004  (the order is wrong)
            self._wait_on(TappedSocket(self._sock, tap))

    def start_tls(self, context: ssl.SSLContext, server_hostname: str | None = None) -> None:
        """Use TLS from now on, and after each `reconnect`, with the server's certificate judged by `context`.

        Serves the loop until the handshake is over. To be called while nothing is under way. `on_wire`, if it is set
        before, gets the encrypted bytes. Raises `ConnectionLost` with what is wrong, `RpcTimeout` after `timeout`.
        """
        self.require_open("start_tls")
        if not isinstance(self._sock, socket.socket) or not self._is_stream:
            raise TypeError("TLS needs a TCP connection that does not use it yet")
        if self.core.pending or self.core.windows or self._unsent:
            raise ValueError("calls are under way")
        from nfsclient.rpc.stream import TlsStream  # with ssl, which nearly no connection needs

        self._tls_options = (context, server_hostname)
        self._sock = self._tls = tls = TlsStream(self._sock, context, server_hostname=server_hostname)
        deadline = self.loop.clock() + self.timeout
        self.on_writable()
        while self.is_open and not tls.is_ready:
            if self.loop.clock() >= deadline:
                self.lose("the TLS handshake was not over in time")
                raise RpcTimeout("start_tls", self.timeout)
            self.pump(deadline)
        self.require_open("start_tls")

    def pass_through(self, through: Through) -> None:
        """Have another socket stand before the one of this connection, and of each that is made again.

        `through` gets the connected socket, which it owns from then on; `on_wire` is to be set before, and goes on to
        report what passes on that one.
        """
        self._through = through
        self.loop.remove(self)
        self._wait_on(through(t.cast("socket.socket", self._sock)))
        self.loop.add(self)

    @property
    def on_exchange(self) -> Recorder | None:
        """Called with each finished exchange; None (the default) costs nothing."""
        return self._recorder

    @on_exchange.setter
    def on_exchange(self, recorder: Recorder | None) -> None:
        self._recorder = self.core.recorder = recorder

    @property
    def on_raw(self) -> RawRecorder | None:
        """Called for bytes that belong to no call: those of `send_raw`, and messages that answer no call."""
        return self._raw_recorder

    @on_raw.setter
    def on_raw(self, recorder: RawRecorder | None) -> None:
        self._raw_recorder = self.core.raw_recorder = recorder

    def close(self) -> None:
        """Close the connection; calls under way end with `ConnectionLost`."""
        self.lose(CLOSED_BY_US)

    def reconnect(self, pauses: Iterable[object] = (), *, same_port: bool = False) -> None:
        """Close and connect again, perhaps from the `same_port`, after each of the `pauses`. Raises `ConnectFailed`."""
        dial = self._dial
        if same_port and self.redial is not None:
            dial = partial(self.redial, self.local_address[1])
            self.abort()
        self.close()
        waiting, over = iter(pauses), object()
        while True:
            try:
                self._open(dial())
                break
            except ConnectFailed:
                if next(waiting, over) is over:
                    raise
        if self._tls_options is not None:
            self.start_tls(*self._tls_options)

    def abort(self) -> None:
        """Close by RST: the port is free at once."""
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lose(self, cause: str) -> None:
        """Close the connection because of `cause`, which ends the calls in progress."""
        if self.is_open:
            self.is_open = False
            self.why_closed = cause
            self.loop.remove(self)
            self._sock.close()
            self._unsent.clear()
            self.core.fail_all(cause)

    def shutdown_write(self) -> None:
        """Half-close: no more calls from us; answers may still come."""
        if self.is_open:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)

    def require_open(self, what: str) -> None:
        """Raise `ConnectionLost` unless the connection is there."""
        if not self.is_open:
            raise ConnectionLost(what, self.why_closed)

    # ------------------------------------------------------------ output

    def flush(self, timeout: float) -> None:
        """Send what the core has to send."""
        output: Sequence[Buffer] = self.core.take_output()
        if output:
            self.transmit(output, timeout)

    def transmit(self, buffers: Sequence[Buffer], timeout: float) -> None:
        """Send framed messages, or datagrams, as they are.

        Waits for room, up to `timeout` seconds, only where nothing else is to be served meanwhile. What there
        is no room for is sent later, while somebody waits on this connection.
        """
        if not self._is_stream:
            for datagram in buffers:
                self._send_datagram(datagram)
            return
        small = size_of(buffers) <= JOIN_BELOW
        if small:
            buffers = [b"".join(buffers)]
        if self._unsent or self.loop.sole is not self:
            if small and self._tls is None and not self._unsent and self._goes_at_once(buffers[0]):
                return
            self._unsent.extend(memoryview(buffer).cast("B") for buffer in buffers if len(buffer))
            self.on_writable()
            return
        try:
            self._send_timeout.allow(timeout)
            sent = self._sock.send(buffers[0]) if small else self._sock.sendmsg(buffers[:MOST_BUFFERS])
        except BlockingIOError:
            sent = 0
        except OSError as error:
            self.lose(_cause(error))
            return
        if sent != size_of(buffers):
            self._queue_rest(buffers, sent)

    def _goes_at_once(self, data: Buffer) -> bool:
        """Send without waiting what is small, if there is room for it: then nothing has changed for the loop."""
        try:
            sent = self._sock.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError as error:
            self.lose(_cause(error))
            return True
        if sent != len(data):
            self._queue_rest([data], sent)
        return True

    def _queue_rest(self, buffers: Sequence[Buffer], sent: int) -> None:
        for buffer in buffers:
            if sent < len(buffer):
                self._unsent.append(memoryview(buffer).cast("B")[sent:])
                sent = 0
            else:
                sent -= len(buffer)
        self.on_writable()

    def _send_datagram(self, datagram: Buffer) -> None:
        # An ICMP message about an earlier datagram is reported once, in place of sending this one.
        for _ in range(2):
            try:
                self._sock.send(datagram)
            except (ConnectionRefusedError, BlockingIOError):
                continue
            except OSError as error:
                self.lose(_cause(error))
            return

    def on_writable(self) -> None:
        """Send what waits, as far as there is room."""
        try:
            if self._tls is not None:
                self._tls.flush(socket.MSG_DONTWAIT)
            while self._unsent:
                sent = self._sock.send(self._unsent[0], socket.MSG_DONTWAIT)
                if sent == len(self._unsent[0]):
                    self._unsent.popleft()
                else:
                    self._unsent[0] = self._unsent[0][sent:]
        except BlockingIOError:
            pass
        except OSError as error:
            self.lose(_cause(error))
        self.loop.changed(self)

    def wants_to_write(self) -> bool:
        """Whether output waits for room."""
        return bool(self._unsent) if self._tls is None else self._tls.wants_to_write(bool(self._unsent))

    # ------------------------------------------------------------ input

    def pump(self, deadline: float) -> None:
        """Serve until something has happened, but not past `deadline`. Raises `ConnectionLost` when closed."""
        self.require_open("waiting for an answer")
        if self._unsent or self._tls is not None or self.loop.sole is not self:
            self.loop.run_once(deadline)
            return
        due = self.next_deadline()
        until = deadline if due is None else min(deadline, due)
        if not self._allow_until(until):
            self.loop.catch_up()
        elif self._read(0, until):
            return
        self.on_deadline(self.loop.clock())

    def _allow_until(self, deadline: float) -> bool:
        """Let the next receive wait until `deadline`; False when it has passed."""
        left = deadline - self.loop.clock()
        if left <= 0:
            return False
        # A fresh call has its whole timeout left: the same value each time, so that nothing is to be set.
        self._receive_timeout.allow(self.timeout if abs(left - self.timeout) < 0.01 else left)
        return True

    def exchange(self, message: list[Buffer], size: int, timeout: float, first: int = RECEIVE) -> bytes:
        """Send a framed message of `size` bytes and receive what comes next, up to `first` bytes.

        Only for a socket that is ours alone and has nothing else to send. Empty when nothing came within
        `timeout` seconds, or the connection was lost.
        """
        self.allow(timeout)
        sent, received, failure = 0, b"", None
        try:
            if size <= JOIN_BELOW or len(message) > MOST_BUFFERS:
                message = [b"".join(message)]
                sent = self._sock.send(message[0])
            else:
                sent = self._sock.sendmsg(message)
            if sent == size:
                received = self._sock.recv(first)
        except OSError as error:
            failure = error
        if not received:
            self.judge_exchange(message, sent, received, failure)
        return received

    def allow(self, timeout: float) -> None:
        """Let the next send, and the next receive, wait up to `timeout` seconds."""
        self._send_timeout.allow(timeout)
        self._receive_timeout.allow(timeout)

    def judge_exchange(
        self, message: list[Buffer], sent: int, received: bytes, failure: OSError | None
    ) -> None:
        """Draw the consequences of a send of `message` and a receive that did not both go well."""
        if failure is not None and not isinstance(failure, BlockingIOError):
            self.lose(_cause(failure))
        elif sent != size_of(message):
            self._queue_rest(message, sent)
        elif not received and failure is None:
            self.lose("the server closed it")

    def receive_chunk(self, deadline: float) -> bytes:
        """What arrives next, uninterpreted; empty at the deadline, at the end, or when others were served."""
        if self._unsent or self._tls is not None or self.loop.sole is not self:
            self.loop.run_once(deadline)
            return b""
        if not self._allow_until(deadline):
            return b""
        try:
            data = self._sock.recv(RECEIVE)
        except BlockingIOError:
            return b""
        except OSError as error:
            self.lose(_cause(error))
            return b""
        if not data:
            self.lose("the server closed it")
        return data

    def receive_bulk(
        self, plan: Plan[t.Any], bulk: BulkResult[t.Any, t.Any], find: Find, deadline: float
    ) -> BulkReply | bytes:
        """A reply with much data, received in place; or bytes, as `receive_chunk` gives them."""
        if self._tls is not None:
            return self.receive_chunk(deadline)
        if self._unsent or self.loop.sole is not self:
            self.loop.run_once(deadline)
            return b""
        if not self._allow_until(deadline):
            return b""
        try:
            reply = self._receive_in_steps(plan, bulk, find, deadline)
        except BlockingIOError:
            return b""
        except OSError as error:
            self.lose(_cause(error))
            return b""
        if not reply:
            self.lose("the server closed it")
        return reply

    def on_readable(self) -> None:
        """Take in what has arrived."""
        self._read(socket.MSG_DONTWAIT, 0.0)

    def _read(self, flags: int, deadline: float) -> bool:
        """Receive once; False when the kernel's timeout (or the lack of data) ended it."""
        try:
            target = None if flags or not self._is_stream else self._bulk_target()
            if target is None:
                data = self._sock.recv(RECEIVE, flags)
            else:
                reply = self._receive_bulk(target, deadline)
                if isinstance(reply, BulkReply):
                    self.core.settle(reply.xid, reply.result)
                    return True
                data = reply
        except BlockingIOError:
            return False
        except OSError as error:
            # Over UDP this is an ICMP message about an earlier datagram; only the deadline ends a call.
            if self._is_stream:
                self.lose(_cause(error))
            return True
        self.take(data)
        if data and self._tls is not None and self._tls.has_ended and self.is_open:
            self.take(b"")  # the peer may leave the socket open: nothing would report the end again
        return True

    def _bulk_target(self) -> Pending[t.Any] | None:
        """A call whose reply may be received in place, if the next one can be such a reply."""
        core = self.core
        if core.recorder is not None or core.windows or self._tls is not None:
            return None
        if not isinstance(core, StreamCore) or not core.assembler.is_idle:
            return None
        for pending in core.pending.values():
            if pending.bulk is None or pending.seals is not None:
                continue
            if pending.bulk.asked(pending.args) >= WORTH_IT:
                return pending
        return None

    def _receive_bulk(self, target: Pending[t.Any], deadline: float) -> BulkReply | bytes:
        pendings, procedure, bulk = self.core.pending, target.procedure, target.bulk
        assert bulk is not None

        def find(xid: int) -> tuple[t.Any, memoryview | None] | None:
            pending = pendings.get(xid)
            if (
                pending is None
                or pending.procedure is not procedure
                or pending.bulk is not bulk
                or pending.seals
            ):
                return None
            return pending.args, pending.into

        plan = self.core.plans.plan(procedure, target.credential)
        return self._receive_in_steps(plan, bulk, find, deadline)

    def _receive_in_steps(
        self, plan: Plan[t.Any], bulk: BulkResult[t.Any, t.Any], find: Find, deadline: float
    ) -> BulkReply | bytes:
        try:
            return self._bulk.receive(plan, bulk, find, deadline)
        except OSError:
            raise
        except BaseException:
            # Between two steps the stream would be out of step ever after.
            self.lose("a receive was interrupted")
            raise

    def complete(
        self,
        plan: Plan[R],
        bulk: BulkResult[t.Any, R],
        args: t.Any,
        into: memoryview | None,
        head: bytes,
        deadline: float,
    ) -> tuple[R | None, bytes]:
        """Receive the data of a reply whose head `exchange` gave: the result, or None and what was read."""
        if self._tls is not None:
            return None, head
        try:
            return self._bulk.complete(plan, bulk, args, into, head, deadline)
        except OSError as error:
            self.lose(_cause(error))
            return None, b""
        except BaseException:
            self.lose("a receive was interrupted")
            raise

    def take(self, data: bytes) -> None:
        """Give received bytes to the core and act on what comes out; none are the end of the stream."""
        for window in self.core.windows:
            window.release()
        if not data and self._is_stream:
            self.lose("the server closed it")
            return
        try:
            events = self.core.receive(data, self.loop.clock())
        except BadReply as error:
            for pending in list(self.core.pending.values()):
                self.core.cancel(pending, error)
            self.lose(error.why)
            return
        for event in events:
            if isinstance(event, CallReceived):
                self._answer(event.message)

    def _answer(self, message: bytes) -> None:
        if self.on_call is None:
            self.core.keep_stray(message)
            return
        answer = self.on_call(message)
        if answer is not None and self.is_open:
            self.send_reply(answer)

    def serve(self, answerer: Answerer) -> None:
        """Answer the calls that the server makes on this connection, while anything waits on its loop."""
        self.on_call = lambda message: answerer.answer(message, self.peer_address, self.core.transport)

    def send_reply(self, message: list[Buffer]) -> None:
        """Send a whole RPC message, such as a late reply to a call that `on_call` left unanswered.

        Does not wait. Raises `ConnectionLost` where the connection has ended, as it does for a server that reads none.
        """
        self.require_open("a reply to a call of the server")
        self.core.send_message(message)
        if not self._is_stream:
            self.flush(self.timeout)
            return
        self._unsent.append(memoryview(b"".join(self.core.take_output())))
        self.on_writable()
        if len(self._unsent) > MOST_UNREAD_REPLIES:
            self.lose("the server does not read the replies to its calls")

    # ------------------------------------------------------------ as a member of the loop

    def fileno(self) -> int:
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
            self.flush(self.timeout)


def _cause(error: OSError) -> str:
    return str(error.strerror or error)
