# SPDX-License-Identifier: MIT
"""Connections of a client to the address of a target, the handle of its export, and its channel."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator
from contextlib import closing

from nfsclient.clients import Mount, Nfs2, Nfs3, Patience
from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.clients.snfs import Snfs
from nfsclient.discovery import follow
from nfsclient.discovery.nfs4 import find_root
from nfsclient.errors import NfsClientError
from nfsclient.files import Blocking, Files
from nfsclient.protocol import nfs2, snfs
from nfsclient.protocol import nfs3 as p3
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.mixed import MixedCalls
from nfsclient.rpc.mixed_udp import MixedDatagrams
from nfsclient.xdr import Void
from nfstargets import TargetAddress
from workloads.channels import (
    Channel,
    Meter,
    SessionChannel,
    SpritelyChannel,
    StatelessChannel,
    WindowedChannel,
)
from workloads.engine import Engine
from workloads.policies.verbs import verbs_for
from workloads.spec import OF_NFS2, SPRITELY, title_of
from workloads.trouble import Stopped
from workloads.watching import Watch

_NULLS: t.Final = 20
_SLOTS: t.Final = 64
_MOST_PAGES: t.Final = 100_000
_LOOKS: t.Final = 6
"""At what is to be sent again, in the time after which it is."""
_USUAL_LEASE: t.Final = 90.0
"""Seconds, where the server does not say it."""


class Link:
    """The connections of one client, with what is to be done by one call after the other: mounting, cleaning."""

    def __init__(
        self,
        address: TargetAddress,
        version: str,
        loop: Loop,
        *,
        timeout: float,
        connections: int,
        transport: str = "tcp",
        resend: float = 0.0,
    ) -> None:
        """`resend`: over UDP, seconds until a call is sent again for the first time, with a window; 0: as usual.

        Raises `Stopped` if the server cannot be reached.
        """
        self._is_udp = transport == "udp"
        self._resend = resend
        self.address = address
        self.version = version
        self.loop = loop
        self.timeout = timeout
        self.connections: list[RpcClient] = []
        self.session: Session | None = None
        self._lease = _USUAL_LEASE
        try:
            for _ in range(connections):
                self.connections.append(self._connect(address.nfs_port))
            if version.startswith("4"):
                self._establish(callers=max(_SLOTS, connections))
        except NfsClientError as error:
            self.close()
            raise Stopped(
                "connection", f"{title_of(version)} at {address.host} port {address.nfs_port}: {error}"
            ) from error

    @property
    def _is_old(self) -> bool:
        return self.version in OF_NFS2

    def _connect(self, port: int) -> RpcClient:
        address = self.address
        settings: dict[str, t.Any] = {
            "loop": self.loop,
            "timeout": self.timeout,
            "privileged": address.privileged,
            "credential": AuthSys(address.uid, address.gid),
        }
        if self._is_udp and self._resend:
            settings["first_interval"] = self._resend
        rpc = (connect_udp if self._is_udp else connect_tcp)(address.host, port, **settings)
        rpc.outlives_idleness = True
        return rpc

    def _establish(self, callers: int) -> None:
        minor = int(self.version.partition(".")[2])
        nfs4 = Nfs4(self.connections[0], minor=minor, patience=Patience.of(self.loop))
        client = nfs4.new_client()
        self.session = client.create_session(callbacks=True, fore=op.channel(requests=callers))
        self.session.compound(op.reclaim_complete()).ok()
        asked = self.session.compound(op.putrootfh(), op.getattr("lease_time"))
        if asked.status == p.Nfsstat4.NFS4_OK:
            self._lease = float(asked.attributes.lease_time or _USUAL_LEASE)
        for rpc in self.connections[1:]:
            more = Nfs4(rpc, minor=minor)
            self.session.bind(more, p.ChannelDirFromClient4.CDFC4_FORE)

    @property
    def do(self) -> Blocking:
        """Performs one operation after the other."""
        if self.session is not None:
            return Blocking(self.session)
        rpc = self.connections[0]
        return Blocking(Nfs2(rpc) if self._is_old else Nfs3(rpc, patience=Patience.of(self.loop)))

    @property
    def files(self) -> Files:
        """The operations of the version."""
        return verbs_for(self.version, wants_delegations=False).files

    def root(self) -> bytes:
        """The handle of the directory that the address means. Raises `Stopped`."""
        address = self.address
        inside = _names(address.inside)
        try:
            if self.session is not None:
                known = address.root_handle if address.version == 4 else None
                return (
                    bytes.fromhex(known)
                    if known
                    else find_root(self.session, [*_names(address.export), *inside])
                )
            if address.root_handle and str(address.version) == self.version:
                return bytes.fromhex(address.root_handle)
            return self._mounted(inside)
        except NfsClientError as error:
            raise Stopped("connection", f"the export {address.export} of {address.host}: {error}") from error

    def _mounted(self, inside: list[bytes]) -> bytes:
        address = self.address
        is_old = self._is_old
        with closing(self._connect(address.mount_port)) as rpc:
            client = Mount(rpc, 1 if is_old else 3)
            path = address.export.encode()
            if is_old:
                old = client.mnt1(path)
                handle, status = old.resok, old.status
            else:
                new = client.mnt(path)
                handle, status = None if new.resok is None else new.resok.fhandle, new.status  # type: ignore[assignment]
        if handle is None:
            raise Stopped("refused", f"MNT of {address.export} at {address.host}: {status}")
        rpc = self.connections[0]
        typed = Snfs(rpc) if self.version == SPRITELY else Nfs2(rpc) if is_old else Nfs3(rpc)
        return follow(typed, handle, inside)

    def null_rtt(self) -> float:
        """The median of a few NULL calls, in microseconds."""
        rpc, clock, times = self.connections[0], self.loop.clock, list[float]()
        null = p.NULL if self.session is not None else p3.NULL
        if self._is_old:
            null = snfs.NULL if self.version == SPRITELY else nfs2.NULL
        for _ in range(_NULLS):
            begin = clock()
            rpc.call(null, Void())
            times.append(clock() - begin)
        return sorted(times)[_NULLS // 2] * 1e6

    def channel(self, engine: Engine, meter: Meter, watch: Watch) -> Channel:
        """The channel of this client in an engine, which then serves its connections."""
        kind = MixedDatagrams if self._is_udp else MixedCalls
        mixed = [kind(rpc, over=engine.over, timeout=self.timeout) for rpc in self.connections]
        engine.connections += mixed
        if self._resend:
            engine.look = min(engine.look, self._resend / _LOOKS)
        if self.session is not None:
            return SessionChannel(engine, mixed, meter, watch, self.session, self._lease)
        if self.version == SPRITELY:
            return SpritelyChannel(engine, mixed, meter, watch)
        kind_of_channel = WindowedChannel if self._is_udp and self._resend else StatelessChannel
        return kind_of_channel(engine, mixed, meter, watch)

    def close(self) -> None:
        """End session and connections."""
        if self.session is not None and all(rpc.is_open for rpc in self.connections):
            self.session.close()
        self.session = None
        for rpc in self.connections:
            rpc.close()


def _names(path: str) -> list[bytes]:
    return [name.encode("utf-8", "surrogateescape") for name in path.split("/") if name]


def entries(link: Link, directory: bytes) -> Iterator[bytes]:
    """The names in a directory, without `.` and `..`. Raises `Stopped` if a listing has no end."""
    from nfsclient.files import Position

    position, positions = Position(), set[Position]()
    for _ in range(_MOST_PAGES):
        page = link.do(link.files.readdir(directory, position))
        yield from (bytes(entry.name) for entry in page.entries if bytes(entry.name) not in {b".", b".."})
        if page.eof or not page.entries:
            return
        position = page.next
        if position in positions:
            raise Stopped(
                "no progress", f"cookie {position.cookie} of a listing comes again: it goes in circles"
            )
        positions.add(position)
    raise Stopped("no progress", f"no end of a listing after {_MOST_PAGES} pages")
