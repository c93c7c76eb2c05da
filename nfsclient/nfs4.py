# SPDX-License-Identifier: MIT
"""Files and directories by path over NFSv4.1 and 4.2: ``nfs4.connect("nfs://server/export")``."""

from __future__ import annotations

from nfsclient.highlevel.nfs4 import FateUnknown, NfsClient, NfsFile, StateLost, connect

__all__ = ["FateUnknown", "NfsClient", "NfsFile", "StateLost", "connect"]
