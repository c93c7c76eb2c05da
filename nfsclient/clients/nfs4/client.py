# SPDX-License-Identifier: MIT
"""A typed client of NFSv4.1 and 4.2: compounds, and the operations that need no session (RFC 5661, RFC 7862)."""

from __future__ import annotations

import secrets
import typing as t

from nfsclient.clients.caller import Caller, TypedClient
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.nfs4.callbacks import CallbackService
from nfsclient.clients.patience import Patience
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Operation
from nfsclient.rpc.blocking import RpcClient
from nfsclient.sessions.reply import CompoundReply
from nfsclient.xdr import Void, XdrType

if t.TYPE_CHECKING:
    from nfsclient.clients.nfs4.session import Session
    from nfsclient.rpc.auth import Credential

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


def new_owner(ownerid: bytes | None = None) -> p.ClientOwner4:
    """A client owner that no other has, or a new instance of a given one: its verifier is new."""
    name = b"nfsproof " + secrets.token_hex(8).encode() if ownerid is None else ownerid
    return p.ClientOwner4(secrets.token_bytes(p.NFS4_VERIFIER_SIZE), name)


class Nfs4(TypedClient):
    """NFSv4 over one connection. Compounds go out as they are given, without any session.

    With `patience` a compound is sent again as it is if its first operation is answered DELAY: then nothing was
    executed, and the slot of a SEQUENCE has not moved (RFC 5661 section 2.10.6.1.2).
    `establish` makes a session, which is what most callers want.
    Raises `RpcError`, `XdrError`; methods that return one result also `CompoundError` where there is none.
    """

    __slots__ = ("_callbacks", "minor", "patience", "tag")

    def __init__(
        self,
        rpc: Caller,
        *,
        minor: int = 1,
        tag: bytes = b"",
        credential: Credential | None = None,
        timeout: float | None = None,
        patience: Patience | None = None,
    ) -> None:
        super().__init__(rpc, credential=credential, timeout=timeout)
        self.minor = minor
        self.tag = tag
        self.patience = patience
        self._callbacks: CallbackService | None = None

    @property
    def callbacks(self) -> CallbackService:
        """Answers what the server calls on this connection; made when it is first wanted."""
        if self._callbacks is None:
            self._callbacks = CallbackService()
            self._callbacks.attach(t.cast("RpcClient", self.rpc))
        return self._callbacks

    def null(self) -> None:
        """NULL: nothing, but an answer (section 16.1)."""
        self.call(p.NULL, Void())

    def send(self, args: p.Compound4Args, *, into: memoryview | None = None) -> p.Compound4Res:
        """Make one COMPOUND exactly as it is given."""
        return self.call(p.COMPOUND, args, into=into)

    def may_be_late(self, args: p.Compound4Args) -> bool:
        """Whether the reply may be decoded later: nobody records it, and no data are received in place."""
        rpc = self.rpc
        if type(rpc) is not RpcClient or rpc.core.recorder is not None:
            return False
        return not args.argarray or type(args.argarray[-1]) is not p.Read4Args

    def compound(
        self,
        *operations: XdrType,
        tag: bytes | None = None,
        minor: int | None = None,
        into: memoryview | None = None,
    ) -> CompoundReply:
        """COMPOUND of these operations and no others: a leading SEQUENCE is for the caller to give."""
        args = p.Compound4Args(
            self.tag if tag is None else tag, self.minor if minor is None else minor, list(operations)
        )

        def attempt() -> CompoundReply:
            return CompoundReply(args, self.send(args, into=into))

        reply = attempt()
        return reply if self.patience is None else self.patience.retry(attempt, is_delayed_at_once, reply)

    def single(self, operation: Operation[A, R], args: A) -> R:
        """A compound of one operation; its result, whatever the status. DELAY is tried again with patience."""
        return self.compound(args).of(operation)

    # ------------------------------------------------------------ clients and sessions

    def exchange_id(
        self,
        owner: p.ClientOwner4,
        flags: int = 0,
        *,
        state_protect: p.StateProtect4A | None = None,
        impl_id: t.Sequence[p.NfsImplId4] = (),
    ) -> p.ExchangeId4Res:
        """EXCHANGE_ID: a client id for an owner (section 18.35)."""
        args = op.exchange_id(owner, flags, state_protect=state_protect, impl_id=impl_id)
        return self.single(p.EXCHANGE_ID, args)

    def create_session(
        self, clientid: int, sequence: int, flags: int = 0, **more: t.Any
    ) -> p.CreateSession4Res:
        """CREATE_SESSION (section 18.36); `more` as of `operations.create_session`."""
        return self.single(p.CREATE_SESSION, op.create_session(clientid, sequence, flags, **more))

    def destroy_session(self, sessionid: bytes) -> p.DestroySession4Res:
        """DESTROY_SESSION (section 18.37)."""
        return self.single(p.DESTROY_SESSION, op.destroy_session(sessionid))

    def destroy_clientid(self, clientid: int) -> p.DestroyClientid4Res:
        """DESTROY_CLIENTID (section 18.50)."""
        return self.single(p.DESTROY_CLIENTID, op.destroy_clientid(clientid))

    def bind_conn_to_session(
        self, sessionid: bytes, dir: p.ChannelDirFromClient4 = p.ChannelDirFromClient4.CDFC4_FORE_OR_BOTH
    ) -> p.BindConnToSession4Res:
        """BIND_CONN_TO_SESSION: use this connection for a session too (section 18.34)."""
        return self.single(p.BIND_CONN_TO_SESSION, op.bind_conn_to_session(sessionid, dir))

    def new_client(self, owner: p.ClientOwner4 | None = None, flags: int = 0) -> Client:
        """EXCHANGE_ID that must succeed. Raises `CompoundError`."""
        who = new_owner() if owner is None else owner
        result = self.compound(op.exchange_id(who, flags)).ok().of(p.EXCHANGE_ID)
        assert result.eir_resok4 is not None
        return Client(self, who, result.eir_resok4)

    def establish(
        self, owner: p.ClientOwner4 | None = None, *, reclaim_complete: bool = True, **more: t.Any
    ) -> Session:
        """A new client with a session, ready for use: EXCHANGE_ID, CREATE_SESSION, RECLAIM_COMPLETE.

        `more` as of `operations.create_session`. Raises `CompoundError`. As a context manager the session ends with
        DESTROY_SESSION and DESTROY_CLIENTID.
        """
        session = self.new_client(owner).create_session(**more)
        if reclaim_complete:
            session.compound(op.reclaim_complete()).ok()
        return session


