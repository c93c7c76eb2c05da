# SPDX-License-Identifier: MIT
"""A server that serves one connection at a time: all others wait until it ends (RFC 1831 section 3 allows it)."""

from __future__ import annotations

import sys

import nfsserver.server
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.serve import serve
from nfsserver.transport import SurroundedRpcServer


class OneAtATime(SurroundedRpcServer):
    """Accepts nobody while somebody is connected, as if it were out of descriptors."""

    @property
    def is_starved(self) -> bool:
        """Whether nobody can be accepted."""
        return bool(self.connections)

    @is_starved.setter
    def is_starved(self, value: bool) -> None:
        """It follows from the connections."""


def announce(server: Server) -> None:
    """Print the URL."""
    sys.stdout.write(f"serving {server.url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    nfsserver.server.SurroundedRpcServer = OneAtATime  # type: ignore[attr-defined]
    serve(Server(), Loop(), announce=announce)
