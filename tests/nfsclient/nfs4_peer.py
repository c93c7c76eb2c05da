# SPDX-License-Identifier: MIT
"""A small server of NFSv4.1 in the loop of a test: one directory, files in memory, and whatever wrong a test wants."""

from __future__ import annotations

import struct
import typing as t
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.patience import Patience
from nfsclient.nfs4 import NfsClient
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.record import frame
from nfsclient.rpc.server import Connection, RpcServer
from nfsclient.rpc.service import CallContext, Dispatcher
from nfsclient.xdr import Unread, XdrType

OK = p.Nfsstat4.NFS4_OK
S = p.Nfsstat4
ROOT = b"root"
NO_CHANGE = p.ChangeInfo4(True, 1, 2)
CALLBACK_XID = 0x7000_0000


class Refusal(Exception):
    def __init__(self, status: p.Nfsstat4) -> None:
        super().__init__(status)
        self.status = status


class _Session:
    def __init__(self, clientid: int) -> None:
        self.clientid = clientid
        self.slots: dict[int, tuple[int, p.Compound4Res | None]] = {}


class SmallServer(RpcServer):
    """Sessions with a reply cache, opens, locks, delegations as the test grants them, restarts."""

    def __init__(self, loop: Loop) -> None:
        dispatcher = Dispatcher()
        dispatcher.register(p.NFS4, {1: self._compound})
        super().__init__(loop, dispatcher)
        self.files: dict[bytes, bytearray] = {}
        self.called: list[list[str]] = []
        """The operations of each compound that was executed or replayed."""
        self.scripted: dict[str, deque[t.Any]] = {}
        self.bend: Callable[[p.Compound4Res], p.Compound4Res] = lambda res: res
        self.grants: p.OpenDelegationType4 | None = None
        self.status_flags = 0
        self.target = 7
        self.drops = 0
        """How many replies are lost, each with its connection."""
        self.withholds = 0
        """How many replies are not sent."""
        self.minors = {1, 2}
        self.in_grace = False
        self.refuses_reclaims = False
        self.reclaimed: list[str] = []
        self.verifier = 1
        self._next = 100
        self.forget_everything()
        self.callback_replies: deque[bytes] = deque(maxlen=64)
        self.last: Connection | None = None

    def forget_everything(self) -> None:
        """A restart, as far as state goes."""
        self._boot = self._next = self._next + 100
        self.clients: dict[int, p.ClientOwner4] = {}
        self.sessions: dict[bytes, _Session] = {}
        self.stateids: dict[bytes, str] = {}
        self.revoked: set[bytes] = set()
        self.verifier = self._boot

    def restart(self) -> None:
        """Lose all state and connections."""
        self.forget_everything()
        self.drop_connections()

    def script(self, name: str, *answers: t.Any) -> None:
        """A status, a result, or a function of (args, proceed) for the next calls of an operation."""
        self.scripted.setdefault(name, deque()).extend(answers)

    def count(self, name: str) -> int:
        return sum(names.count(name) for names in self.called)

    # ------------------------------------------------------------ messages

    def answer_record(self, connection: Connection, message: bytes) -> None:
        if int.from_bytes(message[4:8], "big") == 1:
            self.callback_replies.append(message)
            return
        self.last = connection
        reply = self.answerer.answer(message, connection.peer, "tcp")
        if self.withholds:
            self.withholds -= 1
        elif self.drops:
            self.drops -= 1
            connection.close()
        elif reply is not None:
            connection.send(frame(reply))

    def call_back(self, *operations: XdrType, session: bytes | None = None, sequence_id: int = 1) -> None:
        """Send a CB_COMPOUND on the connection that called last."""
        number = next(iter(self.sessions)) if session is None else session
        first = p.CbSequence4Args(number, sequence_id, 0, 0, False, [])
        self.call_back_raw(p.CbCompound4Args(b"", 1, 0, [first, *operations]).to_xdr())

    def call_back_raw(self, args: bytes) -> None:
        head = struct.pack(
            ">10I",
            CALLBACK_XID,
            0,
            2,
            p.CALLBACK_PROGRAM,
            p.CALLBACK_VERSION,
            p.CB_COMPOUND.number,
            0,
            0,
            0,
            0,
        )
        assert self.last is not None
        self.last.send(frame([head, args]))
        self.last.on_writable()

    def callback_answer(self) -> p.CbCompound4Res:
        """The latest reply to a callback."""
        return p.CbCompound4Res.from_xdr(self.callback_replies[-1][24:])

    # ------------------------------------------------------------ compounds

    def _compound(self, _context: CallContext, args: p.Compound4Args) -> p.Compound4Res:
        self.called.append([p.operation_of(operation).name for operation in args.argarray])
        if args.minorversion not in self.minors:
            return p.Compound4Res(S.NFS4ERR_MINOR_VERS_MISMATCH, args.tag, [])
        first = args.argarray[0]
        if not isinstance(first, p.Sequence4Args):
            return self.bend(self._execute(args, []))
        try:
            session, known = self._admit(first)
        except Refusal as refusal:
            return self.bend(p.Compound4Res(refusal.status, args.tag, [p.Sequence4Res(refusal.status)]))
        if known is not None:
            return known
        sound = p.Sequence4ResOk(
            first.sa_sessionid, first.sa_sequenceid, first.sa_slotid, 7, self.target, self.status_flags
        )
        reply = self._execute(args, [p.Sequence4Res(OK, sound)])
        session.slots[first.sa_slotid] = (first.sa_sequenceid, reply)
        return self.bend(reply)

    def _admit(self, first: p.Sequence4Args) -> tuple[_Session, p.Compound4Res | None]:
        if self.scripted.get("SEQUENCE"):
            raise Refusal(self.scripted["SEQUENCE"].popleft())
        session = self.sessions.get(first.sa_sessionid)
        if session is None:
            raise Refusal(S.NFS4ERR_BADSESSION)
        last, reply = session.slots.get(first.sa_slotid, (0, None))
        if first.sa_sequenceid == last and reply is not None:
            return session, reply
        if first.sa_sequenceid != (last + 1) % 2**32:
            raise Refusal(S.NFS4ERR_SEQ_MISORDERED)
        return session, None

    def _execute(self, args: p.Compound4Args, results: list[XdrType]) -> p.Compound4Res:
        self.current: bytes = b""
        for call in args.argarray[len(results) :]:
            assert not isinstance(call, Unread)
            operation = p.operation_of(call)
            scripted = self.scripted.get(operation.name)
            try:
                answer = scripted.popleft() if scripted else self._perform(operation.name, call)
                if callable(answer):
                    answer = answer(call, lambda c=call, n=operation.name: self._perform(n, c))
            except Refusal as refusal:
                answer = refusal.status
            if isinstance(answer, p.Nfsstat4):
                answer = p.Setattr4Res(answer, []) if operation is p.SETATTR else operation.res(answer)
            results.append(answer)
            if p.status_of(answer) != OK:
                return p.Compound4Res(p.status_of(answer), args.tag, results)
        return p.Compound4Res(OK, args.tag, results)

    def _perform(self, name: str, args: t.Any) -> t.Any:
        return getattr(self, f"_{name.lower()}")(args)

    def _new(self) -> int:
        self._next += 1
        return self._next

    def _stateid(self, what: str) -> p.Stateid4:
        other = struct.pack(">III", self._boot, self._new(), 0)
        self.stateids[other] = what
        return p.Stateid4(1, other)

    def _check(self, stateid: p.Stateid4) -> None:
        if stateid.other in {bytes(12), b"\xff" * 12}:
            return
        if stateid.other in self.revoked:
            raise Refusal(S.NFS4ERR_DELEG_REVOKED)
        if stateid.other not in self.stateids:
            raise Refusal(S.NFS4ERR_BAD_STATEID)

    # ------------------------------------------------------------ operations

    def _exchange_id(self, args: p.ExchangeId4Args) -> t.Any:
        known = [number for number, owner in self.clients.items() if owner == args.eia_clientowner]
        clientid = known[0] if known else self._new()
        self.clients[clientid] = args.eia_clientowner
        owner = p.ServerOwner4(0, b"small")
        protect = p.StateProtect4R(p.StateProtectHow4.SP4_NONE)
        body = p.ExchangeId4ResOk(clientid, 1, p.EXCHGID4_FLAG_USE_NON_PNFS, protect, owner, b"", [])
        return p.ExchangeId4Res(OK, body)

    def _create_session(self, args: p.CreateSession4Args) -> t.Any:
        if args.csa_clientid not in self.clients:
            raise Refusal(S.NFS4ERR_STALE_CLIENTID)
        number = struct.pack(">QQ", self._boot, self._new())
        self.sessions[number] = _Session(args.csa_clientid)
        fore = op.channel(requests=8)
        return p.CreateSession4Res(
            OK,
            p.CreateSession4ResOk(number, args.csa_sequence, args.csa_flags, fore, args.csa_back_chan_attrs),
        )

    def _bind_conn_to_session(self, args: p.BindConnToSession4Args) -> t.Any:
        if args.bctsa_sessid not in self.sessions:
            raise Refusal(S.NFS4ERR_BADSESSION)
        body = p.BindConnToSession4ResOk(args.bctsa_sessid, p.ChannelDirFromServer4.CDFS4_BOTH, False)
        return p.BindConnToSession4Res(OK, body)

    def _destroy_session(self, args: p.DestroySession4Args) -> t.Any:
        self.sessions.pop(args.dsa_sessionid, None)
        return OK

    def _destroy_clientid(self, args: p.DestroyClientid4Args) -> t.Any:
        self.clients.pop(args.dca_clientid, None)
        return OK

    def _reclaim_complete(self, _args: t.Any) -> t.Any:
        self.reclaimed.append("complete")
        self.in_grace = False
        return OK

    def _putrootfh(self, _args: t.Any) -> t.Any:
        self.current = ROOT
        return OK

    def _putfh(self, args: p.Putfh4Args) -> t.Any:
        self.current = args.object
        return OK

    def _getfh(self, _args: t.Any) -> t.Any:
        return p.Getfh4Res(OK, p.Getfh4ResOk(self.current))

    def _lookup(self, args: p.Lookup4Args) -> t.Any:
        if args.objname not in self.files:
            raise Refusal(S.NFS4ERR_NOENT)
        self.current = args.objname
        return OK

    def _getattr(self, args: p.Getattr4Args) -> t.Any:
        is_root = self.current == ROOT
        every = {
            "type": p.NfsFtype4.NF4DIR if is_root else p.NfsFtype4.NF4REG,
            "size": 0 if is_root else len(self.files.get(self.current, b"")),
            "lease_time": 90,
            "maxread": 1000,
            "maxwrite": 1000,
        }
        wanted = p.names_of(args.attr_request)
        values: dict[str, t.Any] = {name: value for name, value in every.items() if name in wanted}
        return p.Getattr4Res(OK, p.Getattr4ResOk(p.Fattr4(**values)))

    def _readdir(self, args: p.Readdir4Args) -> t.Any:
        names = sorted(self.files)[args.cookie :][:3]
        entries = [p.Entry4(args.cookie + 1 + index, name, p.Fattr4()) for index, name in enumerate(names)]
        listing = p.Dirlist4(entries, args.cookie + len(names) == len(self.files))
        return p.Readdir4Res(OK, p.Readdir4ResOk(bytes(8), listing))

    def _open(self, args: p.Open4Args) -> t.Any:
        previous = args.claim.claim == p.OpenClaimType4.CLAIM_PREVIOUS
        if previous:
            if self.refuses_reclaims:
                raise Refusal(S.NFS4ERR_NO_GRACE)
            self.reclaimed.append("open")
        elif self.in_grace:
            raise Refusal(S.NFS4ERR_GRACE)
        if args.claim.file is not None:
            if args.openhow.how is not None:
                self.files.setdefault(args.claim.file, bytearray())
            if args.claim.file not in self.files:
                raise Refusal(S.NFS4ERR_NOENT)
            self.current = args.claim.file
        kind = args.claim.delegate_type if previous else self.grants
        none = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)
        given = none if not kind else self._delegation(kind)
        return p.Open4Res(OK, p.Open4ResOk(self._stateid("open"), NO_CHANGE, 0, [], given))

    def _delegation(self, kind: p.OpenDelegationType4) -> p.OpenDelegation4:
        everyone = p.Nfsace4(p.AceType4.ACCESS_ALLOWED if hasattr(p, "AceType4") else 0, 0, 0, b"EVERYONE@")
        body = p.OpenReadDelegation4(self._stateid("delegation"), False, everyone)
        return p.OpenDelegation4(kind, read=body)

    def _close(self, args: p.Close4Args) -> t.Any:
        self._check(args.open_stateid)
        self.stateids.pop(args.open_stateid.other, None)
        return p.Close4Res(OK, p.INVALID_STATEID)

    def _delegreturn(self, args: p.Delegreturn4Args) -> t.Any:
        self._check(args.deleg_stateid)
        self.stateids.pop(args.deleg_stateid.other)
        return OK

    def _lock(self, args: p.Lock4Args) -> t.Any:
        if args.reclaim:
            self.reclaimed.append("lock")
        if args.locker.open_owner is not None:
            self._check(args.locker.open_owner.open_stateid)
            return p.Lock4Res(OK, p.Lock4ResOk(self._stateid("lock")))
        assert args.locker.lock_owner is not None
        known = args.locker.lock_owner.lock_stateid
        self._check(known)
        return p.Lock4Res(OK, p.Lock4ResOk(p.Stateid4(known.seqid + 1, known.other)))

    def _locku(self, args: p.Locku4Args) -> t.Any:
        self._check(args.lock_stateid)
        return p.Locku4Res(OK, p.Stateid4(args.lock_stateid.seqid + 1, args.lock_stateid.other))

    def _test_stateid(self, args: p.TestStateid4Args) -> t.Any:
        codes = [
            S.NFS4ERR_DELEG_REVOKED
            if stateid.other in self.revoked
            else (OK if stateid.other in self.stateids else S.NFS4ERR_BAD_STATEID)
            for stateid in args.ts_stateids
        ]
        return p.TestStateid4Res(OK, p.TestStateid4ResOk(codes))

    def _free_stateid(self, args: p.FreeStateid4Args) -> t.Any:
        self.revoked.discard(args.fsa_stateid.other)
        self.stateids.pop(args.fsa_stateid.other, None)
        return OK

    def _read(self, args: p.Read4Args) -> t.Any:
        self._check(args.stateid)
        data = self.files[self.current]
        piece = bytes(data[args.offset : args.offset + args.count])
        return p.Read4Res(OK, p.Read4ResOk(args.offset + args.count >= len(data), piece))

    def _write(self, args: p.Write4Args) -> t.Any:
        self._check(args.stateid)
        data = self.files[self.current]
        data.extend(bytes(max(0, args.offset - len(data))))
        data[args.offset : args.offset + len(args.data)] = args.data
        return p.Write4Res(OK, p.Write4ResOk(len(args.data), args.stable, self._verf()))

    def _verf(self) -> bytes:
        return self.verifier.to_bytes(8, "big")

    def _commit(self, _args: t.Any) -> t.Any:
        return p.Commit4Res(OK, p.Commit4ResOk(self._verf()))

    def _remove(self, args: p.Remove4Args) -> t.Any:
        if self.files.pop(args.target, None) is None:
            raise Refusal(S.NFS4ERR_NOENT)
        return p.Remove4Res(OK, p.Remove4ResOk(NO_CHANGE))


