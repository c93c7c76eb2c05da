# SPDX-License-Identifier: MIT
"""GETATTR (RFC 1813 section 3.3.1): the attributes of section 2.5 describe the object."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Ftype3, Nfsstat3, Sattr3
from nfsjudge import (
    expect,
    expect_that,
    expect_unchanged,
    observe,
    proves,
    should,
    stated,
    unsupported,
)
from suites.clauses import FILEID_IS_UNIQUE
from suites.nfs3.attributes import EVERYTHING, PROTECTION
from suites.nfs3.clauses import MODE_HAS_DEFINED_BITS_ONLY, NLINK_COUNTS, NSECONDS_BELOW_ONE_SECOND
from suites.nfs3.contents import pattern
from suites.nfs3.file_types import DEVICE, KINDS, make
from suites.nfs3.limits import need_far
from suites.nfs3.new_objects import expect_found
from suites.nfs3.permissions import STRANGER

TYPE = stated("RFC 1813", "2.5", "type is the file type of the object, one of the seven of ftype3")
SIZE_IN_BYTES = stated("RFC 1813", "2.5", "size is the size of the file in bytes, in 64 bits")
GETATTR_IS_CURRENT = stated("RFC 1813", "3.3.1", "GETATTR returns the current attributes of the object")
GETATTR_SAME_FOR_EVERY_USER = should(
    "RFC 1813", "3.3.1", "GETATTR should return the same attributes to every user"
)
RDEV_IS_MAJOR_MINOR = stated(
    "RFC 1813", "2.5", "rdev of a device has its major number in specdata1, its minor number in specdata2"
)


# ---------------------------------------------------------------- type


@proves(TYPE, killed_by="getattr3-wrong-type")
def test_type_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR of a directory returns type NF3DIR."""
    reply = nfs3.getattr(scratch.directory("d"))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.type").equals(Ftype3.NF3DIR)


