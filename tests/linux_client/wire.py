# SPDX-License-Identifier: MIT
"""What passes in the network of the guests, caught as it is on the wire, and what the lint says about it."""

from __future__ import annotations

import contextlib
import io
import select
import socket
import threading
import time
from collections.abc import Iterator

from nfsjudge import pcapng
from nfsjudge.captured import Reading

_ALL_PACKETS = 3
_OUTGOING = 4
_ROOM = 256 << 20
"""Bytes that the kernel keeps for us while we are busy."""
_LOOPBACK = 772
_SO_RCVBUFFORCE = 33
_WAIT = 0.1


class Wire:
    """Catches all packets of the network in which it was made, in a thread, from `start` to `stop`."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL_PACKETS))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _ROOM)
        self._frames: list[tuple[float, bytes]] = []
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._catch, name="wire")
        self._thread.start()

    def _catch(self) -> None:
        while True:
            is_ending = self._is_ending.is_set()
            if select.select([self._socket], [], [], 0 if is_ending else _WAIT)[0]:
                data, address = self._socket.recvfrom(1 << 17)
                # On loopback each packet is seen twice.
                if not (address[2] == _OUTGOING and address[3] == _LOOPBACK):
                    self._frames.append((time.time(), data))
            elif is_ending:
                return

    def stop(self) -> None:
        """Takes what is still on its way."""
        self._is_ending.set()
        self._thread.join()
        self._socket.close()

    def capture(self) -> bytes:
        """All packets as a file in pcapng."""
        packets = [pcapng.packet(moment, frame, "") for moment, frame in self._frames]
        return b"".join([pcapng.section(), pcapng.interface(), *packets])


@contextlib.contextmanager
def caught() -> Iterator[Wire]:
    """What passes meanwhile in the network of this thread."""
    wire = Wire()
    try:
        yield wire
    finally:
        wire.stop()


def read(capture: bytes, *, alone: bool) -> Reading:
    """The capture judged. `alone`: nothing else has happened to the server."""
    reading = Reading(alone=alone)
    reading.read(io.BytesIO(capture))
    return reading
