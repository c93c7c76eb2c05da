# SPDX-License-Identifier: MIT
"""A session over a connection: compounds with SEQUENCE supplied (RFC 5661 section 2.10)."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from nfsclient.clients.nfs4 import direct
from nfsclient.clients.nfs4.client import Client, Nfs4, is_delayed_at_once
from nfsclient.errors import RpcError
from nfsclient.protocol import nfs4 as p
from nfsclient.sessions.backchannel import Backchannel
from nfsclient.sessions.reply import CompoundError, CompoundReply
from nfsclient.sessions.session import Request, SessionState, changes_nothing
from nfsclient.xdr import XdrType

if t.TYPE_CHECKING:
    from nfsclient.rpc.blocking import RpcClient
    from nfsclient.rpc.program import Procedure


class Session:
    """A session of NFSv4.1 or 4.2, over the connection of an `Nfs4`: `Compounds` with slots and sequence ids.

    ``session.compound(putfh(f), read(stateid, 0, 100))`` puts SEQUENCE in front, with the lowest free slot. The numbers
    can be given instead, right or wrong; and `nfs4.compound(session.sequence(...), ...)` sends anything.
    With the patience of `nfs4`, DELAY is tried again in a new request, unless an operation before it has changed
    something on the server.
    Raises `RpcError`, `XdrError`, `NoFreeSlot`, `SessionViolation`.
    """

    def __init__(self, nfs4: Nfs4, state: SessionState, client: Client | None = None) -> None:
        self.nfs4 = nfs4
        self.state = state
        self.client = client
        """Whose session it is, where it was made by `Client.create_session`."""

        self.connections = [nfs4]
        """All connections of the session."""
        self.callbacks = Backchannel.of(state)
        """Answers callbacks, if the session was made with them."""
        self._bind_again: Callable[[], None] | None = None

    @property
    def id(self) -> bytes:
        """The session id."""
        return self.state.id

    @property
    def clientid(self) -> int:
        """The client id."""
        return self.state.clientid

    def sequence(self, slot: int = 0, sequence_id: int | None = None, **more: t.Any) -> p.Sequence4Args:
        """Arguments of SEQUENCE for a compound that is sent by hand; see `SessionState.sequence`.

        The session does not learn of such a compound: after one that succeeds call `state.slots[slot].advance()`.
        """
        return self.state.sequence(slot, sequence_id, **more)

    def compound(
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
        """SEQUENCE and these operations in one call; the reply whatever its status.

        `cache_this` None: the reply is to be cached if the operations change something. `into` is where the data of a
        READ at the end goes.
        """

        if (
            tag is None
            and not self.nfs4.tag
            and (operations or not self.state.slots.owes_return)
            and minor is None
            and slot is None
            and sequence_id is None
            and highest_slot is None
            and cache_this is None
            and into is None
        ):
            usual = direct.compound(self.nfs4, self.state, operations)
            if usual is not None and (not usual.status or self.nfs4.patience is None):
                return usual
        else:
            usual = None

        def begin() -> Request:
            return self.state.begin(
                operations,
                tag=self.nfs4.tag if tag is None else tag,
                minor=minor,
                slot=slot,
                sequence_id=sequence_id,
                highest_slot=highest_slot,
                cache_this=cache_this,
            )

        reply = self.perform(begin(), into=into) if usual is None else usual
        patience = self.nfs4.patience
        if reply.status and patience is not None:
            return patience.retry(lambda: self.perform(begin(), into=into), may_be_tried_again, reply)
        return reply

    def perform(
        self, request: Request, *, into: memoryview | None = None, via: Nfs4 | None = None
    ) -> CompoundReply:
        """Send a request of `state.begin`, for the first time or again, over any connection, and take its reply.

        After `ConnectionLost` the same request may be sent again, here or on another connection; while its connection
        lives it must not (section 2.9.2). With patience it is sent again after DELAY of its SEQUENCE, which leaves the
        slot as it was.
        """
        chosen = self.nfs4 if via is None else via
        if into is None and chosen.patience is None and chosen.may_be_late(request.args):
            results = chosen.rpc.call(
                direct.RAW, request.args, credential=chosen.credential, timeout=chosen.timeout
            ).results
            return direct.REPLIES.take(self.state, request, results)

        def attempt() -> CompoundReply:
            self.state.resume(request)
            return self.state.finish(request, chosen.send(request.args, into=into))

        reply = self.state.finish(request, chosen.send(request.args, into=into))
        if not reply.status or chosen.patience is None:
            return reply
        return chosen.patience.retry(attempt, is_delayed_at_once, reply)

    def bind(
        self, nfs4: Nfs4, dir: p.ChannelDirFromClient4 = p.ChannelDirFromClient4.CDFC4_FORE_OR_BOTH
    ) -> p.BindConnToSession4Res:
        """BIND_CONN_TO_SESSION on another connection, which then carries the session too (section 18.34)."""
        if dir != p.ChannelDirFromClient4.CDFC4_FORE:
            # A callback that was waiting for a connection comes right after the reply, or with it.
            nfs4.callbacks.serve(self.callbacks)
        result = nfs4.bind_conn_to_session(self.id, dir)
        granted = result.bctsr_resok4
        if granted is not None and nfs4 not in self.connections:
            self.connections.append(nfs4)
        return result

    def pipeline(
        self, compounds: Iterable[Sequence[XdrType]], *, outstanding: int = 32, cache_this: bool | None = None
    ) -> Iterator[tuple[Sequence[XdrType], CompoundReply]]:
        """Many compounds, up to `outstanding` at a time, and half of the slots: (operations, reply) as they come.

        An error ends it; the requests that were under way then keep their slots.
        """
        requests: dict[int, tuple[Sequence[XdrType], Request]] = {}
        wanted = iter(compounds)
        first = next(wanted, None)
        if first is None:
            return

        def arguments() -> Iterator[p.Compound4Args]:
            for operations in chain([first], wanted):
                request = self.state.begin(operations, tag=self.nfs4.tag, cache_this=cache_this)
                requests[id(request.args)] = operations, request
                yield request.args

        # New requests go out before the replies that make room for them are looked at, so each needs a second slot.
        most = max(1, min(outstanding, self.state.slots.allowed // 2))
        rpc = t.cast("RpcClient", self.nfs4.rpc)
        are_late = self.nfs4.may_be_late(p.Compound4Args(b"", 0, list(first)))
        procedure: Procedure[p.Compound4Args, t.Any] = direct.RAW if are_late else p.COMPOUND
        for args, res in rpc.pipeline(
            procedure,
            arguments(),
            outstanding=most,
            credential=self.nfs4.credential,
            timeout=self.nfs4.timeout,
        ):
            operations, request = requests.pop(id(args))
            if are_late:
                yield operations, direct.REPLIES.take(self.state, request, res.results)
            else:
                yield operations, self.state.finish(request, res)

    def renew(self) -> CompoundReply:
        """A bare SEQUENCE: renews the lease and brings the status flags."""
        return self.compound()

    def await_callbacks(self, count: int, timeout: float) -> bool:
        """Serve the connection until `count` callback operations have come in all; False when time is up.

        Whether they have come is in `callbacks.count`, what they were in `callbacks.received`.
        """
        rpc = t.cast("RpcClient", self.nfs4.rpc)

        def have_come() -> bool:
            rpc.keep_open()  # the server may have closed an idle connection, and callbacks need one
            return self.callbacks.count >= count

        return rpc.loop.run_until(have_come, rpc.loop.clock() + timeout)

    def keep_backchannel(self) -> None:
        """Bind the backchannel to the connection that its `RpcClient` makes again after idleness (section 2.10.3.1)."""
        rpc = t.cast("RpcClient", self.nfs4.rpc)

        def bind_again() -> None:
            with contextlib.suppress(CompoundError):  # the next use of the session shows why
                self.bind(self.nfs4)

        self._bind_again = bind_again
        rpc.on_reopened.append(bind_again)

    def _forget_backchannel(self) -> None:
        rpc = t.cast("RpcClient", self.nfs4.rpc)
        if self._bind_again is not None and self._bind_again in rpc.on_reopened:
            rpc.on_reopened.remove(self._bind_again)

    def destroy(self) -> p.DestroySession4Res:
        """DESTROY_SESSION."""
        if self._bind_again is not None:
            self._forget_backchannel()
        return self.nfs4.destroy_session(self.id)

    def close(self) -> None:
        """End the session, and the client if it was made for it; whether the server wants to or not."""
        with contextlib.suppress(RpcError, CompoundError):
            self.destroy()
            if self.client is not None:
                self.client.destroy()

    def __enter__(self) -> t.Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def may_be_tried_again(reply: CompoundReply) -> bool:
    """Whether a compound ended with DELAY and is safe to send as a new request."""
    return reply.status == p.Nfsstat4.NFS4ERR_DELAY and has_changed_nothing(reply)


def has_changed_nothing(reply: CompoundReply) -> bool:
    """Whether the operations before the one that failed change nothing on the server."""
    return changes_nothing(reply.args.argarray[: max(0, len(reply.res.resarray) - 1)])
