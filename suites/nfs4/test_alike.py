# SPDX-License-Identifier: MIT
"""Values that agree in part are different values, and two names of one file are one file (RFC 5661)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds, Nfs4, Session, new_owner
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, proves, should, stated
from suites.alike import alike, with_one_byte_altered
from suites.clauses import NAMES_ARE_COMPARED_WHOLE
from suites.nfs4.common import CommonNfs4
from suites.nfs4.locks import WRITE_LT, lock_range, test_range
from suites.nfs4.opens import (
    BOTH,
    READ,
    WRITE,
    another_client,
    create_file,
    need_exclusive,
    open_file,
    try_open,
)
from suites.two_names import MAY_BE_SAME, expect_two_files, names_alike

OWNERS_ARE_COMPARED_WHOLE = stated(
    "RFC 5661",
    "9.1.2",
    "a lock excludes all lock-owners but its own, however similar the others are",
    harm=Harm.DATA,
)
OPENS_BELONG_TO_THEIR_OWNER = stated(
    "RFC 5661",
    "8.2.1",
    "a stateid is of one open-owner and file: two open-owners get two, however similar they are",
)
CLIENTS_ARE_COMPARED_WHOLE = stated(
    "RFC 5661",
    "2.4",
    "co_ownerid identifies the client: two clients get two client ids, however similar they are",
    harm=Harm.SUCCESS,
)
STATEIDS_ARE_COMPARED_WHOLE = should(  # no text says that state has one spelling only
    "RFC 5661",
    "15.1.5.2",
    "NFS4ERR_BAD_STATEID: a stateid that differs in one byte does not designate any valid state",
)
SESSIONS_ARE_COMPARED_WHOLE = should(  # as above
    "RFC 5661", "15.1.11.1", "a session id that differs in one byte is not known: NFS4ERR_BADSESSION"
)
VERIFIERS_ARE_COMPARED_WHOLE = stated(
    "RFC 5661",
    "18.16.3",
    "exclusive creation succeeds for a file that exists only if it was created with this verifier",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
FOLDED_NAMES_ARE_CONSISTENT = stated(
    "RFC 5661",
    "18.16.3",
    "GUARDED4 creates a file, or fails with NFS4ERR_EXIST where the server takes the name for another one",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
STATE_IS_OF_THE_FILE = stated(
    "RFC 5661",
    "9.7",
    "a share reservation or lock is of the file: it excludes others by whichever name they come",
    harm=Harm.DATA,
)


@proves(OWNERS_ARE_COMPARED_WHOLE, killed_by="locks4-cut-owners-at-a-nul")
def test_lock_owners(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A lock excludes each lock-owner that agrees with its own in part."""
    opened = open_file(compounds, scratch.file("file"), BOTH)
    holder, others = alike()
    lock_range(compounds, opened, WRITE_LT, 0, 10, owner=holder)
    for how, other in others.items():
        reply = test_range(compounds, opened.handle, WRITE_LT, 5, 1, owner=other)
        what = f"status of LOCKT by an owner that differs from the holder in {how}"
        expect(reply).field("status", what).equals(Nfsstat4.NFS4ERR_DENIED)


