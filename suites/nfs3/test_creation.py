# SPDX-License-Identifier: MIT
"""What CREATE, MKDIR, SYMLINK and MKNOD make (RFC 1813 section 3.3.8 ff.): attributes, modes of creation, data."""

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
from suites.nfs3.naming import heard
from suites.nfs3.preserved import PROTECTION, at_client_time, with_mode

INITIAL_ATTRIBUTES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,  # a server's access control lists, and its rules of groups, may say otherwise (section 4.4)
    gist="the attributes in the arguments are the initial attributes of the new object",
)
CREATES_A_FILE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="CREATE creates a regular file under the name"
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj_attributes are those of the regular file just created"
)
HANDLE = Requirement(
    rfc="RFC 1813", section="3.3.8", gist="obj is the file handle of the regular file just created"
)
EXCLUSIVE_REPLAY = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="EXCLUSIVE with the verifier of the file that exists is a repeated request: it succeeds, and does no more",
)
EXCLUSIVE_KEEPS = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE creates: a repeated request does not harm the file that the first one made",
)
ONE_CREATES = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    gist="EXCLUSIVE ensures exclusive creation: of two requests with different verifiers one creates",
)
ONE_IS_GUARDED = Requirement(
    rfc="RFC 1813",
    section="3.3.8",
    level=Level.SHOULD,
    gist="GUARDED should check for a file of this name before it creates: of two requests one creates",
)
NOT_INTERPRETED = Requirement(
    rfc="RFC 1813", section="3.3.5", gist="the data of a symbolic link is not interpreted, but simply stored"
)
STORED_THOUGH_NO_ASCII = Requirement(
    rfc="RFC 1813",
    section="3.3.5",
    level=Level.SHOULD,  # "an ASCII string": of other bytes, and of one that ends strings elsewhere, little is said
    gist="the data of a symbolic link is simply stored, also where it is not text",
)
NO_WINDOW = Requirement(
    rfc="RFC 1813",
    section="3.3.10",
    level=Level.MUST,
    part=Part.IMPLEMENTATION,
    says_must=True,
    gist="once a symbolic link is visible, READLINK must not fail nor return incorrect data",
)
SPECIAL_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.11",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="a type that MKNOD does not make is refused, with BADTYPE",
)

A_TIME = Nfstime3(1_000_000_000)
"""In 2001."""
_VERIFIER = b"\x27\x18\x28\x18\x28\x45\x90\x45"
_OTHER = b"\xd8\xe7\xd7\xe7\xd7\xba\x6f\xba"
"""Differs in every byte: verifiers may be stored with fewer bits."""
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
"""What takes initial attributes; of those of symbolic links little can be said."""


