# SPDX-License-Identifier: MIT
"""LINK (RFC 1813 section 3.3.15): a further name for a file."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, proves, unsupported
from suites.nfs3.agreement import expect_same_object
from suites.nfs3.creating import EXIST_IS_MEANT, expect_kept, expect_not_a_directory

LINKS = Requirement(
    rfc="RFC 1813", section="3.3.15", gist="LINK creates a hard link: another name for the same object"
)
NLINK = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="after LINK, nlink is one greater than before",
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    gist="file_attributes are those of the object that was linked, afterwards",
)
NEW_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    gist="LINK creates a name: it does not succeed on one that exists, nor harm it",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.15", gist="a link is created in a directory, not in another object"
)


@proves(LINKS, killed_by="link3-links-nothing", needs="hardlink")
def test_the_new_name_stands_for_the_same_file(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("file", b"data")
    expect(nfs3.link(file, scratch.handle, b"link")).ok()
    found = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    expect(scratch.attributes(found.object).fileid, "fileid of the link").equals(
        scratch.attributes(file).fileid
    )


@proves(LINKS, killed_by="link3-makes-a-copy", needs="hardlink")
def test_what_is_written_by_one_name_is_read_by_the_other(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("file", b"old data")
    expect(nfs3.link(file, scratch.handle, b"link")).ok()
    scratch.write(file, b"new")
    expect_kept(scratch, b"link", b"new data")


@proves(NLINK, killed_by="link3-forgets-to-count", needs="hardlink")
def test_nlink_is_one_more(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("file")
    before = scratch.attributes(file).nlink
    expect(nfs3.link(file, scratch.handle, b"link")).ok()
    expect(scratch.attributes(file).nlink, "nlink").equals(before + 1)


@proves(ATTRIBUTES, killed_by="link3-attributes-of-the-directory", needs="hardlink")
def test_attributes_are_those_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("file", b"data")
    reply = nfs3.link(file, scratch.handle, b"link")
    if expect(reply).ok().file_attributes is None:
        unsupported("the server withholds the attributes of the file")
    expect_same_object(reply, "resok.file_attributes", scratch.attributes(file))


@proves(NEW_ONLY, killed_by="link3-replaces-files", needs="hardlink")
def test_keeps_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("there", b"precious")
    reply = nfs3.link(scratch.file("file", b"data"), scratch.handle, b"there")
    expect_kept(scratch, b"there", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="link3-links-in-files", needs="hardlink")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_not_a_directory(nfs3.link(scratch.file("file"), scratch.file("no directory"), b"link"))
