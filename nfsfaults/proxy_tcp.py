# SPDX-License-Identifier: MIT
"""A TCP connection through the proxy: the client's socket, the one to the server, and the flow between them.

    state         what the client sends      what ends it
    connecting    is kept in `_early`        the connection to the server is there; it cannot be made: over
    open          goes through the flow      a side sends nothing more: draining; a replay from the same port: moving
    moving        is kept in `_early`        the new connection to the server is there: open
    draining      its rest, then the end     the flow is empty: half-closed; the other side has ended too: over
    over          nothing                    -

What must stay true:

- The end of one direction does not end the other: a client that half-closes still gets its replies. It is passed on
  when everything before it has left the flow.
- Memory is bounded on each way: what waits in the flow (`_MOST_QUEUED`) and what the kernel does not take
  (`_WRITE_BUFFER`) stop the reading of the other side; `_early` has its own limit (`_MOST_EARLY`).
- The events of a socket that was replaced go to `_Nobody`: its end is no end of the connection.
- A reset comes `_RESET_AFTER` the last bytes, or the kernel would discard them.
- `finish` happens once, whoever calls it first.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import typing as t

from nfsfaults.matcher import Finish, Flow, SendElsewhere, Write
from nfsfaults.messages import Toward
from nfsfaults.proxy_sockets import Passed, Settings, abort, connected, other, source_of
from nfsfaults.records import RecordDivider, TooLong, Whole

_WRITE_BUFFER: t.Final = 4 << 20
_MOST_QUEUED: t.Final = 64 << 20
"""Bytes of messages that wait in a flow before its sources are read no further."""
_MOST_EARLY: t.Final = 4 << 20
_CONNECT_SECONDS: t.Final = 10.0
_RESET_AFTER: t.Final = 0.005
"""Seconds between the last bytes of a connection and its reset, which would discard them otherwise."""


class Owner(t.Protocol):
    """What a connection needs of its proxy."""

    @property
    def moves(self) -> bool:
        """Whether the plan may replace a connection to the server by another one from the same port."""

    def flow(self) -> Flow:
        """A new flow of the plan."""

    def start(self, work: t.Coroutine[t.Any, t.Any, None]) -> None:
        """Run something next to the connection, until the proxy closes."""

    def forget(self, connection: Connection) -> None:
        """The connection is over."""

    def ends(self, transport: asyncio.Transport) -> None:
        """A side of a connection that is over ends soon, or when it has sent what waits."""

    def wants(self, program: int) -> bool:
        """Whether messages of a program are needed whole."""

    def rewritten(self, data: bytes, flow: Flow, toward: Toward) -> bytes:
        """A message with the proxy's ports in place of the server's."""


class _Socket(asyncio.Protocol):
    """One side of a connection: what it receives goes toward the other side."""

    def __init__(self, pair: Connection, side: Toward) -> None:
        self.pair: Connection | _Nobody = pair
        self.side: Toward = side
        self.transport: asyncio.Transport | None = None
        self.divider = RecordDivider(lambda head: pair.passes(head, other(side)))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = t.cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=_WRITE_BUFFER)
        raw = transport.get_extra_info("socket")
        if raw is not None and raw.family in {socket.AF_INET, socket.AF_INET6}:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.pair.opened(self)

    def data_received(self, data: bytes) -> None:
        self.pair.received(self, data)

    @property
    def is_open(self) -> bool:
        """Whether it can still be written to."""
        return self.transport is not None and not self.transport.is_closing()

    def eof_received(self) -> bool:
        self.pair.half_closed(self)
        return True  # the other direction may still carry replies

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.pair.lost(self)

    def pause_writing(self) -> None:
        self.pair.read_from(other(self.side), False)

    def resume_writing(self) -> None:
        self.pair.read_from(other(self.side), True)


class Connection:
    """A client's connection, and the one to the server that belongs to it."""

    def __init__(self, proxy: Owner, number: int, settings: Settings) -> None:
        self.number = number
        self._proxy = proxy
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._flow = proxy.flow()
        self._sockets: dict[Toward, _Socket] = {}
        self._early: list[bytes] = []
        """What the client sent before the connection to the server was there."""
        self._timer: asyncio.TimerHandle | None = None
        self._ended: set[Toward] = set()
        """The sides that send nothing more."""
        self._connecting: asyncio.Task[None] | None = None
        self._moving = False
        """Whether the connection to the server is being replaced by one from the same port."""
        self.is_over = False

    # The sockets

    def accept(self) -> _Socket:
        """The protocol of the client's connection."""
        return _Socket(self, "client")

    def opened(self, end: _Socket) -> None:
        if self.is_over and end.transport is not None:  # the proxy has closed while it was accepted
            end.transport.abort()
        elif end.side == "client":
            self._sockets["client"] = end
            self._connecting = self._loop.create_task(self._connect())

    async def _connect(self, port: int | None = None) -> None:
        client = self._sockets["client"].transport
        assert client is not None
        if port is None:
            port = source_of(self._settings.source_port, client.get_extra_info("peername"))
        try:
            server = await asyncio.wait_for(self._dial(port), _CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            host, number = self._settings.upstream
            why = str(error) or f"no answer within {_CONNECT_SECONDS:g} s"
            self._settings.note(f"connection {self.number}: cannot connect to {host} port {number}: {why}")
            self.finish("close")
            return
        if self.is_over:
            assert server.transport is not None
            server.transport.abort()
            return
        self._sockets["server"] = server
        self._moving = False
        early, self._early = self._early, []
        for data in early:
            self._write("server", data)
        if "client" in self._ended:
            self._drain()

    async def _dial(self, port: int | None) -> _Socket:
        """A new connection to the server; `port` 0 or None: from any port."""
        sock = await connected(self._settings.upstream, port or 0, bind_any=self._proxy.moves)
        made = await asyncio.get_running_loop().create_connection(lambda: _Socket(self, "server"), sock=sock)
        return made[1]

    # What passes

    def passes(self, head: bytes, toward: Toward) -> bool:
        """Whether a message that begins with `head` passes by the flow."""
        heading = self._flow.tracker.heading(head, toward)
        if heading is None or self._proxy.wants(heading.program) or not self._flow.is_clear(heading, toward):
            return False
        self._flow.pass_by(heading, toward)
        return True

    def received(self, end: _Socket, data: bytes) -> None:
        """Bytes from one side."""
        self._report(end, False, data)
        toward = other(end.side)
        try:
            for part in end.divider.feed(data):
                if isinstance(part, Whole):
                    message = self._proxy.rewritten(part.data, self._flow, toward)
                    sizes = part.sizes if message is part.data else ()
                    self._flow.receive(self._loop.time(), message, toward, sizes)
                    self._run()
                else:
                    self._write(toward, part)
        except TooLong as error:
            self._settings.note(f"connection {self.number}: {error}; closed")
            self.finish("reset")
            return
        if self._flow.queued > _MOST_QUEUED:
            self.read_from(end.side, False)

    def _write(self, toward: Toward, data: bytes) -> None:
        end = self._sockets.get(toward)
        if end is None or end.transport is None or (self._moving and toward == "server"):
            if toward == "server" and not self.is_over:
                self._early.append(data)
                if sum(map(len, self._early)) > _MOST_EARLY:
                    self.read_from("client", False)
            return
        if end.transport.is_closing():
            return
        self._report(end, True, data)
        end.transport.write(data)

    def _report(self, end: _Socket, sent: bool, data: bytes, *, ended: bool = False) -> None:
        if self._settings.tap is None or end.transport is None:
            return
        local = end.transport.get_extra_info("sockname")[:2]
        peer = end.transport.get_extra_info("peername")[:2]
        now = self._loop.time()
        self._settings.tap(Passed(now, self.number, end.side, sent, data, "tcp", local, peer, ended))

    def _run(self) -> None:
        """Carry out what is due, and set the timer for what comes next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # A timer may come a little early: what is due within a tick goes with it.
        for event in self._flow.events(self._loop.time() + self._settings.early):
            if self.is_over:
                return
            match event:
                case Write(_, toward, data):
                    self._write(toward, data)
                case Finish(_, _, how):
                    self.finish(how)
                case SendElsewhere():
                    self._send_elsewhere(event)
        if self._flow.queued <= _MOST_QUEUED // 2:
            for side in self._sockets:
                self.read_from(side, True)
        deadline = self._flow.deadline
        if deadline is not None:
            self._timer = self._loop.call_at(deadline, self._run)
        else:
            self._drain()

    def read_from(self, side: Toward, wanted: bool) -> None:
        """Read from a side, or stop it for now."""
        end = self._sockets.get(side)
        if end is None or end.transport is None or end.transport.is_closing():
            return
        if wanted and not end.transport.is_reading():
            target = self._sockets.get(other(side))
            is_full = (
                target is not None
                and target.transport is not None
                and (target.transport.get_write_buffer_size() > _WRITE_BUFFER)
            )
            if not is_full and side not in self._ended:
                end.transport.resume_reading()
        elif not wanted and end.transport.is_reading():
            end.transport.pause_reading()

    # Replays on other connections

    def _send_elsewhere(self, event: SendElsewhere) -> None:
        data = (0x8000_0000 | len(event.data)).to_bytes(4, "big") + event.data
        if event.toward != "server":
            self._settings.note("a reply cannot be replayed on another connection: not sent")
        elif event.via == "same-port":
            self._replace(data)
        else:
            self._proxy.start(self._send_once(data))

    def _replace(self, data: bytes) -> None:
        """Close the connection to the server, open another one from the same port, and send `data` first."""
        old = self._sockets.pop("server", None)
        if old is None or old.transport is None:
            self._early.insert(0, data)
            return
        port = old.transport.get_extra_info("sockname")[1]
        self._moving = True
        self._early.insert(0, data)
        old.pair = _Nobody(self)
        abort(old.transport)
        self._connecting = self._loop.create_task(self._connect(port))

    async def _send_once(self, data: bytes) -> None:
        """Send on a separate connection and read what is answered; nobody gets the answer."""
        try:
            raw = await asyncio.wait_for(connected(self._settings.upstream, 0), _CONNECT_SECONDS)
            reader, writer = await asyncio.open_connection(sock=raw)
            with contextlib.closing(writer):  # also when the proxy ends meanwhile
                writer.write(data)
                await writer.drain()
                await asyncio.wait_for(reader.read(1 << 16), _CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            self._settings.note(f"a replay on another connection failed: {str(error) or 'no answer'}")

    # The end

    def half_closed(self, end: _Socket) -> None:
        """A side sends nothing more: pass that on when everything before it has gone."""
        self._ended.add(end.side)
        if end.divider.waiting:
            self._write(other(end.side), end.divider.pending)
        self._drain()

    def _drain(self) -> None:
        if self._flow.deadline is not None:
            return
        for side in list(self._ended):
            target = self._sockets.get(other(side))
            if target is not None and target.is_open and target.transport is not None:
                target.transport.write_eof()
        if len(self._ended) == 2:
            self.finish("close")

    def lost(self, end: _Socket) -> None:
        """A side is gone: so is the other one, once it has what was for it."""
        if self._sockets.get(end.side) is end:
            self.finish("close")

    def finish(self, how: t.Literal["close", "reset"]) -> None:
        """End both sides."""
        if self.is_over:
            return
        self.is_over = True
        if self._timer is not None:
            self._timer.cancel()
        if self._connecting is not None:
            self._connecting.cancel() if not self._connecting.done() and "server" not in self._sockets else None
        for end in self._sockets.values():
            if end.transport is None:
                continue
            self._report(end, True, b"", ended=True)
            self._proxy.ends(end.transport)
            if how == "close":
                end.transport.close()
            else:
                self._loop.call_later(_RESET_AFTER, abort, end.transport)
        self._proxy.forget(self)


class _Nobody:
    """Takes the events of a socket that was replaced."""

    def __init__(self, pair: Connection) -> None:
        self.number = pair.number
        self.is_over = True

    def opened(self, end: _Socket) -> None: ...
    def received(self, end: _Socket, data: bytes) -> None: ...
    def half_closed(self, end: _Socket) -> None: ...
    def lost(self, end: _Socket) -> None: ...
    def read_from(self, side: Toward, wanted: bool) -> None: ...
