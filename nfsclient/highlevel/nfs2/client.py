# SPDX-License-Identifier: MIT
"""Files and directories by path, over NFSv2."""

from __future__ import annotations

from nfsclient.clients.patience import Patience
from nfsclient.discovery import TIMEOUT, as_url
from nfsclient.highlevel.listing import Lists
from nfsclient.highlevel.nfs2.listing import Lister
from nfsclient.highlevel.resolve import Node
from nfsclient.highlevel.stateless import StatelessClient, connect_mounted
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl


class NfsClient(StatelessClient):
    """A server's export as files and directories, by NFSv2. Make one with `connect`."""

    _version = 2

    def _lister(self, node: Node) -> Lists:
        return Lister(self.session, node.handle, node.path, bounds=self.listing_bounds)


def connect(
    url: NfsUrl | str,
    *,
    loop: Loop | None = None,
    timeout: float = TIMEOUT,
    credential: Credential | None = None,
    patience: Patience | None = None,
    reconnect: bool = True,
) -> NfsClient:
    """`nfsclient.connect` for NFSv2 only, which the URL need not name."""
    return connect_mounted(
        NfsClient,
        as_url(url, (2,)),
        loop=loop,
        timeout=timeout,
        credential=credential,
        patience=patience,
        reconnect=reconnect,
    )
