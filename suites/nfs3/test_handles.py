# SPDX-License-Identifier: MIT
"""File handles (RFC 1813 section 2.5, nfs_fh3): the object they refer to, stale handles and bad handles.

A server may revoke a handle at any time, and may keep a removed file for clients that have its handle. It may not
use the handle of one object for another object.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from functools import partial

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch, list_names
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import GETATTR, Getattr3Res, Nfsstat3, Sattr3
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import Opaque, Struct
from nfsjudge import (
    expect,
    expect_data,
    expect_names,
    expect_that,
    observe,
    proves,
    should,
    skip,
    stated,
)
from nfsjudge.expect import StatusReply
from suites.nfs3.calls import CALLS, IN_A_DIRECTORY, OF_THE_FILE_SYSTEM, ON_A_FILE, Place, call_on
from suites.nfs3.clauses import HANDLE_IS_OF_ONE_FILE, RETURNS_BADHANDLE, RETURNS_STALE
from suites.nfs3.contents import pattern
from suites.nfs3.handles import (
    LATER,
    WITHOUT_EFFECT,
    altered_handles,
    call_without_effect,
    expect_bad_handle,
    handle_of_removed,
    need_removed,
    removed_directory,
    try_handle,
)
from suites.nfs3.statuses import GONE
from suites.replies import reply_or_none

HANDLE_HAS_AT_MOST_64_BYTES = stated(
    "RFC 1813", "2.4", "a file handle has at most 64 bytes: a longer one is not a valid handle"
)
HANDLE_WORKS_ON_ANY_CONNECTION = should(
    "RFC 1813", "2.5", "a file handle contains all the server needs to identify the file, on any connection"
)
HANDLE_SURVIVES_RENAME = should(  # a server may revoke a handle at any time
    "RFC 1813",
    "2.5",
    "a file handle contains all the server needs to identify the file, also after it was renamed",
)


TWO_HANDLES = ("link", "rename_from", "rename_to")
"""Calls with two handles, one of them of a removed directory."""


class LongHandle(Struct):
    """GETATTR3args without the size limit of nfs_fh3."""

    object: t.Annotated[bytes, Opaque()]


LONG_GETATTR: t.Final = Procedure(
    GETATTR.program, GETATTR.version, GETATTR.number, "GETATTR", LongHandle, Getattr3Res
)


def _procedure(call: str) -> str:
    """The name of the procedure: ``rename_to`` is RENAME."""
    return call.partition("_")[0].upper()


def _observed(procedure: str, reply: StatusReply) -> StatusReply:
    observe(f"{_procedure(procedure)} by the handle of a removed directory", reply.status)
    return reply


# ---------------------------------------------------------------- one object per handle


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="create3-reuses-a-handle")
def test_distinct(scratch: Nfs3Scratch) -> None:
    """Different files have different handles."""
    names: dict[bytes, str] = {scratch.handle: "the directory"}
    for number in range(20):
        handle = scratch.file(f"f{number}")
        expect_that(
            handle not in names,
            "a handle that no other object has",
            f"the handle of {names.get(handle)}",
            f"handle of 'f{number}'",
        )
        names[handle] = f"'f{number}'"


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="getattr3-ignores-the-generation-of-handles")
def test_inode_reuse_getattr(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR by the handle of a removed file does not reach a file created later."""
    removed = scratch.file("removed", pattern(100))
    need_removed(nfs3.remove(scratch.handle, b"removed"), "the file")
    for number in range(LATER):
        scratch.file(f"later {number}", b"other")
    reply = nfs3.getattr(removed)
    observe("GETATTR by the handle of a removed file", reply.status)
    if reply.resok is not None:
        # A server may have truncated the removed file; the size of the later files proves a mix-up.
        expect(reply).field("resok.obj_attributes.size").satisfies(
            lambda size: size != len(b"other"), "any but 5, the size of the files created later"
        )


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="setattr3-ignores-the-generation-of-handles")
def test_inode_reuse_setattr(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR by the handle of a removed file does not change a file created later."""
    removed = scratch.file("removed", pattern(100))
    need_removed(nfs3.remove(scratch.handle, b"removed"), "the file")
    later = [scratch.file(f"later {number}", b"other") for number in range(LATER)]
    observe("SETATTR by the handle of a removed file", nfs3.setattr(removed, Sattr3(size=1)).status)
    for handle in later:
        expect(scratch.attributes(handle)).field("size", "size of a file created later").equals(len(b"other"))


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="lookup3-ignores-the-generation-of-handles")
def test_inode_reuse_lookup(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """LOOKUP by the handle of a removed directory does not reach a directory created later."""
    removed = scratch.directory("removed")
    need_removed(nfs3.rmdir(scratch.handle, b"removed"), "the directory")
    for number in range(LATER):
        scratch.file("inside", directory=scratch.directory(f"later {number}"))
    reply = nfs3.lookup(removed, b"inside")
    observe("LOOKUP by the handle of a removed directory", reply.status)
    expect(reply).refused()


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="create3-ignores-the-generation-of-handles")
def test_inode_reuse_create(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """CREATE by the handle of a removed directory does not reach a directory created later."""
    removed = scratch.directory("removed")
    need_removed(nfs3.rmdir(scratch.handle, b"removed"), "the directory")
    later = [scratch.directory(f"later {number}") for number in range(LATER)]
    reply = nfs3.create(removed, b"intruder", attributes=Sattr3(mode=0o644))
    observe("CREATE by the handle of a removed directory", reply.status)
    for directory in later:
        expect_names(list_names(nfs3, directory), [], "names in a directory created later")


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="read3-follows-the-name-after-rename")
def test_replaced_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """READ by the handle of a replaced file does not return data of the new file."""
    old = pattern(100)
    replaced = scratch.file("name", old)
    scratch.file("successor", pattern(100, salt=50))
    need_removed(nfs3.rename(scratch.handle, b"successor", scratch.handle, b"name"), "the file")
    reply = nfs3.read(replaced, 0, 100)
    observe("READ by the handle of a replaced file", reply.status)
    if reply.resok is not None:
        data = bytes(reply.resok.data)
        expect_data(data, old[: len(data)], "data of the old file", reply=reply, field="resok.data")


# ---------------------------------------------------------------- stale handles


@pytest.mark.parametrize("procedure", [*ON_A_FILE, *OF_THE_FILE_SYSTEM])
@proves(RETURNS_STALE, killed_by="nfs3-removed-is-noent")
def test_stale_file(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """The handle of a removed file returns NFS3ERR_STALE, unless it still works."""
    removed = scratch.file("removed", b"data")
    need_removed(nfs3.remove(scratch.handle, b"removed"), "the file")
    reply = call_on(nfs3, procedure, removed)
    observe(f"{procedure.upper()} by the handle of a removed file", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, because=RETURNS_STALE)


@proves(HANDLE_WORKS_ON_ANY_CONNECTION, killed_by="getattr3-accepts-handles-of-one-connection")
def test_other_connection(second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """A handle works on another connection."""
    for handle in (scratch.file("f"), scratch.directory("d")):
        reply = second_client.getattr(handle)
        expect(reply).ok()


# ---------------------------------------------------------------- bad handles: random and with GETATTR


@proves(RETURNS_BADHANDLE, killed_by="nfs3-bad-handle-is-inval")
def test_random_bytes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """Every procedure refuses a handle of random bytes only as a bad or stale handle."""
    nonsense = pattern(len(scratch.handle), salt=77)
    replies = {name.upper(): call_on(nfs3, name, nonsense) for name in CALLS}
    # A server may refuse a procedure that it does not support without checking the handle.
    answered = {name: reply for name, reply in replies.items() if reply.status != Nfsstat3.NFS3ERR_NOTSUPP}
    expect_bad_handle(answered, because=RETURNS_BADHANDLE)


@proves(RETURNS_BADHANDLE, killed_by="getattr3-altered-handle-is-noent")
def test_altered_bytes_getattr(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR refuses a handle with one altered byte only as a bad or stale handle."""
    handle = scratch.file("f", b"data")
    altered = [handle[:at] + bytes([handle[at] ^ 0xFF]) + handle[at + 1 :] for at in range(len(handle))]
    expect_bad_handle(
        {f"byte {at}": nfs3.getattr(other) for at, other in enumerate(altered)}, because=RETURNS_BADHANDLE
    )


@proves(RETURNS_BADHANDLE, killed_by="getattr3-short-handle-is-inval")
def test_wrong_length_getattr(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR refuses a handle of the wrong length only as a bad or stale handle."""
    handle = scratch.file("f", b"data")
    right = len(handle)
    lengths = {1, 4, right // 2, right - 1, min(64, right + 1), 64} - {0, right}
    cut = {length: handle[:length].ljust(length, b"\0") for length in sorted(lengths)}
    replies = {f"{length} bytes": try_handle(nfs3, "getattr", other) for length, other in cut.items()}
    expect_bad_handle(replies, because=RETURNS_BADHANDLE)


@proves(RETURNS_BADHANDLE, killed_by="getattr3-empty-handle-is-noent")
def test_empty(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR takes the empty handle for the public one, or refuses it as a bad or stale handle."""
    # WebNFS defines the empty handle as the public one (RFC 2055 section 5), so success is right too.
    expect_bad_handle({"the empty handle": try_handle(nfs3, "getattr", b"")}, because=RETURNS_BADHANDLE)


@proves(HANDLE_HAS_AT_MOST_64_BYTES, killed_by="getattr3-cuts-long-handles")
def test_over_64_bytes(nfs3: Nfs3, rpc_connect: Callable[..., RpcClient], scratch: Nfs3Scratch) -> None:
    """GETATTR refuses a handle of more than 64 bytes."""
    for length in (65, 1024):
        what = f"GETATTR by a handle of {length} bytes"
        client = rpc_connect("nfs", timeout=2.0)
        handle = LongHandle(scratch.handle.ljust(length, b"\0"))
        reply = reply_or_none(partial(client.call, LONG_GETATTR, handle), what)
        if reply is not None:
            expect(reply).refused()
    # Whatever the server did with these handles, it still serves others.
    expect(nfs3.getattr(scratch.handle)).ok()


# ---------------------------------------------------------------- bad handles: other procedures


@pytest.mark.parametrize("procedure", WITHOUT_EFFECT)
@proves(RETURNS_BADHANDLE, killed_by=("nfs3-short-handle-is-notempty", "nfs3-altered-handle-is-notempty"))
def test_invalid(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """An altered handle works, or is refused as a bad or stale handle and not with another error."""
    right = call_without_effect(nfs3, procedure, scratch.handle)
    replies = {
        what: try_handle(nfs3, procedure, other) for what, other in altered_handles(scratch.handle).items()
    }
    expect_bad_handle(replies, because=RETURNS_BADHANDLE, right=right)


@proves(RETURNS_BADHANDLE, killed_by="nfs3-invalid-handle-is-the-root")
def test_invalid_is_none(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR does not take most handles that the server never returned for handles of one other object."""
    fileid = scratch.attributes().fileid
    altered = altered_handles(scratch.handle)
    replies = {what: try_handle(nfs3, "getattr", other) for what, other in altered.items()}
    reached: dict[int, list[str]] = {}
    for what, reply in replies.items():
        found: Getattr3Res | None = t.cast("Getattr3Res | None", reply)
        if found is not None and found.resok is not None:
            reached.setdefault(found.resok.obj_attributes.fileid, []).append(what)
    # By chance an altered handle may be that of another object; and several handles of one object are legal.
    for other, those in reached.items():
        observe("the same object" if other == fileid else f"object {other}", ", ".join(those))
    most = max((those for other, those in reached.items() if other != fileid), key=len, default=[])
    expect_that(
        2 * len(most) <= len(altered),
        "NFS3ERR_BADHANDLE or NFS3ERR_STALE",
        f"success, with one other object for {len(most)} of {len(altered)} altered handles",
        "status of GETATTR",
        operation="GETATTR",
    )


# ---------------------------------------------------------------- stale handles of directories


@pytest.mark.parametrize("procedure", IN_A_DIRECTORY)
@proves(RETURNS_STALE, killed_by="nfs3-removed-directory-is-io")
def test_stale_directory(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """The handle of a removed directory returns NFS3ERR_STALE or NFS3ERR_NOENT, unless it still works."""
    reply = _observed(procedure, call_on(nfs3, procedure, removed_directory(nfs3, scratch)))
    if reply.status != Nfsstat3.NFS3_OK:
        # A server that keeps a removed directory for its handle may answer that it has no such entry.
        # LINK is called with the directory as its file too, which a server may refuse as well.
        also = (Nfsstat3.NFS3ERR_ISDIR, Nfsstat3.NFS3ERR_PERM) if procedure == "link" else ()
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT, *also, because=RETURNS_STALE)


def _call_in(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str, directory: bytes) -> StatusReply:
    if procedure == "link":
        return nfs3.link(scratch.file("linked"), directory, b"name")
    reply: StatusReply = call_on(nfs3, procedure, directory)
    return reply


@pytest.mark.parametrize("procedure", sorted(set(IN_A_DIRECTORY) - {"lookup", "create"}))
@proves(HANDLE_IS_OF_ONE_FILE, killed_by="nfs3-removed-handle-refers-to-later-directory")
def test_inode_reuse(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """The handle of a removed directory does not reach a directory created later."""
    removed = removed_directory(nfs3, scratch)
    later = [scratch.directory(f"later {number}") for number in range(LATER)]
    for directory in later:
        if procedure == "rmdir":
            scratch.directory("name", directory=directory)
        elif procedure in {"remove", "rename", "readdir", "readdirplus"}:
            scratch.file("name", directory=directory)
    before = [list_names(nfs3, directory) for directory in later]
    reply = _observed(procedure, _call_in(nfs3, scratch, procedure, removed))
    for directory, known in zip(later, before, strict=True):
        expect_names(list_names(nfs3, directory), known, "names in a directory created later")
    entries = getattr(getattr(reply, "resok", None), "entries", [])
    listed = [entry.name for entry in entries]
    expect(listed, "names listed by the handle of the removed directory", field="entries").lacks(b"name")


# ---------------------------------------------------------------- after RENAME


@pytest.mark.parametrize("procedure", ON_A_FILE)
@proves(HANDLE_SURVIVES_RENAME, killed_by="nfs3-renamed-is-stale")
def test_after_rename(nfs3: Nfs3, scratch: Nfs3Scratch, procedure: str) -> None:
    """The handle of a file works after the file was moved to another directory."""
    file = scratch.file("old", b"data")
    directory = scratch.directory("elsewhere")
    moved = nfs3.rename(scratch.handle, b"old", directory, b"new")
    if moved.resok is None:
        skip(f"the file has its old name: RENAME answers {moved.status}", moved)
    reply = call_on(nfs3, procedure, file)
    observe(f"{procedure.upper()} by the handle of the renamed file", reply.status)
    expect(reply).ok()


# ---------------------------------------------------------------- stale handles: one of two, and of symbolic links


@pytest.mark.parametrize("procedure", TWO_HANDLES)
@proves(RETURNS_STALE, killed_by="names3-removed-is-io")
def test_stale_in_pair(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """LINK or RENAME with a removed directory returns NFS3ERR_STALE or NFS3ERR_NOENT, or works."""
    removed = removed_directory(nfs3, place.scratch)
    reply = place.call(nfs3, procedure, b"name", removed)
    observe(f"{_procedure(procedure)} by the handle of a removed directory", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(*GONE, because=RETURNS_STALE)


@proves(RETURNS_STALE, killed_by="names3-removed-is-io", needs="symlink")
def test_stale_symlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """The handle of a removed symbolic link returns NFS3ERR_STALE, unless it still works."""
    removed = handle_of_removed(nfs3, scratch, scratch.symlink("link", b"target"), b"link")
    reply = nfs3.readlink(removed)
    observe("READLINK by the handle of a removed link", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, because=RETURNS_STALE)


@pytest.mark.parametrize("procedure", TWO_HANDLES)
@proves(HANDLE_IS_OF_ONE_FILE, killed_by="names3-ignore-the-generation-of-handles")
def test_inode_reuse_in_pair(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """LINK or RENAME with a removed directory does not change a directory created later."""
    removed = removed_directory(nfs3, place.scratch)
    later = [place.scratch.directory(f"later-{number}") for number in range(LATER)]
    for directory in later:
        place.arrange(procedure, b"name", directory)
    known = [place.scratch.names(directory) for directory in later]
    reply = place.call(nfs3, procedure, b"name", removed)
    observe(f"{_procedure(procedure)} by the handle of a removed directory", reply.status)
    for directory, names in zip(later, known, strict=True):
        expect_names(place.scratch.names(directory), names, "names in a directory created later")
