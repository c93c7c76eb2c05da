# SPDX-License-Identifier: MIT
"""The paths that MNT takes (RFC 1813 section 5.2.1, RFC 1094 A.5.2): each means one directory, or none.

What lies below an export may be refused; so may any path that is written in an odd way. But what is mounted must
be the directory that the path means.
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
from suites.mount.clauses import EVERY_VERSION, MAPS_A_PATH, OF_A_DIRECTORY, OLD_VERSIONS, PATH_LENGTH
from suites.nfs3.naming import too_long_name

CLOSED_STATUS = Requirement(
    rfc="RFC 1813", section="5.1.5", gist="the status of MNT is one of those that mountstat3 lists"
)
TOO_LONG_IS_MEANT = Requirement(
    rfc="RFC 1813",
    section="5.1.5",
    level=Level.SHOULD,
    gist="MNT3ERR_NAMETOOLONG says that a name in the path is too long",
)
Names = tuple[bytes, bytes]


def _is_the_one_with(mount: Mounting, path: bytes, mark: bytes, what: str) -> None:
    """What is mounted, if anything is, has the mark in it."""
    handle = mount.handle(path)
    observe(what, "refused" if handle is None else "mounted")
    if handle is not None:
        found = mount.finds(handle, mark)
        expect(found, "that the right directory was mounted", because=MAPS_A_PATH.of(mount.version)).is_true()


@EVERY_VERSION
@proves(*MAPS_A_PATH, killed_by="mnt-gives-the-export-for-what-lies-below")
def test_a_nested_directory_is_that_directory(mounting: MakeMounting, version: int, inner: Names) -> None:
    mount = mounting(version)
    _is_the_one_with(mount, mount.below(*inner), MARK, "directories below the export")


ODD = {
    "dot": (b"%(outer)s/inner/.", MARK),
    "dot_dot": (b"%(outer)s/inner/..", INNER),
    "slash_at_the_end": (b"%(outer)s/inner/", MARK),
    "two_slashes": (b"%(outer)s//inner", MARK),
}
"""How a path below the export is written -> what is in the directory that it means, and in no other."""


@EVERY_VERSION
@pytest.mark.parametrize("written", ["dot", "dot_dot"])
@proves(*MAPS_A_PATH, killed_by="mnt-takes-dot-for-dot-dot")
def test_dots_mean_what_they_mean(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    _means_the_right_one(mounting, version, written, inner)


@EVERY_VERSION
@pytest.mark.parametrize("written", ["slash_at_the_end", "two_slashes"])
@proves(*MAPS_A_PATH, killed_by="mnt-stops-at-an-empty-name")
def test_slashes_mean_nothing(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    _means_the_right_one(mounting, version, written, inner)


def _means_the_right_one(mounting: MakeMounting, version: int, written: str, inner: Names) -> None:
    mount = mounting(version)
    form, mark = ODD[written]
    _is_the_one_with(mount, mount.below(form % {b"outer": inner[0]}), mark, f"path with {written}")


@EVERY_VERSION
@proves(*OF_A_DIRECTORY, killed_by="mnt-gives-symbolic-links", needs="symlink")
def test_a_symbolic_link_is_not_mounted_itself(
    mounting: MakeMounting, version: int, scratch: Scratch, inner: Names
) -> None:
    scratch.symlink("link", b"inner")
    mount = mounting(version)
    handle = mount.handle(mount.below(inner[0], b"link"))
    observe("symbolic links", "refused" if handle is None else "followed")
    if handle is not None:
        rule = OF_A_DIRECTORY.of(version)
        expect(mount.is_directory(handle), "that a directory was mounted", because=rule).is_true()


@OLD_VERSIONS
@proves(*OF_A_DIRECTORY, killed_by="mnt1-mounts-what-is-no-directory")
def test_old_versions_refuse_a_file(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    scratch.file("file")
    mount = mounting(version)
    status = int(mount.mnt(mount.below(scratch.name, b"file")).status)
    expect(status, "the status of MNT of a file", because=OF_A_DIRECTORY.of(version)).differs_from(0)


@OLD_VERSIONS
@proves(*OF_A_DIRECTORY, killed_by="mnt1-mounts-what-is-no-directory", needs="mknod")
def test_old_versions_refuse_a_fifo(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    scratch.fifo("fifo")
    mount = mounting(version)
    status = int(mount.mnt(mount.below(scratch.name, b"fifo")).status)
    expect(status, "the status of MNT of a FIFO", because=OF_A_DIRECTORY.of(version)).differs_from(0)


@proves(OF_A_DIRECTORY.new, killed_by="mnt3-mounts-a-file", needs="mknod")
def test_version_3_refuses_a_fifo(mounting: MakeMounting, scratch: Scratch) -> None:
    scratch.fifo("fifo")
    mount = mounting(3)
    expect(mount.mnt(mount.below(scratch.name, b"fifo"))).refused()


@EVERY_VERSION
@proves(*MAPS_A_PATH, killed_by="mnt-ignores-what-follows-a-file")
def test_nothing_lies_below_a_file(mounting: MakeMounting, version: int, scratch: Scratch) -> None:
    scratch.file("file")
    mount = mounting(version)
    status = int(mount.mnt(mount.below(scratch.name, b"file", b"below")).status)
    expect(status, "the status of MNT below a file", because=MAPS_A_PATH.of(version)).differs_from(0)


@EVERY_VERSION
@proves(*MAPS_A_PATH, killed_by="mnt-remembers-paths")
def test_a_directory_that_was_renamed_is_refused(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Scratch, inner: Names
) -> None:
    mount = mounting(version)
    path = mount.below(*inner)
    mount.mnt(path)
    expect(nfs3.rename(scratch.handle, INNER, scratch.handle, b"former")).ok()
    status = int(mount.mnt(path).status)
    expect(status, "the status of MNT of the former name", because=MAPS_A_PATH.of(version)).differs_from(0)


@EVERY_VERSION
@proves(*MAPS_A_PATH, killed_by="mnt-remembers-paths")
def test_a_path_means_what_it_means_now(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Scratch, inner: Names
) -> None:
    mark = b"nfsproof-other-mark"
    scratch.file(mark, directory=scratch.directory(b"other"))
    mount = mounting(version)
    path = mount.below(*inner)
    mount.mnt(path)
    expect(nfs3.rename(scratch.handle, INNER, scratch.handle, b"former")).ok()
    expect(nfs3.rename(scratch.handle, b"other", scratch.handle, INNER)).ok()
    _is_the_one_with(mount, path, mark, "the path of what was renamed")


@EVERY_VERSION
@proves(*MAPS_A_PATH, killed_by="mnt-remembers-paths")
def test_a_removed_directory_is_refused(
    mounting: MakeMounting, version: int, nfs3: Nfs3, scratch: Scratch
) -> None:
    scratch.directory(b"removed")
    mount = mounting(version)
    path = mount.below(scratch.name, b"removed")
    mount.mnt(path)
    expect(nfs3.rmdir(scratch.handle, b"removed")).ok()
    status = int(mount.mnt(path).status)
    expect(status, "the status of MNT of what was removed", because=MAPS_A_PATH.of(version)).differs_from(0)


@proves(MAPS_A_PATH.new, TOO_LONG_IS_MEANT, killed_by="mnt3-too-long-is-io", needs=("mount", "no_trunc"))
def test_a_name_that_is_too_long_is_refused_as_such(
    mounting: MakeMounting, nfs3: Nfs3, scratch: Scratch
) -> None:
    mount = mounting(3)
    path = mount.below(scratch.name, too_long_name(nfs3, scratch))
    if len(path) > 1024:
        skip("no path has room for a name that is too long")
    reply = mount.mnt(path)
    # There is no such name either; and a server that mounts exports only does not look at what lies below them.
    below = (MountStat3.MNT3ERR_NOENT, MountStat3.MNT3ERR_ACCES)
    expect(reply).refused(MountStat3.MNT3ERR_NAMETOOLONG, *below, because=TOO_LONG_IS_MEANT)


def _path_of(length: int, export: bytes) -> bytes:
    """A path of so many bytes, of names that are not too long, that leads nowhere."""
    path = export.rstrip(b"/") + b"/nfsproof-never-made-this" * 50
    return path[: length - 1] + b"x"


@EVERY_VERSION
@pytest.mark.parametrize("length", [1023, 1024])
@proves(*PATH_LENGTH, killed_by="mnt-cannot-decode-long-paths")
def test_a_path_of_up_to_1024_bytes_is_decoded(mounting: MakeMounting, version: int, length: int) -> None:
    mount = mounting(version)
    try:
        status = int(mount.mnt(_path_of(length, mount.export)).status)
    except GarbageArgs:
        status = -1
    answer = GARBAGE_ARGS if status < 0 else "a status"
    expect(answer, f"the answer to a path of {length} bytes", because=PATH_LENGTH.of(version)).equals(
        "a status"
    )
    expect(status, "the status of a path that leads nowhere", because=MAPS_A_PATH.of(version)).differs_from(0)


@EVERY_VERSION
@pytest.mark.parametrize("length", [1025, 4096])
@proves(*MAPS_A_PATH, *PATH_LENGTH, killed_by="mnt-cuts-long-paths")
def test_a_longer_path_mounts_nothing(
    mounting: MakeMounting, wire: MakeWire, version: int, length: int
) -> None:
    export = mounting(version).export
    peer = wire("tcp", "mount")
    said = peer.attempt(peer.make(1, opaque(_path_of(length, export)), vers=version).message())
    observe("answer", said.outcome)
    mounted = said.outcome == SUCCESS and said.results[:4] == words(0)
    what = f"that a path of {length} bytes that leads nowhere is mounted"
    expect(mounted, what, because=MAPS_A_PATH.of(version)).is_false()


SHORT = {"empty": b"", "a_slash": b"/", "relative": b"nfsproof", "two_dots": b"/.."}
STRANGE = {"not_utf8": b"/\xff\xfe\x80", "with_nul": b"/nfsproof\0here", "with_newline": b"/nfsproof\nhere"}
LONG = {"name_of_255": b"/" + b"n" * 255, "name_of_256": b"/" + b"n" * 256, "deep": b"/n" * 500}


@pytest.mark.parametrize("path", list(SHORT))
@proves(CLOSED_STATUS, killed_by="mnt3-invents-a-status-for-short-paths", needs="mount")
def test_short_paths_have_a_defined_status(mounting: MakeMounting, path: str) -> None:
    _has_a_defined_status(mounting, SHORT[path])


@pytest.mark.parametrize("path", list(STRANGE))
@proves(CLOSED_STATUS, killed_by="mnt3-invents-a-status-for-strange-paths", needs="mount")
def test_strange_paths_have_a_defined_status(mounting: MakeMounting, path: str) -> None:
    _has_a_defined_status(mounting, STRANGE[path])


@pytest.mark.parametrize("path", list(LONG))
@proves(CLOSED_STATUS, killed_by="mnt3-invents-a-status-for-long-paths", needs="mount")
def test_long_paths_have_a_defined_status(mounting: MakeMounting, path: str) -> None:
    _has_a_defined_status(mounting, LONG[path])


def _has_a_defined_status(mounting: MakeMounting, path: bytes) -> None:
    try:
        status = mounting(3).mnt(path).status
    except GarbageArgs:
        # A string of XDR is one of ASCII; and one that names nothing is none to some.
        if path in LONG.values():
            raise
        observe("status", "the path cannot be decoded")
        return
    observe("status", status)
    expect(status in set(MountStat3), f"that {status} is a status of MNT").is_true()
