# SPDX-License-Identifier: MIT
"""Spritely NFS is NFSv2 with more: what both have is the same."""

from __future__ import annotations

from nfsclient.protocol import nfs2, snfs
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsclient.protocol.snfs import Snfsstat

OURS = {"SNFS_INCONSISTENT", "SNFS_CLOSED", "SNFS_RECOVERING"}


def test_it_has_the_statuses_of_nfsv2_and_three_more() -> None:
    assert {status.name: int(status) for status in Nfsstat2} == {
        status.name: int(status) for status in Snfsstat if status.name not in OURS
    }
    assert set(Snfsstat.__members__) >= OURS


def test_it_has_the_procedures_of_nfsv2_and_more() -> None:
    for procedure in nfs2.NFS2.procedures:
        mine = snfs.SNFS.by_number[procedure.number]
        assert mine is snfs.in_snfs(procedure)
        assert (mine.name, mine.args, mine.res) == (procedure.name, procedure.args, procedure.res)
    more = {name for name in snfs.SNFS.by_name if name not in nfs2.NFS2.by_name}
    assert more == {"OPEN", "CLOSE", "REOPEN", "RECOVERED"}