@proves(TYPE, killed_by="getattr3-reports-empty-files-as-fifos")
def test_type_regular(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR of a regular file returns type NF3REG."""
    for file in (scratch.file("empty"), scratch.file("full", b"data"), scratch.file("program", mode=0o755)):
        reply = nfs3.getattr(file)
        expect(reply).ok()
        expect(reply).field("resok.obj_attributes.type").equals(Ftype3.NF3REG)


@proves(TYPE, killed_by="getattr3-follows-symlinks", needs="symlink")
def test_type_symlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR of a symbolic link returns type NF3LNK: it does not follow the link."""
    scratch.file("target", b"data")
    reply = nfs3.getattr(scratch.symlink("l", b"target"))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.type").equals(Ftype3.NF3LNK)


@proves(TYPE, killed_by="getattr3-returns-an-unknown-type", needs="mknod")
def test_type_fifo(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR of a FIFO returns type NF3FIFO."""
    reply = nfs3.getattr(scratch.fifo("p"))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.type").equals(Ftype3.NF3FIFO)


# ---------------------------------------------------------------- mode, size, times


@proves(MODE_HAS_DEFINED_BITS_ONLY, killed_by="getattr3-mode-includes-the-type")
def test_mode_bits(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR returns a mode that has protection bits only."""
    for handle in (scratch.file("f"), scratch.directory("d")):
        reply = nfs3.getattr(handle)
        expect(reply).ok()
        expect(reply).field("resok.obj_attributes.mode").satisfies(
            lambda mode: not mode & ~PROTECTION, "protection bits only (07777)"
        )


@proves(SIZE_IN_BYTES, killed_by="getattr3-rounds-small-sizes-up")
def test_size(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR returns as size the number of bytes in the file."""
    for size in (0, 1, 5, 4095, 10_001):
        reply = nfs3.getattr(scratch.file(f"f{size}", pattern(size)))
        expect(reply).ok()
        expect(reply).field("resok.obj_attributes.size").equals(size)


@proves(SIZE_IN_BYTES, killed_by="getattr3-truncates-size")
def test_size_above_4g(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR returns sizes above 4 GiB."""
    file = scratch.file("f")
    with need_far(nfs3, scratch, 2**32 + 5, by_setattr=True):
        grown = nfs3.setattr(file, Sattr3(size=2**32 + 5))
    if grown.status != Nfsstat3.NFS3_OK:
        unsupported(f"no file of 4 GiB + 5 bytes: SETATTR of the size answers {grown.status}", grown)
    reply = nfs3.getattr(file)
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.size").equals(2**32 + 5)


@proves(NSECONDS_BELOW_ONE_SECOND, killed_by="getattr3-returns-a-billion-nanoseconds")
def test_nseconds(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR returns times with fewer than 1,000,000,000 nanoseconds."""
    for handle in (scratch.file("f", b"data"), scratch.directory("d")):
        reply = nfs3.getattr(handle)
        expect(reply).ok()
        for name in ("atime", "mtime", "ctime"):
            expect(reply).field(f"resok.obj_attributes.{name}.nseconds").at_most(999_999_999)


# ---------------------------------------------------------------- fileid and nlink


@proves(FILEID_IS_UNIQUE, killed_by="getattr3-fileid-of-the-parent")
def test_unique_fileid(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """Different objects of a file system have different fileids."""
    handles = {
        "the directory": scratch.handle,
        "'d'": scratch.directory("d"),
        "'one'": scratch.file("one"),
        "'other'": scratch.file("other"),
    }
    seen: dict[tuple[int, int], str] = {}
    for name, handle in handles.items():
        reply = nfs3.getattr(handle)
        attributes = expect(reply).ok().obj_attributes
        identity = (attributes.fsid, attributes.fileid)
        expect_that(
            identity not in seen,
            "a pair that no other object has",
            f"{identity[0]}, {identity[1]}, those of {seen.get(identity)}",
            f"fsid and fileid of {name}",
            reply=reply,
            field="resok.obj_attributes.fileid",
        )
        seen[identity] = name


@proves(FILEID_IS_UNIQUE, killed_by="getattr3-fileid-changes-with-nlink", needs="hardlink")
def test_fileid_of_hard_link(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """A hard link has the fileid of the file."""
    file = scratch.file("f", b"data")
    known = scratch.attributes(file)
    scratch.link(file, "link")
    reply = nfs3.getattr(expect_found(scratch, b"link"))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.fsid").equals(known.fsid)
    expect(reply).field("resok.obj_attributes.fileid").equals(known.fileid)


@proves(NLINK_COUNTS, killed_by="getattr3-nlink-is-always-1", needs="hardlink")
def test_nlink(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """nlink is the number of names of the file."""
    file = scratch.file("f")
    for count, name in enumerate((None, "second", "third"), start=1):
        if name is not None:
            scratch.link(file, name)
        reply = nfs3.getattr(file)
        expect(reply).ok()
        expect(reply).field("resok.obj_attributes.nlink").equals(count)


# ---------------------------------------------------------------- other clients and users


@proves(GETATTR_IS_CURRENT, killed_by="getattr3-caches-files-by-connection")
def test_change_by_another_client(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR returns the size after a WRITE over another connection."""
    file = scratch.file("f", b"data")
    expect(second_client.getattr(file)).ok()
    scratch.write(file, b"more data")
    reply = second_client.getattr(file)
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.size").equals(9)


@proves(GETATTR_SAME_FOR_EVERY_USER, killed_by="getattr3-owner-is-the-caller", needs="other_users")
def test_other_user(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """GETATTR returns the same attributes to another user."""
    file = scratch.file("f", b"data")
    known = scratch.attributes(file)
    reply = as_user(*STRANGER).getattr(file)
    if reply.resok is None:
        unsupported(f"GETATTR by another user answers {reply.status}", reply)
    expect_unchanged(known, reply.resok.obj_attributes, EVERYTHING)


@proves(GETATTR_IS_CURRENT, killed_by="getattr3-changes-mtime")
def test_no_side_effects(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """GETATTR changes no attribute of the object."""
    for handle in (scratch.file("f", b"data"), scratch.directory("d")):
        known = expect(nfs3.getattr(handle)).ok().obj_attributes
        again = expect(nfs3.getattr(handle)).ok().obj_attributes
        observe("GETATTR changes atime", again.atime != known.atime)
        expect_unchanged(known, again, EVERYTHING)


# ---------------------------------------------------------------- devices and sockets


@pytest.mark.parametrize("kind", ["block", "character", "socket"])
@proves(TYPE, killed_by="getattr3-reports-special-files-as-regular")
def test_special_file_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """GETATTR returns the type of a device or socket."""
    reply = nfs3.getattr(make(nfs3, scratch, kind, is_trusted=True))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.type").equals(KINDS[kind])


@pytest.mark.parametrize("kind", ["block", "character"])
@proves(RDEV_IS_MAJOR_MINOR, killed_by="getattr3-omits-device-numbers", needs="device")
def test_device_numbers(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """GETATTR returns the major and minor number of a device in rdev."""
    reply = nfs3.getattr(make(nfs3, scratch, kind))
    expect(reply).ok()
    expect(reply).field("resok.obj_attributes.rdev.specdata1").equals(DEVICE.specdata1)
    expect(reply).field("resok.obj_attributes.rdev.specdata2").equals(DEVICE.specdata2)
