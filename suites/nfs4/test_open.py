# SPDX-License-Identifier: MIT
"""OPEN (RFC 5661 section 18.16): files, share reservations, creation."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch, new_state_owner, note_open, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    must,
    observe,
    proves,
    should,
    skip,
    stated,
)
from suites.nfs4.attribute_values import expect_near, supported_names
from suites.nfs4.clauses import CHANGE_INFO, OWNERS_CLIENTID_IS_IGNORED
from suites.nfs4.common import CommonNfs4
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import (
    BOTH,
    READ,
    WRITE,
    another_client,
    create_file,
    need_exclusive,
    need_exclusive_creation,
    open_file,
    try_open,
)
from suites.replies import need_done

OPENS_A_REGULAR_FILE = stated("RFC 5661", "18.16.3", "OPEN opens a regular file, by name or by filehandle")
NOENT_WITHOUT_CREATE = stated(
    "RFC 5661",
    "15.1.4.8",
    "NFS4ERR_NOENT: the file or directory that is named does not exist",
    also={"4.0": ("RFC 7530", "13.1.4.8")},
)
CREATES = stated(
    "RFC 5661", "18.16.3", "upon success the current filehandle is that of the created or existing object"
)
GUARDED_FINDS_A_DUPLICATE = stated(
    "RFC 5661",
    "18.16.3",
    "GUARDED4: if an object of that name exists, NFS4ERR_EXIST is returned",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
UNCHECKED_TAKES_THE_EXISTING = stated(
    "RFC 5661",
    "18.16.3",
    "UNCHECKED4: an existing regular file is no error; of the attributes only a size of 0 counts",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
EXCLUSIVE_COMPARES_THE_VERIFIER = stated(
    "RFC 5661",
    "18.16.3",
    "exclusive create: an object with the same verifier is used, with another one it is NFS4ERR_EXIST",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
DIRECTORY_IS_ISDIR = should(
    "RFC 5661", "18.16.4", "if the component or filehandle is a directory, NFS4ERR_ISDIR is returned"
)
DENIES_OTHERS = stated(
    "RFC 5661",
    "9.7",
    "an OPEN whose access is denied by another open, or that denies what another has, gets NFS4ERR_SHARE_DENIED",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.16.5")},
)
SAME_OWNER_SAME_STATEID = stated(
    "RFC 5661",
    "18.16.3",
    "a second OPEN by the same owner returns the stateid with the same other field and the next seqid",
    also={"4.0": ("RFC 7530", "16.16.5")},
)
CONFIRM_IS_NOT_RETURNED = must("RFC 5661", "18.16.3", "OPEN4_RESULT_CONFIRM is not returned")
EMPTY_NAME_IS_INVALID = stated(
    "RFC 5661",
    "18.16.3",
    "OPEN of a name of zero length gets NFS4ERR_INVAL",
    also={"4.0": ("RFC 7530", "16.16.5")},
)
SHARES_ARE_CHECKED = must(
    "RFC 5661",
    "18.16.4",
    "other values than those that are valid for share_access and share_deny get NFS4ERR_INVAL",
    also={"4.0": ("RFC 7530", "16.16.6")},
)
ATTRSET_IS_WHAT_WAS_SET = stated(
    "RFC 5661",
    "18.16.3",
    "the attribute mask in the result signifies which attributes were set",
    also={"4.0": ("RFC 7530", "16.16.5")},
)
EXCLUSIVE_SETS_SOME = must(
    "RFC 5661", "18.16.3", "an attribute in cva_attrs that is not in suppattr_exclcreat gets NFS4ERR_INVAL"
)
CLAIMS_WHAT_WAS_GRANTED = stated(
    "RFC 5661",
    "18.16.3",
    "with CLAIM_DELEGATE_CUR and CLAIM_DELEG_CUR_FH the client claims a delegation that the server has granted",
)


@MINORS
@proves(CREATES, killed_by="open4-keeps-the-current-filehandle")
def test_creates(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN creates a file, and makes it the current one."""
    made = create_file(compounds, scratch.handle, b"made")
    expect_same_object(scratch, scratch.lookup("made"), made.handle, "handle of the new name")
    expect(scratch.attributes(made.handle)).field("type").equals(p.NfsFtype4.NF4REG)


