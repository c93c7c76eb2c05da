# SPDX-License-Identifier: MIT
"""Files and directories by path, over the typed clients; `nfsclient.connect` is the way in."""

from __future__ import annotations

from nfsclient.highlevel.base import NfsClient
from nfsclient.highlevel.client import attach, connect
from nfsclient.highlevel.errors import EndlessListing, LinkNotFollowed, NoProgress, ServerViolation
from nfsclient.highlevel.files import NfsFile
from nfsclient.highlevel.resolve import Node
from nfsclient.highlevel.session import Limits

__all__ = [
    "EndlessListing",
    "Limits",
    "LinkNotFollowed",
    "NfsClient",
    "NfsFile",
    "NoProgress",
    "Node",
    "ServerViolation",
    "attach",
    "connect",
]
