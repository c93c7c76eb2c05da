# SPDX-License-Identifier: MIT
"""Compounds and sessions of NFSv4.1 and 4.2 for coroutines: the state of the blocking client under another driver."""

from __future__ import annotations

import asyncio
import contextlib
import typing as t

from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.nfs4.callbacks import CallbackService
from nfsclient.clients.nfs4.client import new_owner
from nfsclient.errors import RpcError
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.aio import AsyncRpcClient
from nfsclient.sessions.backchannel import Backchannel
from nfsclient.sessions.reply import CompoundError, CompoundReply
from nfsclient.sessions.session import Request, SessionState
from nfsclient.xdr import XdrType


class AsyncNfs4:
    """NFSv4 over one connection, without a session. Raises `RpcError`, `XdrError`."""

    def __init__(self, rpc: AsyncRpcClient, *, minor: int = 1, tag: bytes = b"") -> None:
        self.rpc = rpc
        self.minor = minor
        self.tag = tag
        self.callbacks = CallbackService()

    async def send(self, args: p.Compound4Args, *, into: memoryview | None = None) -> p.Compound4Res:
        """Make one COMPOUND exactly as it is given."""
        return await self.rpc.call(p.COMPOUND, args, into=into)

    async def compound(
        self, *operations: XdrType, tag: bytes | None = None, minor: int | None = None
    ) -> CompoundReply:
        """COMPOUND of these operations and no others: a leading SEQUENCE is for the caller to give."""
        args = p.Compound4Args(
            self.tag if tag is None else tag, self.minor if minor is None else minor, list(operations)
        )
        return CompoundReply(args, await self.send(args))

    async def establish(
        self,
        owner: p.ClientOwner4 | None = None,
        flags: int = 0,
        *,
        callbacks: bool = False,
        reclaim_complete: bool = True,
        **more: t.Any,
    ) -> AsyncSession:
        """EXCHANGE_ID, CREATE_SESSION, RECLAIM_COMPLETE. Raises `CompoundError`.

        `more` as of `operations.create_session`. As a context manager the session ends with DESTROY_SESSION and
        DESTROY_CLIENTID.
        """
        who = new_owner() if owner is None else owner
        known = (await self.compound(op.exchange_id(who))).ok().of(p.EXCHANGE_ID).eir_resok4
        assert known is not None
        if callbacks:
            flags |= p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
            more.setdefault("cb_program", self.callbacks.program)
            self.rpc.on_call = self.callbacks.answer
        args = op.create_session(known.eir_clientid, known.eir_sequenceid, flags, **more)
        with self.callbacks.router.expecting():
            created = (await self.compound(args)).ok().of(p.CREATE_SESSION).csr_resok4
            assert created is not None
            session = AsyncSession(self, SessionState(created, clientid=known.eir_clientid, minor=self.minor))
            if callbacks:
                self.callbacks.serve(session.callbacks)
        if reclaim_complete:
            (await session.compound(op.reclaim_complete())).ok()
        return session


class AsyncSession:
    """A session: compounds with SEQUENCE supplied, as many at a time as there are slots; others wait for a free one."""

    def __init__(self, nfs4: AsyncNfs4, state: SessionState) -> None:
        self.nfs4 = nfs4
        self.state = state
        self.callbacks = Backchannel.of(state)
        self._free = asyncio.Condition()

    @property
    def id(self) -> bytes:
        """The session id."""
        return self.state.id

    async def compound(
        self,
        *operations: XdrType,
        tag: bytes | None = None,
        minor: int | None = None,
        slot: int | None = None,
        sequence_id: int | None = None,
        highest_slot: int | None = None,
        cache_this: bool | None = None,
        into: memoryview | None = None,
    ) -> CompoundReply:
        """SEQUENCE and these operations in one call; the reply whatever its status. As `Session.compound`."""
        async with self._free:
            if slot is None:
                await self._free.wait_for(lambda: self.state.slots.has_free)
            request = self.state.begin(
                operations,
                tag=self.nfs4.tag if tag is None else tag,
                minor=minor,
                slot=slot,
                sequence_id=sequence_id,
                highest_slot=highest_slot,
                cache_this=cache_this,
            )
        return await self.perform(request, into=into)

    async def perform(
        self, request: Request, *, into: memoryview | None = None, via: AsyncNfs4 | None = None
    ) -> CompoundReply:
        """Send a request of `state.begin`, for the first time or again, over any connection, and take its reply.

        If it is cancelled, or gets no reply, its slot stays in use: it must be sent again, or the session given up.
        """
        reply = self.state.finish(request, await (via or self.nfs4).send(request.args, into=into))
        async with self._free:
            self._free.notify_all()
        return reply

    async def renew(self) -> CompoundReply:
        """A bare SEQUENCE: renews the lease and brings the status flags."""
        return await self.compound()

    async def close(self) -> None:
        """End the session and the client id, whether the server wants to or not."""
        with contextlib.suppress(RpcError, CompoundError):
            await self.nfs4.compound(op.destroy_session(self.id))
            await self.nfs4.compound(op.destroy_clientid(self.state.clientid))

    async def __aenter__(self) -> t.Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
