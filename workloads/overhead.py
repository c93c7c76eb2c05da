# SPDX-License-Identifier: MIT
"""What each message costs the processor of a client: o of the LogP model, as time that the processor is busy.

A message is a call or a reply. With `packet`, each packet of that many bytes counts, as a network divides messages: in
the paper on the sensitivity of NFS it is 3.5 KB, so that a READ of 8 KiB is four messages instead of two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Clock = Callable[[], float]


def packets_of(size: int, packet: int) -> int:
    """How many messages these bytes are; `packet` 0: one."""
    return max(1, -(-size // packet)) if packet else 1


def spin(clock: Clock, seconds: float) -> None:
    """Use the processor for some time."""
    until = clock() + seconds
    while clock() < until:
        pass


@dataclass(frozen=True, slots=True)
class Overhead:
    """Seconds of the processor for each message that a client sends or receives."""

    seconds: float
    packet: int
    clock: Clock

    def pay(self, size: int) -> None:
        """For a message of this many bytes. Nothing else happens meanwhile."""
        if self.seconds:
            spin(self.clock, self.seconds * packets_of(size, self.packet))
