# SPDX-License-Identifier: MIT
"""A right server that needs long for each call: ``python -m tests.plugin.slow_server SECONDS [PORT]``.

It prints its port.
"""

from __future__ import annotations

import sys
import time

from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.middleware import Answer, ProceedMessage
from tests.nfstargets.partial_server import Messages


def main(seconds: float, port: int) -> None:
    """Serve until a signal ends it, one call after the other."""

    def answer(message: bytes, proceed: ProceedMessage) -> Answer:
        time.sleep(seconds)
        return proceed(message)

    loop, server = Loop(), Server(seed=1)
    server.surround(Messages(answer))
    server.listen(loop, port=port)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    while True:
        loop.run_once(loop.clock() + 60)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0)
