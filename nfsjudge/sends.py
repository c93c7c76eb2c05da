# SPDX-License-Identifier: MIT
"""What was sent besides the recorded calls of clients: for scripts, which send all that a server received."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Collection, Iterator, Sequence

from nfsclient.rpc.auth import Credential
from nfsclient.rpc.exchange import Exchange, RawBytes, Segment
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType, parts_of
from nfsjudge.captured.calls import exchange_of_call
from nfsjudge.placing import Message, Placing


@dataclasses.dataclass(slots=True)
class Batch:
    """Calls of one procedure on one connection, one after the other, whose arguments differ in one field at most."""

    at: float
    like: Exchange
    """The first of them."""
    procedure: Procedure[t.Any, t.Any]
    credential: Credential | None
    path: str = ""
    """Where they differ; empty for a single call."""
    args: list[XdrType] = dataclasses.field(default_factory=list)

    def takes(self, exchange: Exchange) -> bool:
        """Add a call, if it is of the same kind."""
        if (exchange.procedure, exchange.credential, exchange.local) != (
            self.procedure,
            self.credential,
            self.like.local,
        ):
            return False
        path = difference(self.args[0], exchange.args)
        if not path or self.path not in ("", path):
            return False
        self.path = path
        self.args.append(exchange.args)
        return True


@dataclasses.dataclass(slots=True)
class Closing:
    """The end of a connection, or of sending on it, by the client; or of the connection, by the server."""

    at: float
    like: RawBytes
    by_server: bool
    is_half: bool


Sent: t.TypeAlias = RawBytes | Batch | Closing


def besides(
    exchanges: Sequence[Exchange],
    segments: Sequence[Segment],
    own: Collection[str],
    leave_out: Collection[str],
) -> list[Sent]:
    """All that was sent, but for the calls of exchanges that have a procedure; in order of time.

    On connections with the client's addresses `own` a check sent bytes that it made itself: there they stay bytes.
    `leave_out` are asides that are not wanted.
    """
    kept = [segment for segment in segments if segment.aside not in leave_out]
    placing = Placing(exchanges, kept)
    found: list[Sent] = [*_bytes(placing, own), *_ends(kept), *_batches(placing, own)]
    return sorted(found, key=lambda send: send.at)


def _is_typed(message: Message, exchanges: Sequence[Exchange]) -> bool:
    return message.exchange is not None and exchanges[message.exchange].procedure is not None


def _raw(segment: Segment, data: bytes) -> RawBytes:
    return RawBytes(segment.at, True, data, segment.peer, segment.transport, segment.local)


def _bytes(placing: Placing, own: Collection[str]) -> Iterator[RawBytes]:
    for place, flow, data in placing.left(lambda message: _is_typed(message, placing.exchanges)):
        if flow[2] in own:
            yield _raw(placing.segments[place], data)


def _ends(segments: Sequence[Segment]) -> Iterator[Closing]:
    for segment in segments:
        if segment.end and segment.transport == "tcp":
            yield Closing(segment.at, _raw(segment, b""), not segment.sent, segment.end == "half-closed")


def _batches(placing: Placing, own: Collection[str]) -> Iterator[RawBytes | Batch]:
    """The calls that typed clients made without a record of them."""
    open_: dict[str, Batch] = {}
    for message in sorted(placing.messages, key=lambda placed: (placed.first, placed.begin)):
        if not message.sent or message.flow[2] in own or message.is_again:
            continue
        if _is_typed(message, placing.exchanges):
            if message.flow[2] in open_:
                yield open_.pop(message.flow[2])
            continue
        segment = placing.segments[message.first]
        exchange = exchange_of_call(message.data, segment.at, segment.peer, segment.transport)
        exchange.local = segment.local
        if exchange.procedure is None or exchange.args is None:
            if exchange.local in open_:
                yield open_.pop(exchange.local)
            yield _raw(segment, _framed(message))
        elif exchange.local not in open_ or not open_[exchange.local].takes(exchange):
            if exchange.local in open_:
                yield open_.pop(exchange.local)
            open_[exchange.local] = Batch(
                segment.at, exchange, exchange.procedure, exchange.credential, args=[exchange.args]
            )
    yield from open_.values()


def _framed(message: Message) -> bytes:
    """A message as a typed client sends it."""
    if message.flow[0] == "udp":
        return message.data
    return (0x8000_0000 | len(message.data)).to_bytes(4, "big") + message.data


def difference(value: object, other: object) -> str:
    """The path of the only field in which two values differ; empty if there is none, or several."""
    paths = list(_differences(value, other, ""))
    return paths[0] if len(paths) == 1 and not paths[0].endswith("?") else ""


def _differences(value: object, other: object, path: str) -> Iterator[str]:
    """What is no single field of bytes, or a number, has a question mark."""
    if isinstance(value, XdrType) and type(value) is type(other):
        mine, others = parts_of(value), parts_of(other)
        if [name for name, _, _ in mine] != [name for name, _, _ in others]:
            yield f"{path}?"
            return
        for (name, _, part), (_, _, counterpart) in zip(mine, others, strict=True):
            yield from _differences(part, counterpart, f"{path}.{name}" if path else name)
    elif isinstance(value, bytes | memoryview) and isinstance(other, bytes | memoryview):
        if bytes(value) != bytes(other):
            yield path
    elif value != other:
        is_number = isinstance(value, int) and isinstance(other, int) and type(value) is type(other)
        yield path if is_number else f"{path}?"
