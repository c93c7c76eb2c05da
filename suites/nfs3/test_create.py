# SPDX-License-Identifier: MIT
"""CREATE (RFC 1813 section 3.3.8) in its modes UNCHECKED, GUARDED and EXCLUSIVE."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    CREATE,
    Create3Args,
    Create3Res,
    Createhow3,
    CreateMode3,
    Diropargs3,
    Ftype3,
    Nfsstat3,
    Sattr3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_names,
    expect_that,
    expect_unchanged,
    observe,
    proves,
    should,
    skip,
    stated,
)
from suites.clauses import FILEID_STAYS
from suites.nfs3.attributes import EVERYTHING, PROTECTION, STEADY, with_mode
from suites.nfs3.bad_names import expect_name_refused, reply_if_decoded
from suites.nfs3.clauses import (
    EXCLUSIVE_NEEDS_ITS_VERIFIER,
    REFUSES_EMPTY_NAMES,
    RETURNS_EXIST,
    SETS_INITIAL_ATTRIBUTES,
)
from suites.nfs3.common import CommonNfs3
from suites.nfs3.file_types import KINDS, make
from suites.nfs3.new_objects import (
    OTHER_VERIFIER,
    VERIFIER,
    expect_file,
    expect_not_a_directory,
    expect_object,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
    new_attributes,
)
from suites.races import ROUNDS
from suites.replies import need_done

CREATE_CREATES_A_FILE = stated(
    "RFC 1813", "3.3.8", "CREATE creates a regular file with the given name", harm=Harm.SUCCESS
)
CREATE_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.8", "obj_attributes are the attributes of the regular file just created"
)
CREATE_RETURNS_HANDLE = stated("RFC 1813", "3.3.8", "obj is the file handle of the regular file just created")
UNCHECKED_KEEPS_DATA = should(  # the text does not say what UNCHECKED does to a file that exists
    "RFC 1813",
    "3.3.8",
    "UNCHECKED without a size does not change the data of an existing file",
    harm=Harm.DATA,
)
UNCHECKED_ACCEPTS_EXISTING = should(
    "RFC 1813",
    "3.3.8",
    "UNCHECKED creates the file without a check for an existing one: it does not fail with NFS3ERR_EXIST",
)
GUARDED_RETURNS_EXIST = should(
    "RFC 1813", "3.3.8", "GUARDED fails with NFS3ERR_EXIST if the name exists", harm=Harm.SUCCESS
)
GUARDED_KEEPS_EXISTING = should(  # the text says that the server should check and should fail
    "RFC 1813",
    "3.3.8",
    "GUARDED does not change an existing object: the create is not performed",
    harm=Harm.OBJECT,
)
GUARDED_KEEPS_TIMES = should(
    "RFC 1813", "3.3.8", "GUARDED does not perform the create of an existing name: its times stay"
)
EXCLUSIVE_MAY_BE_REPEATED = should(
    "RFC 1813",
    "3.3.8",
    "EXCLUSIVE with the verifier of the existing file is a retransmission: it succeeds and changes nothing",
    part=Part.IMPLEMENTATION,
)
CREATE_NEEDS_A_DIRECTORY = stated(
    "RFC 1813", "3.3.8", "CREATE creates the file in a directory, not in another object", harm=Harm.OBJECT
)
REPEATED_EXCLUSIVE_KEEPS_DATA = stated(
    "RFC 1813",
    "3.3.8",
    "a repeated EXCLUSIVE does not damage the file that the first one created",
    harm=Harm.OBJECT,
)
EXCLUSIVE_CREATES_ONCE = stated(
    "RFC 1813",
    "3.3.8",
    "EXCLUSIVE ensures exclusive creation: of two requests with different verifiers one creates the file",
    harm=Harm.OBJECT,
)
GUARDED_CREATES_ONCE = should(
    "RFC 1813",
    "3.3.8",
    "GUARDED should check for the file before it creates it: of two requests one creates the file",
)
CREATE_KEEPS_OTHER_TYPES = should(
    "RFC 1813",
    "3.3.8",
    "CREATE creates a regular file: it does not replace an object of another type",
    harm=Harm.OBJECT,
)
CREATE_FOLLOWS_NO_LINKS = should(
    "RFC 1813",
    "3.3.8",
    "CREATE creates the name in its arguments: it does not create the target of a symbolic link",
)


# ---------------------------------------------------------------- UNCHECKED, GUARDED, EXCLUSIVE


@proves(CREATE_CREATES_A_FILE, killed_by="create3-creates-nothing")
def test_unchecked_creates_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE UNCHECKED creates a regular file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o644))).ok()
    expect_type(nfs3, scratch, b"file", Ftype3.NF3REG)


@proves(CREATE_CREATES_A_FILE, killed_by="create3-fills-the-file")
def test_unchecked_file_empty(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A file created by CREATE UNCHECKED is empty."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o644))).ok()
    expect_file(scratch, b"file", b"")


@proves(CREATE_RETURNS_ATTRIBUTES, killed_by="create3-attributes-of-the-directory")
def test_unchecked_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE UNCHECKED returns the attributes of the new file."""
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3(mode=0o640))
    expect_own_attributes(nfs3, scratch, b"file", reply)


