# SPDX-License-Identifier: MIT
"""Typed clients over an RPC connection: a method per procedure, typed arguments, typed results."""

from __future__ import annotations

from nfsclient.clients.binding import Portmap, Rpcbind
from nfsclient.clients.caller import Caller, TypedClient
from nfsclient.clients.mount import Mount
from nfsclient.clients.nfs2 import Nfs2
from nfsclient.clients.nfs3 import Nfs3
from nfsclient.clients.patience import Patience

__all__ = ["Caller", "Mount", "Nfs2", "Nfs3", "Patience", "Portmap", "Rpcbind", "TypedClient"]
