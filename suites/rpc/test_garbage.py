# SPDX-License-Identifier: MIT
"""Broken messages, streams and datagrams: the server must go on serving others (RFC 1831 sections 3 and 8)."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Iterator

import pytest

from fixtures.checks.announcing import Announced
from fixtures.checks.bystanders import WhyNotServed
from fixtures.checks.wire import GARBAGE_ARGS, MARK, SUCCESS, MakeWire, auth, opaque, words
from nfsclient.errors import ConnectionLost
from nfsclient.rpc.record import fragment
from nfsjudge import expect, proves, stated
from suites.rpc.clauses import SERVES_OTHERS_AFTERWARDS
from suites.rpc.lengths import with_smaller_lengths
from suites.rpc.parameters import HIGHEST
from suites.rpc.serving import expect_others_served, expect_others_served_after

FORGETS_BROKEN_INPUT = stated(
    "RFC 1831", "3", "a server decodes the next call independently of broken input before it"
)
SEED = 5531
NFS3_PROCEDURES = range(1, 22)


def _noise(size: int) -> bytes:
    return random.Random(SEED).randbytes(size)


BROKEN_STREAMS = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tls": bytes.fromhex("16030100a8010000a40303") + _noise(160),
    "ssh": b"SSH-2.0-OpenSSH_9.9\r\n",
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "noise": _noise(1000),
    "last-fragment-2g-1": words(HIGHEST) + bytes(100),
    "first-fragment-2g-1": words(0x7FFF_FFFF) + bytes(100),
    "10000-empty-fragments": bytes(40_000),
    "1000-without-last": (words(16) + bytes(16)) * 1000,
    "1000-bytes-without-last": (words(1) + b"\0") * 1000,
    "half-mark": b"\x80\0",
    "mark-only": words(MARK | 100),
    "half-record": words(MARK | 100) + bytes(50),
    "2m-of-zeros": words(MARK | 1 << 21) + bytes(1 << 21),
    "100-empty-records": words(MARK) * 100,
    "100-one-byte-records": (words(MARK | 1) + b"\0") * 100,
}


@pytest.mark.parametrize("stream", BROKEN_STREAMS)
@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-stops-after-broken-streams")
def test_stream(wire: MakeWire, why_not_served: WhyNotServed, announced: Announced, stream: str) -> None:
    """The server serves other clients after a broken TCP stream."""
    for data in with_smaller_lengths(BROKEN_STREAMS[stream], 0, announced, mark=MARK):
        expect_others_served_after(wire(), data, why_not_served)


BROKEN_MESSAGES = {
    "reply": words(7, 1, 0, 0, 0, 0),
    "truncated-reply": words(7, 1, 0),
    "denial": words(7, 1, 1, 1, 1),
    "xid-only": words(7),
    "three-bytes": b"abc",
    "unknown-message-type": words(7, 2, 2, 100003, 3, 0, 0, 0, 0, 0),
    "noise": _noise(200),
    "no-credential": words(7, 0, 2, 100003, 3, 0),
    "credential-4g-1": words(7, 0, 2, 100003, 3, 1, 1, HIGHEST),
    "verifier-4g-1": words(7, 0, 2, 100003, 3, 1, 0, 0, 0, HIGHEST),
    "machine-name-4g-1": words(7, 0, 2, 100003, 3, 1) + auth(1, words(0, HIGHEST)) + words(0, 0),
    "groups-4g-1": words(7, 0, 2, 100003, 3, 1) + auth(1, words(0, 0, 0, 0, HIGHEST)) + words(0, 0),
    "noise-verifier": words(7, 0, 2, 100003, 3, 1, 0, 0) + auth(6, _noise(400)) + bytes(40),
}
LENGTHS = {"credential-4g-1": 7, "verifier-4g-1": 9, "machine-name-4g-1": 9, "groups-4g-1": 12}
"""Message -> the number of the word that is a length, from 0 on."""
CREDENTIAL_LENGTH, VERIFIER_LENGTH = 7, 9
"""The same for a call with AUTH_NONE."""


def _lengths_of(message: str, announced: Announced) -> Iterator[bytes]:
    """The message, and before it the same with smaller lengths."""
    at = 4 * LENGTHS[message] if message in LENGTHS else None
    unit = 4 if message == "groups-4g-1" else 1
    return with_smaller_lengths(BROKEN_MESSAGES[message], at, announced, unit=unit)


@pytest.mark.parametrize("message", BROKEN_MESSAGES)
@proves(
    SERVES_OTHERS_AFTERWARDS,
    killed_by=("rpc-stops-after-broken-messages", "rpc-restarts-after-broken-messages"),
)
def test_message(wire: MakeWire, why_not_served: WhyNotServed, announced: Announced, message: str) -> None:
    """The server serves other clients after a broken RPC message."""
    for data in _lengths_of(message, announced):
        expect_others_served_after(wire(), fragment(data, ()), why_not_served)


@pytest.mark.parametrize("index", range(1, 10))
@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-stops-after-a-header-word-of-ones")
def test_header_word(wire: MakeWire, why_not_served: WhyNotServed, announced: Announced, index: int) -> None:
    """The server serves other clients after a call with all bits of a header word set."""
    message = wire().make(cred=words(0, 0)).message()
    bent = message[: 4 * index] + words(HIGHEST) + message[4 * index + 4 :]
    at = 4 * index if index in {CREDENTIAL_LENGTH, VERIFIER_LENGTH} else None
    for data in with_smaller_lengths(bent, at, announced):
        expect_others_served_after(wire(), fragment(data, ()), why_not_served)


BROKEN_ARGUMENTS = {
    "none": b"",
    "zeros": bytes(400),
    "ones": b"\xff" * 400,
    "noise": _noise(400),
    "opaque-without-data": words(64),
    "opaque-4g-1": words(HIGHEST) + bytes(64),
    "opaque-2g": words(2**31) + bytes(64),
    "opaque-60000": opaque(bytes(60_000)),
}


@pytest.mark.parametrize("arguments", BROKEN_ARGUMENTS)
@proves(SERVES_OTHERS_AFTERWARDS, killed_by="rpc-stops-after-garbage-arguments")
def test_arguments(
    wire: MakeWire, why_not_served: WhyNotServed, announced: Announced, arguments: str
) -> None:
    """The server serves other clients after calls with broken arguments."""
    whole = BROKEN_ARGUMENTS[arguments]
    smaller = itertools.cycle(NFS3_PROCEDURES)
    number = 0
    for data in with_smaller_lengths(whole, 0, announced, times=len(NFS3_PROCEDURES)):
        # Smaller lengths one after another: 21 times the memory might be more than there is.
        if not announced.is_repeat:
            number = next(smaller)
        numbers = [*NFS3_PROCEDURES] if data == whole else [number]
        # One connection per call: a connection that is closed or out of sync then affects no other call.
        peers = [wire() for _ in numbers]
        for number, peer in zip(numbers, peers, strict=True):
            peer.send_record(peer.make(number, data).message())
        expect_others_served(peers, why_not_served)


BROKEN_DATAGRAMS = {
    "empty": b"",
    "one-byte": b"\0",
    "three-bytes": b"abc",
    "xid-only": words(7),
    "eleven-bytes": bytes(11),
    "noise": _noise(40),
    "zeros": bytes(1000),
    "ones": b"\xff" * 1000,
    "largest": bytes(65_000),
    "reply": words(7, 1, 0, 0, 0, 0),
    "marked-record": fragment(words(7, 0, 2, 100003, 3, 0, 0, 0, 0, 0), ()),
    "http": BROKEN_STREAMS["http"],
    "credential-4g-1": BROKEN_MESSAGES["credential-4g-1"],
    "half-call": words(7, 0, 2, 100003, 3),
}


@pytest.mark.parametrize("what", BROKEN_DATAGRAMS)
@proves(FORGETS_BROKEN_INPUT, killed_by="rpc-broken-datagram-spoils-the-next-call", needs="udp")
def test_datagram(wire: MakeWire, announced: Announced, what: str) -> None:
    """The server answers the next UDP call after a broken datagram."""
    broken, peer = wire("udp"), wire("udp")
    at = 4 * LENGTHS[what] if what in LENGTHS else None
    for data in with_smaller_lengths(BROKEN_DATAGRAMS[what], at, announced):
        broken.send_raw(data)
        answer = peer.call(peer.make())
        expect(answer.outcome, "answer to NULL after a broken datagram", of=answer).equals(SUCCESS)


@proves(FORGETS_BROKEN_INPUT, killed_by="rpc-garbage-spoils-a-later-call")
def test_next_call(wire: MakeWire, announced: Announced) -> None:
    """The server decodes the next call correctly after a call with broken arguments."""
    # On the same connection, if the server keeps it open.
    peer = wire()
    outcomes = []
    for arguments in with_smaller_lengths(b"\xff" * 8, 0, announced, times=1):
        for number in (1, 6, 12, 19):
            if peer.try_message(peer.make(number, arguments).message()).outcome != GARBAGE_ARGS:
                continue
            with contextlib.suppress(ConnectionLost):
                outcomes.append(peer.call(peer.make()).outcome)
            if not peer.client.is_open:
                peer = wire()
    expect(outcomes, "answers to NULL after calls with broken arguments").equals([SUCCESS] * len(outcomes))