@proves(CREATE_RETURNS_HANDLE, killed_by="create3-returns-the-handle-of-the-directory")
def test_unchecked_handle(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE UNCHECKED returns the handle of the new file."""
    reply = nfs3.create(scratch.handle, b"handle", CreateMode3.UNCHECKED, Sattr3(mode=0o640))
    expect_own_handle(nfs3, scratch, b"handle", reply)


@proves(SETS_INITIAL_ATTRIBUTES, killed_by="create3-ignores-mode")
def test_unchecked_mode(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A file created by CREATE UNCHECKED has no permission bit that was not requested."""
    mode = scratch.attributes(scratch.file("file", mode=0o640)).mode
    observe("permission bits for mode 0640", f"0{mode & 0o777:03o}")
    expect(mode, "mode of the new file", field="mode").satisfies(
        lambda mode: not mode & 0o777 & ~0o640, "no permission bits but 0640"
    )


@proves(UNCHECKED_KEEPS_DATA, killed_by="create3-unchecked-truncates")
def test_unchecked_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE UNCHECKED without a size does not truncate an existing file."""
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3())
    observe("UNCHECKED on an existing file", reply.status)
    expect_file(scratch, b"file", b"precious")


@proves(UNCHECKED_ACCEPTS_EXISTING, killed_by="create3-unchecked-is-guarded")
def test_unchecked_existing_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE UNCHECKED of an existing file succeeds."""
    scratch.file("file")
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.UNCHECKED, Sattr3())).ok()


@proves(GUARDED_RETURNS_EXIST, killed_by="create3-guarded-accepts-existing")
def test_guarded_existing_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE GUARDED of an existing file fails with NFS3ERR_EXIST."""
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_RETURNS_EXIST)


@proves(GUARDED_KEEPS_EXISTING, killed_by="create3-guarded-truncates")
def test_guarded_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE GUARDED does not truncate an existing file."""
    scratch.file("file", b"precious")
    nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(size=0))
    expect_file(scratch, b"file", b"precious")


