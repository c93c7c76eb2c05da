# SPDX-License-Identifier: MIT
"""RENAME (RFC 5661 section 18.26)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Dialect, Nfs4Scratch
from nfsclient.clients.nfs4 import CompoundReply, Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import (
    Harm,
    Level,
    expect,
    expect_data,
    expect_names,
    must,
    observe,
    proves,
    should,
    skip,
    stated,
)
from suites.clauses import RENAME_MOVES_ALL
from suites.moved import (
    expect_entries_moved,
    expect_not_below_itself,
    expect_other_name_kept,
    expect_parent_of_now,
)
from suites.nfs4.clauses import CHANGE_INFO
from suites.nfs4.common import CommonNfs4
from suites.nfs4.minors import MINORS
from suites.nfs4.opens import another_client
from suites.nfs4.races import Race4
from suites.races import ROUNDS

RENAMES = stated(
    "RFC 5661",
    "18.26.3",
    "RENAME gives the object of the old name in the saved directory the new name in the current one",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.27.4")},
)
REPLACES_WHAT_IS_COMPATIBLE = stated(
    "RFC 5661",
    "18.26.3",
    "an existing target that is compatible with the source is removed",
    harm=Harm.SUCCESS,
    also={"4.0": ("RFC 7530", "16.27.4")},
)
INCOMPATIBLE_IS_EXIST = stated(
    "RFC 5661",
    "18.26.3",
    "a target that is not compatible, or a directory that is not empty, gets NFS4ERR_EXIST",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.27.4")},
)
SAME_FILE_IS_NO_ACTION = must(
    "RFC 5661",
    "18.26.3",
    "if both names refer to the same file, which is not open, RENAME performs no action and returns NFS4_OK",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.27.4", Level.SHOULD)},
)
PARENT_IS_WHERE_IT_IS = stated(
    "RFC 5661",
    "18.14.3",
    "LOOKUPP finds the directory that a directory is in now, not one that it was in before",
    also={"4.0": ("RFC 7530", "16.14.4")},
)
REPLACES_ONE_NAME = stated(
    "RFC 5661",
    "18.26.3",
    "RENAME removes the target as REMOVE does: one name, while the file with its other names stays",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.27.4")},
)
COUNTS_NAMES = stated(
    "RFC 5661",
    "5.8.2.25",
    "numlinks is the number of hard links to the object",
    also={"4.0": ("RFC 7530", "5.8.2.21")},
)
DIRECTORIES_FORM_A_TREE = should(  # the text says that file systems are hierarchical, and no more
    "RFC 5661",
    "1.7.3",
    "the file system is hierarchical: a directory cannot be moved below itself",
    harm=Harm.OBJECT,
)
RENAMES_ATOMICALLY = must(
    "RFC 5661",
    "18.26.3",
    "RENAME is required to be atomic to the client: the object has its old name or its new one at each moment",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.27.4")},
)
REPLACES_ATOMICALLY = should(
    # "removed before the rename occurs or, preferably, ... atomically as part of the rename"
    "RFC 5661",
    "18.26.3",
    "an existing target is preferably removed as part of the rename: its name is never missing",
)
EMPTY_NAME_IS_INVALID = stated(
    "RFC 5661", "18.26.3", "a name of zero length gets NFS4ERR_INVAL", also={"4.0": ("RFC 7530", "16.27.4")}
)
ABSENT_IS_NOENT = stated(
    "RFC 5661",
    "15.1.4.8",
    "NFS4ERR_NOENT: the file or directory that is named does not exist",
    also={"4.0": ("RFC 7530", "13.1.4.8")},
)


_INCOMPATIBLE = (
    Nfsstat4.NFS4ERR_EXIST,
    Nfsstat4.NFS4ERR_NOTEMPTY,
    Nfsstat4.NFS4ERR_NOTDIR,
    Nfsstat4.NFS4ERR_ISDIR,
)
"""The text wants EXIST; the list of errors has NOTEMPTY and NOTDIR, too, and POSIX has all three."""


def rename(
    compounds: Compounds, scratch: Nfs4Scratch, old: bytes, new: bytes, target: bytes | None = None
) -> CompoundReply:
    """The reply to RENAME from the scratch directory, into it or into another one."""
    moving = (op.savefh(), op.putfh(target or scratch.handle), op.rename(old, new))
    return compounds.compound(op.putfh(scratch.handle), *moving)


@MINORS
@proves(RENAMES, killed_by="rename4-renames-nothing")
def test_same_directory(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME changes the name of a file, and keeps its data."""
    scratch.file("old", b"data")
    expect(rename(compounds, scratch, b"old", b"new")).ok()
    expect(scratch.names(), "names", field="entries").equals([b"new"])
    expect_data(scratch.read(scratch.lookup("new") or b""), b"data")


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(RENAMES, killed_by="rename4-stays-in-the-directory")
def test_other_directory(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """RENAME moves a file or a directory into another directory."""
    (scratch.file if kind == "file" else scratch.directory)("old")
    target = scratch.directory("target")
    expect(rename(compounds, scratch, b"old", b"new", target)).ok()
    expect(scratch.names(), "names", field="entries").equals([b"target"])
    expect(scratch.names(target), "names in the target", field="entries").equals([b"new"])


@MINORS
@pytest.mark.parametrize("kind", ["file", "directory"])
@proves(REPLACES_WHAT_IS_COMPATIBLE, killed_by="rename4-never-replaces")
def test_replaces(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """RENAME over a file by a file, or over an empty directory by a directory, replaces it."""
    make = scratch.file if kind == "file" else scratch.directory
    source = make("old")
    make("new")
    fileid = scratch.attributes(source, "fileid").fileid
    expect(rename(compounds, scratch, b"old", b"new")).ok()
    expect(scratch.names(), "names", field="entries").equals([b"new"])
    found = scratch.attributes(scratch.lookup("new"), "fileid").fileid
    expect(found, "fileid of the new name", field="fileid").equals(fileid)


@MINORS
@pytest.mark.parametrize("case", ["file-directory", "directory-file", "entries"])
@proves(INCOMPATIBLE_IS_EXIST, killed_by="rename4-incompatible-is-inval")
def test_incompatible(compounds: Compounds, scratch: Nfs4Scratch, case: str) -> None:
    """RENAME over an object of the other sort, or over a directory with entries, fails, and changes nothing."""
    (scratch.file if case == "file-directory" else scratch.directory)("old")
    target = (scratch.file if case == "directory-file" else scratch.directory)("new")
    if case == "entries":
        scratch.file("inside", directory=target)
    reply = rename(compounds, scratch, b"old", b"new")
    observe(f"RENAME {case}", reply.status.name)
    expect(reply).refused(*_INCOMPATIBLE, because=INCOMPATIBLE_IS_EXIST)
    expect_names(scratch.names(), [b"old", b"new"])


@MINORS
@proves(SAME_FILE_IS_NO_ACTION, killed_by="rename4-takes-a-link-away")
def test_same_file(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME of one hard link to another link of the same file does nothing."""
    scratch.link(scratch.file("old"), "new")
    expect(rename(compounds, scratch, b"old", b"new")).ok()
    expect_names(scratch.names(), [b"old", b"new"])


@MINORS
@pytest.mark.parametrize(("old", "new"), [(b"", b"new"), (b"old", b"")], ids=["old", "new"])
@proves(EMPTY_NAME_IS_INVALID, killed_by="rename4-empty-name-is-noent")
def test_empty_name(compounds: Compounds, scratch: Nfs4Scratch, old: bytes, new: bytes) -> None:
    """RENAME with an empty name fails with INVAL."""
    scratch.file("old")
    reply = rename(compounds, scratch, old, new)
    expect(reply).refused(Nfsstat4.NFS4ERR_INVAL, because=EMPTY_NAME_IS_INVALID)


@MINORS
@proves(ABSENT_IS_NOENT, killed_by="rename4-absent-is-ok")
def test_absent(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME of a name that does not exist fails with NOENT."""
    reply = rename(compounds, scratch, b"absent", b"new")
    expect(reply).refused(Nfsstat4.NFS4ERR_NOENT, because=ABSENT_IS_NOENT)


@MINORS
@proves(CHANGE_INFO, killed_by="rename4-change-info-is-swapped")
def test_change_info(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """change_info has the change of each directory before and after RENAME, where it is atomic."""
    scratch.file("old")
    target = scratch.directory("target")
    before = [scratch.attributes(directory, "change").change for directory in (None, target)]
    reply = rename(compounds, scratch, b"old", b"new", target)
    result = expect(reply).of(p.RENAME).ok()
    infos = (result.source_cinfo, result.target_cinfo)
    if not all(info.atomic for info in infos):
        skip("change_info is not atomic")
    after = [scratch.attributes(directory, "change").change for directory in (None, target)]
    expect([info.before for info in infos], "before", of=result).equals([change or 0 for change in before])
    expect([info.after for info in infos], "after", of=result).equals([change or 0 for change in after])


# ---------------------------------------------------------------- what moves along, what stays


@proves(RENAME_MOVES_ALL, killed_by="rename4-loses-an-entry")
def test_directory_with_entries(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME moves a directory with its entries, for a client that has listed it before, too."""
    clients = CommonNfs4(compounds), CommonNfs4(another_client(v4))
    expect_entries_moved([*clients], scratch, RENAME_MOVES_ALL)


@proves(PARENT_IS_WHERE_IT_IS, killed_by="lookupp4-finds-the-first-parent")
def test_parent_of_now(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """After RENAME to another directory, LOOKUPP of the moved directory finds that one."""
    clients = CommonNfs4(compounds), CommonNfs4(another_client(v4))
    expect_parent_of_now([*clients], scratch, PARENT_IS_WHERE_IT_IS)


@proves(
    REPLACES_ONE_NAME,
    COUNTS_NAMES,
    killed_by=("rename4-destroys-replaced-files", "rename4-keeps-numlinks-of-replaced-files"),
    needs="nfs4_hardlink",
)
def test_other_name_kept(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A file that RENAME replaces keeps its other name with its data, and has a link less."""
    expect_other_name_kept(CommonNfs4(compounds), scratch, REPLACES_ONE_NAME, COUNTS_NAMES)


@proves(DIRECTORIES_FORM_A_TREE, killed_by="rename4-moves-below-itself")
def test_below_itself(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME does not move a directory below itself."""
    expect_not_below_itself(CommonNfs4(compounds), scratch, DIRECTORIES_FORM_A_TREE)


@proves(SAME_FILE_IS_NO_ACTION, killed_by="rename4-of-itself-removes")
def test_same_name(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """RENAME of a file to the name that it has does nothing."""
    scratch.file("file", b"data")
    expect(rename(compounds, scratch, b"file", b"file")).ok()
    expect_names(scratch.names(), [b"file"])
    expect_data(scratch.read(scratch.lookup("file") or b""), b"data")


@proves(REPLACES_ATOMICALLY, killed_by="rename4-removes-the-target-in-a-first-step")
def test_target_always_exists(v4: Nfs4Dialect, scratch: Nfs4Scratch) -> None:
    """The target name exists at every moment while RENAME replaces it."""
    scratch.file("new")
    race = Race4(v4)
    for _ in range(ROUNDS // 2):
        scratch.file("old")
        _race(race, scratch, b"new", _expect_found)


@proves(RENAMES_ATOMICALLY, killed_by="rename4-removes-the-old-name-in-a-first-step")
def test_source_always_named(v4: Nfs4Dialect, compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """A file has its old or its new name at every moment of a RENAME, also of one that replaces a file."""

    def expect_moved(reply: CompoundReply) -> None:
        # The new name is looked up after the old one was missing: if both are, there was a moment without either.
        if reply.status == Nfsstat4.NFS4ERR_NOENT:
            _expect_found(compounds.compound(op.putfh(scratch.handle), op.lookup(b"new")))

    race = Race4(v4)
    for _ in range(ROUNDS // 2):
        scratch.file("old")
        _race(race, scratch, b"old", expect_moved)


def _race(race: Race4, scratch: Nfs4Scratch, name: bytes, judge: Callable[[CompoundReply], object]) -> None:
    """RENAME of `old` to `new`, while `name` is looked up again and again. SKIP if nothing is renamed."""
    change = op.putfh(scratch.handle), op.savefh(), op.rename(b"old", b"new")
    reply = race.run(change, (op.putfh(scratch.handle), op.lookup(name)), judge)
    if reply.status == Nfsstat4.NFS4ERR_DELAY:
        reply = race.again(change)
    if reply.status != Nfsstat4.NFS4_OK:
        skip(f"nothing is renamed: RENAME answers {reply.status}", reply)


def _expect_found(reply: CompoundReply) -> None:
    """LOOKUP finds something: any other error than NOENT does not say that the name is missing."""
    expect(reply).field("status", "status of LOOKUP").differs_from(Nfsstat4.NFS4ERR_NOENT)
