# SPDX-License-Identifier: MIT
"""Where in the streams of a capture RPC messages name machines, people or products, as the wire types declare it.

Messages need not be whole or right: what decodes is found, and what follows a failure counts as a body (`Identity`).
"""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfsclient.protocol.registry import procedure_of
from nfsclient.rpc.auth import AuthSysParms
from nfsclient.rpc.messages import AuthFlavor
from nfsclient.rpc.record import LAST_FRAGMENT
from nfsclient.xdr import XdrType
from nfsclient.xdr.identity import IdentityKind, identities, names_anybody

_CALL, _REPLY = 0, 1
_HEADER: t.Final = 24
"""Bytes of a call before its credential."""


class Place(t.NamedTuple):
    """Bytes of a stream that name somebody."""

    start: int
    what: IdentityKind
    data: bytes
    pieces: tuple[tuple[int, int], ...]
    """Begin and end in the stream: several where fragments part it."""


@dataclass(slots=True)
class _Message:
    """A message, and where its parts stand in the stream: (place in the message, place in the stream, length)."""

    data: bytes
    parts: list[tuple[int, int, int]]

    @property
    def xid(self) -> bytes:
        return self.data[:4]

    @property
    def kind(self) -> int:
        return int.from_bytes(self.data[4:8], "big") if len(self.data) >= 8 else -1

    def place(self, what: IdentityKind, start: int, data: bytes) -> Place:
        """Bytes of the message, where they stand in the stream."""
        end = start + len(data)
        pieces = [
            (at + max(start, own) - own, at + min(end, own + size) - own)
            for own, at, size in self.parts
            if own < end and start < own + size
        ]
        return Place(pieces[0][0], what, data, tuple(pieces))


@dataclass(slots=True)
class Talk:
    """What was sent in one direction: a stream with record marks, or datagrams one after the other."""

    data: bytes
    sizes: Sequence[int] | None
    """Of the datagrams; None for a stream."""

    def messages(self) -> Iterator[_Message]:
        """The messages, the last one perhaps incomplete. They end where a stream has no records any more."""
        if self.sizes is not None:
            at = 0
            for size in self.sizes:
                yield _Message(self.data[at : at + size], [(0, at, size)])
                at += size
            return
        at, data, parts = 0, bytearray(), list[tuple[int, int, int]]()
        while at + 4 <= len(self.data):
            (mark,) = struct.unpack_from(">I", self.data, at)
            size = min(mark & ~LAST_FRAGMENT, len(self.data) - at - 4)
            parts.append((len(data), at + 4, size))
            data += self.data[at + 4 : at + 4 + size]
            at += 4 + size
            if mark & LAST_FRAGMENT or at >= len(self.data):
                yield _Message(bytes(data), parts)
                data, parts = bytearray(), []


Types: t.TypeAlias = "tuple[type[XdrType], type[XdrType]]"
"""Of the arguments and results of a procedure."""


def places_in(there: Talk, back: Talk) -> tuple[list[Place], list[Place]]:
    """What names somebody in the two directions of a connection, in the order of the messages."""
    mine, others = list(there.messages()), list(back.messages())
    called, asked = _calls(mine), _calls(others)
    return (
        [place for message in mine for place in _places(message, asked)],
        [place for message in others for place in _places(message, called)],
    )


def _calls(messages: Iterable[_Message]) -> dict[bytes, list[Types | None]]:
    """XID -> the types of the calls that had it; None for a call of which they are not known."""
    found: dict[bytes, list[Types | None]] = {}
    for message in messages:
        if message.kind == _CALL:
            known, types = found.setdefault(message.xid, []), _types_of(message.data)
            if types not in known:
                known.append(types)
    return found


def _types_of(call: bytes) -> Types | None:
    if len(call) < _HEADER:
        return None
    program, version, number = struct.unpack_from(">III", call, 12)
    procedure = procedure_of(program, version, number)
    return None if procedure is None else (procedure.args, procedure.res)


def _places(message: _Message, called: dict[bytes, list[Types | None]]) -> Iterator[Place]:
    if message.kind == _CALL:
        at = yield from _credential(message)
        types = _types_of(message.data)
        if at is not None and types is not None:
            yield from _decoded(message, types[0], at, is_reply=False)
        return
    if message.kind != _REPLY:
        # No message of RPC. Who calls has sent it itself; what a server sends may have any names.
        yield from _body(message, 4) if called else ()
        return
    at = _results_at(message.data)
    if at is None:
        return
    for types in called.get(message.xid, [None]):
        if types is None:
            yield from _body(message, at)
        else:
            yield from _decoded(message, types[1], at, is_reply=True)


def _decoded(message: _Message, cls: type[XdrType], at: int, *, is_reply: bool) -> Iterator[Place]:
    if not names_anybody(cls):
        return
    found, failed = identities(cls, message.data, at)
    for name in found:
        yield message.place(name.what, name.start, name.data)
    if failed is not None and is_reply:
        # Nobody knows what stands here. What a client sends has no names of the server.
        yield from _body(message, failed)


def _body(message: _Message, at: int) -> Iterator[Place]:
    if at < len(message.data):
        yield message.place("body", at, message.data[at:])


def _credential(message: _Message) -> t.Generator[Place, None, int | None]:
    """What the credential and the verifier of a call name; returns where the arguments begin."""
    at = _HEADER
    for _ in range(2):
        if at + 8 > len(message.data):
            return None
        flavor, size = struct.unpack_from(">II", message.data, at)
        body = message.data[at + 8 : at + 8 + size]
        if flavor == AuthFlavor.AUTH_SYS:
            for name in identities(AuthSysParms, body)[0]:
                yield message.place(name.what, at + 8 + name.start, name.data)
        elif body:
            yield message.place("body", at + 8, body)
        at += 8 + size + -size % 4
    return at


def _results_at(reply: bytes) -> int | None:
    """Where the results of a reply begin; None if it has none. Of a reply without a right header: after its type."""
    try:
        status, _, size = struct.unpack_from(">III", reply, 8)
        if status == 1:
            return None
        at = 20 + int(size) + -int(size) % 4
        (accepted,) = struct.unpack_from(">I", reply, at)
    except struct.error:
        return 8
    return at + 4 if status == 0 and accepted == 0 else None
