# SPDX-License-Identifier: MIT
"""How much one call may carry."""

from __future__ import annotations

from dataclasses import dataclass

from nfsserver.fs import Limits


@dataclass(frozen=True, slots=True)
class Transfers:
    """The most that READ, WRITE and a directory listing carry over one transport, in bytes."""

    limits: Limits
    is_datagram: bool
    """Over UDP everything must fit into one datagram."""

    def _bound(self, name: str, size: int) -> int:
        within = self.limits.bound(name, size)
        return min(within, self.limits.datagram_max) if self.is_datagram else within

    def of_read(self, size: int) -> int:
        """How much of `size` bytes one READ carries."""
        return self._bound("read_max", size)

    def of_write(self, size: int) -> int:
        """The same of WRITE."""
        return self._bound("write_max", size)

    def of_listing(self, size: int) -> int:
        """The same of READDIR and READDIRPLUS."""
        return self._bound("directory_max", size)

    @property
    def read_max(self) -> int:
        """The most that READ gives."""
        return self.of_read(self.limits.read_max)

    @property
    def write_max(self) -> int:
        """The most that WRITE takes."""
        return self.of_write(self.limits.write_max)

    @property
    def directory_max(self) -> int:
        """The largest directory listing."""
        return self.of_listing(self.limits.directory_max)
