# SPDX-License-Identifier: MIT
"""State of the server: the seqid of the current stateid, what opens deny to those who read, and names of open files."""

from __future__ import annotations

import pytest

from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from tests.nfsserver.nfs4.conftest import Rig4, S

_READ = p.OPEN4_SHARE_ACCESS_READ | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG
_WRITE = p.OPEN4_SHARE_ACCESS_WRITE | p.OPEN4_SHARE_ACCESS_WANT_NO_DELEG


def _open(
    session: Session, file: bytes, access: int, deny: int = 0, owner: bytes = b"owner"
) -> CompoundReply:
    return session.compound(op.putfh(file), op.open(None, access, deny, owner=owner))


@pytest.mark.parametrize("ends", ["read", "close"])
def test_current_stateid_has_its_seqid_for_close_only(rig4: Rig4, ends: str) -> None:
    session = rig4.session()
    file = rig4.make(session, b"f", b"data")
    opening = op.open(None, _READ, owner=b"owner")
    last = op.read(p.CURRENT_STATEID, 0, 4) if ends == "read" else op.close(p.CURRENT_STATEID)
    # The second OPEN changes the stateid that SAVEFH has saved.
    steps = (op.putfh(file), opening, op.savefh(), opening, op.restorefh(), last)
    assert session.compound(*steps).status == (S.NFS4_OK if ends == "read" else S.NFS4ERR_OLD_STATEID)


@pytest.mark.parametrize(("deny", "status"), [(0, S.NFS4_OK), (p.OPEN4_SHARE_DENY_READ, S.NFS4ERR_LOCKED)])
def test_writer_reads_unless_another_open_denies_it(rig4: Rig4, deny: int, status: p.Nfsstat4) -> None:
    session = rig4.session()
    file = rig4.make(session, b"f", b"data")
    stateid = _open(session, file, _WRITE).ok().stateid
    _open(rig4.session(), file, _WRITE, deny).ok()
    assert session.compound(op.putfh(file), op.read(stateid, 0, 4)).status == status


@pytest.mark.parametrize(
    ("deny", "status"),
    [(p.OPEN4_SHARE_DENY_READ, S.NFS4_OK), (p.OPEN4_SHARE_DENY_WRITE, S.NFS4ERR_FILE_OPEN)],
)
def test_name_of_a_file_that_nobody_may_write_stays(rig4: Rig4, deny: int, status: p.Nfsstat4) -> None:
    session = rig4.session()
    file = rig4.make(session, b"f", b"data")
    _open(rig4.session(), file, _READ if deny == p.OPEN4_SHARE_DENY_WRITE else _WRITE, deny).ok()
    assert session.compound(op.putfh(rig4.root), op.remove(b"f")).status == status


def test_expired_client_keeps_no_name(rig4: Rig4) -> None:
    session, silent = rig4.session(), rig4.session()
    file = rig4.make(session, b"f", b"data")
    _open(silent, file, _READ, p.OPEN4_SHARE_DENY_WRITE).ok()
    client = rig4.server.states.clients.get(silent.clientid)
    assert client is not None
    client.renewed -= 2 * rig4.server.states.lease
    assert session.compound(op.putfh(rig4.root), op.remove(b"f")).status == S.NFS4_OK
