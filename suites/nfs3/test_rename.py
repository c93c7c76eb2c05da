# SPDX-License-Identifier: MIT
"""RENAME (RFC 1813 section 3.3.14): gives an object a new name, atomically, and may replace a compatible target."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator

import pytest

from fixtures.checks.budget import Budget
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    LOOKUP,
    MKDIR,
    RENAME,
    RMDIR,
    Diropargs3,
    Ftype3,
    Lookup3Args,
    Lookup3Res,
    Lookup3ResOk,
    Mkdir3Args,
    Nfsstat3,
    Rename3Args,
    Rmdir3Args,
    Sattr3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_names,
    must,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
    unsupported,
)
from suites.nfs3.attributes import expect_same_object
from suites.nfs3.bad_names import expect_name_refused, reply_if_decoded
from suites.nfs3.clauses import (
    DOTDOT_IS_THE_PARENT,
    NLINK_COUNTS,
    NO_TRUNC,
    REFUSES_EMPTY_NAMES,
    RENAME_NEEDS_COMPATIBLE_TARGET,
    RENAME_REPLACES_TARGET,
    RENAME_RETURNS_EXIST,
    RENAME_WCC,
    RENAMES_THE_OBJECT,
    RETURNS_MLINK,
    RETURNS_NOENT,
    RETURNS_NOTDIR,
    TREATS_LONG_NAMES_ALIKE,
)
from suites.nfs3.limits import MOST_LINKS, MakeMany, name_limit_of
from suites.nfs3.new_objects import expect_file, expect_type
from suites.nfs3.pipelines import pipelined
from suites.nfs3.statuses import INCOMPATIBLE
from suites.races import ROUNDS, Race

RENAMES_ATOMICALLY = must("RFC 1813", "3.3.14", "RENAME is atomic to the client", harm=Harm.OBJECT)
REPLACES_ATOMICALLY = should(  # also: "the existing target is removed before the rename occurs"
    "RFC 1813",
    "3.3.14",
    "RENAME is atomic to the client, the removal of an existing target too: its name is never missing",
)
RENAME_TO_SAME_FILE_DOES_NOTHING = should(
    "RFC 1813",
    "3.3.14",
    "RENAME from one name of a file to another of its names succeeds and does nothing",
    part=Part.IMPLEMENTATION,
)
RENAME_TO_ITSELF_KEEPS_THE_FILE = should(
    "RFC 1813",
    "3.3.14",
    "RENAME of a file to its own name keeps the file",
    part=Part.IMPLEMENTATION,
    harm=Harm.OBJECT,
)
RENAME_NEEDS_A_SOURCE = stated(
    "RFC 1813",
    "3.3.14",
    "RENAME of a name that is not in the directory fails and replaces nothing",
    harm=Harm.OBJECT,
)
RENAME_REPLACES_ONE_ENTRY = stated(
    "RFC 1813",
    "3.3.14",
    "RENAME replaces one entry: a replaced object keeps its other names",
    harm=Harm.OBJECT,
)
RENAME_NEEDS_TWO_DIRECTORIES = stated(
    "RFC 1813",
    "3.3.14",
    "RENAME takes both names as entries of directories, not of other objects",
    harm=Harm.OBJECT,
)
RENAME_KEEPS_HANDLES = should(
    "RFC 1813", "3.3.14", "RENAME does not make the file handle of the object stale", part=Part.IMPLEMENTATION
)
DIRECTORIES_FORM_A_TREE = should(
    "RFC 1813",
    "3.3.3",
    "directories form a single-rooted tree: a directory cannot be moved below itself",
    part=Part.IMPLEMENTATION,
    harm=Harm.OBJECT,
)


def _names(scratch: Nfs3Scratch, source: bytes, target: bytes) -> Rename3Args:
    return Rename3Args(Diropargs3(scratch.handle, source), Diropargs3(scratch.handle, target))


def _expect_found(reply: Lookup3Res) -> None:
    """LOOKUP finds something: any other error than NOENT does not say that the name is missing."""
    expect(reply).field("status", "status of LOOKUP").differs_from(Nfsstat3.NFS3ERR_NOENT)


def _fileid(nfs3: Nfs3, found: Lookup3ResOk) -> int | None:
    """The fileid of what LOOKUP found; None if it is gone before GETATTR."""
    if found.obj_attributes is not None:
        return found.obj_attributes.fileid
    reply = nfs3.getattr(found.object)
    return None if reply.resok is None else reply.resok.obj_attributes.fileid


def _race(
    race: Race, nfs3: Nfs3, args: Rename3Args, looked_up: Diropargs3, judge: Callable[[Lookup3Res], None]
) -> None:
    """LOOKUP a name before and during a RENAME; `judge` gets each reply. SKIP if RENAME fails."""
    reply = race.run((RENAME, args), (LOOKUP, Lookup3Args(looked_up)), judge)
    if reply.status == Nfsstat3.NFS3ERR_JUKEBOX:
        observe("RENAME", "NFS3ERR_JUKEBOX")
        reply = nfs3.rename(args.from_.dir, args.from_.name, args.to.dir, args.to.name)
    if reply.status != Nfsstat3.NFS3_OK:
        skip(f"nothing is renamed: RENAME answers {reply.status}", reply)


@proves(RENAMES_THE_OBJECT, killed_by="rename3-keeps-the-old-name")
def test_old_name_gone(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME removes the old name from the directory."""
    scratch.file("old")
    expect(nfs3.rename(scratch.handle, b"old", scratch.handle, b"new")).ok()
    expect_names(scratch.names(), [b"new"], "names in the directory")


