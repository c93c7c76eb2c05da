# SPDX-License-Identifier: MIT
"""The reference server: exports, identities, boots, and the way of a call through middleware to its handler."""

from __future__ import annotations

import errno
import secrets
import typing as t
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.program import AnyOperation, Operation, Program
from nfsclient.rpc.service import CallContext, Dispatcher, Refused
from nfsclient.rpc.sockets import Address
from nfsclient.url import NfsUrl
from nfsserver import binding, mount, nfs2, nfs3, portmap, rpcbind
from nfsserver.consulted import Consulted, NotedLimits
from nfsserver.freedom import Freedom
from nfsserver.fs import (
    ANONYMOUS,
    Caller,
    Clock,
    FileSystem,
    FsError,
    HandleCodec,
    Identity,
    Inode,
    Limits,
    SystemClock,
)
from nfsserver.handlers import Handler, Handlers
from nfsserver.knobs import Knobs, Value
from nfsserver.middleware import A as Args
from nfsserver.middleware import (
    Answer,
    AroundCall,
    AroundMessage,
    Interposed,
    Middleware,
    ProceedMessage,
)
from nfsserver.middleware import R as Result
from nfsserver.pipeline import Pipeline
from nfsserver.replay import ReplayCache
from nfsserver.transport import SurroundedRpcServer

Transport: t.TypeAlias = t.Literal["tcp", "udp"]


class Service(t.NamedTuple):
    """One version of a program, as a server answers it."""

    program: Program
    handlers: Handlers
    authenticated: t.Collection[AnyOperation] = ()
    """Procedures that ask for AUTH_SYS or better."""
    freedoms: t.Sequence[Freedom] = ()
    """What it does where knobs are turned, the innermost first."""


_SERVICES: t.Final = (
    Service(nfs2.NFS2, nfs2.HANDLERS, nfs2.AUTHENTICATED, nfs2.FREEDOMS),
    Service(nfs3.NFS3, nfs3.HANDLERS, nfs3.AUTHENTICATED, nfs3.FREEDOMS),
    Service(mount.MOUNT1, mount.HANDLERS1),
    Service(mount.MOUNT2, mount.HANDLERS2),
    Service(mount.MOUNT3, mount.HANDLERS3, mount.AUTHENTICATED3),
    Service(portmap.PORTMAP2, portmap.HANDLERS),
    Service(rpcbind.RPCBIND3, rpcbind.HANDLERS3),
    Service(rpcbind.RPCBIND4, rpcbind.HANDLERS4),
)

FREEDOMS: t.Final = tuple(freedom for service in _SERVICES for freedom in service.freedoms)
"""What the protocol layers do where knobs differ from their defaults."""
_KEPT_FAULTS = 100
_BINDING_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Transfers:
    """The most that READ, WRITE and a directory listing carry over one transport, in bytes."""

    limits: Limits
    is_datagram: bool
    """Over UDP everything must fit into one datagram."""

    def _bound(self, name: str, size: int) -> int:
        within = self.limits.bound(name, size)
        return min(within, self.limits.datagram_max) if self.is_datagram else within

    def of_read(self, size: int) -> int:
        """How much of `size` bytes one READ carries."""
        return self._bound("read_max", size)

    def of_write(self, size: int) -> int:
        """The same of WRITE."""
        return self._bound("write_max", size)

    def of_listing(self, size: int) -> int:
        """The same of READDIR and READDIRPLUS."""
        return self._bound("directory_max", size)

    @property
    def read_max(self) -> int:
        """The most that READ gives."""
        return self.of_read(self.limits.read_max)

    @property
    def write_max(self) -> int:
        """The most that WRITE takes."""
        return self.of_write(self.limits.write_max)

    @property
    def directory_max(self) -> int:
        """The largest directory listing."""
        return self.of_listing(self.limits.directory_max)


