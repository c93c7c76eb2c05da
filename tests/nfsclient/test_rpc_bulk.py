# SPDX-License-Identifier: MIT
"""Receiving in place, against a socket that gives bytes as it likes while the clock runs."""

from __future__ import annotations

import socket
import typing as t

import pytest

from nfsclient.rpc.auth import AuthNone
from nfsclient.rpc.bulk import BulkReceiver, BulkReply
from nfsclient.rpc.plan import Plan
from nfsclient.rpc.sockets import KernelTimeout
from tests.nfsclient.rpc_peer import FETCH, PATTERN, FetchArgs, FetchRes, framed, success, words

SIZE = 60_002
XID = 9
REPLY = framed(success(words(XID), words(0, SIZE, SIZE) + PATTERN[:SIZE] + b"\0\0"))
HEAD = 28 + 12


class Dribbler:
    """Gives at most `piece` bytes a receive, the head in one; each receive takes a second."""

    def __init__(self, stream: bytes, piece: int) -> None:
        self.stream = stream
        self.piece = piece
        self.now = 0.0

    def recv(self, size: int, _flags: int = 0) -> bytes:
        self.now += 1
        if not self.stream:
            raise BlockingIOError
        size = size if size == HEAD else min(size, self.piece)
        data, self.stream = self.stream[:size], self.stream[size:]
        return data

    def recv_into(self, view: memoryview, _size: int, _flags: int = 0) -> int:
        data = self.recv(min(len(view), self.piece))
        view[: len(data)] = data
        return len(data)

    def setsockopt(self, *_: object) -> None:
        pass

    def receive(self, deadline: float, into: memoryview | None = None) -> BulkReply | bytes:
        sock = t.cast("socket.socket", self)
        receiver = BulkReceiver(sock, KernelTimeout(sock), lambda: self.now)

        def find(xid: int) -> tuple[FetchArgs, memoryview | None] | None:
            return (FetchArgs(SIZE), into) if xid == XID else None

        assert FETCH.bulk is not None
        return receiver.receive(Plan(FETCH, AuthNone()), FETCH.bulk, find, deadline)


@pytest.mark.parametrize("place", [None, SIZE, SIZE - 1, SIZE + 1])
@pytest.mark.parametrize("piece", [1 << 20, SIZE, SIZE + 1, 30_000, 5000])
def test_pieces_make_a_reply(piece: int, place: int | None) -> None:
    buffer = None if place is None else bytearray(place)
    reply = Dribbler(REPLY, piece).receive(1000.0, None if buffer is None else memoryview(buffer))
    assert isinstance(reply, BulkReply)
    assert reply.xid == XID
    assert isinstance(reply.result, FetchRes)
    assert reply.result.resok is not None
    assert reply.result.resok.count == SIZE
    assert bytes(reply.result.resok.data) == PATTERN[:SIZE]
    if buffer is not None and len(buffer) >= SIZE:
        assert buffer[:SIZE] == PATTERN[:SIZE]


@pytest.mark.parametrize("into", [None, bytearray(SIZE)])
def test_the_deadline_holds_although_bytes_keep_coming(into: bytearray | None) -> None:
    dribbler = Dribbler(REPLY, 10)
    reply = dribbler.receive(5.0, None if into is None else memoryview(into))
    assert isinstance(reply, bytes)
    assert dribbler.now <= 6.0
    assert reply + dribbler.stream == REPLY


@pytest.mark.parametrize("delivered", [*range(36, 46), 1000, SIZE + HEAD, SIZE + HEAD + 1])
@pytest.mark.parametrize("into", [None, bytearray(SIZE)])
def test_no_byte_is_lost_when_the_rest_does_not_come(delivered: int, into: bytearray | None) -> None:
    dribbler = Dribbler(REPLY[:delivered], 30_000)
    reply = dribbler.receive(1000.0, None if into is None else memoryview(into))
    assert reply == REPLY[:delivered]


@pytest.mark.parametrize(
    "stream",
    [
        framed(success(words(XID + 1), words(0, SIZE, SIZE) + PATTERN[:SIZE] + b"\0\0")),
        framed(success(words(XID), words(0, SIZE, SIZE + 100) + PATTERN[:SIZE] + b"\0\0")),
        framed(success(words(XID), words(0, SIZE + 100, SIZE + 100) + PATTERN[: SIZE + 100] + b"\0\0")),
        framed(success(words(XID), words(5))) * 10,
        REPLY[:-1] + b"\1",
        b"\0" + REPLY[1:],
        bytes(100),
    ],
    ids=["other-xid", "length-lies", "more-than-asked", "failures", "padding", "not-last-fragment", "zeros"],
)
@pytest.mark.parametrize("into", [None, bytearray(SIZE)])
def test_any_other_shape_is_given_back_as_bytes(stream: bytes, into: bytearray | None) -> None:
    dribbler = Dribbler(stream, 1 << 20)
    reply = dribbler.receive(1000.0, None if into is None else memoryview(into))
    assert isinstance(reply, bytes)
    assert reply + dribbler.stream == stream
