# SPDX-License-Identifier: MIT
"""MKNOD (RFC 1813 section 3.3.11): creates FIFOs, sockets and devices."""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Devicedata3, Ftype3, Mknoddata3, Nfsstat3, Sattr3, Specdata3
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_attributes,
    expect_names,
    observe,
    proves,
    should,
    stated,
    unsupported,
)
from nfsjudge.answers import answer_name
from suites.nfs3.bad_names import reconnect
from suites.nfs3.clauses import RETURNS_EXIST
from suites.nfs3.file_types import FIFO, SOCKET
from suites.nfs3.new_objects import (
    expect_file,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)
from suites.replies import REJECTIONS

MKNOD_CREATES_A_SPECIAL_FILE = stated(
    "RFC 1813", "3.3.11", "MKNOD creates a special file of the requested type", harm=Harm.SUCCESS
)
MKNOD_RETURNS_ATTRIBUTES = stated(
    "RFC 1813", "3.3.11", "obj_attributes are the attributes of the new special file"
)
MKNOD_RETURNS_HANDLE = stated("RFC 1813", "3.3.11", "obj is the file handle of the new special file")
MKNOD_SETS_DEVICE_NUMBERS = stated(
    "RFC 1813", "3.3.11", "specdata1 is the major and specdata2 the minor number of the device"
)
MKNOD_REPLACES_NOTHING = stated(
    "RFC 1813",
    "3.3.11",
    "MKNOD fails if the name exists, and leaves the existing object unchanged",
    harm=Harm.OBJECT,
)
MKNOD_NEEDS_A_DIRECTORY = stated(
    "RFC 1813",
    "3.3.11",
    "MKNOD creates the special file in a directory, not in another object",
    harm=Harm.OBJECT,
)
MKNOD_REFUSES_OTHER_TYPES = should(
    "RFC 1813",
    "3.3.11",
    "MKNOD refuses types that it does not create, with NFS3ERR_BADTYPE",
    part=Part.IMPLEMENTATION,
)


@proves(MKNOD_CREATES_A_SPECIAL_FILE, killed_by="mknod3-creates-nothing", needs="mknod")
def test_creates_fifo(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD creates a FIFO."""
    expect(nfs3.mknod(scratch.handle, b"fifo", FIFO)).ok()
    expect_type(nfs3, scratch, b"fifo", Ftype3.NF3FIFO)


@proves(MKNOD_CREATES_A_SPECIAL_FILE, killed_by="mknod3-makes-fifos-instead-of-sockets", needs="mknod")
def test_creates_socket(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD creates a socket."""
    reply = nfs3.mknod(scratch.handle, b"socket", SOCKET)
    if reply.status == Nfsstat3.NFS3ERR_BADTYPE:
        unsupported(f"MKNOD of a socket answers {reply.status}", reply)
    expect(reply).ok()
    expect_type(nfs3, scratch, b"socket", Ftype3.NF3SOCK)


@proves(MKNOD_SETS_DEVICE_NUMBERS, killed_by="mknod3-swaps-device-numbers", needs="device")
def test_device_numbers(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD sets the major and minor number of a device."""
    device = Mknoddata3(Ftype3.NF3CHR, device=Devicedata3(Sattr3(mode=0o600), Specdata3(7, 42)))
    expect(nfs3.mknod(scratch.handle, b"device", device)).ok()
    found = expect(nfs3.lookup(scratch.handle, b"device")).ok()
    attributes = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect_attributes(attributes.rdev, "rdev", specdata1=7, specdata2=42)


@proves(MKNOD_RETURNS_ATTRIBUTES, killed_by="mknod3-attributes-of-the-directory", needs="mknod")
def test_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD returns the attributes of the new special file."""
    expect_own_attributes(nfs3, scratch, b"fifo", nfs3.mknod(scratch.handle, b"fifo", FIFO))


@proves(MKNOD_RETURNS_HANDLE, killed_by="mknod3-returns-the-handle-of-the-directory", needs="mknod")
def test_handle(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD returns the handle of the new special file."""
    expect_own_handle(nfs3, scratch, b"handle", nfs3.mknod(scratch.handle, b"handle", FIFO))


@proves(MKNOD_REPLACES_NOTHING, killed_by="mknod3-replaces-files", needs="mknod")
def test_existing_file_kept(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD does not replace an existing file."""
    scratch.file("there", b"precious")
    reply = nfs3.mknod(scratch.handle, b"there", FIFO)
    expect_file(scratch, b"there", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=RETURNS_EXIST)


@proves(MKNOD_NEEDS_A_DIRECTORY, killed_by="mknod3-creates-in-files", needs="mknod")
def test_file_as_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD with a regular file as the directory fails with NFS3ERR_NOTDIR."""
    expect_not_a_directory(nfs3.mknod(scratch.file("file"), b"fifo", FIFO))


# ---------------------------------------------------------------- types that MKNOD does not create


@proves(MKNOD_REFUSES_OTHER_TYPES, killed_by="mknod3-accepts-regular-files", needs="mknod")
def test_regular_file(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MKNOD of a regular file fails with NFS3ERR_BADTYPE."""
    reply = nfs3.mknod(scratch.handle, b"regular", Mknoddata3(Ftype3.NF3REG))
    expect(reply).refused(Nfsstat3.NFS3ERR_BADTYPE, because=MKNOD_REFUSES_OTHER_TYPES)


@pytest.mark.parametrize("kind", [Ftype3.NF3DIR, Ftype3.NF3LNK], ids=["directory", "symlink"])
@proves(MKNOD_REFUSES_OTHER_TYPES, killed_by="mknod3-accepts-invalid-types", needs="mknod")
def test_directory_or_symlink(nfs3: Nfs3, scratch: Nfs3Scratch, kind: Ftype3) -> None:
    """MKNOD of a directory or symbolic link fails with NFS3ERR_BADTYPE."""
    reply = nfs3.mknod(scratch.handle, b"node", Mknoddata3(kind))
    expect_names(scratch.names(), [], "names in the directory")
    expect(reply).refused(Nfsstat3.NFS3ERR_BADTYPE, because=MKNOD_REFUSES_OTHER_TYPES)


@pytest.mark.parametrize("number", [0, 8, 2**31 - 1])
@proves(MKNOD_REFUSES_OTHER_TYPES, killed_by="mknod3-accepts-invalid-types", needs="mknod")
def test_undefined_type(nfs3: Nfs3, scratch: Nfs3Scratch, number: int) -> None:
    """MKNOD refuses a type that ftype3 does not define."""
    try:
        reply = nfs3.mknod(scratch.handle, b"node", Mknoddata3(Ftype3(number)))
    except REJECTIONS as error:
        # Not a value of the enum: a server may fail to decode it, or close the connection.
        observe(f"MKNOD of type {number}", answer_name(error))
        reconnect(nfs3)
    else:
        observe(f"MKNOD of type {number}", expect(reply).refused())
    expect_names(scratch.names(), [], "names in the directory")
