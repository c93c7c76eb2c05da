# SPDX-License-Identifier: MIT
"""RPC over UDP (RFC 1831 section 3): where replies come from, which call they answer, and how large they may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import TargetView
from fixtures.checks.udp_socket import UdpSocket
from fixtures.checks.wire import SUCCESS, SYSTEM_ERR, MakeWire, RawCall, words
from nfsclient.protocol import nfs3 as v3
from nfsclient.rpc.sockets import Address
from nfsjudge import Harm, expect, expect_data, observe, proves, should, skip, stated
from nfsjudge.requirement import DATAGRAM_ANSWERED

REPLIES_FROM_CALLED_ADDRESS = should(
    "RFC 1122", "4.1.3.5", "a reply over UDP should come from the address that the call was sent to"
)
REPLIES_FROM_CALLED_PORT = should(
    "RFC 1831",
    "3",
    "a reply should come from the port that was called, as a connected socket receives from no other",
)
REPLIES_ONCE = should("RFC 1831", "3", "a server should answer a call once if the client sent it once")
WRITES_DATA_AS_SENT = stated(
    "RFC 1813", "3.3.7", "WRITE writes the first count bytes of the data as they were sent", harm=Harm.DATA
)
READS_FILE_DATA = stated(
    "RFC 1813", "3.3.6", "READ returns count bytes of the file's data, starting at offset", harm=Harm.DATA
)
DATAGRAM_DATA = 60_000
"""Bytes of data that fit into a datagram together with all headers."""


def _pattern(size: int) -> bytes:
    return bytes(number % 251 for number in range(size))


def _reply_source(sock: UdpSocket, procedure: int) -> Address:
    """The address and port from which the reply to a call comes. SKIP without a reply."""
    call = RawCall(proc=procedure)
    sock.send(call.message())
    found = sock.receive_reply(call.xid, call.message())
    if found is None:
        skip("the server does not answer this call; another check judges that")
    return found[1]


@pytest.mark.parametrize("procedure", [0, 1000], ids=["null", "unknown"])
@proves(REPLIES_FROM_CALLED_ADDRESS, killed_by="rpc-answers-from-another-address", needs="udp")
def test_reply_address(udp_socket: Callable[[], UdpSocket], target: TargetView, procedure: int) -> None:
    """A UDP reply comes from the address that was called."""
    sock = udp_socket()
    expect(_reply_source(sock, procedure)[0], "source address of the reply").equals(str(sock.target[0]))


@pytest.mark.parametrize("procedure", [0, 1000], ids=["null", "unknown"])
@proves(REPLIES_FROM_CALLED_PORT, killed_by="rpc-answers-from-another-port", needs="udp")
def test_reply_port(udp_socket: Callable[[], UdpSocket], target: TargetView, procedure: int) -> None:
    """A UDP reply comes from the port that was called."""
    sock = udp_socket()
    expect(_reply_source(sock, procedure)[1], "source port of the reply").equals(target.address.nfs_port)


@pytest.mark.parametrize("count", [10, 100])
@proves(REPLIES_ONCE, killed_by="rpc-answers-datagrams-twice", needs="udp")
def test_answered_once(udp_socket: Callable[[], UdpSocket], count: int) -> None:
    """The server answers each UDP call of a burst at most once."""
    sock = udp_socket()
    calls = [RawCall() for _ in range(count)]
    for call in calls:
        sock.send(call.message())
    # A call that two later calls overtake has most likely been lost, which UDP allows.
    for last in (RawCall(), RawCall()):
        sock.send(last.message())
        sock.receive_reply(last.xid, last.message())
    received = Counter(reply[:4] for reply, _ in sock.received)
    answers = Counter(received[words(call.xid)] for call in calls)
    observe("calls by number of replies", dict(answers))
    expect(max(answers), "replies to one call").at_most(1)


@proves(DATAGRAM_ANSWERED, killed_by="rpc-drops-the-fiftieth-datagram", needs="udp")
def test_burst_with_retransmissions(udp_socket: Callable[[], UdpSocket]) -> None:
    """The server answers every UDP call of a burst when lost calls are sent again."""
    sock = udp_socket()
    calls = [RawCall() for _ in range(50)]
    for call in calls:
        sock.send(call.message())
    answered = sum(sock.receive_reply(call.xid, call.message()) is not None for call in calls)
    expect(answered, "answered calls of 50").equals(50)


@proves(WRITES_DATA_AS_SENT, killed_by="write3-over-udp-zeroes-after-8k", needs="udp")
def test_large_write(wire: MakeWire, scratch: Nfs3Scratch) -> None:
    """WRITE over UDP stores the data of a large datagram unchanged."""
    peer = wire("udp")
    file = scratch.file("f")
    data = _pattern(min(DATAGRAM_DATA, _fsinfo(wire, file).wtmax))
    args = v3.Write3Args(file, 0, len(data), v3.StableHow.FILE_SYNC, data)
    answer = peer.call(peer.make(7, args.to_xdr()))
    resok = expect(answer.decode(v3.Write3Res)).ok()
    observe("written", f"{resok.count} of {len(data)} bytes")
    expect_data(scratch.read(file), data[: resok.count])


@proves(READS_FILE_DATA, killed_by="read3-over-udp-zeroes-after-8k", needs="udp")
def test_large_read(wire: MakeWire, scratch: Nfs3Scratch) -> None:
    """READ over UDP returns the data of a large datagram unchanged."""
    peer = wire("udp")
    data = _pattern(DATAGRAM_DATA)
    file = scratch.file("f", data)
    count = min(DATAGRAM_DATA, _fsinfo(wire, file).rtmax)
    answer = peer.call(peer.make(6, v3.Read3Args(file, 0, count).to_xdr()))
    resok = expect(answer.decode(v3.Read3Res)).ok()
    observe("read", f"{resok.count} of {count} bytes")
    expect_data(resok.data, data[: resok.count], of="reply", reply=answer)


@proves(DATAGRAM_ANSWERED, killed_by="read3-drops-large-reads-over-udp", needs="udp")
def test_read_above_datagram(wire: MakeWire, scratch: Nfs3Scratch) -> None:
    """The server answers a READ over UDP of more data than fit into a datagram."""
    # Fewer bytes are a valid answer, and so is an error, of NFS or of RPC: the call is large, but well-formed.
    peer = wire("udp")
    file = scratch.file("f", _pattern(100_000))
    answer = peer.try_call(peer.make(6, v3.Read3Args(file, 0, 100_000).to_xdr()))
    observe("answer", answer.outcome)
    expect(answer.outcome, "answer to a READ of 100000 bytes over UDP", of=answer).one_of(SUCCESS, SYSTEM_ERR)


def _fsinfo(wire: MakeWire, handle: bytes) -> v3.Fsinfo3ResOk:
    peer = wire("udp")
    reply = peer.call(peer.make(19, v3.Fsinfo3Args(handle).to_xdr())).decode(v3.Fsinfo3Res)
    if reply.resok is None:
        skip(f"FSINFO over UDP fails: it answers {reply.status}")
    return reply.resok
