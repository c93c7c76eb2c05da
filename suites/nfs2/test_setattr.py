# SPDX-License-Identifier: MIT
"""SETATTR (RFC 1094 sections 2.2.3 and 2.3.6) sets the given fields and keeps those that are -1."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Fattr, Sattr, Timeval
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs2.objects import KINDS, expect_change, expect_same, make, mode_id, other_user, steady_except

SETATTR_SETS_FIELDS = Requirement(
    rfc="RFC 1094", section="2.2.3", gist="fields that are not -1 become the new attributes of the file"
)
SETATTR_KEEPS_ANY_TIME = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    level=Level.SHOULD,
    gist="a time that is set becomes the new time of the file, whatever its value",
)
SETATTR_KEEPS_MINUS_ONE_FIELDS = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    gist="fields of -1 are ignored (2.3.6): the file keeps these attributes",
)
SETATTR_RETURNS_ATTRIBUTES = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    gist="the reply has the attributes of the file after the SETATTR",
)
CHECKS_PERMISSIONS = Requirement(
    rfc="RFC 1094",
    section="3.3",
    level=Level.SHOULD,
    gist="the server checks permissions as its operating system does",
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
COARSE = 2
"""Seconds: the coarsest modification times of a file system (FAT)."""
A_DAY = 86_400


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o644, 0o711, 0o755, 0o777], ids=mode_id)
@proves(SETATTR_SETS_FIELDS, killed_by="setattr2-inverts-write-for-group")
def test_sets_permissions(nfs2: Nfs2, scratch2: Scratch2, mode: int) -> None:
    """SETATTR sets the permission bits."""
    file = scratch2.file("f", mode=0o640)
    expect_change(nfs2.setattr(file, Sattr(mode=mode)))
    expect(scratch2.attributes(file).mode & 0o777, "the permission bits").equals(mode)


@proves(SETATTR_SETS_FIELDS, killed_by="setattr2-takes-type-bits-for-set-ids")
def test_sets_permissions_of_a_mode_with_its_type(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """SETATTR accepts a mode that includes the type bits of the file."""
    # UNIX clients do this: sattr has the fields of fattr, and mode of fattr includes the type.
    file = scratch2.file("f", mode=0o640)
    expect_change(nfs2.setattr(file, Sattr(mode=0o100604)))
    expect(scratch2.attributes(file).mode & 0o7777, "the mode without type").equals(0o604)


@pytest.mark.parametrize("field", ["uid", "gid"])
@proves(SETATTR_SETS_FIELDS, killed_by="setattr2-keeps-the-owner", needs="root")
def test_root_gives_a_file_away(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    """SETATTR by root sets the owner and the group."""
    file = scratch2.file("f")
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    expect(getattr(scratch2.attributes(file), field), field).equals(getattr(ONE_FIELD[field], field))


@pytest.mark.parametrize("field", ["atime", "mtime"])
@proves(SETATTR_SETS_FIELDS, SETATTR_KEEPS_ANY_TIME, killed_by="setattr2-sets-the-wrong-time")
def test_sets_a_time(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    """SETATTR sets atime and mtime."""
    file = scratch2.file("f", b"data")
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    seen, asked = getattr(scratch2.attributes(file), field).seconds, getattr(ONE_FIELD[field], field).seconds
    # Some file systems store a time with a granularity of two seconds or of a day.
    because = SETATTR_SETS_FIELDS if abs(seen - asked) > A_DAY else SETATTR_KEEPS_ANY_TIME
    expect(seen, f"the seconds of {field}", because=because).equals(asked)


@pytest.mark.parametrize("seconds", [0, 1, 2**31 - 1, 2**31, 2**32 - 2])
@proves(SETATTR_KEEPS_ANY_TIME, killed_by="setattr2-has-no-times-at-the-ends")
def test_sets_times_at_the_ends(nfs2: Nfs2, scratch2: Scratch2, seconds: int) -> None:
    """SETATTR sets times at the ends of the range of seconds."""
    file = scratch2.file("f")
    reply = nfs2.setattr(file, Sattr(mtime=Timeval(seconds)))
    if reply.resok is None:
        skip(f"the server does not have this time: {reply.status}")
    seen = scratch2.attributes(file).mtime.seconds
    expect(seen, "the seconds of mtime").between(max(0, seconds - COARSE), seconds)


@proves(SETATTR_KEEPS_ANY_TIME, killed_by="setattr2-rounds-times-up")
def test_cuts_a_time_to_what_it_can_keep(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """SETATTR does not round a time up to the next second."""
    file = scratch2.file("f")
    expect_change(nfs2.setattr(file, Sattr(mtime=Timeval(1_000_000_000, 999_999))))
    seen = scratch2.attributes(file).mtime
    observe("microseconds of 999999", seen.useconds)
    expect(seen.seconds, "the seconds of mtime").between(1_000_000_000 - COARSE, 1_000_000_000)


def _other_fields(field: str) -> list[str]:
    """Return the fields that must not change with `field`. A new size may move mtime, too."""
    return steady_except(field) + (["mtime"] if field not in {"size", "mtime"} else [])


@pytest.mark.parametrize("field", ["mode", "size", "atime", "mtime"])
@proves(SETATTR_KEEPS_MINUS_ONE_FIELDS, killed_by="setattr2-touches-what-is-minus-1")
def test_leaves_alone_what_is_minus_1(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    """SETATTR of one field keeps the fields that are -1."""
    file = scratch2.file("f", b"data", mode=0o644)
    before = scratch2.attributes(file)
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    expect_same(scratch2.attributes(file), before, _other_fields(field))


@pytest.mark.parametrize("field", ["uid", "gid"])
@proves(SETATTR_KEEPS_MINUS_ONE_FIELDS, killed_by="setattr2-touches-what-is-minus-1", needs="root")
def test_leaves_alone_what_is_minus_1_beside_an_owner(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    """SETATTR of the owner or group keeps the fields that are -1."""
    file = scratch2.file("f", b"data", mode=0o644)
    before = scratch2.attributes(file)
    expect_change(nfs2.setattr(file, ONE_FIELD[field]))
    expect_same(scratch2.attributes(file), before, _other_fields(field))


@pytest.mark.parametrize("kind", KINDS)
@proves(SETATTR_KEEPS_MINUS_ONE_FIELDS, killed_by="setattr2-changes-what-nobody-asked")
def test_all_minus_1_changes_nothing(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    """SETATTR with every field -1 changes nothing."""
    handle = make(scratch2, kind)
    before = scratch2.attributes(handle)
    observe("answer", nfs2.setattr(handle, Sattr()).status)
    after = scratch2.attributes(handle)
    expect_same(after, before)
    expect(after.mtime, "mtime").equals(before.mtime)


@proves(SETATTR_SETS_FIELDS, killed_by="setattr2-sets-one-of-several")
def test_sets_several_at_once(nfs2: Nfs2, scratch2: Scratch2) -> None:
    """SETATTR sets several fields in one call."""
    file = scratch2.file("f", b"data", mode=0o644)
    expect_change(nfs2.setattr(file, Sattr(mode=0o600, size=1, mtime=Timeval(1_000_000_000))))
    seen = scratch2.attributes(file)
    expect(
        (seen.mode & 0o777, seen.size, seen.mtime.seconds), "permissions, size and seconds of mtime"
    ).equals((0o600, 1, 1_000_000_000))


@pytest.mark.parametrize("field", ["mode", "size", "mtime"])
@proves(SETATTR_RETURNS_ATTRIBUTES, killed_by="setattr2-answers-as-it-was-before")
def test_answers_with_what_is_there_afterwards(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    """SETATTR returns the attributes of the file after the change."""
    file = scratch2.file("f", b"data", mode=0o644)
    reply = nfs2.setattr(file, ONE_FIELD[field])
    expect_change(reply)
    known = scratch2.attributes(file)
    returned: Fattr = expect(reply).ok()
    expect_same(returned, known)
    expect(returned.mtime, "mtime").equals(known.mtime)


@proves(CHECKS_PERMISSIONS, killed_by="setattr2-lets-anybody-change-a-mode", needs="other_users")
def test_a_stranger_may_not_change_the_mode(nfs2_as: Callable[..., Nfs2], scratch2: Scratch2) -> None:
    """SETATTR refuses to let another user change the mode of a file."""
    file = scratch2.file("f", mode=0o644)
    other = other_user(nfs2_as, scratch2)
    expect(other.setattr(file, Sattr(mode=0o666))).refused()
