# SPDX-License-Identifier: MIT
"""GETATTR (RFC 5661 sections 5.4 to 5.8): the values of single attributes, and how values agree with each other."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import ATTRIBUTES, NUMBERS, Fattr4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import expect, must, proves, should, skip, stated, unsupported
from suites.nfs4.attribute_values import made_object, supported_names
from suites.nfs4.handles import expect_same_object

SUPPORT_IS_OF_THE_FILE_SYSTEM = stated(
    "RFC 5661",
    "5.8.1.1",
    "supported_attrs, as suppattr_exclcreat (section 5.8.1.14), applies to all objects with a matching fsid",
)
HOMOGENEOUS_IS_ALIKE = stated(
    "RFC 5661",
    "5.8.2.16",
    "homogeneous: all objects with the same fsid have common values for all per-file-system attributes",
)
LEASE_IS_OF_THE_SERVER = stated(
    "RFC 5661", "5.4", "lease_time is a per-server attribute: all objects have one value"
)
EXCLCREAT_IS_SUPPORTED = stated(
    "RFC 5661", "5.8.1.14", "suppattr_exclcreat has attributes that are supported"
)
EXCLCREAT_CAN_BE_SET = stated(
    "RFC 5661",
    "5.8.1.14",
    "suppattr_exclcreat has attributes that EXCLUSIVE4_1 sets, so none that is read-only",
)
FREE_IS_A_PART = stated(
    "RFC 5661",
    "5.8.2.33",
    "space_free is free space, of which space_total is all",
)
FREE_SLOTS_ARE_A_PART = (
    should(  # no text says that they are never more: a server may make slots as it needs them
        "RFC 5661", "5.8.2.9", "files_free are free slots, of which files_total should be all"
    )
)
AVAILABLE_IS_THE_SMALLEST = should(
    "RFC 5661",
    "5.8.2.32",
    "space_avail and files_avail should be the smallest relevant limit: free space and free slots are such limits",
)
FILEHANDLE_IS_THE_OBJECTS = stated(
    "RFC 5661", "5.8.1.13", "attribute filehandle is the filehandle of the object"
)
NAMED_ATTR_IS_FALSE = stated(
    "RFC 5661", "5.8.1.8", "named_attr is TRUE for an object with named attributes only"
)
NOT_MOUNTED_IS_FILEID = stated(
    "RFC 5661", "5.8.2.23", "where nothing is mounted, mounted_on_fileid is the same as fileid"
)
MOUNTED_ON_IS_THE_ENTRYS = should(
    "RFC 5661",
    "5.8.2.23",
    "mounted_on_fileid by GETATTR should be that of the entry in the directory above",
)
CHARSET_FLAGS_EXCLUDE = must(
    "RFC 5661",
    "14.4",
    "if FSCHARSET_CAP4_ALLOWS_ONLY_UTF8 is set, FSCHARSET_CAP4_CONTAINS_NON_UTF8 is not",
)
ALLOW_AND_DENY = should(
    "RFC 5661", "6.2.1.2", "servers that support either ALLOW or DENY ACEs should support both"
)
NSECONDS_ARE_LESS = stated("RFC 5661", "3.3.1", "nseconds of a time are below 1,000,000,000")
DELTA_IS_A_TIME = should(  # "smallest useful server time granularity": that none is useful, no text says
    "RFC 5661", "5.8.2.41", "time_delta is a granularity: it should be more than nothing"
)
NUMLINKS_COUNT = stated("RFC 5661", "5.8.2.25", "numlinks is the number of hard links to the object")
_KINDS: t.Final = ("file", "directory", "link", "fifo")
_DRIFTING: t.Final = {
    *("files_avail", "files_free", "files_total", "space_avail", "space_free", "space_total", "fs_status")
}
_FEW: t.Final = 12
"""Attributes at once."""


def _need(scratch: Nfs4Scratch, *names: str) -> None:
    """UNSUPPORTED where the server lacks one of the attributes."""
    lacking = sorted(set(names) - set(supported_names(scratch, scratch.handle)))
    if lacking:
        unsupported(f"the server does not support {', '.join(lacking)}")


def _others(scratch: Nfs4Scratch, *names: str) -> tuple[Fattr4, dict[str, Fattr4]]:
    """These attributes of the directory of the check, and of objects in it with the same fsid."""
    known = scratch.attributes(None, "fsid", *names)
    made = {kind: scratch.attributes(made_object(scratch, kind), "fsid", *names) for kind in _KINDS}
    return known, {kind: seen for kind, seen in made.items() if seen.fsid == known.fsid}


@pytest.mark.parametrize("name", ["supported_attrs", "suppattr_exclcreat"], ids=["supported", "exclcreat"])
@proves(SUPPORT_IS_OF_THE_FILE_SYSTEM, killed_by="getattr4-links-support-less")
def test_scope(scratch: Nfs4Scratch, name: str) -> None:
    """supported_attrs, and suppattr_exclcreat, are the same for objects of all types in one file system."""
    known, others = _others(scratch, name)
    wanted = p.names_of(getattr(known, name) or [])
    for kind, seen in others.items():
        names = p.names_of(getattr(seen, name) or [])
        expect(names, f"{name} of a {kind}", of=seen, field=name).equals(wanted)


@proves(HOMOGENEOUS_IS_ALIKE, killed_by="getattr4-maxname-is-of-the-type")
def test_homogeneous(scratch: Nfs4Scratch) -> None:
    """Where homogeneous is TRUE, per-file-system attributes have one value for objects of all types."""
    if not scratch.attributes(None, "homogeneous").homogeneous:
        unsupported("the server does not say that the file system is homogeneous")
    names = [
        name
        for name in supported_names(scratch, scratch.handle)
        if ATTRIBUTES[NUMBERS[name]].about.per == "fs" and name not in _DRIFTING
    ]
    objects = {kind: made_object(scratch, kind) for kind in _KINDS}
    for at in range(0, len(names), _FEW):
        some = names[at : at + _FEW]
        known = scratch.attributes(None, "fsid", *some)
        for kind, handle in objects.items():
            seen = scratch.attributes(handle, "fsid", *some)
            for name in some if seen.fsid == known.fsid else ():
                expect(seen).field(name, f"{name} of a {kind}").equals(getattr(known, name))


@proves(LEASE_IS_OF_THE_SERVER, killed_by="getattr4-lease-is-of-the-object")
def test_lease_time(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """lease_time of a file is that of the root of the server."""
    root = expect(compounds.compound(op.putrootfh(), op.getattr("lease_time"))).ok().attributes
    seen = scratch.attributes(scratch.file("file"), "lease_time")
    expect(seen).field("lease_time").equals(root.lease_time)


def _excl(scratch: Nfs4Scratch) -> tuple[Fattr4, list[str]]:
    known = scratch.attributes(None, "supported_attrs", "suppattr_exclcreat")
    return known, p.names_of(known.suppattr_exclcreat or [])


@proves(EXCLCREAT_IS_SUPPORTED, killed_by="getattr4-exclcreat-has-retention-hold")
def test_exclcreat_supported(scratch: Nfs4Scratch) -> None:
    """Each attribute in suppattr_exclcreat is in supported_attrs."""
    known, names = _excl(scratch)
    beyond = [name for name in names if name not in p.names_of(known.supported_attrs or [])]
    expect(beyond, "attributes that are not in supported_attrs", of=known, field="suppattr_exclcreat").equals(
        []
    )


@proves(EXCLCREAT_CAN_BE_SET, killed_by="getattr4-exclcreat-has-change")
def test_exclcreat_settable(scratch: Nfs4Scratch) -> None:
    """No attribute in suppattr_exclcreat is read-only."""
    known, names = _excl(scratch)
    read_only = [
        name for name in names if name in NUMBERS and not ATTRIBUTES[NUMBERS[name]].about.is_settable
    ]
    expect(read_only, "read-only attributes", of=known, field="suppattr_exclcreat").equals([])


_OF_FREE: t.Final = ("getattr4-more-is-free-than-there-is", "getattr4-more-is-available-than-free")


@proves(FREE_IS_A_PART, AVAILABLE_IS_THE_SMALLEST, killed_by=_OF_FREE)
def test_free_space(scratch: Nfs4Scratch) -> None:
    """The space that is available is not more than what is free, and that not more than all."""
    _need(scratch, "space_avail", "space_free", "space_total")
    known: t.Any = scratch.attributes(scratch.file("file"), "space_avail", "space_free", "space_total")
    expect(known, because=FREE_IS_A_PART).field("space_free").at_most(known.space_total)
    expect(known, because=AVAILABLE_IS_THE_SMALLEST).field("space_avail").at_most(known.space_free)


@proves(FREE_SLOTS_ARE_A_PART, AVAILABLE_IS_THE_SMALLEST, killed_by=_OF_FREE)
def test_free_files(scratch: Nfs4Scratch) -> None:
    """The file slots that are available are not more than those that are free, and these not more than all."""
    _need(scratch, "files_avail", "files_free", "files_total")
    known: t.Any = scratch.attributes(scratch.file("file"), "files_avail", "files_free", "files_total")
    expect(known, because=FREE_SLOTS_ARE_A_PART).field("files_free").at_most(known.files_total)
    expect(known, because=AVAILABLE_IS_THE_SMALLEST).field("files_avail").at_most(known.files_free)


@pytest.mark.parametrize("kind", _KINDS)
@proves(FILEHANDLE_IS_THE_OBJECTS, killed_by="getattr4-filehandle-is-the-roots")
def test_filehandle(scratch: Nfs4Scratch, kind: str) -> None:
    """The attribute filehandle is a filehandle of the object."""
    made = made_object(scratch, kind)
    seen = scratch.attributes(made, "filehandle")
    expect(seen).field("filehandle").is_present()
    expect_same_object(scratch, bytes(seen.filehandle or b""), made, f"{kind} by its attribute filehandle")


@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(NAMED_ATTR_IS_FALSE, killed_by="getattr4-all-have-named-attributes")
def test_no_named_attributes(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """named_attr is FALSE for an object without a named attribute directory."""
    made = made_object(scratch, kind)
    reply = compounds.compound(op.putfh(made), op.openattr())
    if reply.status not in {Nfsstat4.NFS4ERR_NOENT, Nfsstat4.NFS4ERR_NOTSUPP}:
        skip(f"OPENATTR of a new {kind} answers {reply.status}")
    expect(scratch.attributes(made, "named_attr")).field("named_attr").is_false()


@pytest.mark.parametrize("kind", _KINDS)
@proves(NOT_MOUNTED_IS_FILEID, killed_by="getattr4-mounted-on-is-the-root")
def test_mounted_on(scratch: Nfs4Scratch, kind: str) -> None:
    """mounted_on_fileid of an object on which nothing is mounted is its fileid."""
    _need(scratch, "fileid", "mounted_on_fileid")
    seen = scratch.attributes(made_object(scratch, kind), "fileid", "mounted_on_fileid")
    expect(seen).field("mounted_on_fileid").equals(seen.fileid)


@proves(MOUNTED_ON_IS_THE_ENTRYS, killed_by="getattr4-mounted-on-is-of-the-mounted")
def test_mounted_on_of_root(v4: Nfs4Dialect, compounds: Compounds) -> None:
    """mounted_on_fileid of the root of an export is that of its entry in the directory above."""
    *above, name = _way(v4)
    asked = ("fsid", "mounted_on_fileid")
    listing = (*above, op.readdir(attributes=asked))
    page = expect(compounds.compound(*listing)).of(p.READDIR).ok()
    assert isinstance(name, p.Lookup4Args)
    entry = next((entry for entry in page.reply.entries if entry.name == name.objname), None)
    seen = expect(compounds.compound(*above, name, op.getattr(*asked))).ok().attributes
    if entry is None or entry.attrs.mounted_on_fileid is None or seen.mounted_on_fileid is None:
        unsupported("the directory above the export does not show mounted_on_fileid")
    expect(seen).field("mounted_on_fileid").equals(entry.attrs.mounted_on_fileid)


def _way(v4: Nfs4Dialect) -> list[XdrType]:
    """Operations that make the export the current filehandle. UNSUPPORTED where it is the root of the server."""
    path = v4.connections.address.export.encode("utf-8", "surrogateescape")
    names = [name for name in path.split(b"/") if name]
    if not names:
        unsupported("the export is the root of the server")
    return [op.putrootfh(), *(op.lookup(name) for name in names)]


@proves(CHARSET_FLAGS_EXCLUDE, killed_by="getattr4-charset-has-both-flags")
def test_charset_flags(scratch: Nfs4Scratch) -> None:
    """fs_charset_cap does not say both that there is only UTF-8 and that there is something else."""
    _need(scratch, "fs_charset_cap")
    known = scratch.attributes(None, "fs_charset_cap")
    both = p.FSCHARSET_CAP4_CONTAINS_NON_UTF8 | p.FSCHARSET_CAP4_ALLOWS_ONLY_UTF8
    flags = (known.fs_charset_cap or 0) & both
    expect(flags, "flags", of=known, field="fs_charset_cap").differs_from(both)


@proves(ALLOW_AND_DENY, killed_by="getattr4-supports-no-denials")
def test_aclsupport(scratch: Nfs4Scratch) -> None:
    """aclsupport has ALLOW and DENY, or neither."""
    _need(scratch, "aclsupport")
    known = scratch.attributes(None, "aclsupport")
    both = p.ACL4_SUPPORT_ALLOW_ACL | p.ACL4_SUPPORT_DENY_ACL
    expect((known.aclsupport or 0) & both, "ALLOW and DENY", of=known, field="aclsupport").one_of(0, both)


_TIMES: t.Final = ("time_access", "time_create", "time_delta", "time_metadata", "time_modify")


@pytest.mark.parametrize("kind", _KINDS)
@proves(NSECONDS_ARE_LESS, killed_by="getattr4-times-have-a-billion-nanoseconds")
def test_nseconds(scratch: Nfs4Scratch, kind: str) -> None:
    """No time of an object has a billion nanoseconds."""
    seen = scratch.attributes(made_object(scratch, kind), *_TIMES)
    for name in _TIMES:
        time = getattr(seen, name)
        if time is not None:
            expect(time).field("nseconds", f"nseconds of {name}").at_most(999_999_999)


@proves(DELTA_IS_A_TIME, killed_by="getattr4-time-delta-is-nothing")
def test_time_delta(scratch: Nfs4Scratch) -> None:
    """time_delta is more than nothing."""
    _need(scratch, "time_delta")
    seen = scratch.attributes(None, "time_delta")
    expect(seen).field("time_delta").differs_from(p.Nfstime4(0, 0))


@proves(NUMLINKS_COUNT, killed_by="remove4-leaves-numlinks", needs="nfs4_hardlink")
def test_numlinks(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """numlinks of a file grows with each LINK, and shrinks with each REMOVE."""
    _need(scratch, "numlinks")
    file = scratch.file("1")
    for number, name in enumerate(("2", "3"), start=2):
        scratch.link(file, name)
        expect(scratch.attributes(file, "numlinks")).field("numlinks", "numlinks after LINK").equals(number)
    for left, gone in ((2, b"2"), (1, b"3")):
        expect(compounds.compound(op.putfh(scratch.handle), op.remove(gone))).ok()
        expect(scratch.attributes(file, "numlinks")).field("numlinks", "numlinks after REMOVE").equals(left)
