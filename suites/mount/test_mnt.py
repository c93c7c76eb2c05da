# SPDX-License-Identifier: MIT
"""MNT (RFC 1813 section 5.2.1, RFC 1094 A.5.2): the handle of the directory that a path names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.mounting import INNER, MARK, MakeMounting, Mounting
from fixtures.checks.target import TargetView
from fixtures.checks.wire import GARBAGE_ARGS, SUCCESS, MakeWire, opaque, words
from nfsclient.clients import Mount, Nfs3
from nfsclient.errors import AuthFailed, GarbageArgs
from nfsclient.protocol.mount import MountStat3
from nfsclient.protocol.nfs3 import Ftype3
from nfsclient.rpc.auth import AuthNone, AuthSys
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.messages import AuthFlavor, AuthStat
from nfsjudge import (
    Part,
    expect,
    expect_that,
    expect_unchanged,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
)
from suites.mount.calls import NO_DIRECTORY, Names, expect_refusal
from suites.mount.clauses import (
    EVERY_VERSION,
    LIMITS_PATH_LENGTH,
    MNT_MOUNTS_DIRECTORIES,
    MNT_RETURNS_HANDLE,
    OLD_VERSIONS,
)
from suites.nfs3.bad_names import too_long_name

MNT_LISTS_ACCEPTED_FLAVORS = should(
    "RFC 1813", "5.2.1", "auth_flavors lists the flavors that the server accepts with the handle"
)
MNT_RETURNS_NOENT = should(
    "RFC 1813",
    "5.2.1",
    "MNT returns MNT3ERR_NOENT or MNT3ERR_ACCES for a path that does not exist",
    part=Part.IMPLEMENTATION,
)
MNT_RETURNS_NOTDIR = should("RFC 1813", "5.1.5", "MNT3ERR_NOTDIR reports a path that is not a directory")
MNT_HANDLE_IS_32_BYTES = stated(
    "RFC 1094", "A.4.1", "MNT returns a handle of exactly 32 bytes, without a length field"
)
MNT_HANDLE_FITS_64_BYTES = stated("RFC 1813", "5.1.5", "MNT returns a handle of at most 64 bytes")
MNT_LISTS_ONLY_ACCEPTED_FLAVORS = should(
    "RFC 1813", "5.2.1", "the server accepts the listed auth_flavors with the handle"
)
MNT_RETURNS_ACCES = should("RFC 1813", "5.1.5", "MNT3ERR_ACCES reports that permission is denied")
MNT_RETURNS_DEFINED_STATUS = stated("RFC 1813", "5.1.5", "MNT returns a status that mountstat3 defines")
MNT_RETURNS_NAMETOOLONG = should(
    "RFC 1813", "5.1.5", "MNT3ERR_NAMETOOLONG reports that a name in the path is too long"
)
AUTH_NONE, AUTH_SYS = 0, 1
_CREDENTIALS = {AUTH_NONE: AuthNone(), AUTH_SYS: None}
"""Flavor -> a credential to try it with; None stands for the run's own."""


# ---------------------------------------------------------------- the export


@proves(MNT_RETURNS_HANDLE, killed_by="mnt3-returns-an-unusable-handle", needs="mount")
def test_usable_handle(mount3: Mount, nfs3: Nfs3, target: TargetView) -> None:
    """MNT returns a usable handle of a directory."""
    for _ in range(2):  # a second MNT of the same path works like the first
        resok = expect(mount3.mnt(target.address.export.encode())).ok()
        attributes = expect(nfs3.getattr(resok.fhandle)).ok().obj_attributes
        expect(attributes).field("type", "type of the mounted object").equals(Ftype3.NF3DIR)
        observe("handle", f"{len(resok.fhandle)} bytes")


