# SPDX-License-Identifier: MIT
"""DESTROY_SESSION (RFC 5661 section 18.37)."""

from __future__ import annotations

from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, proves, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.retries import need_answer

CLOSES_THE_SESSION = stated(
    "RFC 5661",
    "18.37.3",
    "DESTROY_SESSION closes the session: its id is not known any more (NFS4ERR_BADSESSION)",
)
UNKNOWN_IS_BADSESSION = stated(
    "RFC 5661", "15.1.11.1", "a session id that the server does not know gets NFS4ERR_BADSESSION"
)
IS_FINAL = must(
    "RFC 5661", "18.37.3", "DESTROY_SESSION of the session in SEQUENCE must be the final operation"
)


@MINORS
@proves(CLOSES_THE_SESSION, killed_by="destroysession4-destroys-nothing")
def test_closes(nfs4: Nfs4) -> None:
    """A session that was destroyed does not exist any more."""
    session = nfs4.new_client().create_session()
    expect(session.renew()).ok()
    expect(session.destroy()).ok()
    expect(session.renew()).status(Nfsstat4.NFS4ERR_BADSESSION)


@MINORS
@proves(UNKNOWN_IS_BADSESSION, killed_by="destroysession4-unknown-is-ok")
def test_unknown(nfs4: Nfs4, session: Session) -> None:
    """DESTROY_SESSION of a session that does not exist fails with BADSESSION."""
    unknown = bytes(byte ^ 0xA5 for byte in session.id)
    result = nfs4.destroy_session(unknown)
    expect(result).refused(Nfsstat4.NFS4ERR_BADSESSION, because=UNKNOWN_IS_BADSESSION)


@MINORS
@proves(CLOSES_THE_SESSION, killed_by="destroysession4-destroys-its-own")
def test_other_session(nfs4: Nfs4) -> None:
    """DESTROY_SESSION in one session of a client may name another one, and the first goes on."""
    client = nfs4.new_client()
    first, other = client.create_session(), client.create_session()
    expect(first.compound(op.destroy_session(other.id))).ok()
    expect(first.renew()).ok()
    expect(other.renew()).status(Nfsstat4.NFS4ERR_BADSESSION)


@MINORS
@proves(IS_FINAL, killed_by="destroysession4-may-stand-anywhere")
def test_not_final(nfs4: Nfs4) -> None:
    """DESTROY_SESSION of the session in SEQUENCE, with another operation after it, is refused."""
    session = nfs4.new_client().create_session()
    reply = need_answer(session.compound(op.destroy_session(session.id), op.putrootfh()))
    expect(len(reply), "results after SEQUENCE").at_most(1)
    expect(reply).field("status").satisfies(lambda status: status != Nfsstat4.NFS4_OK, "an error")
