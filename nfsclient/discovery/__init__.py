# SPDX-License-Identifier: MIT
"""From a URL to the file handle it means: rpcbind for the ports, MOUNT for the export, LOOKUP for the rest.

Each step stands alone (`find_ports`, `mount_longest`, `follow`), so that a diagnosis can take them one by
one; `discover` takes them all. A step that fails raises its own kind of `MountFailed`, which names the step.
"""

from __future__ import annotations

import dataclasses
import os
import typing as t
from contextlib import closing
from dataclasses import dataclass

from nfsclient.clients import Mount, Nfs2, Nfs3, Patience, Portmap, Rpcbind
from nfsclient.clients.snfs import Snfs
from nfsclient.errors import MountFailed, NfsClientError, ProgMismatch, RpcError, UrlError, XdrError
from nfsclient.paths import shown
from nfsclient.protocol import mount, nfs2, nfs3, portmap, snfs
from nfsclient.protocol.rpcbind import UniversalAddressError, from_universal
from nfsclient.rpc.auth import AuthSys, Credential
from nfsclient.rpc.blocking import RpcClient, connect_tcp, connect_udp
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfsclient.xdr import XdrEnum

_PROT: t.Final = {"tcp": portmap.IPPROTO_TCP, "udp": portmap.IPPROTO_UDP}
_LAST_PORT: t.Final = 65_535
_NFS4: t.Final = 4
NFS4_PORT: t.Final = 2049
"""Of NFSv4, which needs no rpcbind (RFC 5661 section 2.9.3)."""
TIMEOUT = 5.0
"""Seconds for each connection and each call of the discovery, if not said otherwise."""


class PortUnknown(MountFailed):
    """rpcbind could not be asked, or does not know the program."""

    def __init__(self, detail: str) -> None:
        super().__init__("rpcbind", detail)


class MountRefused(MountFailed):
    """No directory on the way to the wanted one could be mounted: `refusals` has each path and its status."""

    def __init__(self, detail: str, refusals: t.Sequence[tuple[bytes, str]] = ()) -> None:
        super().__init__("mount", detail)
        self.refusals = tuple(refusals)


class PathNotFound(MountFailed):
    """The path inside the export could not be followed."""

    def __init__(self, detail: str) -> None:
        super().__init__("lookup", detail)


@dataclass(frozen=True)
class Ports:
    """Where the services of NFS listen."""

    nfs: int
    mount: int
    """0 where there is none: NFSv4 has no use for it."""


@dataclass(frozen=True)
class Mounted:
    """What MNT gave: the path that was mounted, its handle, and the RPC flavors that the server takes."""

    path: bytes
    handle: bytes
    flavors: tuple[int, ...]


@dataclass(frozen=True)
class Endpoint:
    """All that it takes to work on what a URL means."""

    host: str
    nfs_port: int
    mount_port: int
    proto: str
    path: bytes
    """The path of the URL."""
    root: bytes
    """The handle of `path`."""
    export: bytes
    """The part of `path` that was mounted."""
    export_root: bytes
    """The handle of `export`."""
    flavors: tuple[int, ...]
    """The RPC authentication flavors that MNT named; none in NFSv2, whose MNT names none."""

    @property
    def inside(self) -> bytes:
        """The part of `path` below `export`; empty when they are the same."""
        return b"/".join(_names_below(self.path, self.export))


def as_url(url: NfsUrl | str, versions: t.Collection[int] = (3,), *, spritely: bool = False) -> NfsUrl:
    """A URL of one of these versions of NFS: if there is only one, the text need not name it. Raises `UrlError`.

    `spritely`: of Spritely NFS, which need not be named either.
    """
    unnamed = min(versions) if len(versions) == 1 else 3
    parsed = NfsUrl.parse(url, version=unnamed) if isinstance(url, str) else url
    if spritely and parsed.version == snfs.VERSION:
        return dataclasses.replace(parsed, is_spritely=True)
    if parsed.version not in versions:
        wanted = " or ".join(map(str, sorted(versions)))
        raise UrlError(f"expected version={wanted}, saw version={parsed.version} in {parsed}")
    return parsed


def _names_below(path: bytes, export: bytes) -> list[bytes]:
    names = [name for name in path.split(b"/") if name]
    return names[len([name for name in export.split(b"/") if name]) :]


def credential_of(url: NfsUrl) -> AuthSys:
    """The AUTH_SYS credential of a URL: its `uid` and `gid`, or those of this process."""
    uid = os.getuid() if url.uid is None else url.uid
    gid = os.getgid() if url.gid is None else url.gid
    return AuthSys(uid, gid)


def open_connection(
    url: NfsUrl,
    port: int,
    *,
    loop: Loop,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    privileged: bool | None = None,
) -> RpcClient:
    """A connection to a port of the host of `url`, by its `proto`. Raises `ConnectFailed`."""
    connect = connect_tcp if url.proto == "tcp" else connect_udp
    return connect(
        url.host,
        port,
        loop=loop,
        timeout=timeout,
        privileged=url.secure if privileged is None else privileged,
        credential=credential or credential_of(url),
        source_port=0
        if url.is_spritely
        else None,  # the server knows a client by its address, also a later one
    )


