# SPDX-License-Identifier: MIT
"""A server that a call can kill or silence: ``python -m tests.plugin.fragile_server PORT PIDS``.

LOOKUP of "deadly" ends it. After LOOKUP of "mute" it answers nothing but NULL. It adds its process id to the file PIDS.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.middleware import Answer, AnyAroundCall, AroundMessage, ProceedMessage
from nfsserver.transport import TransportMiddleware


class Fragile:
    """Middleware that looks for names in messages."""

    def __init__(self) -> None:
        self._is_mute = False

    def around_calls(self, _operation: object, /) -> Sequence[AnyAroundCall]:
        return ()

    def around_messages(self) -> Sequence[AroundMessage]:
        return (self._answer,)

    def below_messages(self) -> Sequence[TransportMiddleware]:
        return ()

    def _answer(self, _server: object, message: bytes, proceed: ProceedMessage) -> Answer:
        if b"deadly" in message:
            os._exit(2)  # as a panic of Go
        self._is_mute |= b"mute" in message
        is_null = message[20:24] == bytes(4)
        return proceed(message) if is_null or not self._is_mute else None


def main(port: int, pids: Path) -> None:
    """Serve until a call or a signal ends it."""
    loop, server = Loop(), Server(seed=os.getpid())
    server.surround(Fragile())
    server.listen(loop, port=port)
    with pids.open("a") as file:
        file.write(f"{os.getpid()}\n")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        loop.run_once(loop.clock() + 60)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
