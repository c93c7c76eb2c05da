# SPDX-License-Identifier: MIT
"""nfsclient itself, the whole library with all its checks, as its users call it."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Iterable, Iterator

from benchmarks.workers import samples
from benchmarks.workers.common import (
    MACHINE,
    SMALL_FILE,
    Order,
    Run,
    Tally,
    clock,
    fresh_name,
    handle,
    host_of,
    offsets,
    port_of,
    repeat,
    serve,
    setting,
)
from nfsclient.clients import Nfs3
from nfsclient.files import Blocking, NewAttributes, Stable, v3
from nfsclient.highlevel import NfsClient
from nfsclient.nfs3 import connect
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import ok
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.program import Procedure

MODE: t.Final = p.Sattr3(mode=0o644)
OK: t.Final = p.Nfsstat3.NFS3_OK


@functools.cache
def connection(place: str) -> RpcClient:
    """The one connection to a place."""
    credential = AuthSys(0, 0, machine_name=MACHINE.encode())
    return connect_tcp(host_of(place), port_of(place), credential=credential)


def pipelined(rpc: RpcClient, procedure: Procedure[t.Any, t.Any], calls: Iterable[t.Any], window: int) -> Run:
    """A run with `window` calls outstanding; `calls` never ends."""

    def until(deadline: float) -> Iterator[t.Any]:
        for args in calls:
            if clock() >= deadline:
                return
            yield args

    def run(deadline: float) -> Tally:
        tally = Tally()
        for _, reply in rpc.pipeline(procedure, until(deadline), outstanding=window):
            if reply.status != OK:
                raise RuntimeError(repr(reply))
            tally.operations += 1
            tally.bytes += getattr(reply.resok, "count", 0)
        return tally

    return run


def getattr_(order: Order) -> Run:
    rpc, file = connection(order.place), handle("SMALL")
    if order.window == 1:
        nfs = Nfs3(rpc)

        def step(tally: Tally) -> None:
            if nfs.getattr(file).status != OK:
                raise RuntimeError("GETATTR failed")
            tally.operations += 1

        return repeat(step)

    args = p.Getattr3Args(file)

    def until(deadline: float) -> Iterator[p.Getattr3Args]:
        while clock() < deadline:
            yield args

    def run(deadline: float) -> Tally:
        done = 0
        for _, reply in rpc.pipeline(p.GETATTR, until(deadline), outstanding=order.window):
            if reply.status != OK:
                raise RuntimeError(repr(reply))
            done += 1
        return Tally(done)

    return run


def read(order: Order) -> Run:
    """READ; into one buffer of the caller when there is one call at a time."""
    rpc, file, position = connection(order.place), handle("BIG"), offsets(order.size)
    if order.window > 1:
        return pipelined(
            rpc, p.READ, (p.Read3Args(file, offset, order.size) for offset in position), order.window
        )
    nfs, room = Nfs3(rpc), memoryview(bytearray(order.size))

    def step(tally: Tally) -> None:
        tally.bytes += ok(nfs.read(file, next(position), order.size, into=room)).count
        tally.operations += 1

    return repeat(step)


def write(order: Order) -> Run:
    rpc, file, position, data = (
        connection(order.place),
        handle("WRITTEN"),
        offsets(order.size),
        b"x" * order.size,
    )
    if order.window > 1:
        calls = (p.Write3Args(file, offset, order.size, p.StableHow.UNSTABLE, data) for offset in position)
        return pipelined(rpc, p.WRITE, calls, order.window)
    nfs = Nfs3(rpc)

    def step(tally: Tally) -> None:
        tally.bytes += ok(nfs.write(file, next(position), data, p.StableHow.UNSTABLE)).count
        tally.operations += 1

    return repeat(step)


@functools.cache
def export() -> NfsClient:
    """The export by the high-level client."""
    return connect(setting("URL"))


def scan(_order: Order) -> Run:
    """The entries of a directory, which is READDIRPLUS to the end; the next page is under way meanwhile."""
    client = export()

    def step(tally: Tally) -> None:
        for entry in client.scan("many"):
            if entry.name:
                tally.operations += 1

    return repeat(step)


def pages(order: Order) -> Run:
    """READDIRPLUS to the end, one page after another."""
    nfs, directory = Nfs3(connection(order.place)), handle("MANY")

    def step(tally: Tally) -> None:
        cookie, verifier, eof = 0, bytes(8), False
        while not eof:
            page = ok(nfs.readdirplus(directory, cookie, verifier, order.size, order.size))
            for entry in page.entries:
                if entry.name:
                    tally.operations += 1
            cookie, verifier, eof = page.entries[-1].cookie, page.cookieverf, page.eof

    return repeat(step)


def cycle(order: Order) -> Run:
    """CREATE, WRITE, COMMIT, REMOVE by handle."""
    return _cycle(order, commits=True)


def cycle_uncommitted(order: Order) -> Run:
    """CREATE, WRITE, REMOVE by handle: nothing makes the data stable."""
    return _cycle(order, commits=False)


def _cycle(order: Order, *, commits: bool) -> Run:
    nfs, work, data = Nfs3(connection(order.place)), handle("WORK"), b"x" * SMALL_FILE

    def step(tally: Tally) -> None:
        name = fresh_name().encode()
        file = ok(nfs.create(work, name, attributes=MODE)).obj
        assert file is not None
        ok(nfs.write(file, 0, data, p.StableHow.UNSTABLE))
        if commits:
            ok(nfs.commit(file))
        ok(nfs.remove(work, name))
        tally.operations += 1

    return repeat(step)


def files_cycle(order: Order) -> Run:
    """The same by the operations that every version of NFS has."""
    files, do = v3.Files(), Blocking(Nfs3(connection(order.place)))
    work, data = handle("WORK"), b"x" * SMALL_FILE

    def step(tally: Tally) -> None:
        name = fresh_name().encode()
        file = do(files.create(work, name, attributes=NewAttributes(mode=0o644))).handle
        do(files.write(file, 0, data, Stable.UNSTABLE))
        do(files.commit(file))
        do(files.remove(work, name))
        tally.operations += 1

    return repeat(step)


def open_read(_order: Order) -> Run:
    """Read a small file by path: LOOKUP and READ, since NFSv3 has no OPEN."""
    client = export()

    def step(tally: Tally) -> None:
        with client.open("small") as file:
            tally.bytes += len(file.read(SMALL_FILE))
        tally.operations += 1

    return repeat(step)


def fattr3(_order: Order) -> Run:
    decode, data = p.Fattr3.from_xdr, samples.FATTR3

    def step(tally: Tally) -> None:
        for _ in range(100):
            decode(data)
        tally.operations += 100

    return repeat(step)


def fattr3_read(_order: Order) -> Run:
    """The same, with every field looked at, which makes the nested objects."""
    decode, data = p.Fattr3.from_xdr, samples.FATTR3

    def step(tally: Tally) -> None:
        for _ in range(100):
            _ = samples.every_field(decode(data))
        tally.operations += 100

    return repeat(step)


def page(_order: Order) -> Run:
    decode, data = p.Readdirplus3Res.from_xdr, samples.PAGE

    def step(tally: Tally) -> None:
        decode(data)
        tally.operations += 1

    return repeat(step)


def page_read(_order: Order) -> Run:
    """A page, with the attributes of every entry looked at, which makes their objects."""
    decode, data = p.Readdirplus3Res.from_xdr, samples.PAGE

    def step(tally: Tally) -> None:
        for entry in ok(decode(data)).entries:
            _ = entry.name_attributes
        tally.operations += 1

    return repeat(step)


if __name__ == "__main__":
    serve(
        {
            "getattr": getattr_,
            "read": read,
            "write": write,
            "list": scan,
            "pages": pages,
            "cycle": cycle,
            "files-cycle": files_cycle,
            "cycle-uncommitted": cycle_uncommitted,
            "open-read": open_read,
            "fattr3": fattr3,
            "fattr3-read": fattr3_read,
            "page": page,
            "page-read": page_read,
        }
    )
