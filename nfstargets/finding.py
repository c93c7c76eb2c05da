# SPDX-License-Identifier: MIT
"""What a URL leaves open: at which ports NFS and MOUNT answer, and which version of NFS there is to test.

A server that somebody starts by hand often has all its programs at one port and no rpcbind, or NFSv4 only. The rules,
in this order; each port is confirmed by NULL:

NFS: the port in the URL; what rpcbind lists; 2049.
MOUNT: the port in the URL; the port of NFS, if that is in the URL or rpcbind does not help; what rpcbind lists; 20048.
Version: the one in the URL. Without one it is 3; but if the server itself says that it has no NFSv3, NFSv4.1 and 4.2,
or else NFSv2.

Silence never changes the version: a server that does not answer NFSv3 at all is not tested with NFSv4 instead. Nor does
a contradiction: if the server refuses NFSv3, but its PROG_MISMATCH or rpcbind says that it has NFSv3, it may have a
fault in NFSv3. Only its owner knows, so the user has to say the version. That MOUNT version 3 answers does not count:
mountd of Linux does so even if nfsd has NFSv4 only.
"""

from __future__ import annotations

import contextlib
import typing as t
from contextlib import closing
from dataclasses import dataclass, replace

from nfsclient.clients import Nfs2, Nfs3, Portmap, Rpcbind
from nfsclient.discovery import TIMEOUT, PortUnknown, ask_rpcbind, has_mount, open_connection
from nfsclient.errors import AuthFailed, MountFailed, NfsClientError, ProgMismatch, ProgUnavail, RpcRejected
from nfsclient.protocol import nfs3, portmap
from nfsclient.protocol.rpcbind import from_universal
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl

