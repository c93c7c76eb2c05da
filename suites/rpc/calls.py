# SPDX-License-Identifier: MIT
"""Calls that several files of RPC checks send."""

from __future__ import annotations

import typing as t

from fixtures.checks.wire import RawCall, Wire, words

NULL_CALL_SIZE: t.Final = 68
"""Length in bytes of the message that `null_call` makes."""


def null_call(peer: Wire) -> RawCall:
    """A NULL call of `NULL_CALL_SIZE` bytes, with a machine name of eight bytes."""
    body = words(0, 8) + b"nfsproof" + words(0, 0, 0)
    return peer.make(cred=words(1, len(body)) + body)


def show_xid(message: bytes) -> str:
    """The XID at the beginning of a message, as failure texts show it."""
    return f"0x{message[:4].hex()}"