@proves(MNT_RETURNS_HANDLE, killed_by="mnt3-mounts-another-directory", needs="mount")
def test_same_directory(mount3: Mount, nfs3: Nfs3, target: TargetView, scratch: Nfs3Scratch) -> None:
    """MNT returns the same directory every time."""
    del scratch  # it makes the export contain a directory that a server could mount by mistake
    path = target.address.export.encode()
    first, second = (expect(mount3.mnt(path)).ok().fhandle for _ in range(2))
    known = expect(nfs3.getattr(first)).ok().obj_attributes
    other = expect(nfs3.getattr(second)).ok().obj_attributes
    expect_unchanged(known, other, ("fsid", "fileid"), "the second handle")


@proves(MNT_LISTS_ACCEPTED_FLAVORS, killed_by="mnt3-lists-only-a-refused-flavor", needs="mount")
def test_lists_accepted_flavor(mount3: Mount, nfs3: Nfs3, target: TargetView) -> None:
    """MNT lists AUTH_SYS where the server accepts it."""
    reply = mount3.mnt(target.address.export.encode())
    resok = expect(reply).ok()
    expect(nfs3.getattr(resok.fhandle)).ok()
    observe("auth_flavors", resok.auth_flavors)
    flavors = resok.auth_flavors
    expect_that(
        AUTH_SYS in flavors,
        "AUTH_SYS (1) among them",
        show(flavors),
        "auth_flavors",
        reply=reply,
        field="mountinfo.auth_flavors",
    )


@proves(MNT_RETURNS_HANDLE, killed_by="mnt3-mounts-unknown-paths", needs="mount")
def test_missing_path(mount3: Mount, target: TargetView) -> None:
    """MNT refuses a path that does not exist."""
    path = target.address.export.rstrip("/").encode() + b"/nfsproof-never-made-this"
    reply = mount3.mnt(path)
    expect(reply).refused(MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES, because=MNT_RETURNS_NOENT)


@proves(MNT_MOUNTS_DIRECTORIES, killed_by="mnt3-mounts-a-file", needs="mount")
def test_file(mount3: Mount, target: TargetView, scratch: Nfs3Scratch) -> None:
    """MNT refuses a regular file."""
    scratch.file("file")
    path = b"/".join([target.address.export.rstrip("/").encode(), scratch.name, b"file"])
    reply = mount3.mnt(path)
    # A server that only mounts exports does not look at paths below them.
    below = (MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES)
    expect(reply).refused(MountStat3.MNT3ERR_NOTDIR, *below, because=MNT_RETURNS_NOTDIR)


@proves(MNT_RETURNS_HANDLE.of("1"), killed_by="mnt1-mounts-unknown-paths", needs="mount1")
def test_missing_path_v1(mount1: Mount, target: TargetView) -> None:
    """MNT of MOUNT version 1 refuses a path that does not exist."""
    path = target.address.export.rstrip("/").encode() + b"/nfsproof-never-made-this"
    reply = mount1.mnt1(path)
    expect_refusal(reply, "a path that does not exist")


# ---------------------------------------------------------------- versions 1 and 2, handles, flavors


@OLD_VERSIONS
@proves(MNT_RETURNS_HANDLE, killed_by="mnt1-returns-an-unusable-handle")
def test_usable_handle_old(mounting: MakeMounting, version: int) -> None:
    """MNT of MOUNT versions 1 and 2 returns a usable handle of a directory."""
    mount = mounting(version)
    is_directory = mount.is_directory(mount.need(mount.export))
    expect_that(is_directory, "a directory", NO_DIRECTORY, "GETATTR of the handle from MNT")


@OLD_VERSIONS
@proves(MNT_RETURNS_HANDLE, killed_by="mnt1-mounts-another-directory")
def test_same_directory_old(mounting: MakeMounting, version: int, scratch: Nfs3Scratch) -> None:
    """MNT of MOUNT versions 1 and 2 returns the same directory every time."""
    mount = mounting(version)
    found = [mount.finds(mount.need(mount.export), scratch.name) for _ in range(2)]
    expect_that(
        all(found),
        "the same directory each time",
        f"another one {found.count(False)} times",
        "two MNTs of one path",
    )


