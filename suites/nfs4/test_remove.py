# SPDX-License-Identifier: MIT
"""REMOVE (RFC 5661 section 18.25): of files and directories."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Harm, Requirement, expect, proves, skip
from suites.nfs4.clauses import CHANGE_INFO
from suites.nfs4.minors import MINORS

REMOVES_THE_ENTRY = Requirement(
    rfc="RFC 5661",
    section="18.25.3",
    gist="REMOVE deletes the directory entry of that name, of any type of object",
    harm=Harm.SUCCESS,
)
ABSENT_IS_NOENT = Requirement(
    rfc="RFC 5661",
    section="15.1.4.8",
    gist="NFS4ERR_NOENT: the file or directory that is named does not exist",
)
FULL_IS_NOTEMPTY = Requirement(
    rfc="RFC 5661",
    section="15.1.4.10",
    gist="NFS4ERR_NOTEMPTY: an attempt was made to remove a directory that was not empty",
    harm=Harm.OBJECT,
)
NEEDS_A_DIRECTORY = Requirement(
    rfc="RFC 5661",
    section="15.1.2.6",
    gist="NFS4ERR_NOTDIR: the current filehandle is not a directory where one is required",
)
EMPTY_NAME_IS_INVALID = Requirement(
    rfc="RFC 5661", section="18.25.3", gist="a name of zero length gets NFS4ERR_INVAL"
)


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory", "link", "fifo"])
@proves(REMOVES_THE_ENTRY, killed_by="remove4-removes-nothing")
def test_removes(session: Session4, scratch: Nfs4Scratch, kind: str) -> None:
    """REMOVE takes away an object of any type, and nothing else."""
    scratch.file("other")
    make = {"file": scratch.file, "directory": scratch.directory, "fifo": scratch.fifo}
    scratch.symlink("made", b"target") if kind == "link" else make[kind]("made")
    expect(session.compound(op.putfh(scratch.handle), op.remove(b"made"))).ok()
    expect(scratch.names(), "names", field="entries").equals([b"other"])


@MINORS
@proves(ABSENT_IS_NOENT, killed_by="remove4-absent-is-ok")
def test_absent(session: Session4, scratch: Nfs4Scratch) -> None:
    """REMOVE of a name that does not exist fails with NOENT."""
    reply = session.compound(op.putfh(scratch.handle), op.remove(b"absent"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=ABSENT_IS_NOENT)


@MINORS
@proves(FULL_IS_NOTEMPTY, killed_by="remove4-full-is-exist")
def test_not_empty(session: Session4, scratch: Nfs4Scratch) -> None:
    """REMOVE of a directory with an entry fails with NOTEMPTY, and the entry stays."""
    inner = scratch.directory("directory")
    scratch.file("file", directory=inner)
    reply = session.compound(op.putfh(scratch.handle), op.remove(b"directory"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTEMPTY, because=FULL_IS_NOTEMPTY)
    expect(scratch.names(inner), "names", field="entries").equals([b"file"])


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="remove4-in-a-file-is-noent")
def test_in_file(session: Session4, scratch: Nfs4Scratch) -> None:
    """REMOVE in a regular file fails with NOTDIR."""
    reply = session.compound(op.putfh(scratch.file("file")), op.remove(b"name"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=NEEDS_A_DIRECTORY)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="remove4-empty-name-is-noent")
def test_empty_name(session: Session4, scratch: Nfs4Scratch) -> None:
    """REMOVE of an empty name fails with INVAL."""
    reply = session.compound(op.putfh(scratch.handle), op.remove(b""))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@MINORS
@proves(CHANGE_INFO, killed_by="remove4-change-info-is-of-nothing")
def test_change_info(session: Session4, scratch: Nfs4Scratch) -> None:
    """change_info has the change of the directory before and after REMOVE, where it is atomic."""
    scratch.file("file")
    before = scratch.attributes(None, "change").change
    reply = session.compound(op.putfh(scratch.handle), op.remove(b"file"))
    cinfo = expect(reply).of(p.REMOVE).ok().cinfo
    if not cinfo.atomic:
        skip("change_info is not atomic")
    expect(cinfo).field("before").equals(before or 0)
    expect(cinfo).field("after").equals(scratch.attributes(None, "change").change or 0)
