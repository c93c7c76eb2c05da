# SPDX-License-Identifier: MIT
"""From a URL of NFSv4.1 or 4.2 to the handle it means: a session, and LOOKUPs from the root of the server.

There is neither rpcbind nor MOUNT on the way (RFC 5661 sections 2.9.3 and 7.3).
"""

from __future__ import annotations

import typing as t
from contextlib import closing
from dataclasses import dataclass

from nfsclient.clients import Patience
from nfsclient.clients.nfs4 import CompoundError, Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.discovery import TIMEOUT, PathNotFound, find_ports, open_connection
from nfsclient.errors import MountFailed, NfsClientError, UrlError
from nfsclient.paths import shown
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl

_OK: t.Final = p.Nfsstat4.NFS4_OK


@dataclass(frozen=True)
class Endpoint:
    """All that it takes to work on what a URL of NFSv4 means."""

    host: str
    port: int
    minor: int
    """The latest minor version that the URL allows and the server has."""
    path: bytes
    root: bytes
    """The handle of `path`."""


def require_sessions(url: NfsUrl) -> None:
    """Raises `UrlError` for URLs with which no session is possible."""
    if url.version != 4 or url.minor == 0 or url.proto != "tcp":
        raise UrlError(f"expected version=4.1 or 4.2 over tcp, saw {url}")


def minors_of(url: NfsUrl) -> tuple[int, ...]:
    """The minor versions to try, the latest first."""
    return (2, 1) if url.minor is None else (url.minor,)


def find_root(session: Session, names: t.Sequence[bytes]) -> bytes:
    """The handle at the end of `names` from the root of the server on. Raises `PathNotFound`."""
    try:
        reply = session.compound(op.putrootfh(), *map(op.lookup, names), op.getfh())
    except NfsClientError as error:
        raise PathNotFound(f"expected an answer to LOOKUP, saw: {error}") from error
    if reply.status == _OK:
        return reply.handle
    failed = "COMPOUND" if reply.failed is None else reply.failed.name
    depth = max(0, len(reply.res.resarray) - 2)  # SEQUENCE and PUTROOTFH
    way = shown(b"/" + b"/".join(names[:depth]))
    raise PathNotFound(
        f"expected {way} in the name space of the server, saw {reply.status} from {failed}; "
        "check the path of the URL: for NFSv4 it begins at the root of the server"
    )


def discover(
    url: NfsUrl,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
) -> Endpoint:
    """Take all steps from a URL of NFSv4 to the handle of its path.

    Raises `UrlError`, `ConnectFailed`, and `MountFailed` with the step: "NFS", "session" or "lookup".
    """
    require_sessions(url)
    if loop is None:
        with closing(Loop()) as own:
            return discover(url, loop=own, timeout=timeout, credential=credential)
    port = find_ports(url, loop=loop, timeout=timeout).nfs
    with closing(open_connection(url, port, loop=loop, timeout=timeout, credential=credential)) as rpc:
        for minor in minors_of(url):
            session = establish(Nfs4(rpc, minor=minor, patience=Patience.of(loop)), url)
            if session is None:
                continue
            with session:
                root = find_root(session, url.components)
            return Endpoint(url.host, port, minor, url.path, root)
    tried = " or ".join(f"4.{minor}" for minor in minors_of(url))
    raise MountFailed("NFS", f"expected version {tried} on {url.host}, saw MINOR_VERS_MISMATCH")


def establish(nfs4: Nfs4, url: NfsUrl) -> Session | None:
    """A session; None where the server has no such minor version. Raises `MountFailed`."""
    try:
        return nfs4.establish()
    except CompoundError as error:
        if error.status == p.Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH:
            return None
        raise MountFailed("session", f"expected a session on {url.host}, saw: {error}") from error
    except NfsClientError as error:
        raise MountFailed("session", f"expected a session on {url.host}, saw: {error}") from error