@proves(MNT_RETURNS_HANDLE.of("2"), killed_by="mnt2-mounts-unknown-paths", needs="mount2")
def test_missing_path_v2(mounting: MakeMounting) -> None:
    """MNT of MOUNT version 2 refuses a path that does not exist."""
    mount = mounting(2)
    reply = mount.mnt(mount.below(b"nfsproof-never-made-this"))
    expect_refusal(reply, "a path that does not exist")


@OLD_VERSIONS
@proves(MNT_HANDLE_IS_32_BYTES, killed_by="mnt1-returns-64-bytes")
def test_handle_size_old(mounting: MakeMounting, wire: MakeWire, version: int) -> None:
    """MNT of MOUNT versions 1 and 2 returns a handle of 32 bytes."""
    # The bytes themselves: a client that decodes them judges the size by the way, with an error of XDR.
    results = _results_of_mnt(mounting(version), wire)
    expect(len(results) - 4, "bytes of the handle").equals(32)


@proves(MNT_HANDLE_FITS_64_BYTES, killed_by="mnt3-returns-72-bytes", needs="mount")
def test_handle_size(mounting: MakeMounting, wire: MakeWire) -> None:
    """MNT returns a handle of at most 64 bytes."""
    results = _results_of_mnt(mounting(3), wire)
    length = int.from_bytes(results[4:8], "big")
    observe("handles", f"{length} bytes")
    expect(length, "bytes of the handle").at_most(64)


def _results_of_mnt(mount: Mounting, wire: MakeWire) -> bytes:
    """The results of MNT of the export, undecoded. SKIP if it is refused."""
    peer = wire("tcp", "mount")
    answer = peer.call(peer.make(1, opaque(mount.export), vers=mount.version))
    if answer.outcome != SUCCESS or answer.results[:4] != words(0):
        skip(f"the server refuses this mount: the answer to MNT version {mount.version} is {answer.outcome}")
    mount.client.mounted.append(mount.export)
    return answer.results


@proves(MNT_LISTS_ONLY_ACCEPTED_FLAVORS, killed_by="mnt3-lists-a-refused-flavor", needs="mount")
def test_listed_flavors_accepted(
    mount3: Mount, mounting: MakeMounting, rpc_connect: Callable[..., RpcClient]
) -> None:
    """The server accepts the authentication flavors that MNT lists."""
    resok = expect(mount3.mnt(mounting(3).export)).ok()
    observe("flavors", resok.auth_flavors)
    for flavor in sorted({*resok.auth_flavors} & {*_CREDENTIALS}):
        rpc = rpc_connect("nfs", credential=_CREDENTIALS[flavor])
        try:
            Nfs3(rpc).getattr(resok.fhandle)
        except AuthFailed as error:
            seen = f"AUTH_ERROR ({AuthStat(error.auth_stat)})"
            expect_that(
                False,
                "an NFS reply",
                seen,
                f"answer to GETATTR with flavor {AuthFlavor(flavor)}",
                operation="GETATTR",
            )


@proves(MNT_RETURNS_ACCES, killed_by="mnt3-denial-is-io", needs=("mount", "other_users"))
def test_closed_to_user(mounting: MakeMounting, scratch: Nfs3Scratch) -> None:
    """MNT mounts a directory that the user may not reach, or refuses it with a fitting error."""
    closed = scratch.directory(b"closed", mode=0o700)
    scratch.directory(b"inner", directory=closed)
    mount = mounting(3, credential=AuthSys(4242, 4242))
    status = mount.mnt(mount.below(scratch.name, b"closed", b"inner")).status
    observe("MNT below a directory that the user may not search", status)
    denials = (MountStat3.MNT3ERR_ACCES, MountStat3.MNT3ERR_PERM, MountStat3.MNT3ERR_NOENT)
    expect(status, "status of MNT").one_of(MountStat3.MNT3_OK, *denials)


