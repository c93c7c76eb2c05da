# SPDX-License-Identifier: MIT
"""anfs (PyPI): NFSv3 on asyncio."""

from __future__ import annotations

import asyncio
import functools
import typing as t
from collections.abc import Awaitable, Callable

from anfs.protocol.nfs3.client import NFSv3Client  # type: ignore[import-not-found]
from anfs.protocol.rpc.common.target import RPCTarget  # type: ignore[import-not-found]
from anfs.protocol.rpc.messages import AUTH_SYS  # type: ignore[import-not-found]

from benchmarks.workers.common import (
    MACHINE,
    SMALL_FILE,
    Order,
    Run,
    Tally,
    fresh_name,
    gather,
    handle,
    host_of,
    offsets,
    port_of,
    serve,
)

UNSTABLE = 0
LARGEST_PAGE = 16 << 10
"""Its decoder calls itself once per entry: 64 KiB end in RecursionError, and 16 KiB are its fastest."""

loop = asyncio.new_event_loop()


class Connection:
    """A connected client and its names for the prepared handles."""

    def __init__(self, place: str) -> None:
        target = RPCTarget(host_of(place), port_of(place), fragsize=4 << 20)
        root = handle("ROOT")
        self.nfs: t.Any = NFSv3Client(root, target, AUTH_SYS(machinename=MACHINE, uid=0, gid=0, gids=[]))
        _, error = loop.run_until_complete(self.nfs.connect())
        raise_if(error)
        names = ("SMALL", "BIG", "WRITTEN", "MANY", "WORK")
        self.known = {name: self.nfs.register_handle(handle(name), name, root) for name in names}


connection = functools.cache(Connection)


def raise_if(error: Exception | None) -> None:
    """Its calls return their error."""
    if error is not None:
        raise error


def getattr_(order: Order) -> Run:
    to = connection(order.place)
    call: Callable[[t.Any], Awaitable[t.Any]] = to.nfs.getattr
    file = to.known["SMALL"]

    async def step(tally: Tally) -> None:
        _, error = await call(file)
        raise_if(error)
        tally.operations += 1

    return gather(loop, order.window, step)


def read(order: Order) -> Run:
    to, position = connection(order.place), offsets(order.size)

    async def step(tally: Tally) -> None:
        data, error = await to.nfs.read(to.known["BIG"], next(position), order.size)
        raise_if(error)
        tally.bytes += len(data)
        tally.operations += 1

    return gather(loop, order.window, step)


def write(order: Order) -> Run:
    to, position, data = connection(order.place), offsets(order.size), b"x" * order.size

    async def step(tally: Tally) -> None:
        reply, error = await to.nfs.write(to.known["WRITTEN"], next(position), order.size, data, UNSTABLE)
        raise_if(error)
        tally.bytes += reply["resok"]["count"]
        tally.operations += 1

    return gather(loop, order.window, step)


def list_(order: Order) -> Run:
    to, size = connection(order.place), min(order.size, LARGEST_PAGE)

    async def step(tally: Tally) -> None:
        async for _, error in to.nfs.readdirplus(to.known["MANY"], 0, bytes(8), size, size):
            raise_if(error)
            tally.operations += 1

    return gather(loop, order.window, step)


def cycle(order: Order) -> Run:
    """CREATE, WRITE, REMOVE by handle. No COMMIT: its `commit` never sends."""
    to, data = connection(order.place), b"x" * SMALL_FILE

    async def step(tally: Tally) -> None:
        name, work = fresh_name(), to.known["WORK"]
        entry, error = await to.nfs.create(work, name, 0, mode=0o644)
        raise_if(error)
        _, error = await to.nfs.write(entry.handle, 0, SMALL_FILE, data, UNSTABLE)
        raise_if(error)
        _, error = await to.nfs.remove(work, name)
        raise_if(error)
        tally.operations += 1

    return gather(loop, order.window, step)


if __name__ == "__main__":
    serve({"getattr": getattr_, "read": read, "write": write, "list": list_, "cycle-uncommitted": cycle})
