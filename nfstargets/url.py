# SPDX-License-Identifier: MIT
"""A server that somebody else runs, named by a URL."""

from __future__ import annotations

import os

from nfsclient.discovery import discover
from nfsclient.discovery4 import discover4
from nfsclient.errors import NfsClientError, UrlError
from nfsclient.protocol import portmap
from nfsclient.url import NfsUrl
from nfstargets.base import Target, TargetAddress, TargetError


class UrlTarget(Target):
    """`nfs://host/export`: found through rpcbind and MOUNT, or by the ports in the URL.

    With ``version=2`` it is tested with NFSv2 only; with ``version=4.1`` with NFSv4 only, which needs neither.
    """

    def __init__(self, text: str) -> None:
        self.name = text
        try:
            self.url = NfsUrl.parse(text)
        except UrlError as error:
            raise TargetError(str(error)) from error
        self._address: TargetAddress | None = None

    def start(self) -> None:
        if self.url.version == 4:
            self._start_nfs4()
            return
        try:
            endpoint = discover(self.url)
        except NfsClientError as error:
            raise TargetError(str(error)) from error
        url = self.url
        asked_rpcbind = url.nfs_port is None or url.mountport is None
        self._address = TargetAddress(
            host=url.host,
            nfs_port=endpoint.nfs_port,
            mount_port=endpoint.mount_port,
            portmap_port=(url.rpcbindport or portmap.PORT) if asked_rpcbind else url.rpcbindport,
            proto=url.proto,
            version=url.version,
            export=os.fsdecode(endpoint.export),
            inside=os.fsdecode(endpoint.inside),
            root_handle=endpoint.root.hex(),
            uid=os.getuid() if url.uid is None else url.uid,
            gid=os.getgid() if url.gid is None else url.gid,
            privileged=url.secure,
        )

    def _start_nfs4(self) -> None:
        url = self.url
        try:
            endpoint = discover4(url)
        except NfsClientError as error:
            raise TargetError(str(error)) from error
        self._address = TargetAddress(
            host=url.host,
            nfs_port=endpoint.port,
            mount_port=url.mountport or 0,
            portmap_port=url.rpcbindport,
            version=4,
            minor=1 if url.minor == 1 else None,
            export=os.fsdecode(url.path),
            root_handle=endpoint.root.hex(),
            uid=os.getuid() if url.uid is None else url.uid,
            gid=os.getgid() if url.gid is None else url.gid,
            privileged=url.secure,
        )

    def stop(self) -> None:
        """Nothing was started."""

    def address(self) -> TargetAddress:
        if self._address is None:
            raise TargetError(f"{self.name} has not been started")
        return self._address
