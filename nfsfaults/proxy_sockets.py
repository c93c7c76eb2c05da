# SPDX-License-Identifier: MIT
"""What the connections of the proxy share: addresses, source ports, and reports of what passed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from nfsfaults.messages import Toward

Address: t.TypeAlias = tuple[str, int]
SourcePort: t.TypeAlias = int | t.Literal["any", "same"]
"""From which port the proxy calls the server: any; that of the client; a number (one connection at a time)."""
EARLY: t.Final = 1e-4
"""Seconds that a timer of asyncio may come before its time."""
_LINGER_OFF: t.Final = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Passed:
    """Bytes that a socket of the proxy took or gave: a piece of a stream, or a datagram."""

    at: float
    """Seconds of the event loop's clock."""
    connection: int
    side: Toward
    """Whose socket it was."""
    sent: bool
    data: bytes
    transport: t.Literal["tcp", "udp"]
    local: Address
    peer: Address
    ended: bool = False
    """The connection is over; there are no bytes."""


Tap: t.TypeAlias = Callable[[Passed], None]
Note: t.TypeAlias = Callable[[str], None]
"""Called with one line about what went wrong around the proxy."""


@dataclass
class Settings:
    """How the proxy connects; the same for all of its connections."""

    upstream: Address
    source_port: SourcePort = "any"
    tap: Tap | None = None
    note: Note = lambda _: None
    early: float = EARLY
    """What is due within these seconds goes at once; 0 with the loop of `exact`, whose timers are never early."""


def other(toward: Toward) -> Toward:
    """The opposite side."""
    return "client" if toward == "server" else "server"


def source_of(wanted: SourcePort, client: Address) -> int:
    """The port to call from; 0: any."""
    if wanted == "same":
        return client[1]
    return 0 if wanted == "any" else wanted


async def connected(
    upstream: Address,
    port: int,
    kind: socket.SocketKind = socket.SOCK_STREAM,
    *,
    bind_any: bool = False,
) -> socket.socket:
    """A socket to the server, from a source port (0: any). Raises OSError.

    `bind_any` makes any port one that no other connection shares, so that a later one can take it.
    """
    loop = asyncio.get_running_loop()
    try:  # a number needs no thread that asks a name server
        infos = socket.getaddrinfo(*upstream, type=kind, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        infos = await loop.getaddrinfo(*upstream, type=kind)
    error: OSError = OSError(f"no address of {upstream[0]}")
    for family, type_, proto, _, address in infos:
        sock = socket.socket(family, type_, proto)
        try:
            sock.setblocking(False)
            if port or bind_any:
                # The port may be in TIME_WAIT from the connection that this one replaces.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind((_local_address(family, address), port))
            await loop.sock_connect(sock, address)
        except OSError as failure:
            sock.close()
            error = failure
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise error


def _local_address(family: socket.AddressFamily, address: t.Any) -> str:
    """The address of this machine that the server sees; asked of the kernel without sending anything.

    Another address may have the port in use: the client itself, if it is on this machine.
    """
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)
        return str(probe.getsockname()[0])


def abort(transport: asyncio.Transport) -> None:
    """Reset a connection: no FIN, nothing that waits is sent."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_OFF)
    transport.abort()
