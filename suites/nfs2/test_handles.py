# SPDX-License-Identifier: MIT
"""File handles (RFC 1094 section 2.3.3): 32 bytes that identify one object."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from fixtures.checks.target import TargetView
from nfsclient.clients import Mount, Nfs2
from nfsclient.protocol.nfs2 import FHSIZE, Ftype, Nfsstat2
from nfsjudge import Harm, expect, expect_that, observe, proves, should, skip, stated
from suites.catalogue import Operands
from suites.nfs2.calls import CALLS
from suites.nfs2.objects import KINDS, expect_same, make

REFUSES_INVALID_HANDLE = should("RFC 1094", "2.3.1", "a call with an invalid file handle is refused")
HANDLE_IDENTIFIES_FILE = stated(
    "RFC 1094", "2.3.3", "a file handle identifies one file and keeps identifying it", harm=Harm.DATA
)
ALTERED_HANDLE_IS_INVALID = should("RFC 1094", "2.3.1", "a file handle with altered bytes is invalid (STALE)")
MNT_HANDLE_IS_DIRECTORY = stated(
    "RFC 1094", "A.5.2", "MNT returns the handle of a directory, and NFS calls accept it", harm=Harm.OBJECT
)
HANDLE_IS_NEVER_REUSED = stated(
    "RFC 1094",
    "2.3.1",
    "the handle of a removed file is STALE and never refers to another file",
    harm=Harm.DATA,
)


def _expect_refusal(nfs2: Nfs2, scratch: Nfs2Scratch, act: str, handle: bytes) -> None:
    """Expect an error for a call with this handle. RENAME and LINK have two: "RENAME-to" says that it is the second.

    32 zero bytes are never tested: they may be the public handle.
    """
    __tracebackhide__ = True
    procedure, _, which = act.lower().partition("-")
    file = scratch.file("file")
    if which == "to":
        operands = Operands(file, scratch.handle, b"file", handle, b"name")
    else:
        operands = Operands(handle, handle, b"name", scratch.handle, b"name")
    reply = CALLS[procedure].make(nfs2, operands)
    observe("answer", reply.status)  # STALE is the right status; some servers answer IO
    expect_that(reply.status != Nfsstat2.NFS_OK, "an error", "success", "status", reply=reply, field="status")


# One call for each way in which a server may check a handle: by type of object, and each handle of a call with two.
@pytest.mark.parametrize(
    "act",
    [
        "GETATTR",
        "LOOKUP",
        "READ",
        "WRITE",
        "RENAME-from",
        "RENAME-to",
        "LINK-file",
        "LINK-to",
        "READDIR",
        "STATFS",
    ],
    ids=str.lower,
)
@proves(REFUSES_INVALID_HANDLE, killed_by="nfs2-accepts-an-invalid-handle")
def test_never_issued(nfs2: Nfs2, scratch: Nfs2Scratch, act: str) -> None:
    """Procedures refuse a file handle that the server never issued."""
    _expect_refusal(nfs2, scratch, act, b"\xff" * FHSIZE)


@pytest.mark.parametrize(
    "act", ["CREATE", "MKDIR", "LOOKUP", "RENAME-to", "SYMLINK", "LINK-to"], ids=str.lower
)
@proves(REFUSES_INVALID_HANDLE, killed_by="nfs2-uses-removed-directories")
def test_removed_directory(nfs2: Nfs2, scratch: Nfs2Scratch, act: str) -> None:
    """Procedures refuse to find or add names in a removed directory."""
    directory = scratch.directory("d")
    expect(nfs2.rmdir(scratch.handle, b"d")).ok()
    _expect_refusal(nfs2, scratch, act, directory)


@pytest.mark.parametrize("at", [0, 8, 16, 31])
@proves(ALTERED_HANDLE_IS_INVALID, killed_by="nfs2-altered-handle-is-the-root")
def test_altered(nfs2: Nfs2, scratch: Nfs2Scratch, at: int) -> None:
    """An altered file handle does not reach another file."""
    file = scratch.file("f", b"data")
    altered = file[:at] + bytes([file[at] ^ 0x01]) + file[at + 1 :]
    reply = nfs2.getattr(altered)
    observe("answer", reply.status)
    if reply.resok is None:
        return
    # A server may ignore some bytes of a handle; then it is still the same file.
    expect(reply).field("attributes.fileid", "fileid of the file that the altered handle reaches").equals(
        scratch.attributes(file).fileid
    )


@pytest.mark.parametrize("kind", KINDS)
@proves(HANDLE_IDENTIFIES_FILE, killed_by="nfs2-renamed-handle-refers-to-directory")
def test_renamed_object(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """A file handle refers to the same object after RENAME, or is refused."""
    handle = make(scratch, kind)
    known = scratch.attributes(handle)
    expect(nfs2.rename(scratch.handle, b"object", scratch.handle, b"other")).ok()
    reply = nfs2.getattr(handle)
    observe("answer", reply.status)
    if reply.resok is not None:  # a server that builds handles from names may answer STALE
        expect_same(reply.resok, known)


@proves(MNT_HANDLE_IS_DIRECTORY, killed_by="mnt1-returns-a-handle-that-nfs2-refuses", needs="mount1")
def test_from_mount(nfs2: Nfs2, mount1: Mount, target: TargetView) -> None:
    """The file handle that MNT returns is that of a directory."""
    mounted = mount1.mnt1(target.address.export.encode("utf-8", "surrogateescape"))
    if mounted.resok is None:
        skip(f"the export cannot be mounted: MNT answers {mounted.status}", mounted)
    reply = nfs2.getattr(mounted.resok)
    expect(reply).ok()
    expect(reply).field("attributes.type").equals(Ftype.NFDIR)


@proves(HANDLE_IS_NEVER_REUSED, killed_by="nfs2-removed-handle-refers-to-next-file")
def test_never_reused(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """The file handle of a removed file does not reach a new file."""
    # The old handle may still work for a while; the server then reads the removed file.
    old = scratch.file("f", b"old data")
    expect(nfs2.remove(scratch.handle, b"f")).ok()
    for number in range(5):
        scratch.file(f"new{number}", b"new data")
    reply = nfs2.read(old, 0, 100)
    observe("answer", reply.status)
    if reply.resok is None:
        return
    if not len(reply.resok.data):
        skip("READ with the handle of the removed file succeeds, but returns no data")
    expect(
        bytes(reply.resok.data), "data that the handle of the removed file reads", field="data"
    ).differs_from(b"new data")
