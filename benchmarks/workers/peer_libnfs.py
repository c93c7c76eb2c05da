# SPDX-License-Identifier: MIT
"""libnfs (PyPI): a Python binding of libnfs, one call at a time, by path."""

from __future__ import annotations

import functools
import typing as t

import libnfs  # type: ignore[import-not-found]

from benchmarks.workers.common import (
    FILE_SIZE,
    SMALL_FILE,
    Order,
    Run,
    Tally,
    Unsupported,
    fresh_name,
    repeat,
    serve,
    setting,
)


@functools.cache
def _export() -> t.Any:
    return libnfs.NFS(setting("URL"))


def export(order: Order) -> t.Any:
    if order.place != "server":
        raise Unsupported("mounts first")
    if order.window > 1:
        raise Unsupported("one call at a time")
    return _export()


def getattr_(order: Order) -> Run:
    """A stat, which is LOOKUP and GETATTR."""
    nfs = export(order)

    def step(tally: Tally) -> None:
        nfs.stat("/small")
        tally.operations += 1

    return repeat(step)


def read(order: Order) -> Run:
    nfs = export(order)
    file = nfs.open("/big", "rb")

    def step(tally: Tally) -> None:
        data = file.read(order.size)
        tally.bytes += len(data)
        tally.operations += 1
        if len(data) < order.size:
            file.seek(0, 0)

    return repeat(step)


def write(order: Order) -> Run:
    """WRITE. It does not say how much was written: what was handed over is counted."""
    nfs, data = export(order), bytearray(order.size)
    file, per_file = nfs.open("/written", "r+b"), FILE_SIZE // order.size

    def step(tally: Tally) -> None:
        file.write(data)
        tally.bytes += order.size
        tally.operations += 1
        if tally.operations % per_file == 0:
            file.seek(0, 0)

    return repeat(step)


def cycle(order: Order) -> Run:
    """Create, write, close, remove by path."""
    nfs, text = export(order), "x" * SMALL_FILE

    def step(tally: Tally) -> None:
        name = f"/scratch/{fresh_name()}"
        file = nfs.open(name, "w")
        file.write(text)
        file.close()
        nfs.unlink(name)
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    # No listing: it gives names only, and its cache cannot be switched off.
    serve({"getattr": getattr_, "read": read, "write": write, "cycle": cycle})
