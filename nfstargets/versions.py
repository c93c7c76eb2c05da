# SPDX-License-Identifier: MIT
"""The client of each version of NFS."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from nfsclient.clients import Nfs2, Nfs3
from nfsclient.clients.nfs4 import Nfs4

CLIENT_OF: t.Final[Mapping[int, type[Nfs2 | Nfs3 | Nfs4]]] = {2: Nfs2, 3: Nfs3, 4: Nfs4}
