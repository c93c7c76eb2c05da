# SPDX-License-Identifier: MIT
"""Handles (RFC 1813 section 2.5) where a call has two of them: one is that of what is gone, or of nothing.

Calls with one handle are in `test_handle_forms`.
"""

from __future__ import annotations

import pytest

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs3.by_name import CALLS, TAKING, Place
from suites.nfs3.contents import pattern

ONE_OBJECT = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="equal file handles refer to the same object: that of a removed one never reaches another",
    level=Level.MUST,
)
STALE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle whose object no longer exists should be answered with NFS3ERR_STALE",
    level=Level.SHOULD,
)
BAD = Requirement(
    rfc="RFC 1813",
    section="2.6",
    gist="BADHANDLE is for handles that fail consistency checks, STALE for those that are invalid otherwise",
    level=Level.SHOULD,
)
NOTHING_ELSE = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="a handle that means nothing leads nowhere: nothing is made, and nothing taken",
)

GONE = (Nfsstat3.NFS3ERR_STALE, Nfsstat3.NFS3ERR_NOENT)
"""A removed directory has no names, and takes none: many systems say so before they look at the directory."""
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
"""Objects that are made after one was removed: a server that uses numbers again does so at once."""


@pytest.fixture
def place(scratch: Scratch) -> Place:
    """Where names are tried."""
    return Place(scratch)


def _removed_directory(nfs3: Nfs3, scratch: Scratch) -> bytes:
    """The handle of a directory that is gone."""
    removed = scratch.directory("removed")
    status = nfs3.rmdir(scratch.handle, b"removed").status
    if status != Nfsstat3.NFS3_OK:
        skip(f"the directory cannot be removed: {status}")
    return removed


def _removed(nfs3: Nfs3, scratch: Scratch, handle: bytes, name: bytes) -> bytes:
    """The handle of something else that is gone."""
    status = nfs3.remove(scratch.handle, name).status
    if status != Nfsstat3.NFS3_OK:
        skip(f"{name.decode()} cannot be removed: {status}")
    return handle


# ---------------------------------------------------------------- what is gone


@pytest.mark.parametrize("procedure", TWO_HANDLES)
@proves(STALE, killed_by="names3-removed-is-io")
def test_handle_of_a_removed_directory_is_stale_if_it_does_not_work(
    nfs3: Nfs3, place: Place, procedure: str
) -> None:
    removed = _removed_directory(nfs3, place.scratch)
    reply = CALLS[procedure](nfs3, place, removed, b"name")
    observe(f"{procedure.upper()} by the handle of a removed directory", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(*GONE, because=STALE)


@proves(STALE, killed_by="names3-removed-is-io", needs="symlink")
def test_handle_of_a_removed_link_is_stale_if_it_does_not_work(nfs3: Nfs3, scratch: Scratch) -> None:
    removed = _removed(nfs3, scratch, scratch.symlink("link", b"target"), b"link")
    reply = nfs3.readlink(removed)
    observe("READLINK by the handle of a removed link", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(Nfsstat3.NFS3ERR_STALE, because=STALE)


@proves(STALE, killed_by="names3-removed-is-io", needs="hardlink")
def test_handle_of_a_removed_file_to_link_is_stale_if_it_does_not_work(nfs3: Nfs3, scratch: Scratch) -> None:
    removed = _removed(nfs3, scratch, scratch.file("file"), b"file")
    reply = nfs3.link(removed, scratch.handle, b"link")
    observe("LINK by the handle of a removed file", reply.status)
    if reply.status != Nfsstat3.NFS3_OK:
        expect(reply).refused(*GONE, because=STALE)


@pytest.mark.parametrize("procedure", TWO_HANDLES)
@proves(ONE_OBJECT, killed_by="names3-reach-a-later-directory")
def test_handle_of_a_removed_directory_changes_no_later_one(nfs3: Nfs3, place: Place, procedure: str) -> None:
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


@proves(ONE_OBJECT, killed_by="link3-reaches-a-later-file", needs="hardlink")
def test_handle_of_a_removed_file_links_no_later_one(nfs3: Nfs3, scratch: Scratch) -> None:
    removed = _removed(nfs3, scratch, scratch.file("file", b"removed"), b"file")
    later = [scratch.file(f"later-{number}", b"later") for number in range(LATER)]
    known = [scratch.attributes(handle).nlink for handle in later]
    observe("LINK by the handle of a removed file", nfs3.link(removed, scratch.handle, b"link").status)
    seen = [scratch.attributes(handle).nlink for handle in later]
    expect(seen, "nlink of later files").equals(known)


# ---------------------------------------------------------------- one handle of two that is none


@pytest.mark.parametrize("which", ["from", "to"])
@proves(NOTHING_ELSE, killed_by="nfs3-bad-handle-is-inval")
def test_rename_needs_both_handles(nfs3: Nfs3, place: Place, which: str) -> None:
    place.put("rename_from", b"name")
    nonsense = pattern(len(place.here), salt=77)
    source, target = (nonsense, place.elsewhere) if which == "from" else (place.here, nonsense)
    reply = nfs3.rename(source, b"name", target, b"new")
    expect(place.names(), "the names in the directory").equals([b"name"])
    expect(place.scratch.names(place.elsewhere), "the names in the other directory").equals([b"source"])
    expect(reply).refused(*NOT_A_HANDLE, because=BAD)


@pytest.mark.parametrize("which", ["file", "directory"])
@proves(NOTHING_ELSE, killed_by="nfs3-bad-handle-is-inval", needs="hardlink")
def test_link_needs_both_handles(nfs3: Nfs3, place: Place, which: str) -> None:
    nonsense = pattern(len(place.here), salt=77)
    file, directory = (nonsense, place.here) if which == "file" else (place.source, nonsense)
    reply = nfs3.link(file, directory, b"link")
    expect(place.names(), "the names in the directory").equals([])
    expect(reply).refused(*NOT_A_HANDLE, because=BAD)
