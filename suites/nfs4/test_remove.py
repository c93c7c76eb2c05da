# SPDX-License-Identifier: MIT
"""REMOVE (RFC 5661 section 18.25): of files and directories."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, expect, proves, skip, stated
from suites.nfs4.clauses import CHANGE_INFO
from suites.nfs4.minors import MINORS

REMOVES_THE_ENTRY = stated(
    "RFC 5661",
    "18.25.3",
    "REMOVE deletes the directory entry of that name, of any type of object",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.26.4")},
)
ABSENT_IS_NOENT = stated(
    "RFC 5661",
    "15.1.4.8",
    "NFS4ERR_NOENT: the file or directory that is named does not exist",
    also={"4.0": ("RFC 7530", "13.1.4.8")},
)
FULL_IS_NOTEMPTY = stated(
    "RFC 5661",
    "15.1.4.10",
    "NFS4ERR_NOTEMPTY: an attempt was made to remove a directory that was not empty",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "13.1.4.10")},
)
NEEDS_A_DIRECTORY = stated(
    "RFC 5661",
    "15.1.2.6",
    "NFS4ERR_NOTDIR: the current filehandle is not a directory where one is required",
    also={"4.0": ("RFC 7530", "13.1.2.6")},
)
EMPTY_NAME_IS_INVALID = stated(
    "RFC 5661", "18.25.3", "a name of zero length gets NFS4ERR_INVAL", also={"4.0": ("RFC 7530", "16.26.4")}
)


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
@proves(REMOVES_THE_ENTRY, killed_by="remove4-removes-nothing")
def test_removes(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """REMOVE takes away an object of any type, and nothing else."""
    scratch.file("other")
    make = {"file": scratch.file, "directory": scratch.directory, "fifo": scratch.fifo}
    scratch.symlink("made", b"target") if kind == "link" else make[kind]("made")
    expect(compounds.compound(op.putfh(scratch.handle), op.remove(b"made"))).ok()
    expect(scratch.names(), "names", field="entries").equals([b"other"])


@MINORS
@proves(ABSENT_IS_NOENT, killed_by="remove4-absent-is-ok")
def test_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """REMOVE of a name that does not exist fails with NOENT."""
    reply = compounds.compound(op.putfh(scratch.handle), op.remove(b"absent"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=ABSENT_IS_NOENT)


@MINORS
@proves(FULL_IS_NOTEMPTY, killed_by="remove4-full-is-exist")
def test_not_empty(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """REMOVE of a directory with an entry fails with NOTEMPTY, and the entry stays."""
    inner = scratch.directory("directory")
    scratch.file("file", directory=inner)
    reply = compounds.compound(op.putfh(scratch.handle), op.remove(b"directory"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTEMPTY, because=FULL_IS_NOTEMPTY)
    expect(scratch.names(inner), "names", field="entries").equals([b"file"])


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="remove4-in-a-file-is-noent")
def test_in_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """REMOVE in a regular file fails with NOTDIR."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.remove(b"name"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=NEEDS_A_DIRECTORY)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="remove4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """REMOVE of an empty name fails with INVAL."""
    reply = compounds.compound(op.putfh(scratch.handle), op.remove(b""))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@MINORS
@proves(CHANGE_INFO, killed_by="remove4-change-info-is-of-nothing")
def test_change_info(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """change_info has the change of the directory before and after REMOVE, where it is atomic."""
    scratch.file("file")
    before = scratch.attributes(None, "change").change
    reply = compounds.compound(op.putfh(scratch.handle), op.remove(b"file"))
    cinfo = expect(reply).of(p.REMOVE).ok().cinfo
    if not cinfo.atomic:
        skip("change_info is not atomic")
    expect(cinfo).field("before").equals(before or 0)
    expect(cinfo).field("after").equals(scratch.attributes(None, "change").change or 0)
