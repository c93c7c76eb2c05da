# SPDX-License-Identifier: MIT
"""A server and NFSv4 clients in one loop."""

from __future__ import annotations

import typing as t
from collections.abc import Iterator

import pytest

from nfsclient import connect
from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.nfs4 import NfsClient
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.auth import Credential
from tests.nfsserver.conftest import ROOT_USER, Rig

S = p.Nfsstat4


class Rig4(Rig):
    """Sessions and path clients of the server."""

    def __init__(self, **options: t.Any) -> None:
        super().__init__(**options)
        self._paths: list[NfsClient] = []

    def nfs4(self, credential: Credential = ROOT_USER, minor: int = 1) -> Nfs4:
        return Nfs4(self.rpc(credential), minor=minor)

    def session(self, credential: Credential = ROOT_USER, minor: int = 1, **more: t.Any) -> Session:
        return self.nfs4(credential, minor).establish(**more)

    def by_path(self, version: str = "4.1", uid: int = 0) -> NfsClient:
        url = f"nfs://{self.host}:{self.server.port}/export?version={version}&uid={uid}&gid={uid}"
        made = connect(url, loop=self.loop, delegations=True)
        assert isinstance(made, NfsClient)
        self._paths.append(made)
        return made

    def make(self, session: Session, name: bytes, data: bytes = b"") -> bytes:
        """A new file in the export, closed again; its handle."""
        opening = op.open(name, 3 | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG, owner=b"maker", how=op.guarded())
        reply = session.compound(op.putfh(self.root), opening, op.getfh()).ok()
        steps = [op.write(reply.stateid, 0, data)] if data else []
        session.compound(op.putfh(reply.handle), *steps, op.close(reply.stateid)).ok()
        return reply.handle

    def close(self) -> None:
        for client in self._paths:
            client.close()
        super().close()


@pytest.fixture
def rig4() -> Iterator[Rig4]:
    made = Rig4()
    made.listen()
    yield made
    made.close()
