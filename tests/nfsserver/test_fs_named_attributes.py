# SPDX-License-Identifier: MIT
"""Named attributes in the file system: what holds of them when their object goes, moves or crashes."""

from __future__ import annotations

import errno
import typing as t
from functools import partial

import pytest

from nfsserver.fs import SUPERUSER, Caller, FileSystem, FsError, Inode, Stability

ALICE, BOB = Caller(1000, 1000), Caller(1001, 1001)


@pytest.fixture
def fs() -> FileSystem:
    return FileSystem()


def with_attribute(fs: FileSystem, name: bytes = b"f") -> tuple[Inode, Inode, Inode]:
    """A file, its directory of named attributes, and a named attribute."""
    file = fs.create(ALICE, fs.root, name)
    directory = fs.attribute_directory(ALICE, file, create=True)
    attribute = fs.create(ALICE, directory, b"a")
    fs.write(ALICE, attribute, 0, b"value", Stability.FILE_SYNC)
    return file, directory, attribute


def refusal(fs: FileSystem, file: Inode, caller: Caller, *, create: bool) -> int:
    with pytest.raises(FsError) as caught:
        fs.attribute_directory(caller, file, create=create)
    return int(caught.value.errno)


def test_nothing_is_left_when_the_object_goes(fs: FileSystem) -> None:
    free, entries = fs.statistics(), fs.objects.entries
    _, directory, attribute = with_attribute(fs)
    fs.remove(ALICE, fs.root, b"f")
    assert fs.statistics() == free
    assert fs.objects.entries == entries
    for gone in (directory, attribute):
        with pytest.raises(FsError):
            fs.inode(gone.fileid, gone.generation)


def test_an_open_attribute_outlives_its_object(fs: FileSystem) -> None:
    free = fs.statistics()
    _, _, attribute = with_attribute(fs)
    fs.objects.is_open = lambda inode: inode is attribute
    fs.remove(ALICE, fs.root, b"f")
    assert bytes(fs.read(ALICE, attribute, 0, 9)) == b"value"
    fs.objects.is_open = lambda _: False
    fs.objects.last_close(attribute)
    assert fs.statistics() == free


def test_a_crash_takes_those_of_nameless_files(fs: FileSystem) -> None:
    free = fs.statistics()
    file, _, attribute = with_attribute(fs)
    fs.objects.is_open = lambda inode: inode in (file, attribute)
    fs.remove(ALICE, fs.root, b"f")
    assert fs.statistics() != free
    fs.crash()
    assert fs.statistics() == free


def test_attributes_go_with_a_renamed_object(fs: FileSystem) -> None:
    file, directory, _ = with_attribute(fs)
    fs.rename(ALICE, fs.root, b"f", fs.root, b"g")
    assert fs.attribute_directory(ALICE, file, create=False) is directory


def test_rights_are_those_of_the_object(fs: FileSystem) -> None:
    file = fs.create(ALICE, fs.root, b"f")
    assert refusal(fs, file, ALICE, create=False) == errno.ENOENT
    assert refusal(fs, file, BOB, create=True) == errno.EACCES
    directory = fs.attribute_directory(ALICE, file, create=True)
    assert fs.attribute_directory(BOB, file, create=False) is directory
    with pytest.raises(FsError):
        fs.create(BOB, directory, b"b")
    file.mode = 0o600
    assert refusal(fs, file, BOB, create=False) == errno.EACCES


def test_attributes_have_no_attributes(fs: FileSystem) -> None:
    _, directory, attribute = with_attribute(fs)
    for handle in (directory, attribute):
        assert refusal(fs, handle, SUPERUSER, create=True) == errno.EINVAL


def test_nothing_enters_or_leaves(fs: FileSystem) -> None:
    file, directory, attribute = with_attribute(fs)
    _, other, _ = with_attribute(fs, b"g")
    moves: list[partial[t.Any]] = [
        partial(fs.rename, ALICE, directory, b"a", fs.root, b"a"),
        partial(fs.rename, ALICE, directory, b"a", other, b"b"),
        partial(fs.rename, ALICE, fs.root, b"f", directory, b"b"),
        partial(fs.link, ALICE, attribute, fs.root, b"a"),
        partial(fs.link, ALICE, attribute, other, b"b"),
        partial(fs.link, ALICE, file, directory, b"b"),
        partial(fs.mkdir, ALICE, directory, b"d"),
    ]
    for move in moves:
        with pytest.raises(FsError) as caught:
            move()
        assert caught.value.errno in {errno.EXDEV, errno.EACCES}
    fs.rename(ALICE, directory, b"a", directory, b"b")
    fs.link(ALICE, attribute, directory, b"c")
    assert sorted(directory.directory.names() if directory.directory else []) == [b"b", b"c"]


def test_the_first_and_the_last_one_change_the_object(fs: FileSystem) -> None:
    file = fs.create(ALICE, fs.root, b"f")
    changes = [file.change]
    directory = fs.attribute_directory(ALICE, file, create=True)
    fs.create(ALICE, directory, b"a")
    changes.append(file.change)
    fs.remove(ALICE, directory, b"a")
    changes.append(file.change)
    assert changes == sorted(set(changes))
