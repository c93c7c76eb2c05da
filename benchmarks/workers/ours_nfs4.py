# SPDX-License-Identifier: MIT
"""nfsclient over NFSv4.1: compounds in a session, as its users call them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.workers.common import (
    MACHINE,
    SMALL_FILE,
    Order,
    Run,
    Tally,
    clock,
    offsets,
    repeat,
    serve,
    setting,
)
from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.files.v4 import STAT
from nfsclient.nfs4 import NfsClient, connect
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.url import NfsUrl
from nfsclient.xdr import XdrType

_ATTRIBUTES = (*STAT, "filehandle")


@functools.cache
def export() -> NfsClient:
    """The export by the high-level client."""
    url = f"nfs://{setting('HOST')}{setting('EXPORT')}?version=4.1&nfsport={setting('NFS_PORT')}"
    return connect(NfsUrl.parse(url), credential=AuthSys(0, 0, machine_name=MACHINE.encode()))


def session() -> Session:
    return export().live.session


@functools.cache
def handle(name: str) -> bytes:
    """The file handle of an object in the root of the export."""
    return export().find(name).handle


def pipelined(compounds: Iterable[Sequence[XdrType]], order: Order) -> Run:
    """A run with `order.window` compounds outstanding; `compounds` never ends."""

    def until(deadline: float) -> Iterator[Sequence[XdrType]]:
        for operations in compounds:
            if clock() >= deadline:
                return
            yield operations

    def run(deadline: float) -> Tally:
        tally = Tally()
        for _, reply in session().pipeline(until(deadline), outstanding=order.window):
            reply.ok()
            tally.operations += 1
            tally.bytes += order.size
        return tally

    return run


def getattr_(order: Order) -> Run:
    operations = (op.putfh(handle("small")), op.getattr(*STAT))
    if order.window > 1:
        return pipelined(iter(lambda: operations, None), order)

    def step(tally: Tally) -> None:
        session().compound(*operations).ok()
        tally.operations += 1

    return repeat(step)


def stats(order: Order) -> Run:
    """`window` stats by path, in one call of the client."""
    client, paths = export(), ["small"] * order.window

    def step(tally: Tally) -> None:
        for found in client.stat_many(paths):
            if found.type is None:  # type: ignore[union-attr]
                raise RuntimeError(repr(found))
        tally.operations += order.window

    return repeat(step)


def read(order: Order) -> Run:
    """READ; into one buffer of the caller when there is one call at a time."""
    file, position = op.putfh(handle("big")), offsets(order.size)
    if order.window > 1:
        return pipelined(((file, op.read(op.ANONYMOUS, offset, order.size)) for offset in position), order)
    room = memoryview(bytearray(order.size))

    def step(tally: Tally) -> None:
        call = op.read(op.ANONYMOUS, next(position), order.size)
        session().compound(file, call, into=room).ok()
        tally.operations += 1
        tally.bytes += order.size

    return repeat(step)


def write(order: Order) -> Run:
    file, position, data = op.putfh(handle("written")), offsets(order.size), b"x" * order.size
    unstable = p.StableHow4.UNSTABLE4
    calls = ((file, op.write(op.ANONYMOUS, offset, data, unstable)) for offset in position)
    if order.window > 1:
        return pipelined(calls, order)

    def step(tally: Tally) -> None:
        session().compound(*next(calls)).ok()
        tally.operations += 1
        tally.bytes += order.size

    return repeat(step)


def scan(_order: Order) -> Run:
    """The entries of a directory with all attributes of a stat."""

    def step(tally: Tally) -> None:
        for entry in export().scan("many", _ATTRIBUTES):
            if entry.name:
                tally.operations += 1

    return repeat(step)


def open_read(_order: Order) -> Run:
    """Open a small file by path, read it, close it."""
    client = export()

    def step(tally: Tally) -> None:
        with client.open("small") as file:
            tally.bytes += len(file.read(SMALL_FILE))
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    serve(
        {
            "getattr": getattr_,
            "stats": stats,
            "read": read,
            "write": write,
            "list": scan,
            "open-read": open_read,
        }
    )
