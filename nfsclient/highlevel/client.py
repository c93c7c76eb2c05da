# SPDX-License-Identifier: MIT
"""From a URL to a client of the version that it names; only that version is loaded."""

from __future__ import annotations

import functools
import typing as t

from nfsclient.clients.patience import Patience
from nfsclient.discovery import TIMEOUT, Endpoint, as_url
from nfsclient.highlevel.base import NfsClient
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl

if t.TYPE_CHECKING:
    from nfsclient.highlevel.stateless import StatelessClient


def connect(
    url: NfsUrl | str,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
    delegations: bool | None = None,
) -> NfsClient:
    """A client for the directory (or file) that an NFS URL means, by the version of NFS that it names.

    To have what only one version has, call `connect` of `nfsclient.nfs2`, `nfs3`, `nfs4` or `nfsclient.snfs`.
    `version=snfs` is Spritely NFS: see `nfsclient.highlevel.snfs.NfsClient`, whose files are cached.
    `timeout` is in seconds for each call; `credential` replaces the AUTH_SYS one of the URL; `patience` says
    how long to retry after JUKEBOX or DELAY, and how long to wait for a server that is gone (30 s each). With
    `reconnect` the client outlives restarts of the server: calls are made again on a new connection, and data that
    the server lost before a COMMIT are written again. `delegations`, or `delegations=1` in the URL: NFSv4 servers may
    delegate open files (see `nfsclient.nfs4.NfsClient`); by default they are requested not to, and what they delegate
    goes back at once. Clients of one thread that want delegations share a loop, so that one answers recalls while
    another waits: do not use them in several threads at a time. Raises `UrlError`, `MountFailed` (it names the step),
    `RpcError`.
    """
    parsed = as_url(url, (2, 3, 4))
    make: t.Callable[..., NfsClient]
    if parsed.version == 4:
        from nfsclient.highlevel import nfs4

        make = functools.partial(nfs4.connect, delegations=delegations)
    elif parsed.version == 3:
        from nfsclient.highlevel import nfs3

        make = nfs3.connect
    elif parsed.is_spritely:
        from nfsclient.highlevel import snfs

        make = snfs.connect
    else:
        from nfsclient.highlevel import nfs2

        make = nfs2.connect
    return make(
        parsed, loop=loop, timeout=timeout, credential=credential, patience=patience, reconnect=reconnect
    )


def attach(
    url: NfsUrl | str,
    endpoint: Endpoint,
    *,
    loop: Loop,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
) -> StatelessClient:
    """A client for what `discover` found, of NFSv2, NFSv3 or Spritely NFS. Raises `RpcError`."""
    from nfsclient.highlevel import nfs2, nfs3
    from nfsclient.highlevel.stateless import attach_to

    parsed = as_url(url, (2, 3))
    make: type[StatelessClient] = nfs2.NfsClient if parsed.version == 2 else nfs3.NfsClient
    if parsed.is_spritely:
        from nfsclient.highlevel import snfs

        make = snfs.NfsClient
    return attach_to(
        make,
        parsed,
        endpoint,
        loop=loop,
        timeout=timeout,
        credential=credential,
        patience=patience,
        reconnect=reconnect,
    )
