# SPDX-License-Identifier: MIT
"""A connection with what all operations on it share: limits of the server, patience, calls in bulk."""

from __future__ import annotations

import typing as t
from collections import deque
from dataclasses import dataclass

from nfsclient.clients.nfs3 import Nfs3, is_jukebox
from nfsclient.clients.patience import Patience
from nfsclient.clients.reconnecting import Reconnecting
from nfsclient.errors import NfsClientError, NfsStatusError, RetriesExhausted
from nfsclient.paths import shown
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import Reply, ok
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)
T = t.TypeVar("T")

_LARGEST = 1 << 20
"""Larger calls gain nothing and cost memory."""
_LARGEST_DATAGRAM = 32 << 10
"""Most bytes of data in one UDP call: what servers take, below the 64 KiB of a datagram."""
_FALLBACK = 32 << 10
"""Size of a call when FSINFO says nothing."""
_PAGE = 64 << 10
_IN_FLIGHT = 8 << 20
"""Bytes of data that may be under way in one direction."""
_MOST_OUTSTANDING = 64


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes for one READ, one WRITE and one page of a listing."""

    read: int = _FALLBACK
    write: int = _FALLBACK
    page: int = _PAGE

    @classmethod
    def of(
        cls,
        info: p.Fsinfo3ResOk | None,
        *,
        datagrams: bool = False,
        rsize: int | None = None,
        wsize: int | None = None,
    ) -> Limits:
        """The sizes that FSINFO asks for, or the caller's own limits if lower (RFC 1813 section 3.3.19)."""
        largest = _LARGEST_DATAGRAM if datagrams else _LARGEST
        if info is None:
            return cls(
                min(_FALLBACK, rsize or largest), min(_FALLBACK, wsize or largest), min(_PAGE, largest)
            )
        return cls(
            read=_size(info.rtmax, info.rtpref, info.rtmult, min(largest, rsize or largest)),
            write=_size(info.wtmax, info.wtpref, info.wtmult, min(largest, wsize or largest)),
            page=min(max(_PAGE, info.dtpref), largest),
        )


def _size(most: int, preferred: int, multiple: int, largest: int) -> int:
    size = min(preferred or most or _FALLBACK, most or _FALLBACK, largest)
    if 0 < multiple <= size:
        size -= size % multiple
    return size


class Session:
    """One server connection and the rules for using it. Holds no caches."""

    def __init__(
        self, rpc: RpcClient, *, patience: Patience, limits: Limits | None = None, reconnect: bool = False
    ) -> None:
        self.rpc = rpc
        self.patience = patience
        self.caller = Reconnecting(rpc, patience if reconnect else None)
        self.nfs = Nfs3(self.caller if reconnect else rpc, patience=patience)
        self.limits = limits or Limits()

    def ok(self, reply: Reply[T], path: bytes) -> T:
        """The result of a reply. Raises `NfsStatusError`; `RetriesExhausted` if it was still JUKEBOX."""
        if is_jukebox(reply):
            raise RetriesExhausted(reply.status, _name(reply), shown(path))
        try:
            return ok(reply, shown(path))
        except NfsStatusError as error:
            if self.caller.resent:
                error.add_note(
                    f"the call was sent {self.caller.resent + 1} times: an earlier one may have been carried out"
                )
            raise

    def run(
        self,
        procedure: Procedure[A, R],
        queue: deque[A],
        take: t.Callable[[A, R], None],
        *,
        size: int,
        path: bytes,
        into: t.Callable[[A], memoryview | None] = lambda _: None,
    ) -> None:
        """Make all calls in `queue`, many at a time, each with about `size` bytes of data.

        `take` gets each call and its reply in order of arrival, and may change the queue. `into` says where
        the data of a reply is to be received. Calls answered by JUKEBOX are made again after a pause.
        Raises `RetriesExhausted` and what `take` does; then no call is left under way.
        """
        outstanding = max(1, min(_MOST_OUTSTANDING, _IN_FLIGHT // max(1, size)))
        under_way: list[Pending[R]] = []
        pauses: t.Iterator[float] | None = None
        refused: list[A] = []
        try:
            while queue or under_way or refused:
                while queue and len(under_way) < outstanding:
                    args = queue.popleft()
                    under_way.append(self.caller.submit(procedure, args, into=into(args)))
                if not under_way:
                    pauses = pauses or self.patience.pauses()
                    if next(pauses, None) is None:
                        raise RetriesExhausted(p.Nfsstat3.NFS3ERR_JUKEBOX, procedure.name, shown(path))
                    queue.extend(refused)
                    refused.clear()
                    continue
                done = self.rpc.wait_any(under_way)
                under_way.remove(done)
                reply = self.caller.result(done)
                if isinstance(reply, Pending):
                    under_way.append(reply)
                elif is_jukebox(reply):
                    refused.append(done.args)
                else:
                    pauses = None
                    take(done.args, reply)
        finally:
            # What is still to come must not land in a buffer that is the caller's again.
            for pending in under_way:
                self.rpc.core.cancel(pending, NfsClientError("given up after the failure of another call"))


def _name(reply: object) -> str:
    return type(reply).__name__.removesuffix("3Res").upper()