@MINORS
@proves(NOENT_WITHOUT_CREATE, killed_by="open4-creates-always")
def test_noent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN of a name that does not exist, without creating, fails with NOENT."""
    reply = compounds.compound(op.putfh(scratch.handle), op.open(b"absent", owner=new_state_owner()))
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=NOENT_WITHOUT_CREATE)
    expect(scratch.names(), "names", field="entries").equals([])


@MINORS
@proves(GUARDED_FINDS_A_DUPLICATE, killed_by=("open4-guarded-is-unchecked", "open4-guarded-empties"))
def test_guarded(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """GUARDED4 of a name that exists fails with EXIST, and the file stays as it is."""
    file = scratch.file("file", b"data")
    how = op.guarded(p.Fattr4(size=0))
    reply = compounds.compound(
        op.putfh(scratch.handle), op.open(b"file", BOTH, owner=new_state_owner(), how=how)
    )
    expect_data(scratch.read(file), b"data")
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=GUARDED_FINDS_A_DUPLICATE)


@MINORS
@proves(EXCLUSIVE_COMPARES_THE_VERIFIER, killed_by="open4-exclusive-empties")
def test_exclusive_keeps_data(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """EXCLUSIVE4_1 of a file that was made otherwise fails, and the file keeps its data."""
    need_exclusive(compounds)
    file = scratch.file("file", b"data")
    how = op.exclusive4_1(b"verifier", p.Fattr4())
    reply = compounds.compound(
        op.putfh(scratch.handle), op.open(b"file", BOTH, owner=new_state_owner(), how=how)
    )
    expect_data(scratch.read(file), b"data")
    need_exclusive_creation(reply)
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=EXCLUSIVE_COMPARES_THE_VERIFIER)


@pytest.mark.parametrize("how", ["removed", "replaced"])
@proves(EXCLUSIVE_COMPARES_THE_VERIFIER, killed_by="open4-exclusive-remembers-names")
def test_exclusive_name_reused(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch, how: str) -> None:
    """EXCLUSIVE4_1 with a verifier of before fails when the name is that of another file now, which stays."""
    need_exclusive(compounds)
    creating = op.exclusive4_1(b"verifier", p.Fattr4())
    made = create_file(compounds, scratch.handle, b"file", creating, may_lack_exclusive=True)
    expect(compounds.compound(op.putfh(made.handle), op.close(made.stateid))).ok()
    new = scratch.file("new", b"theirs")
    other, where = CommonNfs4(another_client(v4)), scratch.handle
    if how == "removed":
        need_done(other, lambda: other.remove(where, b"file"), "REMOVE")
    need_done(other, lambda: other.rename(where, b"new", b"file"), "RENAME")
    new = scratch.lookup("file") or new
    opening = op.open(b"file", BOTH, owner=new_state_owner(), how=creating)
    reply = compounds.compound(op.putfh(scratch.handle), opening)
    expect_data(scratch.read(new), b"theirs")
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=EXCLUSIVE_COMPARES_THE_VERIFIER)


@MINORS
@proves(UNCHECKED_TAKES_THE_EXISTING, killed_by="open4-unchecked-keeps-the-data")
def test_unchecked_truncates(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """UNCHECKED4 with a size of 0 truncates a file that exists."""
    file = scratch.file("file", b"data")
    opened = create_file(compounds, scratch.handle, b"file", op.unchecked(p.Fattr4(size=0)))
    expect_same_object(scratch, opened.handle, file, "handle")
    expect(scratch.attributes(file)).field("size").equals(0)


@MINORS
@proves(UNCHECKED_TAKES_THE_EXISTING, killed_by="open4-unchecked-always-truncates")
def test_unchecked_keeps_mode(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """UNCHECKED4 of a file that exists does not set its mode, and keeps its data."""
    file = scratch.file("file", b"data", mode=0o640)
    create_file(compounds, scratch.handle, b"file", op.unchecked(p.Fattr4(mode=0o666)))
    expect(scratch.attributes(file)).field("mode").equals(0o640)
    expect_data(scratch.read(file), b"data")


@MINORS
@proves(EXCLUSIVE_COMPARES_THE_VERIFIER, killed_by="open4-exclusive-forgets-the-verifier")
def test_exclusive_again(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """EXCLUSIVE4_1 with the verifier of before finds the file, with another one fails with EXIST."""
    need_exclusive(compounds)
    no_attributes = p.Fattr4()
    made = create_file(compounds, scratch.handle, b"file", op.exclusive4_1(b"verifier", no_attributes))
    again = create_file(compounds, scratch.handle, b"file", op.exclusive4_1(b"verifier", no_attributes))
    expect_same_object(scratch, again.handle, made.handle, "handle")
    how = op.exclusive4_1(b"another!", no_attributes)
    reply = compounds.compound(
        op.putfh(scratch.handle), op.open(b"file", BOTH, owner=new_state_owner(), how=how)
    )
    expect(reply).refused(Nfsstat4.NFS4ERR_EXIST, because=EXCLUSIVE_COMPARES_THE_VERIFIER)


@MINORS
@proves(DIRECTORY_IS_ISDIR, killed_by="open4-directory-is-inval")
def test_directory(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN of a directory by name fails with ISDIR."""
    scratch.directory("directory")
    reply = compounds.compound(op.putfh(scratch.handle), op.open(b"directory", READ, owner=new_state_owner()))
    expect(reply).refused(Nfsstat4.NFS4ERR_ISDIR, because=DIRECTORY_IS_ISDIR)


