# SPDX-License-Identifier: MIT
"""What passes the bytes of a TCP connection: a socket as it is, or TLS over one (`TlsStream`).

`Link`, `BulkReceiver` and `Connection` know of the kernel what a `Stream` offers: blocking and non-blocking sends and
receives by flags, deadlines by `KernelTimeout`. A socket offers it without cost. `SSLSocket` does not: it refuses
`sendmsg` and flags, and its handshake waits on the socket, which starves a server on the same loop. So TLS is done on
buffers in memory (`ssl.MemoryBIO`), and a handshake is a part of the receives and sends that anybody does.
The asyncio driver leaves the same work to asyncio's transports.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
import typing as t
from collections.abc import Iterable

from nfsclient.xdr import Buffer

_RECEIVE = 64 << 10
_MOST_AT_ONCE = 256 << 10
"""Bytes that are encrypted at once, and wait when the socket has no room."""
_MOST_ANSWERS = 64 << 10
"""Bytes of answers that TLS itself makes (handshake, new keys) for a peer that asks for them and reads none."""


class TlsStream:
    """TLS over a connected socket, as one side of it.

    It differs from a socket in four ways, all of which a caller of sockets has to be ready for:

    - `recv` gives all that has arrived, which may be more than `size`. So nothing is left that a selector cannot see.
    - `recv` raises BlockingIOError also when something has come that is no data yet: a part of a TLS record, or of the
      handshake. Its caller looks at its deadline then, however slowly a hostile peer sends.
    - What `send` has taken may wait here as encrypted bytes (`wants_to_write`, `flush`). While it does, nothing more is
      taken.
    - Until the handshake is over `send` raises BlockingIOError.

    Errors of TLS are `ssl.SSLError`, which is an OSError; the peer gets an alert. Not for several threads.
    """

    def __init__(
        self,
        sock: socket.socket,
        context: ssl.SSLContext,
        *,
        server_side: bool = False,
        server_hostname: str | None = None,
    ) -> None:
        self._sock = sock
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(
            self._in, self._out, server_side=server_side, server_hostname=server_hostname
        )
        """For what was agreed: version, certificates, ALPN."""
        self.is_ready = False
        """Whether the handshake is over."""
        self.has_ended = False
        """Whether the peer has said that no more data comes; then `recv` gives nothing, and needs no socket."""
        self._has_begun = False
        self._waiting = memoryview(b"")

    # ------------------------------------------------------------ output

    def wants_to_write(self, has_data: bool) -> bool:
        """Whether room is wanted: for encrypted bytes that wait, or for data where there is some to send."""
        return bool(self._waiting) or not self._has_begun or (has_data and self.is_ready)

    def flush(self, flags: int = 0) -> None:
        """Go on with the handshake, and send what waits. Raises BlockingIOError where it does not all go."""
        self._shake_hands()
        self._send_encrypted(flags)

    def send(self, data: Buffer, flags: int = 0, /) -> int:
        """Encrypt data and send it; how much of it was taken."""
        self.flush(flags)
        if not self.is_ready:
            raise BlockingIOError("the TLS handshake is under way")
        taken = 0
        with memoryview(data).cast("B") as view:
            most = min(len(view), _MOST_AT_ONCE)
            while taken < most:
                with view[taken:most] as rest:
                    taken += self.tls.write(rest)
        with contextlib.suppress(BlockingIOError):
            self._send_encrypted(flags)
        return taken

    def sendmsg(self, buffers: Iterable[Buffer], /) -> int:
        """The same with several buffers, so that small ones share a TLS record."""
        parts: list[Buffer] = []
        size = 0
        for buffer in buffers:
            parts.append(buffer)
            size += len(buffer)
            if size >= _MOST_AT_ONCE:
                break
        return self.send(b"".join(parts))

    def _send_encrypted(self, flags: int) -> None:
        while self._waiting or self._out.pending:
            if not self._waiting:
                self._waiting = memoryview(self._out.read())
            self._waiting = self._waiting[self._sock.send(self._waiting, flags) :]

    def shutdown(self, how: int, /) -> None:
        """Say that no more data comes (close_notify), and half-close the socket."""
        self._say_goodbye()
        self._sock.shutdown(how)

    def close(self) -> None:
        """The same, without waiting for what has no room, and close."""
        self._say_goodbye()
        self._sock.close()

    def _say_goodbye(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self.is_ready:
                with contextlib.suppress(ssl.SSLWantReadError):
                    self.tls.unwrap()
            self._send_encrypted(socket.MSG_DONTWAIT)

    # ------------------------------------------------------------ input

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """All data that has arrived; empty at the end of the stream. With MSG_PEEK it looks at the socket instead.

        An end that was not announced (close_notify) is one too: a record mark says how long each RPC message is.
        """
        if self.has_ended:
            return b""
        if flags & socket.MSG_PEEK:
            return self._sock.recv(size, flags)
        if not self._has_begun:
            self.flush(flags)
        received = self._sock.recv(_RECEIVE, flags)
        if received:
            self._in.write(received)
        else:
            self._in.write_eof()
        data = self._decrypted()
        # What answers the handshake, an update of keys, or an error.
        with contextlib.suppress(BlockingIOError):
            self._send_encrypted(socket.MSG_DONTWAIT)
        if self._out.pending > _MOST_ANSWERS + _MOST_AT_ONCE:
            raise ConnectionAbortedError(
                errno.ECONNABORTED, "the peer does not read what it makes TLS answer"
            )
        if not data and not self.has_ended:
            raise BlockingIOError("a part of a TLS record, or of the handshake")
        return data

    def _decrypted(self) -> bytes:
        self._shake_hands()
        parts: list[bytes] = []
        while self.is_ready:
            try:
                data = self.tls.read(_RECEIVE)
            except ssl.SSLWantReadError:
                break
            except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
                data = b""
            except ssl.SSLError:
                self._say_goodbye()
                raise
            if not data:
                self.has_ended = True
                break
            parts.append(data)
        return b"".join(parts)

    def _shake_hands(self) -> None:
        if self.is_ready:
            return
        self._has_begun = True
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            return
        except ssl.SSLError:
            self._say_goodbye()
            raise
        self.is_ready = True

    # ------------------------------------------------------------ the socket

    def fileno(self) -> int:
        return self._sock.fileno()

    def setsockopt(self, level: int, option: int, value: bytes, /) -> None:
        """Set an option of the socket."""
        self._sock.setsockopt(level, option, value)


Stream: t.TypeAlias = socket.socket | TlsStream
"""What `Link` and `Connection` need: `send`, `sendmsg`, `recv`, `shutdown`, `close`, `fileno` and `setsockopt`."""
