# SPDX-License-Identifier: MIT
"""Operations of NFSv4 performed with all recoveries, and what a session and its server allow."""

from __future__ import annotations

import typing as t
from collections import deque

from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.clients.patience import Patience
from nfsclient.errors import ServerViolation
from nfsclient.files import Ask, Compound, Info, Steps, perform, result_of, v4
from nfsclient.highlevel.nfs4.live import LiveClient
from nfsclient.highlevel.session import FALLBACK, LARGEST, Job, Limits
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.state import Open

_IN_FLIGHT = 8 << 20
_MOST_OUTSTANDING = 16
_OVERHEAD = 512
"""Bytes of a message around the data of one READ or WRITE: RPC header, SEQUENCE, PUTFH."""

T = t.TypeVar("T")


class LiveCalls:
    """A `LiveClient` as what a path client stands on (`Calls`): stateids of operations are anonymous."""

    def __init__(self, live: LiveClient) -> None:
        self.live = live
        self.files = v4.Files()
        self.limits = Limits()

    @property
    def patience(self) -> Patience:
        return self.live.patience

    def do(self, steps: Steps[T], path: bytes) -> T:
        """The result of an operation. Raises as `LiveClient.run`."""

        def answer(ask: Ask) -> CompoundReply:
            assert isinstance(ask, Compound)
            return self.live.run(ask.build, path, into=ask.into, repeatable=ask.repeatable)

        try:
            return perform(steps, answer)
        except ServerViolation as error:
            raise error.about(shown(path)) from None

    def run(
        self, jobs: deque[Job[T]], take: t.Callable[[Job[T], T], None], *, size: int, path: bytes
    ) -> None:
        """All jobs, many at a time. They must be harmless to repeat: READ, and WRITE of the same data."""

        def took(job: Job[T], reply: CompoundReply) -> None:
            try:
                result = result_of(job.steps, reply)
            except ServerViolation as error:
                raise error.about(shown(path)) from None
            take(job, result)

        outstanding = max(1, min(_MOST_OUTSTANDING, _IN_FLIGHT // max(1, size)))
        self.live.run_many(jobs, took, outstanding=outstanding, path=path)


def files_of(live: LiveClient, opened: Open) -> v4.Files:
    """Operations on the data of an open file: with the stateid of a delegation, else a lock, else the open (8.2.5).

    They raise `StateLost` if the server has forgotten the open or one of its locks.
    """

    def stateid_of(is_write: bool) -> p.Stateid4:
        live.require(opened)
        held = live.held
        delegation = held.delegations.get(opened.handle)
        if not is_write and delegation is not None and not delegation.recalled:
            return delegation.stateid
        for locks in held.locks.values():
            if locks.opened is opened and locks.ranges:
                return locks.stateid
        return opened.stateid

    return v4.Files(stateid_of)


def limits_of(
    fore: p.ChannelAttrs4, info: Info, *, rsize: int | None = None, wsize: int | None = None
) -> Limits:
    """What session and file system allow (sections 5.8.2.20, 5.8.2.21, 18.36.3), or the caller if that is less."""
    reply = max(1024, fore.ca_maxresponsesize - _OVERHEAD)
    call = max(1024, fore.ca_maxrequestsize - _OVERHEAD)
    return Limits(
        read=max(1, min(info.rtmax or FALLBACK, reply, rsize or LARGEST, LARGEST)),
        write=max(1, min(info.wtmax or FALLBACK, call, wsize or LARGEST, LARGEST)),
        page=min(64 << 10, reply),
    )
