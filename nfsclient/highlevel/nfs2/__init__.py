# SPDX-License-Identifier: MIT
"""Files and directories by path over NFSv2."""

from __future__ import annotations

from nfsclient.highlevel.nfs2.client import NfsClient, connect

__all__ = ["NfsClient", "connect"]
