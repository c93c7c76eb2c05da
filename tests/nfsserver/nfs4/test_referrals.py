# SPDX-License-Identifier: MIT
"""The referral of the embedded server: it comes and goes with its knob, and no filehandle leads into it."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.xdr import XdrType
from tests.nfsserver.nfs4.conftest import Rig4, S, rig4

__all__ = ["rig4"]
PARENT: list[XdrType] = [op.putrootfh(), op.lookup(b"referrals")]
WAY: list[XdrType] = [*PARENT, op.lookup(b"absent")]
LOCATIONS = ("fs_locations", "fs_locations_info", "fs_status")


def names(session: Session, *way: XdrType) -> list[bytes]:
    page = session.compound(*way, op.readdir(maxcount=4096, attributes=("rdattr_error",))).ok()
    found = page.of(p.READDIR).resok4
    assert found is not None
    return sorted(bytes(entry.name) for entry in found.reply.entries)


def test_it_is_there_while_its_knob_is_set(rig4: Rig4) -> None:
    session = rig4.session()
    assert session.compound(*PARENT).status == S.NFS4ERR_NOENT
    for _ in range(2):
        rig4.server.knobs.set("referral", True)
        assert names(session, *PARENT) == [b"absent", b"present"]
        assert session.compound(*WAY, op.getfh()).status == S.NFS4ERR_MOVED
        assert session.compound(*PARENT, op.lookup(b"present"), op.getfh()).status == S.NFS4_OK
        rig4.server.knobs.reset()
        assert session.compound(*PARENT).status == S.NFS4ERR_NOENT
        assert names(session, op.putrootfh()) == [b"export"]


def test_whoever_answers_moved_says_where_to(rig4: Rig4) -> None:
    rig4.server.knobs.update(referral=True, optional_attributes=False)
    seen = rig4.session().compound(*WAY, op.getattr("type", "fsid", "hidden", *LOCATIONS)).ok().attributes
    assert p.names_of(seen.attrmask) == ["fsid", "fs_locations", "fs_status", "fs_locations_info"]
    assert seen.fs_locations is not None
    assert seen.fs_locations.fs_root == [b"referrals", b"absent"]
    here = rig4.session().compound(op.putfh(rig4.root), op.getattr("supported_attrs")).ok().attributes
    assert set(LOCATIONS) <= set(p.names_of(here.supported_attrs or []))


@pytest.mark.parametrize("operation", [op.remove(b"absent"), op.mkdir(b"made"), op.rename(b"absent", b"new")])
def test_nobody_changes_it(rig4: Rig4, operation: XdrType) -> None:
    rig4.server.knobs.set("referral", True)
    session = rig4.session()
    assert session.compound(*PARENT, op.savefh(), operation).status == S.NFS4ERR_ROFS
    assert names(session, *PARENT) == [b"absent", b"present"]


def test_file_systems_that_are_here_say_so(rig4: Rig4) -> None:
    session = rig4.session()
    seen = session.compound(op.putfh(rig4.root), op.getattr(*LOCATIONS)).ok().attributes
    assert seen.fs_status is not None
    assert (seen.fs_status.fss_absent, seen.fs_status.fss_type) == (False, p.Fs4StatusType.STATUS4_WRITABLE)
    assert seen.fs_locations_info is not None
    (item,) = seen.fs_locations_info.fli_items
    assert seen.fs_locations_info.fli_fs_root == item.fli_rootpath == [b"export"]
    assert bytes(item.fli_entries[0].fls_info)[0] == p.FSLI4GF_WRITABLE | p.FSLI4GF_CUR_REQ
    rig4.server.knobs.set("read_only", True)
    seen = session.compound(op.putfh(rig4.root), op.getattr(*LOCATIONS)).ok().attributes
    assert seen.fs_status is not None
    assert seen.fs_status.fss_type == p.Fs4StatusType.STATUS4_UPDATED
