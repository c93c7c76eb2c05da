# SPDX-License-Identifier: MIT
"""OPEN (RFC 5661 section 18.16) that creates, with a name that exists: what is there stays as it is."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_that,
    observe,
    proves,
    skip,
    stated,
)
from suites.common_client import CREATIONS
from suites.nfs4.common import CommonNfs4
from suites.nfs4.opens import BOTH, READ, WRITE, another_client, create_file, need_exclusive, open_file

DENIED_OPEN_CHANGES_NOTHING = stated(
    "RFC 5661",
    "9.7",
    "an OPEN that conflicts with a share reservation fails: the file is not truncated",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
EXCLUSIVE_USES_THE_FILE = stated(
    "RFC 5661",
    "18.16.3",
    "EXCLUSIVE4_1 with the verifier of the file uses the existing object: its data stays",
    harm=Harm.DATA,
)
REPLACES_NOTHING = stated(
    "RFC 5661",
    "18.16.4",
    "OPEN with the name of an object that is no regular file fails, and the object stays",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.16.6")},
)


@proves(DENIED_OPEN_CHANGES_NOTHING, killed_by="open4-denied-truncates")
def test_denied_truncation(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """An OPEN that is refused with SHARE_DENIED does not truncate the file, though it asks for a size of 0."""
    file = scratch.file("file", b"precious data")
    open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE)
    how = op.unchecked(Fattr4(size=0))
    opening = op.open(b"file", WRITE, owner=new_state_owner(), how=how)
    reply = through_grace(another_client(v4), op.putfh(scratch.handle), opening)
    observe("OPEN of a file whose share denies writing", reply.status)
    if reply.status == Nfsstat4.NFS4_OK:
        skip("the OPEN is not refused, which another check judges")
    expect_data(scratch.read(file), b"precious data")
    expect(reply).refused()


@proves(EXCLUSIVE_USES_THE_FILE, killed_by="open4-exclusive-truncates-again")
def test_exclusive_again_keeps_data(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """EXCLUSIVE4_1 with the verifier of a file that was written since keeps the data of the file."""
    need_exclusive(compounds)
    how = op.exclusive4_1(b"verifier", Fattr4())
    made = create_file(compounds, scratch.handle, b"file", how, may_lack_exclusive=True)
    writing = op.write(made.stateid, 0, b"precious data")
    count = expect(compounds.compound(op.putfh(made.handle), writing)).of(p.WRITE).ok().count
    opening = op.open(b"file", BOTH, owner=new_state_owner(), how=how)
    reply = through_grace(compounds, op.putfh(scratch.handle), opening)
    observe("EXCLUSIVE4_1 with the same verifier, after a WRITE", reply.status)
    expect_data(scratch.read(made.handle), b"precious data"[:count])


@pytest.mark.parametrize("kind", ["directory", "fifo"])
@pytest.mark.parametrize("how", CREATIONS)
@proves(REPLACES_NOTHING, killed_by="open4-replaces-other-objects")
def test_object_kept(compounds: Compounds, scratch: Nfs4Scratch, how: str, kind: str) -> None:
    """OPEN that creates, with the name of a directory or FIFO, fails and keeps the object with its entries."""
    handle = scratch.fifo("object") if kind == "fifo" else scratch.directory("object")
    if kind == "directory":
        scratch.file("inside", directory=handle)
    known = scratch.attributes(handle, "type", "fileid")
    answer = CommonNfs4(compounds).create_empty(scratch.handle, b"object", how)
    found = scratch.lookup("object")
    expect_that(found is not None, "an object", "no such name", f"what was a {kind}")
    seen = scratch.attributes(found, "type", "fileid")
    expect(seen).field("type").equals(known.type)
    expect(seen).field("fileid").equals(known.fileid)
    if kind == "directory":
        expect(scratch.names(found), "names in the directory", field="entries").equals([b"inside"])
    expect(answer.reply).refused()
