# SPDX-License-Identifier: MIT
"""DESTROY_SESSION (RFC 5661 section 18.37)."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, must, proves, stated
from suites.nfs4.clauses import NOT_ONLY_OP
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
MAY_BE_FINAL = stated(
    "RFC 5661",
    "18.37.3",
    "DESTROY_SESSION may name the session of the SEQUENCE in front of it, as the final operation",
)
OTHERS_ANYWHERE = stated(
    "RFC 5661",
    "18.37.3",
    "DESTROY_SESSION of another session than that of SEQUENCE may be at any place, and of another client id",
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


@proves(UNKNOWN_IS_BADSESSION, killed_by="destroysession4-again-is-ok")
def test_twice(nfs4: Nfs4) -> None:
    """DESTROY_SESSION of a session that was destroyed fails with BADSESSION."""
    session = nfs4.new_client().create_session()
    expect(session.destroy()).ok()
    expect(nfs4.destroy_session(session.id)).refused(
        Nfsstat4.NFS4ERR_BADSESSION, because=UNKNOWN_IS_BADSESSION
    )


@proves(NOT_ONLY_OP, killed_by="compound4-sessionless-with-company")
def test_with_company(nfs4: Nfs4) -> None:
    """DESTROY_SESSION without SEQUENCE, and with another operation after it, fails with NOT_ONLY_OP."""
    session = nfs4.new_client().create_session()
    reply = need_answer(nfs4.compound(op.destroy_session(session.id), op.putrootfh()))
    expect(reply).field("status").equals(Nfsstat4.NFS4ERR_NOT_ONLY_OP)


@proves(MAY_BE_FINAL, killed_by="destroysession4-not-in-its-own")
def test_final(nfs4: Nfs4) -> None:
    """DESTROY_SESSION of the session in SEQUENCE, as the last of several operations, succeeds."""
    session = nfs4.new_client().create_session()
    reply = session.compound(op.putrootfh(), op.getfh(), op.destroy_session(session.id))
    expect(reply).ok()
    expect(session.renew()).status(Nfsstat4.NFS4ERR_BADSESSION)


@pytest.mark.parametrize("whose", ["one-client", "two-clients"])
@proves(OTHERS_ANYWHERE, killed_by="destroysession4-is-always-final")
def test_in_the_middle(nfs4: Nfs4, whose: str) -> None:
    """DESTROY_SESSION of another session, of another client too, may have operations after it."""
    client = nfs4.new_client()
    session = client.create_session()
    other = (client if whose == "one-client" else nfs4.new_client()).create_session()
    reply = session.compound(op.destroy_session(other.id), op.putrootfh(), op.getfh())
    expect(reply).ok()
    expect(other.renew()).status(Nfsstat4.NFS4ERR_BADSESSION)
