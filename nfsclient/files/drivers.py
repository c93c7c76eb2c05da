# SPDX-License-Identifier: MIT
"""What performs operations: over a typed client or a session, blocking or for asyncio.

A server that is busy (JUKEBOX, DELAY) asks for another try. Blocking clients do that if they have a `Patience`; the
driver for asyncio does it here. When patience has ended the status is raised like any other.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.clients.caller import TypedClient
from nfsclient.clients.nfs3 import is_jukebox
from nfsclient.files.steps import Ask, Call, Compound, Steps, perform, perform_async

if t.TYPE_CHECKING:
    from nfsclient.clients.nfs4 import CompoundReply, Compounds
    from nfsclient.clients.nfs4.aio import AsyncSession
    from nfsclient.rpc.aio import AsyncRpcClient

T = t.TypeVar("T")
_FIRST: t.Final = 0.05
_LONGEST: t.Final = 5.0
"""Seconds of the first pause and of the longest one, as of `Patience`."""


class Blocking:
    """Performs operations over an `Nfs2`, an `Nfs3` or `Compounds` (`Session`): ``do(files.getattr(handle))``."""

    def __init__(self, over: TypedClient | Compounds) -> None:
        self._over = over

    def __call__(self, steps: Steps[T]) -> T:
        """The result of an operation. Raises what `Files` says, and `RpcError`, `XdrError`."""
        return perform(steps, self._answer)

    def _answer(self, ask: Ask) -> t.Any:
        over: t.Any = self._over
        if isinstance(ask, Call):
            return over.call(ask.procedure, ask.args, into=ask.into)
        into = {} if ask.into is None else {"into": ask.into}  # a session can do that
        return over.compound(*ask.build(), **into)


class OnAsyncio:
    """Performs operations over an `AsyncRpcClient` or an `AsyncSession`: ``await do(files.getattr(handle))``.

    `patience` is in seconds, of all pauses of one call together.
    """

    def __init__(
        self,
        over: AsyncRpcClient | AsyncSession,
        *,
        patience: float = 30.0,
        sleep: Callable[[float], t.Awaitable[object]] | None = None,
    ) -> None:
        """`sleep` is that of asyncio if none is given."""
        from asyncio import sleep as wait  # only programs that use asyncio load it

        self._over = over
        self._patience = patience
        self._sleep = sleep or wait

    async def __call__(self, steps: Steps[T]) -> T:
        """The result of an operation. Raises what `Files` says, and `RpcError`, `XdrError`."""
        return await perform_async(steps, self._answer)

    async def _answer(self, ask: Ask) -> t.Any:
        reply = await self._attempt(ask)
        left, pause = self._patience, _FIRST
        while left > 0 and _is_busy(ask, reply):
            waited = min(pause, left)
            await self._sleep(waited)
            left, pause = left - waited, min(pause * 2, _LONGEST)
            reply = await self._attempt(ask)
        return reply

    async def _attempt(self, ask: Ask) -> t.Any:
        over: t.Any = self._over
        if isinstance(ask, Call):
            return await over.call(ask.procedure, ask.args, into=ask.into)
        return await over.compound(*ask.build(), into=ask.into)


def _is_busy(ask: Ask, reply: t.Any) -> bool:
    if isinstance(ask, Compound):
        from nfsclient.clients.nfs4.session import may_be_tried_again  # only programs that use NFSv4 load it

        compound: CompoundReply = reply
        return may_be_tried_again(compound)
    return is_jukebox(reply)
