# SPDX-License-Identifier: MIT
"""Fixtures of the checks of Spritely NFS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fixtures.checks.dialects.snfs import SnfsDialect, SnfsScratch
from suites.snfs.players import Player, Table


@pytest.fixture
def table(vsnfs: SnfsDialect, scratch: SnfsScratch) -> Iterator[Table]:
    """An empty file that is closed, and four clients, each on a separate connection."""
    file = scratch.file("file")
    players = [Player(vsnfs.connections.connect("nfs", source_port=0), number) for number in range(4)]
    yield Table(file, *players)
    for player in players:
        player.release_port()
