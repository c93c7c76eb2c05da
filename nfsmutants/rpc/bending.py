# SPDX-License-Identifier: MIT
"""TODO nfsmutants.rpc.bending."""

from __future__ import annotations

from nfsclient.rpc.sockets import Address
from nfsserver.transport import TransportMiddleware

_HEADER = 40
"""Bytes of a call without credential, verifier and arguments in them."""


class Mortal(TransportMiddleware):
    """Once dead it closes every new connection; those that there are it goes on to serve."""

    def __init__(self) -> None:
        self.is_dead = False

    def admits(self, _peer: Address, /) -> bool:
        """Nobody, when dead."""
        return not self.is_dead
