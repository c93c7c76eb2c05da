# SPDX-License-Identifier: MIT
"""Removes what a run has made, from the process of the controller: for runs whose workers are gone."""

from __future__ import annotations

import typing as t
from contextlib import closing

from nfsclient.errors import NfsClientError
from nfsclient.replies import NotFound
from nfsclient.rpc.loop import Loop
from nfstargets import TargetAddress
from workloads.channels import Meter
from workloads.clients import Link
from workloads.engine import Engine
from workloads.spec import Order
from workloads.sweeping import find_directory, remove_directory
from workloads.trouble import Refused, Stopped
from workloads.watching import Watch

_PATIENCE: t.Final = 150.0
"""Seconds. What a lost client had open the server may keep for a lease, which is 90 s with many."""
_PAUSE: t.Final = 0.5


def remove_run(order: Order, loop: Loop, patience: float = _PATIENCE) -> str:
    """Remove the directory of a run; what could not be removed, as text.

    Tried again for a while: calls of a worker that was killed may still be on their way through the server.
    """
    deadline = loop.clock() + patience
    while True:
        try:
            _remove(order, loop)
        except (NfsClientError, Stopped, Refused) as error:
            left = f"{order.directory}: {error}"
        else:
            return ""
        if loop.clock() + _PAUSE >= deadline:
            return left
        loop.run_until(lambda: False, loop.clock() + _PAUSE)


def _remove(order: Order, loop: Loop) -> None:
    address = TargetAddress.from_plain(order.address)
    link = Link(address, order.version, loop, timeout=order.timeout, connections=1, transport=order.transport)
    with closing(link):
        root = link.root()
        try:
            directory = find_directory(link, root, order.directory)
        except NotFound:
            return
        engine = Engine(loop)
        with closing(engine):
            channel = link.channel(engine, Meter(), Watch(0))
            remove_directory(link, root, directory, order.directory, engine, channel)
