# SPDX-License-Identifier: MIT
"""SETATTR (RFC 1094 sections 2.2.3 and 2.3.6) sets the given fields and keeps those that are -1."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs2 import Nfs2Scratch
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Fattr, Sattr, Timeval
from nfsjudge import (
    Harm,
    Requirement,
    expect,
    expect_data,
    expect_names,
    observe,
    proves,
    should,
    skip,
    stated,
)
from suites.nfs2.clauses import CHECKS_PERMISSIONS
from suites.nfs2.objects import (
    KINDS,
    NOT_FILES,
    expect_change,
    expect_same,
    make,
    mode_id,
    need_far,
    other_user,
    size_id,
    steady_except,
)
from suites.nfs3.contents import pattern

SETATTR_SETS_FIELDS = stated(
    "RFC 1094", "2.2.3", "fields that are not -1 become the new attributes of the file", harm=Harm.SUCCESS
)
SETATTR_KEEPS_ANY_TIME = should(
    "RFC 1094", "2.2.3", "a time that is set becomes the new time of the file, whatever its value"
)
SETATTR_KEEPS_MINUS_ONE_FIELDS = stated(
    "RFC 1094", "2.2.3", "fields of -1 are ignored (2.3.6): the file keeps these attributes"
)
SETATTR_RETURNS_ATTRIBUTES = stated(
    "RFC 1094", "2.2.3", "the reply has the attributes of the file after the SETATTR"
)
SETATTR_SETS_SIZE = stated(
    "RFC 1094", "2.2.3", "a size that is not -1 becomes the new size of the file", harm=Harm.SUCCESS
)
SETATTR_SIZE_KEEPS_DATA = stated(
    "RFC 1094", "2.2.3", "SETATTR of a size keeps the data below that size", harm=Harm.DATA
)
EXTENDED_PART_IS_ZERO = should(
    "RFC 1094",
    "2.3.6",
    "the part that a larger size adds to a file reads as zeros, never as old data",
    harm=Harm.DATA,
)
SIZE_IS_FOR_FILES = should(
    "RFC 1094",
    "2.2.3",
    "a size is set for regular files: other objects keep their contents",
    harm=Harm.OBJECT,
)
ONE_FIELD = {
    "mode": Sattr(mode=0o600),
    "uid": Sattr(uid=4242),
    "gid": Sattr(gid=4343),
    "size": Sattr(size=2),
    "atime": Sattr(atime=Timeval(1_000_000_000)),
    "mtime": Sattr(mtime=Timeval(1_100_000_000)),
}
"""A sattr for each field that sets only this field."""
A_DAY = 86_400
GRANULARITIES = (1, 2, 60, 3600)
"""Seconds: a file system may store times as multiples of one of these. NFSv2 has no way to announce it."""
ZONES = 900
"""Seconds: file systems that store days count them by local time, which differs from UTC by multiples of this."""


def _expect_stored(seen: int, asked: int, name: str, because: Requirement) -> None:
    """A time in seconds is the requested one, or that rounded down to what the server can store."""
    __tracebackhide__ = True
    expect(seen, f"{name} in seconds", field=f"{name}.seconds", because=because).satisfies(
        lambda time: _is_rounded_down(time, asked),
        f"{asked}, or that rounded down to 2 seconds, a minute, an hour or a day",
    )


def _is_rounded_down(seen: int, asked: int) -> bool:
    """Whether a server may store one time as the other: to a day of any time zone at most."""
    is_midnight_somewhere = asked - A_DAY < seen <= asked and seen % ZONES == 0
    return is_midnight_somewhere or seen in {asked - asked % unit for unit in GRANULARITIES}


def _broken_by(seen: int, asked: int) -> Requirement:
    """What another time than the one asked for breaks: a difference of more than a day is no rounding at all."""
    return SETATTR_SETS_FIELDS if abs(seen - asked) > A_DAY else SETATTR_KEEPS_ANY_TIME


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o644, 0o711, 0o755, 0o777], ids=mode_id)
@proves(SETATTR_SETS_FIELDS, killed_by="setattr2-inverts-write-for-group")
def test_sets_mode(nfs2: Nfs2, scratch: Nfs2Scratch, mode: int) -> None:
    """SETATTR sets the permission bits."""
    file = scratch.file("f", mode=0o640)
    expect_change(nfs2.setattr(file, Sattr(mode=mode)))
    expect(scratch.attributes(file).mode & 0o777, "permission bits of mode", field="mode").equals(mode)


@proves(SETATTR_SETS_FIELDS, killed_by="setattr2-type-bits-change-permissions")
def test_mode_with_type(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """SETATTR accepts a mode that includes the type bits of the file."""
    # UNIX clients do this: sattr has the fields of fattr, and mode of fattr includes the type.
    file = scratch.file("f", mode=0o640)
    expect_change(nfs2.setattr(file, Sattr(mode=0o100604)))
    expect(scratch.attributes(file).mode & 0o7777, "mode without file type", field="mode").equals(0o604)


@pytest.mark.parametrize("field", ["uid", "gid"])
@proves(SETATTR_SETS_FIELDS, killed_by="setattr2-keeps-the-owner", needs="root")
def test_sets_owner(nfs2: Nfs2, scratch: Nfs2Scratch, field: str) -> None:
    """SETATTR by root sets the owner and the group."""
    file = scratch.file("f")
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    expect(scratch.attributes(file)).field(field).equals(getattr(ONE_FIELD[field], field))


@pytest.mark.parametrize("field", ["atime", "mtime"])
@proves(SETATTR_SETS_FIELDS, SETATTR_KEEPS_ANY_TIME, killed_by="setattr2-swaps-atime-and-mtime")
def test_sets_time(nfs2: Nfs2, scratch: Nfs2Scratch, field: str) -> None:
    """SETATTR sets atime and mtime."""
    file = scratch.file("f", b"data")
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    seen, asked = getattr(scratch.attributes(file), field).seconds, getattr(ONE_FIELD[field], field).seconds
    _expect_stored(seen, asked, field, _broken_by(seen, asked))


@pytest.mark.parametrize("seconds", [0, 1, 2**31 - 1, 2**31, 2**32 - 2])
@proves(SETATTR_KEEPS_ANY_TIME, killed_by="setattr2-changes-extreme-times")
def test_extreme_times(nfs2: Nfs2, scratch: Nfs2Scratch, seconds: int) -> None:
    """SETATTR sets times at the ends of the range of seconds."""
    file = scratch.file("f")
    reply = nfs2.setattr(file, Sattr(mtime=Timeval(seconds)))
    if reply.resok is None:
        skip(f"the server does not store this time: SETATTR answers {reply.status}", reply)
    _expect_stored(scratch.attributes(file).mtime.seconds, seconds, "mtime", SETATTR_KEEPS_ANY_TIME)


@proves(SETATTR_KEEPS_ANY_TIME, killed_by="setattr2-rounds-times-up")
def test_time_not_rounded_up(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """SETATTR does not round a time up to the next second."""
    file = scratch.file("f")
    expect_change(nfs2.setattr(file, Sattr(mtime=Timeval(1_000_000_000, 999_999))))
    seen = scratch.attributes(file).mtime
    observe("microseconds stored of 999999", seen.useconds)
    _expect_stored(seen.seconds, 1_000_000_000, "mtime", SETATTR_KEEPS_ANY_TIME)


def _other_fields(field: str) -> list[str]:
    """Return the fields that must not change with `field`. A new size may move mtime, too."""
    return steady_except(field) + (["mtime"] if field not in {"size", "mtime"} else [])


@pytest.mark.parametrize("field", ["mode", "size", "atime", "mtime"])
@proves(SETATTR_KEEPS_MINUS_ONE_FIELDS, killed_by="setattr2-sets-an-unset-field")
def test_other_fields_kept(nfs2: Nfs2, scratch: Nfs2Scratch, field: str) -> None:
    """SETATTR of one field keeps the fields that are -1."""
    file = scratch.file("f", b"data", mode=0o644)
    before = scratch.attributes(file)
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    expect_same(scratch.attributes(file), before, _other_fields(field))


@pytest.mark.parametrize("field", ["uid", "gid"])
@proves(SETATTR_KEEPS_MINUS_ONE_FIELDS, killed_by="setattr2-sets-an-unset-field", needs="root")
def test_owner_change_keeps_others(nfs2: Nfs2, scratch: Nfs2Scratch, field: str) -> None:
    """SETATTR of the owner or group keeps the fields that are -1."""
    file = scratch.file("f", b"data", mode=0o644)
    before = scratch.attributes(file)
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    expect_same(scratch.attributes(file), before, _other_fields(field))


@pytest.mark.parametrize("kind", KINDS)
@proves(SETATTR_KEEPS_MINUS_ONE_FIELDS, killed_by="setattr2-of-nothing-updates-times")
def test_all_minus_one(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """SETATTR with every field -1 changes nothing."""
    handle = make(scratch, kind)
    before = scratch.attributes(handle)
    observe("answer", nfs2.setattr(handle, Sattr()).status)
    after = scratch.attributes(handle)
    expect_same(after, before)
    expect(after).field("mtime").equals(before.mtime)


@proves(SETATTR_SETS_FIELDS, SETATTR_KEEPS_ANY_TIME, killed_by="setattr2-sets-only-the-first-field")
def test_sets_several_fields(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """SETATTR sets several fields in one call."""
    file = scratch.file("f", b"data", mode=0o644)
    expect_change(nfs2.setattr(file, Sattr(mode=0o600, size=1, mtime=Timeval(1_000_000_000))))
    seen = scratch.attributes(file)
    expect(seen.mode & 0o777, "permission bits of mode", of=seen, field="mode").equals(0o600)
    expect(seen).field("size").equals(1)
    mtime, asked = seen.mtime.seconds, 1_000_000_000
    _expect_stored(mtime, asked, "mtime", _broken_by(mtime, asked))


@pytest.mark.parametrize("field", ["mode", "size", "mtime"])
@proves(SETATTR_RETURNS_ATTRIBUTES, killed_by="setattr2-returns-old-attributes")
def test_returns_attributes(nfs2: Nfs2, scratch: Nfs2Scratch, field: str) -> None:
    """SETATTR returns the attributes of the file after the change."""
    file = scratch.file("f", b"data", mode=0o644)
    reply = nfs2.setattr(file, ONE_FIELD[field])
    expect_change(reply)
    known = scratch.attributes(file)
    returned: Fattr = expect(reply).ok()
    expect_same(returned, known)
    expect(returned).field("mtime").equals(known.mtime)


@proves(CHECKS_PERMISSIONS, killed_by="setattr2-anybody-changes-the-mode", needs="other_users")
def test_other_user_refused(as_user: Callable[..., Nfs2], scratch: Nfs2Scratch) -> None:
    """SETATTR refuses to let another user change the mode of a file."""
    file = scratch.file("f", mode=0o644)
    other = other_user(as_user, scratch)
    expect(other.setattr(file, Sattr(mode=0o666))).refused()


@pytest.mark.parametrize("size", [1, 5000, 20_000])
@proves(SETATTR_SETS_SIZE, killed_by="setattr2-ignores-size-0")
def test_truncate_to_zero(nfs2: Nfs2, scratch: Nfs2Scratch, size: int) -> None:
    """SETATTR of size 0 empties the file."""
    file = scratch.file("f", pattern(size))
    expect_change(nfs2.setattr(file, Sattr(size=0)))
    expect(scratch.attributes(file)).field("size").equals(0)
    expect_data(scratch.read(file), b"")


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, 9999])
@proves(SETATTR_SIZE_KEEPS_DATA, killed_by="setattr2-truncates-a-byte-too-much")
def test_truncate(nfs2: Nfs2, scratch: Nfs2Scratch, size: int) -> None:
    """SETATTR of a smaller size keeps the data below that size and cuts the rest."""
    data = pattern(10_000)
    file = scratch.file("f", data)
    expect_change(nfs2.setattr(file, Sattr(size=size)))
    expect_data(scratch.read(file), data[:size])


def _extend(nfs2: Nfs2, file: bytes, size: int) -> None:
    """Set a larger size. SKIP if the server refuses: section 2.3.6 only speaks of truncation."""
    reply = nfs2.setattr(file, Sattr(size=size))
    if reply.resok is None:
        skip(f"the server does not extend files by SETATTR: it answers {reply.status}", reply)


@pytest.mark.parametrize("size", [101, 8192, 20_000])
@proves(SETATTR_SETS_SIZE, SETATTR_SIZE_KEEPS_DATA, killed_by="setattr2-does-not-extend")
def test_extend(nfs2: Nfs2, scratch: Nfs2Scratch, size: int) -> None:
    """SETATTR of a larger size extends the file and keeps its data."""
    file = scratch.file("f", pattern(100))
    _extend(nfs2, file, size)
    expect(scratch.attributes(file)).field("size").equals(size)
    expect_data(scratch.read(file)[:100], pattern(100), "data below the old size")


@pytest.mark.parametrize("size", [2**31 - 1, 2**31, 2**32 - 2], ids=size_id)
@proves(SETATTR_SETS_SIZE, killed_by="setattr2-halves-large-sizes")
def test_large_size(nfs2: Nfs2, scratch: Nfs2Scratch, size: int) -> None:
    """SETATTR sets a size close to 2^31 or 2^32, or refuses and keeps the file."""
    file = scratch.file("f", b"data")
    with need_far(nfs2, scratch, size, by_setattr=True):
        reply = nfs2.setattr(file, Sattr(size=size))
    # A server may have a lower limit; then it must not change the file.
    wanted = 4 if reply.resok is None else size
    expect(scratch.attributes(file)).field("size").equals(wanted)


@pytest.mark.parametrize(("small", "large"), [(0, 100), (50, 10_000), (4096, 8192), (5000, 9000)])
@proves(EXTENDED_PART_IS_ZERO, killed_by="setattr2-extension-restores-old-data")
def test_extend_after_truncate(nfs2: Nfs2, scratch: Nfs2Scratch, small: int, large: int) -> None:
    """SETATTR that extends a truncated file adds zeros, not the old data."""
    file = scratch.file("f", pattern(large))
    expect_change(nfs2.setattr(file, Sattr(size=small)))
    _extend(nfs2, file, large)
    data = scratch.read(file)
    if len(data) != large:
        skip(f"SETATTR did not extend the file: it has {len(data)} bytes")
    expect_data(data[small:], bytes(large - small), at=small)


@proves(SETATTR_SIZE_KEEPS_DATA, killed_by="setattr2-same-size-clears")
def test_same_size(nfs2: Nfs2, scratch: Nfs2Scratch) -> None:
    """SETATTR of the size that a file has keeps its data."""
    data = pattern(5000)
    file = scratch.file("f", data)
    expect_change(nfs2.setattr(file, Sattr(size=len(data))))
    expect_data(scratch.read(file), data)


@pytest.mark.parametrize("kind", NOT_FILES)
@proves(SIZE_IS_FOR_FILES, killed_by="setattr2-truncates-non-files")
def test_size_of_non_file(nfs2: Nfs2, scratch: Nfs2Scratch, kind: str) -> None:
    """SETATTR of a size does not change a directory or symbolic link."""
    handle = make(scratch, kind)
    if kind == "directory":
        scratch.file("inside", directory=handle)
    before = scratch.attributes(handle)
    nfs2.setattr(handle, Sattr(size=0))
    if kind == "directory":
        expect_names(scratch.names(handle), [b"inside"], "names in the directory")
    else:
        expect(expect(nfs2.readlink(handle)).ok(), "text of the link").equals(b"some/where")
    expect_same(scratch.attributes(handle), before, steady_except("size"))
