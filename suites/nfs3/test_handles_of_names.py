# SPDX-License-Identifier: MIT
"""Calls with two handles (RFC 1813 section 2.5), one of which is stale or invalid.

`test_handle_forms` has the calls with one handle.
"""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs3.by_name import CALLS, TAKING, Place
from suites.nfs3.contents import pattern

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
BAD_HANDLE_REACHES_NOTHING = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle that refers to no object has no effect: nothing is created and nothing removed",
)

GONE = (Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT)
"""Many systems answer NOENT for any name in a removed directory, before they check the directory itself."""
NOT_A_HANDLE = (
    Nfsstat3.NFS3ERR_BADHANDLE,
    Nfsstat3.NFS3ERR_STALE,
    Nfsstat3.NFS3ERR_IO,
    Nfsstat3.NFS3ERR_SERVERFAULT,
    Nfsstat3.NFS3ERR_ACCES,
    Nfsstat3.NFS3ERR_PERM,
)
TWO_HANDLES = ("link", "rename_from", "rename_to")
LATER = 4
"""Objects created after one was removed: a server that reuses inode numbers does so at once."""


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """The directories to try names in."""
    return Place(scratch)


def _removed_directory(nfs3: Nfs3, scratch: Scratch) -> bytes:
    """The handle of a directory that was removed. SKIP if it cannot be removed."""
    removed = scratch.directory("removed")
    status = nfs3.rmdir(scratch.handle, b"removed").status
    if status != Nfsstat3.NFS3_OK:
        skip(f"the directory cannot be removed: {status}")
    return removed


def _removed(nfs3: Nfs3, scratch: Scratch, handle: bytes, name: bytes) -> bytes:
    """Remove a name and return the handle of its object. SKIP if it cannot be removed."""
    status = nfs3.remove(scratch.handle, name).status
    if status != Nfsstat3.NFS3_OK:
        skip(f"{name.decode()} cannot be removed: {status}")
    return handle


# ---------------------------------------------------------------- stale handles


@pytest.mark.parametrize("procedure", TWO_HANDLES)
@proves(RETURNS_STALE, killed_by="names3-removed-is-io")
def test_handle_of_a_removed_directory_is_stale_if_it_does_not_work(
    nfs3: Nfs3, place: Place, procedure: str
) -> None:
    """LINK or RENAME with a removed directory returns NFS3ERR_STALE or NFS3ERR_NOENT, or works."""
    removed = _removed_directory(nfs3, place.scratch)
    reply = CALLS[procedure](nfs3, place, removed, b"name")
    observe(f"{procedure.upper()} by the handle of a removed directory", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(*GONE, because=RETURNS_STALE)


@proves(RETURNS_STALE, killed_by="names3-removed-is-io", needs="symlink")
def test_handle_of_a_removed_link_is_stale_if_it_does_not_work(nfs3: Nfs3, scratch: Scratch) -> None:
    """The handle of a removed symbolic link returns NFS3ERR_STALE, unless it still works."""
    removed = _removed(nfs3, scratch, scratch.symlink("link", b"target"), b"link")
    reply = nfs3.readlink(removed)
    observe("READLINK by the handle of a removed link", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, because=RETURNS_STALE)


@proves(RETURNS_STALE, killed_by="names3-removed-is-io", needs="hardlink")
def test_handle_of_a_removed_file_to_link_is_stale_if_it_does_not_work(nfs3: Nfs3, scratch: Scratch) -> None:
    """LINK of a removed file returns NFS3ERR_STALE or NFS3ERR_NOENT, unless it still works."""
    removed = _removed(nfs3, scratch, scratch.file("file"), b"file")
    reply = nfs3.link(removed, scratch.handle, b"link")
    observe("LINK by the handle of a removed file", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(*GONE, because=RETURNS_STALE)


@pytest.mark.parametrize("procedure", TWO_HANDLES)
@proves(HANDLE_IS_OF_ONE_FILE, killed_by="names3-reach-a-later-directory")
def test_handle_of_a_removed_directory_changes_no_later_one(nfs3: Nfs3, place: Place, procedure: str) -> None:
    """LINK or RENAME with a removed directory does not change a directory created later."""
    removed = _removed_directory(nfs3, place.scratch)
    later = [place.scratch.directory(f"later-{number}") for number in range(LATER)]
    if procedure in TAKING:
        for directory in later:
            place.put(procedure, b"name", directory)
    known = [place.scratch.names(directory) for directory in later]
    reply = CALLS[procedure](nfs3, place, removed, b"name")
    observe(f"{procedure.upper()} by the handle of a removed directory", reply.status)
    seen = [place.scratch.names(directory) for directory in later]
    expect(seen, "the names in later directories").equals(known)


@proves(HANDLE_IS_OF_ONE_FILE, killed_by="link3-reaches-a-later-file", needs="hardlink")
def test_handle_of_a_removed_file_links_no_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    """LINK of a removed file does not link a file created later."""
    removed = _removed(nfs3, scratch, scratch.file("file", b"removed"), b"file")
    later = [scratch.file(f"later-{number}", b"later") for number in range(LATER)]
    known = [scratch.attributes(handle).nlink for handle in later]
    observe("LINK by the handle of a removed file", nfs3.link(removed, scratch.handle, b"link").status)
    seen = [scratch.attributes(handle).nlink for handle in later]
    expect(seen, "nlink of later files").equals(known)


# ---------------------------------------------------------------- invalid handles


@pytest.mark.parametrize("which", ["from", "to"])
@proves(BAD_HANDLE_REACHES_NOTHING, killed_by="nfs3-bad-handle-is-inval")
def test_rename_needs_both_handles(nfs3: Nfs3, place: Place, which: str) -> None:
    """RENAME with one invalid directory handle fails and renames nothing."""
    place.put("rename_from", b"name")
    nonsense = pattern(len(place.here), salt=77)
    source, target = (nonsense, place.elsewhere) if which == "from" else (place.here, nonsense)
    reply = nfs3.rename(source, b"name", target, b"new")
    expect(place.names(), "the names in the directory").equals([b"name"])
    expect(place.scratch.names(place.elsewhere), "the names in the other directory").equals([b"source"])
    expect(reply).refused(*NOT_A_HANDLE, because=RETURNS_BADHANDLE)


@pytest.mark.parametrize("which", ["file", "directory"])
@proves(BAD_HANDLE_REACHES_NOTHING, killed_by="nfs3-bad-handle-is-inval", needs="hardlink")
def test_link_needs_both_handles(nfs3: Nfs3, place: Place, which: str) -> None:
    """LINK with one invalid handle fails and creates nothing."""
    nonsense = pattern(len(place.here), salt=77)
    file, directory = (nonsense, place.here) if which == "file" else (place.source, nonsense)
    reply = nfs3.link(file, directory, b"link")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(*NOT_A_HANDLE, because=RETURNS_BADHANDLE)
