# SPDX-License-Identifier: MIT
"""Sockets that answer calls, as members of a loop. Bytes from the network never raise past the loop."""

from __future__ import annotations

import contextlib
import errno
import itertools
import socket
import typing as t
from collections import deque

from nfsclient.errors import BadReply
from nfsclient.rpc.channel import Answerer, Channel
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.record import Record, RecordAssembler, frame, size_of
from nfsclient.rpc.sockets import UDP_BUFFER, Address, address_of
from nfsclient.xdr import Buffer

if t.TYPE_CHECKING:
    import ssl

    from nfsclient.rpc.stream import Stream, TlsStream

MAX_RECORD = (4 << 20) + (64 << 10)
"""Longest call that is taken in: a WRITE of 4 MiB with room for its header."""
MAX_CONNECTIONS = 512
IDLE = 360.0
"""Seconds after which a connection without traffic is closed. Clients of NFS open another one when they need it."""
_ROUNDS = 6
"""Parts of that time. A connection is idle when nothing came or went in as many of them: a process that was stopped for
an hour has missed one part, and its clients no time at all."""
MAX_OUTPUT = 4 << 20
"""Bytes of replies held for a client that does not read, beyond which its calls wait; one reply may exceed it."""
MAX_BUFFERED = 64 << 20
"""Bytes of incomplete calls and of replies that wait, on all connections. Above it the one with the most is closed."""
_MUCH = 256 << 10
"""Bytes of one connection above which the server counts what all have."""
_RECEIVE = 64 << 10
_JOIN_BELOW = 32 << 10
_BUFFERS_AT_ONCE = 256
_NO_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_DATAGRAM = 65_535
_DATAGRAMS_AT_ONCE = 64
_MAX_UDP_REPLY = 65_000


