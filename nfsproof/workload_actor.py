# SPDX-License-Identifier: MIT
"""A worker of a workload as an actor of Dask distributed. It is here, since a Dask worker imports only `nfsproof`.

The worker runs in a thread with a separate loop; the methods run on the loop of Dask, so that `tell` comes through
while `call` waits. When Dask drops the actor, because the controller is gone, the socket is closed and the thread ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

from nfsproof import starter


class WorkloadActor:
    """Carries text to a worker, and its answers back."""

    def __init__(self) -> None:
        starter.put_home_first()
        from nfsproof import __version__
        from workloads.carriers.servant import serve_on

        self._ours, theirs = socket.socketpair()
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        # Daemon: a worker that hangs must not keep the process of Dask from ending.
        threading.Thread(target=serve_on, args=(theirs, __version__), daemon=True).start()

    async def call(self, text: str) -> str:
        """A call, and its answer. Lines about progress are dropped."""
        from workloads.carriers import wire

        reader, writer = await self._connected()
        writer.write(wire.frame(text))
        while True:
            length = wire.length_of(await reader.readexactly(wire.HEAD))
            answer = (await reader.readexactly(length)).decode("ascii", "replace")
            if not answer.startswith('{"progress"'):
                return answer

    async def tell(self, text: str) -> None:
        """A message that has no answer."""
        from workloads.carriers import wire

        _, writer = await self._connected()
        writer.write(wire.frame(text))

    async def leave(self, text: str) -> None:
        """The last message: then the socket is closed, and whatever the worker does ends."""
        await self.tell(text)
        self._hang_up()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(sock=self._ours)
        return self._streams

    def __del__(self) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        # Not close(): the descriptor may be one of a loop that still runs.
        with contextlib.suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
