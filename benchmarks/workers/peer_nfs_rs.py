# SPDX-License-Identifier: MIT
"""nfs-rs (PyPI, Rust underneath): NFSv3 by path; one call at a time, or asyncio when more are outstanding."""

from __future__ import annotations

import asyncio
import functools
import typing as t

from nfs_rs import AsyncClient, Client

from benchmarks.workers.common import (
    SMALL_FILE,
    Order,
    Run,
    Tally,
    Unsupported,
    fresh_name,
    gather,
    offsets,
    repeat,
    serve,
    setting,
)

loop = asyncio.new_event_loop()


def url() -> str:
    """The export, in its own spelling."""
    where = f"nfs://{setting('HOST')}{setting('EXPORT')}"
    return (
        f"{where}?version=3&nfsport={setting('NFS_PORT')}&mountport={setting('MOUNT_PORT')}&noresvport=true"
    )


@functools.cache
def client() -> t.Any:
    return Client.connect(url())


@functools.cache
def async_client() -> t.Any:

    async def connect() -> t.Any:
        return await AsyncClient.connect(url())

    return loop.run_until_complete(connect())


def open_files(order: Order, name: str, mode: str) -> list[t.Any]:
    """One open file per outstanding asyncio call."""

    nfs = async_client()

    async def open_all() -> list[t.Any]:
        return [await nfs.open(name, mode) for _ in range(order.window)]

    return loop.run_until_complete(open_all())


def at_server(order: Order) -> None:
    """It finds its export by MOUNT, which only a real server answers."""
    if order.place != "server":
        raise Unsupported("mounts first")


def getattr_(order: Order) -> Run:
    """A stat, which is LOOKUP and GETATTR."""
    at_server(order)
    if order.window == 1:
        stat = client().stat

        def step(tally: Tally) -> None:
            stat("small")
            tally.operations += 1

        return repeat(step)

    nfs = async_client()

    async def async_step(tally: Tally) -> None:
        await nfs.stat("small")
        tally.operations += 1

    return gather(loop, order.window, async_step)


def read(order: Order) -> Run:
    """READ into a buffer. Its reads may be short, so each is continued until the buffer is full."""
    at_server(order)
    position, size = offsets(order.size), order.size
    if order.window == 1:
        file, view = client().open("big", "rb"), memoryview(bytearray(size))

        def step(tally: Tally) -> None:
            offset, done = next(position), 0
            while done < size:
                done += file.readinto_at(view[done:], offset + done)
            tally.bytes += done
            tally.operations += 1

        return repeat(step)

    idle = [(opened, memoryview(bytearray(size))) for opened in open_files(order, "big", "rb")]

    async def async_step(tally: Tally) -> None:
        mine, room = idle.pop()
        offset, done = next(position), 0
        while done < size:
            done += await mine.readinto_at(room[done:], offset + done)
        idle.append((mine, room))
        tally.bytes += done
        tally.operations += 1

    return gather(loop, order.window, async_step)


def write(order: Order) -> Run:
    at_server(order)
    position, size, data = offsets(order.size), order.size, b"x" * order.size
    if order.window == 1:
        file = client().open("written", "r+b")

        def step(tally: Tally) -> None:
            offset, done = next(position), 0
            while done < size:
                done += file.write_at(data[done:] if done else data, offset + done)
            tally.bytes += done
            tally.operations += 1

        return repeat(step)

    idle = open_files(order, "written", "r+b")

    async def async_step(tally: Tally) -> None:
        mine = idle.pop()
        offset, done = next(position), 0
        while done < size:
            done += await mine.write_at(data[done:] if done else data, offset + done)
        idle.append(mine)
        tally.bytes += done
        tally.operations += 1

    return gather(loop, order.window, async_step)


def list_(order: Order) -> Run:
    """A scandir; the page size is its own."""
    at_server(order)
    nfs = client()

    def step(tally: Tally) -> None:
        tally.operations += sum(1 for _ in nfs.scandir("many"))

    return repeat(step)


def cycle(order: Order) -> Run:
    """Create, write, close, remove by path."""
    at_server(order)
    nfs, data = client(), b"x" * SMALL_FILE

    def step(tally: Tally) -> None:
        name = f"scratch/{fresh_name()}"
        with nfs.open(name, "wb") as file:
            file.write(data)
        nfs.unlink(name)
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    serve({"getattr": getattr_, "read": read, "write": write, "list": list_, "cycle": cycle})
