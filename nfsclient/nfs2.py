# SPDX-License-Identifier: MIT
"""Files and directories by path over NFSv2: ``nfs2.connect("nfs://server/export")``."""

from __future__ import annotations

from nfsclient.highlevel.files import NfsFile
from nfsclient.highlevel.nfs2 import NfsClient, connect

__all__ = ["NfsClient", "NfsFile", "connect"]
