# SPDX-License-Identifier: MIT
"""Client owners and two principals: what a server takes for the same one is not defined by AUTH_SYS.

The principal of a client record is that of "the RPC header's credential or verifier" (RFC 5661 section 18.35.4). A
server may take all users of AUTH_SYS for one: then another user with the same owner and verifier is the client itself
(case 2), and nothing follows for checks of principals.
"""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Client, Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.rpc.auth import AuthSys
from nfsjudge import expect, unsupported
from suites.nfs4.opens import READ, Opened, open_file

STRANGER: t.Final = (4242, 4242)
"""uid and gid of the other principal."""


def stranger_of(v4: Nfs4Dialect) -> Nfs4:
    """Another user than that of the run, on a separate connection, without a client id."""
    return v4.client(v4.connections.connect("nfs"), AuthSys(*STRANGER))


class Holder(t.NamedTuple):
    """A client that has a file open."""

    client: Client
    session: Session
    opened: Opened


def holder_of(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Holder:
    """A new client with a session and an open file."""
    file = scratch.file("file", b"data")
    client = v4.client().new_client(new_owner())
    session = client.create_session()
    expect(session.compound(op.reclaim_complete())).ok()
    return Holder(client, session, open_file(session, file, READ))


def need_two_principals(v4: Nfs4Dialect, holder: Holder) -> None:
    """UNSUPPORTED if the server takes the stranger for the holder, which has state: case 3 does not give that away."""
    found = stranger_of(v4).exchange_id(holder.client.owner).eir_resok4
    if found is not None and found.eir_clientid == holder.client.id:
        unsupported("the server takes all users for one principal")
