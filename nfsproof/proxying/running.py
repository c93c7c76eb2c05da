# SPDX-License-Identifier: MIT
"""`nfsproof proxy`: from words of the command line to a proxy that runs until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import time
import typing as t
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from fixtures.proxy_watch import Watch
from nfsclient.errors import NfsClientError, UrlError
from nfsclient.protocol import portmap
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfsfaults import exact
from nfsfaults.names import BadPlan
from nfsfaults.plan import Plan
from nfsfaults.proxy import MOST_CONNECTIONS, Proxy
from nfsfaults.proxy_sockets import EARLY, Address, Settings, SourcePort
from nfsfaults.with_scapy import NoScapy
from nfsproof.proxying.view import View
from nfstargets.finding import find_services, says_version
from nfstargets.spelling import as_url

_NFS_PORT: t.Final = 2049
_TRY_SECONDS: t.Final = 5.0
_OTHER_FILES: t.Final = 1200
"""Sockets of UDP clients among them."""


class CannotProxy(Exception):
    """The proxy could not be set up as asked; the text says what stands in the way."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server."""

    host: str
    nfs_port: int
    mount_port: int | None = None
    """None: not known, or not needed."""
    rpcbind_port: int = portmap.PORT
    url: NfsUrl | None = None
    """What the user gave, if it was a URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the user wants."""

    listen: Address
    to: Upstream
    plan: Plan
    capture: Path | None = None
    lint: bool = False
    source_port: SourcePort = "any"
    rpcbind: int | None = None
    """The port of the proxy that stands for the server's rpcbind; 0: any; None: none."""


def address_of(text: str, what: str) -> Address:
    """HOST:PORT or [V6]:PORT. Raises `CannotProxy`."""
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise CannotProxy(f"{what}: expected HOST:PORT, seen {text!r}")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if ":" in bare and bare == host:
        raise CannotProxy(f"{what}: expected brackets around an IPv6 address, as in [{host}]:{port}")
    return bare, int(port)


def upstream_of(text: str, *, loop: Loop | None = None) -> Upstream:
    """HOST:PORT, or a URL: what that leaves open is searched as a run does it. Raises `CannotProxy`.

    `loop` is for a server in this process.
    """
    if loop is None:
        with closing(Loop()) as own:
            return upstream_of(text, loop=own)
    text = as_url(text)
    if "://" not in text:
        host, port = address_of(text, "--to")
        if not port:
            raise CannotProxy(f"--to: expected a port, seen {text!r}")
        return Upstream(host, port)
    try:
        url = NfsUrl.parse(text)
        if url.version == 4:
            return Upstream(url.host, url.nfs_port or _NFS_PORT, url=url)
        if url.nfs_port is not None and url.mountport is not None:  # nothing is left open
            return Upstream(url.host, url.nfs_port, url.mountport, url.rpcbindport or portmap.PORT, url)
        found = find_services(url, may_choose=not says_version(text), loop=loop).url
    except (UrlError, NfsClientError) as error:
        raise CannotProxy(f"--to: {error}") from error
    assert found.nfs_port is not None
    if found.version == 4:
        return Upstream(url.host, found.nfs_port, url=found)
    return Upstream(url.host, found.nfs_port, found.mountport, url.rpcbindport or portmap.PORT, found)


def run_until_stopped(wish: Wish) -> Watch:
    """Carries the plan out until SIGINT or SIGTERM; gives what it saw. Raises `CannotProxy`."""
    _allow_files()
    try:
        if not wish.plan.links:
            return asyncio.run(_run(wish))
        with asyncio.Runner(loop_factory=exact.new_loop) as runner:
            return runner.run(_run(wish))
    except (BadPlan, NoScapy) as error:
        raise CannotProxy(f"--plan: {error}") from error


def _allow_files() -> None:
    """Let this process open as many files as connections need, two each, if it may."""
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * MOST_CONNECTIONS + _OTHER_FILES
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    if least != resource.RLIM_INFINITY and least < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


async def _run(wish: Wish) -> Watch:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    await _try(wish.to)
    views: list[View] = []

    def trouble(line: str) -> None:
        for view in views:
            view.trouble(line)

    with contextlib.ExitStack() as stack:
        watch = Watch(_opened(wish.capture), lint=wish.lint, epoch=time.time() - loop.time(), fail=trouble)
        stack.callback(watch.close)
        settings = Settings(
            (wish.to.host, wish.to.nfs_port),
            wish.source_port,
            watch.take if watch.is_needed else None,
            trouble,
            0.0 if wish.plan.links else EARLY,
        )
        async with Proxy(settings, wish.plan) as proxy:
            view = View(proxy.matcher, watch, loop.time())
            proxy.matcher.on_firing = view.fired
            for line in await _listen(proxy, wish):
                view.say(line)
            views.append(view)
            view.start()
            stack.callback(view.close)
            await stopped.wait()
    return watch


def _opened(path: Path | None) -> t.BinaryIO | None:
    try:
        return None if path is None else path.open("wb")
    except OSError as error:
        raise CannotProxy(f"--capture: cannot write {path}: {error.strerror}") from error


async def _try(to: Upstream) -> None:
    """Raises `CannotProxy` if the server takes no connection; a server of UDP alone is not tried."""
    if to.url is not None and to.url.proto == "udp":
        return
    try:
        async with asyncio.timeout(_TRY_SECONDS):
            _, writer = await asyncio.open_connection(to.host, to.nfs_port)
    except (OSError, TimeoutError) as error:
        number = getattr(error, "errno", None)
        why = os.strerror(number) if number and number > 0 else str(error)
        why = why or f"no answer within {_TRY_SECONDS:g} s"
        raise CannotProxy(f"cannot connect to {to.host} port {to.nfs_port}: {why}") from error
    writer.close()


async def _listen(proxy: Proxy, wish: Wish) -> list[str]:
    """Open the listeners; gives lines for the user. Raises `CannotProxy`."""
    to, (host, port) = wish.to, wish.listen

    async def on(name: str, open_it: Callable[[], t.Awaitable[Address]], wanted: int) -> Address:
        try:
            return await open_it()
        except OSError as error:
            reason = error.strerror or str(error)
            raise CannotProxy(f"cannot listen on {host} port {wanted} for {name}: {reason}") from error

    _, nfs = await on("NFS", lambda: proxy.listen(host, port), port)
    shown = f"[{host}]" if ":" in host else host
    lines = [f"listening on {shown}:{nfs} for {to.host} port {to.nfs_port}, TCP and UDP"]
    url = None if to.url is None else replace(to.url, host=host, port=None, nfsport=nfs)
    if to.mount_port is not None:
        mount_port = to.mount_port
        _, port = await on("MOUNT", lambda: proxy.stand_before(mount_port, host), 0)
        url = None if url is None else replace(url, mountport=port)
    if wish.rpcbind is not None:
        wanted = wish.rpcbind
        _, port = await on("rpcbind", lambda: proxy.listen_for_rpcbind(host, wanted, to.rpcbind_port), wanted)
        lines.append(f"rpcbind: port {port} of the same address")
        url = None if url is None else replace(url, rpcbindport=port)
    if url is not None:
        lines.append(f"for clients: {url}")
    if wish.plan.rules or wish.plan.links:
        lines.append(f"seed: {wish.plan.seed}")
    lines.append("press Ctrl-C to stop")
    return lines
