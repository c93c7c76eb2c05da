# SPDX-License-Identifier: MIT
"""New objects (RFC 1813 section 3.3.8 ff.): initial attributes, modes of CREATE, data of SYMLINK, types of MKNOD."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, RpcTimeout, SystemErr
from nfsclient.protocol.nfs3 import (
    CREATE,
    SYMLINK,
    Create3Args,
    Createhow3,
    CreateMode3,
    Diropargs3,
    Ftype3,
    Mknoddata3,
    Nfsstat3,
    Nfstime3,
    Sattr3,
    Symlink3Args,
    Symlinkdata3,
)
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import Level, Part, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.creating import expect_kept, expect_own_attributes, expect_own_handle, expect_type
from suites.nfs3.naming import reply_if_decoded
from suites.nfs3.preserved import PROTECTION, at_client_time, with_mode

SETS_INITIAL_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # access control lists and rules for groups may override them (section 4.4)
    gist="the attributes in the arguments are the initial attributes of the new object",
)
CREATE_CREATES_A_FILE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="CREATE creates a regular file with the given name"
)
CREATE_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj_attributes are the attributes of the regular file just created"
)
CREATE_RETURNS_HANDLE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj is the file handle of the regular file just created"
)
EXCLUSIVE_MAY_BE_REPEATED = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="EXCLUSIVE with the verifier of the existing file is a retransmission: it succeeds and changes nothing",
)
REPEATED_EXCLUSIVE_KEEPS_DATA = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="a repeated EXCLUSIVE does not damage the file that the first one created",
)
EXCLUSIVE_CREATES_ONCE = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE ensures exclusive creation: of two requests with different verifiers one creates the file",
)
GUARDED_CREATES_ONCE = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="GUARDED should check for the file before it creates it: of two requests one creates the file",
)
SYMLINK_DATA_IS_NOT_INTERPRETED = Requirement(
    rfc="RFC 1813", section="3.3.5", gist="the data of a symbolic link is stored as it is, not interpreted"
)
SYMLINK_DATA_MAY_BE_BINARY = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    level=Level.SHOULD,  # the text calls it "an ASCII string", and says little about NUL and other bytes
    gist="the data of a symbolic link is stored as it is, even if it is not ASCII text",
)
SYMLINK_IS_ATOMIC = Requirement(
    rfc="RFC 1813",
    section="3.3.10",
    level=Level.MUST,
    part=Part.IMPLEMENTATION,
    says_must=True,
    gist="once a symbolic link is visible, READLINK must not fail or return incorrect data",
)
MKNOD_REFUSES_OTHER_TYPES = Requirement(
    rfc="RFC 1813",
    section="3.3.11",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="MKNOD refuses types that it does not create, with NFS3ERR_BADTYPE",
)

A_TIME = Nfstime3(1_000_000_000)
"""A date in 2001, far from the time of any run."""
_VERIFIER = b"\x27\x18\x28\x18\x28\x45\x90\x45"
_OTHER = b"\xd8\xe7\xd7\xe7\xd7\xba\x6f\xba"
"""Differs from _VERIFIER in every byte: a server may store only some of the bits."""
_NAME = b"initial"
_ROUNDS = 10


def _fifo(asked: Sattr3) -> Mknoddata3:
    return Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=asked)


CREATIONS: t.Final[dict[str, Callable[[Nfs3, bytes, Sattr3], t.Any]]] = {
    "unchecked": lambda nfs3, where, asked: nfs3.create(where, _NAME, CreateMode3.UNCHECKED, asked),
    "guarded": lambda nfs3, where, asked: nfs3.create(where, _NAME, CreateMode3.GUARDED, asked),
    "mkdir": lambda nfs3, where, asked: nfs3.mkdir(where, _NAME, asked),
    "mknod": lambda nfs3, where, asked: nfs3.mknod(where, _NAME, _fifo(asked)),
}
"""Calls with initial attributes, except SYMLINK: the attributes of symbolic links vary too much."""


def _new_attributes(nfs3: Nfs3, scratch: Scratch, creation: str, asked: Sattr3) -> t.Any:
    """The attributes of a new object. UNSUPPORTED or SKIP if it cannot be created with the requested ones."""
    reply = CREATIONS[creation](nfs3, scratch.handle, asked)
    if reply.status in {Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_FBIG}:
        unsupported(f"the server creates nothing with these attributes: {reply.status}")
    if reply.status in {Nfsstat3.NFS3ERR_PERM, Nfsstat3.NFS3ERR_ACCES}:
        skip(f"the user of the run may not: {reply.status}")
    expect(reply).ok()
    found = expect(nfs3.lookup(scratch.handle, _NAME)).ok()
    return expect(nfs3.getattr(found.object)).ok().obj_attributes


# ---------------------------------------------------------------- initial attributes


@pytest.mark.parametrize("creation", [name for name in CREATIONS if name != "unchecked"])
@proves(SETS_INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes")
def test_mode_grants_no_more_than_was_asked(nfs3: Nfs3, scratch: Scratch, creation: str) -> None:
    """A new object has no permission bit that was not requested."""
    mode = _new_attributes(nfs3, scratch, creation, Sattr3(mode=0o710)).mode
    observe("mode asked 0o710", f"{mode & 0o777:#o}")
    expect(oct(mode & 0o777 & ~0o710), "permission bits that were not asked for").equals("0o0")


@pytest.mark.parametrize("creation", CREATIONS)
@proves(SETS_INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes", needs="root")
def test_owner_and_group_are_as_asked(nfs3: Nfs3, scratch: Scratch, creation: str) -> None:
    """A new object has the requested owner and group."""
    made = _new_attributes(nfs3, scratch, creation, Sattr3(mode=0o644, uid=4242, gid=4343))
    expect((made.uid, made.gid), "uid and gid").equals((4242, 4343))


@pytest.mark.parametrize("creation", CREATIONS)
@proves(SETS_INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes", needs="cansettime")
def test_times_are_as_asked(nfs3: Nfs3, scratch: Scratch, creation: str) -> None:
    """A new object has the requested atime and mtime."""
    time = at_client_time(A_TIME)
    made = _new_attributes(nfs3, scratch, creation, Sattr3(mode=0o644, atime=time, mtime=time))
    expect(made.mtime.seconds, "seconds of mtime").between(A_TIME.seconds - 10, A_TIME.seconds + 10)
    expect(made.atime.seconds, "seconds of atime").between(A_TIME.seconds - 10, A_TIME.seconds + 10)


@pytest.mark.parametrize("size", [1, 5000])
@pytest.mark.parametrize("creation", ["unchecked", "guarded"])
@proves(SETS_INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes")
def test_size_is_as_asked(nfs3: Nfs3, scratch: Scratch, creation: str, size: int) -> None:
    """A file created by CREATE has the requested size."""
    made = _new_attributes(nfs3, scratch, creation, Sattr3(mode=0o644, size=size))
    expect(made.size, "size").equals(size)


# ---------------------------------------------------------------- GUARDED and EXCLUSIVE


@pytest.mark.parametrize("mode", [CreateMode3.GUARDED, CreateMode3.EXCLUSIVE], ids=["guarded", "exclusive"])
@proves(CREATE_CREATES_A_FILE, killed_by="create3-creates-nothing")
def test_makes_an_empty_regular_file(nfs3: Nfs3, scratch: Scratch, mode: CreateMode3) -> None:
    """CREATE GUARDED and EXCLUSIVE create an empty regular file."""
    expect(nfs3.create(scratch.handle, b"file", mode, Sattr3(mode=0o644), _VERIFIER)).ok()
    expect_type(nfs3, scratch, b"file", Ftype3.NF3REG)
    expect_kept(scratch, b"file", b"")


@proves(CREATE_RETURNS_ATTRIBUTES, killed_by="create3-attributes-of-the-directory")
def test_guarded_returns_the_attributes_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE GUARDED returns the attributes of the new file."""
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(mode=0o640))
    expect_own_attributes(nfs3, scratch, b"file", reply)


