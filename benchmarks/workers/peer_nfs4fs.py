# SPDX-License-Identifier: MIT
"""nfs4fs (PyPI, Rust underneath): NFSv4.2 by path. What it does at the same time goes into one COMPOUND."""

from __future__ import annotations

import functools
import typing as t

from nfs4fs._native import NfsClient  # type: ignore[import-not-found]

from benchmarks.workers.common import (
    SMALL_FILE,
    Order,
    Run,
    Tally,
    Unsupported,
    fresh_name,
    offsets,
    repeat,
    serve,
    setting,
)


@functools.cache
def _client() -> t.Any:
    return NfsClient(f"{setting('HOST')}:{setting('NFS_PORT')}", auth="auth_sys")


def client(order: Order) -> t.Any:
    if order.place != "server":
        raise Unsupported("NFSv4 only")
    return _client()


def path(name: str) -> str:
    """Paths begin with the export."""
    return f"{setting('EXPORT')}/{name}"


def getattr_(order: Order) -> Run:
    """A stat, or `window` of them in one COMPOUND."""
    nfs, name = client(order), path("small")
    names = [name] * order.window

    def step(tally: Tally) -> None:
        if order.window == 1:
            nfs.stat(name)
        else:
            nfs.stat_many(names)
        tally.operations += order.window

    return repeat(step)


def read(order: Order) -> Run:
    nfs, position = client(order), offsets(order.size)
    file = nfs.open(path("big"), "r")

    def single(tally: Tally) -> None:
        tally.bytes += len(nfs.pread(file, order.size, next(position)))
        tally.operations += 1

    def many(tally: Tally) -> None:
        where = [next(position) for _ in range(order.window)]
        blocks, _ = nfs.pread_many([file] * order.window, where, [order.size] * order.window)
        tally.bytes += sum(map(len, blocks))
        tally.operations += order.window

    return repeat(single if order.window == 1 else many)


def write(order: Order) -> Run:
    nfs, position, data = client(order), offsets(order.size), b"x" * order.size
    file = nfs.open(path("written"), "r+")

    def single(tally: Tally) -> None:
        tally.bytes += nfs.pwrite(file, data, next(position))
        tally.operations += 1

    def many(tally: Tally) -> None:
        where = [next(position) for _ in range(order.window)]
        tally.bytes += sum(nfs.pwrite_many([file] * order.window, where, [data] * order.window))
        tally.operations += order.window

    return repeat(single if order.window == 1 else many)


def list_(order: Order) -> Run:
    nfs, directory = client(order), path("many")

    def step(tally: Tally) -> None:
        tally.operations += len(nfs.listdir(directory))

    return repeat(step)


def open_read(order: Order) -> Run:
    """Open a small file by path, read it, close it."""
    nfs, name = client(order), path("small")

    def step(tally: Tally) -> None:
        file = nfs.open(name, "r")
        tally.bytes += len(nfs.pread(file, SMALL_FILE, 0))
        nfs.close(file)
        tally.operations += 1

    return repeat(step)


def cycle(order: Order) -> Run:
    """Create, write, close, remove by path. Its WRITE is FILE_SYNC, so that it needs no COMMIT."""
    nfs, data = client(order), b"x" * SMALL_FILE

    def step(tally: Tally) -> None:
        name = path(f"scratch/{fresh_name()}")
        nfs.write_many([name], [data])
        nfs.rm([name], False)
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    serve(
        {
            "getattr": getattr_,
            "read": read,
            "write": write,
            "list": list_,
            "cycle": cycle,
            "open-read": open_read,
        }
    )
