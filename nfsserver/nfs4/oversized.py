# SPDX-License-Identifier: MIT
"""Compounds and bitmaps that are refused by their size, before much is done about them.

A connection has its calls answered one after the other, and while one is decoded nobody else is served: a hundred
thousand operations in one call would stop the server for half a minute. So of a compound that no session can have
granted only the first operation is decoded, SEQUENCE, which answers TOO_MANY_OPS or REQ_TOO_BIG (RFC 5661 section
2.10.6.4) and leaves its slot as it is; what has no session gets the same status for the whole (section 16.2.4).
"""

from __future__ import annotations

import struct
import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import AttributeMap, Unread, XdrType, parts_of
from nfsclient.xdr.kinds import ArrayNode, IntNode
from nfsserver.bounds import MOST

_WORD: t.Final = struct.Struct(">I")
_SEQUENCE_SIZE: t.Final = 4 + 16 + 4 + 4 + 4 + 4
"""The number of the operation, and its arguments."""


def array_at(message: bytes, pos: int) -> int:
    """Where the number of operations of a compound stands. Raises struct.error."""
    (tag,) = _WORD.unpack_from(message, pos)
    return t.cast("int", pos + 4 + tag + (-tag & 3) + 4)


def begin_of_oversized(message: bytes, pos: int) -> p.Compound4Args | None:
    """Of a compound that is too large to be decoded, its tag, minor version and SEQUENCE, if it begins with that.

    None for any other, and for what is no compound. Raises XdrError.
    """
    try:
        at = array_at(message, pos)
        (count,) = _WORD.unpack_from(message, at)
    except struct.error:
        return None
    if count <= MOST.decoded_operations and len(message) <= MOST.decoded_bytes:
        return None
    if 4 * count > len(message) - at - 4:
        return None  # no array: the decoder says so at once
    begun = message[pos:at]
    first = message[at + 4 : at + 4 + _SEQUENCE_SIZE]
    is_session = first[:4] == _WORD.pack(p.SEQUENCE.number) and len(first) == _SEQUENCE_SIZE
    begun += _WORD.pack(1) + first if is_session else _WORD.pack(0)
    args, end = p.Compound4Args.unpack_from(begun)
    if end != len(begun):
        raise XdrError("Compound4Args", "the operations do not end where the message does", end)
    return args


def operations_of(context: CallContext, args: p.Compound4Args) -> int:
    """How many operations a request has, those included that were not decoded."""
    if len(context.message) <= 4 * MOST.decoded_operations:
        return len(args.argarray)
    (count,) = _WORD.unpack_from(context.message, array_at(context.message, context.arguments_at))
    is_whole = count <= MOST.decoded_operations and len(context.message) <= MOST.decoded_bytes
    return len(args.argarray) if is_whole else t.cast("int", count)


def refusal_of(count: int) -> Nfsstat4:
    """Why a request without a session is too large."""
    return Nfsstat4.NFS4ERR_TOO_MANY_OPS if count > MOST.operations else Nfsstat4.NFS4ERR_REQ_TOO_BIG


def has_long_bitmap(size: int, args: XdrType) -> bool:
    """Whether a bitmap in the arguments of an operation, in a request of that size, is too long."""
    return size > 4 * MOST.bitmap_words and _longest(args) > MOST.bitmap_words


def _longest(value: XdrType) -> int:
    if isinstance(value, AttributeMap):
        return len(value.attrmask)
    longest = 0
    for _, node, part in parts_of(value):
        if isinstance(part, XdrType) and not isinstance(part, Unread):
            longest = max(longest, _longest(part))
        elif isinstance(node, ArrayNode) and isinstance(node.element, IntNode):
            longest = max(longest, len(part))
    return longest
