# SPDX-License-Identifier: MIT
"""The plan inside a connection of the library: between its socket and the client that uses it, on the client's loop.

It needs no privilege, keeps the source port, and works for one client. The client gets one end of a pair of sockets;
what it writes there goes through a `Flow` to the real socket, and back. Both belong to the client's loop, so a server
in the same process is served meanwhile, and time is that of the loop.

    client --`_Front`==pair of sockets==`_Side` client -- flow -- `_Side` server--real socket--> server

    state of a side    `is_over`, `is_finishing`    what moves it
    open               no, no                       -
    over               yes                          nothing more comes from there: the other side finishes with the flow
    finishing          yes, for the other side      half-closed as soon as what is unsent has gone
    closed             `_Way._is_over`              a reset, a record that is too long, a rule that ends the connection

What must stay true:

- What no rule wants passes in the order in which it came: a whole record or a part of one is written before the next
  bytes of that side are looked at.
- Events that were to go at different times go in different turns of the loop (`run`), however late the loop is:
  pieces that were to arrive apart must not arrive together.
- The end of one side is passed on only when nothing waits in the flow: what is delayed still arrives before the end.
- A replay from the same port replaces the real socket: the new one is bound before the old one is closed, or another
  process could get the port. `_Front` keeps the addresses that the client has seen.
- Datagrams go into the flow in `_Front.send`, at once: a pair of sockets that is full would block the loop that
  empties it.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import typing as t
from collections import deque

from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsfaults import with_scapy
from nfsfaults.matcher import Event, Finish, Flow, Matcher, SendElsewhere, Write
from nfsfaults.messages import Toward
from nfsfaults.names import BadPlan
from nfsfaults.plan import Plan
from nfsfaults.records import RecordDivider, TooLong, Whole

_RECEIVE: t.Final = 1 << 16
_MOST_ELSEWHERE: t.Final = 64
"""Further connections for replays; of more, the oldest is closed."""
_CONNECT_SECONDS: t.Final = 10.0
_RESET: t.Final = struct.pack("ii", 1, 0)
"""SO_LINGER: closing resets the connection."""


class Inside:
    """Carries a plan out in the connections that were given to it; its rules count the messages of all together."""

    def __init__(self, plan: Plan) -> None:
        """Raises `BadPlan` for a plan that needs packets that no socket makes, `NoScapy` for one with a function."""
        if "packets" in plan.needs:
            raise BadPlan(f"{plan.about_packets} is about packets, which a socket does not make")
        if plan.needs_scapy:
            with_scapy.making()
        self.matcher = Matcher(plan)
        self.failures = self.matcher.failures
        """What of the plan could not be carried out, and why."""
        self._ways: list[_Way] = []

    @property
    def unfired(self) -> list[str]:
        """The rules that had to act and did not."""
        return [rule.label for rule in self.matcher.unfired]

    def attach(self, client: RpcClient) -> None:
        """Stand between a client and its socket from now on, after it has reconnected too."""
        client.pass_through(lambda sock: self._stand_before(sock, client.loop))

    def _stand_before(self, sock: socket.socket, loop: Loop) -> socket.socket:
        way = _Way(self.matcher, sock, loop, self.failures)
        self._ways.append(way)
        return way.front

    def close(self) -> None:
        """End the connections that are left."""
        for way in self._ways:
            way.close()
        self._ways.clear()


class _Front(socket.socket):
    """What the client has in place of its socket."""

    def __init__(self, end: socket.socket, way: _Way, real: socket.socket) -> None:
        super().__init__(fileno=end.detach())
        self._way = way
        self._names = (real.getsockname(), real.getpeername())

    def getsockname(self) -> t.Any:
        """That of the real socket, as for the peer."""
        return self._names[0]

    def getpeername(self) -> t.Any:
        return self._names[1]

    def setsockopt(self, level: int, option: int, value: t.Any, *more: t.Any) -> None:
        """How the connection ends is the affair of the real socket."""
        if (level, option) == (socket.SOL_SOCKET, socket.SO_LINGER):
            self._way.server.set_linger(value)
        else:
            super().setsockopt(level, option, value, *more)

    def send(self, data: t.Any, flags: int = 0, /) -> int:
        """Send. A datagram goes into the flow at once: a full buffer would block the loop that empties it."""
        if self._way.is_stream:
            return super().send(data, flags)
        datagram = bytes(data)
        self._way.received(self._way.client, datagram)
        return len(datagram)

    def close(self) -> None:
        super().close()
        self._way.close()


class _Side:
    """A socket of a way as a member of the loop: what it receives goes toward the other side."""

    def __init__(self, way: _Way, name: Toward, sock: socket.socket) -> None:
        self._way = way
        self.name: Toward = name
        self.sock = sock
        self.divider = RecordDivider(lambda head: way.passes(head, self.toward))
        self.unsent: deque[memoryview] = deque()
        self.is_over = False
        """Whether nothing more comes from there."""
        self.is_finishing = False
        """Whether nothing more goes there once all has gone."""

    @property
    def toward(self) -> Toward:
        """Where its messages go."""
        return "client" if self.name == "server" else "server"

    def fileno(self) -> int:
        return self.sock.fileno()

    def wants_to_read(self) -> bool:
        return not self.is_over

    def wants_to_write(self) -> bool:
        return bool(self.unsent)

    def next_deadline(self) -> float | None:
        """The flow has one deadline, which is that of the side of the server."""
        return self._way.deadline if self.name == "server" else None

    def on_deadline(self, now: float) -> None:  # noqa: ARG002  (the way looks at the clock itself)
        self._way.run()

    def on_readable(self) -> None:
        try:
            data = self.sock.recv(_RECEIVE, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            if self._way.is_stream:
                self._way.lost(self)
            return  # over UDP: an ICMP message about an earlier datagram
        if data or not self._way.is_stream:
            self._way.received(self, data)
        else:
            self._way.ended(self)

    def write(self, data: bytes) -> None:
        """Send, as soon as there is room."""
        self.unsent.append(memoryview(data))
        self.on_writable()

    def on_writable(self) -> None:
        try:
            while self.unsent:
                sent = self.sock.send(self.unsent[0], socket.MSG_DONTWAIT)
                if sent == len(self.unsent[0]) or not self._way.is_stream:
                    self.unsent.popleft()
                else:
                    self.unsent[0] = self.unsent[0][sent:]
        except BlockingIOError:
            pass
        except OSError:
            self.unsent.clear()
        self._way.note(self)
        if self.is_finishing and not self.unsent:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_WR)

    def finish(self) -> None:
        """Half-close when everything has gone."""
        self.is_finishing = True
        self.on_writable()

    def set_linger(self, value: t.Any) -> None:
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, value)


class _Way:
    """One connection: the pair of sockets, the real one, and the flow between them."""

    def __init__(self, matcher: Matcher, real: socket.socket, loop: Loop, failures: list[str]) -> None:
        kind = real.type
        self._failures = failures
        self.is_stream = kind is socket.SOCK_STREAM
        self.flow: Flow = matcher.flow("tcp" if self.is_stream else "udp")
        self._loop = loop
        outer, inner = socket.socketpair(socket.AF_UNIX, kind)
        self.client = _Side(self, "client", inner)
        self.server = _Side(self, "server", real)
        self.front = _Front(outer, self, real)
        self._elsewhere: deque[_Elsewhere] = deque()
        self._due: deque[Event] = deque()
        """What is late: it goes in later turns of the loop."""
        self._is_over = False
        for side in (self.client, self.server):
            loop.add(side)

    def note(self, side: _Side) -> None:
        """The wishes or the deadline of a side may be different."""
        self._loop.changed(side)

    def passes(self, head: bytes, toward: Toward) -> bool:
        """Whether a message that begins with `head` passes by the flow."""
        heading = self.flow.tracker.heading(head, toward)
        if heading is None or not self.flow.is_clear(heading, toward):
            return False
        self.flow.pass_by(heading, toward)
        return True

    def _side(self, toward: Toward) -> _Side:
        return self.server if toward == "server" else self.client

    def received(self, side: _Side, data: bytes) -> None:
        """Bytes of one side."""
        if not self.is_stream:
            self.flow.receive(self._loop.clock(), data, side.toward)
            self.run()
            return
        try:
            for part in side.divider.feed(data):
                if isinstance(part, Whole):
                    self.flow.receive(self._loop.clock(), part.data, side.toward, part.sizes)
                    self.run()
                else:
                    self._side(side.toward).write(part)
        except TooLong:
            self.close()

    @property
    def deadline(self) -> float | None:
        """When something is to be done next."""
        return self._due[0].at if self._due else self.flow.deadline

    def run(self) -> None:
        """Carry out what is due; of what was to go at different times, only the first.

        A loop that is late would otherwise join pieces that were to arrive apart. In its next turn a server on the same
        loop has read what went before.
        """
        self._due.extend(self.flow.events(self._loop.clock()))
        until = self._due[0].at if self._due else 0.0
        while self._due and self._due[0].at <= until and not self._is_over:
            self._carry_out(self._due.popleft())
        self.note(self.server)  # which has the deadline
        if self.deadline is None:
            self._drain()

    def _carry_out(self, event: Event) -> None:
        match event:
            case Write(_, toward, data):
                self._side(toward).write(data)
            case Finish(_, _, how):
                if how == "reset":
                    self.server.set_linger(_RESET)
                self.close()
            case SendElsewhere(_, "server", data, via):
                self._send_elsewhere(data, same_port=via == "same-port")
            case _:
                pass  # a reply cannot be replayed on another connection

    def ended(self, side: _Side) -> None:
        """A side sends nothing more."""
        side.is_over = True
        if side.divider.waiting:
            self._side(side.toward).write(side.divider.pending)
        if self.deadline is None:
            self._drain()

    def lost(self, side: _Side) -> None:
        """A side was reset."""
        side.is_over = True
        self.close()

    def _drain(self) -> None:
        for side in (self.client, self.server):
            other = self._side(side.toward)
            if side.is_over and not other.is_finishing and not self._is_over:
                other.finish()

    def close(self) -> None:
        """End everything at once."""
        if self._is_over:
            return
        self._is_over = True
        for side in (self.client, self.server):
            side.on_writable()
            self._loop.remove(side)
            side.sock.close()
        for sock in self._elsewhere:
            sock.close()
        self._elsewhere.clear()

    # Replays on other connections

    def _send_elsewhere(self, data: bytes, *, same_port: bool) -> None:
        """Send a message from the same port on a new connection, which replaces this one, or from another port."""
        old = self.server.sock
        local, peer, family = old.getsockname(), old.getpeername(), old.family
        framed = (0x8000_0000 | len(data)).to_bytes(4, "big") + data if self.is_stream else data
        if same_port and not self.is_stream:
            self.server.write(framed)
            return
        sock = socket.socket(family, old.type)
        try:
            sock.settimeout(_CONNECT_SECONDS)
            if same_port:
                # Bound before the old one closes: meanwhile another process would get the port.
                for each in (old, sock):
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind(local)
                self._loop.remove(self.server)
                self.server.set_linger(_RESET)
                old.close()
            sock.connect(peer)
            sock.settimeout(None)
        except OSError as error:
            sock.close()
            via = f"from port {local[1]} again" if same_port else "from another port"
            self._failures.append(f"a call could not be sent on a new connection {via}: {error}")
            if old.fileno() < 0:
                self.close()
            return
        if same_port:
            self.server = _Side(self, "server", sock)
            self._loop.add(self.server)
            self.server.write(framed)
            return
        if len(self._elsewhere) >= _MOST_ELSEWHERE:
            self._elsewhere.popleft().close()
        self._elsewhere.append(_Elsewhere(sock, self._loop))
        sock.sendall(framed)


class _Elsewhere:
    """A further connection to the server; nobody gets what it answers."""

    def __init__(self, sock: socket.socket, loop: Loop) -> None:
        self._sock = sock
        self._loop = loop
        self._is_open = True
        loop.add(self)

    def fileno(self) -> int:
        return self._sock.fileno()

    def wants_to_read(self) -> bool:
        return True

    def wants_to_write(self) -> bool:
        return False

    def on_writable(self) -> None:
        """Nothing waits."""

    def on_readable(self) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                if self._sock.recv(_RECEIVE, socket.MSG_DONTWAIT) or self._sock.type is socket.SOCK_DGRAM:
                    return
            except BlockingIOError:
                raise
            except OSError:
                pass
            self.close()

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        """Nothing is timed."""

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._loop.remove(self)
            self._sock.close()