# ---------------------------------------------------------------- paths below the export


def _expect_directory_with(mount: Mounting, path: bytes, mark: bytes, what: str) -> None:
    """Expect that MNT refuses the path, or returns the directory that contains the entry `mark`."""
    handle = mount.handle(path)
    observe(what, "refused" if handle is None else "mounted")
    if handle is not None:
        found = mount.finds(handle, mark)
        expected, rule = f"the directory with {show(mark)} in it", MNT_RETURNS_HANDLE
        expect_that(found, expected, "another directory", f"MNT of {show(path)}", because=rule)


@EVERY_VERSION
@proves(MNT_RETURNS_HANDLE, killed_by="mnt-below-export-returns-the-export")
def test_nested_directory(mounting: MakeMounting, version: int, inner: Names) -> None:
    """MNT of a path below the export returns that directory, or refuses it."""
    mount = mounting(version)
    _expect_directory_with(mount, mount.below(*inner), MARK, "directories below the export")


NOTATIONS = {
    "dot": (b"%(outer)s/inner/.", MARK),
    "dot_dot": (b"%(outer)s/inner/..", INNER),
    "slash_at_the_end": (b"%(outer)s/inner/", MARK),
    "two_slashes": (b"%(outer)s//inner", MARK),
}
"""Notation -> the path below the export, and an entry that only the directory it names contains."""


