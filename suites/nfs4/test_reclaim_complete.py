# SPDX-License-Identifier: MIT
"""RECLAIM_COMPLETE (RFC 5661 section 18.51)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import Compounds, Nfs4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import expect, proves, skip, stated
from suites.nfs4.minors import MINORS

SECOND_IS_ALREADY = stated(
    "RFC 5661", "15.1.9.1", "a second RECLAIM_COMPLETE of the same client gets NFS4ERR_COMPLETE_ALREADY"
)
LOCKS_WAIT_FOR_IT = stated(
    "RFC 5661",
    "18.51.3",
    "a non-reclaim operation that obtains a lock gets NFS4ERR_GRACE before RECLAIM_COMPLETE",
)

FILEHANDLE_NAMES_IT = stated(
    "RFC 5661",
    "18.51.3",
    "a current filehandle is required only if rca_one_fs is TRUE: it names the file system",
)


@MINORS
@proves(SECOND_IS_ALREADY, killed_by="reclaimcomplete4-always-succeeds")
def test_twice(nfs4: Nfs4) -> None:
    """A second RECLAIM_COMPLETE fails with COMPLETE_ALREADY."""
    session = nfs4.new_client().create_session()
    expect(session.compound(op.reclaim_complete())).ok()
    reply = session.compound(op.reclaim_complete())
    expect(reply).refused(Nfsstat4.NFS4ERR_COMPLETE_ALREADY, because=SECOND_IS_ALREADY)


@MINORS
@proves(LOCKS_WAIT_FOR_IT, killed_by="open4-before-reclaim-complete-is-inval")
def test_open_before(nfs4: Nfs4, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN before RECLAIM_COMPLETE fails with GRACE, in the grace period and after it."""
    file = scratch.file("file")
    expect(compounds.renew()).ok()
    new = nfs4.new_client().create_session()
    reply = new.compound(op.putfh(file), op.open(None, owner=new_state_owner()))
    expect(reply).status(Nfsstat4.NFS4ERR_GRACE)


@MINORS
@proves(LOCKS_WAIT_FOR_IT, killed_by="reclaimcomplete4-of-a-file-system-counts")
def test_one_file_system(nfs4: Nfs4, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After RECLAIM_COMPLETE of one file system only, a new OPEN still fails with GRACE."""
    file = scratch.file("file")
    expect(compounds.renew()).ok()
    new = nfs4.new_client().create_session()
    completed = new.compound(op.putfh(file), op.reclaim_complete(one_fs=True))
    if completed.status != Nfsstat4.NFS4_OK:
        skip(f"RECLAIM_COMPLETE of one file system is refused: {completed.status.name}", completed)
    reply = new.compound(op.putfh(file), op.open(None, owner=new_state_owner()))
    expect(reply).status(Nfsstat4.NFS4ERR_GRACE)


@MINORS
@proves(FILEHANDLE_NAMES_IT, killed_by="reclaimcomplete4-wants-a-filehandle")
def test_filehandle(nfs4: Nfs4) -> None:
    """RECLAIM_COMPLETE of all file systems needs no current filehandle; that of one does: NOFILEHANDLE."""
    session = nfs4.new_client().create_session()
    reply = session.compound(op.reclaim_complete(one_fs=True))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOFILEHANDLE, because=FILEHANDLE_NAMES_IT)
    expect(session.compound(op.reclaim_complete())).ok()
