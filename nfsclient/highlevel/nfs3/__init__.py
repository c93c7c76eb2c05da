# SPDX-License-Identifier: MIT
"""Files and directories by path over NFSv3."""

from __future__ import annotations

from nfsclient.highlevel.nfs3.client import NfsClient, connect

__all__ = ["NfsClient", "connect"]
