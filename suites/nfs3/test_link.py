# SPDX-License-Identifier: MIT
"""LINK (RFC 1813 section 3.3.15): creates another name for an object."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_names,
    must,
    observe,
    proves,
    should,
    stated,
    unsupported,
)
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.bad_names import expect_name_refused, reply_if_decoded
from suites.nfs3.calls import Place
from suites.nfs3.clauses import (
    BAD_HANDLE_REACHES_NOTHING,
    HANDLE_IS_OF_ONE_FILE,
    NLINK_COUNTS,
    NO_TRUNC,
    REFUSES_EMPTY_NAMES,
    RETURNS_BADHANDLE,
    RETURNS_EXIST,
    RETURNS_NOTSUPP,
    RETURNS_STALE,
    TREATS_LONG_NAMES_ALIKE,
)
from suites.nfs3.contents import pattern
from suites.nfs3.exports import remove_if_created
from suites.nfs3.file_types import SPECIAL, make
from suites.nfs3.handles import LATER, handle_of_removed
from suites.nfs3.limits import name_limit_of
from suites.nfs3.new_objects import expect_file, expect_not_a_directory, expect_object, expect_type
from suites.nfs3.statuses import GONE, NOT_A_HANDLE, NOT_ALLOWED

LINK_CREATES_A_HARD_LINK = stated(
    "RFC 1813", "3.3.15", "LINK creates a hard link: another name for the same object", harm=Harm.SUCCESS
)
LINK_INCREMENTS_NLINK = should("RFC 1813", "3.3.15", "LINK increases nlink by one", part=Part.IMPLEMENTATION)
LINK_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.15", "file_attributes are the attributes of the linked object after LINK"
)
LINK_REPLACES_NOTHING = stated(
    "RFC 1813",
    "3.3.15",
    "LINK fails if the name exists, and leaves the existing object unchanged",
    harm=Harm.OBJECT,
)
LINK_FAILURE_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.15", "if LINK fails, file_attributes are those of the object to be linked"
)
LINK_OF_DIRECTORY_MATCHES_STATUS = should(
    # linkdir_wcc comes with errors too, since a LINK that fails may have changed the directory
    "RFC 1813",
    "3.3.15",
    "LINK of a directory creates the name, or fails and creates nothing",
)
LINK_NEEDS_A_DIRECTORY = stated(
    "RFC 1813", "3.3.15", "LINK creates the name in a directory, not in another object", harm=Harm.OBJECT
)
LINK_STAYS_IN_FILE_SYSTEM = must(
    "RFC 1813", "3.3.15", "LINK fails unless file and link.dir are on the same file system", harm=Harm.SUCCESS
)
LINK_RETURNS_XDEV = should(
    "RFC 1813",
    "3.3.15",
    "LINK from one file system to another fails with NFS3ERR_XDEV, as RENAME does",
    part=Part.IMPLEMENTATION,
)


@proves(LINK_CREATES_A_HARD_LINK, killed_by="link3-creates-nothing", needs="hardlink")
def test_same_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK creates another name for the same file."""
    file = scratch.file("file", b"data")
    expect(nfs3.link(file, scratch.handle, b"link")).ok()
    found = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    expect(scratch.attributes(found.object)).field("fileid", "fileid of the link").equals(
        scratch.attributes(file).fileid
    )


@proves(LINK_CREATES_A_HARD_LINK, killed_by="link3-makes-a-copy", needs="hardlink")
def test_shared_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """Data written through one name of a file is read through its other name."""
    file = scratch.file("file", b"old data")
    expect(nfs3.link(file, scratch.handle, b"link")).ok()
    scratch.write(file, b"new")
    expect_file(scratch, b"link", b"new data")


@proves(LINK_INCREMENTS_NLINK, killed_by="link3-keeps-nlink", needs="hardlink")
def test_nlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK increases nlink by one."""
    file = scratch.file("file")
    before = scratch.attributes(file).nlink
    expect(nfs3.link(file, scratch.handle, b"link")).ok()
    expect(scratch.attributes(file)).field("nlink").equals(before + 1)


@proves(LINK_RETURNS_ATTRIBUTES, killed_by="link3-attributes-of-the-directory", needs="hardlink")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK returns the attributes of the linked file."""
    file = scratch.file("file", b"data")
    reply = nfs3.link(file, scratch.handle, b"link")
    if expect(reply).ok().file_attributes is None:
        unsupported("LINK returns no file_attributes")
    expect_same_object(reply, "resok.file_attributes", scratch.attributes(file))


