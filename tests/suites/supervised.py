# SPDX-License-Identifier: MIT
"""A server that dies of a procedure, and a supervisor that starts it again: ``supervised.py SETATTR SECONDS``.

The server leaves the call without a reply, and takes its connections and what is not stable with it. For SECONDS its
port refuses connections; with 0 it is back at once, and only its write verifier shows that it is another one. With
``same`` as a third word it does not die: it closes its connections, and is the same server all the time.
"""

from __future__ import annotations

import sys
import typing as t

from nfsclient.protocol.nfs3 import NFS3
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.serve import serve


def main(procedure: str, seconds: float, *, dies: bool) -> None:
    """Serve until the process is killed."""
    loop, server, port = Loop(), Server(), 0
    died: list[str] = []

    def die(_server: object, _context: object, _args: object, _proceed: object) -> t.NoReturn:
        died.append(procedure)
        raise SystemExit

    def keep_silent(_server: object, message: bytes, proceed: t.Any) -> t.Any:
        try:
            return proceed(message)
        except SystemExit:
            if not seconds:
                server.crash()
            return None

    class Mortal:
        def around_calls(self, operation: t.Any, /) -> t.Any:
            return (die,) if operation.name == procedure and operation.version == NFS3.version else ()

        def around_messages(self) -> t.Any:
            return (keep_silent,)

        def below_messages(self) -> t.Any:
            return ()

    def announce(it: Server) -> None:
        nonlocal port
        if not port:
            sys.stdout.write(f"serving {it.url}\n")
            sys.stdout.flush()
        port = it.port

    server.surround(Mortal())
    while True:
        serve(server, loop, port=port, announce=announce, stop=lambda: bool(died and seconds))
        if dies:
            server.restart(clean=False)
        died.clear()
        loop.run_until(lambda: False, loop.clock() + seconds)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), dies="same" not in sys.argv)
