# SPDX-License-Identifier: MIT
"""Two clients that write to neighbouring ranges at the same time: each byte is written once, and none may be lost.

A server that reads a block, changes a part of it and writes the block back loses what another client wrote meanwhile.
The borders between the ranges are not aligned to anything.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsjudge import Requirement, expect_data

ROUNDS: t.Final = 20
"""Ranges of each client."""
_WIDTH: t.Final = 23
SIZE: t.Final = 2 * ROUNDS * _WIDTH
_LATER: t.Final = 10008
"""JUKEBOX and DELAY."""


class Part(t.NamedTuple):
    """One WRITE."""

    offset: int
    data: bytes


class Written(t.NamedTuple):
    """The answer to one WRITE."""

    status: int
    taken: int
    """Bytes of the data that are in the file."""


def parts_of(client: int) -> list[Part]:
    """What one of the clients 0 and 1 writes: every other range."""
    letter = b"ab"[client : client + 1]
    return [Part((2 * number + client) * _WIDTH, letter * _WIDTH) for number in range(ROUNDS)]


def write_at_once(
    submits: list[Callable[[Part], Callable[[], Written]]], again: Callable[[Part], int]
) -> bytes:
    """All parts of both clients; what the ranges must contain then, zeros elsewhere.

    At first there is one WRITE of each client under way, then there are many: a busy server has more threads at work.
    `submits` starts a WRITE on each connection, and gives a function that waits for its answer. `again` makes a WRITE
    that the server put off, and gives its count.
    """
    pairs = list(zip(*(parts_of(client) for client in range(2)), strict=True))
    wanted = bytearray(SIZE)
    for some in [*([pair] for pair in pairs[: ROUNDS // 2]), pairs[ROUNDS // 2 :]]:
        waits = [(part, submit(part)) for pair in some for part, submit in zip(pair, submits, strict=True)]
        for part, wait in waits:
            answer = wait()
            count = again(part) if answer.status == _LATER else answer.taken
            wanted[part.offset : part.offset + count] = part.data[:count]
    return bytes(wanted)


def expect_nothing_lost(seen: bytes, wanted: bytes, because: Requirement | None = None) -> None:
    """The file has what both clients wrote; after a short WRITE at the end it may be shorter, where zeros would be."""
    __tracebackhide__ = True
    expect_data(
        seen.ljust(len(wanted), b"\0"), wanted, "data after both clients have written", because=because
    )
