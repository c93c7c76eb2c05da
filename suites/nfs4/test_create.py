# SPDX-License-Identifier: MIT
"""CREATE (RFC 5661 section 18.4): directories, symbolic links, devices, sockets and FIFOs."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.clients.nfs4 import Session4
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsFtype4, Nfsstat4
from nfsjudge import Harm, Requirement, expect, proves, skip
from suites.nfs4.clauses import CHANGE_INFO
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS

MAKES_THE_TYPE = Requirement(
    rfc="RFC 5661",
    section="18.4.3",
    gist="objtype determines the type of the object, and the current filehandle is replaced by that of the object",
)
REGULAR_IS_BADTYPE = Requirement(
    rfc="RFC 5661",
    section="18.4.3",
    gist="the type of an ordinary file, a named attribute or a named attribute directory gets NFS4ERR_BADTYPE",
)
EXISTING_IS_EXIST = Requirement(
    rfc="RFC 5661",
    section="18.4.3",
    gist="if an object of the same name exists already, NFS4ERR_EXIST is returned",
    harm=Harm.OBJECT,
)
NEEDS_A_DIRECTORY = Requirement(
    rfc="RFC 5661",
    section="18.4.3",
    gist="a current filehandle of another type than a directory gets NFS4ERR_NOTDIR",
)
EMPTY_NAME_IS_INVALID = Requirement(
    rfc="RFC 5661", section="18.4.3", gist="a name of zero length gets NFS4ERR_INVAL"
)
ATTRSET_IS_WHAT_WAS_SET = Requirement(
    rfc="RFC 5661",
    section="18.4.3",
    gist="the attribute mask in the result signifies which attributes were set",
)
_TYPES = {
    "directory": op.mkdir(b"1"),
    "link": op.symlink(b"1", b"target"),
    "fifo": op.create(b"1", NfsFtype4.NF4FIFO),
    "socket": op.create(b"1", NfsFtype4.NF4SOCK),
}


@MINORS
@pytest.mark.parametrize("kind", _TYPES)
@proves(MAKES_THE_TYPE, killed_by="create4-makes-directories")
def test_type(session: Session4, scratch: Nfs4Scratch, kind: str) -> None:
    """CREATE makes an object of the type, under the name."""
    making = _TYPES[kind]
    reply = session.compound(op.putfh(scratch.handle), making, op.getfh(), op.getattr("type"))
    if reply.failed is p.CREATE and reply.status == Nfsstat4.NFS4ERR_BADTYPE:
        skip(f"the server makes no {kind}")
    made = expect(reply).ok()
    expect(made.attributes.type, "type").equals(making.objtype.type)
    expect(scratch.names(), "names").equals([b"1"])


@MINORS
@proves(MAKES_THE_TYPE, killed_by="create4-keeps-the-current-filehandle")
def test_current_filehandle(session: Session4, scratch: Nfs4Scratch) -> None:
    """After CREATE the new object is the current one."""
    made = expect(session.compound(op.putfh(scratch.handle), op.mkdir(b"made"), op.getfh())).ok().handle
    expect_same_object(scratch, made, scratch.lookup("made") or b"", "filehandle after CREATE")


@MINORS
@pytest.mark.parametrize(
    "objtype",
    [NfsFtype4.NF4REG, NfsFtype4.NF4ATTRDIR, NfsFtype4.NF4NAMEDATTR],
    ids=["regular", "attrdir", "namedattr"],
)
@proves(REGULAR_IS_BADTYPE, killed_by="create4-regular-is-inval")
def test_bad_type(session: Session4, scratch: Nfs4Scratch, objtype: NfsFtype4) -> None:
    """CREATE of a regular file, or of anything with named attributes, fails with BADTYPE."""
    reply = session.compound(op.putfh(scratch.handle), op.create(b"made", objtype))
    expect(reply).refused(Nfsstat4.NFS4ERR_BADTYPE, because=REGULAR_IS_BADTYPE)
    expect(scratch.names(), "names").equals([])


@MINORS
@proves(EXISTING_IS_EXIST, killed_by="create4-existing-is-taken")
def test_exists(session: Session4, scratch: Nfs4Scratch) -> None:
    """CREATE of a name that exists fails with EXIST."""
    scratch.directory("directory")
    reply = session.compound(op.putfh(scratch.handle), op.mkdir(b"directory"))
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=EXISTING_IS_EXIST)


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="create4-in-a-file-is-inval")
def test_in_file(session: Session4, scratch: Nfs4Scratch) -> None:
    """CREATE in a regular file fails with NOTDIR."""
    reply = session.compound(op.putfh(scratch.file("file")), op.mkdir(b"made"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=NEEDS_A_DIRECTORY)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="create4-empty-name-is-noent")
def test_empty_name(session: Session4, scratch: Nfs4Scratch) -> None:
    """CREATE of an empty name fails with INVAL."""
    reply = session.compound(op.putfh(scratch.handle), op.mkdir(b""))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@MINORS
@proves(ATTRSET_IS_WHAT_WAS_SET, killed_by="create4-sets-no-mode")
def test_attrset(session: Session4, scratch: Nfs4Scratch) -> None:
    """If the result says that the mode was set, the object has it."""
    making = op.mkdir(b"made", p.Fattr4(mode=0o750))
    reply = session.compound(op.putfh(scratch.handle), making, op.getattr("mode"))
    result = expect(reply).of(p.CREATE).ok()
    if "mode" not in p.names_of(result.attrset):
        skip("the result does not say that the mode was set")
    # A directory may inherit the bit for the group from its parent.
    mode = expect(reply).ok().attributes.mode or 0
    expect(mode & 0o777, "permission bits of the mode").equals(0o750)


@MINORS
@proves(CHANGE_INFO, killed_by="create4-change-info-is-of-nothing")
def test_change_info(session: Session4, scratch: Nfs4Scratch) -> None:
    """change_info has the change of the directory before and after CREATE, where it is atomic."""
    before = scratch.attributes(None, "change").change
    reply = session.compound(op.putfh(scratch.handle), op.mkdir(b"made"))
    cinfo = expect(reply).of(p.CREATE).ok().cinfo
    if not cinfo.atomic:
        skip("change_info is not atomic")
    expect(cinfo.before, "before").equals(before or 0)
    expect(cinfo.after, "after").equals(scratch.attributes(None, "change").change or 0)
