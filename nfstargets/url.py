# SPDX-License-Identifier: MIT
"""A server that somebody else runs, named by a URL."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace

from nfsclient.discovery import Endpoint, discover, nfs4
from nfsclient.errors import NfsClientError, UrlError
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.base import Target, TargetAddress, TargetError
from nfstargets.finding import Found, find_services, says_version


class UrlTarget(Target):
    """`nfs://host/export`: what the URL leaves open is found out (`nfstargets.finding`).

    With ``version=2`` it is tested with NFSv2 only; with ``version=4.1`` with NFSv4 only, which needs neither rpcbind
    nor MOUNT. Without a version, a server that has no NFSv3 is tested with what it has.
    """

    def __init__(self, text: str) -> None:
        self.name = text
        try:
            self.url = NfsUrl.parse(text)
        except UrlError as error:
            raise TargetError(str(error)) from error
        self._may_choose = not says_version(text)
        self._address: TargetAddress | None = None
        self.found: Found | None = None
        """What was found at the last start."""

    def keep_version(self, version: int) -> None:
        """Test this version only, whatever the server answers: in a run, the version never changes."""
        self.url = replace(self.url, version=version)
        self._may_choose = False

    def start(self) -> None:
        try:
            with closing(Loop()) as loop:
                self._use(find_services(self.url, may_choose=self._may_choose, loop=loop), loop)
        except NfsClientError as error:
            raise TargetError(str(error)) from error

    def _use(self, found: Found, loop: Loop) -> None:
        """Take the address from what was found. Raises `NfsClientError`."""
        if found.url.version == 4:
            self._address = self._address4(found, loop)
        else:
            self._address = self._address_of(found, discover(found.url, loop=loop))
        self.found = found
        self.keep_version(found.url.version)

    def _address_of(self, found: Found, endpoint: Endpoint) -> TargetAddress:
        url = found.url
        return TargetAddress(
            host=url.host,
            nfs_port=endpoint.nfs_port,
            mount_port=endpoint.mount_port,
            portmap_port=found.rpcbind_port,
            proto=url.proto,
            version=url.version,
            export=os.fsdecode(endpoint.export),
            inside=os.fsdecode(endpoint.inside),
            root_handle=endpoint.root.hex(),
            uid=os.getuid() if url.uid is None else url.uid,
            gid=os.getgid() if url.gid is None else url.gid,
            privileged=url.secure,
        )

    def _address4(self, found: Found, loop: Loop) -> TargetAddress:
        url = found.url
        endpoint = nfs4.discover(url, loop=loop)
        return TargetAddress(
            host=url.host,
            nfs_port=endpoint.port,
            mount_port=url.mountport or 0,
            portmap_port=found.rpcbind_port,
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
