# SPDX-License-Identifier: MIT
"""Sockets that report what passes on them: exactly the bytes that the kernel took or gave, at the time it did."""

from __future__ import annotations

import contextlib
import socket
import typing as t
from collections.abc import Callable, Iterable

from nfsclient.rpc.exchange import End

Tap: t.TypeAlias = Callable[[bool, bytes, End], None]
"""Called with (whether they were sent, bytes): a piece of the stream, or a datagram. At an end, with what ended."""

_MOST_UNREAD = 1 << 20
"""Bytes of what came and nobody read, that are reported at the end."""


class TappedSocket(socket.socket):
    """A connected socket that takes the place of another one, which is detached."""

    def __init__(self, sock: socket.socket, tap: Tap) -> None:
        timeout = sock.gettimeout()
        super().__init__(fileno=sock.detach())
        self.settimeout(timeout)
        self.tap: Tap | None = tap
        """None: nothing is reported any more."""
        self._is_stream = self.type is socket.SOCK_STREAM
        self._has_ended = False

    def _report(self, sent: bool, data: bytes) -> None:
        if self.tap is None:
            return
        if data or not self._is_stream:
            self.tap(sent, data, "")
        elif not sent and not self._has_ended:
            self._has_ended = True
            self.tap(False, b"", "closed")

    def send(self, data: t.Any, flags: int = 0, /) -> int:
        """Send, and report as much as was sent."""
        count = super().send(data, flags)
        self._report(True, bytes(memoryview(data).cast("B")[:count]))
        return count

    def sendmsg(self, buffers: Iterable[t.Any], *more: t.Any) -> int:
        """The same with several buffers."""
        kept = list(buffers)
        count = super().sendmsg(kept, *more)
        self._report(True, b"".join(kept)[:count])
        return count

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Receive, and report it."""
        data = super().recv(size, flags)
        self._report(False, data)
        return data

    def recv_into(self, buffer: t.Any, size: int = 0, flags: int = 0) -> int:
        """The same into a buffer."""
        count = super().recv_into(buffer, size, flags)
        self._report(False, bytes(memoryview(buffer).cast("B")[:count]))
        return count

    def shutdown(self, how: int) -> None:
        """Half-close, and report it."""
        super().shutdown(how)
        if self.tap is not None and how == socket.SHUT_WR:
            self.tap(True, b"", "half-closed")

    def close(self) -> None:
        """Close; before that, report what came and nobody has read. It stays unread: the peer sees the same end."""
        if self.tap is not None and self.fileno() >= 0:
            with contextlib.suppress(OSError):
                data = super().recv(_MOST_UNREAD, socket.MSG_PEEK | socket.MSG_DONTWAIT)
                self._report(False, data)
            self.tap(True, b"", "closed")
        self.tap = None
        super().close()
