# SPDX-License-Identifier: MIT
"""How exact the links of `nfsproof proxy` are: `python -m benchmarks.links`.

NULL calls through a proxy with the same latency in both directions. The added time should be twice the latency: their
ratio says what is wrong in proportion, and the largest difference how exact a latency is.
The server is the C program with canned answers; client, proxy and server are separate processes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
import typing as t
from contextlib import closing
from pathlib import Path

from benchmarks.places import loopback
from benchmarks.proxy import _connected, _proxy
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.blocking import RpcClient

LATENCIES: t.Final = (0, 50, 100, 250, 500, 1000, 2000, 4000)
"""Microseconds in each direction."""
ROUNDS: t.Final = 5
CALLS: t.Final = 200
MOST_OFF: t.Final = 40.0
"""Microseconds that the median of a round trip may be off: 20 for each direction."""


def main() -> None:
    """Prints a table and the line."""
    with loopback() as ports, tempfile.TemporaryDirectory() as folder:
        if not ports:
            raise SystemExit("there is no C compiler: nothing to measure with")
        server = int(ports["BENCH_CANNED_PORT"])
        found: dict[int, list[float]] = {latency: [] for latency in LATENCIES}
        for _ in range(ROUNDS):
            for latency in LATENCIES:
                plan = Path(folder, f"{latency}.toml")
                plan.write_text(_links(latency), encoding="utf-8")
                with _proxy(server, "--plan", str(plan)) as port, closing(_connected(port)) as rpc:
                    found[latency].append(_median(rpc))
        medians = {latency: statistics.median(times) for latency, times in found.items()}
        added = {latency: taken - medians[0] for latency, taken in medians.items()}
        print("latency, µs   round trip, µs   added / asked   late, µs")
        for latency, taken in medians.items():
            asked = 2.0 * latency
            ratio = f"{added[latency] / asked:.3f}" if asked else "-"
            print(f"{latency:11}   {taken:14.0f}   {ratio:>13}   {added[latency] - asked:+8.1f}")
        worst = max(abs(each - 2.0 * latency) for latency, each in added.items())
        print(f"largest difference: {worst:.1f} µs (at most {MOST_OFF:.0f}, where the machine is idle)")


def _links(latency: int) -> str:
    return "".join(
        f'[[link]]\ntoward = "{toward}"\nlatency = {latency}e-6\n' for toward in ("server", "client")
    )


def _median(rpc: RpcClient) -> float:
    """Microseconds of a NULL call."""
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        rpc.call(p.NULL, p.NULL.args())
        times.append(1e6 * (time.perf_counter() - began))
    return statistics.median(times)


if __name__ == "__main__":
    main()
