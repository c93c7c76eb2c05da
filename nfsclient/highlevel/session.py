# SPDX-License-Identifier: MIT
"""A connection with what all operations on it share: limits of the server, patience, calls in bulk."""

from __future__ import annotations

import typing as t
from collections import deque
from dataclasses import dataclass

from nfsclient.clients.nfs2 import Nfs2
from nfsclient.clients.nfs3 import Nfs3, is_jukebox
from nfsclient.clients.patience import Patience
from nfsclient.clients.reconnecting import Reconnecting
from nfsclient.errors import NfsClientError, NfsStatusError, RetriesExhausted, ServerViolation
from nfsclient.files import Ask, Call, Files, Info, Steps, perform, result_of, v2, v3
from nfsclient.paths import shown
from nfsclient.protocol import nfs3 as p
from nfsclient.replies import Reply, ok
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending

T = t.TypeVar("T")

LARGEST: t.Final = 1 << 20
"""Larger calls gain nothing and cost memory."""
_LARGEST_DATAGRAM = 32 << 10
"""Most bytes of data in one UDP call: what servers take, below the 64 KiB of a datagram."""
FALLBACK: t.Final = 32 << 10
"""Size of a call when the server says nothing."""
_PAGE = 64 << 10
_IN_FLIGHT = 8 << 20
"""Bytes of data that may be under way in one direction."""
_MOST_OUTSTANDING = 64


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes for one READ, one WRITE and one page of a listing."""

    read: int = FALLBACK
    write: int = FALLBACK
    page: int = _PAGE

    @classmethod
    def of(
        cls,
        info: Info | None,
        *,
        datagrams: bool = False,
        rsize: int | None = None,
        wsize: int | None = None,
    ) -> Limits:
        """The sizes that the server wants, or the caller's own limits if lower (RFC 1813 section 3.3.19)."""
        largest = _LARGEST_DATAGRAM if datagrams else LARGEST
        if info is None:
            return cls(min(FALLBACK, rsize or largest), min(FALLBACK, wsize or largest), min(_PAGE, largest))
        return cls(
            read=_size(info.rtmax, info.rtpref, info.rtmult, min(largest, rsize or largest)),
            write=_size(info.wtmax, info.wtpref, info.wtmult, min(largest, wsize or largest)),
            page=min(max(_PAGE, info.dtpref or 0), largest),
        )


def _size(most: int | None, preferred: int | None, multiple: int | None, largest: int) -> int:
    size = min(preferred or most or FALLBACK, most or FALLBACK, largest)
    if multiple is not None and 0 < multiple <= size:
        size -= size % multiple
    return size


@dataclass(slots=True, eq=False)
class Job(t.Generic[T]):
    """An operation of one call among many that are under way, such as READ."""

    steps: Steps[T]
    offset: int
    count: int
    data: memoryview | None = None
    """What a WRITE sends."""
    ask: Ask | None = None
    """Its call, once it was made: it may be made again."""

    def begin(self) -> Ask:
        """The call."""
        if self.ask is None:
            self.ask = next(self.steps)
        return self.ask


class Calls(t.Protocol):
    """What a path client has of a server: its operations, and how they are performed, one or many at a time."""

    limits: Limits

    @property
    def files(self) -> Files: ...

    @property
    def patience(self) -> Patience: ...

    def do(self, steps: Steps[T], path: bytes) -> T:
        """The result of an operation. Raises `NfsStatusError` about `path`, `RetriesExhausted`, `RpcError`."""
        ...

    def run(
        self, jobs: deque[Job[T]], take: t.Callable[[Job[T], T], None], *, size: int, path: bytes
    ) -> None:
        """All jobs, many at a time, each with about `size` bytes of data.

        `take` gets each job and its result in order of arrival, and may change the queue. Raises as `do`, and what
        `take` does; then no call is left under way.
        """
        ...


