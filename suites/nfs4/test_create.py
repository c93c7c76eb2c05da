# SPDX-License-Identifier: MIT
"""CREATE (RFC 5661 section 18.4): directories, symbolic links, devices, sockets and FIFOs."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsFtype4, Nfsstat4
from nfsjudge import Harm, expect, must, proves, skip, stated, unsupported
from suites.nfs4.attribute_values import expect_near, supported_names
from suites.nfs4.clauses import CHANGE_INFO
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH

MAKES_THE_TYPE = stated(
    "RFC 5661",
    "18.4.3",
    "objtype determines the type of the object, and the current filehandle is replaced by that of the object",
)
REGULAR_IS_BADTYPE = stated(
    "RFC 5661",
    "18.4.3",
    "the type of an ordinary file, a named attribute or a named attribute directory gets NFS4ERR_BADTYPE",
)
EXISTING_IS_EXIST = stated(
    "RFC 5661",
    "18.4.3",
    "if an object of the same name exists already, NFS4ERR_EXIST is returned",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.4.4")},
)
NEEDS_A_DIRECTORY = stated(
    "RFC 5661", "18.4.3", "a current filehandle of another type than a directory gets NFS4ERR_NOTDIR"
)
EMPTY_NAME_IS_INVALID = stated(
    "RFC 5661", "18.4.3", "a name of zero length gets NFS4ERR_INVAL", also={"4.0": ("RFC 7530", "16.4.4")}
)
ATTRSET_IS_WHAT_WAS_SET = stated(
    "RFC 5661",
    "18.4.3",
    "the attribute mask in the result signifies which attributes were set",
    also={"4.0": ("RFC 7530", "16.4.4")},
)
MASKED_MODE_IS_FOR_SETATTR = must(
    "RFC 5661", "6.2.5", "mode_set_masked is valid in SETATTR only: CREATE and OPEN return NFS4ERR_INVAL"
)
DEVICE_NUMBERS = stated(
    "RFC 5661",
    "5.8.2.31",
    "attribute rawdev is the raw device number of a file of type block or character",
    also={"4.0": ("RFC 7530", "5.8.2.27")},
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
def test_type(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """CREATE makes an object of the type, under the name."""
    making = _TYPES[kind]
    reply = compounds.compound(op.putfh(scratch.handle), making, op.getfh(), op.getattr("type"))
    if reply.failed is p.CREATE and reply.status == Nfsstat4.NFS4ERR_BADTYPE:
        skip(f"the server makes no {kind}")
    made = expect(reply).ok()
    expect(made.attributes).field("type").equals(making.objtype.type)
    expect(scratch.names(), "names", field="entries").equals([b"1"])


@MINORS
@proves(MAKES_THE_TYPE, killed_by="create4-keeps-the-current-filehandle")
def test_current_filehandle(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After CREATE the new object is the current one."""
    made = expect(compounds.compound(op.putfh(scratch.handle), op.mkdir(b"made"), op.getfh())).ok().handle
    expect_same_object(scratch, made, scratch.lookup("made") or b"", "filehandle after CREATE")


@MINORS
@pytest.mark.parametrize(
    "objtype",
    [NfsFtype4.NF4REG, NfsFtype4.NF4ATTRDIR, NfsFtype4.NF4NAMEDATTR],
    ids=["regular", "attrdir", "namedattr"],
)
@proves(REGULAR_IS_BADTYPE, killed_by="create4-regular-is-inval")
def test_bad_type(compounds: Compounds, scratch: Nfs4Scratch, objtype: NfsFtype4) -> None:
    """CREATE of a regular file, or of anything with named attributes, fails with BADTYPE."""
    reply = compounds.compound(op.putfh(scratch.handle), op.create(b"made", objtype))
    expect(reply).refused(Nfsstat4.NFS4ERR_BADTYPE, because=REGULAR_IS_BADTYPE)
    expect(scratch.names(), "names", field="entries").equals([])


