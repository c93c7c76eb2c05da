# SPDX-License-Identifier: MIT
"""Files and directories by path over NFSv4.1 and 4.2."""

from __future__ import annotations

from nfsclient.highlevel.nfs4.attempts import FateUnknown, StateLost
from nfsclient.highlevel.nfs4.client import NfsClient, connect
from nfsclient.highlevel.nfs4.files import NfsFile
from nfsclient.highlevel.nfs4.live import LiveClient

__all__ = ["FateUnknown", "LiveClient", "NfsClient", "NfsFile", "StateLost", "connect"]
