# SPDX-License-Identifier: MIT
"""Fixtures of the checks of Spritely NFS."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from fixtures.checks.dialects.snfs import SnfsDialect, SnfsScratch
from nfsclient.errors import ConnectFailed
from nfsjudge import skip
from suites.snfs.players import Player, Table


@pytest.fixture
def table(vsnfs: SnfsDialect, scratch: SnfsScratch) -> Iterator[Table]:
    """An empty file that is closed, and four clients, each on a separate connection."""
    file = scratch.file("file")
    try:
        links = [vsnfs.connections.connect("nfs", proto="tcp", source_port=0) for _ in range(4)]
    except ConnectFailed:
        skip("no connection over TCP, and over UDP nobody can be called")
    players = [Player(link, number) for number, link in enumerate(links)]
    numbers = itertools.count()
    yield Table(file, lambda: scratch.file(f"spare-{next(numbers)}"), *players)
    for player in players:
        player.release_port()
