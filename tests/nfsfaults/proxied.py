# SPDX-License-Identifier: MIT
"""The embedded server in one thread, a proxy before it in another, and blocking clients in the test."""

from __future__ import annotations

import asyncio
import threading
import time
import typing as t
from collections.abc import Callable
from contextlib import closing

from nfsclient.highlevel import Limits
from nfsclient.nfs3 import NfsClient
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsfaults.plan import Plan
from nfsfaults.proxy import Proxy
from nfsfaults.proxy_sockets import Passed, Settings, SourcePort
from nfsserver import Server

T = t.TypeVar("T")
_TURN = 0.05


class Proxied:
    """Use it as a context manager. The server has its rpcbind on the port of NFS."""

    def __init__(
        self, plan: Plan | None = None, *, source_port: SourcePort = "any", rpcbind: bool = False
    ) -> None:
        self.server = Server(seed=1)
        self.notes: list[str] = []
        self.passed: list[Passed] = []
        self._plan = plan
        self._source_port: SourcePort = source_port
        self._rpcbind = rpcbind
        self._ending = threading.Event()
        self._server_loop = Loop()
        _, self.server_port = self.server.listen(self._server_loop)
        self.root = self.server.backend.handle_of(self.server.fs.root)
        self._serving = threading.Thread(target=self._serve)
        self._loop = asyncio.new_event_loop()
        self._running = threading.Thread(target=self._loop.run_forever)

    def _serve(self) -> None:
        with closing(self._server_loop):
            while not self._ending.is_set():
                self._server_loop.run_until(self._ending.is_set, time.monotonic() + _TURN)
            self.server.close()

    def __enter__(self) -> t.Self:
        self._serving.start()
        self._running.start()
        self.proxy = self.run(self._begin)
        return self

    async def _begin(self) -> Proxy:
        settings = Settings(
            ("127.0.0.1", self.server_port), self._source_port, self.passed.append, self.notes.append
        )
        proxy = Proxy(settings, self._plan)
        if self._rpcbind:
            self.port = (await proxy.listen_for_rpcbind("127.0.0.1", 0, self.server_port))[1]
        else:
            self.port = (await proxy.listen("127.0.0.1", 0))[1]
        return proxy

    def run(self, work: Callable[[], t.Coroutine[t.Any, t.Any, T]]) -> T:
        """Do something in the thread of the proxy."""
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result(10)

    def stop_server(self) -> None:
        """The server goes."""
        self._ending.set()
        self._serving.join()

    def __exit__(self, *_: object) -> None:
        self.run(self.proxy.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._running.join()
        self._loop.close()
        self.stop_server()

    def connect(self, *, udp: bool = False, timeout: float = 5.0, **options: t.Any) -> RpcClient:
        """A client of the proxy."""
        make = connect_udp if udp else connect_tcp
        return make("127.0.0.1", self.port, timeout=timeout, credential=AuthSys(0, 0), **options)

    def files(self, *, udp: bool = False, timeout: float = 5.0) -> NfsClient:
        """A path client of the proxy, which reconnects."""
        rpc = self.connect(udp=udp, timeout=timeout)
        limits = Limits(8192, 8192, 8192) if udp else Limits(1 << 16, 1 << 16, 8192)
        return NfsClient(rpc, self.root, base=b"/export", limits=limits, reconnect=True)