class Server:
    """NFSv2, NFSv3, MOUNT and portmap on one port, over file systems in memory.

    `exports` are paths; each has a separate file system. `knobs` are the legal freedoms that it takes (see
    `nfsserver.knobs`). `seed` makes handles and verifiers repeatable; without one they are drawn at random, as
    they must be where another process may serve the same address later. What breaks a rule is not in here: it
    is put around the server (`surround`, see `nfsmutants`).
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        exports: Iterable[str] = ("/export",),
        root_squash: bool = False,
        limits: Limits | None = None,
        knobs: Mapping[str, Value] | None = None,
        seed: int | None = None,
    ) -> None:
        self.limits = self._usual_limits = limits or Limits()
        self.clock = clock or SystemClock()
        self.exports: dict[bytes, FileSystem] = {
            path.encode(): FileSystem(clock=self.clock, limits=self.limits, fsid=number)
            for number, path in enumerate(exports, start=1)
        }
        self._by_fsid = {file_system.fsid: file_system for file_system in self.exports.values()}
        self.codec = HandleCodec(secrets.randbits(128) if seed is None else seed)
        self.boots = 1
        self.mounts = mount.Mounts(self.exports)
        self.registry = binding.Registry()
        self.pipeline = Pipeline(self)
        self._services: list[Service] = []
        self.knobs = Knobs({"root_squash": root_squash, **(knobs or {})}, self._obey)
        self.faults: deque[tuple[AnyOperation | None, Exception]] = deque(maxlen=_KEPT_FAULTS)
        """Exceptions of handlers, which callers saw as SYSTEM_ERR: faults of this server, or of middleware.

        Those of middleware around messages have no operation, and callers saw silence.
        """
        self.replays = ReplayCache(nfs2.NOT_REPEATABLE | nfs3.NOT_REPEATABLE)
        self.dispatcher = Dispatcher(self._note_fault)
        self._silenced = False
        self._rpc: SurroundedRpcServer | None = None
        self._address: Address | None = None
        for service in _SERVICES:
            self.offer(service)
        self._obey()

    # ------------------------------------------------------------ what handlers and middleware ask

    @property
    def fs(self) -> FileSystem:
        """The file system of the first export."""
        return next(iter(self.exports.values()))

    def resolve(self, handle: bytes) -> Inode:
        """The live object of a handle. EBADF: not one of this server's; ESTALE: the object is gone."""
        identity = self.codec.decode(handle)
        file_system = self._by_fsid.get(identity.export)
        if file_system is None:
            raise FsError(errno.ESTALE)
        return file_system.inode(identity.fileid, identity.generation)

    def handle_of(self, inode: Inode) -> bytes:
        """The handle of an object."""
        return self.codec.encode(Identity(inode.fs.fsid, inode.fileid, inode.generation))

    def caller(self, context: CallContext) -> Caller:
        """The identity of a caller; without one it is nobody."""
        credential = context.credential
        if not isinstance(credential, AuthSys):
            return ANONYMOUS
        caller = Caller(credential.uid, credential.gid, frozenset(credential.gids))
        if self.knobs.now.all_squash:
            return ANONYMOUS
        return caller.squashed() if self.knobs.now.root_squash else caller

    def transfers(self, context: CallContext) -> Transfers:
        """What one call may carry."""
        return Transfers(self.limits, is_datagram=context.transport == "udp")

    @property
    def write_verifier(self) -> bytes:
        """The verifier of WRITE and COMMIT: one per boot (RFC 1813 section 3.3.7)."""
        return self.codec.token(b"boot", self.boots)

    # ------------------------------------------------------------ knobs

    def _obey(self) -> None:
        """The knobs were turned: tell the file systems."""
        now = self.knobs.now
        self.pipeline.obey([freedom for one in self._services for freedom in one.freedoms], now)
        self.limits = replace(self._usual_limits, **self.knobs.limits())
        consulted = self.pipeline.consulted
        if consulted is not None:
            consulted.is_turned = True
            self.limits = NotedLimits.of(self.limits, consulted)
        for file_system in self.exports.values():
            file_system.configure(self.limits)
            file_system.read_only = now.read_only
            file_system.leave_free(now.free_bytes, now.free_files)

    def consult(self) -> Consulted:
        """Note from now on what knobs would have decided. The notes go on: clear them where a check begins."""
        consulted = self.pipeline.consulted = Consulted()
        self._obey()
        consulted.clear()
        return consulted

    # ------------------------------------------------------------ middleware

    def surround(self, middleware: Middleware) -> Callable[[], None]:
        """Put `middleware` around all that is there; call the result to take it away."""
        return self.pipeline.surround(middleware)

    def interpose(
        self, operation: Operation[Args, Result], around: AroundCall[Args, Result]
    ) -> Callable[[], None]:
        """Put a function around one operation; call the result to take it away."""
        return self.surround(Interposed(operation, around))

    # ------------------------------------------------------------ the way of a call

    def offer(self, service: Service) -> None:
        """Answer a program."""
        self._services.append(service)
        answerers = {
            operation.number: self._answerer(operation, handler, operation in service.authenticated)
            for operation, handler in service.handlers.items()
        }
        self.dispatcher.register(service.program, answerers)

    def _answerer(
        self, operation: AnyOperation, handler: Handler, authenticated: bool
    ) -> Callable[[CallContext, t.Any], t.Any]:
        admit = _require_user if authenticated else None
        return lambda context, args: self.pipeline.perform(operation, handler, context, args, admit)

    def _note_fault(self, context: CallContext, error: Exception) -> None:
        self.faults.append((context.operation, error))

    def answer(self, message: bytes, peer: Address, transport: Transport) -> Answer:
        """The reply to one RPC message, through the middleware around messages; None for silence."""

        def dispatch(message: bytes) -> Answer:
            return self._dispatch(message, peer, transport)

        around = self.pipeline.around_messages()
        if not around:
            return dispatch(message)
        proceed: ProceedMessage = dispatch
        for one in around:
            proceed = self._around_message(one, proceed)
        try:
            return proceed(message)
        except Exception as error:  # noqa: BLE001  (a fault of middleware must not stop the service)
            self.faults.append((None, error))
            return None

    def _dispatch(self, message: bytes, peer: Address, transport: Transport) -> Answer:
        self._silenced = False
        if not self.replays.covers(message):
            reply = self.dispatcher.answer(message, peer, transport)
            return None if self._silenced else reply
        key = self.replays.key(message, peer, transport)
        known = self.replays.find(key)
        if known is None:
            reply = self.dispatcher.answer(message, peer, transport)
            if reply is None:
                return None
            known = b"".join(reply)
            self.replays.remember(key, known)
        return [known]

    def _around_message(self, around: AroundMessage, proceed: ProceedMessage) -> ProceedMessage:
        return lambda message: around(self, message, proceed)

    def keep_silent(self) -> None:
        """Called by a handler: its call gets no answer at all."""
        self._silenced = True

    # ------------------------------------------------------------ service

    def listen(self, loop: Loop, host: str = "127.0.0.1", port: int = 0, *, udp: bool = True) -> Address:
        """Answer on one port, over TCP and UDP, while the loop runs; the bound address. Raises OSError."""
        if self._rpc is not None:
            raise RuntimeError("this server listens already")
        for attempt in range(_BINDING_ATTEMPTS):
            rpc = SurroundedRpcServer(loop, self, self.pipeline.below_messages)
            try:
                address = rpc.listen_tcp(host, port)
                if udp:
                    rpc.listen_udp(host, address[1])
                break
            except OSError:
                # An ephemeral port that is free for TCP may be taken for UDP: draw another one.
                rpc.close()
                if port or attempt == _BINDING_ATTEMPTS - 1:
                    raise
        self._rpc, self._address = rpc, address
        programs = [(service.program.number, service.program.version) for service in self._services]
        self.registry.publish(programs, address[0], tcp=address[1], udp=address[1] if udp else None)
        return address

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._listening()[1]

    @property
    def url(self) -> str:
        """The first export, for a client."""
        host, port = self._listening()
        return str(NfsUrl(host=host, path=next(iter(self.exports)), nfsport=port, mountport=port))

    def _listening(self) -> Address:
        if self._address is None:
            raise RuntimeError("this server does not listen")
        return self._address

    def restart(self, *, clean: bool = True) -> None:
        """Begin another instance of the service: connections end, the write verifier is a new one.

        Unless it is `clean`, uncommitted data is lost as in a crash. Handles, names and stable data stay.
        """
        for file_system in self.exports.values():
            if clean:
                file_system.commit_all()
            else:
                file_system.crash()
        self.boots += 1
        self.replays.clear()
        if self._rpc is not None:
            self._rpc.drop_connections()

    def crash(self) -> None:
        """Lose what is not stable, and come back."""
        self.restart(clean=False)

    def close(self) -> None:
        """Stop listening; the file systems stay, and `listen` works again."""
        if self._rpc is not None:
            self._rpc.close()
        self._rpc = self._address = None


def _require_user(context: CallContext) -> Refused | None:
    has_user = isinstance(context.credential, AuthSys)
    return None if has_user else Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
