# SPDX-License-Identifier: MIT
"""The proxy between a client and the embedded server, with its loop in a thread."""

from __future__ import annotations

import asyncio
import threading
import time
import typing as t
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nfsfaults.plan import Firing, Plan
from nfsfaults.proxy import Proxy
from nfsfaults.proxy_sockets import Settings
from nfsproof.proxying.watching import Watch

_ANSWER: t.Final = 30.0
"""Seconds for the proxy to do what it is asked to."""
_MOST_CAPTURED: t.Final = 16 << 20
"""Bytes of a capture: a client that connects again and again makes millions of packets."""
T = t.TypeVar("T")


class Between:
    """One plan at work. Its sockets are in the network of the thread that makes it."""

    def __init__(self, host: str, server_port: int, plan: Plan, capture: t.BinaryIO) -> None:
        self.host = host
        self.port = 0
        self.troubles: list[str] = []
        self.on_firing: Callable[[Firing], None] = lambda _: None
        self._plan = plan
        self._to = (host, server_port)
        self._loop = asyncio.new_event_loop()
        epoch = time.time() - self._loop.time()
        self._watch = Watch(capture, lint=False, epoch=epoch, fail=self.troubles.append, most=_MOST_CAPTURED)
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy")
        self._proxy: Proxy | None = None

    @contextmanager
    def open(self) -> Iterator[t.Self]:
        """It stands from here to the end of the block. Raises OSError."""
        self._thread.start()
        try:
            self._proxy = self._do(self._begin())
            yield self
        finally:
            if self._proxy is not None:
                self._do(self._proxy.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._watch.close()

    async def _begin(self) -> Proxy:
        proxy = Proxy(Settings(self._to, "any", self._watch.take, self.troubles.append), self._plan)
        proxy.matcher.on_firing = self.on_firing  # set before the block
        self.port = (await proxy.listen(self.host))[1]
        return proxy

    def count_anew(self) -> None:
        """Rules begin at their first message again."""

        async def clear() -> None:
            if self._proxy is not None:
                self._proxy.matcher.seen.clear()
                self._proxy.matcher.fired.clear()

        self._do(clear())

    @property
    def acted(self) -> int:
        """How often rules have acted since `count_anew`."""
        return 0 if self._proxy is None else self._proxy.matcher.fired.total()

    def _do(self, work: t.Coroutine[t.Any, t.Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_ANSWER)
