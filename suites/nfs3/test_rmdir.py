# SPDX-License-Identifier: MIT
"""RMDIR (RFC 1813 section 3.3.13): removes a subdirectory."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import (
    Harm,
    Part,
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
from suites.nfs3.clauses import REFUSES_EMPTY_NAMES, RETURNS_NOENT, RETURNS_NOTDIR
from suites.nfs3.file_types import SPECIAL, make
from suites.nfs3.new_objects import expect_file

RMDIR_REMOVES_THE_DIRECTORY = stated(
    "RFC 1813", "3.3.13", "RMDIR removes a subdirectory from a directory", harm=Harm.SUCCESS
)
RMDIR_REMOVES_ONLY_DIRECTORIES = stated(
    "RFC 1813", "3.3.13", "RMDIR removes only subdirectories, not objects of other types", harm=Harm.OBJECT
)
RMDIR_NEEDS_AN_ENTRY = stated(
    "RFC 1813", "3.3.13", "RMDIR fails for a name that is not in the directory", harm=Harm.SUCCESS
)
RMDIR_RETURNS_NOTEMPTY = should(
    "RFC 1813",
    "2.6",
    "RMDIR of a directory that is not empty returns NFS3ERR_NOTEMPTY (NFS3ERR_EXIST is common too)",
)
RMDIR_REMOVES_ONE_ENTRY = stated(
    "RFC 1813", "3.3.13", "RMDIR removes one subdirectory: other entries stay", harm=Harm.OBJECT
)
RMDIR_NEEDS_A_DIRECTORY = stated(
    "RFC 1813", "3.3.13", "RMDIR removes an entry of a directory, not of another object", harm=Harm.OBJECT
)
RMDIR_KEEPS_FULL_DIRECTORIES = should(
    "RFC 1813",
    "3.3.13",
    "a server that does not remove non-empty directories leaves them and their contents unchanged",
    part=Part.IMPLEMENTATION,
    harm=Harm.OBJECT,
)


@proves(RMDIR_REMOVES_THE_DIRECTORY, killed_by="rmdir3-removes-nothing")
def test_name_gone(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR removes the subdirectory."""
    scratch.directory("directory")
    expect(nfs3.rmdir(scratch.handle, b"directory")).ok()
    expect(nfs3.lookup(scratch.handle, b"directory")).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(RMDIR_KEEPS_FULL_DIRECTORIES, killed_by="rmdir3-empties-before-refusing")
def test_full_directory_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """If RMDIR of a non-empty directory fails, the directory keeps its entries."""
    directory = scratch.directory("directory")
    scratch.file("inside", directory=directory)
    status = nfs3.rmdir(scratch.handle, b"directory").status
    observe("RMDIR of a non-empty directory", status)
    if status == Nfsstat3.NFS3_OK:
        unsupported("RMDIR removes non-empty directories, which RFC 1813 allows")
    expect_that(
        scratch.lookup("directory") is not None,
        "success",
        "NFS3ERR_NOENT",
        f"status of LOOKUP of the directory after RMDIR answered {status}",
        operation="LOOKUP",
    )
    expect_names(scratch.names(directory), [b"inside"], "names in the directory")