def _expect_named_directory(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    mount = mounting(version)
    form, mark = NOTATIONS[written]
    _expect_directory_with(mount, mount.below(form % {b"outer": inner[0]}), mark, f"path with {written}")


@EVERY_VERSION
@pytest.mark.parametrize("written", ["dot", "dot_dot"], ids=["dot", "dot-dot"])
@proves(MNT_RETURNS_HANDLE, killed_by="mnt-swaps-the-dots")
def test_dots_in_path(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    """MNT resolves dot and dot-dot in a path to the right directory, or refuses the path."""
    _expect_named_directory(mounting, version, written, inner)


@EVERY_VERSION
@pytest.mark.parametrize("written", ["slash_at_the_end", "two_slashes"], ids=["trailing", "double"])
@proves(MNT_RETURNS_HANDLE, killed_by="mnt-stops-at-a-double-slash")
def test_extra_slashes(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    """MNT ignores extra slashes in a path, or refuses the path."""
    _expect_named_directory(mounting, version, written, inner)


@EVERY_VERSION
@proves(MNT_MOUNTS_DIRECTORIES, killed_by="mnt-returns-handles-of-links", needs="symlink")
def test_symlink(mounting: MakeMounting, version: int, scratch: Nfs3Scratch, inner: Names) -> None:
    """MNT follows a symbolic link to a directory, or refuses it."""
    scratch.symlink("link", b"inner")
    mount = mounting(version)
    handle = mount.handle(mount.below(inner[0], b"link"))
    observe("symbolic links", "refused" if handle is None else "followed")
    if handle is not None:
        is_directory = mount.is_directory(handle)
        expect_that(is_directory, "a directory", NO_DIRECTORY, "GETATTR of the handle from MNT")


@OLD_VERSIONS
@proves(MNT_MOUNTS_DIRECTORIES, killed_by="mnt1-mounts-files")
def test_file_old(mounting: MakeMounting, version: int, scratch: Nfs3Scratch) -> None:
    """MNT of MOUNT versions 1 and 2 refuses a regular file."""
    scratch.file("file")
    mount = mounting(version)
    reply = mount.mnt(mount.below(scratch.name, b"file"))
    expect_refusal(reply, "a regular file")


@OLD_VERSIONS
@proves(MNT_MOUNTS_DIRECTORIES, killed_by="mnt1-mounts-files", needs="mknod")
def test_fifo_old(mounting: MakeMounting, version: int, scratch: Nfs3Scratch) -> None:
    """MNT of MOUNT versions 1 and 2 refuses a FIFO."""
    scratch.fifo("fifo")
    mount = mounting(version)
    reply = mount.mnt(mount.below(scratch.name, b"fifo"))
    expect_refusal(reply, "a FIFO")


@proves(MNT_MOUNTS_DIRECTORIES, killed_by="mnt3-mounts-a-file", needs="mknod")
def test_fifo(mounting: MakeMounting, scratch: Nfs3Scratch) -> None:
    """MNT refuses a FIFO."""
    scratch.fifo("fifo")
    mount = mounting(3)
    expect(mount.mnt(mount.below(scratch.name, b"fifo"))).refused()


@EVERY_VERSION
@proves(MNT_RETURNS_HANDLE, killed_by="mnt-ignores-names-after-a-file")
def test_below_file(mounting: MakeMounting, version: int, scratch: Nfs3Scratch) -> None:
    """MNT refuses a path that continues below a regular file."""
    scratch.file("file")
    mount = mounting(version)
    reply = mount.mnt(mount.below(scratch.name, b"file", b"below"))
    expect_refusal(reply, "a path below a regular file")


@EVERY_VERSION
@proves(MNT_RETURNS_HANDLE, killed_by="mnt-caches-handles-by-path")
def test_renamed_directory(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Nfs3Scratch, inner: Names
) -> None:
    """MNT refuses the old path of a renamed directory."""
    mount = mounting(version)
    path = mount.below(*inner)
    mount.mnt(path)
    expect(nfs3.rename(scratch.handle, INNER, scratch.handle, b"former")).ok()
    reply = mount.mnt(path)
    expect_refusal(reply, "the old path of a renamed directory")


@EVERY_VERSION
@proves(MNT_RETURNS_HANDLE, killed_by="mnt-caches-handles-by-path")
def test_replaced_directory(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Nfs3Scratch, inner: Names
) -> None:
    """MNT of a path returns the directory that has replaced the former one."""
    mark = b"nfsproof-other-mark"
    scratch.file(mark, directory=scratch.directory(b"other"))
    mount = mounting(version)
    path = mount.below(*inner)
    mount.mnt(path)
    expect(nfs3.rename(scratch.handle, INNER, scratch.handle, b"former")).ok()
    expect(nfs3.rename(scratch.handle, b"other", scratch.handle, INNER)).ok()
    _expect_directory_with(mount, path, mark, "the path of what was renamed")


@EVERY_VERSION
@proves(MNT_RETURNS_HANDLE, killed_by="mnt-caches-handles-by-path")
def test_removed_directory(mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MNT refuses the path of a removed directory."""
    scratch.directory(b"removed")
    mount = mounting(version)
    path = mount.below(scratch.name, b"removed")
    mount.mnt(path)
    expect(nfs3.rmdir(scratch.handle, b"removed")).ok()
    reply = mount.mnt(path)
    expect_refusal(reply, "a removed directory")


@proves(
    MNT_RETURNS_HANDLE,
    MNT_RETURNS_NAMETOOLONG,
    killed_by="mnt3-too-long-is-io",
    needs=("mount", "no_trunc"),
)
def test_name_too_long(mounting: MakeMounting, nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """MNT refuses a path with a too long name as too long, missing or not permitted."""
    mount = mounting(3)
    path = mount.below(scratch.name, too_long_name(nfs3, scratch))
    if len(path) > 1024:
        skip("a path with a name that is too long has more than 1024 bytes")
    reply = mount.mnt(path)
    # The name does not exist either, and a server that only mounts exports does not look at paths below them.
    below = (MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES)
    expect(reply).refused(MountStat3.MNT3ERR_NAMETOOLONG, *below, because=MNT_RETURNS_NAMETOOLONG)


# ---------------------------------------------------------------- long and unusual paths


def _path_of(length: int, export: bytes) -> bytes:
    """A path of `length` bytes below the export that does not exist and has no name that is too long."""
    path = export.rstrip(b"/") + b"/nfsproof-never-made-this" * 50
    return path[: length - 1] + b"x"


@EVERY_VERSION
@pytest.mark.parametrize("length", [1023, 1024])
@proves(LIMITS_PATH_LENGTH, killed_by="mnt-does-not-decode-long-paths")
def test_longest_path(mounting: MakeMounting, version: int, length: int) -> None:
    """MNT decodes a path of up to 1024 bytes."""
    mount = mounting(version)
    try:
        reply = mount.mnt(_path_of(length, mount.export))
    except GarbageArgs:
        what = f"answer to MNT of a path of {length} bytes"
        expect_that(False, "a status", GARBAGE_ARGS, what)
        return
    expect_refusal(reply, "a path that does not exist", because=MNT_RETURNS_HANDLE)


@EVERY_VERSION
@pytest.mark.parametrize("length", [1025, 4096])
@proves(MNT_RETURNS_HANDLE, LIMITS_PATH_LENGTH, killed_by="mnt-cuts-long-paths")
def test_path_too_long(mounting: MakeMounting, wire: MakeWire, version: int, length: int) -> None:
    """MNT does not mount a path of more than 1024 bytes that names nothing."""
    export = mounting(version).export
    peer = wire("tcp", "mount")
    said = peer.try_message(peer.make(1, opaque(_path_of(length, export)), vers=version).message())
    observe("answer", said.outcome)
    mounted = said.outcome == SUCCESS and said.results[:4] == words(0)
    what, rule = f"MNT of a path of {length} bytes that names nothing", MNT_RETURNS_HANDLE
    expect_that(not mounted, "an error", "success", what, reply=said, because=rule)


SHORT_PATHS = {"empty": b"", "slash": b"/", "relative": b"nfsproof", "dot-dot": b"/.."}
ODD_PATHS = {"not-utf8": b"/\xff\xfe\x80", "nul": b"/nfsproof\0here", "newline": b"/nfsproof\nhere"}
LONG_PATHS = {"name-255": b"/" + b"n" * 255, "name-256": b"/" + b"n" * 256, "deep": b"/n" * 500}


def _expect_defined_status(mounting: MakeMounting, path: bytes) -> None:
    try:
        reply = mounting(3).mnt(path)
    except GarbageArgs:
        # XDR strings are ASCII, and some servers refuse to decode an empty path.
        if path in LONG_PATHS.values():
            raise
        observe("status", "GARBAGE_ARGS")
        return
    status = reply.status
    observe("status", status)
    is_defined = status in set(MountStat3)
    expected, field = "a status that RFC 1813 defines", "fhs_status"
    expect_that(is_defined, expected, str(int(status)), field, reply=reply, field=field)


@pytest.mark.parametrize("path", list(SHORT_PATHS))
@proves(MNT_RETURNS_DEFINED_STATUS, killed_by="mnt3-invents-a-status-for-short-paths", needs="mount")
def test_status_short_path(mounting: MakeMounting, path: str) -> None:
    """MNT returns a defined status for a short or relative path."""
    _expect_defined_status(mounting, SHORT_PATHS[path])


@pytest.mark.parametrize("path", list(ODD_PATHS))
@proves(MNT_RETURNS_DEFINED_STATUS, killed_by="mnt3-invents-a-status-for-strange-paths", needs="mount")
def test_status_odd_path(mounting: MakeMounting, path: str) -> None:
    """MNT returns a defined status for a path with unusual bytes."""
    _expect_defined_status(mounting, ODD_PATHS[path])


@pytest.mark.parametrize("path", list(LONG_PATHS))
@proves(MNT_RETURNS_DEFINED_STATUS, killed_by="mnt3-invents-a-status-for-long-paths", needs="mount")
def test_status_long_path(mounting: MakeMounting, path: str) -> None:
    """MNT returns a defined status for a long path."""
    _expect_defined_status(mounting, LONG_PATHS[path])
