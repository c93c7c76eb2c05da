# SPDX-License-Identifier: MIT
"""Runs inside new namespaces: rpcbind of this machine, the reference server registered with it, the checks.

Arguments: the folder for the report, then options of rpcbind. Prints what pytest prints, and ends as it does.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable

from nfsclient.clients import Nfs3, Rpcbind
from nfsclient.errors import NfsClientError
from nfsclient.protocol.rpcbind import to_universal
from nfsclient.rpc.blocking import RpcClient, connect_tcp

HOST = "127.0.0.1"
PORT = 20490
"""Nobody else is in this network."""
PROGRAMS = ((100003, 2), (100003, 3), (100005, 1), (100005, 2), (100005, 3))
_PATIENCE = 600.0


def _when_it_answers(
    server: subprocess.Popen[bytes], port: int, null: Callable[[RpcClient], None]
) -> RpcClient:
    """A connection to what was started, when NULL is answered. Raises `NfsClientError` when that takes too long."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            rpc = connect_tcp(HOST, port, timeout=10.0)
            null(rpc)
        except NfsClientError:
            if time.monotonic() > deadline:
                raise
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(0.02)
        else:
            return rpc


def main() -> int:
    """The exit status of the checks."""
    report, *options = sys.argv[1:]
    for command in (["ip", "link", "set", "lo", "up"], ["mount", "-t", "tmpfs", "tmpfs", "/run"]):
        subprocess.run(command, check=True)
    rpcbind = subprocess.Popen(["rpcbind", "-f", "-w", *options])
    serve = [sys.executable, "-m", "nfsproof", "serve", "--port", str(PORT)]
    server = subprocess.Popen(serve, stdout=subprocess.DEVNULL)
    _when_it_answers(server, PORT, lambda rpc: Nfs3(rpc).null())
    binder = Rpcbind(_when_it_answers(rpcbind, 111, lambda rpc: Rpcbind(rpc).null()))
    for prog, vers in PROGRAMS:
        for netid in ("tcp", "udp"):
            assert binder.set(prog, vers, netid, to_universal(HOST, PORT), "nfsproof")
    checks = ["suites/portmap", "--target", f"nfs://{HOST}/export", f"--report={report}"]
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *checks]
    return subprocess.run(pytest, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
