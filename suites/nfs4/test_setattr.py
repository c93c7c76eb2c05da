# SPDX-License-Identifier: MIT
"""SETATTR (RFC 5661 section 18.30)."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    must,
    proves,
    should,
    skip,
    stated,
    unsupported,
)
from suites.nfs4.attribute_values import expect_near, is_translated, supported_names
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, READ, another_client, open_file

SETS_ATTRIBUTES = stated(
    "RFC 5661",
    "18.30.3",
    "SETATTR changes one or more of the attributes of a file system object",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.32.4")},
)
ATTRSSET_IS_WHAT_WAS_SET = stated(
    "RFC 5661",
    "18.30.3",
    "attrsset represents what attributes were set, and is a subset of the bitmap in the arguments",
    also={"4.0": ("RFC 7530", "16.32.4")},
)
SETS_THE_SIZE = stated(
    "RFC 5661",
    "18.30.4",
    "a smaller size truncates the data, a larger one adds zeros",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.32.5")},
)
READ_ONLY_IS_INVALID = must("RFC 5661", "5.5", "an attempt to set a read-only attribute gets NFS4ERR_INVAL")
UNSUPPORTED_IS_ATTRNOTSUPP = should(
    "RFC 5661",
    "18.30.4",
    "an attribute in the request that the server does not support gets NFS4ERR_ATTRNOTSUPP",
    also={"4.0": ("RFC 7530", "16.32.5")},
)
SIZE_NEEDS_WRITING = must(
    "RFC 5661",
    "9.1.2",
    "SETATTR of the size with an open that does not allow writing gets NFS4ERR_OPENMODE",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "9.1.6")},
)
SIZE_OBEYS_SHARES = stated(
    "RFC 5661",
    "18.30.3",
    "SETATTR of the size is incompatible with a share reservation that denies writing",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.32.4")},
)
DENIAL_IS_LOCKED = should(  # said of READ and WRITE; a size "has the same locking requirements" (18.30.3)
    "RFC 5661",
    "9.1.2",
    "what an OPEN denies is rejected with NFS4ERR_LOCKED: WRITE, and so SETATTR of the size",
    also={"4.0": ("RFC 7530", "9.1.6")},
)
BAD_TIME_IS_INVALID = stated(
    "RFC 5661",
    "3.3.1",
    "values greater than 999,999,999 for nseconds are considered invalid",
    also={"4.0": ("RFC 7530", "2.2.1")},
)
OWNER_THAT_IT_HAS = should(
    "RFC 5661",
    "18.30.4",
    "setting the owner succeeds if the current owner of the object is the one in the request",
    also={"4.0": ("RFC 7530", "16.32.5")},
)
MODE_FOLLOWS_THE_ACL = must(
    "RFC 5661",
    "6.4.1.2",
    "when the ACL is set and the mode is not, the nine low bits of the mode match what the ACL allows",
)
ONLY_MASKED_BITS_CHANGE = stated(
    "RFC 5661", "6.2.5", "mode_set_masked changes the bits of the mode that its mask names, and no others"
)
MASKED_BITS_ARE_DEFINED = must(
    "RFC 5661",
    "6.2.5",
    "mode and mode_set_masked in one SETATTR, or bits that mode does not define, get NFS4ERR_INVAL",
)
_READS = p.ACE4_READ_DATA
_WRITES = p.ACE4_WRITE_DATA | p.ACE4_APPEND_DATA


def _need(scratch: Nfs4Scratch, file: bytes, *names: str) -> None:
    """UNSUPPORTED where the server lacks one of the attributes."""
    lacking = sorted(set(names) - set(supported_names(scratch, file)))
    if lacking:
        unsupported(f"the server does not support {', '.join(lacking)}")


def _need_settable_times(scratch: Nfs4Scratch, file: bytes) -> None:
    if scratch.attributes(file, "cansettime").cansettime is False:
        skip("the server says that times cannot be set (cansettime)")


@MINORS
@proves(SETS_ATTRIBUTES, killed_by="setattr4-sets-nothing")
def test_mode(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR sets the mode."""
    file = scratch.file("file", mode=0o644)
    expect(compounds.compound(op.putfh(file), op.setattr(Fattr4(mode=0o751)))).ok()
    expect(scratch.attributes(file, "mode")).field("mode").equals(0o751)