@proves(GUARDED_RETURNS_EXIST, killed_by="create3-guarded-accepts-directories")
def test_guarded_existing_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE GUARDED of an existing directory fails with NFS3ERR_EXIST."""
    scratch.directory("directory")
    reply = nfs3.create(scratch.handle, b"directory", CreateMode3.GUARDED, Sattr3(mode=0o644))
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=GUARDED_RETURNS_EXIST)


@proves(
    EXCLUSIVE_MAY_BE_REPEATED,
    REPEATED_EXCLUSIVE_KEEPS_DATA,
    killed_by=("create3-exclusive-forgets-verifier", "create3-exclusive-replaces-the-file"),
    needs="exclusive_create",
)
def test_exclusive_repeat(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A repeated CREATE EXCLUSIVE with the same verifier succeeds and keeps the file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    handle = scratch.lookup("file")
    first = scratch.attributes(handle).fileid
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    seen = scratch.attributes(scratch.lookup("file")).fileid
    # Before SETATTR the attributes are not to be relied on: a file that its first handle reaches is the same one.
    kept = nfs3.getattr(handle or b"").resok
    is_same = kept is not None and kept.obj_attributes.fileid == seen
    because = FILEID_STAYS if is_same else REPEATED_EXCLUSIVE_KEEPS_DATA
    expect(seen, "fileid after the second CREATE", field="fileid", because=because).equals(first)


@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-accepts-any-verifier", needs="exclusive_create"
)
def test_exclusive_other_verifier(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE EXCLUSIVE fails if the file was created with another verifier."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=OTHER_VERIFIER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-accepts-existing", needs="exclusive_create"
)
def test_exclusive_existing_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE EXCLUSIVE fails if the file was not created by EXCLUSIVE."""
    scratch.file("file", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(CREATE_NEEDS_A_DIRECTORY, killed_by="create3-creates-in-files")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    expect_not_a_directory(
        nfs3.create(scratch.file("file"), b"name", CreateMode3.GUARDED, Sattr3(mode=0o644))
    )


@proves(REFUSES_EMPTY_NAMES, killed_by="create3-accepts-the-empty-name")
def test_empty_name(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE refuses the empty name."""
    what = "CREATE of the empty name"
    reply = reply_if_decoded(
        nfs3, lambda: nfs3.create(scratch.handle, b"", CreateMode3.GUARDED, Sattr3(mode=0o644)), what
    )
    expect_name_refused(reply, what)


# ---------------------------------------------------------------- initial attributes


@pytest.mark.parametrize("size", [1, 5000])
@pytest.mark.parametrize("creation", ["unchecked", "guarded"])
@proves(SETS_INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes")
def test_initial_size(nfs3: Nfs3, scratch: Nfs3Scratch, creation: str, size: int) -> None:
    """A file created by CREATE has the requested size."""
    made = new_attributes(nfs3, scratch, creation, Sattr3(mode=0o644, size=size))
    expect(made).field("size").equals(size)


# ---------------------------------------------------------------- GUARDED and EXCLUSIVE: results, repetitions, races


@pytest.mark.parametrize("mode", [CreateMode3.GUARDED, CreateMode3.EXCLUSIVE], ids=["guarded", "exclusive"])
@proves(CREATE_CREATES_A_FILE, killed_by="create3-creates-nothing")
def test_creates_empty_file(nfs3: Nfs3, scratch: Nfs3Scratch, mode: CreateMode3) -> None:
    """CREATE GUARDED and EXCLUSIVE create an empty regular file."""
    expect(nfs3.create(scratch.handle, b"file", mode, Sattr3(mode=0o644), VERIFIER)).ok()
    expect_type(nfs3, scratch, b"file", Ftype3.NF3REG)
    expect_file(scratch, b"file", b"")


@proves(CREATE_RETURNS_ATTRIBUTES, killed_by="create3-attributes-of-the-directory")
def test_guarded_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE GUARDED returns the attributes of the new file."""
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(mode=0o640))
    expect_own_attributes(nfs3, scratch, b"file", reply)


@pytest.mark.parametrize("mode", [CreateMode3.GUARDED, CreateMode3.EXCLUSIVE], ids=["guarded", "exclusive"])
@proves(CREATE_RETURNS_HANDLE, killed_by="create3-returns-the-handle-of-the-directory")
def test_returns_handle(nfs3: Nfs3, scratch: Nfs3Scratch, mode: CreateMode3) -> None:
    """CREATE GUARDED and EXCLUSIVE return the handle of the new file."""
    reply = nfs3.create(scratch.handle, b"handle", mode, Sattr3(mode=0o640), VERIFIER)
    expect_own_handle(nfs3, scratch, b"handle", reply)


@pytest.mark.parametrize(
    "verifier", [bytes(8), b"\xff" * 8, b"\0\0\0\0\0\0\0\x01"], ids=["zeros", "ones", "one"]
)
@proves(EXCLUSIVE_MAY_BE_REPEATED, killed_by="create3-exclusive-forgets-verifier", needs="exclusive_create")
def test_exclusive_any_verifier(nfs3: Nfs3, scratch: Nfs3Scratch, verifier: bytes) -> None:
    """CREATE EXCLUSIVE recognizes any verifier, even all zeros or all ones."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifier)).ok()
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifier)).ok()


@proves(
    REPEATED_EXCLUSIVE_KEEPS_DATA, killed_by="create3-exclusive-truncates-again", needs="exclusive_create"
)
def test_exclusive_repeat_keeps_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A repeated CREATE EXCLUSIVE does not truncate the file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    scratch.write(scratch.lookup("file") or b"", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)
    observe("EXCLUSIVE repeated after a WRITE", reply.status)
    expect_file(scratch, b"file", b"precious")


@proves(EXCLUSIVE_MAY_BE_REPEATED, killed_by="create3-exclusive-resets-the-mode", needs="exclusive_create")
def test_exclusive_repeat_keeps_mode(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A repeated CREATE EXCLUSIVE does not change the mode of the file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    file = with_mode(nfs3, scratch.lookup("file") or b"", 0o751)
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)
    observe("EXCLUSIVE repeated after a SETATTR", reply.status)
    expect(scratch.attributes(file).mode & PROTECTION, "mode after the second CREATE", field="mode").equals(
        0o751
    )


@pytest.mark.parametrize("how", ["removed", "replaced"])
@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER,
    killed_by=("create3-exclusive-remembers-names", "create3-exclusive-empties-by-name"),
    needs="exclusive_create",
)
def test_exclusive_name_reused(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, how: str) -> None:
    """CREATE EXCLUSIVE with a verifier of before fails when the name is that of another file now, which stays."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)).ok()
    scratch.file("new", b"theirs")
    other, where = CommonNfs3(second_client), scratch.handle
    if how == "removed":
        need_done(other, lambda: other.remove(where, b"file"), "REMOVE")
    need_done(other, lambda: other.rename(where, b"new", b"file"), "RENAME")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=VERIFIER)
    expect_file(scratch, b"file", b"theirs")
    expect(reply).refused()


