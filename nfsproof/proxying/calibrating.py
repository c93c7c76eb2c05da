# SPDX-License-Identifier: MIT
"""How long delays really are on this machine: those of the plan, and those that a client sees."""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
import typing as t
from collections.abc import Iterator
from contextlib import closing, contextmanager

from nfsclient.clients import Nfs3
from nfsclient.rpc.blocking import connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsfaults.actions import Delay
from nfsfaults.plan import Plan, Rule, Selector
from nfsfaults.proxy import Proxy
from nfsfaults.proxy_sockets import Settings
from nfsserver import Server

DELAYS: t.Final = (0.0, 0.001, 0.010, 0.040)
"""Seconds."""
_CALLS: t.Final = 50
_HOST: t.Final = "127.0.0.1"
_TURN: t.Final = 0.05


def lines(calls: int = _CALLS) -> Iterator[str]:
    """A table: the delay of a reply in a plan, and the time of a NULL call through the proxy."""
    yield f"NULL calls through a proxy before the embedded server, {calls} for each line; times in ms"
    yield "transport   asked   median   90 %    max"
    with _serving() as port:
        for transport in ("tcp", "udp"):
            for delay in DELAYS:
                times = sorted(1000 * seconds for seconds in _measure(port, transport, delay, calls))
                median, ninth = statistics.median(times), times[len(times) * 9 // 10]
                yield (f"{transport:<9} {1000 * delay:7.1f} {median:8.2f} {ninth:6.2f} {times[-1]:6.2f}")
    yield "the lines with 0.0 show what the proxy itself costs; a delay is never shorter than asked"


@contextmanager
def _serving() -> Iterator[int]:
    """The port of an embedded server."""
    ending = threading.Event()
    with closing(Loop()) as loop, closing(Server()) as server:
        _, port = server.listen(loop)

        def serve() -> None:
            while not ending.is_set():
                loop.run_until(ending.is_set, time.monotonic() + _TURN)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield port
        finally:
            ending.set()
            thread.join()


def _measure(upstream: int, transport: str, delay: float, calls: int) -> list[float]:
    """Seconds of each call."""
    rules = (Rule(Selector("reply"), (Delay(delay),)),) if delay else ()
    ports: list[int] = []
    is_up, ending = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def run() -> None:
        async with Proxy(Settings((_HOST, upstream)), Plan(rules)) as proxy:
            ports.append((await proxy.listen(_HOST))[1])
            is_up.set()
            await ending.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    while not is_up.wait(_TURN):
        if not thread.is_alive():
            raise OSError(f"cannot listen on {_HOST}")
    try:
        connect = connect_tcp if transport == "tcp" else connect_udp
        with closing(connect(_HOST, ports[0], timeout=5.0)) as rpc:
            client = Nfs3(rpc)
            client.null()
            return [_timed(client) for _ in range(calls)]
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()


def _timed(client: Nfs3) -> float:
    began = time.perf_counter()
    client.null()
    return time.perf_counter() - began
