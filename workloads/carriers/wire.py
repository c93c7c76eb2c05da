# SPDX-License-Identifier: MIT
"""Messages over a stream socket, each with its length before it, served by a loop. Nothing blocks.

The other end may be a process that was killed in the middle of a message, or that does not read: what it has not sent
is never waited for, and what it does not take stays queued here.
"""

from __future__ import annotations

import socket
import struct
import typing as t
from collections import deque
from collections.abc import Callable

from nfsclient.rpc.loop import Loop

LARGEST: t.Final = 256 << 20
"""Bytes of one message."""
_LENGTH = struct.Struct(">I")
HEAD: t.Final = _LENGTH.size
"""Bytes before a message."""
_CHUNK: t.Final = 1 << 18


def frame(text: str) -> bytes:
    """A message with its length before it. It is ASCII: JSON that has no other characters."""
    octets = text.encode("ascii")
    return _LENGTH.pack(len(octets)) + octets


def length_of(head: bytes | bytearray) -> int:
    """The length of the message that follows. Raises ValueError for one that is too long."""
    (length,) = _LENGTH.unpack_from(head)
    if length > LARGEST:
        raise ValueError(f"expected a message of at most {LARGEST} bytes, got {length}")
    return int(length)


class Wire:
    """One end. `inbox` has the messages that have arrived; `is_over` says that no more will come."""

    def __init__(self, sock: socket.socket, loop: Loop) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._loop = loop
        self._input = bytearray()
        self._output: deque[memoryview] = deque()
        self.inbox: deque[str] = deque()
        self.on_message: Callable[[str], None] = self.inbox.append
        """What becomes of a message that has arrived, at once."""
        self.on_over: Callable[[], None] | None = None
        self.is_over = False
        loop.add(self)

    def send(self, text: str) -> None:
        """Queue a message, and send what can be sent now. Nothing happens if the other end is gone."""
        if self.is_over:
            return
        self._output.append(memoryview(frame(text)))
        self.on_writable()
        self._loop.changed(self)

    def flush(self, seconds: float) -> None:
        """Wait until all that is queued has been sent, at most so long."""
        self._loop.run_until(lambda: self.is_over or not self._output, self._loop.clock() + seconds)

    def close(self) -> None:
        """Close the socket; the other end sees that."""
        if self._sock.fileno() >= 0:
            self._loop.remove(self)
            self._sock.close()
        self.is_over = True

    # ------------------------------------------------------------ as a member of the loop

    def fileno(self) -> int:
        return self._sock.fileno()

    def wants_to_write(self) -> bool:
        return bool(self._output) and not self.is_over

    def wants_to_read(self) -> bool:
        return not self.is_over

    def next_deadline(self) -> float | None:
        return None

    def on_deadline(self, now: float) -> None:
        pass

    def on_writable(self) -> None:
        try:
            while self._output:
                sent = self._sock.send(self._output[0])
                if sent < len(self._output[0]):
                    self._output[0] = self._output[0][sent:]
                else:
                    self._output.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self._end()

    def on_readable(self) -> None:
        try:
            octets = self._sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            octets = b""
        if not octets:
            self._end()
            return
        self._input += octets
        self._split()

    def _end(self) -> None:
        if not self.is_over:
            self.is_over = True
            if self.on_over is not None:
                self.on_over()

    def _split(self) -> None:
        while len(self._input) >= HEAD:
            try:
                end = HEAD + length_of(self._input)
            except ValueError:
                self._end()
                return
            if len(self._input) < end:
                return
            text = self._input[HEAD:end].decode("ascii", "replace")
            del self._input[:end]
            self.on_message(text)