def find_ports(url: NfsUrl, *, loop: Loop, timeout: float = TIMEOUT) -> Ports:
    """The ports in the URL, and those that it leaves open from rpcbind. Raises `PortUnknown`.

    NFSv4 needs no rpcbind: its port is 2049 if the URL names none. A server without rpcbind often has all programs at
    one port: if MOUNT answers at the port of NFS that the URL names, that is its port, and rpcbind is not asked.
    """
    if url.version == 4:
        return Ports(url.nfs_port or NFS4_PORT, url.mountport or 0)
    if url.nfs_port is not None and url.mountport is not None:
        return Ports(url.nfs_port, url.mountport)
    if url.nfs_port is not None and has_mount(url, url.nfs_port, loop=loop, timeout=timeout):
        return Ports(url.nfs_port, url.nfs_port)
    try:
        return ask_rpcbind(url, loop=loop, timeout=timeout)
    except PortUnknown as error:
        if url.nfs_port is not None and _has_only_later_versions(
            url, url.nfs_port, loop=loop, timeout=timeout
        ):
            raise PortUnknown(
                f"expected NFS version {url.version} on {url.host} port {url.nfs_port}, saw NFSv4 only; "
                "say ?version=4.1 in the URL"
            ) from error.__cause__
        raise


def ask_rpcbind(url: NfsUrl, *, loop: Loop, timeout: float = TIMEOUT) -> Ports:
    """The ports in the URL, and from rpcbind those that it leaves open. Raises `PortUnknown`.

    Where that has a cause, rpcbind was not reached, or its answer was none; else it lists no such program.
    """
    try:
        with closing(
            open_connection(
                url, url.rpcbindport or portmap.PORT, loop=loop, timeout=timeout, privileged=False
            )
        ) as rpc:
            return Ports(
                url.nfs_port or _ask(rpc, url, _program(url), "NFS", "nfsport"),
                url.mountport or _ask(rpc, url, (mount.PROGRAM, _mount_version(url)), "MOUNT", "mountport"),
            )
    except (RpcError, XdrError) as error:
        asked = f"expected an answer of rpcbind from {url.host} port {url.rpcbindport or portmap.PORT}, saw: {error}"
        if url.nfs_port is None:
            missing = "if there is no rpcbind, say both ports in the URL: ?nfsport=...&mountport=..."
        else:
            missing = "if there is no rpcbind, say the port of MOUNT in the URL: ?mountport=..."
        raise PortUnknown(f"{asked}; {missing}") from error


def has_mount(url: NfsUrl, port: int, *, loop: Loop, timeout: float = TIMEOUT) -> bool:
    """Whether the version of MOUNT that goes with the URL answers NULL at a port."""
    try:
        with closing(open_connection(url, port, loop=loop, timeout=timeout)) as rpc:
            Mount(rpc, _mount_version(url)).null()
    except NfsClientError:
        return False
    return True


def _has_only_later_versions(url: NfsUrl, port: int, *, loop: Loop, timeout: float) -> bool:
    """Whether the server at a port says that it has no version of NFS before 4."""
    try:
        with closing(open_connection(url, port, loop=loop, timeout=timeout)) as rpc:
            (Nfs2 if url.version == 2 else Nfs3)(rpc).null()
    except ProgMismatch as error:
        return error.low == _NFS4
    except NfsClientError:
        return False
    return False


def _mount_version(url: NfsUrl) -> int:
    """Version 1 of MOUNT goes with version 2 of NFS (RFC 1094 section A.1)."""
    return 1 if url.version == 2 else 3


def _program(url: NfsUrl) -> tuple[int, int]:
    return (snfs.PROGRAM, snfs.VERSION) if url.is_spritely else (nfs3.PROGRAM, url.version)


def _ask(rpc: RpcClient, url: NfsUrl, program: tuple[int, int], name: str, parameter: str) -> int:
    """The port of a (program, version). The port mapper knows no IPv6: then this asks its successor."""
    port = _getaddr(rpc, *program, url.proto) if ":" in rpc.peer_address[0] else 0
    port = port or Portmap(rpc).getport(*program, _PROT[url.proto])
    if not port:
        raise PortUnknown(
            f"expected {name} version {program[1]} over {url.proto} to be registered with rpcbind on {url.host}, "
            f"saw no such entry; start the service, or say {parameter}= in the URL"
        )
    if port > _LAST_PORT:
        raise PortUnknown(
            f"expected a port of {name} below 65536 from rpcbind on {url.host}, saw {port}; "
            f"say {parameter}= in the URL"
        )
    return port


def _getaddr(rpc: RpcClient, program: int, vers: int, proto: str) -> int:
    for version in (4, 3):
        try:
            address = Rpcbind(rpc, version).getaddr(program, vers, f"{proto}6")
            return from_universal(address)[1] if address else 0
        except UniversalAddressError:
            return 0
        except RpcError:
            continue
    return 0


