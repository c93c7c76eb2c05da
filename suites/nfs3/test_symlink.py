# SPDX-License-Identifier: MIT
"""SYMLINK (RFC 1813 section 3.3.10): creates a symbolic link with the given data."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    LOOKUP,
    SYMLINK,
    Diropargs3,
    Ftype3,
    Lookup3Args,
    Lookup3Res,
    Nfsstat3,
    Sattr3,
    Symlink3Args,
    Symlinkdata3,
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
    skip,
    stated,
    unsupported,
)
from suites.nfs3.bad_names import BelowNfs, reply_if_decoded
from suites.nfs3.calls import Place
from suites.nfs3.clauses import (
    NOSPC_LEAVES_NOTHING,
    RETURNS_EXIST,
    RETURNS_NAMETOOLONG,
    RETURNS_NOSPC,
    RETURNS_NOTSUPP,
    SYMLINK_DATA_IS_NOT_INTERPRETED,
)
from suites.nfs3.new_objects import (
    expect_file,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)
from suites.races import ROUNDS, Race

SYMLINK_CREATES_A_SYMLINK = stated(
    "RFC 1813", "3.3.10", "SYMLINK creates a new symbolic link", harm=Harm.SUCCESS
)
SYMLINK_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.10", "obj_attributes are the attributes of the new symbolic link"
)
SYMLINK_RETURNS_HANDLE = stated("RFC 1813", "3.3.10", "obj is the file handle of the new symbolic link")
SYMLINK_REPLACES_NOTHING = stated(
    "RFC 1813",
    "3.3.10",
    "SYMLINK fails if the name exists, and leaves the existing object unchanged",
    harm=Harm.OBJECT,
)
SYMLINK_NEEDS_A_DIRECTORY = stated(
    "RFC 1813", "3.3.10", "SYMLINK creates the link in a directory, not in another object", harm=Harm.OBJECT
)
SYMLINK_DATA_MAY_BE_BINARY = should(
    # the text calls it "an ASCII string", and says little about NUL and other bytes
    "RFC 1813",
    "3.3.5",
    "the data of a symbolic link is stored as it is, even if it is not ASCII text",
    harm=Harm.DATA,
)
SYMLINK_IS_ATOMIC = must(
    "RFC 1813",
    "3.3.10",
    "once a symbolic link is visible, READLINK must not fail or return incorrect data",
    part=Part.IMPLEMENTATION,
    says_must=True,
    harm=Harm.DATA,
)
TARGETS = {
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


# ---------------------------------------------------------------- the new symbolic link


@proves(SYMLINK_CREATES_A_SYMLINK, killed_by="symlink3-creates-nothing", needs="symlink")
def test_creates_symlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SYMLINK creates a symbolic link."""
    expect(nfs3.symlink(scratch.handle, b"link", b"target")).ok()
    expect_type(nfs3, scratch, b"link", Ftype3.NF3LNK)


@proves(SYMLINK_RETURNS_ATTRIBUTES, killed_by="symlink3-attributes-of-the-directory", needs="symlink")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SYMLINK returns the attributes of the new symbolic link."""
    expect_own_attributes(nfs3, scratch, b"link", nfs3.symlink(scratch.handle, b"link", b"target"))


@proves(SYMLINK_RETURNS_HANDLE, killed_by="symlink3-returns-the-handle-of-the-directory", needs="symlink")
def test_handle(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SYMLINK returns the handle of the new symbolic link."""
    expect_own_handle(nfs3, scratch, b"handle", nfs3.symlink(scratch.handle, b"handle", b"target"))


