# SPDX-License-Identifier: MIT
"""An NFS client library: XDR, RPC, the protocols as data, typed clients, and files by path.

    with nfsclient.connect("nfs://server/export") as nfs:
        nfs.write_file("hello", b"world")

Layers, each usable alone: `xdr`, `rpc`, `protocol`, `clients` (one method per procedure), `files` (by handle, alike in
all versions), `discovery` (from a URL to a handle), `highlevel`. Needs the standard library only.
"""

from __future__ import annotations

from nfsclient.clients import Mount, Nfs3, Patience, Portmap, Rpcbind
from nfsclient.discovery import Endpoint, discover
from nfsclient.errors import (
    MountFailed,
    NfsClientError,
    NfsStatusError,
    NotInVersion,
    RetriesExhausted,
    RpcError,
    ServerDown,
    UrlError,
    XdrError,
)
from nfsclient.files import Attributes, FileType, NewAttributes
from nfsclient.highlevel import NfsClient, attach, connect, connect3
from nfsclient.replies import ok
from nfsclient.url import NfsUrl

__all__ = [
    "Attributes",
    "Endpoint",
    "FileType",
    "Mount",
    "MountFailed",
    "NewAttributes",
    "Nfs3",
    "NfsClient",
    "NfsClientError",
    "NfsStatusError",
    "NfsUrl",
    "NotInVersion",
    "Patience",
    "Portmap",
    "RetriesExhausted",
    "RpcError",
    "Rpcbind",
    "ServerDown",
    "UrlError",
    "XdrError",
    "attach",
    "connect",
    "connect3",
    "discover",
    "ok",
]