def mount_longest(
    url: NfsUrl, port: int, *, loop: Loop, timeout: float = TIMEOUT, credential: Credential | None = None
) -> Mounted:
    """Mount the path of the URL, or else the longest part of it that is mounted. Raises `MountRefused`.

    When the whole path is refused, the export list says what to try; then every parent is tried, as
    the list may be withheld, and may name paths other than those that MNT takes.
    """
    refusals: list[tuple[bytes, str]] = []
    try:
        with closing(open_connection(url, port, loop=loop, timeout=timeout, credential=credential)) as rpc:
            client = Mount(rpc, _mount_version(url))
            for path in _candidates(url, client):
                mounted = _mnt(client, path)
                if isinstance(mounted, Mounted):
                    return mounted
                refusals.append((path, str(mounted)))
    except NfsClientError as error:
        raise MountRefused(
            f"expected an answer from MOUNT version {_mount_version(url)} on {url.host} port {port}, saw: {error}; "
            "check the port, and whether the server wants a privileged source port (secure=1)",
            refusals,
        ) from error
    seen = ", ".join(f"{shown(path)}: {status}" for path, status in refusals)
    raise MountRefused(
        f"expected {shown(url.path)} or a parent of it to be exported by {url.host}, saw {seen}; "
        "check the export list and its rules for this host",
        refusals,
    )


def _mnt(client: Mount, path: bytes) -> Mounted | XdrEnum:
    """What MNT gives, or the status of its refusal."""
    if client.version == 3:
        reply = client.mnt(path)
        if reply.resok is None:
            return reply.status
        return Mounted(path, reply.resok.fhandle, tuple(reply.resok.auth_flavors))
    old = client.mnt1(path)
    return old.status if old.resok is None else Mounted(path, old.resok, ())


def _candidates(url: NfsUrl, client: Mount) -> t.Iterator[bytes]:
    """The paths to mount, best first: the whole one, exports on the way to it, all its parents."""
    yield url.path
    names = url.components
    parents = [b"/" + b"/".join(names[:length]) for length in range(len(names) - 1, -1, -1)]
    try:
        exports = {entry.ex_dir.rstrip(b"/") or b"/" for entry in client.export()} if parents else set()
    except RpcError:
        exports = set()
    yield from (path for path in parents if path in exports)
    yield from (path for path in parents if path not in exports)


def follow(nfs: Nfs3 | Nfs2, start: bytes, names: t.Sequence[bytes]) -> bytes:
    """The handle at the end of `names` from the handle `start` on. Raises `PathNotFound`."""
    handle = start
    for depth, name in enumerate(names):
        try:
            reply = nfs.lookup(handle, name)
        except NfsClientError as error:
            raise PathNotFound(f"expected an answer to LOOKUP, saw: {error}") from error
        if reply.resok is None:
            way = shown(b"/".join(names[: depth + 1]))
            raise PathNotFound(
                f"expected {way} in the export, saw {reply.status} from LOOKUP; check the path of the URL"
            )
        handle = reply.resok.file if isinstance(reply.resok, nfs2.Diropok) else reply.resok.object
    return handle


def discover(
    url: NfsUrl | str,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
) -> Endpoint:
    """Take all steps from a URL to the handle of its path.

    `timeout` is in seconds, for each connection and call. `credential` is for MOUNT and LOOKUP; the default
    is that of the URL. Raises `UrlError`, `PortUnknown`, `MountRefused` or `PathNotFound`.
    """
    url = as_url(url, (2, 3))
    if loop is None:
        with closing(Loop()) as own:
            return discover(url, loop=own, timeout=timeout, credential=credential)
    ports = find_ports(url, loop=loop, timeout=timeout)
    mounted = mount_longest(url, ports.mount, loop=loop, timeout=timeout, credential=credential)
    names = _names_below(url.path, mounted.path)
    root = mounted.handle
    if names:
        root = _follow_alone(url, ports.nfs, root, names, loop, timeout, credential)
    return Endpoint(
        host=url.host,
        nfs_port=ports.nfs,
        mount_port=ports.mount,
        proto=url.proto,
        path=url.path,
        root=root,
        export=mounted.path,
        export_root=mounted.handle,
        flavors=mounted.flavors,
    )


def _follow_alone(
    url: NfsUrl,
    port: int,
    start: bytes,
    names: t.Sequence[bytes],
    loop: Loop,
    timeout: float,
    credential: Credential | None,
) -> bytes:
    """`follow` over a new connection."""
    try:
        rpc = open_connection(url, port, loop=loop, timeout=timeout, credential=credential)
    except RpcError as error:
        raise PathNotFound(
            f"expected NFS version {url.version} on {url.host} port {port}, saw: {error}; check the port"
        ) from error
    with closing(rpc):
        old = Snfs if url.is_spritely else Nfs2
        nfs = old(rpc) if url.version == 2 else Nfs3(rpc, patience=Patience.of(loop))
        return follow(nfs, start, names)
