# SPDX-License-Identifier: MIT
"""File handles (RFC 1094 section 2.3.3): 32 bytes that mean one object, and nothing when nobody gave them out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks import TargetView
from fixtures.scratch2 import Scratch2
from nfsclient.clients import Mount, Nfs2
from nfsclient.protocol.nfs2 import FHSIZE, Ftype, Nfsstat2, Sattr
from nfsclient.xdr import XdrEnum
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs2.objects import KINDS, expect_same, make, return_to

INVALID = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    level=Level.SHOULD,
    gist="a handle that is invalid is refused",
)
MEANS_ONE = Requirement(
    rfc="RFC 1094",
    section="2.3.3",
    gist="the file handle distinguishes an individual file: it goes on to mean that file",
)
WITHOUT_STATE = Requirement(
    rfc="RFC 1094",
    section="1.3",
    level=Level.SHOULD,
    gist="a server without state is the same for its clients after a restart: handles are as good as before",
)
ALTERED = Requirement(
    rfc="RFC 1094",
    section="2.3.1",
    level=Level.SHOULD,
    gist="a handle that was altered is invalid: STALE",
)

FROM_MOUNT = Requirement(
    rfc="RFC 1094",
    section="A.5.2",
    gist="the handle that MNT gives is that of a directory, and may be used in the NFS protocol",
)

Act = Callable[[Nfs2, bytes, bytes], XdrEnum]
"""(client, handle to try, handle of a directory) -> status."""

ACTS: dict[str, Act] = {
    "GETATTR": lambda nfs2, bad, _good: nfs2.getattr(bad).status,
    "SETATTR": lambda nfs2, bad, _good: nfs2.setattr(bad, Sattr(mode=0o600)).status,
    "LOOKUP": lambda nfs2, bad, _good: nfs2.lookup(bad, b"name").status,
    "READLINK": lambda nfs2, bad, _good: nfs2.readlink(bad).status,
    "READ": lambda nfs2, bad, _good: nfs2.read(bad, 0, 10).status,
    "WRITE": lambda nfs2, bad, _good: nfs2.write(bad, 0, b"data").status,
    "CREATE": lambda nfs2, bad, _good: nfs2.create(bad, b"name").status,
    "REMOVE": lambda nfs2, bad, _good: nfs2.remove(bad, b"name").status,
    "RENAME-from": lambda nfs2, bad, good: nfs2.rename(bad, b"name", good, b"name").status,
    "RENAME-to": lambda nfs2, bad, good: nfs2.rename(good, b"file", bad, b"name").status,
    "LINK-file": lambda nfs2, bad, good: nfs2.link(bad, good, b"name").status,
    "LINK-to": lambda nfs2, bad, good: nfs2.link(nfs2.lookup(good, b"file").resok.file, bad, b"n").status,  # type: ignore[union-attr]
    "SYMLINK": lambda nfs2, bad, _good: nfs2.symlink(bad, b"name", b"text").status,
    "MKDIR": lambda nfs2, bad, _good: nfs2.mkdir(bad, b"name").status,
    "RMDIR": lambda nfs2, bad, _good: nfs2.rmdir(bad, b"name").status,
    "READDIR": lambda nfs2, bad, _good: nfs2.readdir(bad).status,
    "STATFS": lambda nfs2, bad, _good: nfs2.statfs(bad).status,
}
"""Each argument of each procedure that is a handle. 32 zero bytes are not tried: they may be the public handle."""


@pytest.mark.parametrize("act", ACTS)
@proves(INVALID, killed_by="nfs2-takes-handles-of-nobody")
def test_a_handle_of_nobody_is_refused(nfs2: Nfs2, scratch2: Scratch2, act: str) -> None:
    scratch2.file("file")
    status = ACTS[act](nfs2, b"\xff" * FHSIZE, scratch2.handle)
    observe("answer", status)  # STALE is meant; damage may also be told as IO
    expect(status, f"the status of {act}").differs_from(Nfsstat2.NFS_OK)


@pytest.mark.parametrize("act", ["CREATE", "MKDIR", "LOOKUP", "RENAME-to", "SYMLINK", "LINK-to"])
@proves(INVALID, killed_by="nfs2-takes-handles-of-removed-directories")
def test_a_removed_directory_takes_no_names(nfs2: Nfs2, scratch2: Scratch2, act: str) -> None:
    scratch2.file("file")
    directory = scratch2.directory("d")
    expect(nfs2.rmdir(scratch2.handle, b"d")).ok()
    status = ACTS[act](nfs2, directory, scratch2.handle)
    observe("answer", status)
    expect(status, f"the status of {act}").differs_from(Nfsstat2.NFS_OK)


@pytest.mark.parametrize("at", [0, 8, 16, 31])
@proves(ALTERED, killed_by="nfs2-reads-half-of-a-handle")
def test_an_altered_handle_reaches_no_other_file(nfs2: Nfs2, scratch2: Scratch2, at: int) -> None:
    file = scratch2.file("f", b"data")
    altered = file[:at] + bytes([file[at] ^ 0x01]) + file[at + 1 :]
    reply = nfs2.getattr(altered)
    observe("answer", reply.status)
    if reply.resok is None:
        return
    # Bytes of it may mean nothing. Then it is the same file still.
    expect(reply.resok.fileid, "the fileid of what is reached").equals(scratch2.attributes(file).fileid)


@pytest.mark.parametrize("kind", KINDS)
@proves(MEANS_ONE, killed_by="nfs2-handles-of-renamed-files-go-astray")
def test_means_the_object_after_a_change_of_its_name(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    handle = make(scratch2, kind)
    known = scratch2.attributes(handle)
    expect(nfs2.rename(scratch2.handle, b"object", scratch2.handle, b"other")).ok()
    reply = nfs2.getattr(handle)
    observe("answer", reply.status)
    if reply.resok is not None:  # a server whose handles are made of names may say STALE
        expect_same(reply.resok, known)


@pytest.mark.exclusive
@pytest.mark.parametrize("kind", KINDS)
@proves(WITHOUT_STATE, killed_by="nfs2-forgets-handles-in-a-restart")
def test_is_as_good_after_a_restart(target: TargetView, nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    handle = make(scratch2, kind)
    known = expect(nfs2.getattr(handle)).ok()
    target.restart()
    return_to(target, scratch2)
    attributes = expect(target.nfs2().getattr(handle)).ok()
    expect_same(attributes, known)


@proves(FROM_MOUNT, killed_by="mnt1-gives-a-handle-of-nothing", needs="mount1")
def test_the_handle_of_mount_is_a_directory(nfs2: Nfs2, mount1_client: Mount, target: TargetView) -> None:
    mounted = mount1_client.mnt1(target.address.export.encode("utf-8", "surrogateescape"))
    if mounted.resok is None:
        skip(f"MNT of the export answers {mounted.status}")
    reply = nfs2.getattr(mounted.resok)
    expect(reply).ok()
    expect(reply).field("attributes.type").equals(Ftype.NFDIR)
