# SPDX-License-Identifier: MIT
"""MKNOD (RFC 1813 section 3.3.11): FIFOs, sockets and devices as nodes."""

from __future__ import annotations

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Devicedata3, Ftype3, Mknoddata3, Nfsstat3, Sattr3, Specdata3
from nfsjudge import Level, Part, Requirement, expect, proves, unsupported
from suites.nfs3.creating import (
    EXIST_IS_MEANT,
    expect_kept,
    expect_not_a_directory,
    expect_own_attributes,
    expect_own_handle,
    expect_type,
)

CREATES_A_NODE = Requirement(
    rfc="RFC 1813", section="3.3.11", gist="MKNOD creates a special file of the type asked for"
)
ATTRIBUTES = Requirement(
    rfc="RFC 1813", section="3.3.11", gist="obj_attributes are those of the newly created special file"
)
HANDLE = Requirement(rfc="RFC 1813", section="3.3.11", gist="obj is the file handle of the new special file")
DEVICE_NUMBERS = Requirement(
    rfc="RFC 1813",
    section="3.3.11",
    gist="specdata1 is the major and specdata2 the minor number of the device",
)
NEW_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.11",
    gist="MKNOD creates: it does not succeed on a name that exists, nor harm it",
)
OF_A_DIRECTORY = Requirement(
    rfc="RFC 1813", section="3.3.11", gist="a special file is created in a directory, not in another object"
)
SPECIAL_ONLY = Requirement(
    rfc="RFC 1813",
    section="3.3.11",
    level=Level.SHOULD,
    part=Part.IMPLEMENTATION,
    gist="a type that MKNOD does not make is refused, with BADTYPE",
)

_FIFO = Mknoddata3(Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))
_SOCKET = Mknoddata3(Ftype3.NF3SOCK, pipe_attributes=Sattr3(mode=0o644))


@proves(CREATES_A_NODE, killed_by="mknod3-creates-nothing", needs="mknod")
def test_creates_a_fifo(nfs3: Nfs3, scratch: Scratch) -> None:
    expect(nfs3.mknod(scratch.handle, b"fifo", _FIFO)).ok()
    expect_type(nfs3, scratch, b"fifo", Ftype3.NF3FIFO)


@proves(CREATES_A_NODE, killed_by="mknod3-makes-fifos-of-sockets", needs="mknod")
def test_creates_a_socket(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.mknod(scratch.handle, b"socket", _SOCKET)
    if reply.status == Nfsstat3.NFS3ERR_BADTYPE:
        unsupported("the server makes no sockets")
    expect(reply).ok()
    expect_type(nfs3, scratch, b"socket", Ftype3.NF3SOCK)


@proves(DEVICE_NUMBERS, killed_by="mknod3-swaps-device-numbers", needs="device")
def test_keeps_the_numbers_of_a_device(nfs3: Nfs3, scratch: Scratch) -> None:
    device = Mknoddata3(Ftype3.NF3CHR, device=Devicedata3(Sattr3(mode=0o600), Specdata3(7, 42)))
    expect(nfs3.mknod(scratch.handle, b"device", device)).ok()
    found = expect(nfs3.lookup(scratch.handle, b"device")).ok()
    attributes = expect(nfs3.getattr(found.object)).ok().obj_attributes
    expect((attributes.rdev.specdata1, attributes.rdev.specdata2), "major and minor number").equals((7, 42))


@proves(ATTRIBUTES, killed_by="mknod3-attributes-of-the-directory", needs="mknod")
def test_attributes_are_those_of_the_node(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_own_attributes(nfs3, scratch, b"fifo", nfs3.mknod(scratch.handle, b"fifo", _FIFO))


@proves(HANDLE, killed_by="mknod3-handle-of-the-directory", needs="mknod")
def test_handle_is_that_of_the_node(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_own_handle(nfs3, scratch, b"handle", nfs3.mknod(scratch.handle, b"handle", _FIFO))


@proves(NEW_ONLY, killed_by="mknod3-replaces-files", needs="mknod")
def test_keeps_an_existing_file(nfs3: Nfs3, scratch: Scratch) -> None:
    scratch.file("there", b"precious")
    reply = nfs3.mknod(scratch.handle, b"there", _FIFO)
    expect_kept(scratch, b"there", b"precious")
    expect(reply).refused(Nfsstat3.NFS3ERR_EXIST, because=EXIST_IS_MEANT)


@proves(OF_A_DIRECTORY, killed_by="mknod3-creates-in-files", needs="mknod")
def test_refuses_a_file_as_the_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    expect_not_a_directory(nfs3.mknod(scratch.file("file"), b"fifo", _FIFO))


@proves(SPECIAL_ONLY, killed_by="mknod3-makes-regular-files", needs="mknod")
def test_refuses_to_make_a_regular_file(nfs3: Nfs3, scratch: Scratch) -> None:
    reply = nfs3.mknod(scratch.handle, b"regular", Mknoddata3(Ftype3.NF3REG))
    expect(reply).refused(Nfsstat3.NFS3ERR_BADTYPE, because=SPECIAL_ONLY)
