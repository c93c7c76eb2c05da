# SPDX-License-Identifier: MIT
"""What can be wrong with a capture."""

from __future__ import annotations


class BadCapture(Exception):
    """A file that is no capture, or one that is broken from `packet` on (0: before the first)."""

    def __init__(self, why: str, packet: int = 0) -> None:
        where = f"after packet {packet}: " if packet else ""
        super().__init__(f"{where}{why}")
        self.why = why
        self.packet = packet