@pytest.mark.parametrize("mode", [CreateMode3.GUARDED, CreateMode3.EXCLUSIVE], ids=["guarded", "exclusive"])
@proves(CREATE_RETURNS_HANDLE, killed_by="create3-handle-of-the-directory")
def test_returns_the_handle_of_the_file(nfs3: Nfs3, scratch: Scratch, mode: CreateMode3) -> None:
    """CREATE GUARDED and EXCLUSIVE return the handle of the new file."""
    reply = nfs3.create(scratch.handle, b"handle", mode, Sattr3(mode=0o640), _VERIFIER)
    expect_own_handle(nfs3, scratch, b"handle", reply)


@pytest.mark.parametrize(
    "verifier", [bytes(8), b"\xff" * 8, b"\0\0\0\0\0\0\0\x01"], ids=["zeros", "ones", "one"]
)
@proves(EXCLUSIVE_MAY_BE_REPEATED, killed_by="create3-exclusive-forgets-verifier", needs="exclusive_create")
def test_any_verifier_is_known_again(nfs3: Nfs3, scratch: Scratch, verifier: bytes) -> None:
    """CREATE EXCLUSIVE recognizes any verifier, even all zeros or all ones."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifier)).ok()
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifier)).ok()


@proves(
    REPEATED_EXCLUSIVE_KEEPS_DATA, killed_by="create3-exclusive-truncates-again", needs="exclusive_create"
)
def test_a_repeated_exclusive_keeps_the_data(nfs3: Nfs3, scratch: Scratch) -> None:
    """A repeated CREATE EXCLUSIVE does not truncate the file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    scratch.write(scratch.lookup("file") or b"", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    observe("EXCLUSIVE repeated after a WRITE", reply.status)
    expect_kept(scratch, b"file", b"precious")


@proves(EXCLUSIVE_MAY_BE_REPEATED, killed_by="create3-exclusive-resets-the-mode", needs="exclusive_create")
def test_a_repeated_exclusive_keeps_the_attributes(nfs3: Nfs3, scratch: Scratch) -> None:
    """A repeated CREATE EXCLUSIVE does not change the mode of the file."""
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    file = with_mode(nfs3, scratch.lookup("file") or b"", 0o751)
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    observe("EXCLUSIVE repeated after a SETATTR", reply.status)
    expect(oct(scratch.attributes(file).mode & PROTECTION), "mode").equals(oct(0o751))


def _race(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch, name: bytes, hows: list[Createhow3]
) -> list[Nfsstat3]:
    """The statuses of two simultaneous CREATEs, on two connections."""
    clients = [rpc_connect("nfs") for _ in hows]
    where = Diropargs3(scratch.handle, name)
    pending = [
        client.submit(CREATE, Create3Args(where, how)) for client, how in zip(clients, hows, strict=True)
    ]
    statuses = [client.wait(one).status for client, one in zip(clients, pending, strict=True)]
    expect(nfs3.getattr(scratch.handle)).ok()
    return statuses


@proves(EXCLUSIVE_CREATES_ONCE, killed_by="create3-exclusive-takes-any-verifier", needs="exclusive_create")
def test_one_of_two_creates_exclusively(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
    """Of two simultaneous CREATE EXCLUSIVE with different verifiers, at most one succeeds."""
    hows = [Createhow3(CreateMode3.EXCLUSIVE, verf=verifier) for verifier in (_VERIFIER, _OTHER)]
    statuses = _race(nfs3, rpc_connect, scratch, b"file", hows)
    expect(statuses.count(Nfsstat3.NFS3_OK), "requests that created the file").at_most(1)


@proves(GUARDED_CREATES_ONCE, killed_by="create3-guarded-takes-existing")
def test_one_of_two_creates_when_both_are_guarded(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
    """Of two simultaneous CREATE GUARDED, at most one succeeds."""
    hows = [Createhow3(CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644)) for _ in range(2)]
    statuses = _race(nfs3, rpc_connect, scratch, b"file", hows)
    expect(statuses.count(Nfsstat3.NFS3_OK), "requests that created the file").at_most(1)


# ---------------------------------------------------------------- SYMLINK

_TARGETS = {
    "empty": b"",
    "one-byte": b"x",
    "parent": b"..",
    "slash": b"/",
    "slashes-at-the-end": b"directory///",
    "absolute": b"/some/where",
    "not-utf-8": b"caf\xe9-\xff",
    "with-a-nul": b"cut\0tail",
    "255-bytes": b"t" * 255,
    "256-bytes": b"t" * 256,
    "1023-bytes": b"t" * 1023,
    "1024-bytes": b"t" * 1024,
    "4095-bytes": b"t" * 4095,
}


@pytest.mark.parametrize("target", _TARGETS)
@proves(
    SYMLINK_DATA_IS_NOT_INTERPRETED,
    SYMLINK_DATA_MAY_BE_BINARY,
    killed_by="symlink3-adds-a-byte",
    needs="symlink",
)
def test_data_of_a_link_is_stored_or_refused(nfs3: Nfs3, scratch: Scratch, target: str) -> None:
    """SYMLINK stores the data exactly, or refuses it."""
    made = reply_if_decoded(
        nfs3, lambda: nfs3.symlink(scratch.handle, b"link", _TARGETS[target]), "such data"
    )
    if made is None:
        unsupported("the server does not read such data")
    observe(f"SYMLINK with such data: {target.replace('-', ' ')}", made.status)
    if made.status != Nfsstat3.NFS3_OK:
        unsupported(f"the server refuses such data: {expect(made).refused()}")
    found = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    reply = nfs3.readlink(found.object)
    expect(reply).ok()
    because = (
        SYMLINK_DATA_MAY_BE_BINARY
        if target in {"not-utf-8", "with-a-nul"}
        else SYMLINK_DATA_IS_NOT_INTERPRETED
    )
    expect(reply, because=because).field("resok.data").equals(_TARGETS[target])


@proves(SYMLINK_IS_ATOMIC, killed_by="symlink3-takes-two-steps", needs="symlink")
def test_a_link_is_never_seen_without_its_data(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
    """A symbolic link that LOOKUP finds already has its data."""
    other = rpc_connect("nfs")
    for number in range(_ROUNDS):
        name, data = b"link-%d" % number, b"target-%d" % number
        args = Symlink3Args(Diropargs3(scratch.handle, name), Symlinkdata3(Sattr3(mode=0o777), data))
        making = other.submit(SYMLINK, args)
        for _ in range(3):
            found = nfs3.lookup(scratch.handle, name).resok
            if found is not None:
                reply = nfs3.readlink(found.object)
                expect(reply).ok()
                expect(reply).field("resok.data").equals(data)
        other.wait(making)


# ---------------------------------------------------------------- MKNOD


@pytest.mark.parametrize("kind", [Ftype3.NF3DIR, Ftype3.NF3LNK], ids=["directory", "symlink"])
@proves(MKNOD_REFUSES_OTHER_TYPES, killed_by="mknod3-makes-what-it-cannot", needs="mknod")
def test_mknod_refuses_types_that_others_make(nfs3: Nfs3, scratch: Scratch, kind: Ftype3) -> None:
    """MKNOD of a directory or symbolic link fails with NFS3ERR_BADTYPE."""
    reply = nfs3.mknod(scratch.handle, b"node", Mknoddata3(kind))
    expect(scratch.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_BADTYPE, because=MKNOD_REFUSES_OTHER_TYPES)


@pytest.mark.parametrize("number", [0, 8, 2**31 - 1])
@proves(MKNOD_REFUSES_OTHER_TYPES, killed_by="mknod3-makes-what-it-cannot", needs="mknod")
def test_mknod_refuses_types_that_are_none(nfs3: Nfs3, scratch: Scratch, number: int) -> None:
    """MKNOD refuses a type that ftype3 does not define."""
    try:
        reply = nfs3.mknod(scratch.handle, b"node", Mknoddata3(Ftype3(number)))
    except (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout) as error:
        # Not a value of the enum: a server may fail to decode it, or close the connection.
        observe(f"MKNOD of type {number}", type(error).__name__)
        if isinstance(nfs3.rpc, RpcClient):
            nfs3.rpc.reconnect()
    else:
        observe(f"MKNOD of type {number}", expect(reply).refused())
    expect(scratch.names(), "the names in the directory").equals([])