@proves(OPENS_BELONG_TO_THEIR_OWNER, killed_by="open4-compares-the-start-of-owners")
def test_open_owners(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Open-owners that agree in part get different stateids."""
    file = scratch.file("file")
    owner, others = alike()
    known = open_file(compounds, file, READ, owner=owner).stateid.other
    for how, other in others.items():
        stateid = open_file(compounds, file, READ, owner=other).stateid
        expect(stateid).field(
            "other", f"other of the stateid of an owner that differs in {how}"
        ).differs_from(known)


@proves(CLIENTS_ARE_COMPARED_WHOLE, killed_by="exchangeid4-cuts-owners-at-a-nul")
def test_client_owners(nfs4: Nfs4) -> None:
    """Client owners that agree in part get different client ids, and the session of the first goes on."""
    owner, others = alike()
    client = nfs4.new_client(new_owner(owner))
    session = client.create_session()
    for how, other in others.items():
        asked = p.ClientOwner4(client.owner.co_verifier, other)
        found = expect(nfs4.exchange_id(asked)).ok().eir_clientid
        expect(found, f"client id of an owner that differs in {how}").differs_from(client.id)
    expect(session.renew()).ok()


@proves(STATEIDS_ARE_COMPARED_WHOLE, killed_by="read4-compares-half-of-stateids")
def test_stateids(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READ with a stateid that differs in one byte of other is refused."""
    opened = open_file(compounds, scratch.file("file", b"data"))
    for at, other in enumerate(with_one_byte_altered(opened.stateid.other)):
        stateid = p.Stateid4(opened.stateid.seqid, other)
        reply = compounds.compound(op.putfh(opened.handle), op.read(stateid, 0, 4))
        # An altered byte may make it a stateid of another instance of the server, or of state that was lost.
        what = f"status of READ with byte {at} of other altered"
        expect(reply).field("status", what).differs_from(Nfsstat4.NFS4_OK)
        expect(reply).refused()


@proves(SESSIONS_ARE_COMPARED_WHOLE, killed_by="sequence4-compares-half-of-session-ids")
def test_sessions(nfs4: Nfs4, session: Session) -> None:
    """SEQUENCE with a session id that differs in one byte is refused with BADSESSION."""
    expect(session.renew()).ok()
    for at, altered in enumerate(with_one_byte_altered(session.id)):
        sent = session.sequence()
        args = p.Sequence4Args(altered, sent.sa_sequenceid, sent.sa_slotid, sent.sa_highest_slotid, False)
        reply = nfs4.compound(args)
        what = f"status of SEQUENCE with byte {at} of the session id altered"
        expect(reply).field("status", what).equals(Nfsstat4.NFS4ERR_BADSESSION)
    expect(session.renew()).ok()


@pytest.mark.parametrize("same", ["first", "last"])
@proves(VERIFIERS_ARE_COMPARED_WHOLE, killed_by="open4-compares-half-of-the-verifier")
def test_verifiers(compounds: Compounds, scratch: Nfs4Scratch, same: str) -> None:
    """EXCLUSIVE4_1 with a verifier that agrees in one half with that of the file fails with EXIST."""
    need_exclusive(compounds)
    half, first, second = b"\x11\x22\x33\x44", b"\x55\x66\x77\x01", b"\xaa\x99\x88\x7e"
    verifiers = [half + start if same == "first" else start + half for start in (first, second)]
    how = op.exclusive4_1(verifiers[0], p.Fattr4())
    create_file(compounds, scratch.handle, b"file", how, may_lack_exclusive=True)
    how = op.exclusive4_1(verifiers[1], p.Fattr4())
    reply = compounds.compound(op.putfh(scratch.handle), op.open(b"file", BOTH, owner=alike()[0], how=how))
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=VERIFIERS_ARE_COMPARED_WHOLE)


@proves(
    NAMES_ARE_COMPARED_WHOLE,
    FOLDED_NAMES_ARE_CONSISTENT,
    killed_by=("lookup4-compares-the-start-of-names", "open4-guarded-folds-case"),
)
def test_names(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Names that agree in part are names of different files; where the server folds them, the second is refused."""
    longest = scratch.attributes(None, "maxname").maxname or 255
    client = CommonNfs4(compounds)
    for how, names in names_alike(longest).items():
        may_be_same = FOLDED_NAMES_ARE_CONSISTENT if how in MAY_BE_SAME else None
        expect_two_files(client, scratch.handle, names, how, NAMES_ARE_COMPARED_WHOLE, may_be_same)


@pytest.mark.parametrize("state", ["share", "lock"])
@proves(STATE_IS_OF_THE_FILE, killed_by="opens4-are-of-names", needs="nfs4_hardlink")
def test_hard_links(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, state: str) -> None:
    """What a client has reserved or locked by one name of a file excludes another client by its other name."""
    scratch.link(scratch.file("one"), "two")
    first, two = (scratch.lookup(name) or b"" for name in ("one", "two"))
    other = another_client(v4)
    if state == "share":
        open_file(compounds, first, READ, p.OPEN4_SHARE_DENY_WRITE)
        expect(try_open(other, two, WRITE)).refused(
            Nfsstat4.NFS4ERR_SHARE_DENIED, because=STATE_IS_OF_THE_FILE
        )
    else:
        lock_range(compounds, open_file(compounds, first, BOTH), WRITE_LT, 0, 10)
        reply = test_range(other, two, WRITE_LT, 5, 1)
        expect(reply).refused(Nfsstat4.NFS4ERR_DENIED, because=STATE_IS_OF_THE_FILE)
