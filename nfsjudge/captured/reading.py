# SPDX-License-Identifier: MIT
"""A capture that is being judged."""

from __future__ import annotations

import typing as t

from nfsjudge.captured.packets import Packet, read_packets
from nfsjudge.captured.traffic import Statistics, Traffic
from nfsjudge.lint import Finding, Linter


class Reading:
    """Judges a capture, packet by packet.

    `alone` says that only the clients in the capture used the server, and that nobody restarted it: then more rules
    apply to it.
    """

    def __init__(self, *, alone: bool = False) -> None:
        self._linter = Linter(others=not alone, has_gaps=True)
        self._traffic = Traffic(self._linter)

    @property
    def statistics(self) -> Statistics:
        """What was read so far."""
        return self._traffic.statistics

    @property
    def findings(self) -> list[Finding]:
        """What was found so far; their numbers are those of the packets of calls."""
        return list(self._linter.findings.values())

    def take(self, packet: Packet) -> None:
        """Judge one packet of a capture that goes on. Raises `BadCapture` for frames that cannot be read."""
        self._traffic.take(packet)

    def finish(self) -> None:
        """Judge what waits for packets that do not come."""
        self._traffic.finish()

    def read(self, file: t.BinaryIO) -> None:
        """Judge all packets. Raises `BadCapture` where the file is broken, when all before it is judged."""
        try:
            for packet in read_packets(file):
                self._traffic.take(packet)
        finally:
            self._traffic.finish()
