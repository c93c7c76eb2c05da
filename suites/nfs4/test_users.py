# SPDX-License-Identifier: MIT
"""Another user than that of the run, by AUTH_SYS: what modes permit (RFC 5661 section 6.2.4), groups, and opens."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsclient.rpc.auth import AuthSys
from nfsjudge import Harm, expect, expect_data, proves, should, skip, stated, unsupported
from suites.nfs4.opens import BOTH, READ, another_client, open_file, try_open

MODE_DENIES = should(  # access control lists, and how users are mapped, are the server's
    "RFC 5661", "6.2.4", "the mode of an object should decide what a user may do with it"
)
GROUPS_COUNT = should(  # a server may take the groups of a user from elsewhere
    "RFC 5661",
    "6.2.4",
    "the bits of the group in the mode should hold for each group in the credential of the caller",
)
OWNERS_ARE_OF_CLIENTS = stated(
    "RFC 5661",
    "8.2.1",
    "an open stateid is of a client ID, an open-owner and a file: another client with the same owner has another",
    harm=Harm.SUCCESS,
)
STRANGER: t.Final = (4242, 4242)
"""uid and gid of a user who owns nothing that a check creates."""
GROUPS: t.Final = tuple(range(5001, 5017))
"""All that AUTH_SYS has room for."""


def client_of(v4: Nfs4Dialect, uid: int, gid: int, gids: tuple[int, ...] = ()) -> Compounds:
    """A client of another user, on a separate connection."""
    return v4.new_compounds(v4.connections.connect("nfs"), AuthSys(uid, gid, gids))


@proves(MODE_DENIES, killed_by="access4-grants-strangers")
def test_access(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """ACCESS denies another user a file of mode 0600, and grants one of mode 0644 to be read."""
    stranger = client_of(v4, *STRANGER)
    need_distinct(scratch, stranger)
    private, public = (
        scratch.file("private", b"data", mode=0o600),
        scratch.file("public", b"data", mode=0o644),
    )
    asked = p.ACCESS4_READ | p.ACCESS4_MODIFY | p.ACCESS4_EXTEND
    granted = expect(stranger.compound(op.putfh(public), op.access(asked))).of(p.ACCESS).ok().access
    if not granted & p.ACCESS4_READ:
        skip("ACCESS does not grant another user to read a file of mode 0644")
    _need_mode(scratch, private, 0o600)
    reply = stranger.compound(op.putfh(private), op.access(asked))
    if reply.status == Nfsstat4.NFS4ERR_ACCESS:
        return
    expect(expect(reply).of(p.ACCESS).ok()).field(
        "access", "rights of another user to a file of mode 0600"
    ).equals(0)


@proves(MODE_DENIES, killed_by="open4-asks-no-mode")
def test_open_denied(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """OPEN by another user of a file of mode 0600 is denied, for reading and for writing."""
    stranger = client_of(v4, *STRANGER)
    need_distinct(scratch, stranger)
    public = scratch.file("public", b"data", mode=0o644)
    if try_open(stranger, public, READ).status != Nfsstat4.NFS4_OK:
        skip("another user cannot open a file of mode 0644")
    private = scratch.file("private", b"data", mode=0o600)
    _need_mode(scratch, private, 0o600)
    for access in (READ, BOTH):
        expect(try_open(stranger, private, access)).refused()


def need_distinct(scratch: Nfs4Scratch, stranger: Compounds) -> None:
    """UNSUPPORTED if files of the other user belong to the user of the run: there is one user then."""
    made = stranger.compound(op.putfh(scratch.handle), op.mkdir(b"theirs"), op.getattr("owner"))
    mine = scratch.attributes(scratch.directory("mine"), "owner").owner
    if made.status == Nfsstat4.NFS4_OK and made.attributes.owner == mine:
        unsupported("files of both users belong to the same one")


def _need_mode(scratch: Nfs4Scratch, file: bytes, mode: int) -> None:
    if scratch.attributes(file, "mode").mode != mode:
        skip(f"a file that is created with mode 0{mode:o} has another one")


@proves(GROUPS_COUNT, killed_by="auth4-eight-groups-count")
def test_sixteen_groups(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A member of sixteen groups reads files of each of them."""
    member = client_of(v4, *STRANGER, GROUPS)
    file = scratch.file("file", b"data", mode=0o640)
    for group in (GROUPS[0], GROUPS[8], GROUPS[15]):
        setting = op.setattr(Fattr4(owner_group=b"%d" % group))
        if compounds.compound(op.putfh(file), setting).status != Nfsstat4.NFS4_OK:
            unsupported("the server does not give the file to a group by number")
        reply = member.compound(op.putfh(file), op.access(p.ACCESS4_READ))
        granted = expect(reply).of(p.ACCESS).ok().access
        if group == GROUPS[0] and not granted:
            unsupported("the server ignores the groups in the credential")
        expect(
            granted, f"access of a member of group {group}, the {GROUPS.index(group) + 1}th", field="access"
        ).equals(p.ACCESS4_READ)


@proves(OWNERS_ARE_OF_CLIENTS, killed_by="close4-compares-owners-without-clients")
def test_same_owner(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """Two clients open a file with the same owner: CLOSE by one leaves the open of the other, and of another file."""
    other, owner = another_client(v4), b"the same owner"
    file, second = scratch.file("file", b"data"), scratch.file("second", b"more")
    mine = open_file(compounds, file, READ, owner=owner)
    theirs = open_file(other, file, READ, owner=owner)
    also = open_file(compounds, second, READ, owner=owner)
    expect(compounds.compound(op.putfh(file), op.close(mine.stateid))).ok()
    for user, opened, wanted in ((other, theirs, b"data"), (compounds, also, b"more")):
        reading = op.read(opened.stateid, 0, 4)
        result = expect(user.compound(op.putfh(opened.handle), reading)).of(p.READ).ok()
        expect_data(bytes(result.data), wanted[: len(result.data)], of="range")
