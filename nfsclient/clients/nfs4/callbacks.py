# SPDX-License-Identifier: MIT
"""Callbacks on the connection of a client: from messages to the backchannels of its sessions."""

from __future__ import annotations

import dataclasses
import functools
import typing as t
from collections import deque
from collections.abc import Callable

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.link import Link
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.sessions.backchannel import Backchannel, CallbackRouter
from nfsclient.xdr import Buffer

_MOST_WITHHELD: t.Final = 64


class CallbackService:
    """Answers CB_NULL and CB_COMPOUND that come on a connection, while anybody waits on its loop.

    For tests of servers the answers can be withheld: `silent` drops them, `withheld` collects them until `release`.
    Whoever records the exchanges of the connection also gets the callbacks, if their arguments decode.
    """

    def __init__(self, program: int = p.CALLBACK_PROGRAM) -> None:
        self.program = program
        self.router = CallbackRouter()
        self.silent = False
        """Whether callbacks are executed, but not answered."""
        self.holds = False
        """Whether replies wait for `release`."""
        self.withheld: deque[tuple[Link, list[Buffer], Exchange | None]] = deque(maxlen=_MOST_WITHHELD)
        self.corrupt: Callable[[list[Buffer]], list[Buffer]] | None = None
        """What makes a wrong reply of the right one, XID and record mark included or not."""
        self.after: deque[Callable[[], None]] = deque()
        """What is done as soon as the reply to the present callback is sent, such as giving a delegation back."""
        self.credential: object = None
        """The credential of the latest callback, of whichever flavor."""
        self._answered: tuple[CallContext, p.CbCompound4Args, p.CbCompound4Res] | None = None
        """The compound that was answered last, until it is recorded."""
        self._dispatcher = Dispatcher()
        self.use(program)

    def use(self, program: int) -> None:
        """Answer as this program from now on, and as no other: what CREATE_SESSION is to name."""
        self.program = program
        self._dispatcher = Dispatcher()
        number = dataclasses.replace(p.NFS4_CALLBACK, number=program)
        self._dispatcher.register(number, {p.CB_COMPOUND.number: self._compound})

    def _compound(self, context: CallContext, args: p.CbCompound4Args) -> p.CbCompound4Res:
        self.credential = context.credential
        result = self.router.answer(args)
        self._answered = context, args, result
        return result

    def attach(self, link: Link) -> None:
        """Answer the calls of the peer on a connection from now on."""

        def answer(message: bytes) -> list[Buffer] | None:
            came_at = link.loop.clock()
            reply = self.answer(message)
            exchange = self._exchange(message, link, came_at)
            if reply is not None and self.holds:
                self.withheld.append((link, reply, exchange))
            elif reply is not None:
                _send(link, reply, exchange)
            if exchange is not None and link.on_exchange is not None:
                link.on_exchange(exchange)
            while self.after:
                self.after.popleft()()
            return None

        link.on_call = answer

    def _exchange(self, message: bytes, link: Link, came_at: float) -> Exchange | None:
        """The callback that was just executed, without its reply."""
        answered, self._answered = self._answered, None
        if answered is None or link.on_exchange is None:
            return None
        context, args, result = answered
        return Exchange(
            context.xid,
            _procedure(context.program),
            args,
            t.cast("Credential", context.credential),
            message,
            came_at,
            link.core.peer,
            "tcp",
            result=result,
            local=link.core.local,
            is_callback=True,
        )

    def answer(self, message: bytes) -> list[Buffer] | None:
        """The reply to a message of the server; None where there is to be none."""
        reply = self._dispatcher.answer(message, ("", 0), "tcp")
        if reply is not None and self.corrupt is not None:
            reply = self.corrupt(reply)
        return None if self.silent else reply

    def release(self) -> int:
        """Send the replies that were withheld, where their connection is still there; how many."""
        sent = 0
        while self.withheld:
            link, reply, exchange = self.withheld.popleft()
            if link.is_open:
                _send(link, reply, exchange)
                sent += 1
        return sent

    def serve(self, backchannel: Backchannel) -> None:
        """Answer for this session."""
        self.router.sessions[backchannel.session_id] = backchannel

    def forget(self, session_id: bytes) -> None:
        """Answer BADSESSION for it from now on."""
        self.router.sessions.pop(session_id, None)


def _send(link: Link, reply: list[Buffer], exchange: Exchange | None) -> None:
    if exchange is not None:
        exchange.reply, exchange.received_at = b"".join(reply), link.loop.clock()
    if link.is_open:
        link.send_reply(reply)


@functools.lru_cache(maxsize=64)
def _procedure(program: int) -> Procedure[p.CbCompound4Args, p.CbCompound4Res]:
    """CB_COMPOUND of the program number that a client chose (section 18.36.3)."""
    return (
        p.CB_COMPOUND
        if program == p.CALLBACK_PROGRAM
        else dataclasses.replace(p.CB_COMPOUND, program=program)
    )