NFS_PORT: t.Final = 2049
"""Where NFS is looked for when rpcbind does not help (RFC 7530 section 3.1 makes it usual)."""
MOUNT_PORT: t.Final = 20048
"""Where MOUNT usually is on Linux; nothing else fixes it."""
_NOT_SERVED: t.Final = (ProgMismatch, ProgUnavail)
"""The answers by which a server itself says that it has no such version."""
_MINORS: t.Final = (1, 2)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a URL."""

    url: NfsUrl
    """With the version and the ports of NFS and MOUNT."""
    rpcbind_port: int | None
    """None: there is no rpcbind that is about this server."""
    remark: str = ""
    """That another version is tested than 3, and why; empty if not."""


def says_version(text: str) -> bool:
    """Whether a URL has the parameter `version`: then no other one is tested."""
    query = text.partition("#")[0].partition("?")[2]
    return any(item.startswith("version=") for item in query.split("&"))


def find_services(url: NfsUrl, *, may_choose: bool, loop: Loop, timeout: float = TIMEOUT) -> Found:
    """Fill in what `url` leaves open. `timeout` is in seconds, for each connection and call.

    `may_choose`: the version is not from the user, so another one may be tested. Raises `NfsClientError`.
    """
    if url.version == 4:
        return Found(url, url.rpcbindport)
    search = _Search(url, loop, timeout)
    nfs = search.nfs_port()
    remark = ""
    error = search.null_error(nfs)
    if isinstance(error, _NOT_SERVED) and may_choose:
        minors = search.minors(nfs)
        if minors:
            search.require_agreement(nfs, error, f"4.{minors[0]}")
            return Found(
                replace(url, version=4, minor=None, port=None, nfsport=nfs), url.rpcbindport, no_nfs3(minors)
            )
        if search.null_error(nfs, version=2) is None:
            search.require_agreement(nfs, error, "2")
            search.url = url = replace(url, version=2)
            error, remark = None, "no NFSv3, but NFSv2: all checks of NFSv3 and NFSv4 are UNSUPPORTED"
    if error is not None and not isinstance(error, AuthFailed):
        raise search.trouble or MountFailed(
            "NFS", f"expected NFS version {url.version} at port {nfs}, saw: {error}"
        )
    mount = search.mount_port(nfs)
    return Found(replace(url, port=None, nfsport=nfs, mountport=mount), search.rpcbind_port(nfs), remark)


def no_nfs3(minors: t.Sequence[int]) -> str:
    """That a server of NFSv4 only is tested with these minor versions."""
    return (
        f"no NFSv3, but {' and '.join(f'NFSv4.{minor}' for minor in minors)}: "
        "all checks of other versions and of MOUNT are UNSUPPORTED"
    )


def sign_of_nfs3(
    url: NfsUrl, port: int, error: NfsClientError, *, loop: Loop, timeout: float = TIMEOUT
) -> str:
    """What says that the server at a port has NFSv3, although its NULL ended in `error`; empty if nothing does.

    GETPORT does not tell: rpcbind of Linux gives the port of another version if it lists no such one.
    """
    if isinstance(error, ProgMismatch) and error.low <= 3 <= error.high:
        return f"its answer (PROG_MISMATCH) gives {error.low} to {error.high} as the versions that it has"
    at = url.rpcbindport or portmap.PORT
    try:
        with closing(open_connection(url, at, loop=loop, timeout=timeout, privileged=False)) as rpc:
            is_listed = _lists_nfs3(rpc, url.proto, port)
    except NfsClientError:
        return ""
    return f"rpcbind at port {at} lists NFS version 3 at port {port}" if is_listed else ""


def _lists_nfs3(rpc: RpcClient, proto: str, port: int) -> bool:
    """Whether rpcbind lists this very version at a port. What the port mapper lists is IPv4 only."""
    if ":" in rpc.peer_address[0]:
        with contextlib.suppress(RpcRejected):
            address = Rpcbind(rpc, 4).getversaddr(nfs3.PROGRAM, 3, f"{proto}6")
            if address and from_universal(address)[1] == port:
                return True
    number = portmap.IPPROTO_TCP if proto == "tcp" else portmap.IPPROTO_UDP
    return portmap.Mapping(nfs3.PROGRAM, 3, number, port) in Portmap(rpc).dump()


def served_minors(url: NfsUrl, port: int, *, loop: Loop, timeout: float = TIMEOUT) -> tuple[int, ...]:
    """The minor versions of NFSv4 that COMPOUND takes at a port, of those that are tested; over TCP only."""
    if url.proto != "tcp":
        return ()
    from nfsclient.clients.nfs4 import Nfs4  # long to import, and needed where there is no NFSv3
    from nfsclient.protocol.nfs4 import Nfsstat4

    try:
        with closing(open_connection(url, port, loop=loop, timeout=timeout)) as rpc:
            nfs4 = Nfs4(rpc)
            nfs4.null()
            mismatch = Nfsstat4.NFS4ERR_MINOR_VERS_MISMATCH
            return tuple(minor for minor in _MINORS if nfs4.compound(minor=minor).status != mismatch)
    except NfsClientError:
        return ()


class _Search:
    """One look at one server."""

    def __init__(self, url: NfsUrl, loop: Loop, timeout: float) -> None:
        self.url = url
        self._loop = loop
        self._timeout = timeout
        self._has_rpcbind = False
        """It listed the port of NFS."""
        self.trouble: PortUnknown | None = None
        """Why rpcbind is of no help, if that was tried."""

    def nfs_port(self) -> int:
        if self.url.nfs_port is not None:
            return self.url.nfs_port
        try:
            found = ask_rpcbind(replace(self.url, mountport=1), loop=self._loop, timeout=self._timeout)
        except PortUnknown as error:
            self.trouble = error
            return NFS_PORT
        self._has_rpcbind = True
        return found.nfs

    def null_error(self, port: int, version: int | None = None) -> NfsClientError | None:
        """What NULL of NFS ends in; None for an answer."""
        kind = Nfs2 if (version or self.url.version) == 2 else Nfs3
        try:
            with closing(open_connection(self.url, port, loop=self._loop, timeout=self._timeout)) as rpc:
                kind(rpc).null()
        except NfsClientError as error:
            return error
        return None

    def minors(self, port: int) -> tuple[int, ...]:
        return served_minors(self.url, port, loop=self._loop, timeout=self._timeout)

    def require_agreement(self, port: int, error: NfsClientError, other: str) -> None:
        """Raises `MountFailed` if the server also says that it has NFSv3: the user is to choose, not nfsproof."""
        sign = sign_of_nfs3(self.url, port, error, loop=self._loop, timeout=self._timeout)
        if sign:
            raise MountFailed(
                "NFS",
                f"expected NFS version 3 at port {port}, saw: {error}; but {sign}. "
                "If the server is meant to have NFSv3, this is a fault of the server. "
                f"If not, say in the URL what to test: version={other}",
            )

    def mount_port(self, nfs: int) -> int:
        """Raises `PortUnknown` with what rpcbind said."""
        if self.url.mountport is not None:
            return self.url.mountport
        if not self._has_rpcbind and self._has_mount(nfs):
            return nfs
        if self.trouble is None or self.trouble.__cause__ is None:
            try:
                return ask_rpcbind(
                    replace(self.url, port=None, nfsport=nfs), loop=self._loop, timeout=self._timeout
                ).mount
            except PortUnknown as error:
                self.trouble = error
        for port in (*([nfs] if self._has_rpcbind else []), MOUNT_PORT):
            if self._has_mount(port):
                return port
        raise self.trouble

    def _has_mount(self, port: int) -> bool:
        return has_mount(self.url, port, loop=self._loop, timeout=self._timeout)

    def rpcbind_port(self, nfs: int) -> int | None:
        """Where the checks of rpcbind may ask: not one that is about another server of the same host."""
        if self.url.rpcbindport is not None:
            return self.url.rpcbindport
        if self.url.nfs_port is not None and self.url.mountport is not None:
            return None
        if self._has_rpcbind:
            return portmap.PORT
        if self.trouble is not None:
            return None
        try:
            listed = ask_rpcbind(
                replace(self.url, port=None, nfsport=None, mountport=1),
                loop=self._loop,
                timeout=self._timeout,
            )
        except PortUnknown:
            return None
        return portmap.PORT if listed.nfs == nfs else None
