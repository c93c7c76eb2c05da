# SPDX-License-Identifier: MIT
"""What `nfsproof proxy` costs: `python -m benchmarks.proxy`. NULL and READ of 1 MiB, directly and through it.

The server is the C program with canned answers; client, proxy and server are separate processes. The plan of
"with a rule" has a rule for a procedure of another program, so that all messages pass it by.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import typing as t
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from benchmarks.places import loopback
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp

ROUNDS: t.Final = 5
NULLS: t.Final = 2000
READS: t.Final = 300
CONNECTIONS: t.Final = 1000
MOST_ADDED: t.Final = 0.2
"""Milliseconds that the proxy may add to a NULL call (median)."""
LEAST_RATE: t.Final = 700.0
"""MB/s of READs of 1 MiB through the proxy."""
_BLOCK: t.Final = 1 << 20
_RULE: t.Final = '[[rule]]\nprogram = "mount"\nprocedure = "UMNTALL"\ndo = "drop"\nmust_fire = false\n'
_HANDLE: t.Final = bytes(32)


def main() -> None:
    """Prints a table: median of NULL in ms, and READ in MB/s, medians of the rounds."""
    with loopback() as ports, tempfile.TemporaryDirectory() as folder:
        if not ports:
            raise SystemExit("there is no C compiler: nothing to measure with")
        server = int(ports["BENCH_CANNED_PORT"])
        plan = Path(folder, "plan.toml")
        plan.write_text(_RULE)
        capture = Path(folder, "capture.pcapng")
        with (
            _proxy(server) as plain,
            _proxy(server, "--plan", str(plan)) as ruled,
            _proxy(server, "--capture", str(capture)) as captured,
        ):
            ways = {"direct": server, "proxy": plain, "with a rule": ruled, "with a capture": captured}
            nulls: dict[str, list[float]] = {way: [] for way in ways}
            reads: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(ROUNDS):
                for way, port in ways.items():
                    with closing(_connected(port)) as rpc:
                        nulls[way].append(_null(rpc))
                        reads[way].append(_read(rpc, READS if way != "with a capture" else READS // 10))
            print(f"{'':<16} NULL, ms   READ of 1 MiB, MB/s")
            for way in ways:
                print(f"{way:<16} {_middle(nulls, way):8.3f}   {_middle(reads, way):8.0f}")
            added = _middle(nulls, "proxy") - _middle(nulls, "direct")
            print(f"added to a NULL: {added:.3f} ms (at most {MOST_ADDED})")
            print(f"READ through the proxy: {_middle(reads, 'proxy'):.0f} MB/s (at least {LEAST_RATE:.0f})")
            print(f"{CONNECTIONS} connections, a NULL on each: {_many(plain):.2f} s")


def _middle(found: dict[str, list[float]], way: str) -> float:
    return statistics.median(found[way])


@contextlib.contextmanager
def _proxy(port: int, *options: str) -> Iterator[int]:
    """The port of a proxy in another process."""
    words = [sys.executable, "-m", "nfsproof", "proxy", "--to", f"127.0.0.1:{port}", *options]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "TERM": "dumb"})
    assert process.stdout is not None
    try:
        found = re.search(r":(\d+) for", process.stdout.readline())
        if found is None:
            raise SystemExit("the proxy did not start")
        yield int(found[1])
    finally:
        process.terminate()
        process.communicate()


def _connected(port: int) -> RpcClient:
    return connect_tcp("127.0.0.1", port, credential=AuthSys(0, 0))


def _null(rpc: RpcClient) -> float:
    times = []
    for _ in range(NULLS):
        began = time.perf_counter()
        rpc.call(p.NULL, p.NULL.args())
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def _read(rpc: RpcClient, count: int) -> float:
    buffer = memoryview(bytearray(_BLOCK))
    args = p.Read3Args(_HANDLE, 0, _BLOCK)
    rpc.call(p.READ, args, into=buffer)
    began = time.perf_counter()
    for _ in range(count):
        rpc.call(p.READ, args, into=buffer)
    return count * _BLOCK / (time.perf_counter() - began) / 1e6


def _many(port: int) -> float:
    """Seconds to open many connections at the same time, and to call on each."""
    began = time.perf_counter()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(closing(_connected(port))) for _ in range(CONNECTIONS)]
        for rpc in clients:
            rpc.call(p.NULL, p.NULL.args())
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
