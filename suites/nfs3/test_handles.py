# SPDX-License-Identifier: MIT
"""File handles (RFC 1813 section 2.5, nfs_fh3): which object they mean, and what is answered to stale and bad ones.

A server may revoke a handle at any time, and may keep a removed file for whoever has its handle. What it may not do
is to take the handle of one object for that of another.
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
from suites.nfs3.handling import ON_A_FILE, ON_ANYTHING, expect_no_handle, tried

ONE_FILE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="equal file handles refer to the same file: that of a removed or replaced file never reaches another",
    level=Level.MUST,
)
STALE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle whose object no longer exists, or is no longer accessible, should be answered with NFS3ERR_STALE",
    level=Level.SHOULD,
)
BAD = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="BADHANDLE is for handles that fail consistency checks, STALE for those that are invalid otherwise",
    level=Level.SHOULD,
)
AT_MOST_64 = Requirement(
    rfc="RFC 1813", section="2.4", gist="a file handle has at most 64 bytes: a longer one is none at all"
)
FOR_LATER_REQUESTS = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a file handle has all that the server needs to tell the file: it should do so on any connection",
    level=Level.SHOULD,
)

LATER = 4
"""Files that are made after one was removed: a server that uses numbers again does so at once."""


class LongHandle(Struct):
    """GETATTR3args without the limit of nfs_fh3."""

    object: t.Annotated[bytes, Opaque()]


LONG_GETATTR: t.Final = Procedure(
    GETATTR.program, GETATTR.version, GETATTR.number, "GETATTR", LongHandle, Getattr3Res
)


def _expect_gone(reply: StatusReply, what: str) -> None:
    """Removing succeeded; else there is nothing to see here."""
    if reply.status != Nfsstat3.NFS3_OK:
        skip(f"{what} cannot be removed: {reply.status}")


# ---------------------------------------------------------------- one object, and no other


@proves(ONE_FILE, killed_by="create3-runs-out-of-handles")
def test_different_files_have_different_handles(scratch: Scratch) -> None:
    names: dict[bytes, str] = {scratch.handle: "the directory"}
    for number in range(20):
        handle = scratch.file(f"f{number}")
        expect(names.get(handle), f"another object with the handle of f{number}").is_absent()
        names[handle] = f"f{number}"


@proves(ONE_FILE, killed_by="getattr3-reaches-a-later-file")
def test_removed_file_has_no_attributes_of_a_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    removed = scratch.file("removed", pattern(100))
    _expect_gone(nfs3.remove(scratch.handle, b"removed"), "the file")
    for number in range(LATER):
        scratch.file(f"later {number}", b"other")
    reply = nfs3.getattr(removed)
    observe("GETATTR by the handle of a removed file", reply.status)
    if reply.resok is not None:
        # A server on its way to drop the file may have cut it; what proves another file is that one's size.
        expect(reply).field("resok.obj_attributes.size").differs_from(len(b"other"))


@proves(ONE_FILE, killed_by="setattr3-reaches-a-later-file")
def test_setattr_of_a_removed_file_changes_no_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    removed = scratch.file("removed", pattern(100))
    _expect_gone(nfs3.remove(scratch.handle, b"removed"), "the file")
    later = [scratch.file(f"later {number}", b"other") for number in range(LATER)]
    observe("SETATTR by the handle of a removed file", nfs3.setattr(removed, Sattr3(size=1)).status)
    sizes = [scratch.attributes(handle).size for handle in later]
    expect(sizes, "the sizes of later files").equals([5] * LATER)


@proves(ONE_FILE, killed_by="lookup3-reaches-a-later-directory")
def test_removed_directory_has_no_entries_of_a_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    removed = scratch.directory("removed")
    _expect_gone(nfs3.rmdir(scratch.handle, b"removed"), "the directory")
    for number in range(LATER):
        scratch.file("inside", directory=scratch.directory(f"later {number}"))
    reply = nfs3.lookup(removed, b"inside")
    observe("LOOKUP by the handle of a removed directory", reply.status)
    expect(reply).refused()


@proves(ONE_FILE, killed_by="create3-reaches-a-later-directory")
def test_create_in_a_removed_directory_reaches_no_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    removed = scratch.directory("removed")
    _expect_gone(nfs3.rmdir(scratch.handle, b"removed"), "the directory")
    later = [scratch.directory(f"later {number}") for number in range(LATER)]
    reply = nfs3.create(removed, b"intruder", attributes=Sattr3(mode=0o644))
    observe("CREATE by the handle of a removed directory", reply.status)
    found = [name for directory in later for name in list_names(nfs3, directory)]
    expect(found, "the names in later directories").equals([])


@proves(ONE_FILE, killed_by="read3-follows-the-name")
def test_replaced_file_has_no_data_of_its_successor(nfs3: Nfs3, scratch: Scratch) -> None:
    old = pattern(100)
    replaced = scratch.file("name", old)
    scratch.file("successor", pattern(100, salt=50))
    _expect_gone(nfs3.rename(scratch.handle, b"successor", scratch.handle, b"name"), "the file")
    reply = nfs3.read(replaced, 0, 100)
    observe("READ by the handle of a replaced file", reply.status)
    if reply.resok is not None:
        data = bytes(reply.resok.data)
        expect(difference(data, old[: len(data)]), "first byte that is not of the old file").is_absent()


# ---------------------------------------------------------------- stale handles


@pytest.mark.parametrize("procedure", [*ON_A_FILE, "fsstat", "fsinfo", "pathconf"])
@proves(STALE, killed_by="nfs3-removed-is-noent")
def test_handle_of_a_removed_file_is_stale_if_it_does_not_work(
    nfs3: Nfs3, scratch: Scratch, procedure: str
) -> None:
    removed = scratch.file("removed", b"data")
    _expect_gone(nfs3.remove(scratch.handle, b"removed"), "the file")
    reply = ON_ANYTHING[procedure](nfs3, removed)
    observe(f"{procedure.upper()} by the handle of a removed file", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, because=STALE)


@proves(FOR_LATER_REQUESTS, killed_by="getattr3-binds-handles-to-connections")
def test_handle_works_on_another_connection(second_client: Nfs3, scratch: Scratch) -> None:
    for handle in (scratch.file("f"), scratch.directory("d")):
        reply = second_client.getattr(handle)
        expect(reply).ok()


# ---------------------------------------------------------------- bad handles


@proves(BAD, killed_by="nfs3-bad-handle-is-inval")
def test_what_is_no_handle_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    nonsense = pattern(len(scratch.handle), salt=77)
    replies = {name.upper(): call(nfs3, nonsense) for name, call in ON_ANYTHING.items()}
    # What a server does not support at all it may refuse without a look at the handle.
    answered = {name: reply for name, reply in replies.items() if reply.status != Nfsstat3.NFS3ERR_NOTSUPP}
    expect_no_handle(answered, because=BAD)


@proves(BAD, killed_by="getattr3-altered-handle-is-noent")
def test_altered_handle_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    handle = scratch.file("f", b"data")
    altered = [handle[:at] + bytes([handle[at] ^ 0xFF]) + handle[at + 1 :] for at in range(len(handle))]
    expect_no_handle({f"byte {at}": nfs3.getattr(other) for at, other in enumerate(altered)}, because=BAD)


@proves(BAD, killed_by="getattr3-short-handle-is-inval")
def test_handle_of_another_length_is_refused_as_such(nfs3: Nfs3, scratch: Scratch) -> None:
    handle = scratch.file("f", b"data")
    right = len(handle)
    lengths = {1, 4, right // 2, right - 1, min(64, right + 1), 64} - {0, right}
    cut = {length: handle[:length].ljust(length, b"\0") for length in sorted(lengths)}
    getattr_by = ON_A_FILE["getattr"]
    replies = {f"{length} bytes": tried(getattr_by, nfs3, other) for length, other in cut.items()}
    expect_no_handle(replies, because=BAD)


@proves(BAD, killed_by="getattr3-empty-handle-is-noent")
def test_empty_handle_is_the_public_one_or_none(nfs3: Nfs3, scratch: Scratch) -> None:
    # RFC 2055 section 5: WebNFS gives it a meaning, so that success is right.
    expect_no_handle({"the empty handle": tried(ON_A_FILE["getattr"], nfs3, b"")}, because=BAD)


@proves(AT_MOST_64, killed_by="getattr3-cuts-long-handles")
def test_handle_of_more_than_64_bytes_is_not_taken(
    nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Scratch
) -> None:
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
    # Whatever it did with that, it goes on to serve others.
    expect(nfs3.getattr(scratch.handle)).ok()
