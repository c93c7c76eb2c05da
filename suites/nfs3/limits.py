# SPDX-License-Identifier: MIT
"""The limits that FSINFO returns, for checks that judge or use them."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Fsinfo3ResOk
from nfsjudge import skip

MOST_AT_ONCE: t.Final = 1024 * 1024
"""Bytes: the checks send and read no more in one call, even if the server allows it."""


def fsinfo(nfs3: Nfs3, handle: bytes) -> Fsinfo3ResOk:
    """The limits of the file system on the transport of this client. SKIP if FSINFO fails."""
    reply = nfs3.fsinfo(handle)
    if reply.resok is None:
        skip(f"the limits of the server are not known: FSINFO answers {reply.status}")
    return reply.resok


def to_move(limit: int) -> int:
    """How many bytes to transfer in one call if the server allows `limit`."""
    return max(1, min(limit, MOST_AT_ONCE))


MOST_LINKS: t.Final = 2000
"""The checks do not try a linkmax above this."""
Links: t.TypeAlias = Callable[[bytes, int], t.Any]
