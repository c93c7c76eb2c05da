# SPDX-License-Identifier: MIT
"""RENAME of and over files that are open (RFC 5661 section 18.26.4)."""

from __future__ import annotations

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, expect_data, observe, proves, skip, stated
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, open_file, try_open

OPEN_STAYS = stated(
    "RFC 5661",
    "8.2.4",
    "a stateid is valid until what it stands for is returned: RENAME of the file changes nothing of its open",
    harm=Harm.DATA,
)
REPLACED_OR_REFUSED = stated(
    "RFC 5661",
    "18.26.4",
    "RENAME over a file that is open replaces it, or gets NFS4ERR_FILE_OPEN, and then both names stay",
    harm=Harm.OBJECT,
)


@proves(OPEN_STAYS, killed_by=("rename4-closes-the-file", "rename4-drops-denials"))
def test_of_open(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After another client has renamed a file, its open reads and writes, and denies what it denied."""
    file, other = scratch.file("file", b"data"), another_client(v4)
    opened = open_file(compounds, file, BOTH, p.OPEN4_SHARE_DENY_WRITE)
    renamed = other.compound(op.putfh(scratch.handle), op.savefh(), op.rename(b"file", b"new"))
    observe("RENAME of a file that is open", renamed.status.name)
    if renamed.status == Nfsstat4.NFS4ERR_FILE_OPEN:
        skip("the server renames no files that are open")
    expect(renamed).ok()
    reply = compounds.compound(op.putfh(file), op.write(opened.stateid, 0, b"more"))
    if reply.status in {Nfsstat4.NFS4ERR_FHEXPIRED, Nfsstat4.NFS4ERR_STALE} and reply.failed is p.PUTFH:
        skip("RENAME makes the filehandle invalid")
    expect(reply, because=OPEN_STAYS).ok()
    expect(try_open(other, file, WRITE)).refused(Nfsstat4.NFS4ERR_SHARE_DENIED, because=OPEN_STAYS)


@proves(
    REPLACED_OR_REFUSED, killed_by=("rename4-over-open-files-does-nothing", "rename4-refuses-and-removes")
)
def test_over_open(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME over a file that another client has open replaces it, or fails with FILE_OPEN and leaves both names."""
    target = scratch.file("target", b"old!")
    scratch.file("source", b"new!")
    open_file(compounds, target, READ)
    reply = another_client(v4).compound(
        op.putfh(scratch.handle), op.savefh(), op.rename(b"source", b"target")
    )
    observe("RENAME over a file that is open", reply.status.name)
    is_done = reply.status == Nfsstat4.NFS4_OK
    wanted = [b"target"] if is_done else [b"source", b"target"]
    expect(sorted(scratch.names()), "names", field="entries").equals(wanted)
    found = scratch.lookup("target")
    assert found is not None
    expect_data(scratch.read(found), b"new!" if is_done else b"old!")
    if not is_done:
        expect(reply).refused(Nfsstat4.NFS4ERR_FILE_OPEN, because=REPLACED_OR_REFUSED)