@proves(LINK_REPLACES_NOTHING, killed_by="link3-replaces-files", needs="hardlink")
def test_existing_file_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK does not replace an existing file."""
    scratch.file("there", b"precious")
    reply = nfs3.link(scratch.file("file", b"data"), scratch.handle, b"there")
    expect_file(scratch, b"there", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(LINK_NEEDS_A_DIRECTORY, killed_by="link3-creates-in-files", needs="hardlink")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    expect_not_a_directory(nfs3.link(scratch.file("file"), scratch.file("no directory"), b"link"))


@proves(LINK_CREATES_A_HARD_LINK, killed_by="link3-creates-in-the-parent", needs="hardlink")
def test_other_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK creates the name in another directory than that of the file."""
    elsewhere = scratch.directory("elsewhere")
    expect(nfs3.link(scratch.file("file", b"data"), elsewhere, b"link")).ok()
    expect_names(scratch.names(elsewhere), [b"link"], "names in the directory of the link")


@proves(LINK_CREATES_A_HARD_LINK, killed_by="link3-follows-symlinks", needs=("hardlink", "symlink"))
def test_symlink_not_followed(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK of a symbolic link creates another name for the link, not for its target."""
    scratch.file("target")
    reply = nfs3.link(scratch.symlink("symlink", b"target"), scratch.handle, b"other")
    if reply.status != Nfsstat3.NFS3_OK:
        unsupported(f"LINK of a symbolic link answers {expect(reply).refused()}")
    expect_type(nfs3, scratch, b"other", Ftype3.NF3LNK)


@proves(LINK_REPLACES_NOTHING, killed_by="link3-replaces-directories", needs="hardlink")
def test_existing_directory_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK does not replace an existing directory."""
    scratch.directory("there")
    reply = nfs3.link(scratch.file("file", b"data"), scratch.handle, b"there")
    expect_type(nfs3, scratch, b"there", Ftype3.NF3DIR)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(NLINK_COUNTS, killed_by="link3-refuses-and-increases-nlink", needs="hardlink")
def test_nlink_after_failure(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A LINK that fails does not change nlink."""
    file = scratch.file("file")
    scratch.file("there")
    before = scratch.attributes(file).nlink
    expect(nfs3.link(file, scratch.handle, b"there"), because=LINK_REPLACES_NOTHING).refused()
    expect(scratch.attributes(file)).field("nlink").equals(before)


@proves(LINK_FAILURE_RETURNS_ATTRIBUTES, killed_by="link3-refusals-show-the-directory", needs="hardlink")
def test_failure_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A LINK that fails returns the attributes of the file to be linked."""
    file = scratch.file("file", b"data")
    scratch.file("there")
    reply = nfs3.link(file, scratch.handle, b"there")
    expect(reply).refused()
    if reply.resfail is None or reply.resfail.file_attributes is None:
        unsupported("LINK that fails returns no file_attributes")
    expect_same_object(reply, "resfail.file_attributes", scratch.attributes(file))


@proves(LINK_OF_DIRECTORY_MATCHES_STATUS, killed_by="link3-refuses-and-links-directories", needs="hardlink")
def test_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK of a directory creates the name, or fails and creates nothing."""
    reply = nfs3.link(scratch.directory("directory"), scratch.handle, b"other")
    observe("LINK of a directory", reply.status)
    linked = reply.status == Nfsstat3.NFS3_OK
    if not linked:
        expect(reply).refused()
    created = [] if scratch.lookup("other") is None else [b"other"]
    what = f"names created by LINK, which answers {reply.status}"
    expect_names(created, [b"other"] if linked else [], what, reply=reply, field="status")


@proves(REFUSES_EMPTY_NAMES, killed_by="link3-accepts-the-empty-name", needs="hardlink")
def test_empty_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK refuses the empty name."""
    what = "LINK to the empty name"
    reply = reply_if_decoded(nfs3, lambda: nfs3.link(scratch.file("file"), scratch.handle, b""), what)
    expect_names(scratch.names(), [b"file"], "names in the directory")
    expect_name_refused(reply, what)


@proves(
    NO_TRUNC,
    TREATS_LONG_NAMES_ALIKE,
    killed_by="link3-cuts-long-names",
    needs=("hardlink", "no_trunc"),
)
def test_name_too_long(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK refuses a name longer than name_max."""
    limit = name_limit_of(nfs3, scratch.handle)
    reply = nfs3.link(scratch.file("file"), scratch.handle, b"n" * (limit.name_max + 1))
    expect_names(scratch.names(), [b"file"], "names in the directory", because=limit.effect)
    expect(reply, because=limit.effect).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=limit.status_if_new)


# ---------------------------------------------------------------- stale handles


@proves(RETURNS_STALE, killed_by="names3-removed-is-io", needs="hardlink")
def test_stale_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK of a removed file returns NFS3ERR_STALE or NFS3ERR_NOENT, unless it still works."""
    removed = handle_of_removed(nfs3, scratch, scratch.file("file"), b"file")
    reply = nfs3.link(removed, scratch.handle, b"link")
    observe("LINK by the handle of a removed file", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(*GONE, because=RETURNS_STALE)


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="link3-ignores-the-generation-of-handles", needs="hardlink")
def test_inode_reuse(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LINK of a removed file does not link a file created later."""
    removed = handle_of_removed(nfs3, scratch, scratch.file("file", b"removed"), b"file")
    later = [scratch.file(f"later-{number}", b"later") for number in range(LATER)]
    known = [scratch.attributes(handle).nlink for handle in later]
    observe("LINK by the handle of a removed file", nfs3.link(removed, scratch.handle, b"link").status)
    for handle, nlink in zip(later, known, strict=True):
        expect(scratch.attributes(handle)).field("nlink", "nlink of a file created later").equals(nlink)


# ---------------------------------------------------------------- invalid handles


@pytest.mark.parametrize("which", ["file", "directory"])
@proves(BAD_HANDLE_REACHES_NOTHING, killed_by="nfs3-bad-handle-is-inval", needs="hardlink")
def test_bad_handle(nfs3: Nfs3, place: Place, which: str) -> None:
    """LINK with one invalid handle fails and creates nothing."""
    nonsense = pattern(len(place.here), salt=77)
    file, directory = (nonsense, place.here) if which == "file" else (place.source, nonsense)
    reply = nfs3.link(file, directory, b"link")
    expect_names(place.names(), [], "names in the directory")
    expect(reply).refused(*NOT_A_HANDLE, because=RETURNS_BADHANDLE)


# ---------------------------------------------------------------- another file system


@proves(
    LINK_STAYS_IN_FILE_SYSTEM,
    LINK_RETURNS_XDEV,
    killed_by=("link3-copies-across-exports", "link3-across-exports-is-io"),
    needs="hardlink",
)
def test_across_exports(nfs3: Nfs3, scratch: Nfs3Scratch, elsewhere: bytes) -> None:
    """LINK into an export on another file system fails and makes no link."""
    file = scratch.file("f", b"data")
    known = scratch.attributes(file).nlink
    name = scratch.name + b"-linked"
    reply = nfs3.link(file, elsewhere, name)
    remove_if_created(nfs3, elsewhere, name, reply.status)
    expect(reply).refused()
    expect(scratch.attributes(file), because=NLINK_COUNTS).field("nlink").equals(known)
    expect(reply).refused(Nfsstat3.NFS3ERR_XDEV, *NOT_ALLOWED, because=LINK_RETURNS_XDEV)


# ---------------------------------------------------------------- no support for hard links


@proves(RETURNS_NOTSUPP, killed_by="link3-unsupported-is-io", needs="hardlink")
def test_notsupp(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """LINK fails with NOTSUPP where the server has no hard links."""
    knobs.set(hard_links=False)
    reply = place.call(nfs3, "link", b"link")
    expect_names(place.names(), [], "names in the directory")
    expect(reply).status(Nfsstat3.NFS3ERR_NOTSUPP)


# ---------------------------------------------------------------- special files


@pytest.mark.parametrize("kind", SPECIAL)
@proves(LINK_CREATES_A_HARD_LINK, killed_by="link3-copies-special-files", needs="hardlink")
def test_special_file(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """LINK creates another name for a special file."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    reply = nfs3.link(handle, scratch.handle, b"link")
    if reply.status != Nfsstat3.NFS3_OK:
        unsupported(f"LINK of a {known.type.name} answers {expect(reply).refused()}")
    expect_object(nfs3, scratch.handle, b"link", known.fileid, known.type)
