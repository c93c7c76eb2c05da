# SPDX-License-Identifier: MIT
"""The paths of MNT (RFC 1813 section 5.2.1, RFC 1094 A.5.2): each names one directory, or none.

A server may refuse paths below an export, and paths that are written in an unusual way. But if it mounts a directory,
that must be the one that the path names.
"""

from __future__ import annotations

import pytest

from fixtures.mounting import INNER, MARK, MakeMounting, Mounting
from fixtures.raw import GARBAGE_ARGS, SUCCESS, MakeWire, opaque, words
from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import GarbageArgs
from nfsclient.protocol.mount import MountStat3
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.mount.clauses import (
    EVERY_VERSION,
    LIMITS_PATH_LENGTH,
    MNT_MOUNTS_DIRECTORIES,
    MNT_RETURNS_HANDLE,
    OLD_VERSIONS,
)
from suites.nfs3.naming import too_long_name

MNT_RETURNS_DEFINED_STATUS = Requirement(
    rfc="RFC 1813", section="5.1.5", gist="MNT returns a status that mountstat3 defines"
)
MNT_RETURNS_NAMETOOLONG = Requirement(
    rfc="RFC 1813",
    section="5.1.5",
    level=Level.SHOULD,
    gist="MNT3ERR_NAMETOOLONG reports that a name in the path is too long",
)
Names = tuple[bytes, bytes]


def _expect_directory_with(mount: Mounting, path: bytes, mark: bytes, what: str) -> None:
    """Expect that MNT refuses the path, or returns the directory that contains the entry `mark`."""
    handle = mount.handle(path)
    observe(what, "refused" if handle is None else "mounted")
    if handle is not None:
        found = mount.finds(handle, mark)
        expect(
            found, "that the right directory was mounted", because=MNT_RETURNS_HANDLE.of(mount.version)
        ).is_true()


@EVERY_VERSION
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt-gives-the-export-for-what-lies-below")
def test_a_nested_directory_is_that_directory(mounting: MakeMounting, version: int, inner: Names) -> None:
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


