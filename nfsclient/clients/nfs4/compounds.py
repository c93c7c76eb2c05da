# SPDX-License-Identifier: MIT
"""What runs compounds for one client, in any minor version of NFSv4."""

from __future__ import annotations

import typing as t

from nfsclient.sessions.reply import CompoundReply
from nfsclient.xdr import XdrType

if t.TYPE_CHECKING:
    from nfsclient.clients.nfs4.client import Nfs4


class Compounds(t.Protocol):
    """One client that the server knows, and its compounds.

    ``compounds.compound(putfh(f), read(stateid, 0, 100))`` sends these operations with all that the minor version wants
    besides: since 4.1 a SEQUENCE in front and the client id of open-owners and lock-owners (`Session`); in 4.0 the
    client id and the sequence ids of the owners, and OPEN_CONFIRM where the server asks for it (RFC 7530 sections 9.1.7
    and 16.18). Code whose subject is neither sessions nor sequence ids asks for this and not for a `Session`.
    """

    @property
    def nfs4(self) -> Nfs4:
        """The client of its connection, for compounds that go out exactly as they are given."""
        ...

    @property
    def clientid(self) -> int:
        """The client id."""
        ...

    def compound(self, *operations: XdrType, tag: bytes | None = None) -> CompoundReply:
        """One compound of these operations; the reply whatever its status. Raises `RpcError`, `XdrError`."""
        ...

    def renew(self) -> CompoundReply:
        """Renew the lease, and nothing else: a bare SEQUENCE, in 4.0 RENEW."""
        ...
