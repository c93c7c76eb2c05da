# SPDX-License-Identifier: MIT
"""File handles (RFC 1813 section 2.5) that are damaged, stale or from before, given to every procedure."""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch, list_names
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from nfsjudge.expect import StatusReply
from suites.nfs3.handling import IN_A_DIRECTORY, ON_A_FILE, WITHOUT_EFFECT, expect_no_handle, tried

ONE_OBJECT = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="equal file handles refer to the same object: that of a removed directory never reaches another one",
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
STAYS = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a file handle has all that the server needs to tell the object: it should outlive another name for it",
    level=Level.SHOULD,  # a server may revoke a handle at any time
)

LATER = 4
"""Directories that are made after one was removed: a server that uses numbers again does so at once."""


def _remove_directory(nfs3: Nfs3, scratch: Scratch) -> bytes:
    """The handle of a directory that is no more."""
    removed = scratch.directory("removed")
    gone = nfs3.rmdir(scratch.handle, b"removed")
    if gone.resok is None:
        skip(f"the directory cannot be removed: RMDIR answers {gone.status}")
    return removed


def _answer(procedure: str, reply: StatusReply) -> StatusReply:
    observe(f"{procedure.upper()} by that handle", reply.status)
    return reply


# ---------------------------------------------------------------- damaged handles


@pytest.mark.parametrize("procedure", WITHOUT_EFFECT)
@proves(BAD, killed_by="nfs3-short-handle-is-notempty")
def test_handle_of_another_length_is_refused_by(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    handle, call = scratch.handle, WITHOUT_EFFECT[procedure]
    right = len(handle)
    lengths = {1, 4, right // 2, right - 1, min(64, right + 1), 64} - {0, right}
    cut = {length: handle[:length].ljust(length, b"\0") for length in sorted(lengths)}
    replies = {f"{length} bytes": tried(call, nfs3, other) for length, other in cut.items()}
    expect_no_handle(replies, because=BAD, right=call(nfs3, handle))


@pytest.mark.parametrize("procedure", WITHOUT_EFFECT)
@proves(BAD, killed_by="nfs3-altered-handle-is-notempty")
def test_handle_with_an_altered_bit_is_refused_by(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    handle, call = scratch.handle, WITHOUT_EFFECT[procedure]
    places = [(at, 1 << at % 8) for at in {0, len(handle) // 3, len(handle) // 2, len(handle) - 1}]
    altered = [handle[:at] + bytes([handle[at] ^ bit]) + handle[at + 1 :] for at, bit in places]
    replies = {f"byte {at}": call(nfs3, other) for (at, _), other in zip(places, altered, strict=True)}
    expect_no_handle(replies, because=BAD, right=call(nfs3, handle))


@pytest.mark.parametrize("content", ["zeros", "ones"])
@pytest.mark.parametrize("procedure", WITHOUT_EFFECT)
@proves(BAD, killed_by="nfs3-altered-handle-is-notempty")
def test_handle_of_one_byte_over_and_over_is_refused_by(
    nfs3: Nfs3, scratch: Scratch, procedure: str, content: str
) -> None:
    byte = b"\0" if content == "zeros" else b"\xff"
    call = WITHOUT_EFFECT[procedure]
    reply = call(nfs3, byte * len(scratch.handle))
    expect_no_handle({content: reply}, because=BAD, right=call(nfs3, scratch.handle))


# ---------------------------------------------------------------- stale handles


@pytest.mark.parametrize("procedure", IN_A_DIRECTORY)
@proves(STALE, killed_by="nfs3-removed-directory-is-io")
def test_handle_of_a_removed_directory_is_stale_for(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    reply = _answer(procedure, IN_A_DIRECTORY[procedure](nfs3, _remove_directory(nfs3, scratch)))
    if reply.status != Nfsstat3.NFS3_OK:
        # Nothing is in what does not exist: a server that keeps the directory for its handle may say that.
        # LINK is given a directory to link, which may be refused for itself.
        also = (Nfsstat3.NFS3ERR_ISDIR, Nfsstat3.NFS3ERR_PERM) if procedure == "link" else ()
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT, *also, because=STALE)


@pytest.mark.parametrize("procedure", sorted(IN_A_DIRECTORY.keys() - {"lookup", "create"}))
@proves(ONE_OBJECT, killed_by="nfs3-removed-directory-means-a-later-one")
def test_handle_of_a_removed_directory_reaches_no_later_one_by(
    nfs3: Nfs3, scratch: Scratch, procedure: str
) -> None:
    removed = _remove_directory(nfs3, scratch)
    later = [scratch.directory(f"later {number}") for number in range(LATER)]
    for directory in later:
        if procedure == "rmdir":
            scratch.directory("name", directory=directory)
        elif procedure in {"remove", "rename", "readdir", "readdirplus"}:
            scratch.file("name", directory=directory)
    before = [list_names(nfs3, directory) for directory in later]
    reply = _answer(procedure, _call_in(nfs3, scratch, procedure, removed))
    expect([list_names(nfs3, directory) for directory in later], "the names in later directories").equals(
        before
    )
    entries = getattr(getattr(reply, "resok", None), "entries", [])
    expect([entry.name for entry in entries], "the names listed").lacks(b"name")


def _call_in(nfs3: Nfs3, scratch: Scratch, procedure: str, directory: bytes) -> StatusReply:
    if procedure == "link":
        return nfs3.link(scratch.file("linked"), directory, b"name")
    return IN_A_DIRECTORY[procedure](nfs3, directory)


# ---------------------------------------------------------------- handles from before


@pytest.mark.parametrize("procedure", ON_A_FILE)
@proves(STAYS, killed_by="nfs3-renamed-is-stale")
def test_handle_of_a_renamed_file_works_for(nfs3: Nfs3, scratch: Scratch, procedure: str) -> None:
    file = scratch.file("old", b"data")
    directory = scratch.directory("elsewhere")
    moved = nfs3.rename(scratch.handle, b"old", directory, b"new")
    if moved.resok is None:
        skip(f"the file cannot be renamed: RENAME answers {moved.status}")
    expect(_answer(procedure, ON_A_FILE[procedure](nfs3, file))).ok()