def is_delayed_at_once(reply: CompoundReply) -> bool:
    """Whether the first operation of a compound got DELAY: nothing was executed, and no slot has moved."""
    return reply.status == p.Nfsstat4.NFS4ERR_DELAY and len(reply.res.resarray) <= 1


NOT_COUNTED: t.Final = frozenset(
    {
        p.Nfsstat4.NFS4ERR_STALE_CLIENTID,
        p.Nfsstat4.NFS4ERR_SEQ_MISORDERED,
        p.Nfsstat4.NFS4ERR_DELAY,
        p.Nfsstat4.NFS4ERR_BADXDR,
    }
)
"""Errors of CREATE_SESSION that come before its sequence id is processed (section 18.36.4, phases 1 and 2)."""


class Client:
    """A client id, and the sequence id of its next CREATE_SESSION (RFC 5661 section 18.36.4)."""

    def __init__(self, nfs4: Nfs4, owner: p.ClientOwner4, result: p.ExchangeId4ResOk) -> None:
        self.nfs4 = nfs4
        self.owner = owner
        self.result = result
        """What EXCHANGE_ID gave: flags, server owner and scope."""
        self.id = result.eir_clientid
        self.sequence_id = result.eir_sequenceid

    def create_session(self, flags: int = 0, *, callbacks: bool = False, **more: t.Any) -> Session:
        """CREATE_SESSION that must succeed. Raises `CompoundError`.

        With `callbacks` the connection becomes the backchannel too, and `Session.callbacks` answers there.
        """
        if callbacks:
            flags |= p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN
            more.setdefault("cb_program", self.nfs4.callbacks.program)
        with self.nfs4.callbacks.router.expecting():
            return self._create_session(
                op.create_session(self.id, self.sequence_id, flags, **more), callbacks
            )

    def _create_session(self, args: p.CreateSession4Args, callbacks: bool) -> Session:
        from nfsclient.clients.nfs4.session import Session
        from nfsclient.sessions.session import SessionState
        from nfsclient.sessions.slots import next_sequence_id

        reply = self.nfs4.compound(args)
        if reply.status not in NOT_COUNTED:
            self.sequence_id = next_sequence_id(self.sequence_id)
        created = reply.ok().of(p.CREATE_SESSION).csr_resok4
        assert created is not None
        state = SessionState(created, clientid=self.id, minor=self.nfs4.minor)
        session = Session(self.nfs4, state, self)
        if callbacks:
            self.nfs4.callbacks.serve(session.callbacks)
            if isinstance(self.nfs4.rpc, RpcClient):
                session.keep_backchannel()
        return session

    def destroy(self) -> p.DestroyClientid4Res:
        """DESTROY_CLIENTID."""
        return self.nfs4.destroy_clientid(self.id)
