# SPDX-License-Identifier: MIT
"""Compounds in which the arguments of an operation do not decode (RFC 5661 section 15.1.1.1).

What comes before such an operation is executed, and it gets BADXDR; where the next one would begin nobody knows. The
knob `decodes_first` has all arguments decoded before any operation is executed: then GARBAGE_ARGS answers the call.
"""

from __future__ import annotations

import struct
import typing as t

from nfsclient.errors import XdrError
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import Unread, XdrType, replace
from nfsserver.nfs4.oversized import array_at

_WORD: t.Final = struct.Struct(">I")
_BY_NUMBER: t.Final = {operation.number: operation for operation in p.OPERATIONS}


def begin_of_undecodable(message: bytes, pos: int) -> p.Compound4Args | None:
    """A compound up to the operation whose arguments do not decode, which is an `Unread` with a number that is known.

    None for what has another fault. Raises XdrError where not even that can be said.
    """
    try:
        at = array_at(message, pos)
        (count,) = _WORD.unpack_from(message, at)
        begun, _ = p.Compound4Args.unpack_from(message[pos:at] + bytes(4))
        found, at = [], at + 4
        for following in range(count - 1, -1, -1):
            (number,) = _WORD.unpack_from(message, at)
            operation, at = _decode(message, at + 4, number, following)
            found.append(operation)
            if isinstance(operation, Unread):
                return replace(begun, argarray=found)
    except struct.error:
        pass
    return None


def _decode(message: bytes, pos: int, number: int, following: int) -> tuple[XdrType, int]:
    operation = _BY_NUMBER.get(number)
    if operation is not None:
        try:
            decoded: tuple[XdrType, int] = operation.args.unpack_from(message, pos)
        except XdrError:
            pass
        else:
            return decoded
    return Unread(number, bytes(message[pos:]), following), len(message)


def asked_in(asked: XdrType) -> p.AnyOperation | None:
    """The operation whose arguments do not decode; None for arguments that do, and for a number of no operation."""
    return _BY_NUMBER.get(asked.number) if isinstance(asked, Unread) else None
