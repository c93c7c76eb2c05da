# SPDX-License-Identifier: MIT
"""Operations on files by Spritely NFS: those of NFSv2, as calls of its program. OPEN and CLOSE are the client's "
"business."""

from __future__ import annotations

import typing as t

from nfsclient.files import v2
from nfsclient.protocol import snfs as p
from nfsclient.rpc.program import Procedure


class Files(v2.Files):
    """Calls of Spritely NFS: `Call` for each. Handles are 32 bytes. READ and WRITE need an OPEN."""

    name = "SNFS"

    def _procedure(self, procedure: Procedure[t.Any, t.Any]) -> Procedure[t.Any, t.Any]:
        return p.in_snfs(procedure)