@proves(RENAMES_THE_OBJECT, killed_by="rename3-makes-a-new-file")
def test_same_object(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME gives the new name to the same object."""
    known = scratch.attributes(scratch.file("old", b"data"))
    expect(nfs3.rename(scratch.handle, b"old", scratch.handle, b"new")).ok()
    expect_file(scratch, b"new", b"data")
    found = expect(nfs3.lookup(scratch.handle, b"new")).ok()
    expect(scratch.attributes(found.object)).field("fileid", "fileid of the new name").equals(known.fileid)


@proves(RENAMES_THE_OBJECT, killed_by="rename3-stays-in-its-directory")
def test_other_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME moves a file to another directory."""
    scratch.file("file", b"data")
    elsewhere = scratch.directory("elsewhere")
    expect(nfs3.rename(scratch.handle, b"file", elsewhere, b"file")).ok()
    expect_names(scratch.names(elsewhere), [b"file"], "names in the other directory")


@proves(RENAME_REPLACES_TARGET, killed_by="rename3-keeps-the-target")
def test_replaces_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME replaces an existing file."""
    scratch.file("source", b"source")
    scratch.file("target", b"target")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")).ok()
    expect_file(scratch, b"target", b"source")


@proves(RENAME_REPLACES_TARGET, killed_by="rename3-over-empty-directory-does-nothing")
def test_replaces_empty_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME of a directory replaces an empty directory."""
    source = scratch.attributes(scratch.directory("source"))
    scratch.directory("target")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")).ok()
    found = expect(nfs3.lookup(scratch.handle, b"target")).ok()
    expect(scratch.attributes(found.object)).field("fileid", "fileid of target").equals(source.fileid)


@proves(RENAME_NEEDS_COMPATIBLE_TARGET, killed_by="rename3-replaces-full-directories")
def test_full_directory_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME does not replace a directory that is not empty."""
    scratch.directory("source")
    scratch.file("inside", directory=scratch.directory("target"))
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    found = expect(nfs3.lookup(scratch.handle, b"target")).ok()
    expect_names(scratch.names(found.object), [b"inside"], "names in the target directory")
    expect(reply).refused(*INCOMPATIBLE, because=RENAME_RETURNS_EXIST)


@proves(RENAME_NEEDS_COMPATIBLE_TARGET, killed_by="rename3-replaces-directories-by-files")
def test_file_over_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME does not replace a directory by a file."""
    scratch.file("source", b"precious")
    scratch.directory("target")
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    expect_names(scratch.names(), [b"source", b"target"], "names in the directory")
    expect(reply).refused(*INCOMPATIBLE, because=RENAME_RETURNS_EXIST)


@proves(RENAME_NEEDS_COMPATIBLE_TARGET, killed_by="rename3-replaces-files-by-directories")
def test_directory_over_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME does not replace a file by a directory."""
    scratch.directory("source")
    scratch.file("target", b"precious")
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    expect_file(scratch, b"target", b"precious")
    expect(reply).refused(*INCOMPATIBLE, because=RENAME_RETURNS_EXIST)


@proves(REPLACES_ATOMICALLY, killed_by="rename3-removes-the-target-in-a-first-step")
def test_target_always_exists(
    nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient]
) -> None:
    """The target name exists at every moment while RENAME replaces it."""
    scratch.file("target")
    race, names = Race(rpc_connect), _names(scratch, b"source", b"target")
    for _ in range(ROUNDS):
        scratch.file("source")
        _race(race, nfs3, names, names.to, _expect_found)


@proves(RENAMES_ATOMICALLY, killed_by="rename3-shows-a-temporary-file")
def test_target_old_or_new(nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient]) -> None:
    """While RENAME replaces a file, the target name refers to the old or to the new file."""
    known = [scratch.attributes(scratch.file("target")).fileid]
    race, names = Race(rpc_connect), _names(scratch, b"source", b"target")

    def expect_known(reply: Lookup3Res) -> None:
        fileid = None if reply.resok is None else _fileid(nfs3, reply.resok)
        if fileid is not None:
            expect(fileid, "fileid of 'target'", field="fileid").satisfies(
                known.__contains__,
                f"that of a file that had this name before, or gets it now: {show(known[-4:])}",
            )

    for _ in range(ROUNDS):
        known.append(scratch.attributes(scratch.file("source")).fileid)
        _race(race, nfs3, names, names.to, expect_known)


@proves(RENAMES_ATOMICALLY, killed_by="rename3-removes-the-old-name-in-a-first-step")
def test_source_always_named(nfs3: Nfs3, scratch: Nfs3Scratch, rpc_connect: Callable[..., RpcClient]) -> None:
    """A file has its old or its new name at every moment of a RENAME."""
    race, names = Race(rpc_connect), _names(scratch, b"source", b"moved")

    def expect_moved(reply: Lookup3Res) -> None:
        if reply.status == Nfsstat3.NFS3ERR_NOENT:
            _expect_found(nfs3.lookup(scratch.handle, b"moved"))

    for _ in range(ROUNDS):
        scratch.file("source")
        _race(race, nfs3, names, names.from_, expect_moved)
        nfs3.remove(scratch.handle, b"moved")


@proves(RENAME_TO_SAME_FILE_DOES_NOTHING, killed_by="rename3-removes-one-of-two-links", needs="hardlink")
def test_links_of_one_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME from one name of a file to another name of the same file keeps both names."""
    scratch.link(scratch.file("one", b"data"), "other")
    expect(nfs3.rename(scratch.handle, b"one", scratch.handle, b"other")).ok()
    expect_names(scratch.names(), [b"one", b"other"], "names in the directory")


@proves(RENAME_NEEDS_A_SOURCE, killed_by="rename3-removes-the-target-first")
def test_missing_source(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME of a name that does not exist does not replace the target."""
    scratch.file("target", b"precious")
    reply = nfs3.rename(scratch.handle, b"nobody-made-this", scratch.handle, b"target")
    expect_file(scratch, b"target", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOENT, because=RETURNS_NOENT)


@proves(DIRECTORIES_FORM_A_TREE, killed_by="rename3-moves-below-itself")
def test_below_itself(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME does not move a directory below itself."""
    directory = scratch.directory("directory")
    below = scratch.directory("below", directory=directory)
    reply = nfs3.rename(scratch.handle, b"directory", below, b"directory")
    expect_names(scratch.names(), [b"directory"], "names in the parent directory")
    expect(reply).refused()


@proves(RENAMES_THE_OBJECT, killed_by="rename3-keeps-the-name-in-the-old-directory")
def test_old_directory_left(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME to another directory removes the old name from the old directory."""
    elsewhere = scratch.directory("elsewhere")
    scratch.file("file", directory=elsewhere)
    expect(nfs3.rename(elsewhere, b"file", scratch.handle, b"moved")).ok()
    expect_names(scratch.names(elsewhere), [], "names in the old directory")


@proves(RENAMES_THE_OBJECT, killed_by="rename3-empties-directories")
def test_directory_with_entries(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME moves a directory with its entries."""
    scratch.file("inside", directory=scratch.directory("directory"))
    elsewhere = scratch.directory("elsewhere")
    expect(nfs3.rename(scratch.handle, b"directory", elsewhere, b"directory")).ok()
    found = expect(nfs3.lookup(elsewhere, b"directory")).ok()
    expect_names(scratch.names(found.object), [b"inside"], "names in the moved directory")


@proves(DOTDOT_IS_THE_PARENT, killed_by="rename3-keeps-dotdot")
def test_dotdot_updated(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME to another directory makes that directory the ".." of a moved directory."""
    scratch.directory("directory")
    elsewhere = scratch.directory("elsewhere")
    expect(nfs3.rename(scratch.handle, b"directory", elsewhere, b"directory")).ok()
    found = expect(nfs3.lookup(elsewhere, b"directory")).ok()
    parent = scratch.lookup("..", directory=found.object)
    if parent is None:
        unsupported("LOOKUP of '..' fails with NFS3ERR_NOENT")
    expect(scratch.attributes(parent)).field("fileid", "fileid of '..'").equals(
        scratch.attributes(elsewhere).fileid
    )


@proves(RENAMES_THE_OBJECT, killed_by="rename3-follows-symlinks", needs="symlink")
def test_symlink_not_followed(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME of a symbolic link renames the link, not its target."""
    scratch.file("target", b"precious")
    scratch.symlink("link", b"target")
    expect(nfs3.rename(scratch.handle, b"link", scratch.handle, b"new")).ok()
    expect_type(nfs3, scratch, b"new", Ftype3.NF3LNK)
    expect_file(scratch, b"target", b"precious")


@proves(RENAME_REPLACES_TARGET, killed_by="rename3-replaces-what-links-point-to", needs="symlink")
def test_target_symlink_replaced(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME over a symbolic link replaces the link, not its target."""
    scratch.file("source", b"source")
    scratch.file("target", b"precious")
    scratch.symlink("link", b"target")
    expect(nfs3.rename(scratch.handle, b"source", scratch.handle, b"link")).ok()
    expect_file(scratch, b"target", b"precious")
    expect_file(scratch, b"link", b"source")


@proves(RENAME_REPLACES_ONE_ENTRY, killed_by="rename3-destroys-replaced-files", needs="hardlink")
def test_target_other_link_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A file that RENAME replaces keeps its other name and its data."""
    scratch.file("source", b"source")
    scratch.link(scratch.file("target", b"precious"), "other")
    observe("RENAME", nfs3.rename(scratch.handle, b"source", scratch.handle, b"target").status)
    expect_file(scratch, b"other", b"precious")


@proves(NLINK_COUNTS, killed_by="rename3-keeps-nlink-of-replaced-files", needs="hardlink")
def test_target_nlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME decreases nlink of a replaced file by one."""
    scratch.file("source")
    file = scratch.file("target")
    scratch.link(file, "other")
    before = scratch.attributes(file).nlink
    reply = nfs3.rename(scratch.handle, b"source", scratch.handle, b"target")
    if reply.status != Nfsstat3.NFS3_OK:
        skip(f"the target was not replaced: RENAME answers {reply.status}", reply)
    found = expect(nfs3.lookup(scratch.handle, b"other")).ok()
    expect(scratch.attributes(found.object)).field("nlink", "nlink of the replaced file").equals(before - 1)


@proves(
    RENAME_TO_ITSELF_KEEPS_THE_FILE,
    RENAME_TO_SAME_FILE_DOES_NOTHING,
    killed_by=("rename3-of-itself-removes", "rename3-of-itself-is-exist"),
)
def test_same_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME of a file to its own name succeeds and changes nothing."""
    scratch.file("file", b"precious")
    reply = nfs3.rename(scratch.handle, b"file", scratch.handle, b"file")
    expect_file(scratch, b"file", b"precious")
    expect(reply, because=RENAME_TO_SAME_FILE_DOES_NOTHING).ok()


@proves(RENAME_KEEPS_HANDLES, killed_by="rename3-stales-handles")
def test_handle_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """The handle of a file still works after RENAME."""
    file = scratch.file("file", b"data")
    expect(nfs3.rename(scratch.handle, b"file", scratch.handle, b"kept")).ok()
    expect(nfs3.getattr(file)).ok()


@proves(RENAME_NEEDS_TWO_DIRECTORIES, killed_by="rename3-renames-from-files")
def test_file_as_source_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME with a regular file as the source directory fails with NFS3ERR_NOTDIR."""
    reply = nfs3.rename(scratch.file("file"), b"name", scratch.handle, b"new")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(RENAME_NEEDS_TWO_DIRECTORIES, killed_by="rename3-renames-into-files")
def test_file_as_target_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME with a regular file as the target directory fails with NFS3ERR_NOTDIR."""
    scratch.file("source", b"precious")
    reply = nfs3.rename(scratch.handle, b"source", scratch.file("file"), b"name")
    expect_file(scratch, b"source", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_NOTDIR, because=RETURNS_NOTDIR)


@proves(RENAME_WCC, killed_by="rename3-returns-two-sizes-after")
def test_wcc_same_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME within one directory returns the same attributes in fromdir_wcc and todir_wcc."""
    scratch.file("file")
    reply = nfs3.rename(scratch.handle, b"file", scratch.handle, b"new")
    resok = expect(reply).ok()
    known = resok.fromdir_wcc.after
    if known is None or resok.todir_wcc.after is None:
        unsupported("RENAME returned no fromdir_wcc.after or no todir_wcc.after: both are optional")
    expect_same_object(reply, "resok.todir_wcc.after", known)


@proves(RENAME_WCC, killed_by="rename3-swaps-the-directories")
def test_wcc_two_directories(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME returns the source directory in fromdir_wcc and the target directory in todir_wcc."""
    scratch.file("file")
    elsewhere = scratch.directory("elsewhere")
    reply = nfs3.rename(scratch.handle, b"file", elsewhere, b"file")
    resok = expect(reply).ok()
    if resok.fromdir_wcc.after is None or resok.todir_wcc.after is None:
        unsupported("RENAME returned no fromdir_wcc.after or no todir_wcc.after: both are optional")
    expect(reply).field("resok.fromdir_wcc.after.fileid").equals(scratch.attributes().fileid)
    expect(reply).field("resok.todir_wcc.after.fileid").equals(scratch.attributes(elsewhere).fileid)


@proves(REFUSES_EMPTY_NAMES, killed_by="rename3-accepts-the-empty-name")
def test_empty_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME refuses the empty name as its target."""
    scratch.file("file", b"precious")
    what = "RENAME to the empty name"
    reply = reply_if_decoded(nfs3, lambda: nfs3.rename(scratch.handle, b"file", scratch.handle, b""), what)
    expect_file(scratch, b"file", b"precious")
    expect_name_refused(reply, what)


@proves(NO_TRUNC, TREATS_LONG_NAMES_ALIKE, killed_by="rename3-cuts-long-names", needs="no_trunc")
def test_name_too_long(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """RENAME refuses a target name longer than name_max."""
    limit = name_limit_of(nfs3, scratch.handle)
    scratch.file("file", b"precious")
    reply = nfs3.rename(scratch.handle, b"file", scratch.handle, b"n" * (limit.name_max + 1))
    expect_names(scratch.names(), [b"file"], "names in the directory", because=limit.effect)
    expect(reply, because=limit.effect).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, because=limit.status_if_new)


# ---------------------------------------------------------------- linkmax


@pytest.fixture
def subdirectories(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch, budget: Budget
) -> Iterator[MakeMany]:
    """Makes many subdirectories and returns the first reply that is not OK, or None. Removes them later."""
    del scratch  # only so that it is removed after them
    rpc = rpc_connect("nfs")
    places: list[Diropargs3] = []

    def act(directory: bytes, count: int) -> t.Any:
        places.extend(Diropargs3(directory, b"directory-%05d" % number) for number in range(count))
        asked = (Mkdir3Args(place, Sattr3(mode=0o755)) for place in places)
        for _, reply in pipelined(nfs3, rpc, MKDIR, asked, outstanding=1):
            if reply.status != Nfsstat3.NFS3_OK:
                return reply
        return None

    yield act
    if rpc.is_usable and not budget.leaves_names:
        for _ in pipelined(nfs3, rpc, RMDIR, (Rmdir3Args(place) for place in places)):
            pass


@proves(RETURNS_MLINK, killed_by="rename3-too-many-directories-is-io")
def test_beyond_linkmax(nfs3: Nfs3, scratch: Nfs3Scratch, subdirectories: MakeMany) -> None:
    """RENAME of a directory into a parent with linkmax links succeeds or fails with MLINK."""
    full = scratch.directory("full")
    linkmax = expect(nfs3.pathconf(full)).ok().linkmax
    observe("linkmax", linkmax)
    if not 2 <= linkmax <= MOST_LINKS:
        skip(f"linkmax is {linkmax}: this check creates at most {MOST_LINKS} directories")
    # On UNIX the ".." of each is a link to the parent, which also has its own name and its ".".
    refused = subdirectories(full, linkmax - 2)
    if refused is not None and refused.status != Nfsstat3.NFS3ERR_MLINK:
        skip(f"cannot create {linkmax - 2} subdirectories: MKDIR answers {refused.status}", refused)
    scratch.directory("moved")
    reply = nfs3.rename(scratch.handle, b"moved", full, b"moved")
    observe("RENAME into a directory with linkmax links", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:  # the server need not count links of directories
        expect(reply).refused(Nfsstat3.NFS3ERR_MLINK, because=RETURNS_MLINK)