def _expect_one_creates(
    connect: Callable[..., RpcClient], scratch: Nfs3Scratch, hows: list[Createhow3]
) -> None:
    """Of two CREATEs of one name, sent at once on two connections, exactly one succeeds.

    At first there is one name at a time, then there are many: a busy server has more threads at work.
    """
    __tracebackhide__ = True
    clients = [connect("nfs") for _ in hows]
    names = [b"file-%d" % number for number in range(2 * ROUNDS)]
    judged = 0
    for some in [*([name] for name in names[:ROUNDS]), names[ROUNDS:]]:
        pending = [
            [
                client.submit(CREATE, Create3Args(Diropargs3(scratch.handle, name), how))
                for client, how in zip(clients, hows, strict=True)
            ]
            for name in some
        ]
        for pair in pending:
            replies = [client.wait(call) for client, call in zip(clients, pair, strict=True)]
            done = sum(reply.status == Nfsstat3.NFS3_OK for reply in replies)
            if done or _are_refused_as_existing(replies, clients):
                judged += 1
                text = "CREATEs that succeeded"
                expect_that(done == 1, "exactly 1", str(done), text, reply=replies[-1], field="status")
    if not judged:
        skip(f"no CREATE succeeded: the last one answers {replies[-1].status}")


def _are_refused_as_existing(replies: list[Create3Res], clients: list[RpcClient]) -> bool:
    """Whether the server says of both that the file exists, and each was sent once.

    Over UDP a client sends again what is not answered in time, and the second execution may find the file of the first.
    """
    sent_once = all(client.core.transport == "tcp" for client in clients)
    return sent_once and all(reply.status == Nfsstat3.NFS3ERR_EXIST for reply in replies)


