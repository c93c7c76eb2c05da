# SPDX-License-Identifier: MIT
"""SETATTR (RFC 1094 sections 2.2.3 and 2.3.6): what is given is set, what is -1 is left alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.scratch2 import Scratch2
from nfsclient.clients import Nfs2
from nfsclient.protocol.nfs2 import Fattr, Sattr, Timeval
from nfsjudge import Level, Requirement, expect, observe, proves, skip
from suites.nfs2.objects import KINDS, but, expect_change, expect_same, make, stranger_to

SETS = Requirement(
    rfc="RFC 1094", section="2.2.3", gist="attributes that are not -1 are the new values of those of the file"
)
KEEPS_FINE_TIMES = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    level=Level.SHOULD,
    gist="a time that is set is the new value of that time, whatever it is",
)
LEAVES_ALONE = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    gist="a field is either -1 or a new value: what is -1 has none, and stays (ignored: 2.3.6)",
)
AFTERWARDS = Requirement(
    rfc="RFC 1094",
    section="2.2.3",
    gist="the attributes in the reply are those of the file after the operation has completed",
)
EXPECTED_PERMISSIONS = Requirement(
    rfc="RFC 1094",
    section="3.3",
    level=Level.SHOULD,
    gist="a server is expected to check permissions as its operating system does",
)

LONE = {
    "mode": Sattr(mode=0o600),
    "uid": Sattr(uid=4242),
    "gid": Sattr(gid=4343),
    "size": Sattr(size=2),
    "atime": Sattr(atime=Timeval(1_000_000_000)),
    "mtime": Sattr(mtime=Timeval(1_100_000_000)),
}
"""Each field of sattr alone."""
COARSE = 2
"""Seconds: the coarsest that file systems count modification times (FAT)."""
A_DAY = 86_400


@pytest.mark.parametrize("mode", [0o000, 0o400, 0o644, 0o711, 0o755, 0o777], ids=oct)
@proves(SETS, killed_by="setattr2-inverts-write-for-group")
def test_sets_permissions(nfs2: Nfs2, scratch2: Scratch2, mode: int) -> None:
    file = scratch2.file("f", mode=0o640)
    expect_change(nfs2.setattr(file, Sattr(mode=mode)))
    expect(scratch2.attributes(file).mode & 0o777, "the permission bits").equals(mode)


@proves(SETS, killed_by="setattr2-takes-type-bits-for-set-ids")
def test_sets_permissions_of_a_mode_with_its_type(nfs2: Nfs2, scratch2: Scratch2) -> None:
    # As clients on UNIX do it: fields of sattr are those of fattr, whose mode has the type.
    file = scratch2.file("f", mode=0o640)
    expect_change(nfs2.setattr(file, Sattr(mode=0o100604)))
    expect(scratch2.attributes(file).mode & 0o7777, "the mode without type").equals(0o604)


@pytest.mark.parametrize("field", ["uid", "gid"])
@proves(SETS, killed_by="setattr2-keeps-the-owner", needs="root")
def test_root_gives_a_file_away(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    file = scratch2.file("f")
    expect_change(nfs2.setattr(file, LONE[field]))
    expect(getattr(scratch2.attributes(file), field), field).equals(getattr(LONE[field], field))


@pytest.mark.parametrize("field", ["atime", "mtime"])
@proves(SETS, KEEPS_FINE_TIMES, killed_by="setattr2-sets-the-wrong-time")
def test_sets_a_time(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    file = scratch2.file("f", b"data")
    expect_change(nfs2.setattr(file, LONE[field]))
    seen, asked = getattr(scratch2.attributes(file), field).seconds, getattr(LONE[field], field).seconds
    # Some file systems keep a time to two seconds, or to a day.
    because = SETS if abs(seen - asked) > A_DAY else KEEPS_FINE_TIMES
    expect(seen, f"the seconds of {field}", because=because).equals(asked)


@pytest.mark.parametrize("seconds", [0, 1, 2**31 - 1, 2**31, 2**32 - 2])
@proves(KEEPS_FINE_TIMES, killed_by="setattr2-has-no-times-at-the-ends")
def test_sets_times_at_the_ends(nfs2: Nfs2, scratch2: Scratch2, seconds: int) -> None:
    file = scratch2.file("f")
    reply = nfs2.setattr(file, Sattr(mtime=Timeval(seconds)))
    if reply.resok is None:
        skip(f"the server does not have this time: {reply.status}")
    seen = scratch2.attributes(file).mtime.seconds
    expect(seen, "the seconds of mtime").between(max(0, seconds - COARSE), seconds)


@proves(KEEPS_FINE_TIMES, killed_by="setattr2-rounds-times-up")
def test_cuts_a_time_to_what_it_can_keep(nfs2: Nfs2, scratch2: Scratch2) -> None:
    file = scratch2.file("f")
    expect_change(nfs2.setattr(file, Sattr(mtime=Timeval(1_000_000_000, 999_999))))
    seen = scratch2.attributes(file).mtime
    observe("microseconds of 999999", seen.useconds)
    expect(seen.seconds, "the seconds of mtime").between(1_000_000_000 - COARSE, 1_000_000_000)


def _kept(field: str) -> list[str]:
    """The fields that a change of one leaves alone: a new size may move mtime, and a new owner drop bits."""
    return but(field) + (["mtime"] if field not in {"size", "mtime"} else [])


@pytest.mark.parametrize("field", ["mode", "size", "atime", "mtime"])
@proves(LEAVES_ALONE, killed_by="setattr2-touches-what-is-minus-1")
def test_leaves_alone_what_is_minus_1(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    file = scratch2.file("f", b"data", mode=0o644)
    before = scratch2.attributes(file)
    expect_change(nfs2.setattr(file, LONE[field]))
    expect_same(scratch2.attributes(file), before, _kept(field))


@pytest.mark.parametrize("field", ["uid", "gid"])
@proves(LEAVES_ALONE, killed_by="setattr2-touches-what-is-minus-1", needs="root")
def test_leaves_alone_what_is_minus_1_beside_an_owner(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    file = scratch2.file("f", b"data", mode=0o644)
    before = scratch2.attributes(file)
    expect_change(nfs2.setattr(file, LONE[field]))
    expect_same(scratch2.attributes(file), before, _kept(field))


@pytest.mark.parametrize("kind", KINDS)
@proves(LEAVES_ALONE, killed_by="setattr2-changes-what-nobody-asked")
def test_all_minus_1_changes_nothing(nfs2: Nfs2, scratch2: Scratch2, kind: str) -> None:
    handle = make(scratch2, kind)
    before = scratch2.attributes(handle)
    observe("answer", nfs2.setattr(handle, Sattr()).status)
    after = scratch2.attributes(handle)
    expect_same(after, before)
    expect(after.mtime, "mtime").equals(before.mtime)


@proves(SETS, killed_by="setattr2-sets-one-of-several")
def test_sets_several_at_once(nfs2: Nfs2, scratch2: Scratch2) -> None:
    file = scratch2.file("f", b"data", mode=0o644)
    expect_change(nfs2.setattr(file, Sattr(mode=0o600, size=1, mtime=Timeval(1_000_000_000))))
    seen = scratch2.attributes(file)
    expect(
        (seen.mode & 0o777, seen.size, seen.mtime.seconds), "permissions, size and seconds of mtime"
    ).equals((0o600, 1, 1_000_000_000))


@pytest.mark.parametrize("field", ["mode", "size", "mtime"])
@proves(AFTERWARDS, killed_by="setattr2-answers-as-it-was-before")
def test_answers_with_what_is_there_afterwards(nfs2: Nfs2, scratch2: Scratch2, field: str) -> None:
    file = scratch2.file("f", b"data", mode=0o644)
    reply = nfs2.setattr(file, LONE[field])
    expect_change(reply)
    known = scratch2.attributes(file)
    told: Fattr = expect(reply).ok()
    expect_same(told, known)
    expect(told.mtime, "mtime").equals(known.mtime)


@proves(EXPECTED_PERMISSIONS, killed_by="setattr2-lets-anybody-change-a-mode", needs="other_users")
def test_a_stranger_may_not_change_the_mode(nfs2_as: Callable[..., Nfs2], scratch2: Scratch2) -> None:
    file = scratch2.file("f", mode=0o644)
    stranger = stranger_to(nfs2_as, scratch2)
    expect(stranger.setattr(file, Sattr(mode=0o666))).refused()