@MINORS
@proves(ATTRSSET_IS_WHAT_WAS_SET, killed_by="setattr4-says-that-all-was-set")
def test_attrsset(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """attrsset has what the request names, and nothing else."""
    reply = compounds.compound(op.putfh(scratch.file("file")), op.setattr(Fattr4(mode=0o600)))
    result = expect(reply).of(p.SETATTR).ok()
    expect(p.names_of(result.attrsset), "attrsset", of=result, field="attrsset").equals(["mode"])


@MINORS
@pytest.mark.parametrize("size", [0, 4, 20], ids=["empty", "shorter", "longer"])
@proves(SETS_THE_SIZE, killed_by="setattr4-ignores-the-size")
def test_size(compounds: Compounds, scratch: Nfs4Scratch, size: int) -> None:
    """SETATTR of the size cuts the data, or adds zeros."""
    file = scratch.file("file", b"0123456789")
    opened = open_file(compounds, file, BOTH)
    expect(compounds.compound(op.putfh(file), op.setattr(Fattr4(size=size), opened.stateid))).ok()
    expect(scratch.attributes(file, "size")).field("size").equals(size)
    expect_data(scratch.read(file), b"0123456789"[:size].ljust(size, b"\0"))


@MINORS
@pytest.mark.parametrize("kept", [0, 4], ids=["nothing", "some"])
@proves(SETS_THE_SIZE, killed_by="setattr4-extension-restores-old-data")
def test_cut_and_extended(compounds: Compounds, scratch: Nfs4Scratch, kept: int) -> None:
    """Data that SETATTR has cut off does not return when the file is extended again."""
    file = scratch.file("file", b"0123456789")
    opened = open_file(compounds, file, BOTH)
    for size in (kept, 10):
        expect(compounds.compound(op.putfh(file), op.setattr(Fattr4(size=size), opened.stateid))).ok()
    expect_data(scratch.read(file), b"0123456789"[:kept].ljust(10, b"\0"))


@MINORS
@proves(SETS_ATTRIBUTES, killed_by="setattr4-sets-times-of-the-server")
def test_times(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR sets the time of modification to what the client says."""
    file = scratch.file("file")
    _need_settable_times(scratch, file)
    reply = compounds.compound(
        op.putfh(file), op.setattr(Fattr4(time_modify_set=p.client_time(1_000_000_000)))
    )
    if reply.status == Nfsstat4.NFS4ERR_ATTRNOTSUPP:
        skip("the server does not support time_modify_set")
    expect(reply).ok()
    delta = scratch.attributes(file, "time_delta").time_delta
    found = scratch.attributes(file, "time_modify").time_modify
    assert found is not None
    width = 1 if delta is None else delta.seconds + 1
    expect(
        abs(found.seconds - 1_000_000_000),
        "seconds between the time that was set and time_modify",
        of=found,
        field="seconds",
    ).at_most(width)


@MINORS
@pytest.mark.parametrize("name", ["type", "change", "fsid", "lease_time", "time_modify"])
@proves(READ_ONLY_IS_INVALID, killed_by="setattr4-read-only-is-perm")
def test_read_only(compounds: Compounds, scratch: Nfs4Scratch, name: str) -> None:
    """SETATTR of a read-only attribute is invalid."""
    file = scratch.file("file")
    known = scratch.attributes(file, name)
    if getattr(known, name) is None:
        skip(f"the server does not support {name}")
    reply = compounds.compound(op.putfh(file), p.Setattr4Args(p.ANONYMOUS_STATEID, known))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=READ_ONLY_IS_INVALID)


@MINORS
@proves(UNSUPPORTED_IS_ATTRNOTSUPP, killed_by="setattr4-ignores-unsupported-attributes")
def test_unsupported(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of an attribute that is not in supported_attrs fails with ATTRNOTSUPP."""
    file = scratch.file("file")
    supported = p.names_of(scratch.attributes(file, "supported_attrs").supported_attrs or [])
    for name, value in {"archive": True, "hidden": True, "system": True, "retention_hold": 0}.items():
        if name not in supported:
            reply = compounds.compound(op.putfh(file), op.setattr(Fattr4().changed(**{name: value})))
            expect(reply).refused(Nfsstat4.NFS4ERR_ATTRNOTSUPP, because=UNSUPPORTED_IS_ATTRNOTSUPP)
            return
    skip("the server supports archive, hidden, system and retention_hold")


@MINORS
@proves(SIZE_NEEDS_WRITING, killed_by="setattr4-ignores-the-open-mode")
def test_size_needs_writing(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of the size with the stateid of an open for reading is refused, and changes nothing."""
    file = scratch.file("file", b"data")
    opened = open_file(compounds, file, READ)
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4(size=0), opened.stateid))
    expect(scratch.attributes(file, "size")).field("size").equals(4)
    expect(reply).refused(Nfsstat4.NFS4ERR_OPENMODE, because=SIZE_NEEDS_WRITING)


@MINORS
@proves(
    SIZE_OBEYS_SHARES, DENIAL_IS_LOCKED, killed_by=("setattr4-ignores-denials", "setattr4-denial-is-inval")
)
def test_size_that_is_denied(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of the size by another client fails with LOCKED while an open denies writing."""
    file = scratch.file("file", b"data")
    open_file(compounds, file, READ, p.OPEN4_SHARE_DENY_WRITE)
    reply = another_client(v4).compound(op.putfh(file), op.setattr(Fattr4(size=0)))
    expect(scratch.attributes(file, "size"), because=SIZE_OBEYS_SHARES).field("size").equals(4)
    expect(reply).refused(Nfsstat4.NFS4ERR_LOCKED, because=DENIAL_IS_LOCKED)


@MINORS
@proves(BAD_TIME_IS_INVALID, killed_by="setattr4-takes-any-nseconds")
def test_invalid_time(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A time with a billion nanoseconds is invalid."""
    time = p.Settime4(p.TimeHow4.SET_TO_CLIENT_TIME4, p.Nfstime4(1_000_000_000, 1_000_000_000))
    file = scratch.file("file")
    _need_settable_times(scratch, file)
    supported = scratch.attributes(file, "supported_attrs").supported_attrs or []
    if "time_modify_set" not in p.names_of(supported):
        skip("the server does not support time_modify_set")
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4(time_modify_set=time)))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=BAD_TIME_IS_INVALID)


# ---------------------------------------------------------------- attributes beyond mode and size


@MINORS
@proves(SETS_ATTRIBUTES, ATTRSSET_IS_WHAT_WAS_SET, killed_by="setattr4-keeps-the-group", needs="root")
def test_owners(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of owner and owner_group changes both, and attrsset has both."""
    file = scratch.file("file")
    _need(scratch, file, "owner", "owner_group")
    before = scratch.attributes(file, "owner", "owner_group")
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4(owner=b"4242", owner_group=b"4343")))
    if reply.status in {Nfsstat4.NFS4ERR_BADOWNER, Nfsstat4.NFS4ERR_INVAL}:
        skip(f"the server takes no decimal digits for an owner: {reply.status}")
    result = expect(reply).of(p.SETATTR).ok()
    expect(
        p.names_of(result.attrsset), "attrsset", of=result, field="attrsset", because=ATTRSSET_IS_WHAT_WAS_SET
    ).equals(["owner", "owner_group"])
    after = scratch.attributes(file, "owner", "owner_group")
    expect(after).field("owner").differs_from(before.owner)
    expect(after).field("owner_group").differs_from(before.owner_group)


@MINORS
@proves(OWNER_THAT_IT_HAS, killed_by="setattr4-owner-is-never-set")
def test_own_owner(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of the owner that a file has succeeds, and changes nothing."""
    file = scratch.file("file")
    _need(scratch, file, "owner")
    known = scratch.attributes(file, "owner")
    status = compounds.compound(op.putfh(file), op.setattr(known)).status
    if status == Nfsstat4.NFS4ERR_BADOWNER and not is_translated(known.owner or b""):
        skip("the server translates no name for the owner, and refuses what it says instead (section 5.9)")
    expect(scratch.attributes(file, "owner")).field("owner").equals(known.owner)
    if status and compounds.compound(op.putfh(file), op.setattr(Fattr4(mode=0o640))).status == status:
        skip(f"the server refuses SETATTR of the file, whatever it sets: {status.name}")
    expect(status, "status", field="status").equals(Nfsstat4.NFS4_OK)


@MINORS
@proves(MODE_FOLLOWS_THE_ACL, ATTRSSET_IS_WHAT_WAS_SET, killed_by="setattr4-acl-keeps-the-mode")
def test_acl(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of an ACL changes the permission bits of the mode, and attrsset has the ACL."""
    file = scratch.file("file", mode=0o666)
    _need(scratch, file, "acl", "mode")
    allowing = [(p.ACE4_WHO_OWNER, _READS | _WRITES), (p.ACE4_WHO_GROUP, _READS)]
    acl = [p.Nfsace4(p.ACE4_ACCESS_ALLOWED_ACE_TYPE, 0, mask, who) for who, mask in allowing]
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4(acl=acl)))
    if reply.failed is p.SETATTR:  # section 6.4.1: a server may refuse what it cannot store
        skip(f"the server does not take the ACL: {reply.status}")
    result = expect(reply).of(p.SETATTR).ok()
    expect(
        p.names_of(result.attrsset), "attrsset", of=result, field="attrsset", because=ATTRSSET_IS_WHAT_WAS_SET
    ).equals(["acl"])
    attributes = scratch.attributes(file, "mode")
    bits = (attributes.mode or 0) & 0o666
    expect(bits, "bits for reading and writing in the mode", of=attributes, field="mode").equals(0o640)


@MINORS
@proves(ONLY_MASKED_BITS_CHANGE, killed_by="setattr4-ignores-the-mask")
def test_masked_mode(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of mode_set_masked changes the bits of the mask, and keeps the others."""
    file = scratch.file("file", mode=0o640)
    _need(scratch, file, "mode_set_masked")
    before = scratch.attributes(file, "mode").mode or 0  # OPEN may not have set it
    masked = Fattr4(mode_set_masked=p.ModeMasked4(0o004, 0o007))
    expect(compounds.compound(op.putfh(file), op.setattr(masked))).ok()
    expect(scratch.attributes(file, "mode")).field("mode").equals(before & ~0o007 | 0o004)


@MINORS
@pytest.mark.parametrize("case", ["with-mode", "undefined"])
@proves(MASKED_BITS_ARE_DEFINED, killed_by="setattr4-takes-any-mask")
def test_invalid_mask(compounds: Compounds, scratch: Nfs4Scratch, case: str) -> None:
    """mode_set_masked together with mode, or with bits that no mode has, is invalid."""
    file = scratch.file("file", mode=0o640)
    _need(scratch, file, "mode_set_masked")
    asked = Fattr4(mode_set_masked=p.ModeMasked4(0o004, 0o10007))
    if case == "with-mode":
        asked = Fattr4(mode=0o600, mode_set_masked=p.ModeMasked4(0o004, 0o007))
    reply = compounds.compound(op.putfh(file), op.setattr(asked))
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=MASKED_BITS_ARE_DEFINED)


@MINORS
@proves(SETS_ATTRIBUTES, ATTRSSET_IS_WHAT_WAS_SET, killed_by="setattr4-swaps-times")
def test_both_times(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR sets the times of access and modification to two times of the client, and attrsset has both."""
    file = scratch.file("file")
    _need_settable_times(scratch, file)
    _need(scratch, file, "time_access_set", "time_modify_set")
    asked = Fattr4(
        time_access_set=p.client_time(1_000_000_000, 250_000_000),
        time_modify_set=p.client_time(1_100_000_000),
    )
    result = expect(compounds.compound(op.putfh(file), op.setattr(asked))).of(p.SETATTR).ok()
    expect(
        p.names_of(result.attrsset), "attrsset", of=result, field="attrsset", because=ATTRSSET_IS_WHAT_WAS_SET
    ).equals(["time_access_set", "time_modify_set"])
    known = scratch.attributes(file, "time_access", "time_modify", "time_delta")
    expect_near(known, "time_access", 1_000_000_000)
    expect_near(known, "time_modify", 1_100_000_000)


@MINORS
@pytest.mark.parametrize("which", ["access", "modify"])
@proves(SETS_ATTRIBUTES, killed_by="setattr4-server-time-changes-nothing")
def test_server_time(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """SETATTR with SET_TO_SERVER_TIME4 sets one time to that of the server, and keeps the other one."""
    file = scratch.file("file")
    _need_settable_times(scratch, file)
    _need(scratch, file, "time_access_set", "time_modify_set")
    old = p.client_time(1_000_000_000)
    expect(
        compounds.compound(op.putfh(file), op.setattr(Fattr4(time_access_set=old, time_modify_set=old)))
    ).ok()
    asked = Fattr4().changed(**{f"time_{which}_set": p.SERVER_TIME})
    expect(compounds.compound(op.putfh(file), op.setattr(asked))).ok()
    known = scratch.attributes(file, "time_access", "time_modify", "time_delta")
    moved = getattr(known, f"time_{which}")
    expect(moved).field("seconds", f"seconds of time_{which}").at_least(1_000_000_001)
    expect_near(known, "time_modify" if which == "access" else "time_access", 1_000_000_000)


@MINORS
@proves(SETS_ATTRIBUTES, ATTRSSET_IS_WHAT_WAS_SET, killed_by="setattr4-creation-time-is-mtime")
def test_time_create(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR sets the time of creation, and keeps the time of modification."""
    file = scratch.file("file")
    _need_settable_times(scratch, file)
    _need(scratch, file, "time_create")
    before = scratch.attributes(file, "time_modify").time_modify
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4(time_create=p.Nfstime4(1_000_000_000))))
    if reply.status in {Nfsstat4.NFS4ERR_INVAL, Nfsstat4.NFS4ERR_ATTRNOTSUPP}:
        skip(f"the server has a time of creation, and does not set it: {reply.status}")
    result = expect(reply).of(p.SETATTR).ok()
    if not p.names_of(result.attrsset):
        skip("the server has a time of creation, and says that it did not set it (attrsset)")
    expect(
        p.names_of(result.attrsset), "attrsset", of=result, field="attrsset", because=ATTRSSET_IS_WHAT_WAS_SET
    ).equals(["time_create"])
    known = scratch.attributes(file, "time_create", "time_modify", "time_delta")
    expect_near(known, "time_create", 1_000_000_000)
    expect(known).field("time_modify").equals(before)
