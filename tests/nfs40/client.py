# SPDX-License-Identifier: MIT
"""A client of NFSv4.0 over one connection: `Compounds` that begin with SETCLIENTID (RFC 7530 section 16.33)."""

from __future__ import annotations

import secrets

from nfsclient.clients.nfs4 import CompoundReply, Nfs4
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.sessions.session import changes_nothing
from nfsclient.xdr import XdrType
from nfsjudge import unsupported
from tests.nfs40.owners import Lacking, Names, Owners, replaced

NOWHERE = p.CbClient4(0, p.Netaddr4(b"tcp", b"0.0.0.0.0.0"))
"""No callbacks: a server that cannot reach its client grants no delegations (section 10.2)."""


class Client40:
    """A confirmed client id of NFSv4.0, and its compounds. Clients of the same server may share `names`."""

    def __init__(self, nfs4: Nfs4, clientid: int, names: Names) -> None:
        self.nfs4 = nfs4
        self._owners = Owners(clientid, names)

    @classmethod
    def begin(cls, nfs4: Nfs4, names: Names | None = None) -> Client40:
        """SETCLIENTID and SETCLIENTID_CONFIRM, which must succeed. Raises `CompoundError`."""
        who = p.NfsClientId4(
            secrets.token_bytes(p.NFS4_VERIFIER_SIZE), b"nfsproof 4.0 " + secrets.token_hex(8).encode()
        )
        given = nfs4.compound(p.Setclientid4Args(who, NOWHERE, 0)).ok().of(p.SETCLIENTID).resok4
        assert given is not None
        nfs4.compound(p.SetclientidConfirm4Args(given.clientid, given.setclientid_confirm)).ok()
        return cls(nfs4, given.clientid, {} if names is None else names)

    @property
    def clientid(self) -> int:
        """The client id."""
        return self._owners.clientid

    def compound(self, *operations: XdrType, tag: bytes | None = None) -> CompoundReply:
        """One compound with owners and sequence ids filled in, and the confirmation of the owners that it introduced.

        UNSUPPORTED for what 4.0 lacks. After DELAY it is sent again with new numbers, if it has changed nothing.
        """

        def attempt() -> CompoundReply:
            try:
                return self._once(operations, tag)
            except Lacking as lacking:
                unsupported(f"NFSv4.0 lacks {lacking}")

        reply = attempt()
        patience = self.nfs4.patience
        return reply if patience is None else patience.retry(attempt, _may_be_tried_again, reply)

    def _once(self, operations: tuple[XdrType, ...], tag: bytes | None) -> CompoundReply:
        sent = self._owners.fill(operations)
        reply = self._send(sent, tag)
        for unconfirmed in self._owners.learn(sent, reply.results):
            confirming = self._owners.confirm(unconfirmed)
            confirmed = self._send(confirming, tag).ok()
            self._owners.learn(confirming, confirmed.results)
            result = confirmed.of(p.OPEN_CONFIRM).resok4
            assert result is not None
            reply = CompoundReply(reply.args, replaced(reply.res, result.open_stateid))
        return reply

    def _send(self, operations: list[XdrType], tag: bytes | None) -> CompoundReply:
        args = p.Compound4Args(self.nfs4.tag if tag is None else tag, 0, operations)
        return CompoundReply(args, self.nfs4.send(args))

    def renew(self) -> CompoundReply:
        """RENEW."""
        return self.compound(p.Renew4Args(self.clientid))


def _may_be_tried_again(reply: CompoundReply) -> bool:
    done = reply.args.argarray[: max(0, len(reply.res.resarray) - 1)]
    return reply.status == Nfsstat4.NFS4ERR_DELAY and changes_nothing(done)
