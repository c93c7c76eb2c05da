# SPDX-License-Identifier: MIT
"""A server of many connections that takes a fragment for a record of another length.

It waits for bytes that do not come, and serves nobody until that connection ends.
"""

from __future__ import annotations

import socket
import sys

import nfsclient.rpc.server
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.serve import serve

_LAST_FRAGMENT = 0x80
_SIZE = 65536


class Hanging(nfsclient.rpc.server.Connection):
    """A connection of such a server."""

    def on_readable(self) -> None:
        """Receive messages, or wait for the end."""
        mark = self.sock.recv(1, socket.MSG_PEEK)
        if mark and not mark[0] & _LAST_FRAGMENT:
            self.sock.setblocking(True)
            while self.sock.recv(_SIZE):
                pass
            self.close()
            return
        super().on_readable()


def announce(server: Server) -> None:
    """Print the URL."""
    sys.stdout.write(f"serving {server.url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    nfsclient.rpc.server.Connection = Hanging  # type: ignore[misc]
    serve(Server(), Loop(), announce=announce)
