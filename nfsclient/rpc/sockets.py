# SPDX-License-Identifier: MIT
"""Making client sockets: addresses of either family, source ports, deadlines in the kernel."""

from __future__ import annotations

import contextlib
import errno
import random
import socket
import struct
import typing as t
from collections.abc import Iterator, Sequence

from nfsclient.errors import ConnectFailed

PRIVILEGED_PORTS = range(512, 1024)
"""Source ports that a server may demand, where only a privileged client can bind (RFC 5531 appendix A)."""

SOURCE_PORT_TAKEN = frozenset({errno.EADDRINUSE, errno.EADDRNOTAVAIL})
"""What the kernel says when another source port may do."""

Address: t.TypeAlias = tuple[str, int]
UDP_BUFFER: t.Final = 1 << 20
"""Bytes that a socket for datagrams should be able to keep; the kernel gives less where it must."""


def format_address(host: str, port: int) -> str:
    """``host:port``, with brackets around IPv6."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def address_of(sockaddr: t.Any) -> Address:
    """Host and port of a socket address of either family."""
    return (str(sockaddr[0]), int(sockaddr[1]))


def open_socket(
    host: str,
    port: int,
    kind: socket.SocketKind,
    *,
    timeout: float,
    source_port: int | None = None,
    privileged: bool = False,
    preferred_port: int | None = None,
    source: str = "",
) -> socket.socket:
    """A connected socket to the first address of `host` that answers. Raises `ConnectFailed`.

    `source_port` 0 is a free port that no other connection shares: a connection that replaces this one can take it.
    Left to the kernel (None), another connection may have the same port toward another address, in TIME_WAIT as well.
    `preferred_port` is the source port to try first; where it is taken, another one does.
    `source` is the numeric address of this machine to call from; empty: the kernel chooses.
    """
    where = format_address(host, port)
    try:
        candidates = socket.getaddrinfo(host, port, type=kind)
    except (OSError, UnicodeError) as error:
        raise ConnectFailed(where, f"the name does not resolve: {error}") from error
    failure = "the name has no address"
    for family, _, proto, _, sockaddr in candidates:
        try:
            ports = list(source_ports(source_port, privileged=privileged, preferred=preferred_port))
            return _connect(
                family, kind, proto, sockaddr, timeout, ports, privileged, source, bind_any=source_port == 0
            )
        except OSError as error:
            failure = "no answer in time" if isinstance(error, TimeoutError) else str(error)
    raise ConnectFailed(where, failure)


def _connect(
    family: int,
    kind: socket.SocketKind,
    proto: int,
    sockaddr: t.Any,
    timeout: float,
    ports: Sequence[int],
    privileged: bool,
    source: str,
    *,
    bind_any: bool,
) -> socket.socket:
    failure: OSError = OSError("no privileged source port is free")
    for port in ports:
        sock = socket.socket(family, kind, proto)
        try:
            if port or bind_any or source:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind((source, port))
            sock.settimeout(max(timeout, 0.001))
            sock.connect(sockaddr)
        except OSError as error:
            sock.close()
            failure = error
            if error.errno not in SOURCE_PORT_TAKEN:
                break
        else:
            sock.settimeout(None)
            if kind is socket.SOCK_STREAM:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
    if privileged and isinstance(failure, PermissionError):
        raise OSError("a source port below 1024 needs privilege (root, or CAP_NET_BIND_SERVICE)") from failure
    raise failure


def source_ports(source_port: int | None, *, privileged: bool, preferred: int | None = None) -> Iterator[int]:
    """The source ports to try, in order; 0 leaves the choice to the kernel."""
    if preferred is not None and not source_port:
        yield preferred
    if source_port is not None:
        yield source_port
        return
    if privileged:
        # A random order: the port that was used last may still be in TIME_WAIT.
        yield from random.sample(PRIVILEGED_PORTS, len(PRIVILEGED_PORTS))
    else:
        yield 0


class HasOptions(t.Protocol):
    """A socket, or what stands for one."""

    def setsockopt(self, level: int, option: int, value: bytes, /) -> None:
        """Set an option."""


class KernelTimeout:
    """Keeps SO_RCVTIMEO of a blocking socket at what is left of a deadline.

    Costs nothing while calls use the same timeout; `settimeout` would add a `poll` to each receive.
    """

    def __init__(self, sock: HasOptions, option: int = socket.SO_RCVTIMEO) -> None:
        self._sock = sock
        self._option = option
        self.seconds = 0.0
        """What the socket is set to; 0 is no limit."""

    def allow(self, seconds: float) -> None:
        """Let the next operation block for about `seconds` (more than 0)."""
        if seconds == self.seconds:
            return
        whole = max(seconds, 0.001)
        packed = struct.pack("ll", int(whole), int(whole % 1 * 1_000_000))
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, self._option, packed)
        self.seconds = seconds