@EVERY_VERSION
@pytest.mark.parametrize("written", ["dot", "dot_dot"], ids=["dot", "dot-dot"])
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt-takes-dot-for-dot-dot")
def test_dots_mean_what_they_mean(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    """MNT resolves dot and dot-dot in a path to the right directory, or refuses the path."""
    _expect_named_directory(mounting, version, written, inner)


@EVERY_VERSION
@pytest.mark.parametrize("written", ["slash_at_the_end", "two_slashes"], ids=["trailing", "double"])
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt-stops-at-an-empty-name")
def test_slashes_mean_nothing(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    """MNT ignores extra slashes in a path, or refuses the path."""
    _expect_named_directory(mounting, version, written, inner)


def _expect_named_directory(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    mount = mounting(version)
    form, mark = NOTATIONS[written]
    _expect_directory_with(mount, mount.below(form % {b"outer": inner[0]}), mark, f"path with {written}")


@EVERY_VERSION
@proves(*MNT_MOUNTS_DIRECTORIES, killed_by="mnt-gives-symbolic-links", needs="symlink")
def test_a_symbolic_link_is_not_mounted_itself(
    mounting: MakeMounting, version: int, scratch: Scratch, inner: Names
) -> None:
    """MNT follows a symbolic link to a directory, or refuses it."""
    scratch.symlink("link", b"inner")
    mount = mounting(version)
    handle = mount.handle(mount.below(inner[0], b"link"))
    observe("symbolic links", "refused" if handle is None else "followed")
    if handle is not None:
        rule = MNT_MOUNTS_DIRECTORIES.of(version)
        expect(mount.is_directory(handle), "that a directory was mounted", because=rule).is_true()


@OLD_VERSIONS
@proves(*MNT_MOUNTS_DIRECTORIES, killed_by="mnt1-mounts-what-is-no-directory")
def test_old_versions_refuse_a_file(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    """MNT of MOUNT versions 1 and 2 refuses a regular file."""
    scratch.file("file")
    mount = mounting(version)
    status = int(mount.mnt(mount.below(scratch.name, b"file")).status)
    expect(status, "the status of MNT of a file", because=MNT_MOUNTS_DIRECTORIES.of(version)).differs_from(0)


@OLD_VERSIONS
@proves(*MNT_MOUNTS_DIRECTORIES, killed_by="mnt1-mounts-what-is-no-directory", needs="mknod")
def test_old_versions_refuse_a_fifo(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    """MNT of MOUNT versions 1 and 2 refuses a FIFO."""
    scratch.fifo("fifo")
    mount = mounting(version)
    status = int(mount.mnt(mount.below(scratch.name, b"fifo")).status)
    expect(status, "the status of MNT of a FIFO", because=MNT_MOUNTS_DIRECTORIES.of(version)).differs_from(0)


@proves(MNT_MOUNTS_DIRECTORIES.new, killed_by="mnt3-mounts-a-file", needs="mknod")
def test_version_3_refuses_a_fifo(mounting: MakeMounting, scratch: Scratch) -> None:
    """MNT refuses a FIFO."""
    scratch.fifo("fifo")
    mount = mounting(3)
    expect(mount.mnt(mount.below(scratch.name, b"fifo"))).refused()


@EVERY_VERSION
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt-ignores-what-follows-a-file")
def test_nothing_lies_below_a_file(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    """MNT refuses a path that continues below a regular file."""
    scratch.file("file")
    mount = mounting(version)
    status = int(mount.mnt(mount.below(scratch.name, b"file", b"below")).status)
    expect(status, "the status of MNT below a file", because=MNT_RETURNS_HANDLE.of(version)).differs_from(0)


@EVERY_VERSION
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt-remembers-paths")
def test_a_directory_that_was_renamed_is_refused(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Scratch, inner: Names
) -> None:
    """MNT refuses the old path of a renamed directory."""
    mount = mounting(version)
    path = mount.below(*inner)
    mount.mnt(path)
    expect(nfs3.rename(scratch.handle, INNER, scratch.handle, b"former")).ok()
    status = int(mount.mnt(path).status)
    expect(
        status, "the status of MNT of the former name", because=MNT_RETURNS_HANDLE.of(version)
    ).differs_from(0)


@EVERY_VERSION
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt-remembers-paths")
def test_a_path_means_what_it_means_now(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Scratch, inner: Names
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
@proves(*MNT_RETURNS_HANDLE, killed_by="mnt-remembers-paths")
def test_a_removed_directory_is_refused(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Scratch
) -> None:
    """MNT refuses the path of a removed directory."""
    scratch.directory(b"removed")
    mount = mounting(version)
    path = mount.below(scratch.name, b"removed")
    mount.mnt(path)
    expect(nfs3.rmdir(scratch.handle, b"removed")).ok()
    status = int(mount.mnt(path).status)
    expect(
        status, "the status of MNT of what was removed", because=MNT_RETURNS_HANDLE.of(version)
    ).differs_from(0)


@proves(
    MNT_RETURNS_HANDLE.new,
    MNT_RETURNS_NAMETOOLONG,
    killed_by="mnt3-too-long-is-io",
    needs=("mount", "no_trunc"),
)
def test_a_name_that_is_too_long_is_refused_as_such(
    mounting: MakeMounting, nfs3: Nfs3, scratch: Scratch
) -> None:
    """MNT refuses a path with a too long name as too long, missing or not permitted."""
    mount = mounting(3)
    path = mount.below(scratch.name, too_long_name(nfs3, scratch))
    if len(path) > 1024:
        skip("no path has room for a name that is too long")
    reply = mount.mnt(path)
    # The name does not exist either, and a server that only mounts exports does not look at paths below them.
    below = (MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES)
    expect(reply).refused(MountStat3.MNT3ERR_NAMETOOLONG, *below, because=MNT_RETURNS_NAMETOOLONG)


def _path_of(length: int, export: bytes) -> bytes:
    """A path of `length` bytes below the export that does not exist and has no name that is too long."""
    path = export.rstrip(b"/") + b"/nfsproof-never-made-this" * 50
    return path[: length - 1] + b"x"


@EVERY_VERSION
@pytest.mark.parametrize("length", [1023, 1024])
@proves(*LIMITS_PATH_LENGTH, killed_by="mnt-cannot-decode-long-paths")
def test_a_path_of_up_to_1024_bytes_is_decoded(mounting: MakeMounting, version: int, length: int) -> None:
    """MNT decodes a path of up to 1024 bytes."""
    mount = mounting(version)
    try:
        status = int(mount.mnt(_path_of(length, mount.export)).status)
    except GarbageArgs:
        status = -1
    answer = GARBAGE_ARGS if status < 0 else "a status"
    expect(answer, f"the answer to a path of {length} bytes", because=LIMITS_PATH_LENGTH.of(version)).equals(
        "a status"
    )
    expect(
        status, "the status of a path that leads nowhere", because=MNT_RETURNS_HANDLE.of(version)
    ).differs_from(0)


@EVERY_VERSION
@pytest.mark.parametrize("length", [1025, 4096])
@proves(*MNT_RETURNS_HANDLE, *LIMITS_PATH_LENGTH, killed_by="mnt-cuts-long-paths")
def test_a_longer_path_mounts_nothing(
    mounting: MakeMounting, wire: MakeWire, version: int, length: int
) -> None:
    """MNT does not mount a path of more than 1024 bytes that names nothing."""
    export = mounting(version).export
    peer = wire("tcp", "mount")
    said = peer.attempt(peer.make(1, opaque(_path_of(length, export)), vers=version).message())
    observe("answer", said.outcome)
    mounted = said.outcome == SUCCESS and said.results[:4] == words(0)
    what = f"that a path of {length} bytes that leads nowhere is mounted"
    expect(mounted, what, because=MNT_RETURNS_HANDLE.of(version)).is_false()


SHORT_PATHS = {"empty": b"", "slash": b"/", "relative": b"nfsproof", "dot-dot": b"/.."}
ODD_PATHS = {"not-utf8": b"/\xff\xfe\x80", "nul": b"/nfsproof\0here", "newline": b"/nfsproof\nhere"}
LONG_PATHS = {"name-255": b"/" + b"n" * 255, "name-256": b"/" + b"n" * 256, "deep": b"/n" * 500}


@pytest.mark.parametrize("path", list(SHORT_PATHS))
@proves(MNT_RETURNS_DEFINED_STATUS, killed_by="mnt3-invents-a-status-for-short-paths", needs="mount")
def test_short_paths_have_a_defined_status(mounting: MakeMounting, path: str) -> None:
    """MNT returns a defined status for a short or relative path."""
    _expect_defined_status(mounting, SHORT_PATHS[path])


@pytest.mark.parametrize("path", list(ODD_PATHS))
@proves(MNT_RETURNS_DEFINED_STATUS, killed_by="mnt3-invents-a-status-for-strange-paths", needs="mount")
def test_strange_paths_have_a_defined_status(mounting: MakeMounting, path: str) -> None:
    """MNT returns a defined status for a path with unusual bytes."""
    _expect_defined_status(mounting, ODD_PATHS[path])


@pytest.mark.parametrize("path", list(LONG_PATHS))
@proves(MNT_RETURNS_DEFINED_STATUS, killed_by="mnt3-invents-a-status-for-long-paths", needs="mount")
def test_long_paths_have_a_defined_status(mounting: MakeMounting, path: str) -> None:
    """MNT returns a defined status for a long path."""
    _expect_defined_status(mounting, LONG_PATHS[path])


def _expect_defined_status(mounting: MakeMounting, path: bytes) -> None:
    try:
        status = mounting(3).mnt(path).status
    except GarbageArgs:
        # XDR strings are ASCII, and some servers refuse to decode an empty path.
        if path in LONG_PATHS.values():
            raise
        observe("status", "the path cannot be decoded")
        return
    observe("status", status)
    expect(status in set(MountStat3), f"that {status} is a status of MNT").is_true()
