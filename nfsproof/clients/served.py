# SPDX-License-Identifier: MIT
"""The embedded server in a thread, while the caller waits for what a client does."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Self

from nfsclient import NfsClient, connect3
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfsserver.settings import Value

_TURN = 0.1
"""Seconds after which an idle server looks what it is to do besides."""


class Served:
    """A server whose sockets are in the network of the thread that makes it."""

    def __init__(self, host: str, knobs: Mapping[str, Value] | None = None) -> None:
        self._loop = Loop()
        self._server = Server(knobs=knobs)
        self.host, self.port = self._server.listen(self._loop, host)
        self.was_mounted = False
        self.was_disturbed = False
        """Whether something happened to the server that no packet shows."""
        self.url = f"{self._server.url}&uid=0&gid=0"
        self._orders: queue.Queue[Callable[[Server], None]] = queue.Queue()
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="server")
        self._thread.start()

    def _serve(self) -> None:
        with closing(self._loop):
            while not self._is_ending.is_set():
                self._loop.run_until(self._has_orders, time.monotonic() + _TURN)
                while not self._orders.empty():
                    self._orders.get()(self._server)
                    self._orders.task_done()
            self._server.close()

    def _has_orders(self) -> bool:
        return self._is_ending.is_set() or not self._orders.empty()

    def do(self, order: Callable[[Server], None]) -> None:
        """Does something to the server between two calls, and returns when it is done."""
        self.begin(order)
        self._orders.join()

    def begin(self, order: Callable[[Server], None]) -> None:
        """The same, and returns at once."""
        self.was_disturbed = True
        self._orders.put(order)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_ending.set()
        self._thread.join()

    @property
    def ports(self) -> dict[str, str | int | None]:
        """Options of a mount."""
        return {"port": self.port, "mountport": self.port}

    def client(self) -> NfsClient:
        """Our library on the same export."""
        return connect3(self.url)
