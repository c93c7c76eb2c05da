# SPDX-License-Identifier: MIT
"""OPEN by name and by filehandle, and exclusive creation with EXCLUSIVE4 (RFC 5661 section 18.16)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_open, through_grace
from fixtures.checks.side_by_side import Waiting, side_by_side
from nfsclient.clients.nfs4 import CompoundReply, Compounds, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import Harm, expect, expect_data, must, proves, should, skip, stated, unsupported
from suites.nfs4.delegations import KEPT_FOR_A_LEASE, delegated
from suites.nfs4.handles import expect_same_object
from suites.nfs4.opens import BOTH, READ, another_client, need_exclusive, need_exclusive_creation
from suites.nfs4.test_open import EXCLUSIVE_COMPARES_THE_VERIFIER

OPENS_BY_HANDLE = stated(
    "RFC 5661", "18.16.3", "with CLAIM_FH, the file is identified by just the current filehandle"
)
OPENS_BY_NAME = stated(
    "RFC 5661",
    "18.16.3",
    "with CLAIM_NULL, the file is identified by the current filehandle and the component name",
    also={"4.0": ("RFC 7530", "16.16.5")},
)
EXCLUSIVE4_IS_REQUIRED = must(
    # "Server REQUIRED". A server that has no exclusive creation at all answers NOTSUPP (section 18.16.4).
    "RFC 5661",
    "18.16.3",
    "a server without pNFS and without a persistent reply cache supports EXCLUSIVE4",
)
OWNER_ONLY = should(
    "RFC 5661",
    "18.16.4",
    "EXCLUSIVE4 should not leave the access to the file to anyone but its owner",
)
DELEGATION_HAS_A_MODE = must(
    "RFC 5661",
    "9.1.2",
    "WRITE with the stateid of a read delegation gets NFS4ERR_OPENMODE",
    harm=Harm.DATA,
)
VERIFIER = b"verifier"


def _opening(how: p.Createhow4, name: bytes = b"made") -> p.Open4Args:
    return op.open(name, BOTH, owner=new_state_owner(), how=how)


@proves(OPENS_BY_HANDLE, killed_by="open4-by-handle-needs-a-directory")
def test_by_handle(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN with CLAIM_FH opens the file of the current filehandle, which stays the current one."""
    file = scratch.file("file", b"data")
    opening = op.open(None, READ, owner=new_state_owner())
    reply = through_grace(compounds, op.putfh(file), opening, op.getfh())
    stateid = expect(reply).of(p.OPEN).ok().stateid
    note_open(compounds, file, stateid)
    expect_same_object(scratch, expect(reply).ok().handle, file, "handle after OPEN")
    result = expect(compounds.compound(op.putfh(file), op.read(stateid, 0, 4))).of(p.READ).ok()
    expect_data(result.data, b"data"[: len(result.data)])


