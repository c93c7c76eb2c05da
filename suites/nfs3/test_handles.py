# SPDX-License-Identifier: MIT
"""File handles (RFC 1813 section 2.5, nfs_fh3): the object they refer to, stale handles and bad handles.

A server may revoke a handle at any time, and may keep a removed file for clients that have its handle. It may not
use the handle of one object for another object.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.scratch import Scratch, list_names
from nfsclient.clients import Nfs3
from nfsclient.errors import ConnectionLost, GarbageArgs, RpcTimeout, SystemErr
from nfsclient.protocol.nfs3 import GETATTR, Getattr3Res, Nfsstat3, Sattr3
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Opaque, Struct
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from nfsjudge.expect import StatusReply
from suites.nfs3.contents import difference, pattern
from suites.nfs3.handling import ON_A_FILE, ON_ANYTHING, expect_bad_handle, try_handle

HANDLE_IS_OF_ONE_FILE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="equal file handles refer to the same file: the handle of a removed or replaced file never reaches another",
    level=Level.MUST,
)
RETURNS_STALE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle whose object no longer exists or is no longer accessible should be answered with NFS3ERR_STALE",
    level=Level.SHOULD,
)
RETURNS_BADHANDLE = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="a handle that fails consistency checks returns NFS3ERR_BADHANDLE, one invalid otherwise NFS3ERR_STALE",
    level=Level.SHOULD,
)
HANDLE_HAS_AT_MOST_64_BYTES = Requirement(
    rfc="RFC 1813",
    section="2.4",
    gist="a file handle has at most 64 bytes: a longer one is not a valid handle",
)
HANDLE_WORKS_ON_ANY_CONNECTION = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a file handle contains all the server needs to identify the file, on any connection",
    level=Level.SHOULD,
)

LATER = 4
"""Objects created after one was removed: a server that reuses inode numbers does so at once."""


class LongHandle(Struct):
    """GETATTR3args without the size limit of nfs_fh3."""

    object: t.Annotated[bytes, Opaque()]


LONG_GETATTR: t.Final = Procedure(
    GETATTR.program, GETATTR.version, GETATTR.number, "GETATTR", LongHandle, Getattr3Res
)


def _need_removed(reply: StatusReply, what: str) -> None:
    """SKIP if the object could not be removed."""
    if reply.status != Nfsstat3.NFS3_OK:
        skip(f"{what} cannot be removed: {reply.status}")


# ---------------------------------------------------------------- one object per handle


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="create3-runs-out-of-handles")
def test_different_files_have_different_handles(scratch: Scratch) -> None:
    """Different files have different handles."""
    names: dict[bytes, str] = {scratch.handle: "the directory"}
    for number in range(20):
        handle = scratch.file(f"f{number}")
        expect(names.get(handle), f"another object with the handle of f{number}").is_absent()
        names[handle] = f"f{number}"


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="getattr3-reaches-a-later-file")
def test_removed_file_has_no_attributes_of_a_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    """GETATTR by the handle of a removed file does not reach a file created later."""
    removed = scratch.file("removed", pattern(100))
    _need_removed(nfs3.remove(scratch.handle, b"removed"), "the file")
    for number in range(LATER):
        scratch.file(f"later {number}", b"other")
    reply = nfs3.getattr(removed)
    observe("GETATTR by the handle of a removed file", reply.status)
    if reply.resok is not None:
        # A server may have truncated the removed file; the size of the later files proves a mix-up.
        expect(reply).field("resok.obj_attributes.size").differs_from(len(b"other"))


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="setattr3-reaches-a-later-file")
def test_setattr_of_a_removed_file_changes_no_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    """SETATTR by the handle of a removed file does not change a file created later."""
    removed = scratch.file("removed", pattern(100))
    _need_removed(nfs3.remove(scratch.handle, b"removed"), "the file")
    later = [scratch.file(f"later {number}", b"other") for number in range(LATER)]
    observe("SETATTR by the handle of a removed file", nfs3.setattr(removed, Sattr3(size=1)).status)
    sizes = [scratch.attributes(handle).size for handle in later]
    expect(sizes, "the sizes of later files").equals([5] * LATER)


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="lookup3-reaches-a-later-directory")
def test_removed_directory_has_no_entries_of_a_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    """LOOKUP by the handle of a removed directory does not reach a directory created later."""
    removed = scratch.directory("removed")
    _need_removed(nfs3.rmdir(scratch.handle, b"removed"), "the directory")
    for number in range(LATER):
        scratch.file("inside", directory=scratch.directory(f"later {number}"))
    reply = nfs3.lookup(removed, b"inside")
    observe("LOOKUP by the handle of a removed directory", reply.status)
    expect(reply).refused()


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="create3-reaches-a-later-directory")
def test_create_in_a_removed_directory_reaches_no_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    """CREATE by the handle of a removed directory does not reach a directory created later."""
    removed = scratch.directory("removed")
    _need_removed(nfs3.rmdir(scratch.handle, b"removed"), "the directory")
    later = [scratch.directory(f"later {number}") for number in range(LATER)]
    reply = nfs3.create(removed, b"intruder", attributes=Sattr3(mode=0o644))
    observe("CREATE by the handle of a removed directory", reply.status)
    found = [name for directory in later for name in list_names(nfs3, directory)]
    expect(found, "the names in later directories").equals([])


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="read3-follows-the-name")
def test_replaced_file_has_no_data_of_its_successor(nfs3: Nfs3, scratch: Scratch) -> None:
    """READ by the handle of a replaced file does not return data of the new file."""
    old = pattern(100)
    replaced = scratch.file("name", old)
    scratch.file("successor", pattern(100, salt=50))
    _need_removed(nfs3.rename(scratch.handle, b"successor", scratch.handle, b"name"), "the file")
    reply = nfs3.read(replaced, 0, 100)
    observe("READ by the handle of a replaced file", reply.status)
    if reply.resok is not None:
        data = bytes(reply.resok.data)
        expect(difference(data, old[: len(data)]), "first byte that is not of the old file").is_absent()


# ---------------------------------------------------------------- stale handles


@pytest.mark.parametrize("procedure", [*ON_A_FILE, "fsstat", "fsinfo", "pathconf"])
@proves(RETURNS_STALE, killed_by="nfs3-removed-is-noent")
def test_handle_of_a_removed_file_is_stale_if_it_does_not_work(
    nfs3: Nfs3, scratch: Scratch, procedure: str
) -> None:
    """The handle of a removed file returns NFS3ERR_STALE, unless it still works."""
    removed = scratch.file("removed", b"data")
    _need_removed(nfs3.remove(scratch.handle, b"removed"), "the file")
    reply = ON_ANYTHING[procedure](nfs3, removed)
    observe(f"{procedure.upper()} by the handle of a removed file", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, because=RETURNS_STALE)


@proves(HANDLE_WORKS_ON_ANY_CONNECTION, killed_by="getattr3-binds-handles-to-connections")
def test_handle_works_on_another_connection(second_client: Nfs3, scratch: Scratch) -> None:
    """A handle works on another connection."""
    for handle in (scratch.file("f"), scratch.directory("d")):
        reply = second_client.getattr(handle)
        expect(reply).ok()


# ---------------------------------------------------------------- bad handles


@proves(RETURNS_BADHANDLE, killed_by="nfs3-bad-handle-is-inval")
def test_what_is_no_handle_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    """Every procedure refuses a handle of random bytes only as a bad or stale handle."""
    nonsense = pattern(len(scratch.handle), salt=77)
    replies = {name.upper(): call(nfs3, nonsense) for name, call in ON_ANYTHING.items()}
    # A server may refuse a procedure that it does not support without checking the handle.
    answered = {name: reply for name, reply in replies.items() if reply.status != Nfsstat3.NFS3ERR_NOTSUPP}
    expect_bad_handle(answered, because=RETURNS_BADHANDLE)


@proves(RETURNS_BADHANDLE, killed_by="getattr3-altered-handle-is-noent")
def test_altered_handle_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    """GETATTR refuses a handle with one altered byte only as a bad or stale handle."""
    handle = scratch.file("f", b"data")
    altered = [handle[:at] + bytes([handle[at] ^ 0xFF]) + handle[at + 1 :] for at in range(len(handle))]
    expect_bad_handle(
        {f"byte {at}": nfs3.getattr(other) for at, other in enumerate(altered)}, because=RETURNS_BADHANDLE
    )


@proves(RETURNS_BADHANDLE, killed_by="getattr3-short-handle-is-inval")
def test_handle_of_another_length_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    """GETATTR refuses a handle of the wrong length only as a bad or stale handle."""
    handle = scratch.file("f", b"data")
    right = len(handle)
    lengths = {1, 4, right // 2, right - 1, min(64, right + 1), 64} - {0, right}
    cut = {length: handle[:length].ljust(length, b"\0") for length in sorted(lengths)}
    getattr_by = ON_A_FILE["getattr"]
    replies = {f"{length} bytes": try_handle(getattr_by, nfs3, other) for length, other in cut.items()}
    expect_bad_handle(replies, because=RETURNS_BADHANDLE)


@proves(RETURNS_BADHANDLE, killed_by="getattr3-empty-handle-is-noent")
def test_empty_handle_is_the_public_one_or_none(nfs3: Nfs3, scratch: Scratch) -> None:
    """GETATTR takes the empty handle for the public one, or refuses it as a bad or stale handle."""
    # WebNFS defines the empty handle as the public one (RFC 2055 section 5), so success is right too.
    expect_bad_handle(
        {"the empty handle": try_handle(ON_A_FILE["getattr"], nfs3, b"")}, because=RETURNS_BADHANDLE
    )


@proves(HANDLE_HAS_AT_MOST_64_BYTES, killed_by="getattr3-cuts-long-handles")
def test_handle_of_more_than_64_bytes_is_not_taken(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
    """GETATTR refuses a handle of more than 64 bytes."""
    for length in (65, 1024):
        what = f"GETATTR by a handle of {length} bytes"
        client = rpc_connect("nfs", timeout=2.0)
        try:
            reply = client.call(LONG_GETATTR, LongHandle(scratch.handle.ljust(length, b"\0")))
        except (GarbageArgs, SystemErr, ConnectionLost, RpcTimeout) as refusal:
            observe(what, type(refusal).__name__)
        else:
            observe(what, reply.status)
            expect(reply).refused()
    # Whatever the server did with these handles, it still serves others.
    expect(nfs3.getattr(scratch.handle)).ok()