@MINORS
@proves(EMPTY_NAME_IS_INVALID, killed_by="open4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN of an empty name fails with INVAL."""
    how = op.guarded()
    reply = compounds.compound(op.putfh(scratch.handle), op.open(b"", BOTH, owner=new_state_owner(), how=how))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@MINORS
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((READ, p.OPEN4_SHARE_DENY_WRITE), (WRITE, p.OPEN4_SHARE_DENY_NONE)),
        ((WRITE, p.OPEN4_SHARE_DENY_READ), (READ, p.OPEN4_SHARE_DENY_NONE)),
        ((BOTH, p.OPEN4_SHARE_DENY_NONE), (READ, p.OPEN4_SHARE_DENY_WRITE)),
        ((BOTH, p.OPEN4_SHARE_DENY_BOTH), (READ, p.OPEN4_SHARE_DENY_NONE)),
    ],
    ids=["write", "read", "has-write", "both"],
)
@proves(DENIES_OTHERS, killed_by="open4-ignores-deny")
def test_share_denied(
    v4: Nfs4Dialect,
    compounds: Compounds,
    scratch: Nfs4Scratch,
    first: tuple[int, int],
    second: tuple[int, int],
) -> None:
    """An OPEN that conflicts with the share reservation of another client fails with SHARE_DENIED."""
    file = scratch.file("file")
    open_file(compounds, file, *first)
    reply = try_open(another_client(v4), file, *second)
    expect(reply).refused(Nfsstat4.NFS4ERR_SHARE_DENIED, because=DENIES_OTHERS)