@MINORS
@proves(EXISTING_IS_EXIST, killed_by="create4-existing-is-taken")
def test_exists(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CREATE of a name that exists fails with EXIST."""
    scratch.directory("directory")
    reply = compounds.compound(op.putfh(scratch.handle), op.mkdir(b"directory"))
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=EXISTING_IS_EXIST)


@MINORS
@proves(NEEDS_A_DIRECTORY, killed_by="create4-in-a-file-is-inval")
def test_in_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CREATE in a regular file fails with NOTDIR."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.mkdir(b"made"))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOTDIR, because=NEEDS_A_DIRECTORY)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="create4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """CREATE of an empty name fails with INVAL."""
    reply = compounds.compound(op.putfh(scratch.handle), op.mkdir(b""))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@MINORS
@proves(ATTRSET_IS_WHAT_WAS_SET, killed_by="create4-sets-no-mode")
def test_attrset(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """If the result says that the mode was set, the object has it."""
    making = op.mkdir(b"made", p.Fattr4(mode=0o750))
    reply = compounds.compound(op.putfh(scratch.handle), making, op.getattr("mode"))
    result = expect(reply).of(p.CREATE).ok()
    if "mode" not in p.names_of(result.attrset):
        skip("the result does not say that the mode was set")
    # A directory may inherit the bit for the group from its parent.
    mode = expect(reply).ok().attributes.mode or 0
    expect(mode & 0o777, "permission bits of the mode", field="mode").equals(0o750)


@MINORS
@proves(CHANGE_INFO, killed_by="create4-change-info-is-of-nothing")
def test_change_info(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """change_info has the change of the directory before and after CREATE, where it is atomic."""
    before = scratch.attributes(None, "change").change
    reply = compounds.compound(op.putfh(scratch.handle), op.mkdir(b"made"))
    cinfo = expect(reply).of(p.CREATE).ok().cinfo
    if not cinfo.atomic:
        skip("change_info is not atomic")
    expect(cinfo).field("before").equals(before or 0)
    expect(cinfo).field("after").equals(scratch.attributes(None, "change").change or 0)


# ---------------------------------------------------------------- attributes and devices

_INITIAL = {
    "directory": NfsFtype4.NF4DIR,
    "fifo": NfsFtype4.NF4FIFO,
}


def _make(compounds: Compounds, scratch: Nfs4Scratch, kind: str, attributes: p.Fattr4) -> CompoundReply:
    """The reply to CREATE with these attributes. SKIP if the server, or the user of the run, cannot do it."""
    making = op.create(b"made", _INITIAL[kind], attributes)
    reply = compounds.compound(op.putfh(scratch.handle), making, op.getfh())
    if reply.failed is p.CREATE and reply.status in {
        Nfsstat4.NFS4ERR_BADTYPE,
        Nfsstat4.NFS4ERR_BADOWNER,
        Nfsstat4.NFS4ERR_INVAL,
        Nfsstat4.NFS4ERR_NOTSUPP,  # `type` judges it
    }:
        skip(f"the server makes no {kind} with these attributes: {reply.status}")
    expect(reply).ok()
    return reply


@MINORS
@pytest.mark.parametrize("kind", _INITIAL)
@proves(ATTRSET_IS_WHAT_WAS_SET, killed_by="create4-swaps-times")
def test_initial_times(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """If the result says that times were set, the new object has the two times of the client."""
    asked = p.Fattr4(
        mode=0o750,
        time_access_set=p.client_time(1_000_000_000),
        time_modify_set=p.client_time(1_100_000_000, 500_000_000),
    )
    reply = _make(compounds, scratch, kind, asked)
    said = p.names_of(expect(reply).of(p.CREATE).ok().attrset)
    known = scratch.attributes(reply.handle, "time_access", "time_modify", "time_delta")
    if "time_access_set" not in said or "time_modify_set" not in said:
        skip("the result does not say that both times were set")
    expect_near(known, "time_access", 1_000_000_000)
    expect_near(known, "time_modify", 1_100_000_000)


@MINORS
@pytest.mark.parametrize("kind", _INITIAL)
@proves(ATTRSET_IS_WHAT_WAS_SET, killed_by="create4-keeps-the-owners", needs="root")
def test_initial_owners(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """If the result says that owner and group were set, they are not those of other new objects."""
    usual = scratch.attributes(scratch.directory("usual"), "owner", "owner_group")
    reply = _make(compounds, scratch, kind, p.Fattr4(mode=0o750, owner=b"4242", owner_group=b"4343"))
    said = p.names_of(expect(reply).of(p.CREATE).ok().attrset)
    known = scratch.attributes(reply.handle, "owner", "owner_group")
    if "owner" not in said or "owner_group" not in said:
        skip("the result does not say that owner and group were set")
    expect(known).field("owner").differs_from(usual.owner)
    expect(known).field("owner_group").differs_from(usual.owner_group)


@MINORS
@pytest.mark.parametrize("by", ["create", "open"])
@proves(MASKED_MODE_IS_FOR_SETATTR, killed_by="creations4-take-a-masked-mode")
def test_masked_mode(compounds: Compounds, scratch: Nfs4Scratch, by: str) -> None:
    """CREATE and OPEN with mode_set_masked are invalid, and create nothing."""
    if "mode_set_masked" not in supported_names(scratch, scratch.handle):
        unsupported("the server does not support mode_set_masked")
    asked = p.Fattr4(mode_set_masked=p.ModeMasked4(0o007, 0o007))
    making = op.mkdir(b"made", asked)
    opening = op.open(b"made", BOTH, owner=new_state_owner(), how=op.guarded(asked))
    reply = compounds.compound(op.putfh(scratch.handle), making if by == "create" else opening)
    expect(scratch.names(), "names", field="entries").equals([])
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=MASKED_MODE_IS_FOR_SETATTR)


@MINORS
@pytest.mark.parametrize("kind", ["block", "character"])
@proves(MAKES_THE_TYPE, DEVICE_NUMBERS, killed_by="create4-swaps-device-numbers", needs="device")
def test_device(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """CREATE makes a device of the type, with its two numbers."""
    devtype = NfsFtype4.NF4BLK if kind == "block" else NfsFtype4.NF4CHR
    making = op.create(b"made", p.Createtype4(devtype, devdata=p.Specdata4(7, 3)))
    reply = compounds.compound(op.putfh(scratch.handle), making, op.getattr("type", "rawdev"))
    if reply.failed is p.CREATE and reply.status == Nfsstat4.NFS4ERR_BADTYPE:
        skip(f"the server makes no {kind} devices")
    made = expect(reply).ok().attributes
    expect(made).field("type").equals(devtype)
    if made.rawdev is None:
        skip("the server does not support rawdev")
    seen = (made.rawdev.specdata1, made.rawdev.specdata2)
    expect(seen, "rawdev", because=DEVICE_NUMBERS).equals((7, 3))
