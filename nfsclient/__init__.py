# SPDX-License-Identifier: MIT
"""An NFS client library: XDR, RPC, the protocols as data, typed clients, and files by path.

    with nfsclient.connect("nfs://server/export") as nfs:          # ?version=2, 4.1 or 4.2 for another than 3
        nfs.write_file("hello", b"world")

    with nfsclient.nfs4.connect("nfs://server/export") as nfs:     # what only NFSv4 has; nfs2 and nfs3 likewise
        nfs.open("hello").lock()

A version is a package: what all versions have stands in `nfsclient`, and under the same name what one version has in
`nfsclient.nfs2`, `nfs3` and `nfs4`, which are loaded when they are first used.

Layers, each usable alone: `xdr`, `rpc`, `protocol`, `clients` (one method per procedure), `files` (by handle, alike in
all versions), `discovery` (from a URL to a handle), `highlevel`. Needs the standard library only.
"""

from __future__ import annotations

import importlib
import typing as t

if t.TYPE_CHECKING:
    from nfsclient import nfs2, nfs3, nfs4
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
    from nfsclient.highlevel import NfsClient, NfsFile, attach, connect
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
    "NfsFile",
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
    "discover",
    "nfs2",
    "nfs3",
    "nfs4",
    "ok",
]

_FROM: t.Final = {
    "nfsclient.clients": ("Mount", "Nfs3", "Patience", "Portmap", "Rpcbind"),
    "nfsclient.discovery": ("Endpoint", "discover"),
    "nfsclient.errors": (
        "MountFailed",
        "NfsClientError",
        "NfsStatusError",
        "NotInVersion",
        "RetriesExhausted",
        "RpcError",
        "ServerDown",
        "UrlError",
        "XdrError",
    ),
    "nfsclient.files": ("Attributes", "FileType", "NewAttributes"),
    "nfsclient.highlevel": ("NfsClient", "NfsFile", "attach", "connect"),
    "nfsclient.replies": ("ok",),
    "nfsclient.url": ("NfsUrl",),
}
"""The module of each name: imported when somebody asks for the name, since programs use few of the layers."""

if not t.TYPE_CHECKING:  # type checkers see the imports above, and no name that is not there

    def __getattr__(name: str) -> object:
        if name in {"nfs2", "nfs3", "nfs4"}:
            return importlib.import_module(f"nfsclient.{name}")
        module = next((module for module, names in _FROM.items() if name in names), None)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(importlib.import_module(module), name)
        return found
