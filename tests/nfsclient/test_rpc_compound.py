# SPDX-License-Identifier: MIT
"""Compounds in the fast paths: what is in them decides for each call whether data is received in place."""

from __future__ import annotations

import itertools
import socket
import typing as t
from collections.abc import Callable, Iterator

import pytest

from nfsclient.errors import ConnectionLost
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.core import CallCore
from nfsclient.xdr import Buffer, XdrType
from tests.nfsclient.rpc_peer import PATTERN, HangUp, Peer, Script, framed, success, words
from tests.waiting import AT_MOST

OK = p.Nfsstat4.NFS4_OK
SIZE = 200_003
SEQUENCE = p.Sequence4Args(b"s" * 16, 1, 0, 0, False)
GETATTR = p.Getattr4Args([1, 4])
_START = 40
"""Bytes of a call before its arguments, with AUTH_NONE."""


def read(offset: int = 0, count: int = SIZE, tag: bytes = b"", *more: XdrType) -> p.Compound4Args:
    last = p.Read4Args(p.ANONYMOUS_STATEID, offset, count)
    return p.Compound4Args(tag, 1, [SEQUENCE, *more, p.Putfh4Args(b"fh"), last])


def write(data: Buffer) -> p.Compound4Args:
    last = p.Write4Args(p.ANONYMOUS_STATEID, 0, p.StableHow4.UNSTABLE4, data)
    return p.Compound4Args(b"", 1, [SEQUENCE, p.Putfh4Args(b"fh"), last])


def stat() -> p.Compound4Args:
    return p.Compound4Args(b"", 1, [SEQUENCE, p.Putfh4Args(b"fh"), GETATTR])


def perform(operation: XdrType) -> XdrType:
    """What a server says to one operation."""
    match operation:
        case p.Sequence4Args():
            return p.Sequence4Res(OK, p.Sequence4ResOk(b"s" * 16, 1, 0, 0, 0, 0))
        case p.Putfh4Args():
            return p.Putfh4Res(OK)
        case p.Getattr4Args():
            return p.Getattr4Res(OK, p.Getattr4ResOk(p.Fattr4(size=5)))
        case p.Write4Args():
            return p.Write4Res(OK, p.Write4ResOk(len(operation.data), p.StableHow4.UNSTABLE4, bytes(8)))
        case p.Read4Args(offset=offset, count=count):
            if offset == 13:
                return p.Read4Res(p.Nfsstat4.NFS4ERR_IO)
            return p.Read4Res(OK, p.Read4ResOk(False, PATTERN[offset : offset + count]))
    raise AssertionError(operation)


def reply_to(call: bytes) -> bytes:
    args = p.Compound4Args.from_xdr(call[_START:])
    if args.tag == b"fail":
        failed: list[XdrType] = [p.Sequence4Res(p.Nfsstat4.NFS4ERR_BADSESSION)]
        return success(call, p.Compound4Res(p.Nfsstat4.NFS4ERR_BADSESSION, args.tag, failed).to_xdr())
    results = [perform(operation) for operation in args.argarray]
    tag = b"not echoed" if args.tag == b"other" else args.tag
    return success(call, p.Compound4Res(OK, tag, results).to_xdr())


def honest(calls: list[bytes]) -> bytes | None:
    return b"".join(framed(reply_to(call)) for call in calls) if calls else None


Connect: t.TypeAlias = Callable[..., RpcClient]


@pytest.fixture
def connect() -> Iterator[Connect]:
    peers: list[Peer] = []
    clients: list[RpcClient] = []

    def make(script: Script = honest) -> RpcClient:
        peers.append(Peer(script))
        peers[-1].__enter__()
        clients.append(connect_tcp(peers[-1].host, peers[-1].port, timeout=AT_MOST))
        return clients[-1]

    yield make
    for client in clients:
        client.close()
    for peer in peers:
        peer.__exit__()


@pytest.fixture
def no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is decoded in the ordinary way."""

    def take_message(*_: object) -> t.NoReturn:
        raise AssertionError("a reply was not received in place")

    monkeypatch.setattr(CallCore, "take_message", take_message)


@pytest.fixture
def no_detours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call is one send and one receive."""

    def call_in_steps(*_: object) -> t.NoReturn:
        raise AssertionError("a small call did not take the short way")

    monkeypatch.setattr(RpcClient, "_call_in_steps", call_in_steps)


def data_of(result: p.Compound4Res) -> Buffer:
    last = result.resarray[-1]
    assert isinstance(last, p.Read4Res)
    assert last.resok4 is not None
    return last.resok4.data


@pytest.mark.usefixtures("no_copies")
@pytest.mark.parametrize("tag", [b"", b"tag"])
def test_a_compound_that_ends_with_read_is_received_in_place(connect: Connect, tag: bytes) -> None:
    client, place = connect(), bytearray(SIZE + 5)
    data = data_of(client.call(p.COMPOUND, read(tag=tag), into=memoryview(place)))
    assert bytes(data) == bytes(place[:SIZE]) == PATTERN[:SIZE]
    place[0] ^= 255
    assert data[0] == place[0]
    assert data_of(client.call(p.COMPOUND, read(7))) == PATTERN[7 : 7 + SIZE]


