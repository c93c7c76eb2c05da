# SPDX-License-Identifier: MIT
"""What the bridge of packets costs: `python -m benchmarks.bridge [SECONDS]`.

Calls and bytes a second to the embedded server in this process, as `nfsfaults.bridge` carries them: without a rule,
with a rule for other messages, and with one that looks at each message and never acts.
"""

from __future__ import annotations

import sys
import time
import typing as t

from nfsclient.highlevel import Limits
from nfsclient.nfs3 import NfsClient
from nfsclient.protocol import nfs3
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import Void
from nfsfaults.actions import LosePackets
from nfsfaults.bridge.executor import NoNetworks, Packets
from nfsfaults.plan import Plan, Rule, Selector
from nfsserver import Server

_PLANS: t.Final[dict[str, tuple[Rule, ...]]] = {
    "no rule": (),
    "a rule for MKNOD": (Rule(Selector("call", "nfs", 3, ("MKNOD",)), (LosePackets(),), must_fire=False),),
    "a rule for the 1,000,000,000th message": (
        Rule(Selector("call", nth=10**9), (LosePackets(),), must_fire=False),
    ),
}
_SIZE: t.Final = {"tcp": 1 << 16, "udp": 1 << 13}


def _rate(work: t.Callable[[], object], seconds: float) -> float:
    """How often a second."""
    for _ in range(20):
        work()
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        work()
        count += 1
    return count / (time.perf_counter() - began)


def measure(proto: t.Literal["tcp", "udp"], rules: tuple[Rule, ...], seconds: float) -> tuple[float, float]:
    """NULL calls a second, one at a time, and MB of READ a second. Raises `NoNetworks`."""
    loop = Loop()
    server = Server(seed=1)
    server.listen(loop)
    root = server.backend.handle_of(server.fs.root)
    packets = Packets(Plan(rules), loop)
    for sock in packets.server_sockets():
        server.listen_on(sock)
    size = _SIZE[proto]
    rpc = packets.connect(proto, timeout=10, credential=AuthSys(0, 0))
    with NfsClient(rpc, root, base=b"/export", limits=Limits(size, size, 8192)) as nfs:
        nfs.write_file("f", bytes(size * 4))
        calls = _rate(lambda: rpc.call(nfs3.NULL, Void()), seconds)
        reads = _rate(lambda: nfs.read_file("f"), seconds)
    packets.close()
    server.close()
    loop.close()
    return calls, reads * size * 4 / 1e6


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    print(f"{'transport':10}{'plan':42}{'NULL/s':>10}{'READ MB/s':>12}")
    for proto in ("tcp", "udp"):
        for name, rules in _PLANS.items():
            try:
                calls, megabytes = measure(proto, rules, seconds)
            except NoNetworks as error:
                print(error, file=sys.stderr)
                return 1
            print(f"{proto:10}{name:42}{calls:10.0f}{megabytes:12.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
