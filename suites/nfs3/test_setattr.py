# SPDX-License-Identifier: MIT
"""SETATTR (RFC 1813 section 3.3.2): mode, owner and times; the guard; wcc_data.

The checks of size, of extreme values, of other types of object and of wcc_data in detail are in `test_setattr_*`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import SERVER_TIME, Nfsstat3, Nfstime3, Sattr3
from nfsjudge import (
    Harm,
    expect,
    expect_data,
    expect_unchanged,
    must,
    observe,
    proves,
    should,
    show,
    skip,
    stated,
    unsupported,
)
from suites.nfs3.attributes import (
    EVERYTHING,
    PROTECTION,
    all_fields_except,
    expect_change,
    expect_same_object,
    need_settable,
    with_mode,
)
from suites.nfs3.clauses import (
    READ_ONLY_IS_UNCHANGED,
    RETURNS_ROFS,
    SETATTR_SETS_ATTRIBUTES,
    SETATTR_SETS_NOTHING_ELSE,
    SETS_TIMES_TO_TIME_DELTA,
    SQUASHED_ROOT_IS_NOBODY,
    STORES_32_BIT_SECONDS,
)
from suites.nfs3.permissions import STRANGER
from suites.nfs3.statuses import NO_PERMISSION
from suites.nfs3.times import (
    A_DAY,
    ANOTHER_TIME,
    LONG_AGO,
    at_client_time,
    expect_time,
    make_old,
    wrong_guard,
)

GUARD_IS_COMPARED_TO_CTIME = must(
    "RFC 1813",
    "3.3.2",
    "if guard.check is TRUE, the server compares guard.obj_ctime to the current ctime of the object",
)
GUARD_MISMATCH_PRESERVES = must(
    "RFC 1813",
    "3.3.2",
    "if the guard differs from the ctime of the object, the attributes of the object do not change",
    harm=Harm.SUCCESS,
)
GUARD_MISMATCH_RETURNS_NOT_SYNC = must(
    "RFC 1813",
    "3.3.2",
    "if the guard differs from the ctime of the object, SETATTR fails with NFS3ERR_NOT_SYNC",
    harm=Harm.SUCCESS,
)
NO_GUARD_NO_COMPARISON = stated(
    "RFC 1813",
    "3.3.2",
    "if guard.check is FALSE, the server does not compare the ctime of the object to anything",
)
SETS_SERVER_TIME = stated("RFC 1813", "2.5", "SET_TO_SERVER_TIME sets a time to the local time of the server")
ONLY_OWNER_CHANGES_MODE = should(
    "RFC 1813",
    "4.4",
    "the server is expected to let only the owner of a file change its mode, as its operating system does",
)
SETATTR_RETURNS_WCC = stated(
    "RFC 1813", "3.3.2", "obj_wcc has the attributes of the object before and after SETATTR"
)
AFTER_2038 = Nfstime3(3_000_000_000)
BEYOND_16_BITS = 70_000
REQUESTS = {
    "mode": Sattr3(mode=0o711),
    "uid": Sattr3(uid=STRANGER[0]),
    "size": Sattr3(size=1),
    "mtime": Sattr3(mtime=at_client_time(LONG_AGO)),
}


# ---------------------------------------------------------------- mode


@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-applies-a-umask")
def test_file_mode(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR sets the mode of a file."""
    file = scratch.file("f", mode=0o600)
    for mode in (0o626, 0o751, 0o400):
        expect_change(nfs3.setattr(file, Sattr3(mode=mode)))
        expect(scratch.attributes(file).mode & PROTECTION, "mode", field="mode").equals(mode)


