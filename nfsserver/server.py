# SPDX-License-Identifier: MIT
"""The reference server: puts backend, pipeline and services together, and listens."""

from __future__ import annotations

import socket
import typing as t
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial

from nfsclient.rpc.loop import Loop
from nfsclient.rpc.program import Operation
from nfsclient.rpc.service import Dispatcher
from nfsclient.rpc.sockets import Address
from nfsclient.url import NfsUrl
from nfsserver.backend import Backend
from nfsserver.binding import Registry
from nfsserver.consulted import Consulted
from nfsserver.dialing import Dialer, Policy, loopback_only
from nfsserver.fs import Clock, FileSystem, Inode, Limits
from nfsserver.knobs import Knobs
from nfsserver.messages import Messages
from nfsserver.middleware import A, AroundCall, Interposed, Middleware, R
from nfsserver.mounts import Mounts
from nfsserver.pipeline import Pipeline
from nfsserver.service import Service
from nfsserver.services import services
from nfsserver.settings import Value
from nfsserver.snfs.calling import clear_caches
from nfsserver.state import spritely
from nfsserver.state.manager import StableStorage, StateManager, Terms
from nfsserver.transport import SurroundedRpcServer, TransportMiddleware, listen
from nfsserver.waiting import WaitingCalls

if t.TYPE_CHECKING:
    import ssl


def _last_close(inode: Inode) -> None:
    inode.fs.objects.last_close(inode)