@proves(OPENS_BY_NAME, killed_by="open4-opens-the-first-name")
def test_by_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN with CLAIM_NULL opens the file of the name, and makes it the current one."""
    for name in ("first", "other", "third"):
        scratch.file(name, name.encode())
    opening = op.open(b"other", READ, owner=new_state_owner())
    reply = through_grace(compounds, op.putfh(scratch.handle), opening, op.getfh())
    stateid = expect(reply).of(p.OPEN).ok().stateid
    file = expect(reply).ok().handle
    note_open(compounds, file, stateid)
    result = expect(compounds.compound(op.putfh(file), op.read(stateid, 0, 5))).of(p.READ).ok()
    expect_data(result.data, b"other"[: len(result.data)])


# ---------------------------------------------------------------- EXCLUSIVE4


def _is_without(session: Session) -> bool:
    """Whether EXCLUSIVE4 has no place here (Table 10 of section 18.16.3)."""
    client = session.client
    is_pnfs = client is not None and bool(client.result.eir_flags & p.EXCHGID4_FLAG_USE_PNFS_MDS)
    return is_pnfs or bool(session.state.flags & p.CREATE_SESSION4_FLAG_PERSIST)


def _made(session: Session, scratch: Nfs4Scratch, verifier: bytes = VERIFIER) -> CompoundReply:
    """The reply to an OPEN with EXCLUSIVE4, and GETFH. UNSUPPORTED where that is not supported or has no place."""
    if _is_without(session):
        unsupported("EXCLUSIVE4 has no place in a persistent session, and in pNFS (Table 10)")
    opening = _opening(op.exclusive(verifier))
    reply = through_grace(session, op.putfh(scratch.handle), opening, op.getfh())
    need_exclusive_creation(reply)
    if reply.status == Nfsstat4.NFS4_OK:
        note_open(session, reply.handle, reply.stateid)
    return reply


@proves(EXCLUSIVE4_IS_REQUIRED, killed_by="open4-exclusive4-is-inval")
def test_exclusive4(session: Session, scratch: Nfs4Scratch) -> None:
    """OPEN with EXCLUSIVE4 creates a file."""
    made = expect(_made(session, scratch), because=EXCLUSIVE4_IS_REQUIRED).ok()
    expect_same_object(scratch, scratch.lookup("made"), made.handle, "handle of the new name")


@proves(EXCLUSIVE_COMPARES_THE_VERIFIER, killed_by="open4-exclusive4-forgets-the-verifier")
def test_exclusive4_again(session: Session, scratch: Nfs4Scratch) -> None:
    """EXCLUSIVE4 with the verifier of before finds the file, with another one fails with EXIST."""
    made = expect(_made(session, scratch)).ok()
    again = expect(_made(session, scratch)).ok()
    expect_same_object(scratch, again.handle, made.handle, "handle")
    expect(_made(session, scratch, b"another!")).of(p.OPEN).refused(
        Nfsstat4.NFS4ERR_EXIST, because=EXCLUSIVE_COMPARES_THE_VERIFIER
    )


@proves(EXCLUSIVE_COMPARES_THE_VERIFIER, killed_by="open4-exclusive4-empties")
def test_exclusive4_keeps_data(session: Session, scratch: Nfs4Scratch) -> None:
    """EXCLUSIVE4 of a file that was made in another way fails with EXIST, and the file keeps its data."""
    file = scratch.file("made", b"data")
    reply = _made(session, scratch)
    expect_data(scratch.read(file), b"data")
    expect(reply).of(p.OPEN).refused(Nfsstat4.NFS4ERR_EXIST, because=EXCLUSIVE_COMPARES_THE_VERIFIER)


@proves(OWNER_ONLY, killed_by="open4-exclusive4-is-for-all")
def test_exclusive4_mode(session: Session, scratch: Nfs4Scratch) -> None:
    """A file that EXCLUSIVE4 has just created has no permissions for group and others."""
    made = expect(_made(session, scratch)).ok()
    found = scratch.attributes(made.handle, "mode")
    if found.mode is None:
        skip("the server does not support mode")
    expect(found.mode & 0o077, "permissions of group and others", of=found, field="mode").equals(0)


@pytest.mark.parametrize("how", ["exclusive4", "exclusive4.1"])
@proves(EXCLUSIVE_COMPARES_THE_VERIFIER, killed_by="open4-verifiers-are-of-clients")
def test_exclusive_by_other(v4: Nfs4Dialect, session: Session, scratch: Nfs4Scratch, how: str) -> None:
    """Exclusive creation by another client with the same verifier uses the object: the verifier alone is compared."""
    need_exclusive(session)
    if _is_without(session) and how == "exclusive4":
        unsupported("EXCLUSIVE4 has no place in a persistent session, and in pNFS (Table 10)")
    creating = op.exclusive(VERIFIER) if how == "exclusive4" else op.exclusive4_1(VERIFIER, Fattr4())
    handles = []
    for compounds in (session, another_client(v4)):
        reply = through_grace(compounds, op.putfh(scratch.handle), _opening(creating), op.getfh())
        need_exclusive_creation(reply)
        made = expect(reply).ok()
        note_open(compounds, made.handle, made.stateid)
        handles.append(made.handle)
    expect_same_object(scratch, handles[1], handles[0], "handle")


# ---------------------------------------------------------------- delegations


@side_by_side
@pytest.mark.late
@proves(DELEGATION_HAS_A_MODE, KEPT_FOR_A_LEASE, killed_by="write4-read-delegations-may-write")
def test_read_delegation(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> Waiting[None]:
    """WRITE with the stateid of a read delegation fails with OPENMODE, and writes nothing."""
    granted = yield from delegated(v4, scratch, p.OPEN4_SHARE_ACCESS_READ, size=4)
    reply = granted.holder.compound(op.putfh(granted.file), op.write(granted.stateid, 0, b"more"))
    seen = granted.holder.compound(op.putfh(granted.file), op.read(granted.stateid, 0, 4))
    granted.need_kept()
    granted.give_back()
    if granted.is_write:
        skip("the server has granted a write delegation instead")
    data = expect(seen).of(p.READ).ok().data
    expect_data(data, bytes(len(data)))
    expect(reply, because=DELEGATION_HAS_A_MODE).refused(
        Nfsstat4.NFS4ERR_OPENMODE, because=DELEGATION_HAS_A_MODE
    )
