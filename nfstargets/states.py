# SPDX-License-Identifier: MIT
"""What a server knows of its clients, seen from its own side: for servers with state (NFSv4)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldState:
    """One stateid that a client holds."""

    kind: str
    """ "open", "lock", "deleg" or "layout"."""
    stateid: str
    """Hexadecimal, all of it: seqid and other."""
    access: str = ""
    """Of an open or a delegation: "r", "w" or "rw"."""
    deny: str = ""
    file: str = ""
    """Its name, without directories."""
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NfsClientState:
    """One client."""

    id: str
    """Hexadecimal."""
    name: str
    """As the client calls itself."""
    address: str
    status: str
    """ "confirmed", "unconfirmed", "courtesy" (its lease has expired, nobody wanted its state) or "expirable"."""
    minor_version: int
    seconds_since_renewal: int | None
    callback_state: str
    """ "UP", "DOWN", "UNKNOWN" or "FAULT"; "" where it does not say."""
    held: tuple[HeldState, ...]