@pytest.mark.usefixtures("no_copies")
def test_several_outstanding_reads_are_received_in_place(connect: Connect) -> None:
    client, places = connect(), [bytearray(SIZE) for _ in range(4)]
    pendings = [
        client.submit(p.COMPOUND, read(number), into=memoryview(place)) for number, place in enumerate(places)
    ]
    for number, pending in enumerate(pendings):
        data = data_of(client.wait(pending))
        assert data == PATTERN[number : number + SIZE] == places[number]


@pytest.mark.usefixtures("no_copies")
def test_a_pipeline_of_reads_is_received_in_place(connect: Connect) -> None:
    pairs = connect().pipeline(p.COMPOUND, [read(number) for number in range(9)], outstanding=4)
    found = {args.argarray[-1].offset: data_of(result) for args, result in pairs}  # type: ignore[attr-defined]
    assert found == {number: PATTERN[number : number + SIZE] for number in range(9)}


FORMS = [read(), read(13), read(tag=b"tag"), read(tag=b"fail"), read(tag=b"other"), stat(), read(0, 100)]
FORMS += [read(0, SIZE, b"", GETATTR), write(bytes(SIZE)), write(b"few"), p.Compound4Args(b"", 1, [])]


@pytest.mark.parametrize("pair", list(itertools.product(range(len(FORMS)), repeat=2)), ids=str)
def test_compounds_of_all_forms_follow_each_other(connect: Connect, pair: tuple[int, int]) -> None:
    client, place = connect(), bytearray(SIZE)
    calls = [FORMS[index] for index in pair]
    expected = [p.Compound4Res.from_xdr(reply_to(bytes(_START) + args.to_xdr())[24:]) for args in calls]
    assert [client.call(p.COMPOUND, args) for args in calls] == expected
    assert [client.call(p.COMPOUND, args, into=memoryview(place)) for args in calls] == expected
    pendings = [client.submit(p.COMPOUND, args) for args in calls]
    assert [client.wait(pending) for pending in pendings] == expected
    found = list(client.pipeline(p.COMPOUND, calls * 2, outstanding=3))
    assert [result for _, result in found] == expected * 2


@pytest.mark.usefixtures("no_detours", "no_copies")
@pytest.mark.parametrize("args", [stat(), read(0, 1000), write(b"few")], ids=["stat", "read", "write"])
def test_small_compounds_take_the_short_way(connect: Connect, args: p.Compound4Args) -> None:
    client = connect()
    assert client.call(p.COMPOUND, args).status is OK
    assert client.call(p.COMPOUND, args).status is OK


class Watched:
    """A socket; `sent` has the buffers that were given to it."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.sent: list[Buffer] = []

    def sendmsg(self, buffers: t.Sequence[Buffer]) -> int:
        self.sent.extend(buffers)
        return self._sock.sendmsg(buffers)

    def send(self, data: Buffer, flags: int = 0) -> int:
        self.sent.append(data)
        return self._sock.send(data, flags)

    def __getattr__(self, name: str) -> t.Any:
        return getattr(self._sock, name)


def test_the_data_of_a_write_is_not_copied(connect: Connect) -> None:
    client, data = connect(), bytearray(SIZE)
    client.pass_through(lambda sock: t.cast("socket.socket", Watched(sock)))
    client.call(p.COMPOUND, write(data))
    client.wait(client.submit(p.COMPOUND, write(data)))
    list(client.pipeline(p.COMPOUND, [write(data)]))
    sent = t.cast("Watched", client._sock).sent
    assert sum(buffer is data for buffer in sent) == 3


def test_a_call_of_the_server_may_come_before_the_data(connect: Connect) -> None:
    called = words(0, 2, 0x4000_0000, 1, 1, 0, 0, 0, 0)

    def script(calls: list[bytes]) -> bytes | None:
        out = b"".join(framed(call[:4] + called) + framed(reply_to(call)) for call in calls)
        return out or None

    client, seen, place = connect(script), list[bytes](), bytearray(SIZE)
    client.on_call = seen.append
    assert data_of(client.call(p.COMPOUND, read(), into=memoryview(place))) == PATTERN[:SIZE]
    assert place == PATTERN[:SIZE]
    pairs = list(client.pipeline(p.COMPOUND, [read(1), read(2)]))
    assert [data_of(result)[0] for _, result in pairs] == [1, 2]
    assert [message[4:] for message in seen] == [called] * 3


def test_a_connection_that_ends_in_the_data(connect: Connect) -> None:
    def script(calls: list[bytes]) -> bytes | None:
        if calls:
            raise HangUp(framed(reply_to(calls[0]))[:-1000])
        return None

    client = connect(script)
    with pytest.raises(ConnectionLost):
        client.call(p.COMPOUND, read(), into=memoryview(bytearray(SIZE)))