def _made(nfs3: Nfs3, scratch: Scratch, creation: str, asked: Sattr3) -> t.Any:
    """The attributes of what was made. UNSUPPORTED or SKIP where these cannot be had."""
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
@proves(INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes")
def test_mode_grants_no_more_than_was_asked(nfs3: Nfs3, scratch: Scratch, creation: str) -> None:
    mode = _made(nfs3, scratch, creation, Sattr3(mode=0o710)).mode
    observe("mode asked 0o710", f"{mode & 0o777:#o}")
    expect(oct(mode & 0o777 & ~0o710), "permission bits that were not asked for").equals("0o0")


@pytest.mark.parametrize("creation", CREATIONS)
@proves(INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes", needs="root")
def test_owner_and_group_are_as_asked(nfs3: Nfs3, scratch: Scratch, creation: str) -> None:
    made = _made(nfs3, scratch, creation, Sattr3(mode=0o644, uid=4242, gid=4343))
    expect((made.uid, made.gid), "uid and gid").equals((4242, 4343))


@pytest.mark.parametrize("creation", CREATIONS)
@proves(INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes", needs="cansettime")
def test_times_are_as_asked(nfs3: Nfs3, scratch: Scratch, creation: str) -> None:
    time = at_client_time(A_TIME)
    made = _made(nfs3, scratch, creation, Sattr3(mode=0o644, atime=time, mtime=time))
    expect(made.mtime.seconds, "seconds of mtime").between(A_TIME.seconds - 10, A_TIME.seconds + 10)
    expect(made.atime.seconds, "seconds of atime").between(A_TIME.seconds - 10, A_TIME.seconds + 10)


@pytest.mark.parametrize("size", [1, 5000])
@pytest.mark.parametrize("creation", ["unchecked", "guarded"])
@proves(INITIAL_ATTRIBUTES, killed_by="creations3-ignore-initial-attributes")
def test_size_is_as_asked(nfs3: Nfs3, scratch: Scratch, creation: str, size: int) -> None:
    made = _made(nfs3, scratch, creation, Sattr3(mode=0o644, size=size))
    expect(made.size, "size").equals(size)


# ---------------------------------------------------------------- GUARDED and EXCLUSIVE


@pytest.mark.parametrize("mode", [CreateMode3.GUARDED, CreateMode3.EXCLUSIVE])
@proves(CREATES_A_FILE, killed_by="create3-creates-nothing")
def test_makes_an_empty_regular_file(nfs3: Nfs3, scratch: Scratch, mode: CreateMode3) -> None:
    expect(nfs3.create(scratch.handle, b"file", mode, Sattr3(mode=0o644), _VERIFIER)).ok()
    expect_type(nfs3, scratch, b"file", Ftype3.NF3REG)
    expect_kept(scratch, b"file", b"")


@proves(ATTRIBUTES, killed_by="create3-attributes-of-the-directory")
def test_guarded_returns_the_attributes_of_the_file(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.GUARDED, Sattr3(mode=0o640))
    expect_own_attributes(nfs3, scratch, b"file", reply)


@pytest.mark.parametrize("mode", [CreateMode3.GUARDED, CreateMode3.EXCLUSIVE])
@proves(HANDLE, killed_by="create3-handle-of-the-directory")
def test_returns_the_handle_of_the_file(nfs3: Nfs3, scratch: Scratch, mode: CreateMode3) -> None:
    reply = nfs3.create(scratch.handle, b"handle", mode, Sattr3(mode=0o640), _VERIFIER)
    expect_own_handle(nfs3, scratch, b"handle", reply)


@pytest.mark.parametrize("verifier", [bytes(8), b"\xff" * 8, b"\0\0\0\0\0\0\0\x01"], ids=["0", "all", "1"])
@proves(EXCLUSIVE_REPLAY, killed_by="create3-exclusive-forgets-verifier", needs="exclusive_create")
def test_any_verifier_is_known_again(nfs3: Nfs3, scratch: Scratch, verifier: bytes) -> None:
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifier)).ok()
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=verifier)).ok()


@proves(EXCLUSIVE_KEEPS, killed_by="create3-exclusive-truncates-again", needs="exclusive_create")
def test_a_repeated_exclusive_keeps_the_data(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    scratch.write(scratch.lookup("file") or b"", b"precious")
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    observe("EXCLUSIVE repeated after a WRITE", reply.status)
    expect_kept(scratch, b"file", b"precious")


@proves(EXCLUSIVE_REPLAY, killed_by="create3-exclusive-resets-the-mode", needs="exclusive_create")
def test_a_repeated_exclusive_keeps_the_attributes(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)).ok()
    file = with_mode(nfs3, scratch.lookup("file") or b"", 0o751)
    reply = nfs3.create(scratch.handle, b"file", CreateMode3.EXCLUSIVE, verf=_VERIFIER)
    observe("EXCLUSIVE repeated after a SETATTR", reply.status)
    expect(oct(scratch.attributes(file).mode & PROTECTION), "mode").equals(oct(0o751))


def _race(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch, name: bytes, hows: list[Createhow3]
) -> list[Nfsstat3]:
    """The statuses of two CREATEs that are under way at once, on two connections."""
    clients = [rpc_connect("nfs") for _ in hows]
    where = Diropargs3(scratch.handle, name)
    pending = [
        client.submit(CREATE, Create3Args(where, how)) for client, how in zip(clients, hows, strict=True)
    ]
    statuses = [client.wait(one).status for client, one in zip(clients, pending, strict=True)]
    expect(nfs3.getattr(scratch.handle)).ok()
    return statuses


