# SPDX-License-Identifier: MIT
"""RENAME (RFC 1094 section 2.2.12) changes the name of a file atomically."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import LOOKUP, RENAME, Diropargs, Diropres, Nfsstat2, Renameargs
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_names,
    observe,
    proves,
    should,
    skip,
    stated,
)
from suites.clauses import RENAME_MOVES_ALL
from suites.moved import expect_entries_moved, expect_other_name_kept, expect_parent_of_now
from suites.nfs2.clauses import NLINK_COUNTS_NAMES, RETURNS_NOENT
from suites.nfs2.common import CommonNfs2
from suites.nfs2.objects import KINDS, NOT_FILES, expect_same, make, steady_except
from suites.races import ROUNDS, Race

RENAME_MOVES_ENTRY = stated(
    "RFC 1094",
    "2.2.12",
    "NFS_OK means that the file from.name in from.dir is now to.name in to.dir",
    harm=Harm.SUCCESS,
)
RENAME_IS_ATOMIC = stated(
    "RFC 1094",
    "2.2.12",
    "RENAME is atomic on the server: no client sees an intermediate state",
    harm=Harm.OBJECT,
)
RENAME_NEEDS_SOURCE = stated(
    "RFC 1094",
    "2.2.12",
    "RENAME renames an existing file: without one, nothing is renamed and the target keeps its file",
    harm=Harm.OBJECT,
)
RENAME_KEEPS_NONEMPTY_TARGET = should(
    "RFC 1094", "2.3.1", "RENAME does not replace a directory that is not empty (NOTEMPTY)", harm=Harm.OBJECT
)
RENAME_KEEPS_TREE = stated(
    "RFC 1094",
    "2.1",
    "a file system is a tree: RENAME does not move a directory below itself",
    harm=Harm.OBJECT,
)
REFUSED_RENAME_CHANGES_NOTHING = stated(
    "RFC 1094", "2.2.12", "an object that is not renamed keeps its name and its contents", harm=Harm.OBJECT
)
PARENT_IS_WHERE_IT_IS = should(  # the text has it as an example of what names may mean
    "RFC 1094", "3.2", '".." is the directory that a directory is in now, not one that it was in before'
)
RENAME_REPLACES_ONE_NAME = stated(
    "RFC 1094",
    "2.2.13",
    "a hard link is the same file: RENAME over one name of it leaves the file with its other name",
    harm=Harm.OBJECT,
)
RENAME_REFUSES_DOTS = should(
    "RFC 1094", "3.2", "names with a special meaning are not entries that RENAME can move"
)


@pytest.mark.parametrize("kind", KINDS)
@proves(RENAME_MOVES_ENTRY, killed_by="rename2-keeps-the-old-name")
def test_same_directory(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """RENAME changes the name of an object within its directory."""
    known = scratch.attributes(make(scratch, kind))
    expect(nfs2.rename(scratch.handle, b"object", scratch.handle, b"new")).ok()
    expect_names(scratch.names(), [b"new"], "names in the directory")
    found = expect(nfs2.lookup(scratch.handle, b"new")).ok()
    expect_same(found.attributes, known)


@pytest.mark.parametrize("kind", KINDS)
@proves(RENAME_MOVES_ENTRY, killed_by="rename2-stays-in-its-directory")
def test_other_directory(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """RENAME moves an object to another directory."""
    known = scratch.attributes(make(scratch, kind))
    target = scratch.directory("target")
    reply = nfs2.rename(scratch.handle, b"object", target, b"object")
    if kind == "directory" and reply.status != Nfsstat2.NFS_OK:
        skip(f"the server does not move directories: RENAME answers {reply.status}", reply)
    expect(reply).ok()
    expect_names(scratch.names(), [b"target"], "names in the old directory")
    expect_names(scratch.names(target), [b"object"], "names in the new directory")
    found = expect(nfs2.lookup(target, b"object")).ok()
    expect_same(found.attributes, known, steady_except("nlink"))


@proves(RENAME_MOVES_ENTRY, killed_by="rename2-loses-the-data")
def test_data_kept(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME keeps the data of the file."""
    scratch.file("old", b"data")
    expect(nfs2.rename(scratch.handle, b"old", scratch.handle, b"new")).ok()
    found = expect(nfs2.lookup(scratch.handle, b"new")).ok()
    expect_data(scratch.read(found.file), b"data", "data under the new name")


