# SPDX-License-Identifier: MIT
"""Changes of names survive a crash (RFC 1813 section 1.6)."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.across import ARRANGED, CRASH, Steps, across
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.scratch import need
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Devicedata3, Ftype3, Lookup3Res, Mknoddata3, Nfsstat3, Sattr3, Specdata3
from nfsjudge import (
    expect,
    expect_data,
    expect_names,
    expect_once,
    expect_unchanged,
    proves,
    show,
    skip,
)
from suites.catalogue import Operands, second_name
from suites.losses import Losses
from suites.nfs3.calls import CALLS
from suites.recovery.after_crash import directory_again, look_for_directory
from suites.recovery.either import EACH_VERSION, V2_IS_SYNCHRONOUS, V3_NAMES_ARE_SYNCHRONOUS, Either

NAME_CHANGES: t.Final = ("create", "mkdir", "symlink", "mknod", "remove", "rmdir", "rename", "link")
NAME: t.Final = b"name"
SPECIAL: t.Final = {
    "fifo": Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o600)),
    "socket": Mknoddata3(Ftype3.NF3SOCK, pipe_attributes=Sattr3(mode=0o600)),
    "device": Mknoddata3(Ftype3.NF3CHR, device=Devicedata3(Sattr3(mode=0o600), Specdata3(1, 3))),
}


@across(CRASH, "MKDIR")
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="nfs3-crash-loses-everything")
def test_directory(scratch: Nfs3Scratch, losses: Losses) -> Steps:
    """The directory in which a check works survives a crash."""
    yield CRASH
    found = look_for_directory(losses.target, scratch)
    if isinstance(found, Lookup3Res):
        expect(found).ok()
    losses.need_metadata()


@across(CRASH, by="procedure")
@pytest.mark.parametrize("procedure", NAME_CHANGES)
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="nfs3-crash-loses-names")
def test_survive(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, procedure: str) -> Steps:
    """Created, removed and renamed names survive a crash."""
    call = CALLS[procedure]
    arguments = call.arranged(scratch, NAME)
    yield ARRANGED
    need(nfs3.call(call.procedure, arguments), "the change before the crash", call.procedure.name)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    directory = directory_again(losses.target, scratch)
    replies = {name: survivor.lookup(directory, name) for name in (NAME, second_name(NAME))}
    found = [name for name, reply in replies.items() if reply.status == Nfsstat3.NFS3_OK]
    wanted = call.names_after(NAME)
    wrong = next((replies[name] for name in replies if (name in found) != (name in wanted)), None)
    expect_names(found, wanted, "names found after the crash", reply=wrong, field="status")
    losses.need_metadata()


# ---------------------------------------------------------------- what the names lead to


@EACH_VERSION
@pytest.mark.parametrize("change", ["link", "remove", "rename"])
@across(CRASH, by="change")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-restores-link-counts")
def test_link_count(either: Either, losses: Losses, change: str) -> Steps:
    """The link count of a file survives a crash after LINK, REMOVE of one of its names and RENAME over one."""
    file = either.scratch.file("f", b"data")
    if change != "link":
        either.scratch.link(file, "second")
        either.scratch.file("other")
    yield ARRANGED
    match change:
        case "link":
            either.do("link", Operands(file, to_directory=either.scratch.handle, to_name=b"second"))
        case "remove":
            either.remove(b"second")
        case _:
            either.rename(b"other", b"second")
    known = either.scratch.attributes(file).nlink
    yield CRASH
    either.again()
    seen = either.scratch.attributes(either.found(b"f")).nlink
    expect(seen, "nlink after the crash", field="nlink", because=either.names_rule).equals(known)
    losses.need_metadata()


@EACH_VERSION
@pytest.mark.parametrize("change", ["link", "rename"])
@across(CRASH, by="change")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-leaves-new-names-to-copies")
def test_same_object(either: Either, losses: Losses, change: str) -> Steps:
    """A name that LINK or RENAME made leads to the same file after a crash, not to another one."""
    file = either.scratch.file("f", b"data")
    known = either.scratch.attributes(file).fileid
    bystanders = {name: _fileid(either, either.scratch.file(name, b"data")) for name in (b"1", b"2")}
    yield ARRANGED
    if change == "link":
        either.do("link", Operands(file, to_directory=either.scratch.handle, to_name=b"new"))
    else:
        either.rename(b"f", b"new")
    if _fileid(either, either.scratch.lookup("new")) != known:
        skip("the new name has another fileid even before the crash: another check judges that")
    yield CRASH
    either.again()
    if change == "link":
        known = _fileid(either, either.found(b"f"))
    else:
        # In the other order: a server that numbers files as they are found cannot return both numbers by chance.
        for name in (b"2", b"1"):
            if _fileid(either, either.scratch.lookup(name)) != bystanders[name]:
                skip("the server numbers files again when it starts: no clause says that a fileid is stable")
    seen = _fileid(either, either.found(b"new"))
    expect(seen, "fileid of 'new' after the crash", field="fileid", because=either.names_rule).equals(known)
    losses.need_metadata()


def _fileid(either: Either, handle: bytes | None) -> int | None:
    """The fileid of an object, None if it is not there."""
    if handle is None:
        return None
    fileid: int = either.scratch.attributes(handle).fileid
    return fileid


@EACH_VERSION
@across(CRASH, "RENAME")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-restores-parents")
def test_parent(either: Either, losses: Losses) -> Steps:
    """The entry .. of a directory that RENAME moved leads to its new parent after a crash."""
    here, there = either.scratch.directory("here"), either.scratch.directory("there")
    moved = either.scratch.directory("d", directory=here)
    if either.scratch.lookup("..", directory=moved) is None:
        skip("LOOKUP does not find ..")
    yield ARRANGED
    either.rename(b"d", b"d", here, there)
    moved = either.scratch.lookup("d", directory=there) or moved
    if _fileid(either, either.scratch.lookup("..", directory=moved)) != _fileid(either, there):
        skip("LOOKUP of .. leads elsewhere even before the crash: another check judges that")
    yield CRASH
    either.again()
    there = either.found(b"there")
    parent = either.found(b"..", either.found(b"d", there))
    seen, known = _fileid(either, parent), _fileid(either, there)
    expect(seen, "fileid of .. after the crash", field="fileid", because=either.names_rule).equals(known)
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "RENAME")
@proves(
    V3_NAMES_ARE_SYNCHRONOUS,
    V2_IS_SYNCHRONOUS,
    killed_by=("crash-brings-back-old-names", "listings-fail-after-a-restart"),
)
def test_moved(either: Either, losses: Losses) -> Steps:
    """A file that RENAME moved to another directory is in that directory only after a crash."""
    here, there = either.scratch.directory("here"), either.scratch.directory("there")
    either.scratch.file("f", b"data", directory=here)
    yield ARRANGED
    either.rename(b"f", b"g", here, there)
    yield CRASH
    either.again()
    for name, wanted in ((b"here", []), (b"there", [b"g"])):
        found = either.names(name)
        expect_names(found, wanted, f"names in {show(name)} after the crash", because=either.names_rule)
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "RENAME")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-empties-renamed-files")
def test_replaced(either: Either, losses: Losses) -> Steps:
    """A file with stable data that RENAME puts in place of another one has its data after a crash."""
    either.scratch.file("new", b"new data")
    either.scratch.file("f", b"old")
    yield ARRANGED
    either.rename(b"new", b"f")
    yield CRASH
    either.again()
    left = [name for name in either.names() if name != b"may-be-lost"]
    expect_names(left, [b"f"], "names after the crash", because=either.names_rule)
    seen = either.scratch.read(either.found(b"f"))
    expect_data(seen, b"new data", "data after the crash", because=either.names_rule)
    losses.need_metadata()


@EACH_VERSION
@pytest.mark.parametrize("size", [1, 100, 1000])
@across(CRASH, "SYMLINK")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-empties-symlinks")
def test_symlink_text(either: Either, losses: Losses, size: int) -> Steps:
    """The text of a symbolic link survives a crash."""
    text = (b"some/where/" * 100)[:size].rstrip(b"/").ljust(size, b"x")
    yield ARRANGED
    either.scratch.symlink("l", text)
    yield CRASH
    either.again()
    seen = either.link_text(either.found(b"l"))
    expect_data(seen, text, "text of the symbolic link after the crash", because=either.names_rule)
    losses.need_metadata()


@EACH_VERSION
@pytest.mark.parametrize("procedure", ["create", "mkdir"])
@across(CRASH, by="procedure")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-forgets-modes")
def test_mode(either: Either, losses: Losses, procedure: str) -> Steps:
    """The mode that CREATE or MKDIR gave a new object survives a crash."""
    yield ARRANGED
    either.do(
        procedure,
        Operands(directory=either.scratch.handle, name=NAME, attributes=either.attributes(mode=0o710)),
    )
    known = either.scratch.attributes(either.scratch.lookup(NAME)).mode & 0o777
    yield CRASH
    either.again()
    seen = either.scratch.attributes(either.found(NAME)).mode & 0o777
    expect(seen, "mode after the crash", field="mode", because=either.names_rule).equals(known)
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "CREATE")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-brings-back-cut-data")
def test_truncated(either: Either, losses: Losses) -> Steps:
    """A file that CREATE with size 0 has truncated is empty after a crash."""
    file = either.scratch.file("f", b"data")
    yield ARRANGED
    either.create(b"f", size=0)
    if either.scratch.attributes(file).size:
        skip("CREATE of an existing name does not truncate the file")
    yield CRASH
    either.again()
    seen = either.scratch.attributes(either.found(b"f")).size
    expect(seen, "size after the crash", field="size", because=either.names_rule).equals(0)
    losses.need_metadata()


@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
@across(CRASH, "MKNOD")
@proves(V3_NAMES_ARE_SYNCHRONOUS, killed_by="crash-mixes-up-special-files")
def test_special(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, kind: str) -> Steps:
    """The type and the device numbers of an object that MKNOD made survive a crash."""
    yield ARRANGED
    need(nfs3.mknod(scratch.handle, NAME, SPECIAL[kind]), "the object before the crash", "MKNOD")
    made = scratch.lookup(NAME)
    if made is None:
        skip("LOOKUP does not find the object even before the crash, which nfs3/MKNOD judges")
    known = scratch.attributes(made)
    yield CRASH
    survivor, directory = losses.target.client(Nfs3), directory_again(losses.target, scratch)
    found = expect(survivor.lookup(directory, NAME)).ok().object
    seen = expect(survivor.getattr(found)).ok().obj_attributes
    expect_unchanged(
        known, seen, ("type", "rdev") if kind == "device" else ("type",), "the object after the crash"
    )
    losses.need_metadata()


# ---------------------------------------------------------------- many of them


@EACH_VERSION
@across(CRASH, "CREATE")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-loses-some-of-many-names")
def test_many(either: Either, losses: Losses) -> Steps:
    """Fifty new files are all there after a crash, each once."""
    names = [b"file %d" % number for number in range(50)]
    directory = either.scratch.directory("many")
    yield ARRANGED
    for name in names:
        either.do("create", Operands(directory=directory, name=name))
    yield CRASH
    either.again()
    expect_once(either.names(b"many"), names, because=either.names_rule)
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "MKDIR")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-loses-deep-directories")
def test_deep(either: Either, losses: Losses) -> Steps:
    """Directories inside each other survive a crash, twelve levels deep."""
    yield ARRANGED
    where = either.scratch.handle
    for _ in range(12):
        where = either.scratch.directory("d", directory=where)
    yield CRASH
    either.again()
    where = either.scratch.handle
    for _ in range(12):
        where = either.found(b"d", where)
    losses.need_metadata()


@EACH_VERSION
@across(CRASH, "REMOVE")
@proves(V3_NAMES_ARE_SYNCHRONOUS, V2_IS_SYNCHRONOUS, killed_by="crash-brings-back-removed-names")
def test_many_removed(either: Either, losses: Losses) -> Steps:
    """None of many removed files comes back in a crash, and no other file is missing."""
    directory = either.scratch.directory("many")
    names = [b"file %d" % number for number in range(20)]
    for name in names:
        either.scratch.file(name, directory=directory)
    yield ARRANGED
    for name in names[::2]:
        either.do("remove", Operands(directory=directory, name=name))
    yield CRASH
    either.again()
    found = either.names(b"many")
    expect_names(found, names[1::2], "names after the crash", because=either.names_rule)
    losses.need_metadata()
