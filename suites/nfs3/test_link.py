# SPDX-License-Identifier: MIT
"""LINK (RFC 1813 section 3.3.15): a further name for a file."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import Level, Part, Requirement, expect, observe, proves, unsupported
from suites.nfs3.agreement import expect_same_object
from suites.nfs3.creating import EXIST_IS_MEANT, expect_kept, expect_not_a_directory, expect_type
from suites.nfs3.naming import (
    NLINK_COUNTS,
    NO_EMPTY_NAME,
    NO_TRUNC,
    expect_name_refused,
    heard,
    too_long_name,
)

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
ATTRIBUTES_OF_FAILURE = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    gist="file_attributes of a LINK that failed are those of the object that was to be linked",
)
STATUS_TELLS = Requirement(
    rfc="RFC 1813",
    section="3.3.15",
    level=Level.SHOULD,  # linkdir_wcc is returned with errors too: one that failed may have changed the directory
    gist="LINK of a directory makes a name, or refuses and makes none",
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


@proves(LINKS, killed_by="link3-links-in-the-parent", needs="hardlink")
def test_links_in_another_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    elsewhere = scratch.directory("elsewhere")
    expect(nfs3.link(scratch.file("file", b"data"), elsewhere, b"link")).ok()
    expect(scratch.names(elsewhere), "the names in the other directory").equals([b"link"])


@proves(LINKS, killed_by="link3-follows-symlinks", needs=("hardlink", "symlink"))
def test_a_symbolic_link_is_linked_itself(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("target")
    reply = nfs3.link(scratch.symlink("symlink", b"target"), scratch.handle, b"other")
    if reply.status != Nfsstat3.NFS3_OK:
        unsupported(f"the server gives symbolic links no second name: {expect(reply).refused()}")
    expect_type(nfs3, scratch, b"other", Ftype3.NF3LNK)


@proves(NEW_ONLY, killed_by="link3-replaces-directories", needs="hardlink")
def test_keeps_an_existing_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.directory("there")
    reply = nfs3.link(scratch.file("file", b"data"), scratch.handle, b"there")
    expect_type(nfs3, scratch, b"there", Ftype3.NF3DIR)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@proves(NLINK_COUNTS, killed_by="link3-counts-refusals", needs="hardlink")
def test_a_refused_link_is_not_counted(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("file")
    scratch.file("there")
    before = scratch.attributes(file).nlink
    expect(nfs3.link(file, scratch.handle, b"there"), because=NEW_ONLY).refused()
    expect(scratch.attributes(file).nlink, "nlink").equals(before)


@proves(ATTRIBUTES_OF_FAILURE, killed_by="link3-refusals-show-the-directory", needs="hardlink")
def test_attributes_after_a_refusal_are_those_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("file", b"data")
    scratch.file("there")
    reply = nfs3.link(file, scratch.handle, b"there")
    expect(reply).refused()
    if reply.resfail is None or reply.resfail.file_attributes is None:
        unsupported("the server withholds the attributes of the file after a refusal")
    expect_same_object(reply, "resfail.file_attributes", scratch.attributes(file))


@proves(STATUS_TELLS, killed_by="link3-refuses-and-links-directories", needs="hardlink")
def test_a_directory_is_linked_or_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.link(scratch.directory("directory"), scratch.handle, b"other")
    observe("LINK of a directory", reply.status)
    linked = reply.status == Nfsstat3.NFS3_OK
    if not linked:
        expect(reply).refused()
    expect(scratch.lookup("other") is not None, "whether the name is there").equals(linked)


@proves(NO_EMPTY_NAME, killed_by="link3-takes-the-empty-name", needs="hardlink")
def test_refuses_the_empty_name(nfs3: Nfs3, scratch: Scratch) -> None:
    what = "LINK to the empty name"
    reply = heard(nfs3, lambda: nfs3.link(scratch.file("file"), scratch.handle, b""), what)
    expect(scratch.names(), "the names in the directory").equals([b"file"])
    expect_name_refused(reply, what)


@proves(NO_TRUNC, killed_by="link3-cuts-long-names", needs=("hardlink", "no_trunc"))
def test_refuses_a_name_that_is_too_long(nfs3: Nfs3, scratch: Scratch) -> None:
    name = too_long_name(nfs3, scratch)
    reply = nfs3.link(scratch.file("file"), scratch.handle, name)
    expect(scratch.names(), "the names in the directory").equals([b"file"])
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=NO_TRUNC)
