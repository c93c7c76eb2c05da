# SPDX-License-Identifier: MIT
"""Optional attributes of the embedded server, and mandatory locks: what its knobs decide."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, NfsLockType4, Nfsstat4
from tests.nfsserver.conftest import ALICE
from tests.nfsserver.nfs4.conftest import Rig4, rig4

__all__ = ["rig4"]
_LOCKED = Nfsstat4.NFS4ERR_LOCKED


def test_an_attribute_that_a_knob_takes_away_is_not_there_at_all(rig4: Rig4) -> None:
    session = rig4.session()
    file = rig4.make(session, b"file")
    rig4.server.knobs.set("optional_attributes", False)
    seen = session.compound(
        op.putfh(file), op.getattr("supported_attrs", "suppattr_exclcreat", "hidden")
    ).ok()
    assert seen.attributes.hidden is None
    for words in (seen.attributes.supported_attrs, seen.attributes.suppattr_exclcreat):
        assert not {"hidden", "quota_used", "fs_locations"} & set(p.names_of(words or []))
    for asking in (op.setattr(Fattr4(hidden=True)), op.verify(Fattr4(hidden=True))):
        assert session.compound(op.putfh(file), asking).status == Nfsstat4.NFS4ERR_ATTRNOTSUPP


def test_only_the_owner_marks_a_file(rig4: Rig4) -> None:
    file = rig4.make(rig4.session(), b"file")
    reply = rig4.session(ALICE).compound(op.putfh(file), op.setattr(Fattr4(system=True)))
    assert reply.status == Nfsstat4.NFS4ERR_PERM


@pytest.mark.parametrize(
    "wanted",
    [
        Fattr4(mimetype=b"x" * 256),
        Fattr4(mimetype=b"\xff"),
        Fattr4(time_backup=p.Nfstime4(0, 1_000_000_000)),
    ],
    ids=["long", "no-utf8", "nseconds"],
)
def test_a_mark_that_cannot_be_is_refused(rig4: Rig4, wanted: Fattr4) -> None:
    session = rig4.session()
    file = rig4.make(session, b"file")
    assert session.compound(op.putfh(file), op.setattr(wanted)).status == Nfsstat4.NFS4ERR_INVAL


def test_quotas_are_those_of_the_owner(rig4: Rig4) -> None:
    session = rig4.session()
    rig4.make(session, b"other", bytes(8192))
    file = rig4.make(session, b"file", b"data")
    rig4.server.knobs.set("quota_bytes", 20_480)
    seen = session.compound(op.putfh(file), op.getattr("quota_used", "quota_avail_hard")).ok().attributes
    assert (seen.quota_used, seen.quota_avail_hard) == (12_288, 8192)


def test_fs_root_is_the_path_of_the_export(rig4: Rig4) -> None:
    session = rig4.session()
    for handle, path in ((rig4.root, [b"export"]), (rig4.make(session, b"file"), [b"export"])):
        seen = session.compound(op.putfh(handle), op.getattr("fs_locations")).ok().attributes.fs_locations
        assert seen is not None
        assert ([bytes(name) for name in seen.fs_root], seen.locations) == (path, [])
    above = session.compound(op.putrootfh(), op.getattr("fs_locations")).ok().attributes.fs_locations
    assert above is not None
    assert above.fs_root == []


@pytest.mark.parametrize(("is_mandatory", "status"), [(False, Nfsstat4.NFS4_OK), (True, _LOCKED)])
def test_locks_are_mandatory_by_a_knob(rig4: Rig4, is_mandatory: bool, status: Nfsstat4) -> None:
    rig4.server.knobs.set("mandatory_locks", is_mandatory)
    mine, other = rig4.session(), rig4.session()
    file = rig4.make(mine, b"file", b"0123456789")
    access = p.OPEN4_SHARE_ACCESS_BOTH | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
    opens = []
    for session in (mine, other):
        opening = op.open(None, access, owner=b"owner")
        opens.append(session.compound(op.putfh(file), opening).ok().stateid)
    locking = op.lock(opens[0], NfsLockType4.WRITE_LT, 2, 4, owner=b"locker")
    locked = mine.compound(op.putfh(file), locking).ok().stateid
    for stateid, doing, wanted in (
        (opens[1], op.write(opens[1], 5, b"x"), status),
        (opens[1], op.read(opens[1], 0, 3), status),
        (opens[1], op.setattr(Fattr4(size=3), opens[1]), status),
        (op.ANONYMOUS, op.write(op.ANONYMOUS, 2, b"x"), status),
        (opens[1], op.write(opens[1], 6, b"x"), Nfsstat4.NFS4_OK),
    ):
        assert other.compound(op.putfh(file), doing).status == wanted, stateid
    for stateid in (locked, opens[0]):
        assert mine.compound(op.putfh(file), op.write(stateid, 3, b"x")).status == Nfsstat4.NFS4_OK