@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-ignores-mode-of-directories")
def test_directory_mode(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR sets the mode of a directory."""
    directory = scratch.directory("d", mode=0o700)
    expect_change(nfs3.setattr(directory, Sattr3(mode=0o751)))
    # A directory may have inherited the set-group-id bit and keep it.
    expect(scratch.attributes(directory).mode & 0o777, "permission bits of mode", field="mode").equals(0o751)


@proves(SETATTR_SETS_NOTHING_ELSE, killed_by="setattr3-mode-changes-mtime")
def test_mode_only(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of mode changes neither other attributes nor the data."""
    file = scratch.file("f", b"data", mode=0o600)
    known = scratch.attributes(file)
    expect_change(nfs3.setattr(file, Sattr3(mode=0o640)))
    expect_unchanged(known, scratch.attributes(file), all_fields_except("mode"))
    expect_data(scratch.read(file), b"data")


@proves(
    ONLY_OWNER_CHANGES_MODE,
    killed_by="setattr3-anybody-changes-the-mode",
    needs=("other_users", "distinct_users"),
)
def test_other_user_mode(as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """Another user cannot change the mode of a file."""
    file = scratch.file("f", mode=0o644)
    known = scratch.attributes(file)
    if known.uid == STRANGER[0]:
        skip("the server maps the user of the run and another user to the same uid")
    reply = as_user(*STRANGER).setattr(file, Sattr3(mode=0o751))
    observe("SETATTR of mode by another user", reply.status)
    expect(scratch.attributes(file)).field("mode").equals(known.mode)


# ---------------------------------------------------------------- owner and group


@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-ignores-uid")
def test_uid(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR sets the owner of a file and keeps its group."""
    file = scratch.file("f")
    known = scratch.attributes(file)
    expect_change(nfs3.setattr(file, Sattr3(uid=known.uid ^ 17)))
    seen = scratch.attributes(file)
    expect(seen).field("uid").equals(known.uid ^ 17)
    expect(seen, because=SETATTR_SETS_NOTHING_ELSE).field("gid").equals(known.gid)


@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-ignores-gid")
def test_gid(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR sets the group of a file and keeps its owner."""
    file = scratch.file("f")
    known = scratch.attributes(file)
    expect_change(nfs3.setattr(file, Sattr3(gid=known.gid ^ 17)))
    seen = scratch.attributes(file)
    expect(seen).field("gid").equals(known.gid ^ 17)
    expect(seen, because=SETATTR_SETS_NOTHING_ELSE).field("uid").equals(known.uid)


@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-truncates-ids")
def test_ids_above_16_bits(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR stores an owner and a group above 65535, or refuses them."""
    file = scratch.file("f")
    expect_change(nfs3.setattr(file, Sattr3(uid=BEYOND_16_BITS, gid=BEYOND_16_BITS + 1)))
    seen = scratch.attributes(file)
    expect(seen).field("uid").equals(BEYOND_16_BITS)
    expect(seen).field("gid").equals(BEYOND_16_BITS + 1)


# ---------------------------------------------------------------- times


@proves(SETS_TIMES_TO_TIME_DELTA, killed_by="setattr3-ignores-the-clients-mtime", needs="cansettime")
def test_mtime_client_time(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """SETATTR sets mtime to the time that the client sends."""
    file = scratch.file("f", b"data")
    asked = Nfstime3(1_000_000_000, 123_456_789)
    expect(nfs3.setattr(file, Sattr3(mtime=at_client_time(asked)))).ok()
    expect_time(nfs3, root, "mtime", scratch.attributes(file).mtime, asked)


@proves(SETS_TIMES_TO_TIME_DELTA, killed_by="setattr3-ignores-the-clients-atime", needs="cansettime")
def test_atime_client_time(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """SETATTR sets atime to the time that the client sends."""
    file = scratch.file("f", b"data")
    asked = Nfstime3(1_000_000_000, 123_456_789)
    expect(nfs3.setattr(file, Sattr3(atime=at_client_time(asked)))).ok()
    expect_time(nfs3, root, "atime", scratch.attributes(file).atime, asked)


@proves(STORES_32_BIT_SECONDS, killed_by="setattr3-times-end-in-2038", needs="cansettime")
def test_time_after_2038(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch) -> None:
    """SETATTR stores a time after 2038, or refuses it."""
    file = scratch.file("f")
    expect_change(nfs3.setattr(file, Sattr3(mtime=at_client_time(AFTER_2038))))
    expect_time(nfs3, root, "mtime", scratch.attributes(file).mtime, AFTER_2038)


def _expect_now(scratch: Nfs3Scratch, what: str, seen: Nfstime3) -> None:
    """A time is within a day of the server's clock, which shows in the mtime of a new file."""
    __tracebackhide__ = True
    now = scratch.attributes(scratch.file("made now")).mtime.seconds
    expect(seen, what, of=seen).satisfies(
        lambda time: now - A_DAY <= time.seconds <= now + A_DAY,
        f"a time within a day of {now} seconds, the mtime of a new file",
    )


@proves(SETS_SERVER_TIME, killed_by="setattr3-ignores-the-servers-mtime", needs="cansettime")
def test_mtime_server_time(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR with SET_TO_SERVER_TIME sets mtime to the server's time."""
    file = scratch.file("f")
    make_old(nfs3, file)
    expect(nfs3.setattr(file, Sattr3(mtime=SERVER_TIME))).ok()
    _expect_now(scratch, "mtime", scratch.attributes(file).mtime)


@proves(SETS_SERVER_TIME, killed_by="setattr3-ignores-the-servers-atime", needs="cansettime")
def test_atime_server_time(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR with SET_TO_SERVER_TIME sets atime to the server's time."""
    file = scratch.file("f")
    make_old(nfs3, file, mtime=False, atime=True)
    expect(nfs3.setattr(file, Sattr3(atime=SERVER_TIME))).ok()
    _expect_now(scratch, "atime", scratch.attributes(file).atime)


@proves(SETATTR_SETS_NOTHING_ELSE, killed_by="setattr3-mtime-sets-atime", needs="cansettime")
def test_mtime_keeps_atime(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of mtime does not set atime."""
    file = scratch.file("f", b"data")
    # A server may simulate atime by mtime (section 2.5): then make_old ends the check.
    make_old(nfs3, file, mtime=False, atime=True)
    expect(nfs3.setattr(file, Sattr3(mtime=at_client_time(ANOTHER_TIME)))).ok()
    # atime may change by itself, but not to this.
    expect(scratch.attributes(file).atime).field("seconds", "seconds of atime").differs_from(
        ANOTHER_TIME.seconds
    )


@proves(SETATTR_SETS_NOTHING_ELSE, killed_by="setattr3-atime-sets-mtime", needs="cansettime")
def test_atime_only(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of atime changes no other attribute."""
    file = scratch.file("f", b"data")
    make_old(nfs3, file)
    known = scratch.attributes(file)
    expect(nfs3.setattr(file, Sattr3(atime=at_client_time(ANOTHER_TIME)))).ok()
    expect_unchanged(known, scratch.attributes(file), all_fields_except())


# ---------------------------------------------------------------- no attributes and several


@proves(SETATTR_SETS_NOTHING_ELSE, killed_by="setattr3-of-nothing-resets-the-mode")
def test_nothing_to_set(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR that sets no attribute changes none."""
    for handle in (scratch.file("f", b"data", mode=0o640), scratch.directory("d", mode=0o750)):
        known = scratch.attributes(handle)
        reply = nfs3.setattr(handle, Sattr3())
        observe("SETATTR of no attribute", reply.status)
        seen = scratch.attributes(handle)
        observe("SETATTR of no attribute updates ctime", show(seen.ctime != known.ctime))
        expect_unchanged(known, seen, all_fields_except())


@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-sets-only-the-first-field")
def test_several_at_once(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR sets several attributes in one call."""
    file = scratch.file("f", b"some data", mode=0o600)
    expect_change(nfs3.setattr(file, Sattr3(mode=0o640, size=4, atime=SERVER_TIME)))
    seen = scratch.attributes(file)
    expect(seen.mode & PROTECTION, "mode", of=seen, field="mode").equals(0o640)
    expect(seen).field("size").equals(4)


# ---------------------------------------------------------------- guard

ENOUGH_CHANGES = 100
"""SETATTRs after which ctime should have moved, unless the clock is coarse or ctime a copy of mtime."""


def _older_ctime(nfs3: Nfs3, scratch: Nfs3Scratch, file: bytes) -> Nfstime3:
    """A ctime that the file had before its last change: in the same second as the present one, if possible."""
    ctimes = [scratch.attributes(file).ctime]
    for change in range(ENOUGH_CHANGES):
        need_settable(nfs3, file, Sattr3(mode=0o640 if change % 2 else 0o600))
        ctimes.append(scratch.attributes(file).ctime)
        if ctimes[-2] != ctimes[-1] and ctimes[-2].seconds == ctimes[-1].seconds:
            return ctimes[-2]
    older = [ctime for ctime in ctimes if ctime != ctimes[-1]]
    if not older:
        skip(f"ctime does not move in {ENOUGH_CHANGES} changes of the mode; the clock may be too coarse")
    return older[-1]


@proves(GUARD_IS_COMPARED_TO_CTIME, killed_by="setattr3-refuses-a-matching-guard")
def test_matching_guard(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR with a matching guard succeeds."""
    file = scratch.file("f", b"data")
    reply = nfs3.setattr(file, Sattr3(size=2), guard=scratch.attributes(file).ctime)
    expect_change(reply)
    expect(scratch.attributes(file), because=SETATTR_SETS_ATTRIBUTES).field("size").equals(2)


@proves(GUARD_MISMATCH_RETURNS_NOT_SYNC, killed_by="setattr3-wrong-guard-is-inval")
def test_wrong_guard_not_sync(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR with a wrong guard fails with NOT_SYNC."""
    for handle in (scratch.file("f", b"data"), scratch.directory("d")):
        need_settable(nfs3, handle, Sattr3(mode=0o700))
        reply = nfs3.setattr(handle, Sattr3(mode=0o700), guard=wrong_guard(scratch.attributes(handle)))
        expect(reply).status(Nfsstat3.NFS3ERR_NOT_SYNC)


@proves(GUARD_MISMATCH_PRESERVES, killed_by="setattr3-ignores-guard")
def test_wrong_guard_attributes(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR with a wrong guard changes no attribute."""
    file = scratch.file("f", b"data", mode=0o600)
    known = scratch.attributes(file)
    asked = Sattr3(mode=0o777, size=2, atime=SERVER_TIME, mtime=SERVER_TIME)
    observe("SETATTR with a wrong guard", nfs3.setattr(file, asked, guard=wrong_guard(known)).status)
    expect_unchanged(known, scratch.attributes(file), EVERYTHING)


@proves(GUARD_MISMATCH_PRESERVES, killed_by="setattr3-truncates-before-the-guard")
def test_wrong_guard_data(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR of size with a wrong guard does not change the data."""
    file = scratch.file("f", b"some data")
    guard = wrong_guard(scratch.attributes(file))
    observe("SETATTR with a wrong guard", nfs3.setattr(file, Sattr3(size=0), guard=guard).status)
    expect_data(scratch.read(file), b"some data")


@proves(GUARD_IS_COMPARED_TO_CTIME, killed_by="setattr3-guard-compares-mtime", needs="cansettime")
def test_guard_is_ctime(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR compares the guard to ctime, not to mtime."""
    file = scratch.file("f", b"data", mode=0o600)
    make_old(nfs3, file)
    known = scratch.attributes(file)
    if known.ctime == LONG_AGO:
        unsupported("the server returns mtime as ctime: SETATTR of mtime changed both")
    observe("SETATTR with mtime as the guard", nfs3.setattr(file, Sattr3(mode=0o751), guard=LONG_AGO).status)
    expect(scratch.attributes(file)).field("mode").equals(known.mode)


@proves(GUARD_MISMATCH_RETURNS_NOT_SYNC, killed_by="setattr3-guard-compares-seconds-only")
def test_older_ctime_guard(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR guarded by an earlier ctime of the object fails with NOT_SYNC."""
    file = scratch.file("f", b"data", mode=0o600)
    reply = nfs3.setattr(file, Sattr3(mode=0o755), guard=_older_ctime(nfs3, scratch, file))
    expect(reply).status(Nfsstat3.NFS3ERR_NOT_SYNC)


@proves(NO_GUARD_NO_COMPARISON, killed_by="setattr3-no-guard-is-not-sync")
def test_no_guard(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """SETATTR without a guard never fails with NOT_SYNC."""
    file = scratch.file("f", b"data", mode=0o600)
    for mode in (0o640, 0o644, 0o600):
        reply = nfs3.setattr(file, Sattr3(mode=mode))
        expect(reply).field("status", "status of SETATTR").differs_from(Nfsstat3.NFS3ERR_NOT_SYNC)


# ---------------------------------------------------------------- wcc_data


@proves(SETATTR_RETURNS_WCC, killed_by="setattr3-after-is-before")
def test_wcc_after_several(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """wcc_data.after of a SETATTR of mode and size has the new attributes."""
    file = scratch.file("f", b"some data", mode=0o600)
    reply = nfs3.setattr(file, Sattr3(mode=0o640, size=4))
    expect_change(reply)
    if expect(reply).ok().obj_wcc.after is None:
        unsupported("SETATTR returned no obj_wcc.after, which is optional")
    expect_same_object(reply, "resok.obj_wcc.after", scratch.attributes(file))


@proves(SETATTR_RETURNS_WCC, killed_by="setattr3-refusal-returns-the-requested-mode")
def test_wcc_after_refusal(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:
    """wcc_data.after of a refused SETATTR has the unchanged attributes."""
    file = scratch.file("f", b"some data", mode=0o600)
    reply = nfs3.setattr(file, Sattr3(mode=0o640), guard=wrong_guard(scratch.attributes(file)))
    if reply.resfail is None or reply.resfail.obj_wcc.after is None:
        unsupported("SETATTR returned no obj_wcc.after with an error, which is optional")
    expect_same_object(reply, "resfail.obj_wcc.after", scratch.attributes(file))


# ---------------------------------------------------------------- read-only file systems


@pytest.mark.parametrize("what", ["mode", "size"])
@proves(READ_ONLY_IS_UNCHANGED, killed_by=("setattr3-ignores-read-only", "setattr3-read-only-is-io"))
def test_rofs(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, what: str) -> None:
    """SETATTR on a read-only file system fails with ROFS and changes nothing."""
    file = scratch.file("f", b"data")
    known = scratch.attributes(file)
    knobs.set(read_only=True)
    reply = nfs3.setattr(file, REQUESTS[what])
    expect_unchanged(known, scratch.attributes(file), EVERYTHING)
    expect(reply).refused(Nfsstat3.NFS3ERR_ROFS, *NO_PERMISSION, because=RETURNS_ROFS)


# ---------------------------------------------------------------- root squash


@pytest.mark.parametrize("what", ["mode", "size"])
@proves(SQUASHED_ROOT_IS_NOBODY, killed_by="setattr3-lets-a-squashed-root-change", needs="root")
def test_root_squash(nfs3: Nfs3, scratch: Nfs3Scratch, knobs: KnobsView, what: str) -> None:
    """Squashed root cannot change the attributes of another user's file."""
    file = with_mode(nfs3, scratch.file("f", b"data"), 0o644)
    known = scratch.attributes(file)
    knobs.set(root_squash=True)
    reply = nfs3.setattr(file, REQUESTS[what])
    expect_unchanged(known, scratch.attributes(file), EVERYTHING)
    expect(reply).refused(*NO_PERMISSION, because=SQUASHED_ROOT_IS_NOBODY)
