# SPDX-License-Identifier: MIT
"""The private networks as a program uses them: sockets on either side, and what the bridge sees of both."""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import socket
import subprocess
import sys
import typing as t
from dataclasses import asdict
from pathlib import Path

from nfsclient.errors import ConnectFailed
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import DatagramCore, StreamCore
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.sockets import format_address
from nfsfaults.bridge.keeper import CLIENT, MOST_BYTES, SERVER, Place

Side: t.TypeAlias = t.Literal["client", "server"]
Proto: t.TypeAlias = t.Literal["tcp", "udp"]
NEEDS: t.Final = "root, or a kernel and a container that let users make user and network namespaces"
_SECONDS: t.Final = 20.0
_ROOT: t.Final = Path(__file__).resolve().parents[2]


class NoNetworks(Exception):
    """The networks cannot be made. The text says what was tried and what is needed, in one line."""


class _Forker:
    """The process that forks one for each pair of networks; it is started for the first and ends with this process."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  (this interpreter, and a module of this package)
                [sys.executable, "-m", "nfsfaults.bridge.keeper", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": str(_ROOT)},
            )
        atexit.register(self.end)

    @property
    def is_usable(self) -> bool:
        """Whether it runs, and is of this process: one that was forked has to start another."""
        return self._pid == os.getpid() and self._process.poll() is None

    def fork_for(self, place: Place, line: socket.socket) -> None:
        """Have networks made, whose process is at the other end of `line`. Raises OSError."""
        socket.send_fds(self._requests, [json.dumps(asdict(place)).encode()], [line.fileno()])

    def end(self) -> None:
        """End it. Networks that exist are not affected."""
        self._requests.close()
        if self._pid != os.getpid():
            return
        try:
            self._process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Forkers:
    """The one of this process, if it has been needed."""

    current: _Forker | None = None

    @classmethod
    def fork_for(cls, place: Place, line: socket.socket) -> None:
        """As the method of `_Forker`; one that has died is replaced."""
        if cls.current is None or not cls.current.is_usable:
            cls.current = _Forker()
        cls.current.fork_for(place, line)


class Networks:
    """Two private networks with a bridge between them. They end with `close`, and with this process."""

    def __init__(self, place: Place | None = None) -> None:
        """Raises `NoNetworks`."""
        self.place = place or Place()
        if not sys.platform.startswith("linux"):
            raise NoNetworks(f"private networks need Linux, this is {sys.platform}")
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.settimeout(_SECONDS)
        try:
            with theirs:
                _Forkers.fork_for(self.place, theirs)
            taps = self._receive(2)
        except OSError as error:
            self.close()
            raise NoNetworks(f"no private network ({error}): it needs {NEEDS}") from error
        self.process: int = self._answer["process"]
        """The process of the networks: they end with it."""
        self.taps: dict[Side, socket.socket] = {"client": taps[0], "server": taps[1]}
        """What the bridge receives from a side, and sends to it: Ethernet frames."""

    def _receive(self, count: int) -> list[socket.socket]:
        """The sockets of an answer. Raises OSError."""
        data, descriptors, _, _ = socket.recv_fds(self._line, MOST_BYTES, count, socket.MSG_CMSG_CLOEXEC)
        sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        self._answer = json.loads(data or b'{"error": "the process that makes it has ended"}')
        if "error" in self._answer:
            raise OSError(self._answer["error"])
        return sockets

    def socket_on(
        self, side: Side, proto: Proto, port: int | None = None, *, listens: bool = False
    ) -> socket.socket:
        """A new socket on a side; bound unless `port` is None. Raises OSError."""
        wanted = {"side": side, "kind": proto, "port": port, "listens": listens}
        self._line.send(json.dumps(wanted).encode())
        (made,) = self._receive(1)
        return made

    def dial(
        self, proto: Proto, port: int, loop: Loop, timeout: float, source_port: int | None = None
    ) -> socket.socket:
        """A socket of the client that is connected to the server. The loop runs meanwhile: it has the bridge.

        Raises `ConnectFailed`.
        """
        where = format_address(self.place.server, port)
        try:
            sock = self.socket_on("client", proto, source_port)
        except OSError as error:
            raise ConnectFailed(where, str(error)) from error
        failure = _connect(sock, (self.place.server, port), loop, timeout)
        if failure:
            sock.close()
            raise ConnectFailed(where, failure)
        if proto == "tcp":
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def connect(
        self,
        proto: Proto,
        port: int,
        loop: Loop,
        *,
        timeout: float,
        credential: Credential | None = None,
        source_port: int | None = None,
        first_interval: float = 0.7,
    ) -> RpcClient:
        """A client on the client's side, connected to the server's. Raises `ConnectFailed`."""

        def dial(preferred: int | None = None) -> socket.socket:
            return self.dial(proto, port, loop, timeout, source_port if preferred is None else preferred)

        def make_core(peer: str) -> StreamCore | DatagramCore:
            if proto == "tcp":
                return StreamCore(peer=peer)
            return DatagramCore(peer=peer, first_interval=first_interval)

        client = RpcClient(dial, make_core, loop=loop, credential=credential, timeout=timeout)
        client.redial = dial
        return client

    def close(self) -> None:
        """End the networks; sockets that others still have keep theirs until they close them."""
        for tap in getattr(self, "taps", {}).values():
            tap.close()
        with contextlib.suppress(OSError), self._line as line:
            line.shutdown(socket.SHUT_WR)
            if self.place.is_here:
                while line.recv(MOST_BYTES):  # until nothing of them is left where others may make the same
                    pass


def _connect(sock: socket.socket, address: tuple[str, int], loop: Loop, timeout: float) -> str:
    """Connect while the loop runs; why it failed, or nothing."""
    sock.setblocking(False)
    waiter = _Connecting(sock)
    number = sock.connect_ex(address)
    if number == errno.EINPROGRESS:
        loop.add(waiter)
        is_there = loop.run_until(lambda: waiter.is_done, loop.clock() + timeout)
        loop.remove(waiter)
        if not is_there:
            return "no answer in time"
        number = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    sock.setblocking(True)
    return os.strerror(number) if number else ""


class _Connecting:
    """A socket on its way to be connected, as a member of the loop."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.is_done = False

    def fileno(self) -> int:
        return self._sock.fileno()

    def wants_to_read(self) -> bool:
        return False

    def wants_to_write(self) -> bool:
        return not self.is_done

    def on_readable(self) -> None:
        """Nothing is read here."""

    def on_writable(self) -> None:
        self.is_done = True

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        """Nothing is timed here."""


__all__ = ["CLIENT", "NEEDS", "SERVER", "Networks", "NoNetworks", "Place", "Proto", "Side"]
