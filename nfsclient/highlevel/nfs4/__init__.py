# SPDX-License-Identifier: MIT
"""Files and directories by path over NFSv4.1 and 4.2; `nfsclient.connect` with `version=4.1` is the way in."""

from __future__ import annotations

from nfsclient.highlevel.nfs4.attempts import FateUnknown, StateLost
from nfsclient.highlevel.nfs4.client import NfsClient4
from nfsclient.highlevel.nfs4.files import NfsFile4
from nfsclient.highlevel.nfs4.live import LiveClient

__all__ = ["FateUnknown", "LiveClient", "NfsClient4", "NfsFile4", "StateLost"]
