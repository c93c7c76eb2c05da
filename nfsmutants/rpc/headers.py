# SPDX-License-Identifier: MIT
"""Reading and changing the headers of messages that may be damaged."""

from __future__ import annotations

import struct

from nfsclient.errors import XdrError
from nfsclient.rpc.messages import CallHeader
from nfsserver.middleware import Answer

_SIX = struct.Struct(">IIIIII")


def head_of(message: bytes) -> tuple[int, int, int, int, int, int]:
    """xid, mtype, rpcvers, prog, vers, proc; zeros for missing words."""
    xid, mtype, rpcvers, prog, vers, proc = _SIX.unpack(message[: _SIX.size].ljust(_SIX.size, b"\0"))
    return xid, mtype, rpcvers, prog, vers, proc


def header_of(message: bytes) -> tuple[CallHeader, int] | None:
    """The header of a call, and the offset of its arguments."""
    try:
        return CallHeader.unpack_from(message)
    except XdrError:
        return None


def with_word(message: bytes, index: int, value: int) -> bytes:
    """The message with one of its words replaced."""
    return message[: 4 * index] + value.to_bytes(4, "big") + message[4 * index + 4 :]


def joined(answer: Answer) -> bytes:
    """The bytes of an answer; empty if there is no answer."""
    return b"" if answer is None else b"".join(answer)
