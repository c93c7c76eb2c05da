# SPDX-License-Identifier: MIT
"""The steps of a diagnosis for NFSv4.1 and 4.2: neither rpcbind nor MOUNT, but a session."""

from __future__ import annotations

import typing as t
from dataclasses import replace

from nfsclient.discovery import NFS4_PORT, Mounted
from nfsclient.rpc.loop import Loop
from nfsclient.url import NfsUrl
from nfstargets.diagnosis.access import Access, try_access4
from nfstargets.diagnosis.examination import Examination
from nfstargets.diagnosis.report import Outcome
from nfstargets.diagnosis.security import NO_TLS, SYS_ONLY, is_too_weak
from nfstargets.diagnosis.wording import why


class Examination4(Examination):
    """One look at one URL with version=4, 4.1 or 4.2."""

    def __init__(self, url: NfsUrl, loop: Loop, patience: float) -> None:
        super().__init__(url, loop, patience)
        self._is_guess = url.nfs_port is None
        self.nfs_port = url.nfs_port or NFS4_PORT

    def _ways(self) -> list[tuple[str, t.Callable[[], tuple[Outcome, str, str]]]]:
        return [
            ("name", self._name),
            ("port", self._port),
            ("RPC version", self._rpc),
            ("NFS", self._nfs),
            ("session", self._session),
            ("privileged port", self._source_port),
            ("path", self._path),
        ]

    def _session(self) -> tuple[Outcome, str, str]:
        if not self._nfs_speaks_rpc:
            return Outcome.NOT_TRIED, "no RPC is spoken there", ""
        access = self._find_access()
        if isinstance(access.mounted, Mounted):
            return Outcome.OK, f"NFSv4.{access.minor} gives one", ""
        seen = access.mounted.detail if access.mounted.__cause__ is None else why(access.mounted.__cause__)
        if is_too_weak(access.mounted):
            return Outcome.FAILED, seen, NO_TLS if self._offers_tls() else SYS_ONLY
        if access.mounted.step == "NFS":
            return Outcome.FAILED, seen, "enable NFSv4.1 on the server: nfsproof does not test NFSv4.0"
        return Outcome.FAILED, seen, "read the log of the server"

    def _try(self, *, privileged: bool) -> Access:
        assert self.nfs_port is not None
        url = replace(self.url, secure=privileged)
        return try_access4(url, self.nfs_port, loop=self.loop, timeout=self._timeout)
