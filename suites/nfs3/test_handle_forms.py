# SPDX-License-Identifier: MIT
"""File handles (RFC 1813 section 2.5) in calls of many procedures: damaged, stale, and after RENAME."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch, list_names
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from nfsjudge.expect import StatusReply
from suites.nfs3.handling import IN_A_DIRECTORY, ON_A_FILE, WITHOUT_EFFECT, expect_bad_handle, try_handle

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
HANDLE_SURVIVES_RENAME = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a file handle contains all the server needs to identify the file, also after it was renamed",
    level=Level.SHOULD,  # a server may revoke a handle at any time
)

LATER = 4
"""Directories created after one was removed: a server that reuses inode numbers does so at once."""


def _remove_directory(nfs3: Nfs3, scratch: Scratch) -> bytes:
    """The handle of a directory that was removed. SKIP if it cannot be removed."""
    removed = scratch.directory("removed")
    gone = nfs3.rmdir(scratch.handle, b"removed")
    if gone.resok is None:
        skip(f"the directory cannot be removed: RMDIR answers {gone.status}")
    return removed


def _observed(procedure: str, reply: StatusReply) -> StatusReply:
    observe(f"{procedure.upper()} by that handle", reply.status)
    return reply


# ---------------------------------------------------------------- damaged handles; test_handles has GETATTR


@pytest.mark.parametrize("procedure", WITHOUT_EFFECT)
@proves(RETURNS_BADHANDLE, killed_by="nfs3-short-handle-is-notempty")
def test_handle_of_another_length_is_refused_by(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    """A handle of the wrong length is refused only as a bad or stale handle."""
    handle, call = scratch.handle, WITHOUT_EFFECT[procedure]
    right = len(handle)
    lengths = {1, 4, right // 2, right - 1, min(64, right + 1), 64} - {0, right}
    cut = {length: handle[:length].ljust(length, b"\0") for length in sorted(lengths)}
    replies = {f"{length} bytes": try_handle(call, nfs3, other) for length, other in cut.items()}
    expect_bad_handle(replies, because=RETURNS_BADHANDLE, right=call(nfs3, handle))


@pytest.mark.parametrize("procedure", WITHOUT_EFFECT)
@proves(RETURNS_BADHANDLE, killed_by="nfs3-altered-handle-is-notempty")
def test_handle_with_an_altered_bit_is_refused_by(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    """A handle with an altered bit is refused only as a bad or stale handle."""
    handle, call = scratch.handle, WITHOUT_EFFECT[procedure]
    places = [(at, 1 << at % 8) for at in {0, len(handle) // 3, len(handle) // 2, len(handle) - 1}]
    altered = [handle[:at] + bytes([handle[at] ^ bit]) + handle[at + 1 :] for at, bit in places]
    replies = {f"byte {at}": call(nfs3, other) for (at, _), other in zip(places, altered, strict=True)}
    expect_bad_handle(replies, because=RETURNS_BADHANDLE, right=call(nfs3, handle))


@pytest.mark.parametrize("content", ["zeros", "ones"])
@pytest.mark.parametrize("procedure", WITHOUT_EFFECT)
@proves(RETURNS_BADHANDLE, killed_by="nfs3-altered-handle-is-notempty")
def test_handle_of_one_byte_over_and_over_is_refused_by(
    nfs3: Nfs3, scratch: Scratch, procedure: str, content: str
) -> None:
    """A handle of all zeros or all ones is refused only as a bad or stale handle."""
    byte = b"\0" if content == "zeros" else b"\xff"
    call = WITHOUT_EFFECT[procedure]
    reply = call(nfs3, byte * len(scratch.handle))
    expect_bad_handle({content: reply}, because=RETURNS_BADHANDLE, right=call(nfs3, scratch.handle))


# ---------------------------------------------------------------- stale handles


@pytest.mark.parametrize("procedure", IN_A_DIRECTORY)
@proves(RETURNS_STALE, killed_by="nfs3-removed-directory-is-io")
def test_handle_of_a_removed_directory_is_stale_for(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    """The handle of a removed directory returns NFS3ERR_STALE or NFS3ERR_NOENT, unless it still works."""
    reply = _observed(procedure, IN_A_DIRECTORY[procedure](nfs3, _remove_directory(nfs3, scratch)))
    if reply.status != Nfsstat3.NFS3_OK:
        # A server that keeps a removed directory for its handle may answer that it has no such entry.
        # LINK is called with the directory as its file too, which a server may refuse as well.
        also = (Nfsstat3.NFS3ERR_ISDIR, Nfsstat3.NFS3ERR_PERM) if procedure == "link" else ()
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT, *also, because=RETURNS_STALE)


@pytest.mark.parametrize("procedure", sorted(IN_A_DIRECTORY.keys() - {"lookup", "create"}))
@proves(HANDLE_IS_OF_ONE_FILE, killed_by="nfs3-removed-directory-means-a-later-one")
def test_handle_of_a_removed_directory_reaches_no_later_one_by(
    nfs3: Nfs3, scratch: Scratch, procedure: str
) -> None:
    """The handle of a removed directory does not reach a directory created later."""
    removed = _remove_directory(nfs3, scratch)
    later = [scratch.directory(f"later {number}") for number in range(LATER)]
    for directory in later:
        if procedure == "rmdir":
            scratch.directory("name", directory=directory)
        elif procedure in {"remove", "rename", "readdir", "readdirplus"}:
            scratch.file("name", directory=directory)
    before = [list_names(nfs3, directory) for directory in later]
    reply = _observed(procedure, _call_in(nfs3, scratch, procedure, removed))
    expect([list_names(nfs3, directory) for directory in later], "the names in later directories").equals(
        before
    )
    entries = getattr(getattr(reply, "resok", None), "entries", [])
    expect([entry.name for entry in entries], "the names listed").lacks(b"name")


def _call_in(nfs3: Nfs3, scratch: Scratch, procedure: str, directory: bytes) -> StatusReply:
    if procedure == "link":
        return nfs3.link(scratch.file("linked"), directory, b"name")
    return IN_A_DIRECTORY[procedure](nfs3, directory)


# ---------------------------------------------------------------- after RENAME


@pytest.mark.parametrize("procedure", ON_A_FILE)
@proves(HANDLE_SURVIVES_RENAME, killed_by="nfs3-renamed-is-stale")
def test_handle_of_a_renamed_file_works_for(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    """The handle of a file works after the file was moved to another directory."""
    file = scratch.file("old", b"data")
    directory = scratch.directory("elsewhere")
    moved = nfs3.rename(scratch.handle, b"old", directory, b"new")
    if moved.resok is None:
        skip(f"the file cannot be renamed: RENAME answers {moved.status}")
    expect(_observed(procedure, ON_A_FILE[procedure](nfs3, file))).ok()