@proves(EXCLUSIVE_CREATES_ONCE, killed_by="create3-exclusive-creates-later", needs="exclusive_create")
def test_exclusive_race(rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch) -> None:
    """Of two simultaneous CREATE EXCLUSIVE with different verifiers, exactly one succeeds."""
    hows = [Createhow3(CreateMode3.EXCLUSIVE, verf=verifier) for verifier in (VERIFIER, OTHER_VERIFIER)]
    _expect_one_creates(rpc_connect, scratch, hows)


@proves(GUARDED_CREATES_ONCE, killed_by="create3-guarded-creates-later")
def test_guarded_race(rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch) -> None:
    """Of two simultaneous CREATE GUARDED, exactly one succeeds."""
    hows = [Createhow3(CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644)) for _ in range(2)]
    _expect_one_creates(rpc_connect, scratch, hows)


# ---------------------------------------------------------------- existing objects of other types


@pytest.mark.parametrize("kind", KINDS)
@proves(GUARDED_KEEPS_EXISTING, killed_by="create3-guarded-sets-the-mode")
def test_guarded_keeps_object(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """CREATE GUARDED does not change an existing object of any type."""
    there = make(nfs3, scratch, kind, b"there")
    known = scratch.attributes(there)
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.GUARDED, Sattr3(mode=0o600, size=0))
    seen = scratch.attributes(there)
    expect_unchanged(known, seen, STEADY)
    expect_unchanged(known, seen, EVERYTHING, because=GUARDED_KEEPS_TIMES)
    expect(reply, because=GUARDED_RETURNS_EXIST).refused(
        Nfsstat3.NFS3ERR_EXIST, because=GUARDED_RETURNS_EXIST
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(
    EXCLUSIVE_NEEDS_ITS_VERIFIER, killed_by="create3-exclusive-accepts-other-types", needs="exclusive_create"
)
def test_exclusive_keeps_object(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """CREATE EXCLUSIVE does not use or change an existing object of another type."""
    there = make(nfs3, scratch, kind, b"there")
    known = scratch.attributes(there)
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.EXCLUSIVE, verf=VERIFIER)
    expect_unchanged(known, scratch.attributes(there), EVERYTHING)
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "regular"])
@proves(CREATE_KEEPS_OTHER_TYPES, killed_by="create3-unchecked-replaces-others")
def test_unchecked_keeps_object(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """CREATE UNCHECKED does not replace an existing object of another type."""
    known = scratch.attributes(make(nfs3, scratch, kind, b"there"))
    reply = nfs3.create(scratch.handle, b"there", CreateMode3.UNCHECKED, Sattr3())
    observe(f"UNCHECKED over an object of type {KINDS[kind].name}", reply.status)
    expect_object(nfs3, scratch.handle, b"there", known.fileid, KINDS[kind])


@pytest.mark.parametrize(
    "mode",
    [CreateMode3.UNCHECKED, CreateMode3.GUARDED, CreateMode3.EXCLUSIVE],
    ids=["unchecked", "guarded", "exclusive"],
)
@proves(CREATE_FOLLOWS_NO_LINKS, killed_by="create3-follows-links", needs="symlink")
def test_dangling_symlink(nfs3: Nfs3, scratch: Nfs3Scratch, mode: CreateMode3) -> None:
    """CREATE with the name of a dangling symbolic link does not create its target."""
    scratch.symlink("link", b"nobody-made-this")
    reply = nfs3.create(scratch.handle, b"link", mode, Sattr3(mode=0o644), VERIFIER)
    observe(f"{mode.name} over a symbolic link", reply.status)
    expect_names(scratch.names(), [b"link"], "names in the directory")
