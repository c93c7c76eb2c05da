# SPDX-License-Identifier: MIT
"""Connections that lived while a server refused others: one that was made again afterwards is none of them."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from fixtures.stage.connections import Connections
from fixtures.stage.slowness import Slowness
from fixtures.stage.traffic import Traffic
from nfsclient.rpc.loop import Loop
from nfsserver import Server
from nfstargets import TargetAddress


@dataclass
class Stage:
    """A server that can end and come back, and connections to it."""

    loop: Loop
    server: Server
    connections: Connections

    def restart(self) -> None:
        """End the server with its connections, and start it again at the same port."""
        port = self.server.port
        self.server.close()
        self.loop.catch_up()
        self.server = Server(seed=2)
        self.server.listen(self.loop, port=port)


@pytest.fixture
def stage() -> Iterator[Stage]:
    loop, server, slowness = Loop(), Server(seed=1), Slowness(lambda: 1.0)
    server.listen(loop)
    address = TargetAddress(host="127.0.0.1", nfs_port=server.port, mount_port=server.port)
    life: t.Any = SimpleNamespace(address=address, is_in_process=False)
    made = Stage(loop, server, Connections(life, loop, Traffic(loop, slowness), slowness, 10.0))
    yield made
    made.connections.close()
    made.server.close()
    loop.close()


def test_a_connection_that_stays_has_survived(stage: Stage) -> None:
    stage.connections.shared("nfs")
    assert not stage.connections.all_have_ended(stage.loop.clock())


def test_one_that_has_ended_has_not(stage: Stage) -> None:
    stage.connections.shared("nfs")
    began = stage.loop.clock()
    stage.restart()
    assert stage.connections.all_have_ended(began)


def test_one_that_was_made_again_has_not_either(stage: Stage) -> None:
    client = stage.connections.shared("nfs")
    began = stage.loop.clock()
    stage.restart()
    stage.loop.catch_up()
    client.keep_open()
    assert client.is_open
    assert stage.connections.all_have_ended(began)
    assert not stage.connections.all_have_ended(stage.loop.clock())