class StatelessCalls:
    """One server connection of NFSv2 or NFSv3, and the rules for using it. Holds no caches."""

    def __init__(
        self,
        rpc: RpcClient,
        *,
        patience: Patience,
        limits: Limits | None = None,
        reconnect: bool = False,
        version: int = 3,
    ) -> None:
        self.rpc = rpc
        self.patience = patience
        self.caller = Reconnecting(rpc, patience if reconnect else None)
        over = self.caller if reconnect else rpc
        self.nfs = Nfs3(over, patience=patience)
        """Of NFSv3 only."""
        self.files: Files = v3.Files() if version == 3 else v2.Files()
        self._client = self.nfs if version == 3 else Nfs2(over)
        self.limits = limits or Limits()

    def do(self, steps: Steps[T], path: bytes) -> T:
        """The result of an operation. Raises `NfsStatusError`; `RetriesExhausted` if it was still JUKEBOX."""
        try:
            return perform(steps, self._answer)
        except (NfsStatusError, ServerViolation) as error:
            raise self._about(error, path) from None

    def _answer(self, ask: Ask) -> t.Any:
        assert isinstance(ask, Call)
        return self._client.call(ask.procedure, ask.args, into=ask.into)

    def ok(self, reply: Reply[T], path: bytes) -> T:
        """The result of a reply of NFSv3. Raises as `do`."""
        try:
            return ok(reply)
        except NfsStatusError as error:
            raise self._about(error, path) from None

    def _about(self, error: NfsStatusError | ServerViolation, path: bytes) -> NfsClientError:
        """The error with the path that the call was about."""
        if isinstance(error, ServerViolation):
            return error.about(shown(path))
        if is_jukebox(error):
            return RetriesExhausted(error.status, error.procedure, shown(path))
        error.path = shown(path)
        if self.caller.resent:
            error.add_note(
                f"the call was sent {self.caller.resent + 1} times: an earlier one may have been carried out"
            )
        return error

    def run(
        self, jobs: deque[Job[T]], take: t.Callable[[Job[T], T], None], *, size: int, path: bytes
    ) -> None:
        """As of `Calls`. Calls answered by JUKEBOX are made again after a pause."""
        outstanding = max(1, min(_MOST_OUTSTANDING, _IN_FLIGHT // max(1, size)))
        under_way: dict[Pending[t.Any], Job[T]] = {}
        pauses: t.Iterator[float] | None = None
        refused: list[Job[T]] = []
        try:
            while jobs or under_way or refused:
                while jobs and len(under_way) < outstanding:
                    job = jobs.popleft()
                    under_way[self._submit(job)] = job
                if not under_way:
                    pauses = pauses or self.patience.pauses()
                    if next(pauses, None) is None:
                        name = t.cast("Call", refused[0].ask).procedure.name
                        raise RetriesExhausted(p.Nfsstat3.NFS3ERR_JUKEBOX, name, shown(path))
                    jobs.extend(refused)
                    refused.clear()
                    continue
                done = self.rpc.wait_any(under_way)
                job = under_way.pop(done)
                reply = self.caller.result(done)
                if isinstance(reply, Pending):
                    under_way[reply] = job
                elif is_jukebox(reply):
                    refused.append(job)
                else:
                    pauses = None
                    take(job, self._result_of(job, reply, path))
        finally:
            # What is still to come must not land in a buffer that is the caller's again.
            for pending in under_way:
                self.rpc.core.cancel(pending, NfsClientError("given up after the failure of another call"))

    def _submit(self, job: Job[t.Any]) -> Pending[t.Any]:
        call = t.cast("Call", job.begin())
        return self.caller.submit(call.procedure, call.args, into=call.into)

    def _result_of(self, job: Job[T], reply: object, path: bytes) -> T:
        try:
            return result_of(job.steps, reply)
        except (NfsStatusError, ServerViolation) as error:
            raise self._about(error, path) from None
