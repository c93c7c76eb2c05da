# SPDX-License-Identifier: MIT
"""BIND_CONN_TO_SESSION (RFC 5661 section 18.34)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.clients.nfs4 import Nfs4, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ChannelDirFromClient4, ChannelDirFromServer4, Nfsstat4
from nfsjudge import expect, must, observe, proves, should, skip, stated
from suites.nfs4.minors import MINORS
from suites.nfs4.retries import need_answer

DIRECTION_FITS = must(
    "RFC 5661", "18.34.3", "CDFC4_FORE gets CDFS4_FORE; CDFC4_FORE_OR_BOTH gets CDFS4_FORE or CDFS4_BOTH"
)
UNKNOWN_IS_BADSESSION = stated(
    "RFC 5661", "15.1.11.1", "a session id that the server does not know gets NFS4ERR_BADSESSION"
)
IS_ALONE = stated(
    "RFC 5661",
    "15.1.3.3",
    "an operation outside of a session that is not the only one in its COMPOUND gets NFS4ERR_NOT_ONLY_OP",
)
ECHOES_THE_SESSION = stated(
    "RFC 5661", "18.34.3", "the connection is associated with the session of the arguments"
)
IS_THE_ONLY_OPERATION = should(
    # "It MUST be" binds the client; no text names what a server does after SEQUENCE
    "RFC 5661",
    "18.34.3",
    "BIND_CONN_TO_SESSION is the only operation in its COMPOUND",
)
REPEATED_IS_OK = must(
    "RFC 5661",
    "18.34.3",
    "BIND_CONN_TO_SESSION on a connection that is associated with the session already gets NFS4_OK, without effect",
)
CHANGES_ARE_INVALID = must(
    "RFC 5661",
    "18.34.3",
    "a demand for other channels than those that the connection is associated with gets NFS4ERR_INVAL",
)
_FORE = ChannelDirFromClient4.CDFC4_FORE


@MINORS
@proves(ECHOES_THE_SESSION, killed_by="bindconn4-returns-another-session")
def test_session(v4: Nfs4Dialect, session: Session) -> None:
    """A second connection of a session carries its requests."""
    expect(session.renew()).ok()
    second = v4.client(v4.connections.connect("nfs"))
    result = expect(second.bind_conn_to_session(session.id, _FORE)).ok()
    expect(result).field("bctsr_sessid", "session id").equals(session.id)
    expect(second.compound(session.sequence(0), op.putrootfh())).ok()


@MINORS
@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        (_FORE, [ChannelDirFromServer4.CDFS4_FORE]),
        (
            ChannelDirFromClient4.CDFC4_FORE_OR_BOTH,
            [ChannelDirFromServer4.CDFS4_FORE, ChannelDirFromServer4.CDFS4_BOTH],
        ),
    ],
    ids=["fore", "both"],
)
@proves(DIRECTION_FITS, killed_by="bindconn4-binds-the-backchannel-only")
def test_direction(
    v4: Nfs4Dialect,
    session: Session,
    asked: ChannelDirFromClient4,
    allowed: list[ChannelDirFromServer4],
) -> None:
    """The direction in the result is one that the request allows."""
    expect(session.renew()).ok()
    second = v4.client(v4.connections.connect("nfs"))
    result = expect(second.bind_conn_to_session(session.id, asked)).ok()
    expect(result).field("bctsr_dir").one_of(*allowed)


@MINORS
@proves(UNKNOWN_IS_BADSESSION, killed_by="bindconn4-unknown-is-ok")
def test_unknown(nfs4: Nfs4, session: Session) -> None:
    """BIND_CONN_TO_SESSION of a session that does not exist fails with BADSESSION."""
    unknown = bytes(byte ^ 0xA5 for byte in session.id)
    result = nfs4.bind_conn_to_session(unknown, _FORE)
    expect(result).refused(Nfsstat4.NFS4ERR_BADSESSION, because=UNKNOWN_IS_BADSESSION)


@MINORS
@proves(IS_ALONE, killed_by="compound4-sessionless-with-company")
def test_with_company(nfs4: Nfs4, session: Session) -> None:
    """BIND_CONN_TO_SESSION with another operation after it is refused."""
    reply = need_answer(nfs4.compound(op.bind_conn_to_session(session.id, _FORE), op.putrootfh()))
    expect(len(reply), "results").at_most(1)
    expect(reply).field("status").equals(p.Nfsstat4.NFS4ERR_NOT_ONLY_OP)


@MINORS
@proves(IS_THE_ONLY_OPERATION, killed_by="bindconn4-follows-sequence")
def test_after_sequence(session: Session) -> None:
    """BIND_CONN_TO_SESSION after SEQUENCE is refused."""
    reply = session.compound(op.bind_conn_to_session(session.id, _FORE))
    observe("BIND_CONN_TO_SESSION after SEQUENCE", reply.status.name)
    expect(reply).refused()


@MINORS
@pytest.mark.parametrize("asked", ["back", "back-or-both"])
@proves(DIRECTION_FITS, killed_by="bindconn4-binds-fore-only")
def test_back(v4: Nfs4Dialect, session: Session, asked: str) -> None:
    """A connection that is to be the backchannel is that, where the server takes it."""
    expect(session.renew()).ok()
    second = v4.client(v4.connections.connect("nfs"))
    kind = ChannelDirFromClient4
    result = second.bind_conn_to_session(
        session.id, kind.CDFC4_BACK if asked == "back" else kind.CDFC4_BACK_OR_BOTH
    )
    if result.bctsr_status != Nfsstat4.NFS4_OK:
        skip(f"the server does not take the connection: {result.bctsr_status}")
    allowed = [ChannelDirFromServer4.CDFS4_BACK]
    if asked != "back":
        allowed.append(ChannelDirFromServer4.CDFS4_BOTH)
    expect(expect(result).ok()).field("bctsr_dir").one_of(*allowed)


_KIND = ChannelDirFromClient4
_WITH_BACK = p.CREATE_SESSION4_FLAG_CONN_BACK_CHAN


def _bound(v4: Nfs4Dialect, channels: str) -> Session:
    """A session whose connection is in these channels. SKIP where the server takes none for callbacks."""
    client = v4.client(v4.connections.connect("nfs")).new_client()
    session = client.create_session(callbacks=channels == "both")
    if channels == "both" and not session.state.flags & _WITH_BACK:
        skip("the server uses no connection for callbacks")
    return session


@pytest.mark.parametrize("channels", ["fore", "both"])
@proves(REPEATED_IS_OK, killed_by="bindconn4-refuses-repetitions")
def test_again(v4: Nfs4Dialect, channels: str) -> None:
    """BIND_CONN_TO_SESSION for the channels that the connection has already succeeds, and the session goes on."""
    session = _bound(v4, channels)
    asked = _KIND.CDFC4_FORE if channels == "fore" else _KIND.CDFC4_FORE_OR_BOTH
    for _ in range(2):
        expect(session.nfs4.bind_conn_to_session(session.id, asked)).ok()
    expect(session.renew()).ok()


@pytest.mark.parametrize("change", ["fore-to-back", "both-to-fore", "both-to-back"])
@proves(CHANGES_ARE_INVALID, killed_by="bindconn4-changes-channels")
def test_changes(v4: Nfs4Dialect, change: str) -> None:
    """BIND_CONN_TO_SESSION for other channels than those that the connection has fails with INVAL."""
    session = _bound(v4, change.partition("-")[0])
    asked = _KIND.CDFC4_FORE if change == "both-to-fore" else _KIND.CDFC4_BACK
    result = session.nfs4.bind_conn_to_session(session.id, asked)
    expect(result).refused(Nfsstat4.NFS4ERR_INVAL, because=CHANGES_ARE_INVALID)


@proves(CHANGES_ARE_INVALID, killed_by="bindconn4-refusal-unbinds")
def test_refusal_keeps_channels(v4: Nfs4Dialect) -> None:
    """After BIND_CONN_TO_SESSION for other channels, the connection carries requests as before."""
    session = _bound(v4, "fore")
    result = session.nfs4.bind_conn_to_session(session.id, _KIND.CDFC4_BACK)
    observe("fore channel to backchannel", result.bctsr_status.name)
    if result.bctsr_status == Nfsstat4.NFS4_OK:
        skip("the server changes the channels: another check judges that")
    expect(session.renew()).ok()


@proves(ECHOES_THE_SESSION, killed_by="bindconn4-binds-the-last-session")
def test_one_of_two(v4: Nfs4Dialect, nfs4: Nfs4) -> None:
    """BIND_CONN_TO_SESSION on a connection of another session returns the session of its arguments."""
    session, other = nfs4.new_client().create_session(), v4.client(v4.connections.connect("nfs"))
    second = other.new_client().create_session()
    result = expect(other.bind_conn_to_session(session.id, _FORE)).ok()
    expect(result).field("bctsr_sessid", "session id").equals(session.id)
    expect(second.renew()).ok()