@proves(RENAME_MOVES_ENTRY, killed_by="rename2-over-existing-does-nothing")
def test_existing_target(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME replaces an existing file, or refuses and keeps both files."""
    scratch.file("old", b"old data")
    scratch.file("new", b"new data")
    reply = nfs2.rename(scratch.handle, b"old", scratch.handle, b"new")
    if reply.status == Nfsstat2.NFSERR_EXIST:
        observe("existing target", "refused")
        expect_names(scratch.names(), [b"new", b"old"], "names after a refused RENAME")
        return
    expect(reply).ok()
    found = expect(nfs2.lookup(scratch.handle, b"new")).ok()
    expect_data(scratch.read(found.file), b"old data", "data under the new name")
    expect_names(scratch.names(), [b"new"], "names in the directory")


@proves(RENAME_MOVES_ENTRY, killed_by="rename2-to-itself-removes")
def test_same_name(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME of a file to its own name changes nothing."""
    scratch.file("same", b"data")
    observe("answer", nfs2.rename(scratch.handle, b"same", scratch.handle, b"same").status)
    found = expect(nfs2.lookup(scratch.handle, b"same")).ok()
    expect_data(scratch.read(found.file), b"data")


@proves(RENAME_IS_ATOMIC, killed_by="rename2-removes-the-target-in-a-first-step")
def test_target_always_exists(
    nfs2: Nfs2, scratch: Nfs2Scratch, rpc_connect: Callable[..., RpcClient]
) -> None:
    """RENAME over an existing file never makes the target name disappear."""
    scratch.file("new")
    race, target = Race(rpc_connect), Diropargs(scratch.handle, b"new")
    renaming = Renameargs(Diropargs(scratch.handle, b"old"), target)

    def expect_found(reply: Diropres) -> None:
        expect(reply).field("status", "status of LOOKUP of the target during RENAME").differs_from(
            Nfsstat2.NFSERR_NOENT
        )

    for _ in range(ROUNDS):
        scratch.file("old")
        reply = race.run((RENAME, renaming), (LOOKUP, target), expect_found)
        observe("answer", reply.status)
        if reply.status != Nfsstat2.NFS_OK:
            skip(f"nothing is renamed: RENAME answers {reply.status}", reply)


@proves(RETURNS_NOENT, killed_by="nfs2-removes-missing-names")
def test_missing_name(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME of a missing name returns NOENT."""
    reply = nfs2.rename(scratch.handle, b"missing", scratch.handle, b"new")
    expect(reply).refused(Nfsstat2.NFSERR_NOENT, because=RETURNS_NOENT)


@proves(RENAME_NEEDS_SOURCE, killed_by="rename2-removes-the-target-first")
def test_missing_keeps_target(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME of a missing name keeps the existing target."""
    file = scratch.file("new", b"data")
    expect(nfs2.rename(scratch.handle, b"missing", scratch.handle, b"new")).refused()
    expect_names(scratch.names(), [b"new"], "names in the directory")
    expect_data(scratch.read(file), b"data", "data of the target")


@pytest.mark.parametrize("deep", [False, True], ids=["child", "grandchild"])
@proves(RENAME_KEEPS_TREE, killed_by="rename2-moves-below-itself")
def test_directory_below_itself(nfs2: Nfs2, scratch: Nfs2Scratch, deep: bool) -> None:
    """RENAME does not move a directory below itself."""
    directory = scratch.directory("d")
    below = scratch.directory("sub", directory=directory) if deep else directory
    reply = nfs2.rename(scratch.handle, b"d", below, b"moved")
    expect(reply).refused()
    expect_names(scratch.names(), [b"d"], "names that are left")


@pytest.mark.parametrize("kind", NOT_FILES)
@proves(
    REFUSED_RENAME_CHANGES_NOTHING,
    RENAME_KEEPS_NONEMPTY_TARGET,
    killed_by="rename2-replaces-full-directories",
)
def test_non_empty_target(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """RENAME does not replace a directory that is not empty."""
    make(scratch, kind)
    full = scratch.directory("full")
    scratch.file("inside", b"data", directory=full)
    reply = nfs2.rename(scratch.handle, b"object", scratch.handle, b"full")
    expect(reply, because=RENAME_KEEPS_NONEMPTY_TARGET).refused()
    expect_names(scratch.names(), [b"full", b"object"], "names in the directory")
    expect_names(scratch.names(full), [b"inside"], "names in the target")


@pytest.mark.parametrize("name", [b".", b".."], ids=["dot", "dotdot"])
@proves(REFUSED_RENAME_CHANGES_NOTHING, RENAME_REFUSES_DOTS, killed_by="rename2-renames-by-dots")
def test_dots(nfs2: Nfs2, scratch: Nfs2Scratch, name: bytes) -> None:
    """RENAME of "." or ".." moves nothing."""
    directory = scratch.directory("d")
    scratch.file("inside", directory=directory)
    status = nfs2.rename(directory, name, scratch.handle, b"new").status
    observe("answer", status)
    because = RENAME_REFUSES_DOTS if status == Nfsstat2.NFS_OK else REFUSED_RENAME_CHANGES_NOTHING
    expect_names(scratch.names(), [b"d"], "names in the directory", because=because)
    expect_names(scratch.names(directory), [b"inside"], "names in the directory to be renamed")


# ---------------------------------------------------------------- what moves along, what stays


@proves(RENAME_MOVES_ALL, killed_by="rename2-loses-an-entry")
def test_directory_with_entries(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch) -> None:
    """RENAME moves a directory with its entries, for a client that has listed it before, too."""
    expect_entries_moved([CommonNfs2(nfs2), CommonNfs2(second_client)], scratch, RENAME_MOVES_ALL)


@proves(PARENT_IS_WHERE_IT_IS, killed_by="lookup2-finds-the-first-parent")
def test_parent_of_now(nfs2: Nfs2, second_client: Nfs2, scratch: Nfs2Scratch) -> None:
    """After RENAME to another directory, LOOKUP of ".." in the moved directory finds that one."""
    expect_parent_of_now([CommonNfs2(nfs2), CommonNfs2(second_client)], scratch, PARENT_IS_WHERE_IT_IS)


@proves(
    RENAME_REPLACES_ONE_NAME,
    NLINK_COUNTS_NAMES,
    killed_by="rename2-destroys-replaced-files",
    needs="nfs2_hardlink",
)
def test_other_name_kept(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """A file that RENAME replaces keeps its other name with its data, and has a link less."""
    expect_other_name_kept(CommonNfs2(nfs2), scratch, RENAME_REPLACES_ONE_NAME, NLINK_COUNTS_NAMES)
