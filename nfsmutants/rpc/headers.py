# SPDX-License-Identifier: MIT
"""Reading the headers of messages that may be damaged, and making others."""

from __future__ import annotations

import struct

from nfsclient.errors import XdrError
from nfsclient.rpc.messages import CallHeader
from nfsserver.middleware import Answer

_SIX = struct.Struct(">IIIIII")


def head_of(message: bytes) -> tuple[int, int, int, int, int, int]:
    """xid, mtype, rpcvers, prog, vers, proc; zeros for what is not there."""
    xid, mtype, rpcvers, prog, vers, proc = _SIX.unpack(message[: _SIX.size].ljust(_SIX.size, b"\0"))
    return xid, mtype, rpcvers, prog, vers, proc


def header_of(message: bytes) -> tuple[CallHeader, int] | None:
    """The header of a call, and where its arguments begin."""
    try:
        return CallHeader.unpack_from(message)
    except XdrError:
        return None


def with_word(message: bytes, index: int, value: int) -> bytes:
    """A message with one of its words replaced."""
    return message[: 4 * index] + value.to_bytes(4, "big") + message[4 * index + 4 :]


def joined(answer: Answer) -> bytes:
    """The bytes of an answer; none for silence."""
    return b"" if answer is None else b"".join(answer)
