# SPDX-License-Identifier: MIT
"""How much the reply of a compound may still grow (RFC 5661 section 2.10.6.4)."""

from __future__ import annotations

import functools
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import Buffer, XdrType
from nfsserver.state.records import Limits4

_RPC_HEADER: t.Final = 24
"""Bytes of an accepted reply with an empty verifier: xid, REPLY, MSG_ACCEPTED, verifier, SUCCESS."""
REFUSED: t.Final = 12
"""Bytes of an operation that fails: its number, its status, and attrsset of SETATTR. There is always room for one."""
SEQUENCED: t.Final = 4 + 4 + 16 + 5 * 4
"""Bytes of a SEQUENCE that succeeds, with its number."""
_GETFH: t.Final = 4 + 4 + 4 + 32
_LARGEST: t.Final = {
    p.OPEN: 4 + 4 + 16 + 20 + 4 + 16 + 96 + _GETFH,
    p.CREATE: 4 + 4 + 20 + 16 + _GETFH,
    p.SETATTR: 4 + 4 + 16,
    p.REMOVE: 4 + 4 + 20,
    p.RENAME: 4 + 4 + 40,
    p.LINK: 4 + 4 + 20,
    p.WRITE: 4 + 4 + 16,
    p.LOCK: 4 + 4 + 16 + 16,
    p.LOCKU: 4 + 4 + 16,
    p.CLOSE: 4 + 4 + 16,
    p.OPEN_DOWNGRADE: 4 + 4 + 16,
    p.SETXATTR: 4 + 4 + 20,
    p.REMOVEXATTR: 4 + 4 + 20,
}
"""Bytes that an operation which changes something may add: it is refused before it does anything.

With OPEN and CREATE goes the GETFH that should follow.
"""


class Room:
    """The bytes that a reply may still grow by."""

    def __init__(self, size: int, refusal: Nfsstat4) -> None:
        self.left = size - REFUSED
        self.refusal = refusal
        """The status of an operation that does not fit: REP_TOO_BIG or REP_TOO_BIG_TO_CACHE."""

    @classmethod
    def of(cls, limits: Limits4, *, is_cached: bool) -> Room:
        """The room of a session."""
        if is_cached and limits.cached < limits.response:
            return cls(limits.cached, Nfsstat4.NFS4ERR_REP_TOO_BIG_TO_CACHE)
        return cls(limits.response, Nfsstat4.NFS4ERR_REP_TOO_BIG)

    def take(self, size: int) -> None:
        """The reply has grown."""
        self.left -= size

    def has(self, size: int) -> bool:
        """Whether there is room."""
        return size <= self.left


def header_size(tag: bytes) -> int:
    """Bytes of a reply without results."""
    return _RPC_HEADER + 4 + 4 + (len(tag) + 3) // 4 * 4 + 4


def least_room(operation: p.AnyOperation) -> int:
    """Bytes that must be free before an operation is executed."""
    return _LARGEST.get(operation, 0)


def size_of(result: XdrType) -> int:
    """Bytes of an operation in the reply."""
    fixed = _fixed(type(result)) if p.status_of(result) == Nfsstat4.NFS4_OK else None
    if fixed is not None:
        return 4 + fixed
    if isinstance(result, p.Read4Res) and result.resok4 is not None:
        return 4 + 4 + 4 + 4 + (len(result.resok4.data) + 3) // 4 * 4
    buffers: list[Buffer] = []
    result.pack(buffers)
    return 4 + sum(map(len, buffers))


@functools.cache
def _fixed(cls: type[XdrType]) -> int | None:
    return p.result_size(p.BY_CLASS[cls])
