# SPDX-License-Identifier: MIT
"""The client of each version of NFS."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs2, Nfs3

if t.TYPE_CHECKING:
    from nfsclient.clients.nfs4 import Nfs4


def client_of(version: int) -> type[Nfs2 | Nfs3 | Nfs4]:
    """The class of the typed client. That of NFSv4 is imported when it is needed: it is long."""
    if version != 4:
        return Nfs2 if version == 2 else Nfs3
    from nfsclient.clients.nfs4 import Nfs4

    return Nfs4
