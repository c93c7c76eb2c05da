# SPDX-License-Identifier: MIT
"""nfsclient by its asyncio driver."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator

from benchmarks.workers.common import MACHINE, Order, Run, Tally, clock, handle, host_of, port_of, serve
from nfsclient.protocol import nfs3 as p
from nfsclient.rpc.aio import AsyncRpcClient, connect_tcp
from nfsclient.rpc.auth import AuthSys

OK = p.Nfsstat3.NFS3_OK
loop = asyncio.new_event_loop()


@functools.cache
def connection(place: str) -> AsyncRpcClient:
    """The one connection to a place."""
    credential = AuthSys(0, 0, machine_name=MACHINE.encode())
    return loop.run_until_complete(connect_tcp(host_of(place), port_of(place), credential=credential))


def getattr_(order: Order) -> Run:
    rpc, args = connection(order.place), p.Getattr3Args(handle("SMALL"))

    def until(deadline: float) -> Iterator[p.Getattr3Args]:
        while clock() < deadline:
            yield args

    async def single(deadline: float) -> Tally:
        tally = Tally()
        for started in until(deadline):
            if (await rpc.call(p.GETATTR, started)).status != OK:
                raise RuntimeError("GETATTR failed")
            tally.operations += 1
        return tally

    async def many(deadline: float) -> Tally:
        tally = Tally()
        async for _, reply in rpc.pipeline(p.GETATTR, until(deadline), outstanding=order.window):
            if reply.status != OK:
                raise RuntimeError("GETATTR failed")
            tally.operations += 1
        return tally

    measured = single if order.window == 1 else many
    return lambda deadline: loop.run_until_complete(measured(deadline))


if __name__ == "__main__":
    serve({"getattr": getattr_})
