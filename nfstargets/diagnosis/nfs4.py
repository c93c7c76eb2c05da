# SPDX-License-Identifier: MIT
"""The steps of a diagnosis for NFSv4.1 and 4.2: neither rpcbind nor MOUNT, but a session."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace

from nfsclient.clients import Patience
from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.discovery import NFS4_PORT, Mounted, open_connection
from nfsclient.discovery.nfs4 import establish, find_root, minors_of
from nfsclient.errors import MountFailed, NfsClientError
from nfsclient.files import Blocking
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.access import Access, attributes_at
from nfstargets.diagnosis.examination import Examination
from nfstargets.diagnosis.report import Outcome
from nfstargets.diagnosis.security import KRB5, NO_TLS, SYS_ONLY, is_too_weak
from nfstargets.diagnosis.wording import why


class Examination4(Examination):
    """One look at one URL with version=4, 4.1 or 4.2."""

    def __init__(self, url: NfsUrl, loop: Loop, patience: float) -> None:
        super().__init__(url, loop, patience)
        self._is_guess = url.nfs_port is None
        self.nfs_port = url.nfs_port or NFS4_PORT

    def _ways(self) -> list[tuple[str, t.Callable[[], tuple[Outcome, str, str]]]]:
        return [
            ("name", self._name),
            ("port", self._port),
            ("RPC version", self._rpc),
            ("NFS", self._nfs),
            ("session", self._session),
            ("privileged port", self._source_port),
            ("path", self._path),
        ]

    def _session(self) -> tuple[Outcome, str, str]:
        if not self._nfs_speaks_rpc:
            return Outcome.NOT_TRIED, "no RPC is spoken there", ""
        access = self._find_access()
        if isinstance(access.mounted, Mounted):
            return Outcome.OK, f"NFSv4.{access.minor} gives one", ""
        seen = access.mounted.detail if access.mounted.__cause__ is None else why(access.mounted.__cause__)
        if is_too_weak(access.mounted):
            return Outcome.FAILED, seen, NO_TLS if self._offers_tls() else SYS_ONLY
        if access.mounted.step == "NFS":
            return Outcome.FAILED, seen, "enable NFSv4.1 on the server: nfsproof does not test NFSv4.0"
        return Outcome.FAILED, seen, "read the log of the server"

    def _try(self, *, privileged: bool) -> Access:
        assert self.nfs_port is not None
        url = replace(self.url, secure=privileged)
        return try_access4(url, self.nfs_port, loop=self.loop, timeout=self._timeout)


def try_access4(url: NfsUrl, port: int, *, loop: Loop, timeout: Callable[[], float]) -> Access:
    """The same by NFSv4: a session, and LOOKUP from the root of the server. Never raises."""
    access = Access(
        MountFailed("NFS", f"NFSv4 answers MINOR_VERS_MISMATCH to minor version {url.minor or '2 and 1'}")
    )
    try:
        with closing(open_connection(url, port, loop=loop, timeout=timeout())) as rpc:
            for minor in minors_of(url):
                session = establish(Nfs4(rpc, minor=minor, patience=Patience.of(loop)), url)
                if session is None:
                    continue
                with session:
                    _look4(session, url, access)
                access.minor = minor
                return access
    except MountFailed as error:
        access.mounted = error
    except NfsClientError as error:
        access.mounted = MountFailed("session", str(error))
        access.mounted.__cause__ = error
    access.error = access.mounted if isinstance(access.mounted, MountFailed) else None
    return access


def _look4(session: Session, url: NfsUrl, access: Access) -> None:
    try:
        access.mounted = Mounted(b"/", find_root(session, ()), ())
        access.root = find_root(session, url.components)
        access.attributes = attributes_at(Blocking(session), url, access.root)
    except NfsClientError as error:
        access.error = error
        if Nfsstat4.NFS4ERR_WRONGSEC.name in str(error):
            access.flavors = flavors_of(session, url.components)


def flavors_of(session: Session, names: Sequence[bytes]) -> tuple[int, ...]:
    """The flavors that SECINFO lists for the first name on the way that demands another; none if it does not say."""
    for depth in range(len(names)):
        way = [op.putrootfh(), *map(op.lookup, names[:depth])]
        try:
            if session.compound(*way, op.lookup(names[depth])).status != Nfsstat4.NFS4ERR_WRONGSEC:
                continue
            reply = session.compound(*way, op.secinfo(names[depth]))
            if reply.status != Nfsstat4.NFS4_OK:
                return ()
            listed = reply.of(p.SECINFO).resok4
        except NfsClientError:
            return ()
        return tuple(map(_pseudo_flavor, listed or ()))
    return ()


def _pseudo_flavor(listed: p.Secinfo4) -> int:
    """The number of a flavor in MNT's list: Kerberos has one for each service, NFSv4 names the service in addition."""
    if listed.flavor_info is None:
        return int(listed.flavor)
    return KRB5 + int(listed.flavor_info.service) - 1
