# SPDX-License-Identifier: MIT
"""What FSINFO says of the file system, for checks that hold it to that or go to its limits."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Fsinfo3ResOk
from nfsjudge import skip

MOST_AT_ONCE: t.Final = 1024 * 1024
"""Bytes; where a server takes more in one call, the checks are content with this."""


def fsinfo(nfs3: Nfs3, handle: bytes) -> Fsinfo3ResOk:
    """The limits of the file system, on the transport of this client. SKIP when they are not told."""
    reply = nfs3.fsinfo(handle)
    if reply.resok is None:
        skip(f"the limits of the server are not known: FSINFO answers {reply.status}")
    return reply.resok


def to_move(limit: int) -> int:
    """How many bytes to move in one call where the server says that it moves `limit`."""
    return max(1, min(limit, MOST_AT_ONCE))