@proves(SYMLINK_REPLACES_NOTHING, killed_by="symlink3-replaces-files", needs="symlink")
def test_existing_file_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SYMLINK does not replace an existing file."""
    scratch.file("there", b"precious")
    reply = nfs3.symlink(scratch.handle, b"there", b"target")
    expect_file(scratch, b"there", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(SYMLINK_NEEDS_A_DIRECTORY, killed_by="symlink3-creates-in-files", needs="symlink")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SYMLINK with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    expect_not_a_directory(nfs3.symlink(scratch.file("file"), b"link", b"target"))


# ---------------------------------------------------------------- data


@pytest.mark.parametrize("target", TARGETS)
@proves(
    SYMLINK_DATA_IS_NOT_INTERPRETED,
    SYMLINK_DATA_MAY_BE_BINARY,
    killed_by="symlink3-adds-a-byte",
    needs="symlink",
)
def test_stored_data(nfs3: Nfs3, scratch: Nfs3Scratch, target: str) -> None:
    """SYMLINK stores the data exactly, or refuses it."""
    what = f"SYMLINK with data: {target.replace('-', ' ')}"
    made = reply_if_decoded(nfs3, lambda: nfs3.symlink(scratch.handle, b"link", TARGETS[target]), what)
    if isinstance(made, BelowNfs):
        unsupported("the server does not decode SYMLINK with this data")
    observe(what, made.status)
    if made.status != Nfsstat3.NFS3_OK:
        unsupported(f"the server refuses this data: SYMLINK answers {expect(made).refused()}")
    found = expect(nfs3.lookup(scratch.handle, b"link")).ok()
    reply = nfs3.readlink(found.object)
    expect(reply).ok()
    because = (
        SYMLINK_DATA_MAY_BE_BINARY
        if target in {"not-utf-8", "with-a-nul"}
        else SYMLINK_DATA_IS_NOT_INTERPRETED
    )
    expect(reply, because=because).field("resok.data").equals(TARGETS[target])


@proves(SYMLINK_IS_ATOMIC, killed_by="symlink3-stores-the-data-later", needs="symlink")
def test_atomic(nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch) -> None:
    """A symbolic link that LOOKUP finds already has its data."""
    race = Race(rpc_connect)
    for number in range(ROUNDS):
        where, data = Diropargs3(scratch.handle, b"link-%d" % number), b"target-%d" % number

        def expect_data_if_found(found: Lookup3Res, data: bytes = data) -> None:
            if found.resok is not None:
                reply = nfs3.readlink(found.resok.object)
                expect(reply).ok()
                expect(reply).field("resok.data").equals(data)

        making = Symlink3Args(where, Symlinkdata3(Sattr3(mode=0o777), data))
        reply = race.run((SYMLINK, making), (LOOKUP, Lookup3Args(where)), expect_data_if_found)
        if reply.status not in {Nfsstat3.NFS3_OK, Nfsstat3.NFS3ERR_JUKEBOX}:
            skip(f"no symbolic link is made: SYMLINK answers {reply.status}", reply)


# ---------------------------------------------------------------- limits


@proves(RETURNS_NOSPC, killed_by="creations3-no-room-is-io", needs="symlink")
def test_nospc(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """SYMLINK without room for the target fails with NOSPC and leaves nothing."""
    knobs.set(free_bytes=0, path_max=1000)
    reply = nfs3.symlink(place.here, b"name", b"t" * 1000)
    expect_names(place.names(), [], "names in the directory", because=NOSPC_LEAVES_NOTHING)
    expect(reply).refused(Nfsstat3.NFS3ERR_NOSPC, because=RETURNS_NOSPC)


@proves(RETURNS_NAMETOOLONG, killed_by="symlink3-too-long-is-io", needs="symlink")
def test_target_too_long(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """SYMLINK with a target that is too long fails with NAMETOOLONG or INVAL."""
    knobs.set(path_max=10)
    reply = nfs3.symlink(place.here, b"name", b"t" * 11)
    expect_names(place.names(), [], "names in the directory")
    expect(reply).refused(Nfsstat3.NFS3ERR_NAMETOOLONG, Nfsstat3.NFS3ERR_INVAL, because=RETURNS_NAMETOOLONG)


# ---------------------------------------------------------------- no support for symbolic links


@proves(RETURNS_NOTSUPP, killed_by="symlink3-unsupported-is-io", needs="symlink")
def test_notsupp(nfs3: Nfs3, place: Place, knobs: KnobsView) -> None:
    """SYMLINK fails with NOTSUPP where the server has no symbolic links."""
    knobs.set(symlinks=False)
    reply = place.call(nfs3, "symlink", b"link")
    expect_names(place.names(), [], "names in the directory")
    expect(reply).status(Nfsstat3.NFS3ERR_NOTSUPP)
