# SPDX-License-Identifier: MIT
"""A server of one version of NFS: ``python -m tests.plugin.versions_server VERSION LOW HIGH [PORT]``.

It says that it has those from LOW to HIGH, and prints its port. It has no port mapper.
"""

from __future__ import annotations

import sys

from nfsclient.rpc.loop import Loop
from nfsserver import Server
from tests.nfstargets.partial_server import only, refusing


def main(version: int, low: int, high: int, port: int) -> None:
    """Serve until a signal ends it."""
    loop, server = Loop(), Server(seed=1)
    server.surround(only(version, portmap=False))
    for other in {2, 3, 4} - {version}:
        server.surround(refusing(other, low=low, high=high))
    server.listen(loop, port=port)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    while True:
        loop.run_once(loop.clock() + 60)


if __name__ == "__main__":
    version, low, high, *rest = (int(word) for word in sys.argv[1:])
    main(version, low, high, rest[0] if rest else 0)
