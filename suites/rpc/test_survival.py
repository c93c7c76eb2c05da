# SPDX-License-Identifier: MIT
"""After whatever a client sends, a server goes on to serve the others (RFC 1831 section 3).

What becomes of the provocation itself is open: it may be answered, refused, dropped, or end its connection. The claim
is about a NULL on a new connection after the provoking one has been closed. While that is open it is a weaker one: the
section says in so many words that it asks for no model of concurrency.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterable

import pytest

from fixtures.raw import GARBAGE_ARGS, MARK, SUCCESS, MakeWire, WhyNotServed, Wire, auth, opaque, words
from nfsclient.errors import ConnectionLost
from nfsclient.rpc.record import fragment
from nfsjudge import Level, Requirement, expect, proves

AWAITS_THE_NEXT = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="a server sends a reply and then awaits the next call: whatever one client sent, others are answered",
)
OTHERS_MEANWHILE = Requirement(
    rfc="RFC 1831",
    section="3",
    level=Level.SHOULD,  # the section asks for no model of concurrency: a server may have one client at a time
    gist="a server should be free for the calls of others while one client sends, or does not",
)
DATAGRAMS_STAND_ALONE = Requirement(
    rfc="RFC 1831",
    section="3",
    gist="a server awaits the next call message, whatever came before it",
)

SEED = 5531
HIGHEST = 2**32 - 1
PROCEDURES = range(1, 22)


def _noise(size: int) -> bytes:
    return random.Random(SEED).randbytes(size)


def _served_after(peer: Wire, stream: bytes, why_not_served: WhyNotServed) -> None:
    with contextlib.suppress(ConnectionLost):
        peer.send(stream)
    _served_without([peer], why_not_served)


def _served_without(peers: Iterable[Wire], why_not_served: WhyNotServed) -> None:
    """Others are served, in the first place when these clients are gone."""
    __tracebackhide__ = True
    meanwhile = why_not_served(meanwhile=True)
    for peer in peers:
        peer.client.close()
    expect(why_not_served(), "why others are not served afterwards", because=AWAITS_THE_NEXT).is_absent()
    expect(meanwhile, "why others are not served meanwhile", because=OTHERS_MEANWHILE).is_absent()


STREAMS = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tls": bytes.fromhex("16030100a8010000a40303") + _noise(160),
    "ssh": b"SSH-2.0-OpenSSH_9.9\r\n",
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "noise": _noise(1000),
    "a fragment of 2^31-1 bytes announced": words(HIGHEST) + bytes(100),
    "a first fragment of 2^31-1 bytes announced": words(0x7FFF_FFFF) + bytes(100),
    "10000 empty fragments": bytes(40_000),
    "1000 fragments without a last": (words(16) + bytes(16)) * 1000,
    "1000 fragments of a byte without a last": (words(1) + b"\0") * 1000,
    "half a mark": b"\x80\0",
    "a mark alone": words(MARK | 100),
    "half a record": words(MARK | 100) + bytes(50),
    "a record of 2 MiB of zeros": words(MARK | 1 << 21) + bytes(1 << 21),
    "100 empty records": words(MARK) * 100,
    "100 records of a byte": (words(MARK | 1) + b"\0") * 100,
}


@pytest.mark.parametrize("stream", STREAMS)
@proves(AWAITS_THE_NEXT, OTHERS_MEANWHILE, killed_by="rpc-dies-of-broken-streams")
def test_others_are_served_after_a_broken_stream(
    wire: MakeWire, why_not_served: WhyNotServed, stream: str
) -> None:
    _served_after(wire(), STREAMS[stream], why_not_served)


MESSAGES = {
    "a reply": words(7, 1, 0, 0, 0, 0),
    "a reply without an end": words(7, 1, 0),
    "a denial": words(7, 1, 1, 1, 1),
    "an xid alone": words(7),
    "three bytes": b"abc",
    "a message of another type": words(7, 2, 2, 100003, 3, 0, 0, 0, 0, 0),
    "noise": _noise(200),
    "a call without credentials": words(7, 0, 2, 100003, 3, 0),
    "a credential of 2^32-1 bytes": words(7, 0, 2, 100003, 3, 1, 1, HIGHEST),
    "a verifier of 2^32-1 bytes": words(7, 0, 2, 100003, 3, 1, 0, 0, 0, HIGHEST),
    "a machine name of 2^32-1 bytes": words(7, 0, 2, 100003, 3, 1) + auth(1, words(0, HIGHEST)) + words(0, 0),
    "2^32-1 groups": words(7, 0, 2, 100003, 3, 1) + auth(1, words(0, 0, 0, 0, HIGHEST)) + words(0, 0),
    "a verifier of noise": words(7, 0, 2, 100003, 3, 1, 0, 0) + auth(6, _noise(400)) + bytes(40),
}


@pytest.mark.parametrize("message", MESSAGES)
@proves(AWAITS_THE_NEXT, OTHERS_MEANWHILE, killed_by="rpc-dies-of-broken-messages")
def test_others_are_served_after_a_broken_message(
    wire: MakeWire, why_not_served: WhyNotServed, message: str
) -> None:
    _served_after(wire(), fragment(MESSAGES[message], ()), why_not_served)


@pytest.mark.parametrize("index", range(1, 10))
@proves(AWAITS_THE_NEXT, OTHERS_MEANWHILE, killed_by="rpc-dies-of-ones")
def test_others_are_served_after_a_word_of_ones(
    wire: MakeWire, why_not_served: WhyNotServed, index: int
) -> None:
    peer = wire()
    message = peer.make(cred=words(0, 0)).message()
    bent = message[: 4 * index] + words(HIGHEST) + message[4 * index + 4 :]
    _served_after(peer, fragment(bent, ()), why_not_served)


ARGUMENTS = {
    "none": b"",
    "zeros": bytes(400),
    "ones": b"\xff" * 400,
    "noise": _noise(400),
    "an opaque without its data": words(64),
    "an opaque of 2^32-1 bytes": words(HIGHEST) + bytes(64),
    "an opaque of 2^31 bytes": words(2**31) + bytes(64),
    "an opaque of 60000 bytes": opaque(bytes(60_000)),
}


@pytest.mark.parametrize("arguments", ARGUMENTS)
@proves(AWAITS_THE_NEXT, OTHERS_MEANWHILE, killed_by="rpc-dies-of-garbage-arguments")
def test_others_are_served_after_broken_arguments(
    wire: MakeWire, why_not_served: WhyNotServed, arguments: str
) -> None:
    # On a connection each: one that is closed, or out of step, takes no other call along.
    peers = [wire() for _ in PROCEDURES]
    for number, peer in zip(PROCEDURES, peers, strict=True):
        peer.tell(peer.make(number, ARGUMENTS[arguments]).message())
    _served_without(peers, why_not_served)


@proves(OTHERS_MEANWHILE, AWAITS_THE_NEXT, killed_by="rpc-stops-at-clients-that-do-not-read")
def test_others_are_served_beside_a_client_that_does_not_read(
    wire: MakeWire, why_not_served: WhyNotServed
) -> None:
    peer = wire()
    # Nothing of what the server answers is read before the claim.
    null = fragment(peer.make().message(), ())
    _served_after(peer, null * 2000, why_not_served)


@proves(AWAITS_THE_NEXT, killed_by="rpc-dies-of-clients-that-leave")
def test_others_are_served_after_a_client_that_left(wire: MakeWire, why_not_served: WhyNotServed) -> None:
    peer = wire()
    peer.ask(peer.make())
    peer.send(b"".join(fragment(peer.make().message(), ()) for _ in range(260)))
    peer.client.close()
    expect(why_not_served(), "why others are not served afterwards").is_absent()


@proves(AWAITS_THE_NEXT, killed_by="rpc-counts-connections-that-are-gone")
def test_others_are_served_after_many_connections(wire: MakeWire, why_not_served: WhyNotServed) -> None:
    for number in range(60):
        peer = wire()
        if number % 2:
            peer.send(b"\x80")
        peer.client.close()
    expect(why_not_served(), "why others are not served afterwards").is_absent()


@pytest.mark.parametrize("what", ["nothing", "half a mark", "half a record", "a fragment"])
@proves(OTHERS_MEANWHILE, AWAITS_THE_NEXT, killed_by="rpc-waits-for-the-slow")
def test_others_are_served_beside_slow_clients(
    wire: MakeWire, why_not_served: WhyNotServed, what: str
) -> None:
    peers = [wire() for _ in range(20)]
    start = {"nothing": b"", "half a mark": b"\x80\0", "half a record": words(MARK | 80) + bytes(20)}
    for peer in peers:
        peer.send(start.get(what, words(20) + bytes(20)))
    _served_without(peers, why_not_served)


DATAGRAMS = {
    "nothing": b"",
    "a byte": b"\0",
    "three bytes": b"abc",
    "an xid alone": words(7),
    "eleven bytes": bytes(11),
    "noise": _noise(40),
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "the largest": bytes(65_000),
    "a reply": words(7, 1, 0, 0, 0, 0),
    "a record": fragment(words(7, 0, 2, 100003, 3, 0, 0, 0, 0, 0), ()),
    "http": STREAMS["http"],
    "a credential of 2^32-1 bytes": MESSAGES["a credential of 2^32-1 bytes"],
    "half a call": words(7, 0, 2, 100003, 3),
}


@pytest.mark.parametrize("what", DATAGRAMS)
@proves(DATAGRAMS_STAND_ALONE, killed_by="rpc-keeps-broken-datagrams", needs="udp")
def test_a_broken_datagram_is_forgotten(wire: MakeWire, what: str) -> None:
    broken, peer = wire("udp"), wire("udp")
    broken.send(DATAGRAMS[what])
    said = peer.ask(peer.make())
    expect(said.outcome, "the answer to NULL after a broken datagram").equals(SUCCESS)


@proves(DATAGRAMS_STAND_ALONE, killed_by="rpc-keeps-garbage-for-the-next-call")
def test_a_call_after_garbage_is_decoded_anew(wire: MakeWire) -> None:
    # On the same connection, if it goes on.
    peer = wire()
    outcomes = []
    for number in (1, 6, 12, 19):
        if peer.attempt(peer.make(number, b"\xff" * 8).message()).outcome != GARBAGE_ARGS:
            continue
        with contextlib.suppress(ConnectionLost):
            outcomes.append(peer.ask(peer.make()).outcome)
        if not peer.client.is_open:
            peer = wire()
    expect(outcomes, "the answers to NULLs after garbage").equals([SUCCESS] * len(outcomes))
