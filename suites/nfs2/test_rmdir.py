# SPDX-License-Identifier: MIT
"""RMDIR (RFC 1094 section 2.2.16) removes an empty directory, and nothing else."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_names,
    observe,
    proves,
    should,
    stated,
)
from suites.nfs2.clauses import RETURNS_NOENT
from suites.nfs2.objects import NOT_DIRECTORIES, make

RMDIR_REMOVES_DIRECTORY = stated(
    "RFC 1094", "2.2.16", "NFS_OK means that the empty directory was removed", harm=Harm.SUCCESS
)
RETURNS_NOTEMPTY = should("RFC 1094", "2.3.1", "NOTEMPTY means that the directory to remove is not empty")
REFUSED_RMDIR_KEEPS_DIRECTORY = stated(
    "RFC 1094", "2.2.16", "a directory that is not removed stays with everything in it", harm=Harm.OBJECT
)
RMDIR_NEEDS_DIRECTORY = stated(
    "RFC 1094",
    "2.2.16",
    "RMDIR removes directories only: any other object of that name stays",
    harm=Harm.OBJECT,
)


@proves(RMDIR_REMOVES_DIRECTORY, killed_by="rmdir2-does-nothing")
def test_removes_empty_directory(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RMDIR removes an empty directory."""
    scratch.directory("d")
    expect(nfs2.rmdir(scratch.handle, b"d")).ok()
    expect(scratch.names(), "names that are left", field="entries").lacks(b"d")
    expect(nfs2.lookup(scratch.handle, b"d")).refused()


@pytest.mark.parametrize("inside", ["file", "directory", "symlink"])
@proves(RETURNS_NOTEMPTY, killed_by="rmdir2-removes-full-directories")
def test_not_empty(nfs2: Nfs2, scratch: Nfs2Scratch, inside: str) -> None:
    """RMDIR of a directory that is not empty returns NOTEMPTY or EXIST."""
    directory = scratch.directory("d")
    if inside == "file":
        scratch.file("inside", directory=directory)
    elif inside == "directory":
        scratch.directory("inside", directory=directory)
    else:
        scratch.symlink("inside", b"text", directory=directory)
    reply = nfs2.rmdir(scratch.handle, b"d")
    allowed = (Nfsstat2.NFSERR_NOTEMPTY, Nfsstat2.NFSERR_EXIST)
    expect(reply).refused(*allowed, because=RETURNS_NOTEMPTY)


@proves(REFUSED_RMDIR_KEEPS_DIRECTORY, killed_by="rmdir2-empties-before-it-refuses")
def test_refused_keeps_contents(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """A refused RMDIR keeps the contents of the directory."""
    directory = scratch.directory("d")
    file = scratch.file("inside", b"data", directory=directory)
    reply = nfs2.rmdir(scratch.handle, b"d")
    observe("answer", reply.status)
    if reply.status != Nfsstat2.NFS_OK:
        expect_names(scratch.names(directory), [b"inside"], "names in the directory")
        expect_data(scratch.read(file), b"data", "data of the file in the directory")


@pytest.mark.parametrize("kind", NOT_DIRECTORIES)
@proves(RMDIR_NEEDS_DIRECTORY, killed_by="rmdir2-removes-files")
def test_not_a_directory(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """RMDIR refuses an object that is not a directory, and keeps it."""
    make(scratch, kind)
    reply = nfs2.rmdir(scratch.handle, b"object")
    expect_names(scratch.names(), [b"object"], "names that are left", others=True)
    expect(reply).refused()


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@proves(REFUSED_RMDIR_KEEPS_DIRECTORY, killed_by="rmdir2-dots-empty-the-directory")
def test_dots(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """RMDIR of "." or ".." removes no directory that is not empty."""
    # Any error is right, and so is success.
    directory = scratch.directory("d")
    scratch.file("inside", directory=directory)
    observe("answer", nfs2.rmdir(directory, name).status)
    expect_names(scratch.names(), [b"d"], "names that are left", others=True)
    expect_names(scratch.names(directory), [b"inside"], "names in the directory")


@proves(RETURNS_NOENT, killed_by="nfs2-removes-missing-names")
def test_missing_name(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RMDIR of a missing name returns NOENT."""
    reply = nfs2.rmdir(scratch.handle, b"missing")
    expect(reply).refused(Nfsstat2.NFSERR_NOENT, because=RETURNS_NOENT)
