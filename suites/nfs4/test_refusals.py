# SPDX-License-Identifier: MIT
"""Refusals (RFC 5661 section 15): an operation that fails leaves the objects that it names as they are."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4
from nfsclient.rpc.auth import AuthSys
from nfsclient.xdr import XdrEnum, XdrType
from nfsjudge import Harm, expect, expect_data, proves, should, stated
from suites import refused
from suites.nfs4.opens import BOTH, open_file
from suites.nfs4.test_close import CLOSED_IS_BAD
from suites.refused import EMPTY, FILE, FULL, NEW, OTHER, Place

FAILED_OPERATION_CHANGES_NOTHING = stated(
    "RFC 5661",
    "15",
    # "Error numbers are assigned to failed operations." That a part may have been done is said of SETATTR (18.30.4)
    # and of no other operation here; the result of SETATTR says which part (18.30.3).
    "an error is the result of an operation that failed: the objects that it names stay as they are",
    harm=Harm.OBJECT,
)
DENIED_SETS_NOTHING = should(
    # A SETATTR that fails may have set a part of the attributes, and attrsset says which. Nothing forbids that this is
    # all of them, but then nothing is left that has failed.
    "RFC 5661",
    "18.30.4",
    "SETATTR that is denied has not set each attribute that it names",
)
_STRANGER: t.Final = AuthSys(4242, 4242)


def _in(handle: t.Callable[[Place], bytes], *operations: XdrType) -> refused.Act:
    """Operations in a directory, or on a file."""
    return lambda session, at: session.compound(op.putfh(handle(at)), *operations).status


def _here(at: Place) -> bytes:
    return at.here


def _file(at: Place) -> bytes:
    return at.file


def _full(at: Place) -> bytes:
    return at.full


def _sets(handle: t.Callable[[Place], bytes], new: Fattr4) -> refused.Act:
    """SETATTR, which says what it has set although it fails."""

    def act(compounds: Compounds, at: Place) -> XdrEnum:
        reply = compounds.compound(op.putfh(handle(at)), op.setattr(new))
        result = reply.results[-1] if len(reply) else None
        if isinstance(result, p.Setattr4Res) and handle(at) == at.file:
            at.partly_set = frozenset(p.names_of(result.attrsset))
            at.wholly_set = at.partly_set >= frozenset(new.values())
        return reply.status

    return act


def _renames(old: bytes, new: bytes) -> refused.Act:
    return _in(_here, op.savefh(), op.rename(old, new))


def _links(to: bytes) -> refused.Act:
    def act(compounds: Compounds, at: Place) -> XdrEnum:
        return compounds.compound(op.putfh(at.other), op.savefh(), op.putfh(at.here), op.link(to)).status

    return act


def _creates(name: bytes) -> refused.Act:
    def act(compounds: Compounds, at: Place) -> XdrEnum:
        how = op.guarded(Fattr4(mode=0o600, size=0))
        opening = op.open(name, BOTH, owner=new_state_owner(), how=how)
        return through_grace(compounds, op.putfh(at.here), opening).status

    return act


def _truncates(name: bytes) -> refused.Act:
    def act(compounds: Compounds, at: Place) -> XdrEnum:
        how = op.unchecked(Fattr4(size=0))
        opening = op.open(name, BOTH, owner=new_state_owner(), how=how)
        return through_grace(compounds, op.putfh(at.here), opening).status

    return act


REFUSED: t.Final[dict[str, dict[str, refused.Act]]] = {
    "exist": {
        "OPEN": _creates(FILE),
        "CREATE of a directory": _in(_here, op.mkdir(FILE)),
        "CREATE of a name of a directory": _in(_here, op.mkdir(FULL)),
        "CREATE of a symbolic link": _in(_here, op.symlink(FILE, b"target")),
        "LINK": _links(FILE),
    },
    "notempty": {"RENAME": _renames(EMPTY, FULL), "REMOVE": _in(_here, op.remove(FULL))},
    "noent": {"RENAME": _renames(NEW, FILE), "REMOVE": _in(_here, op.remove(NEW))},
    "notdir": {
        "CREATE": _in(_file, op.mkdir(NEW)),
        "REMOVE": _in(_file, op.remove(OTHER)),
        "RENAME": _renames(EMPTY, FILE),
    },
    "isdir": {
        "WRITE": _in(_full, op.write(op.ANONYMOUS, 0, b"data")),
        "SETATTR": _in(_full, op.setattr(Fattr4(size=0))),
        "RENAME": _renames(FILE, FULL),
    },
}
"""Operations that fail on every server, by the reason."""
DENIED: t.Final[dict[str, refused.Act]] = {
    "SETATTR of mode": _sets(_file, Fattr4(mode=0o666)),
    "SETATTR of size": _sets(_file, Fattr4(size=0)),
    "WRITE": _in(_file, op.write(op.ANONYMOUS, 0, b"theirs")),
    "OPEN": _creates(NEW),
    "CREATE of a directory": _in(_here, op.mkdir(NEW)),
    "CREATE of a symbolic link": _in(_here, op.symlink(NEW, b"target")),
    "REMOVE": _in(_here, op.remove(FILE)),
    "REMOVE of a directory": _in(_here, op.remove(EMPTY)),
    "RENAME": _renames(FILE, NEW),
}


@pytest.mark.parametrize("reason", REFUSED)
@proves(FAILED_OPERATION_CHANGES_NOTHING, killed_by="changes4-refuse-and-clear")
def test_keep_objects(compounds: Compounds, scratch: Nfs4Scratch, reason: str) -> None:
    """An operation that fails leaves the objects that it names as they are."""
    refused.expect_nothing_changed(compounds, scratch, REFUSED[reason])


@proves(
    FAILED_OPERATION_CHANGES_NOTHING,
    DENIED_SETS_NOTHING,
    killed_by=("changes4-deny-and-do", "setattr4-denies-and-does"),
    needs="nfs4_other_users",
)
def test_denied_changes_nothing(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """An operation that the server denies to another user changes nothing."""
    stranger = v4.new_compounds(v4.connections.connect("nfs"), _STRANGER)
    refused.expect_nothing_changed(stranger, scratch, DENIED, DENIED_SETS_NOTHING)


@proves(FAILED_OPERATION_CHANGES_NOTHING, killed_by="changes4-deny-and-do", needs="nfs4_other_users")
def test_denied_truncation(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """OPEN with a size of 0 that the server denies to another user does not truncate the file."""
    stranger = v4.new_compounds(v4.connections.connect("nfs"), _STRANGER)
    refused.expect_nothing_changed(stranger, scratch, {"OPEN that truncates": _truncates(FILE)})


@proves(FAILED_OPERATION_CHANGES_NOTHING, killed_by="write4-bad-stateid-writes")
def test_closed_writes_nothing(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """WRITE with the stateid of a file that was closed writes nothing."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    reply = compounds.compound(op.putfh(opened.handle), op.write(opened.stateid, 0, b"more"))
    if reply.status != p.Nfsstat4.NFS4_OK:
        expect_data(scratch.read(opened.handle), b"data")
    expect(reply, because=CLOSED_IS_BAD).refused()