@proves(ONE_CREATES, killed_by="create3-exclusive-takes-any-verifier", needs="exclusive_create")
def test_one_of_two_creates_exclusively(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
    hows = [Createhow3(CreateMode3.EXCLUSIVE, verf=verifier) for verifier in (_VERIFIER, _OTHER)]
    statuses = _race(nfs3, rpc_connect, scratch, b"file", hows)
    expect(statuses.count(Nfsstat3.NFS3_OK), "requests that created the file").at_most(1)


@proves(ONE_IS_GUARDED, killed_by="create3-guarded-takes-existing")
def test_one_of_two_creates_when_both_are_guarded(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
    hows = [Createhow3(CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644)) for _ in range(2)]
    statuses = _race(nfs3, rpc_connect, scratch, b"file", hows)
    expect(statuses.count(Nfsstat3.NFS3_OK), "requests that created the file").at_most(1)


# ---------------------------------------------------------------- SYMLINK

_TARGETS = {
    "empty": b"",
    "one_byte": b"x",
    "parent": b"..",
    "slash": b"/",
    "slashes_at_the_end": b"directory///",
    "absolute": b"/some/where",
    "not_utf_8": b"caf\xe9-\xff",
    "with_a_nul": b"cut\0tail",
    "255_bytes": b"t" * 255,
    "256_bytes": b"t" * 256,
    "1023_bytes": b"t" * 1023,
    "1024_bytes": b"t" * 1024,
    "4095_bytes": b"t" * 4095,
}


@pytest.mark.parametrize("target", _TARGETS)
@proves(NOT_INTERPRETED, STORED_THOUGH_NO_ASCII, killed_by="symlink3-adds-a-byte", needs="symlink")
def test_data_of_a_link_is_stored_or_refused(nfs3: Nfs3, scratch: Scratch, target: str) -> None:
    made = heard(nfs3, lambda: nfs3.symlink(scratch.handle, b"link", _TARGETS[target]), "such data")
    if made is None:
        unsupported("the server does not read such data")
    observe(f"SYMLINK with such data: {target.replace('_', ' ')}", made.status)
    if made.status != Nfsstat3.NFS3_OK:
        unsupported(f"the server refuses such data: {expect(made).refused()}")
    found = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    reply = nfs3.readlink(found.object)
    expect(reply).ok()
    because = STORED_THOUGH_NO_ASCII if target in {"not_utf_8", "with_a_nul"} else NOT_INTERPRETED
    expect(reply, because=because).field("resok.data").equals(_TARGETS[target])


@proves(NO_WINDOW, killed_by="symlink3-takes-two-steps", needs="symlink")
def test_a_link_is_never_seen_without_its_data(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
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
@proves(SPECIAL_ONLY, killed_by="mknod3-makes-what-it-cannot", needs="mknod")
def test_mknod_refuses_types_that_others_make(nfs3: Nfs3, scratch: Scratch, kind: Ftype3) -> None:
    reply = nfs3.mknod(scratch.handle, b"node", Mknoddata3(kind))
    expect(scratch.names(), "the names in the directory").equals([])
    expect(reply).refused(Nfsstat3.NFS3ERR_BADTYPE, because=SPECIAL_ONLY)


@pytest.mark.parametrize("number", [0, 8, 2**31 - 1])
@proves(SPECIAL_ONLY, killed_by="mknod3-makes-what-it-cannot", needs="mknod")
def test_mknod_refuses_types_that_are_none(nfs3: Nfs3, scratch: Scratch, number: int) -> None:
    try:
        reply = nfs3.mknod(scratch.handle, b"node", Mknoddata3(Ftype3(number)))
    except (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout) as error:
        # No value of the enum: what does not decode may be answered so, or be dropped with its connection.
        observe(f"MKNOD of type {number}", type(error).__name__)
        if isinstance(nfs3.rpc, RpcClient):
            nfs3.rpc.reconnect()
    else:
        observe(f"MKNOD of type {number}", expect(reply).refused())
    expect(scratch.names(), "the names in the directory").equals([])
