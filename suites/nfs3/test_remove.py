# SPDX-License-Identifier: MIT
"""REMOVE (RFC 1813 section 3.3.12): removes one name, and nothing else."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import CreateMode3, Nfsstat3, Sattr3
from nfsjudge import (
    Harm,
    expect,
    expect_names,
    expect_that,
    observe,
    proves,
    should,
    stated,
    unsupported,
)
from suites.nfs3.bad_names import expect_name_refused, reply_if_decoded
from suites.nfs3.clauses import NLINK_COUNTS, REFUSES_EMPTY_NAMES, RETURNS_NOENT, RETURNS_NOTDIR
from suites.nfs3.file_types import make
from suites.nfs3.new_objects import expect_file

REMOVE_REMOVES_THE_ENTRY = stated(
    "RFC 1813", "3.3.12", "REMOVE removes the entry from the directory", harm=Harm.SUCCESS
)
REMOVE_REMOVES_ONE_ENTRY = stated(
    "RFC 1813",
    "3.3.12",
    "REMOVE removes one entry: other entries stay, and the object stays until its last name is removed",
    harm=Harm.OBJECT,
)
REMOVE_NEEDS_AN_ENTRY = stated(
    "RFC 1813", "3.3.12", "REMOVE fails for a name that is not in the directory", harm=Harm.SUCCESS
)
REMOVE_OF_DIRECTORY_MATCHES_STATUS = should(
    # dir_wcc comes with errors because a REMOVE that fails may have changed the directory
    "RFC 1813",
    "3.3.12",
    "REMOVE of a directory removes it, or fails and leaves it unchanged",
    harm=Harm.SUCCESS,
)
REMOVE_NEEDS_A_DIRECTORY = stated(
    "RFC 1813", "3.3.12", "REMOVE removes an entry of a directory, not of another object", harm=Harm.OBJECT
)


@proves(REMOVE_REMOVES_THE_ENTRY, killed_by="remove3-removes-nothing")
def test_name_gone(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE removes the name from the directory."""
    scratch.file("file", b"data")
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    expect(nfs3.lookup(scratch.handle, b"file")).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(REMOVE_REMOVES_ONE_ENTRY, killed_by="remove3-removes-a-neighbour")
def test_other_entries_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE does not remove other entries of the directory."""
    scratch.file("file", b"data")
    scratch.file("neighbour", b"precious")
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    expect_file(scratch, b"neighbour", b"precious")


@proves(REMOVE_REMOVES_ONE_ENTRY, killed_by="remove3-destroys-linked-files", needs="hardlink")
def test_other_link_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A file with two names keeps its data when REMOVE removes one of them."""
    scratch.link(scratch.file("file", b"precious"), "other")
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    expect_file(scratch, b"other", b"precious")


@proves(NLINK_COUNTS, killed_by="remove3-keeps-nlink", needs="hardlink")
def test_nlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE of one of several names decreases nlink by one."""
    file = scratch.file("file")
    scratch.link(file, "other")
    before = scratch.attributes(file).nlink
    expect(nfs3.remove(scratch.handle, b"file")).ok()
    found = expect(nfs3.lookup(scratch.handle, b"other")).ok()
    expect(scratch.attributes(found.object)).field("nlink").equals(before - 1)


@proves(REMOVE_REMOVES_ONE_ENTRY, killed_by="remove3-follows-symlinks", needs="symlink")
def test_symlink_not_followed(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE of a symbolic link does not remove its target."""
    scratch.file("target", b"precious")
    scratch.symlink("link", b"target")
    expect(nfs3.remove(scratch.handle, b"link")).ok()
    expect_file(scratch, b"target", b"precious")


@proves(REMOVE_NEEDS_AN_ENTRY, killed_by="remove3-removes-missing-names")
def test_missing_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE of a name that does not exist fails with NFS3ERR_NOENT."""
    reply = nfs3.remove(scratch.handle, b"nobody-made-this")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(REMOVE_NEEDS_A_DIRECTORY, killed_by="remove3-removes-from-files")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    reply = nfs3.remove(scratch.file("file"), b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(REMOVE_REMOVES_THE_ENTRY, killed_by="remove3-keeps-fifos", needs="mknod")
def test_fifo(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE removes a FIFO."""
    scratch.fifo("fifo")
    expect(nfs3.remove(scratch.handle, b"fifo")).ok()
    expect_names(scratch.names(), [], "names in the directory")


@proves(REMOVE_REMOVES_THE_ENTRY, killed_by="remove3-keeps-names-taken")
def test_name_reusable(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A removed name can be created again."""
    scratch.file("again", b"old")
    expect(nfs3.remove(scratch.handle, b"again")).ok()
    expect(nfs3.create(scratch.handle, b"again", CreateMode3.GUARDED, Sattr3(mode=0o644))).ok()
    expect_file(scratch, b"again", b"")


@proves(REMOVE_OF_DIRECTORY_MATCHES_STATUS, killed_by="remove3-refuses-and-removes-directories")
def test_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE of an empty directory removes it, or fails and keeps it."""
    scratch.directory("directory")
    reply = nfs3.remove(scratch.handle, b"directory")
    observe("REMOVE of a directory", reply.status)
    removed = reply.status == Nfsstat3.NFS3_OK
    if not removed:
        expect(reply).refused()
    is_gone = scratch.lookup("directory") is None
    expect_that(
        is_gone == removed,
        "NFS3ERR_NOENT" if removed else "success",
        "NFS3ERR_NOENT" if is_gone else "success",
        f"status of LOOKUP of the directory after REMOVE answered {'success' if removed else reply.status}",
        operation="LOOKUP",
    )


@proves(REMOVE_OF_DIRECTORY_MATCHES_STATUS, killed_by="remove3-empties-directories")
def test_full_directory_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """If REMOVE of a non-empty directory fails, the directory keeps its entries."""
    directory = scratch.directory("directory")
    scratch.file("inside", directory=directory)
    reply = nfs3.remove(scratch.handle, b"directory")
    observe("REMOVE of a non-empty directory", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        unsupported("REMOVE removes non-empty directories, which RFC 1813 allows")
    expect(reply).refused()
    expect_names(scratch.names(directory), [b"inside"], "names in the directory")


@proves(REFUSES_EMPTY_NAMES, killed_by="remove3-accepts-the-empty-name")
def test_empty_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """REMOVE refuses the empty name."""
    scratch.file("file")
    what = "REMOVE of the empty name"
    reply = reply_if_decoded(nfs3, lambda: nfs3.remove(scratch.handle, b""), what)
    expect_names(scratch.names(), [b"file"], "names in the directory")
    expect_name_refused(reply, what)


# ---------------------------------------------------------------- special files


@pytest.mark.parametrize("kind", ["block", "character", "socket"])
@proves(REMOVE_REMOVES_THE_ENTRY, killed_by="remove3-keeps-special-files")
def test_special_file(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """REMOVE removes a device or socket."""
    make(nfs3, scratch, kind)
    expect(nfs3.remove(scratch.handle, b"object")).ok()
    expect_names(scratch.names(), [], "names in the directory")