class Pauses:
    """Time that passes only when somebody waits for patience."""

    def __init__(self) -> None:
        self.now = 0.0
        self.on_wait: Callable[[], None] = lambda: None

    def patience(self) -> Patience:
        return Patience(self._wait, lambda: self.now)

    def _wait(self, seconds: float) -> None:
        self.now += seconds
        self.on_wait()


class Stage4:
    """The small server, and a client by path."""

    def __init__(
        self,
        *,
        delegations: bool = True,
        script: Mapping[str, Sequence[t.Any]] | None = None,
        loop_of_server: Loop | None = None,
    ) -> None:
        """`loop_of_server` is served by the caller; None: server and client share a loop."""
        self.loop = Loop()
        self.server = SmallServer(loop_of_server or self.loop)
        for name, answers in (script or {}).items():
            self.server.script(name, *answers)
        self.port = self.server.listen_tcp()[1]
        self.pauses = Pauses()
        self.dialled: list[RpcClient] = []
        self.rpc = self.dial()
        self.client = NfsClient(self.rpc, patience=self.pauses.patience(), delegations=delegations)

    def dial(self) -> RpcClient:
        self.dialled.append(connect_tcp("127.0.0.1", self.port, loop=self.loop))
        return self.dialled[-1]

    def close(self) -> None:
        for rpc in self.dialled:
            rpc.close()
        self.server.close()
        self.loop.close()
