# SPDX-License-Identifier: MIT
"""A plugin for runs in which connections are idle now and then: before some calls nothing is sent for a while."""

from __future__ import annotations

import itertools
import typing as t

from nfsclient.rpc.blocking import RpcClient

EACH = 11
IDLE = 0.3
"""Seconds."""


def pytest_configure() -> None:
    """From now on."""
    submit, numbers = RpcClient.submit, itertools.count(1)

    def dawdle(self: RpcClient, *args: t.Any, **options: t.Any) -> t.Any:
        if next(numbers) % EACH == 0:
            self.loop.run_until(lambda: False, self.loop.clock() + IDLE)
        return submit(self, *args, **options)

    RpcClient.submit = dawdle  # type: ignore[method-assign]