class RpcServer:
    """Listens on any number of addresses and answers calls while the loop runs.

    What a subclass may do in another way: `admits`, `make_assembler`, `answer_record`, `answer_datagram`, `in_order`.
    """

    def __init__(
        self,
        loop: Loop,
        answerer: Answerer,
        *,
        max_record: int = MAX_RECORD,
        max_connections: int = MAX_CONNECTIONS,
        max_output: int = MAX_OUTPUT,
        max_buffered: int = MAX_BUFFERED,
        idle: float = IDLE,
    ) -> None:
        self.loop = loop
        self.answerer = answerer
        self.max_record = max_record
        self.max_connections = max_connections
        self.max_output = max_output
        self.max_buffered = max_buffered
        self.idle = idle
        self.tls: ssl.SSLContext | None = None
        """If set, what connections begin with from now on."""
        self.next_look = loop.clock() + idle / _ROUNDS
        """When to look for idle connections, by the clock of the loop."""
        self.is_starved = False
        """Whether the process is out of descriptors, so that nobody can be accepted."""
        self.connections: set[Connection] = set()
        self._listeners: list[_Listener | _Datagrams] = []

    def listen_tcp(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Accept connections; the address that was bound. Raises OSError."""
        sock = _bind(host, port, socket.SOCK_STREAM)
        sock.listen(128)
        return self._serve(_Listener(self, sock))

    def listen_udp(self, host: str = "127.0.0.1", port: int = 0) -> Address:
        """Answer datagrams; the address that was bound. Raises OSError."""
        return self._serve(_Datagrams(self, _bind(host, port, socket.SOCK_DGRAM)))

    def serve_socket(self, sock: socket.socket) -> Address:
        """Answer on a socket that is bound, and listens if it is of TCP; its address. It is closed with the others."""
        sock.setblocking(False)
        return self._serve((_Listener if sock.type is socket.SOCK_STREAM else _Datagrams)(self, sock))

    def leave_socket(self, sock: socket.socket) -> None:
        """Close a socket of `serve_socket` and the connections that came by it."""
        for member in [listener for listener in self._listeners if listener.sock is sock]:
            self._listeners.remove(member)
            self.loop.remove(member)
        for connection in [connection for connection in self.connections if connection.listener is sock]:
            connection.close()
        sock.close()

    def _serve(self, member: _Listener | _Datagrams) -> Address:
        self._listeners.append(member)
        self.loop.add(member)
        return address_of(member.sock.getsockname())

    # ------------------------------------------------------------ between bytes and messages

    def admits(self, peer: Address) -> bool:  # noqa: ARG002  (a subclass may look at it)
        """Whether a new connection is served; else it is closed at once."""
        return len(self.connections) < self.max_connections

    def make_assembler(self) -> RecordAssembler:
        """What makes records of the bytes of a new connection."""
        return RecordAssembler(self.max_record)

    def answer_record(self, connection: Connection, message: bytes) -> None:
        """Answer one call of a connection, if it is to be answered."""
        reply = self.answerer.answer(message, connection.peer, "tcp", connection.channel)
        if reply is not None:
            connection.send(frame(reply))

    def answer_datagram(self, sock: socket.socket, message: bytes, peer: t.Any) -> None:
        """Answer one call that came to `sock` from the socket address `peer`. May raise OSError."""
        reply = self.answerer.answer(message, address_of(peer), "udp")
        if reply is not None and size_of(reply) <= _MAX_UDP_REPLY:
            sock.sendto(b"".join(reply), peer)

    def in_order(self, replies: list[list[Buffer]]) -> list[list[Buffer]]:
        """Replies to calls that were received together, in the order in which they are sent."""
        return replies

    # ------------------------------------------------------------ life

    def make_room(self) -> None:
        """Close the connection that was idle for the longest time, if there are as many as there may be.

        So nobody shuts others out by doing nothing.
        """
        if len(self.connections) >= self.max_connections:
            min(self.connections, key=lambda connection: connection.used).close()

    def bound_buffered(self, current: Connection) -> None:
        """Close what holds the most while all connections together hold too much, `current` last of all."""
        buffered = sum(connection.buffered for connection in self.connections)
        while buffered > self.max_buffered and len(self.connections) > 1:
            greatest = max(
                (connection for connection in self.connections if connection is not current),
                key=lambda connection: (connection.buffered, -connection.used),
            )
            if not greatest.buffered:
                return
            buffered -= greatest.buffered
            greatest.close()

    def close_idle(self, now: float) -> None:
        """Close the connections on which nothing came or went for long, and set the time for the next look."""
        self.next_look = now + self.idle / _ROUNDS
        for connection in list(self.connections):
            connection.rounds += 1
            if connection.rounds > _ROUNDS and not connection.unanswered:
                connection.close()

    def close_when_idle_for(self, seconds: float | None) -> None:
        """Close connections from now on when they have been idle for as long; None: for the usual time."""
        idle = IDLE if seconds is None else seconds
        if idle != self.idle:
            self.idle = idle
            self.next_look = self.loop.clock() + idle / _ROUNDS
            self._note_listeners()

    def _note_listeners(self) -> None:
        """They may accept again, or look for idle connections at another time."""
        for member in self._listeners:
            self.loop.changed(member)

    def drop_connections(self) -> None:
        """Close the connections but go on listening: what clients see of a restart."""
        for connection in list(self.connections):
            connection.close()

    def forget(self, connection: Connection) -> None:
        """Stop serving a connection that closes itself."""
        self.connections.discard(connection)
        self.loop.remove(connection)
        self.is_starved = False
        self._note_listeners()

    def close(self) -> None:
        self.drop_connections()
        for member in self._listeners:
            self.loop.remove(member)
            member.sock.close()
        self._listeners.clear()


def _bind(host: str, port: int, kind: socket.SocketKind) -> socket.socket:
    family, _, proto, _, sockaddr = socket.getaddrinfo(host, port, type=kind, flags=socket.AI_PASSIVE)[0]
    sock = socket.socket(family, kind, proto)
    try:
        if kind is socket.SOCK_STREAM:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        else:
            with contextlib.suppress(
                OSError
            ):  # a client with a window sends more at once than the usual buffer has
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, UDP_BUFFER)
        sock.setblocking(False)
        sock.bind(sockaddr)
    except OSError:
        sock.close()
        raise
    return sock


class _ServerMember:
    """What the sockets of a server have in common as members of a loop."""

    def __init__(self, server: RpcServer, sock: socket.socket) -> None:
        self.server = server
        self.sock = sock

    def fileno(self) -> int:
        return self.sock.fileno()

    def wants_to_read(self) -> bool:
        return True

    def wants_to_write(self) -> bool:
        return False

    def on_writable(self) -> None:
        """Nothing waits here."""

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        """Nothing is timed here."""


class _Listener(_ServerMember):
    def wants_to_read(self) -> bool:
        return not self.server.is_starved

    def next_deadline(self) -> float | None:
        return self.server.next_look

    def on_deadline(self, now: float) -> None:
        self.server.close_idle(now)

    def on_readable(self) -> None:
        try:
            sock, peer = self.sock.accept()
        except OSError as error:
            # Out of descriptors: the next close makes room; until then the loop would only spin.
            self.server.is_starved = error.errno in _NO_DESCRIPTORS
            return
        self.server.make_room()
        if not self.server.admits(address_of(peer)):
            sock.close()
            return
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(self.server, sock, address_of(peer))
        connection.listener = self.sock
        if self.server.tls is not None:
            connection.start_tls(self.server.tls)
        self.server.connections.add(connection)
        self.server.loop.add(connection)


class Connection(_ServerMember):
    """One client. Its calls are executed in order; one that does not read its replies is not read either.

    `channel` makes calls to the client over the same connection.
    """

    def __init__(self, server: RpcServer, sock: socket.socket, peer: Address) -> None:
        super().__init__(server, sock)
        self._stream: Stream = sock
        self._tls: TlsStream | None = None
        self.peer = peer
        self.listener: socket.socket | None = None
        """What accepted it."""
        self.channel = Channel(self)
        self.used = server.loop.clock()
        """When the client last sent something, or read some of its replies, by the clock of the loop."""
        self.rounds = 0
        """How often the server has looked for idle connections since then."""
        self.unanswered = 0
        """Calls that are answered later: with one of them, the connection is not idle."""
        self._assembler = server.make_assembler()
        self._calls: deque[Record] = deque()
        """Messages that wait because too much output does; they are all of one receive."""
        self._replies: list[list[Buffer]] | None = None
        """Replies to calls of one receive, before they become output; None while no calls are answered."""
        self._output: deque[memoryview] = deque()
        self._output_size = 0
        self._is_last = False
        """Whether nothing more is to be read: the connection closes when its output is sent."""
        self._is_closed = False

    def _note_use(self) -> None:
        self.used, self.rounds = self.server.loop.clock(), 0

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.server.forget(self)
            self._stream.close()
            self.channel.lose("the connection has ended")

    @property
    def is_open(self) -> bool:
        """Whether the client may still send something, and read it."""
        return not self._is_closed and not self._is_last

    @property
    def is_choked(self) -> bool:
        """Whether the client reads so slowly that nothing more is to be sent but replies."""
        return self._output_size >= self.server.max_output

    @property
    def buffered(self) -> int:
        """Bytes that are kept for it: replies that wait, and what is there of a call that is not complete."""
        return self._output_size + self._assembler.buffered

    def now(self) -> float:
        """Seconds, by the clock of the loop."""
        return self.server.loop.clock()

    def note_deadline(self) -> None:
        self.server.loop.changed(self)

    def next_deadline(self) -> float | None:
        return self.channel.next_deadline()

    def on_deadline(self, now: float) -> None:
        self.channel.on_deadline(now)

    def has_ended(self) -> bool:
        """Whether the client has said that no more calls will come."""
        if self._is_last:
            return True
        with contextlib.suppress(OSError):
            return self._stream.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        return False

    def wants_to_read(self) -> bool:
        """Not while its replies wait."""
        return not self._is_last and not self._calls and self._output_size < self.server.max_output

    def wants_to_write(self) -> bool:
        return bool(self._output) if self._tls is None else self._tls.wants_to_write(bool(self._output))

    def start_tls(self, context: ssl.SSLContext) -> None:
        """Use TLS from now on, as the server of the handshake; what has been sent and received so far is plain."""
        from nfsclient.rpc.stream import TlsStream  # with ssl, which nearly no connection needs

        self._stream = self._tls = TlsStream(self.sock, context, server_side=True)
        self.server.loop.changed(self)

    def on_readable(self) -> None:
        """Receive messages, and answer them."""
        try:
            data = self._stream.recv(_RECEIVE)
        except BlockingIOError:
            return
        except OSError:
            self.close()
            return
        self._note_use()
        # A half-closed connection still gets its replies, and so does one that broke after good calls.
        self._is_last = not data or (self._tls is not None and self._tls.has_ended)
        try:
            self._calls.extend(self._assembler.feed(data))
        except BadReply:
            self._is_last = True
        if self._assembler.broken is not None:
            self._is_last = True
        if self.buffered > _MUCH:
            self.server.bound_buffered(self)
        self.on_writable()

    def on_writable(self) -> None:
        """Send what waits, and answer the calls that waited for that."""
        self.server.loop.changed(self)
        while not self._is_closed:
            self._answer()
            if not self._flush() or self.wants_to_write():
                return
            if not self._calls:
                if self._is_last:
                    self.close()
                return

    def _answer(self) -> None:
        # A subclass may answer calls of this connection while it answers one: those replies come after the ones so far.
        outer, self._replies = self._replies, []
        while outer:
            self._put(outer.pop(0))
        try:
            while self._calls and self._output_size < self.server.max_output and not self._is_closed:
                record = self._calls.popleft()
                if not self.channel.take(record):
                    self.server.answer_record(self, record.payload())
        finally:
            replies, self._replies = self._replies, outer
            for reply in self.server.in_order(replies):
                self._put(reply)

    def send(self, buffers: list[Buffer]) -> None:
        """Send a reply or a call: after the replies to the calls that were received together with its own."""
        size = size_of(buffers)
        if size <= _JOIN_BELOW:
            buffers = [b"".join(buffers)]
        self._output_size += size
        if self._output_size > _MUCH:
            self.server.bound_buffered(self)
        if self._replies is None:
            self._put(buffers)
            self.server.loop.changed(self)
        else:
            self._replies.append(buffers)

    def _put(self, buffers: list[Buffer]) -> None:
        for buffer in buffers:
            if buffer:
                view = memoryview(buffer)
                self._output.append(view if view.format == "B" else view.cast("B"))

    def end(self) -> None:
        """Send the replies so far, and close the connection instead of answering more calls."""
        self._calls.clear()
        self._is_last = True
        self.server.loop.changed(self)

    def _flush(self) -> bool:
        """Send as much as there is room for; False when the connection is lost."""
        output = self._output
        try:
            if self._tls is not None:
                self._tls.flush()
            while output:
                if len(output) == 1:
                    sent = self._stream.send(output[0])
                else:
                    sent = self._stream.sendmsg(itertools.islice(output, _BUFFERS_AT_ONCE))
                self._output_size -= sent
                self._note_use()
                while output and sent >= len(output[0]):
                    sent -= len(output.popleft())
                if sent:
                    output[0] = output[0][sent:]
        except BlockingIOError:
            pass
        except OSError:
            self.close()
            return False
        return True


class _Datagrams(_ServerMember):
    def on_readable(self) -> None:
        for _ in range(_DATAGRAMS_AT_ONCE):
            try:
                data, peer = self.sock.recvfrom(_DATAGRAM)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno == errno.ECONNREFUSED:
                    continue
                return
            with contextlib.suppress(OSError):
                self.server.answer_datagram(self.sock, data, peer)
