# SPDX-License-Identifier: MIT
"""REMOVE of files that are open (RFC 5661 section 18.25.4)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, observe, proves, should, skip, stated
from suites.nfs4.opens import BOTH, READ, another_client, open_file

DENIAL_KEEPS_THE_NAME = should(
    "RFC 5661",
    "18.25.4",
    "REMOVE should not delete the name of a file that is open with OPEN4_SHARE_DENY_WRITE or _BOTH",
    also={"4.0": ("RFC 7530", "16.25.5")},
)
REFUSED_IS_FILE_OPEN = stated("RFC 5661", "18.25.4", "REMOVE that an open prevents gets NFS4ERR_FILE_OPEN")
REFUSED_REMOVES_NOTHING = stated(
    "RFC 5661", "18.25.4", "where an open prevents the removal of the name, the name stays", harm=Harm.OBJECT
)
PROMISED_IS_KEPT = stated(
    "RFC 5661",
    "18.16.3",
    "after OPEN4_RESULT_PRESERVE_UNLINKED the open file is preserved if any client removes it",
    harm=Harm.DATA,
)
REMOVED_IS_CLOSED = stated(
    "RFC 5661",
    "8.2.4",
    "CLOSE returns the stateid of an open, also after the last name of its file was removed",
    harm=Harm.SUCCESS,
)


def _may_be_gone(status: Nfsstat4) -> bool:
    """Whether a status says that the file went with its name, which a server may decide (section 18.25.4)."""
    return status in {Nfsstat4.NFS4ERR_STALE, Nfsstat4.NFS4ERR_FHEXPIRED, Nfsstat4.NFS4ERR_BADHANDLE}


@pytest.mark.parametrize("deny", [p.OPEN4_SHARE_DENY_WRITE, p.OPEN4_SHARE_DENY_BOTH], ids=["write", "both"])
@proves(
    DENIAL_KEEPS_THE_NAME,
    REFUSED_IS_FILE_OPEN,
    killed_by=("remove4-ignores-denials", "remove4-open-is-access"),
)
def test_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, deny: int) -> None:
    """REMOVE of a file that another client has open, and denies to write, fails with FILE_OPEN."""
    file = scratch.file("file", b"data")
    open_file(compounds, file, READ, deny)
    reply = another_client(v4).compound(op.putfh(scratch.handle), op.remove(b"file"))
    expect(reply, because=DENIAL_KEEPS_THE_NAME).refused(
        Nfsstat4.NFS4ERR_FILE_OPEN, because=REFUSED_IS_FILE_OPEN
    )


@proves(REFUSED_REMOVES_NOTHING, killed_by="remove4-refuses-and-removes")
def test_refused(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """REMOVE that is refused because the file is open leaves name and data, and the open in force."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE)
    reply = another_client(v4).compound(op.putfh(scratch.handle), op.remove(b"file"))
    observe("REMOVE of a file that is open", reply.status.name)
    if reply.status == Nfsstat4.NFS4_OK:
        skip("the server removes files that are open: another check judges that")
    expect(scratch.names(), "names", field="entries").equals([b"file"])
    result = expect(compounds.compound(op.putfh(file), op.read(opened.stateid, 0, 4))).of(p.READ).ok()
    expect_data(result.data, b"data"[: len(result.data)])


@proves(PROMISED_IS_KEPT, killed_by="open4-promises-to-preserve")
def test_preserved(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A file that the server has promised to preserve is read by its open after another client has removed it."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, BOTH)
    promises = bool(opened.result.rflags & p.OPEN4_RESULT_PRESERVE_UNLINKED)
    observe("OPEN4_RESULT_PRESERVE_UNLINKED", str(promises))
    reply = another_client(v4).compound(op.putfh(scratch.handle), op.remove(b"file"))
    if reply.status == Nfsstat4.NFS4ERR_FILE_OPEN:
        skip("the server refuses to remove a file that is open, which preserves it as well")
    expect(reply).ok()
    read = compounds.compound(op.putfh(file), op.read(opened.stateid, 0, 4))
    if not promises and read.status != Nfsstat4.NFS4_OK:
        skip(f"OPEN does not promise to preserve the file: READ answers {read.status.name}", read)
    result = expect(read, because=PROMISED_IS_KEPT).of(p.READ).ok()
    expect_data(result.data, b"data"[: len(result.data)], because=PROMISED_IS_KEPT)


@proves(REMOVED_IS_CLOSED, killed_by="close4-of-removed-files-is-inval")
def test_closed(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CLOSE of a file that another client has removed succeeds, if the file still has its handle."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, BOTH)
    reply = another_client(v4).compound(op.putfh(scratch.handle), op.remove(b"file"))
    if reply.status == Nfsstat4.NFS4ERR_FILE_OPEN:
        skip("the server refuses to remove a file that is open")
    expect(reply).ok()
    closed = compounds.compound(op.putfh(file), op.close(opened.stateid))
    if _may_be_gone(closed.status):
        skip("the file is gone with its name")
    expect(closed, because=REMOVED_IS_CLOSED).ok()