@proves(RMDIR_RETURNS_NOTEMPTY, killed_by="rmdir3-not-empty-is-io")
def test_full_directory_status(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR refuses a non-empty directory with NFS3ERR_NOTEMPTY or NFS3ERR_EXIST."""
    scratch.file("inside", directory=scratch.directory("directory"))
    reply = nfs3.rmdir(scratch.handle, b"directory")
    if reply.status == Nfsstat3.NFS3_OK:
        unsupported("RMDIR removes non-empty directories, which RFC 1813 allows")
    expect(reply).status(Nfsstat3.NFS3ERR_NOTEMPTY, Nfsstat3.NFS3ERR_EXIST)


@proves(RMDIR_REMOVES_ONLY_DIRECTORIES, killed_by=("rmdir3-removes-files", "rmdir3-destroys-data"))
def test_file_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR does not remove a regular file."""
    scratch.file("file", b"precious")
    reply = nfs3.rmdir(scratch.handle, b"file")
    expect_file(scratch, b"file", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(RMDIR_NEEDS_AN_ENTRY, killed_by="rmdir3-removes-missing-names")
def test_missing_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR of a name that does not exist fails with NFS3ERR_NOENT."""
    reply = nfs3.rmdir(scratch.handle, b"nobody-made-this")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(RMDIR_REMOVES_ONE_ENTRY, killed_by=("rmdir3-removes-a-neighbour", "rmdir3-removes-the-parent"))
def test_other_entries_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR does not remove other entries of the directory."""
    scratch.directory("directory")
    scratch.file("neighbour", b"precious")
    expect(nfs3.rmdir(scratch.handle, b"directory")).ok()
    expect_file(scratch, b"neighbour", b"precious")


@proves(RMDIR_REMOVES_ONLY_DIRECTORIES, killed_by="rmdir3-follows-symlinks", needs="symlink")
def test_symlink_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR of a symbolic link removes neither the link nor its target."""
    scratch.directory("directory")
    scratch.symlink("link", b"directory")
    reply = nfs3.rmdir(scratch.handle, b"link")
    expect_names(scratch.names(), [b"directory", b"link"], "names in the directory")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(RMDIR_NEEDS_A_DIRECTORY, killed_by="rmdir3-removes-from-files")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR with a regular file as the parent fails with NFS3ERR_NOTDIR."""
    reply = nfs3.rmdir(scratch.file("file"), b"name")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(RMDIR_KEEPS_FULL_DIRECTORIES, killed_by="rmdir3-empties-by-dot")
def test_dot(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR of "." does not remove the entries of the directory."""
    directory = scratch.directory("directory")
    scratch.file("inside", directory=directory)
    status = nfs3.rmdir(directory, b".").status
    observe("RMDIR of '.'", status)
    if status == Nfsstat3.NFS3_OK and scratch.lookup("directory") is None:
        unsupported("RMDIR removes non-empty directories, which RFC 1813 allows")
    expect_names(scratch.names(directory), [b"inside"], "names in the directory")


@proves(RMDIR_KEEPS_FULL_DIRECTORIES, killed_by="rmdir3-empties-by-dotdot")
def test_dotdot(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR of ".." does not remove the entries of the parent directory."""
    directory = scratch.directory("directory")
    scratch.file("file", b"precious")
    status = nfs3.rmdir(directory, b"..").status
    observe("RMDIR of '..'", status)
    if status == Nfsstat3.NFS3_OK and nfs3.getattr(scratch.handle).status != Nfsstat3.NFS3_OK:
        unsupported("RMDIR removes non-empty directories, which RFC 1813 allows")
    expect_names(scratch.names(), [b"directory", b"file"], "names in the parent directory")


@proves(REFUSES_EMPTY_NAMES, killed_by="rmdir3-accepts-the-empty-name")
def test_empty_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RMDIR refuses the empty name."""
    what = "RMDIR of the empty name"
    reply = reply_if_decoded(nfs3, lambda: nfs3.rmdir(scratch.directory("directory"), b""), what)
    expect_names(scratch.names(), [b"directory"], "names in the parent directory")
    expect_name_refused(reply, what)


# ---------------------------------------------------------------- special files


@pytest.mark.parametrize("kind", SPECIAL)
@proves(RMDIR_REMOVES_ONLY_DIRECTORIES, killed_by="rmdir3-removes-special-files")
def test_special_file(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """RMDIR does not remove a special file."""
    make(nfs3, scratch, kind)
    reply = nfs3.rmdir(scratch.handle, b"object")
    expect_names(scratch.names(), [b"object"], "names in the directory")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)
