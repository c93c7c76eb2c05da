# SPDX-License-Identifier: MIT
"""What scripts need of a server of NFSv4 besides their messages: the root, sessions, and the end of what they made."""

from __future__ import annotations

import contextlib
import typing as t
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from nfsclient.clients import Patience
from nfsclient.clients.nfs4 import CompoundError, Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.nfs4.callbacks import CallbackService
from nfsclient.clients.snfs import SnfsCallbacks
from nfsclient.discovery.nfs4 import find_root
from nfsclient.errors import NfsClientError
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol import snfs
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import AnyOperation
from nfsclient.sessions.backchannel import Backchannel
from nfsclient.sessions.session import SessionState
from nfsclient.xdr import XdrType

MOST_USES: t.Final = 4096
"""How often a slot is used before a script begins, at most."""
_MOST_PAGES: t.Final = 10_000
_DEEPEST: t.Final = 64
_PAGE: t.Final = 8192
_MOST_CALLBACKS: t.Final = 64
_OK: t.Final = p.Nfsstat4.NFS4_OK


class Sessions:
    """Works in separate sessions, over connections that `connect` makes."""

    def __init__(self, connect: Callable[[], RpcClient]) -> None:
        self._connect = connect
        self._sessions: dict[bytes, None] = {}
        self._clientids: dict[int, None] = {}
        self._made: list[Session] = []
        self._services: dict[bytes, CallbackService] = {}
        """By session: a further connection may be bound to it."""
        self._callbacks: dict[RpcClient, deque[Exchange]] = {}
        """Those that came on a connection, and were not asked for yet."""

    def root(self, names: Sequence[bytes]) -> bytes:
        """The handle at the end of a path. Raises `NfsClientError`."""
        with self._session() as session:
            return find_root(session, names)

    def session(self, uses: Sequence[int] = (), minor: int = 1) -> Session:
        """A session of a new client, whose slots were used this often. It lasts until `close`."""
        session = self._new(minor)
        self._made.append(session)
        for slot, times in enumerate(uses):
            done = session.state.slots[slot].sequence_id - 1
            for _ in range(done, min(times, MOST_USES)):
                session.compound(slot=slot).ok()
        return session

    def learn(self, link: RpcClient, args: XdrType, result: object) -> None:
        """Note clients and sessions that a compound has made; callbacks on its connection are answered."""
        if not isinstance(args, p.Compound4Args) or not isinstance(result, p.Compound4Res):
            return
        for asked, given in zip(args.argarray, result.resarray, strict=False):
            if isinstance(given, p.ExchangeId4Res) and given.eir_resok4 is not None:
                self._clientids[given.eir_resok4.eir_clientid] = None
            elif isinstance(given, p.CreateSession4Res) and given.csr_resok4 is not None:
                self._sessions[bytes(given.csr_resok4.csr_sessionid)] = None
                if isinstance(asked, p.CreateSession4Args):
                    self._serve(link, asked, given.csr_resok4, args.minorversion)
            elif isinstance(given, p.BindConnToSession4Res) and given.bctsr_resok4 is not None:
                service = self._services.get(bytes(given.bctsr_resok4.bctsr_sessid))
                if service is not None:
                    self._attach(service, link)

    def await_callback(self, link: RpcClient, seconds: float) -> Exchange | None:
        """The next callback on a connection; None if none comes in time."""
        came = self._callbacks.setdefault(link, deque(maxlen=_MOST_CALLBACKS))
        loop = link.loop
        loop.run_until(lambda: bool(came), loop.clock() + seconds)
        return came.popleft() if came else None

    def _serve(
        self, link: RpcClient, args: p.CreateSession4Args, created: p.CreateSession4ResOk, minor: int
    ) -> None:
        service = CallbackService(args.csa_cb_program)
        service.serve(Backchannel.of(SessionState(created, clientid=args.csa_clientid, minor=minor)))
        self._services[bytes(created.csr_sessionid)] = service
        if created.csr_flags & p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN:
            self._attach(service, link)

    def expect(self, link: RpcClient, procedure: AnyOperation) -> None:
        """Answer callbacks on a connection by which files are opened by Spritely NFS."""
        if procedure.program == snfs.PROGRAM and link.on_call is None:
            SnfsCallbacks(link)
            self._note(link)

    def _attach(self, service: CallbackService, link: RpcClient) -> None:
        self._note(link)
        service.attach(link)

    def _note(self, link: RpcClient) -> None:
        came = self._callbacks.setdefault(link, deque(maxlen=_MOST_CALLBACKS))

        def note(exchange: Exchange) -> None:
            if exchange.is_callback:
                came.append(exchange)

        link.on_exchange = note

    def close(self) -> None:
        """End the sessions and clients that the script has made, as far as the server wants to."""
        made, self._made = self._made, []
        for session in made:
            with contextlib.suppress(NfsClientError):
                session.close()
                t.cast("RpcClient", session.nfs4.rpc).close()
        if not self._clientids and not self._sessions:
            return
        with contextlib.suppress(NfsClientError), contextlib.closing(self._connect()) as rpc:
            nfs4 = Nfs4(rpc)
            for sessionid in self._sessions:
                nfs4.destroy_session(sessionid)
            for clientid in self._clientids:
                nfs4.destroy_clientid(clientid)

    def remove(self, root: bytes, names: Sequence[bytes]) -> list[bytes]:
        """Remove these objects below a directory, with all that is in them. What is still there then."""
        with self._session() as session:
            for name in names:
                _remove_tree(session, root, name)
            return [
                name
                for name in names
                if session.compound(op.putfh(root), op.lookup(name)).status != p.Nfsstat4.NFS4ERR_NOENT
            ]

    def _new(self, minor: int = 1) -> Session:
        rpc = self._connect()
        try:
            return Nfs4(rpc, minor=minor, patience=Patience.of(rpc.loop)).establish()
        except NfsClientError:
            rpc.close()
            raise

    @contextlib.contextmanager
    def _session(self) -> Iterator[Session]:
        session = self._new()
        try:
            with session:
                yield session
        finally:
            t.cast("RpcClient", session.nfs4.rpc).close()


def _remove_tree(session: Session, directory: bytes, name: bytes, depth: int = 0) -> None:
    if session.compound(op.putfh(directory), op.remove(name)).status == _OK or depth > _DEEPEST:
        return
    with contextlib.suppress(CompoundError):
        inside = session.compound(op.putfh(directory), op.lookup(name), op.getfh()).ok().handle
        session.compound(op.putfh(inside), op.setattr(p.Fattr4(mode=0o777)))
        for entry in _names(session, inside):
            _remove_tree(session, inside, entry, depth + 1)
        session.compound(op.putfh(directory), op.remove(name))


def _names(session: Session, directory: bytes) -> list[bytes]:
    """What is in a directory; a server that goes round in circles does not keep us. Raises `CompoundError`."""
    found: dict[bytes, None] = {}
    cookie, verifier = 0, bytes(p.NFS4_VERIFIER_SIZE)
    for _ in range(_MOST_PAGES):
        page = op.readdir(cookie, verifier, dircount=_PAGE, maxcount=_PAGE)
        result = session.compound(op.putfh(directory), page).ok().of(p.READDIR).resok4
        before = len(found)
        if result is not None:
            found.update(dict.fromkeys(entry.name for entry in result.reply.entries))
        if result is None or len(found) == before or result.reply.eof:
            break
        cookie, verifier = result.reply.entries[-1].cookie, result.cookieverf
    return list(found)
