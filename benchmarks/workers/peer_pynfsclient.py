# SPDX-License-Identifier: MIT
"""pyNfsClient (PyPI): NFSv3, one call at a time."""

from __future__ import annotations

import functools
import typing as t

from pyNfsClient import NFSv3  # type: ignore[import-not-found]

from benchmarks.workers.common import (
    MACHINE,
    SMALL_FILE,
    Order,
    Run,
    Tally,
    Unsupported,
    fresh_name,
    handle,
    host_of,
    offsets,
    port_of,
    repeat,
    serve,
)

UNSTABLE = 0
LARGEST_PAGE = 32 << 10
"""Its decoder calls itself once per entry: larger pages end in RecursionError."""


@functools.cache
def _connection(place: str) -> t.Any:
    credential = {"flavor": 1, "machine_name": MACHINE, "uid": 0, "gid": 0, "aux_gid": []}
    nfs = NFSv3(host_of(place), port_of(place), 30, credential)
    nfs.connect()
    return nfs


def connection(order: Order) -> t.Any:
    """The connection to the place of an order."""
    if order.window > 1:
        raise Unsupported("one call at a time")
    return _connection(order.place)


def resok(reply: dict[str, t.Any]) -> dict[str, t.Any]:
    if reply["status"] != 0:
        raise RuntimeError(f"status {reply['status']}")
    return t.cast("dict[str, t.Any]", reply["resok"])


def getattr_(order: Order) -> Run:
    nfs, file = connection(order), handle("SMALL")

    def step(tally: Tally) -> None:
        if nfs.getattr(file)["status"] != 0:
            raise RuntimeError("GETATTR failed")
        tally.operations += 1

    return repeat(step)


def read(order: Order) -> Run:
    nfs, file, position = connection(order), handle("BIG"), offsets(order.size)

    def step(tally: Tally) -> None:
        tally.bytes += resok(nfs.read(file, next(position), order.size))["count"]
        tally.operations += 1

    return repeat(step)


def write(order: Order) -> Run:
    nfs, file, position, data = connection(order), handle("WRITTEN"), offsets(order.size), b"x" * order.size

    def step(tally: Tally) -> None:
        tally.bytes += resok(nfs.write(file, next(position), order.size, data, UNSTABLE))["count"]
        tally.operations += 1

    return repeat(step)


def list_(order: Order) -> Run:
    nfs, directory, size = connection(order), handle("MANY"), min(order.size, LARGEST_PAGE)

    def step(tally: Tally) -> None:
        cookie, verifier, eof = 0, bytes(8), False
        while not eof:
            reply = resok(nfs.readdirplus(directory, cookie, verifier, size, size))
            entries = reply["reply"]["entries"]
            while entries:
                tally.operations += 1
                cookie, entries = entries[0]["cookie"], entries[0]["nextentry"]
            verifier, eof = reply["cookieverf"], reply["reply"]["eof"]

    return repeat(step)


def cycle(order: Order) -> Run:
    """CREATE, WRITE, COMMIT, REMOVE by handle."""
    nfs, work, data = connection(order), handle("WORK"), b"x" * SMALL_FILE

    def step(tally: Tally) -> None:
        name = fresh_name()
        file = resok(nfs.create(work, name, 0, mode=0o644))["obj"]["handle"]["data"]
        resok(nfs.write(file, 0, SMALL_FILE, data, UNSTABLE))
        resok(nfs.commit(file))
        resok(nfs.remove(work, name))
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    serve({"getattr": getattr_, "read": read, "write": write, "list": list_, "cycle": cycle})
