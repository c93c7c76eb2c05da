# SPDX-License-Identifier: MIT
"""OPENATTR and named attributes (RFC 5661 sections 5.3 and 18.17). They are optional: NOTSUPP is UNSUPPORTED."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NfsFtype4, Nfsstat4
from nfsclient.xdr import XdrType
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_data,
    expect_names,
    must,
    proves,
    should,
    show,
    skip,
    stated,
)
from suites.nfs4.handles import expect_same_object
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import BOTH, create_file

ABSENT_IS_NOENT = stated(
    "RFC 5661",
    "18.17.3",
    "without createdir, OPENATTR of an object without named attributes gets NFS4ERR_NOENT",
)
IS_AN_ATTRDIR = stated(
    "RFC 5661", "18.17.3", "OPENATTR results in the filehandle of an object of type NF4ATTRDIR"
)
HAS_NAMEDATTRS = stated(
    "RFC 5661",
    "18.17.3",
    "filehandles within the named attribute directory designate objects of type NF4NAMEDATTR",
)
EXISTING_IS_TAKEN = stated(
    "RFC 5661",
    "18.17.3",
    "with createdir, the filehandle of a named attribute directory that exists becomes the current one",
)
HAS_NO_ATTRIBUTES = must(
    "RFC 5661",
    "5.3",
    "OPENATTR of a named attribute or of a named attribute directory returns NFS4ERR_WRONG_TYPE",
)
HOLDS_DATA = stated(
    "RFC 5661",
    "5.3",
    "once it is opened, READ and WRITE examine and change a named attribute",
    harm=Harm.DATA,
)
LISTS_NAMES = stated("RFC 5661", "5.3", "READDIR gets the list of the named attributes of an object")
SAYS_SO = stated(
    "RFC 5661", "5.8.1.8", "named_attr is TRUE if the named attribute directory of the object is not empty"
)
NO_CREATE = stated("RFC 5661", "18.4.3", "CREATE in a named attribute directory gets NFS4ERR_WRONG_TYPE")
NO_EXCLUSIVE = stated(
    "RFC 5661", "18.16.3", "exclusive creation in a named attribute directory is an invalid argument"
)
STAYS_BY_RENAME = stated(
    "RFC 5661", "18.26.3", "RENAME of a named attribute to the directory of another object gets NFS4ERR_XDEV"
)
STAYS_BY_LINK = must(
    "RFC 5661",
    "18.9.4",
    "LINK between a named attribute directory and another directory returns NFS4ERR_XDEV",
    part=Part.IMPLEMENTATION,
    says_must=True,
)
PARENT_IS_THE_OBJECT = should(
    "RFC 5661", "18.14.3", "LOOKUPP of a named attribute directory returns the object that it belongs to"
)
SURVIVES_TRUNCATION = stated(
    "RFC 5661",
    "18.16.3",
    "OPEN with a size of zero leaves the named attributes as they are",
    harm=Harm.OBJECT,
)
_OTHER_NAMES: t.Final = frozenset(
    {Nfsstat4.NFS4ERR_BADNAME, Nfsstat4.NFS4ERR_BADCHAR, Nfsstat4.NFS4ERR_INVAL}
)
_CREATED: t.Final[dict[str, XdrType]] = {
    "directory": op.mkdir(b"made"),
    "link": op.symlink(b"made", b"target"),
    "fifo": op.create(b"made", NfsFtype4.NF4FIFO),
}
_EXCLUSIVE: t.Final = {
    "exclusive4": op.exclusive(b"verifier"),
    "exclusive4_1": op.exclusive4_1(b"verifier"),
}


def attribute_directory(compounds: Compounds, object_: bytes) -> bytes:
    """The directory of the named attributes of an object, made if need be."""
    return expect(compounds.compound(op.putfh(object_), op.openattr(createdir=True), op.getfh())).ok().handle


def make_attribute(
    compounds: Compounds, object_: bytes, name: bytes = b"attribute", data: bytes = b""
) -> bytes:
    """A new named attribute of an object; its filehandle. SKIP if the server has other names for them (section 5.3)."""
    directory = attribute_directory(compounds, object_)
    opening = op.open(name, BOTH, owner=new_state_owner(), how=op.guarded(p.Fattr4()))
    reply = through_grace(compounds, op.putfh(directory), opening, op.getfh())
    if reply.failed is p.OPEN and reply.status in _OTHER_NAMES:
        skip(f"the server takes no named attribute {show(name)}: {reply.status.name}")
    made = expect(reply).ok()
    at = 0
    while at < len(data):  # a server may write less (section 18.32.3)
        writing = op.write(made.stateid, at, data[at:])
        at += max(1, expect(compounds.compound(op.putfh(made.handle), writing)).of(p.WRITE).ok().count)
    expect(compounds.compound(op.putfh(made.handle), op.close(made.stateid))).ok()
    return made.handle


@MINORS
@proves(ABSENT_IS_NOENT, killed_by="openattr4-always-makes-one")
def test_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPENATTR of an object without named attributes fails with NOENT. A server may give every object some."""
    file = scratch.file("file")
    reply = compounds.compound(op.putfh(file), op.openattr())
    if reply.status == Nfsstat4.NFS4_OK and scratch.names(attribute_directory(compounds, file)):
        skip("the server gives each new file some named attributes")
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=ABSENT_IS_NOENT)


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(IS_AN_ATTRDIR, killed_by="openattr4-gives-a-directory")
def test_type(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """The named attribute directory of a file or directory is of type NF4ATTRDIR."""
    made = scratch.file("object") if kind == "file" else scratch.directory("object")
    reply = compounds.compound(op.putfh(made), op.openattr(createdir=True), op.getattr("type"))
    expect(expect(reply).ok().attributes).field("type").equals(NfsFtype4.NF4ATTRDIR)


@MINORS
@proves(HAS_NAMEDATTRS, killed_by="openattr4-attributes-are-regular")
def test_attribute_type(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A named attribute is of type NF4NAMEDATTR."""
    made = make_attribute(compounds, scratch.file("file"))
    expect(scratch.attributes(made, "type")).field("type").equals(NfsFtype4.NF4NAMEDATTR)


@MINORS
@proves(EXISTING_IS_TAKEN, killed_by="openattr4-makes-another-one")
def test_existing(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPENATTR with createdir, once more, gives the directory with the attributes that are there."""
    file = scratch.file("file")
    made = make_attribute(compounds, file)
    again = (op.putfh(file), op.openattr(createdir=True), op.lookup(b"attribute"), op.getfh())
    expect_same_object(scratch, expect(compounds.compound(*again)).ok().handle, made, "named attribute")


@MINORS
@pytest.mark.parametrize("kind", ["directory", "attribute"])
@proves(HAS_NO_ATTRIBUTES, killed_by="openattr4-of-an-attribute-is-noent")
def test_nested(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """OPENATTR of a named attribute, or of the directory of named attributes, fails with WRONG_TYPE."""
    file = scratch.file("file")
    made = make_attribute(compounds, file)
    which = made if kind == "attribute" else attribute_directory(compounds, file)
    reply = compounds.compound(op.putfh(which), op.openattr(createdir=True))
    expect(reply).refused(Nfsstat4.NFS4ERR_WRONG_TYPE, because=HAS_NO_ATTRIBUTES)


@MINORS
@proves(HOLDS_DATA, killed_by="openattr4-attributes-are-short")
def test_data(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A named attribute keeps the data that were written, apart from the data of its object."""
    file = scratch.file("file", b"the data of the file")
    made = make_attribute(compounds, file, data=b"the value")
    expect_data(scratch.read(made), b"the value")
    expect_data(scratch.read(file), b"the data of the file")


@MINORS
@proves(LISTS_NAMES, killed_by="openattr4-lists-nothing")
def test_names(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """READDIR lists the named attributes, and REMOVE takes one away."""
    file = scratch.file("file")
    directory = attribute_directory(compounds, file)
    before = scratch.names(directory)
    for name in (b"1", b"2"):
        make_attribute(compounds, file, name)
    expect_names(scratch.names(directory), [*before, b"1", b"2"])
    expect(compounds.compound(op.putfh(directory), op.remove(b"1"))).ok()
    expect_names(scratch.names(directory), [*before, b"2"])


@MINORS
@proves(SAYS_SO, killed_by="openattr4-keeps-named-attr-false")
def test_named_attr(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """The attribute named_attr is TRUE after a named attribute was made."""
    file = scratch.file("file")
    make_attribute(compounds, file)
    expect(scratch.attributes(file, "named_attr")).field("named_attr").equals(True)


@MINORS
@pytest.mark.parametrize("kind", _CREATED)
@proves(NO_CREATE, killed_by="create4-of-an-attribute-is-inval")
def test_create(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """CREATE in a named attribute directory fails with WRONG_TYPE, or NOTDIR."""
    directory = attribute_directory(compounds, scratch.file("file"))
    reply = compounds.compound(op.putfh(directory), _CREATED[kind])
    # Section 15.2 lists NOTDIR for CREATE, and not WRONG_TYPE. A type that the server makes nowhere is BADTYPE.
    others = [Nfsstat4.NFS4ERR_NOTDIR, *([] if kind == "directory" else [Nfsstat4.NFS4ERR_BADTYPE])]
    expect(reply).refused(Nfsstat4.NFS4ERR_WRONG_TYPE, *others, because=NO_CREATE)


@MINORS
@pytest.mark.parametrize("mode", _EXCLUSIVE)
@proves(NO_EXCLUSIVE, killed_by="open4-exclusive-attribute-is-exist")
def test_exclusive(compounds: Compounds, scratch: Nfs4Scratch, mode: str) -> None:
    """OPEN with exclusive creation in a named attribute directory fails with INVAL."""
    directory = attribute_directory(compounds, scratch.file("file"))
    opening = op.open(b"made", BOTH, owner=new_state_owner(), how=_EXCLUSIVE[mode])
    reply = through_grace(compounds, op.putfh(directory), opening)
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=NO_EXCLUSIVE)


@MINORS
@pytest.mark.parametrize("target", ["ordinary", "of-another-file"])
@proves(STAYS_BY_RENAME, killed_by="rename4-of-an-attribute-is-inval")
def test_rename(compounds: Compounds, scratch: Nfs4Scratch, target: str) -> None:
    """RENAME of a named attribute out of its directory fails with XDEV, and it stays."""
    file = scratch.file("file")
    make_attribute(compounds, file)
    directory = attribute_directory(compounds, file)
    to = scratch.handle if target == "ordinary" else attribute_directory(compounds, scratch.file("other"))
    moving = (op.putfh(directory), op.savefh(), op.putfh(to), op.rename(b"attribute", b"moved"))
    reply = compounds.compound(*moving)
    expect(reply).refused(Nfsstat4.NFS4ERR_XDEV, because=STAYS_BY_RENAME)
    expect(scratch.lookup("attribute", directory=directory), "the attribute").is_present()


@MINORS
@pytest.mark.parametrize("way", ["out", "in"])
@proves(STAYS_BY_LINK, killed_by="link4-of-an-attribute-is-inval")
def test_link(compounds: Compounds, scratch: Nfs4Scratch, way: str) -> None:
    """LINK of a named attribute to an ordinary directory, and of a file to its named attributes, fails with XDEV."""
    file = scratch.file("file")
    made = make_attribute(compounds, file)
    directory = attribute_directory(compounds, file)
    source, target = (made, scratch.handle) if way == "out" else (file, directory)
    reply = compounds.compound(op.putfh(source), op.savefh(), op.putfh(target), op.link(b"linked"))
    expect(reply).refused(Nfsstat4.NFS4ERR_XDEV, because=STAYS_BY_LINK)


@MINORS
@proves(PARENT_IS_THE_OBJECT, killed_by="lookupp4-of-attributes-is-noent")
def test_parent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """LOOKUPP of a named attribute directory gives the object that the attributes belong to."""
    file = scratch.file("file")
    directory = attribute_directory(compounds, file)
    above = expect(compounds.compound(op.putfh(directory), op.lookupp(), op.getfh())).ok().handle
    expect_same_object(scratch, above, file, "object above its named attributes")


@MINORS
@proves(SURVIVES_TRUNCATION, killed_by="open4-truncates-the-attributes")
def test_truncation(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """OPEN that truncates a file leaves its named attributes as they are."""
    file = scratch.file("file", b"data")
    made = make_attribute(compounds, file, data=b"the value")
    opened = create_file(compounds, scratch.handle, b"file", op.unchecked(p.Fattr4(size=0)))
    expect(compounds.compound(op.putfh(opened.handle), op.close(opened.stateid))).ok()
    expect_data(scratch.read(made), b"the value")
