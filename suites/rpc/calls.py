# SPDX-License-Identifier: MIT
"""Calls that several files of RPC checks send."""

from __future__ import annotations

from fixtures.raw import RawCall, Wire, words


def null_call(peer: Wire) -> RawCall:
    """A NULL call whose message has `SIZE` bytes, with a machine name of eight bytes."""
    body = words(0, 8) + b"nfsproof" + words(0, 0, 0)
    return peer.make(cred=words(1, len(body)) + body)