class Server:
    """NFSv2, NFSv3, NFSv4.1, NFSv4.2, SNFS, MOUNT, portmap and rpcbind on one port, over file systems in memory.

    `exports` are paths; each has a separate file system. `knobs` are the legal freedoms that it takes (see
    `nfsserver.knobs`). `seed` makes handles and verifiers repeatable; without one they are drawn at random, as they
    must be where another process may serve the same address later. `may_dial` decides which of the addresses that
    clients name are called (see `nfsserver.dialing`). Programs with the numbers `without` are not there. What breaks
    a rule is not in here: it is put around the server (`surround`, see `nfsmutants`).
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
        may_dial: Policy = loopback_only,
        without: Container[int] = (),
    ) -> None:
        self.backend = Backend(exports, clock=clock, limits=limits, seed=seed)
        self.mounts = Mounts(self.backend.exports)
        self.registry = Registry()
        self.pipeline = Pipeline(self)
        self.messages = Messages(self, self.pipeline)
        self.dispatcher: Dispatcher = self.messages.dispatcher
        self.perform = self.pipeline.perform
        self.keep_silent = self.messages.keep_silent
        self.knobs = Knobs({"root_squash": root_squash, **(knobs or {})}, self._obey)
        self._stable, self._stable_spritely = StableStorage(), spritely.Stable()
        self.states = self._new_states()
        self.spritely = self._new_spritely(restarted=False)
        self.waiting = WaitingCalls(
            lambda: self.spritely.is_watching or self.knobs.now.conflicts == "wait",
            lambda: (
                self.states.held.delegations.ended
                + self.states.held.delegations.answered
                + self.spritely.ended
            ),
            lambda: self.knobs.now.conflicts == "wait",
        )
        self.dialer = Dialer(may_dial)
        self._services: list[Service] = []
        self._rpc: SurroundedRpcServer | None = None
        self._address: Address | None = None
        for service in services():
            if service.program.number not in without:
                self.offer(service)
        self._obey()

    @property
    def fs(self) -> FileSystem:
        """The file system of the first export."""
        return self.backend.fs

    def _new_states(self) -> StateManager:
        """The state of NFSv4 clients at the beginning of an instance."""
        now = self.backend.clock.monotonic
        number = int.from_bytes(self.backend.codec.token(b"instance", self.backend.boots), "big")
        states = StateManager(number, self._stable, now, self._terms)
        for file_system in self.backend.exports.values():
            file_system.objects.is_open = states.held.opens.is_open
            states.held.opens.on_last_close = _last_close
        return states

    def _new_spritely(self, *, restarted: bool) -> spritely.SpritelyState:
        """The state of clients of Spritely NFS at the beginning of an instance."""
        table = spritely.SpritelyState(
            self._stable_spritely, self.backend.clock.monotonic, self._spritely_terms, restarted=restarted
        )
        held = self.states.held

        def forget(inode: Inode) -> None:
            held.forget_file(inode)
            table.forget(inode)

        for file_system in self.backend.exports.values():
            file_system.objects.on_forget = forget
        return table

    def _spritely_terms(self) -> spritely.Terms:
        now = self.knobs.now
        by_counter = now.snfs_versions == "counter"
        return spritely.Terms(
            now.snfs_entries,
            by_counter,
            now.snfs_version_step,
            now.snfs_grace,
            now.snfs_nfs_interval,
            now.snfs_version_growth,
            now.snfs_calls_opener,
        )

    def clear_caches(self, inode: Inode, *, changes: bool) -> None:
        """Take a file from the caches of clients of Spritely NFS, for an access by another version."""
        clear_caches(self, inode, changes=changes)

    def _terms(self) -> Terms:
        return Terms(self.knobs.now.lease_time, self.knobs.now.courteous)

    def offer(self, service: Service) -> None:
        """Answer a program."""
        self._services.append(service)
        self.messages.replays.add(service.not_repeatable, service.run_once)
        self.dispatcher.register(service.program, self.pipeline.answerers(service))

    # ------------------------------------------------------------ knobs and middleware

    def _obey(self) -> None:
        """The knobs were turned."""
        self.pipeline.obey(
            [freedom for service in self._services for freedom in service.freedoms], self.knobs.now
        )
        consulted = self.pipeline.consulted
        self.backend.obey(self.knobs, None if consulted is None else consulted.turned)
        if self._rpc is not None:
            self._rpc.close_when_idle_for(self.knobs.now.idle_close)

    def consult(self) -> Consulted:
        """Note from now on what knobs would have decided. The notes go on: clear them where a check begins."""
        consulted = self.pipeline.consulted = Consulted()
        self._obey()
        consulted.clear()
        return consulted

    def surround(self, middleware: Middleware) -> Callable[[], None]:
        """Put `middleware` around all that is there; call the result to take it away."""
        return self.pipeline.surround(middleware)

    def interpose(self, operation: Operation[A, R], around: AroundCall[A, R]) -> Callable[[], None]:
        """Put a function around one operation; call the result to take it away."""
        return self.surround(Interposed(operation, around))

    # ------------------------------------------------------------ service

    def listen(
        self,
        loop: Loop,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        udp: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> Address:
        """Answer on one port, over TCP and UDP, while the loop runs; the bound address. Raises OSError.

        With `tls`, each TCP connection begins with a TLS handshake.
        """
        if self._rpc is not None:
            raise RuntimeError("this server listens already")
        make = partial(SurroundedRpcServer, loop, self.messages, self._below_messages)
        self._rpc, address = listen(make, host, port, udp=udp)
        self._rpc.tls = tls
        self._rpc.close_when_idle_for(self.knobs.now.idle_close)
        self._address = address
        self.dialer.start(loop, address)
        programs = [(service.program.number, service.program.version) for service in self._services]
        self.registry.publish(programs, address[0], tcp=address[1], udp=address[1] if udp else None)
        return address

    def _below_messages(self) -> list[TransportMiddleware]:
        return self.waiting.below_messages() + self.pipeline.below_messages()

    def listen_on(self, sock: socket.socket) -> Callable[[], None]:
        """Answer on this socket, too, while it listens elsewhere; call the result to end that and close it."""
        if self._rpc is None:
            raise RuntimeError("this server does not listen")
        rpc = self._rpc
        rpc.serve_socket(sock)
        return lambda: rpc.leave_socket(sock)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._listening()[1]

    @property
    def url(self) -> str:
        """The first export, for a client."""
        host, port = self._listening()
        path = next(iter(self.backend.exports))
        return str(NfsUrl(host=host, path=path, nfsport=port, mountport=port))

    def _listening(self) -> Address:
        if self._address is None:
            raise RuntimeError("this server does not listen")
        return self._address

    def restart(self, *, clean: bool = True) -> None:
        """Begin another instance of the service: connections end, the write verifier is a new one.

        Unless it is `clean`, uncommitted data is lost as in a crash. Handles, names and stable data stay.
        """
        self.backend.begin_instance(clean=clean)
        self.states = self._new_states()
        self.spritely = self._new_spritely(restarted=True)
        self.messages.replays.clear()
        self.waiting.forget()
        self.dialer.drop()
        if self._rpc is not None:
            self._rpc.drop_connections()

    def crash(self) -> None:
        """Lose what is not stable, and come back."""
        self.restart(clean=False)

    def close(self) -> None:
        """Stop listening; the file systems stay, and `listen` works again."""
        self.dialer.close()
        if self._rpc is not None:
            self._rpc.close()
        self._rpc = self._address = None
