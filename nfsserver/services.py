# SPDX-License-Identifier: MIT
"""The programs that the server answers: those of all registered protocols that have a module here."""

from __future__ import annotations

from nfsclient.protocol.registry import parts_of
from nfsserver.freedom import Freedom
from nfsserver.service import Service, registered

parts_of("nfsserver")


def services() -> tuple[Service, ...]:
    """All that were registered until now."""
    return registered()


def freedoms() -> tuple[Freedom, ...]:
    """What the protocol layers do where knobs differ from their defaults."""
    return tuple(freedom for service in services() for freedom in service.freedoms)
