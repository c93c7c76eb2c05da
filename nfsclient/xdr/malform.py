# SPDX-License-Identifier: MIT
"""Encodings of a value with one thing wrong: what a strict decoder has to refuse."""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Iterator

from nfsclient.xdr.kinds import ArrayNode, LinkedListNode, OpaqueNode
from nfsclient.xdr.reflect import Token, tokens
from nfsclient.xdr.types import XdrType

Flaw = t.Literal["truncated", "trailing", "boolean", "enum", "discriminant", "length", "limit", "padding"]


class Malformation(t.NamedTuple):
    """A damaged encoding: what is wrong (`flaw`), in which field, and the bytes.

    An ``enum`` or ``discriminant`` flaw holds a value outside the declaration. It decodes all the same where
    unknown values are preserved, or where a default arm takes them.
    """

    flaw: Flaw
    path: str
    data: bytes


_UNLIKELY = 0x7FFF_FFF0
"""An enum value that no protocol of this library uses."""


def malformations(value: XdrType) -> Iterator[Malformation]:
    """Every way in which this module can damage the encoding of `value`, one at a time."""
    pieces = tokens(value)
    whole = b"".join(piece.data for piece in pieces)
    name = type(value).__name__
    if not pieces or pieces[-1].role != "rest":
        yield Malformation("trailing", name, whole + bytes(4))
    position = 0
    for index, piece in enumerate(pieces):
        if piece.data and piece.role != "rest":
            yield Malformation("truncated", piece.path, whole[: position + len(piece.data) - 1])
        for flaw, bent in _bend(piece):
            rest = b"".join(other.data for other in pieces[index + 1 :])
            yield Malformation(flaw, piece.path, whole[:position] + bent + rest)
        position += len(piece.data)


def _bend(piece: Token) -> Iterator[tuple[Flaw, bytes]]:
    """The damaged forms of one token."""
    match piece.role:
        case "bool" | "present":
            yield "boolean", struct.pack(">I", 2)
            yield "boolean", b"\xff\xff\xff\xff"
        case "enum":
            yield "enum", struct.pack(">i", _UNLIKELY)
        case "discriminant":
            yield (
                "discriminant",
                struct.pack(">I", _UNLIKELY)[-len(piece.data) :].rjust(len(piece.data), b"\0"),
            )
        case "length":
            yield "length", b"\xff\xff\xff\xff"
            maximum = (
                piece.node.maximum if isinstance(piece.node, OpaqueNode | ArrayNode | LinkedListNode) else 0
            )
            if maximum < 0xFFFF:
                yield "limit", struct.pack(">I", maximum + 1)
        case "padding":
            yield "padding", piece.data[:-1] + b"\x01"
        case _:
            return
