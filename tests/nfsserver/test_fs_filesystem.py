# SPDX-License-Identifier: MIT
"""The file system: effects, limits, refusals and crashes that no check of the suites proves."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from nfsserver.fs import (
    PAGE,
    SUPERUSER,
    Access,
    Caller,
    Changes,
    FileSystem,
    FsError,
    HandleCodec,
    Identity,
    Inode,
    Kind,
    Limits,
    ManualClock,
    Stability,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ALICE = Caller(1000, 1000)
BOB = Caller(1001, 1001, frozenset({1000}))
CAROL = Caller(1002, 1002)


@pytest.fixture
def fs() -> FileSystem:
    return FileSystem(clock=ManualClock())


@contextmanager
def refused(*numbers: int) -> Iterator[None]:
    with pytest.raises(FsError) as error:
        yield
    assert error.value.errno in numbers, error.value


def names(fs: FileSystem, directory: Inode) -> list[bytes]:
    return [entry.name for entry in fs.readdir(SUPERUSER, directory)]


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("name", [b"", b"a/b", b"/", b"a\0"])
def test_illegal_names_are_refused(fs: FileSystem, name: bytes) -> None:
    with refused(errno.EACCES):
        fs.lookup(ALICE, fs.root, name)
    with refused(errno.EACCES):
        fs.create(ALICE, fs.root, name)
    assert names(fs, fs.root) == [b".", b".."]


# ---------------------------------------------------------------- creation and removal


def test_creation_moves_the_directory_times(fs: FileSystem) -> None:
    before = (fs.root.mtime, fs.root.ctime)
    fs.create(ALICE, fs.root, b"f")
    assert fs.root.mtime > before[0]
    assert fs.root.ctime > before[1]


def test_new_objects_belong_to_the_caller(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f", Changes(mode=0o640))
    assert (inode.uid, inode.gid, inode.mode, inode.nlink) == (1000, 1000, 0o640, 1)


def test_setgid_directories_pass_their_group_on(fs: FileSystem) -> None:
    directory = fs.mkdir(BOB, fs.root, b"d", Changes(mode=0o2777, gid=1000))
    inner = fs.mkdir(CAROL, directory, b"inner", Changes(mode=0o755))
    assert (inner.gid, inner.mode) == (1000, 0o2755)


def test_existing_names_are_refused_and_untouched(fs: FileSystem) -> None:
    fs.create(ALICE, fs.root, b"taken")
    before = fs.root.ctime
    with refused(errno.EEXIST):
        fs.create(ALICE, fs.root, b"taken")
    with refused(errno.EEXIST):
        fs.mkdir(ALICE, fs.root, b"taken")
    with refused(errno.EEXIST):
        fs.symlink(ALICE, fs.root, b"taken", b"x")
    with refused(errno.EEXIST):
        fs.mknod(ALICE, fs.root, b"taken", Kind.FIFO)
    for alias in (b".", b".."):
        with refused(errno.EEXIST):
            fs.mkdir(ALICE, fs.root, alias)
    assert fs.root.ctime == before


def test_subdirectories_count_as_links(fs: FileSystem) -> None:
    child = fs.mkdir(ALICE, fs.root, b"d")
    assert (child.nlink, fs.root.nlink) == (2, 3)
    fs.rmdir(ALICE, fs.root, b"d")
    assert fs.root.nlink == 2


def test_removed_object_is_stale_even_when_its_number_lives_again(fs: FileSystem) -> None:
    old = fs.create(ALICE, fs.root, b"f")
    fs.remove(ALICE, fs.root, b"f")
    new = fs.create(ALICE, fs.root, b"g")
    assert new.fileid == old.fileid
    with refused(errno.ESTALE):
        fs.inode(old.fileid, old.generation)
    assert fs.inode(new.fileid, new.generation) is new


def test_wrong_removal_is_refused(fs: FileSystem) -> None:
    directory = fs.mkdir(ALICE, fs.root, b"d")
    fs.create(ALICE, directory, b"f")
    with refused(errno.EISDIR):
        fs.remove(ALICE, fs.root, b"d")
    with refused(errno.ENOTEMPTY):
        fs.rmdir(ALICE, fs.root, b"d")
    with refused(errno.ENOTDIR):
        fs.rmdir(ALICE, directory, b"f")
    with refused(errno.EINVAL):
        fs.rmdir(ALICE, directory, b".")
    with refused(errno.EEXIST):
        fs.rmdir(ALICE, directory, b"..")
    with refused(errno.ENOENT):
        fs.remove(ALICE, directory, b"none")


def test_only_the_superuser_makes_devices(fs: FileSystem) -> None:
    device = fs.mknod(SUPERUSER, fs.root, b"dev", Kind.BLOCK, (8, 1))
    assert device.rdev == (8, 1)
    with refused(errno.EPERM):
        fs.mknod(ALICE, fs.root, b"dev2", Kind.CHARACTER, (1, 3))
    assert fs.mknod(ALICE, fs.root, b"fifo", Kind.FIFO).kind is Kind.FIFO


def test_symbolic_links_hold_any_bytes(fs: FileSystem) -> None:
    target = b"../\xff\0" + b"x" * 1000
    link = fs.symlink(ALICE, fs.root, b"l", target)
    assert fs.readlink(link) == target
    assert link.size == len(target)
    with refused(errno.ENAMETOOLONG):
        fs.symlink(ALICE, fs.root, b"m", b"x" * 4097)
    with refused(errno.EINVAL):
        fs.readlink(fs.root)


def test_links_are_limited() -> None:
    fs = FileSystem(limits=Limits(link_max=3))
    inode = fs.create(ALICE, fs.root, b"f")
    fs.link(ALICE, inode, fs.root, b"g")
    fs.link(ALICE, inode, fs.root, b"h")
    with refused(errno.EMLINK):
        fs.link(ALICE, inode, fs.root, b"i")
    fs.mkdir(ALICE, fs.root, b"d")
    with refused(errno.EMLINK):
        fs.mkdir(ALICE, fs.root, b"e")
    assert fs.root.nlink == 3


def test_files_and_entries_are_limited() -> None:
    fs = FileSystem(limits=Limits(max_files=3, max_entries=3))
    first = fs.create(ALICE, fs.root, b"a")
    fs.create(ALICE, fs.root, b"b")
    assert fs.statistics().free_files == 0
    with refused(errno.ENOSPC):
        fs.create(ALICE, fs.root, b"c")
    fs.link(ALICE, first, fs.root, b"c")
    with refused(errno.ENOSPC):
        fs.link(ALICE, first, fs.root, b"d")


def test_two_file_systems_stay_apart(fs: FileSystem) -> None:
    other = FileSystem(fsid=2)
    inode = fs.create(ALICE, fs.root, b"f")
    with refused(errno.EXDEV):
        fs.link(ALICE, inode, other.root, b"g")
    with refused(errno.EXDEV):
        fs.rename(ALICE, fs.root, b"f", other.root, b"g")


# ---------------------------------------------------------------- rename


def test_directory_replaces_an_empty_one(fs: FileSystem) -> None:
    left = fs.mkdir(ALICE, fs.root, b"left")
    fs.mkdir(ALICE, fs.root, b"right")
    fs.rename(ALICE, fs.root, b"left", fs.root, b"right")
    assert fs.root.nlink == 3
    assert fs.lookup(ALICE, fs.root, b"right") is left


def test_no_directory_moves_below_itself(fs: FileSystem) -> None:
    outer = fs.mkdir(ALICE, fs.root, b"outer")
    inner = fs.mkdir(ALICE, outer, b"inner")
    with refused(errno.EINVAL):
        fs.rename(ALICE, fs.root, b"outer", inner, b"x")
    with refused(errno.EINVAL):
        fs.rename(ALICE, fs.root, b"outer", outer, b"x")
    assert fs.lookup(ALICE, inner, b"..") is outer


def test_incompatible_targets_are_refused(fs: FileSystem) -> None:
    fs.create(ALICE, fs.root, b"file")
    empty = fs.mkdir(ALICE, fs.root, b"empty")
    full = fs.mkdir(ALICE, fs.root, b"full")
    fs.create(ALICE, full, b"f")
    for source, target in ((b"file", b"empty"), (b"empty", b"file"), (b"empty", b"full")):
        with refused(errno.EEXIST):
            fs.rename(ALICE, fs.root, source, fs.root, target)
    with refused(errno.EINVAL):
        fs.rename(ALICE, fs.root, b".", fs.root, b"x")
    with refused(errno.EINVAL):
        fs.rename(ALICE, fs.root, b"file", fs.root, b"..")
    with refused(errno.ENOENT):
        fs.rename(ALICE, fs.root, b"none", fs.root, b"x")
    assert fs.lookup(ALICE, fs.root, b"empty") is empty


# ---------------------------------------------------------------- listing


def test_listing_survives_change(fs: FileSystem) -> None:
    for number in range(10):
        fs.create(ALICE, fs.root, b"%d" % number)
    listing = list(fs.readdir(ALICE, fs.root))
    middle = listing[6]
    fs.remove(ALICE, fs.root, b"2")
    fs.remove(ALICE, fs.root, middle.name)
    fs.create(ALICE, fs.root, b"new")
    rest = [entry.name for entry in fs.readdir(ALICE, fs.root, middle.cookie)]
    assert rest == [entry.name for entry in listing[7:]] + [b"new"]


def test_every_cookie_resumes_after_its_entry(fs: FileSystem) -> None:
    for number in range(5):
        fs.create(ALICE, fs.root, b"%d" % number)
    listing = list(fs.readdir(ALICE, fs.root))
    for index, entry in enumerate(listing):
        assert list(fs.readdir(ALICE, fs.root, entry.cookie)) == listing[index + 1 :]


# ---------------------------------------------------------------- permissions


def test_owner_reads_and_writes_whatever_the_mode_says(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f", Changes(mode=0))
    assert fs.write(ALICE, inode, 0, b"data", Stability.FILE_SYNC) == 4
    assert fs.read(ALICE, inode, 0, 10) == b"data"
    assert fs.access(ALICE, inode) == Access(0)
    with refused(errno.EACCES):
        fs.read(BOB, inode, 0, 10)
    with refused(errno.EACCES):
        fs.write(BOB, inode, 0, b"x", Stability.FILE_SYNC)
    assert fs.read(SUPERUSER, inode, 0, 10) == b"data"


def test_group_and_others_have_their_own_bits(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f", Changes(mode=0o640))
    assert fs.access(BOB, inode) == Access.READ
    assert fs.access(CAROL, inode) == Access(0)
    assert fs.access(ALICE, inode) == Access.READ | Access.MODIFY | Access.EXTEND


def test_who_may_execute_may_read(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f", Changes(mode=0o711))
    fs.write(ALICE, inode, 0, b"program", Stability.FILE_SYNC)
    assert fs.read(CAROL, inode, 0, 10) == b"program"
    assert fs.access(CAROL, inode) == Access.EXECUTE


def test_directory_bits(fs: FileSystem) -> None:
    directory = fs.mkdir(ALICE, fs.root, b"d", Changes(mode=0o744))
    with refused(errno.EACCES):
        fs.lookup(CAROL, directory, b"f")
    with refused(errno.EACCES):
        fs.create(CAROL, directory, b"f")
    assert [entry.name for entry in fs.readdir(CAROL, directory)] == [b".", b".."]
    assert fs.access(CAROL, directory) == Access.READ
    whole = Access.READ | Access.LOOKUP | Access.MODIFY | Access.EXTEND | Access.DELETE
    assert fs.access(ALICE, directory) == whole


def test_sticky_directories_protect_the_entries_of_others(fs: FileSystem) -> None:
    directory = fs.mkdir(SUPERUSER, fs.root, b"tmp", Changes(mode=0o1777))
    fs.create(ALICE, directory, b"f")
    with refused(errno.EACCES):
        fs.remove(BOB, directory, b"f")
    with refused(errno.EACCES):
        fs.rename(BOB, directory, b"f", directory, b"g")
    fs.remove(ALICE, directory, b"f")


def test_squashing_turns_the_superuser_into_nobody() -> None:
    assert SUPERUSER.squashed() == Caller(65534, 65534)
    assert Caller(7, 0, frozenset({0, 8})).squashed() == Caller(7, 65534, frozenset({8}))


def test_read_only_file_systems_change_nothing(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f")
    fs.read_only = True
    for attempt in (
        lambda: fs.create(ALICE, fs.root, b"g"),
        lambda: fs.remove(ALICE, fs.root, b"f"),
        lambda: fs.setattr(ALICE, inode, Changes(mode=0)),
        lambda: fs.link(ALICE, inode, fs.root, b"g"),
    ):
        with refused(errno.EROFS):
            attempt()
    with refused(errno.EROFS):
        fs.write(ALICE, inode, 0, b"x", Stability.UNSTABLE)
    assert fs.access(SUPERUSER, inode) == Access.READ


# ---------------------------------------------------------------- attributes


def test_foreign_writes_drop_set_user_id(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f", Changes(mode=0o6777))
    fs.write(BOB, inode, 0, b"x", Stability.FILE_SYNC)
    assert inode.mode == 0o777


# ---------------------------------------------------------------- data and crashes


def test_crash_loses_uncommitted_data_size_and_times(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f")
    fs.write(ALICE, inode, 0, b"stable", Stability.FILE_SYNC)
    kept = (inode.size, inode.mtime, inode.ctime)
    fs.write(ALICE, inode, 3, b"unstable", Stability.UNSTABLE)
    assert fs.read(ALICE, inode, 0, 20) == b"staunstable"
    fs.crash()
    assert fs.read(ALICE, inode, 0, 20) == b"stable"
    assert (inode.size, inode.mtime, inode.ctime) == kept


def test_commit_saves_from_the_crash(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f")
    fs.write(ALICE, inode, 0, b"data", Stability.UNSTABLE)
    fs.commit(inode)
    kept = inode.mtime
    fs.crash()
    assert fs.read(ALICE, inode, 0, 20) == b"data"
    assert inode.mtime == kept


def test_data_sync_keeps_data_and_size_but_not_times(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f")
    kept = inode.mtime
    fs.write(ALICE, inode, 0, b"data", Stability.DATA_SYNC)
    fs.crash()
    assert fs.read(ALICE, inode, 0, 20) == b"data"
    assert inode.mtime == kept


def test_writing_nothing_changes_nothing(fs: FileSystem) -> None:
    inode = fs.create(ALICE, fs.root, b"f")
    before = (inode.mtime, inode.ctime)
    assert fs.write(ALICE, inode, 100, b"", Stability.FILE_SYNC) == 0
    assert (inode.mtime, inode.ctime, inode.size) == (*before, 0)


def test_space_is_given_back() -> None:
    fs = FileSystem(limits=Limits(capacity=4 * PAGE))
    inode = fs.create(ALICE, fs.root, b"f")
    fs.write(ALICE, inode, 0, bytes(4 * PAGE), Stability.UNSTABLE)
    assert fs.statistics().free_bytes == 0
    fs.write(ALICE, inode, 0, b"over", Stability.UNSTABLE)
    with refused(errno.ENOSPC):
        fs.symlink(ALICE, fs.root, b"l", b"x" * 100)
    fs.remove(ALICE, fs.root, b"f")
    assert fs.statistics().free_bytes == 4 * PAGE
    fs.symlink(ALICE, fs.root, b"l", b"x" * 100)
    fs.remove(ALICE, fs.root, b"l")
    assert fs.statistics().free_bytes == 4 * PAGE


def test_special_files_have_no_data(fs: FileSystem) -> None:
    fifo = fs.mknod(ALICE, fs.root, b"p", Kind.FIFO)
    with refused(errno.EINVAL):
        fs.read(ALICE, fifo, 0, 1)
    with refused(errno.EISDIR):
        fs.write(ALICE, fs.root, 0, b"x", Stability.FILE_SYNC)
    with refused(errno.EINVAL):
        fs.commit(fifo)


def test_changes_never_share_a_time() -> None:
    clock = ManualClock()
    fs = FileSystem(clock=clock)
    first = fs.create(ALICE, fs.root, b"a").ctime
    clock.advance(-10)
    second = fs.create(ALICE, fs.root, b"b").ctime
    clock.advance(100)
    third = fs.create(ALICE, fs.root, b"c").ctime
    assert first < second < third


# ---------------------------------------------------------------- handles


def test_handles_name_one_object_and_are_sealed() -> None:
    codec = HandleCodec(seed=1)
    handle = codec.encode(Identity(1, 2**40, 3))
    assert codec.decode(handle) == Identity(1, 2**40, 3)
    for position in range(len(handle)):
        altered = bytearray(handle)
        altered[position] ^= 1
        with refused(errno.EBADF):
            codec.decode(bytes(altered))
    for wrong in (b"", handle[:-1], handle + b"\0", bytes(32)):
        with refused(errno.EBADF):
            codec.decode(wrong)
    assert HandleCodec(seed=1).encode(Identity(1, 2**40, 3)) == handle
    with refused(errno.EBADF):
        HandleCodec(seed=2).decode(handle)
