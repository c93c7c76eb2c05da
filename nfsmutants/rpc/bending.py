# SPDX-License-Identifier: MIT
"""A server that stops serving, for mutants of RPC."""

from __future__ import annotations

from nfsclient.rpc.sockets import Address
from nfsserver.transport import TransportMiddleware

_HEADER = 40
"""The size in bytes of a call without the contents of credential and verifier, and without arguments."""


class Mortal(TransportMiddleware):
    """Once dead, it closes every new connection. It continues to serve the existing ones."""

    def __init__(self) -> None:
        self.is_dead = False

    def admits(self, _peer: Address, /) -> bool:
        return not self.is_dead