@MINORS
@proves(DENIES_OTHERS, killed_by="open4-denies-always")
def test_share_granted(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPENs of two clients that deny nothing do not conflict."""
    file = scratch.file("file")
    open_file(compounds, file, BOTH)
    expect(try_open(another_client(v4), file, BOTH)).ok()


@MINORS
@proves(SAME_OWNER_SAME_STATEID, killed_by="open4-second-gets-another-stateid")
def test_upgrade(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A second OPEN by the same owner returns the same stateid, one seqid on."""
    file, owner = scratch.file("file"), new_state_owner()
    first = open_file(compounds, file, READ, owner=owner).stateid
    second = open_file(compounds, file, WRITE, owner=owner).stateid
    expect(second).field("other").equals(first.other)
    expect(second).field("seqid").equals(first.seqid + 1)


@MINORS
@proves(CONFIRM_IS_NOT_RETURNED, killed_by="open4-wants-confirmation")
def test_confirm(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN does not ask for OPEN_CONFIRM."""
    opened = open_file(compounds, scratch.file("file"))
    result = opened.result
    expect(result.rflags & p.OPEN4_RESULT_CONFIRM, "OPEN4_RESULT_CONFIRM", of=result, field="rflags").equals(
        0
    )


@MINORS
@proves(CHANGE_INFO, killed_by="open4-change-info-is-of-nothing")
def test_change_info(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """change_info of an OPEN that creates has the change of the directory, where it is atomic."""
    before = scratch.attributes(None, "change").change
    cinfo = create_file(compounds, scratch.handle, b"made").result.cinfo
    after = scratch.attributes(None, "change").change
    if not cinfo.atomic:
        skip("change_info is not atomic")
    expect(cinfo).field("before").equals(before or 0)
    expect(cinfo).field("after").equals(after or 0)


@MINORS
@proves(OWNERS_CLIENTID_IS_IGNORED, killed_by="open4-compares-the-clientid")
def test_clientid_of_owner(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """What OPEN returns works although the client ID in the open-owner is another one."""
    file = scratch.file("file", b"data")
    owner = p.StateOwner4(compounds.clientid ^ 1, new_state_owner())
    stateid = open_file(compounds, file, READ, owner=owner).stateid
    expect(compounds.compound(op.putfh(file), op.read(stateid, 0, 4))).ok()
    expect(compounds.compound(op.putfh(file), op.close(stateid))).ok()


# ---------------------------------------------------------------- each field and value


@MINORS
@pytest.mark.parametrize(
    ("access", "deny"),
    [(0, 0), (4, 0), (8 | p.OPEN4_SHARE_ACCESS_READ, 0), (p.OPEN4_SHARE_ACCESS_READ, 4)],
    ids=["no-access", "access-4", "access-9", "deny-4"],
)
@proves(SHARES_ARE_CHECKED, killed_by="open4-takes-any-share")
def test_invalid_share(compounds: Compounds, scratch: Nfs4Scratch, access: int, deny: int) -> None:
    """An OPEN without access, or with values of share_access and share_deny that are not defined, is invalid."""
    reply = try_open(compounds, scratch.file("file"), access, deny)
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=SHARES_ARE_CHECKED)


@MINORS
@pytest.mark.parametrize("mode", ["unchecked", "guarded"])
@proves(ATTRSET_IS_WHAT_WAS_SET, killed_by=("open4-swaps-times", "open4-says-that-the-size-was-set"))
def test_initial(compounds: Compounds, scratch: Nfs4Scratch, mode: str) -> None:
    """A file that OPEN creates has each attribute of which the result says that it was set."""
    asked = p.Fattr4(
        size=5,
        mode=0o640,
        time_access_set=p.client_time(1_000_000_000),
        time_modify_set=p.client_time(1_100_000_000, 500_000_000),
    )
    how = (op.unchecked if mode == "unchecked" else op.guarded)(asked)
    creating = op.open(b"made", BOTH, owner=new_state_owner(), how=how)
    reply = through_grace(compounds, op.putfh(scratch.handle), creating, op.getfh())
    if reply.failed is p.OPEN and reply.status == Nfsstat4.NFS4ERR_INVAL:
        skip("the server creates no file with these attributes")
    result = expect(reply).of(p.OPEN).ok()
    note_open(compounds, reply.handle, result.stateid)
    said = p.names_of(result.attrset)
    known = scratch.attributes(reply.handle, "size", "mode", "time_access", "time_modify", "time_delta")
    # It tells what was set for the object, maybe more than the request names; not so in SETATTR (section 18.30.3).
    observe(
        "attributes besides those of the request", " ".join(sorted({*said} - {*p.names_of(asked.attrmask)}))
    )
    if "size" in said:
        expect(known).field("size").equals(5)
    if "mode" in said:
        expect(known).field("mode").equals(0o640)
    if "time_access_set" in said:
        expect_near(known, "time_access", 1_000_000_000)
    if "time_modify_set" in said:
        expect_near(known, "time_modify", 1_100_000_000)


@MINORS
@proves(UNCHECKED_TAKES_THE_EXISTING, killed_by="open4-unchecked-sets-any-size")
def test_unchecked_keeps_size(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """UNCHECKED4 of a file that exists keeps its data, if the size in the request is not 0."""
    file = scratch.file("file", b"data")
    create_file(compounds, scratch.handle, b"file", op.unchecked(p.Fattr4(size=2)))
    expect_data(scratch.read(file), b"data")


@MINORS
@proves(EXCLUSIVE_SETS_SOME, killed_by="open4-exclusive-ignores-attributes")
def test_exclusive_attributes(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """EXCLUSIVE4_1 with an attribute that is not in suppattr_exclcreat is invalid, and creates nothing."""
    known = scratch.attributes(None, "suppattr_exclcreat").suppattr_exclcreat
    supported = supported_names(scratch, scratch.handle)
    candidates = [
        ("time_modify_set", p.client_time(1_000_000_000)),
        ("time_access_set", p.client_time(1_000_000_000)),
        ("mode_set_masked", p.ModeMasked4(0o007, 0o007)),
    ]
    for name, value in candidates:
        if known is not None and name in supported and name not in p.names_of(known):
            how = op.exclusive4_1(b"verifier", p.Fattr4().changed(**{name: value}))
            creating = op.open(b"made", BOTH, owner=new_state_owner(), how=how)
            reply = through_grace(compounds, op.putfh(scratch.handle), creating)
            expect(scratch.names(), "names", field="entries").equals([])
            expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EXCLUSIVE_SETS_SOME)
            return
    skip("suppattr_exclcreat has the times, and mode_set_masked is not supported")


@MINORS
@pytest.mark.parametrize("claim", ["delegate_cur", "deleg_cur_fh"])
@proves(CLAIMS_WHAT_WAS_GRANTED, killed_by="open4-takes-any-delegation")
def test_claim_of_nothing(compounds: Compounds, scratch: Nfs4Scratch, claim: str) -> None:
    """An OPEN that claims a delegation with the stateid of an open is refused."""
    file = scratch.file("file")
    stateid = open_file(compounds, file).stateid
    where, asked = file, op.claim_deleg_cur_fh(stateid)
    if claim == "delegate_cur":
        where, asked = scratch.handle, op.claim_delegate_cur(stateid, b"file")
    reply = compounds.compound(op.putfh(where), op.open(asked, READ, owner=new_state_owner()))
    observe(f"claim of {claim}", reply.status.name)
    expect(reply).refused()
