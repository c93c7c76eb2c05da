# SPDX-License-Identifier: MIT
"""Operations on files for a write trial, by NFSv2, NFSv3 or NFSv4."""

from __future__ import annotations

import typing as t
from importlib import import_module

from nfsclient.clients import Nfs2, Nfs3, Patience
from nfsclient.files import Attributes, Blocking, Create, Files, Steps
from nfsclient.rpc.auth import Credential
from nfsclient.rpc.blocking import RpcClient

T = t.TypeVar("T")

CREATES: t.Final = {2: Create.UNCHECKED, 3: Create.GUARDED, 4: Create.GUARDED}


def files_of(version: int) -> Files:
    """The operations of a version. READ and WRITE are not checked: a trial compares the data."""
    return import_module(f"nfsclient.files.v{version}").Files(checked=False)  # type: ignore[no-any-return]


class TrialClient:
    """Performs operations as one user; those of NFSv4 in a session. Raises `CompoundError` where there is none."""

    def __init__(
        self, version: int, rpc: RpcClient, credential: Credential | None = None, *, minor: int = 1
    ) -> None:
        self._session = None
        if version == 4:
            from nfsclient.clients.nfs4 import Nfs4  # long to import, and most servers are found by NFSv3

            nfs4 = Nfs4(rpc, minor=minor, credential=credential, patience=Patience.of(rpc.loop))
            self._session = nfs4.establish()
            self._do = Blocking(self._session)
        else:
            self._do = Blocking((Nfs2 if version == 2 else Nfs3)(rpc, credential=credential))

    def __call__(self, steps: Steps[T]) -> T:
        """The result of an operation. Raises `NfsStatusError`, `RpcError`."""
        return self._do(steps)

    def close(self) -> None:
        """Give back what the client holds on the server: nothing before NFSv4."""
        if self._session is not None:
            self._session.close()


def owner_of(attributes: Attributes) -> int | str:
    """The user id of an owner, which is a number or a name (RFC 5661 section 5.9)."""
    if attributes.uid is not None:
        return attributes.uid
    owner = (attributes.owner or b"").decode("utf-8", "replace")
    name = owner.partition("@")[0]
    if name.isascii() and name.isdigit():
        return int(name)
    return 0 if name == "root" else owner
