# SPDX-License-Identifier: MIT
"""SETATTR (RFC 1813 section 3.3.2): mode, owner and times; the guard; attributes before and after.

Sizes are in `test_setattr_size`.
"""

from __future__ import annotations

from collections.abc import Callable

from fixtures.scratch import Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import SERVER_TIME, Fattr3, Nfsstat3, Nfstime3, Sattr3
from nfsjudge import Level, Requirement, expect, observe, proves, skip, unsupported
from suites.nfs3.agreement import expect_before, expect_same_object
from suites.nfs3.preserved import (
    EVERYTHING,
    LONG_AGO,
    PROTECTION,
    at_client_time,
    but,
    expect_change,
    expect_preserved,
    make_old,
    need_settable,
)
from suites.nfs3.times import expect_time

SETS = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="the attributes that a successful SETATTR was asked to set have the new values afterwards",
)
ONLY_WHAT_IS_ASKED = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="new_attributes says which attributes to set: the others stay as they are",
)
GUARD_COMPARED = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="with a guard, the server compares obj_ctime to the current ctime of the object",
    level=Level.MUST,
)
GUARD_PRESERVES = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="when the guard is not the object's ctime, its attributes are preserved",
    level=Level.MUST,
)
GUARD_STATUS = Requirement(
    rfc="RFC 1813",
    section="3.3.2",
    gist="when the guard is not the object's ctime, the status is NFS3ERR_NOT_SYNC",
    level=Level.MUST,
)
NO_GUARD = Requirement(
    rfc="RFC 1813", section="3.3.2", gist="when guard.check is FALSE, the ctime is not compared to anything"
)
TIMES_ARE_KEPT = Requirement(
    rfc="RFC 1813",
    section="3.3.19",
    gist="with FSF_CANSETTIME, SETATTR sets a time as requested, to the accuracy of time_delta",
)
SERVERS_TIME = Requirement(
    rfc="RFC 1813", section="2.5", gist="SET_TO_SERVER_TIME sets a time to the server's local time"
)
ALL_TIMES_ARE_KEPT = Requirement(
    rfc="RFC 1813",
    section="2.5",
    gist="nfstime3 has unsigned seconds: a time after 2038 should be kept as exactly as others, or refused",
    level=Level.SHOULD,
)
OWNERS_ONLY = Requirement(
    rfc="RFC 1813",
    section="4.4",
    gist="a server is expected to check permission as its operating system does: the mode is its owner's to change",
    level=Level.SHOULD,
)
WCC = Requirement(
    rfc="RFC 1813", section="3.3.2", gist="obj_wcc has the old and the new attributes of the object"
)

STRANGER = (4242, 4242)
ANOTHER_TIME = Nfstime3(1_100_000_000)
AFTER_2038 = Nfstime3(3_000_000_000)
A_DAY = 86_400
BEYOND_16_BITS = 70_000


# ---------------------------------------------------------------- mode


@proves(SETS, killed_by="setattr3-applies-a-umask")
def test_sets_the_mode_of_a_file(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", mode=0o600)
    for mode in (0o626, 0o751, 0o400):
        expect_change(nfs3.setattr(file, Sattr3(mode=mode)))
        expect(oct(scratch.attributes(file).mode & PROTECTION), "mode").equals(oct(mode))


@proves(SETS, killed_by="setattr3-ignores-mode-of-directories")
def test_sets_the_mode_of_a_directory(nfs3: Nfs3, scratch: Scratch) -> None:
    directory = scratch.directory("d", mode=0o700)
    expect_change(nfs3.setattr(directory, Sattr3(mode=0o751)))
    # Directories may have inherited the set-group-id bit, and keep it.
    expect(oct(scratch.attributes(directory).mode & 0o777), "permission bits of mode").equals(oct(0o751))


@proves(ONLY_WHAT_IS_ASKED, killed_by="setattr3-mode-moves-mtime")
def test_mode_leaves_all_else_alone(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data", mode=0o600)
    known = scratch.attributes(file)
    expect_change(nfs3.setattr(file, Sattr3(mode=0o640)))
    expect_preserved(scratch.attributes(file), known, but("mode"))
    expect(scratch.read(file), "the data").equals(b"data")


@proves(OWNERS_ONLY, killed_by="setattr3-anybody-changes-the-mode", needs=("other_users", "distinct_users"))
def test_mode_of_anothers_file_stays(nfs3_as: Callable[..., Nfs3], scratch: Scratch) -> None:
    file = scratch.file("f", mode=0o644)
    known = scratch.attributes(file)
    if known.uid == STRANGER[0]:
        skip("the user of the run and the other one are the same to the server")
    reply = nfs3_as(*STRANGER).setattr(file, Sattr3(mode=0o751))
    observe("SETATTR of the mode by another user", reply.status)
    expect(oct(scratch.attributes(file).mode), "mode").equals(oct(known.mode))


# ---------------------------------------------------------------- owner and group


@proves(SETS, killed_by="setattr3-ignores-uid")
def test_sets_the_owner(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f")
    known = scratch.attributes(file)
    expect_change(nfs3.setattr(file, Sattr3(uid=known.uid ^ 17)))
    seen = scratch.attributes(file)
    expect(seen.uid, "uid").equals(known.uid ^ 17)
    expect(seen.gid, "gid", because=ONLY_WHAT_IS_ASKED).equals(known.gid)


@proves(SETS, killed_by="setattr3-ignores-gid")
def test_sets_the_group(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f")
    known = scratch.attributes(file)
    expect_change(nfs3.setattr(file, Sattr3(gid=known.gid ^ 17)))
    seen = scratch.attributes(file)
    expect(seen.gid, "gid").equals(known.gid ^ 17)
    expect(seen.uid, "uid", because=ONLY_WHAT_IS_ASKED).equals(known.uid)


@proves(SETS, killed_by="setattr3-truncates-ids")
def test_ids_beyond_16_bits_are_kept_or_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f")
    expect_change(nfs3.setattr(file, Sattr3(uid=BEYOND_16_BITS, gid=BEYOND_16_BITS + 1)))
    seen = scratch.attributes(file)
    expect(seen.uid, "uid").equals(BEYOND_16_BITS)
    expect(seen.gid, "gid").equals(BEYOND_16_BITS + 1)


# ---------------------------------------------------------------- times


@proves(TIMES_ARE_KEPT, killed_by="setattr3-ignores-the-clients-mtime", needs="cansettime")
def test_sets_mtime_to_the_clients_time(nfs3: Nfs3, root: bytes, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    asked = Nfstime3(1_000_000_000, 123_456_789)
    expect(nfs3.setattr(file, Sattr3(mtime=at_client_time(asked)))).ok()
    expect_time(nfs3, root, "mtime", scratch.attributes(file).mtime, asked)


@proves(TIMES_ARE_KEPT, killed_by="setattr3-ignores-the-clients-atime", needs="cansettime")
def test_sets_atime_to_the_clients_time(nfs3: Nfs3, root: bytes, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    asked = Nfstime3(1_000_000_000, 123_456_789)
    expect(nfs3.setattr(file, Sattr3(atime=at_client_time(asked)))).ok()
    expect_time(nfs3, root, "atime", scratch.attributes(file).atime, asked)


@proves(ALL_TIMES_ARE_KEPT, killed_by="setattr3-times-end-in-2038", needs="cansettime")
def test_times_after_2038_are_kept_or_refused(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f")
    expect_change(nfs3.setattr(file, Sattr3(mtime=at_client_time(AFTER_2038))))
    expect(scratch.attributes(file).mtime.seconds, "seconds of mtime").equals(AFTER_2038.seconds)


def _expect_now(scratch: Scratch, what: str, seen: Nfstime3) -> None:
    """A time is the server's, as a file that was made right now has it, to a day."""
    __tracebackhide__ = True
    now = scratch.attributes(scratch.file("made now")).mtime.seconds
    expect(seen.seconds, f"seconds of {what}").between(now - A_DAY, now + A_DAY)


@proves(SERVERS_TIME, killed_by="setattr3-ignores-the-servers-mtime", needs="cansettime")
def test_sets_mtime_to_the_servers_time(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f")
    make_old(nfs3, file)
    expect(nfs3.setattr(file, Sattr3(mtime=SERVER_TIME))).ok()
    _expect_now(scratch, "mtime", scratch.attributes(file).mtime)


@proves(SERVERS_TIME, killed_by="setattr3-ignores-the-servers-atime", needs="cansettime")
def test_sets_atime_to_the_servers_time(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f")
    make_old(nfs3, file, mtime=False, atime=True)
    expect(nfs3.setattr(file, Sattr3(atime=SERVER_TIME))).ok()
    _expect_now(scratch, "atime", scratch.attributes(file).atime)


@proves(ONLY_WHAT_IS_ASKED, killed_by="setattr3-mtime-sets-atime", needs="cansettime")
def test_mtime_leaves_atime_alone(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    # A server may simulate atime by mtime (section 2.5): there it cannot be set apart.
    make_old(nfs3, file, mtime=False, atime=True)
    expect(nfs3.setattr(file, Sattr3(mtime=at_client_time(ANOTHER_TIME)))).ok()
    # atime may drift by itself, but not to this.
    expect(scratch.attributes(file).atime.seconds, "seconds of atime").differs_from(ANOTHER_TIME.seconds)


@proves(ONLY_WHAT_IS_ASKED, killed_by="setattr3-atime-sets-mtime", needs="cansettime")
def test_atime_leaves_all_else_alone(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    make_old(nfs3, file)
    known = scratch.attributes(file)
    expect(nfs3.setattr(file, Sattr3(atime=at_client_time(ANOTHER_TIME)))).ok()
    expect_preserved(scratch.attributes(file), known, but())


# ---------------------------------------------------------------- nothing, and several


@proves(ONLY_WHAT_IS_ASKED, killed_by="setattr3-nothing-resets-the-mode")
def test_nothing_asked_changes_nothing(nfs3: Nfs3, scratch: Scratch) -> None:
    for handle in (scratch.file("f", b"data", mode=0o640), scratch.directory("d", mode=0o750)):
        known = scratch.attributes(handle)
        reply = nfs3.setattr(handle, Sattr3())
        observe("SETATTR of nothing", reply.status)
        seen = scratch.attributes(handle)
        observe("SETATTR of nothing moves ctime", seen.ctime != known.ctime)
        expect_preserved(seen, known, but())


@proves(SETS, killed_by="setattr3-takes-the-first-only")
def test_sets_several_attributes_at_once(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"some data", mode=0o600)
    expect_change(nfs3.setattr(file, Sattr3(mode=0o640, size=4, atime=SERVER_TIME)))
    seen = scratch.attributes(file)
    expect(oct(seen.mode & PROTECTION), "mode").equals(oct(0o640))
    expect(seen.size, "size").equals(4)


# ---------------------------------------------------------------- guard


def _wrong(known: Fattr3) -> Nfstime3:
    """A ctime that the object does not have, by three days (one bit)."""
    return Nfstime3(known.ctime.seconds ^ 1 << 18, known.ctime.nseconds)


@proves(GUARD_COMPARED, killed_by="setattr3-refuses-a-matching-guard")
def test_matching_guard_lets_the_change_through(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data")
    reply = nfs3.setattr(file, Sattr3(size=2), guard=scratch.attributes(file).ctime)
    expect_change(reply)
    expect(scratch.attributes(file).size, "size", because=SETS).equals(2)


@proves(GUARD_STATUS, killed_by="setattr3-wrong-guard-is-inval")
def test_wrong_guard_is_answered_with_not_sync(nfs3: Nfs3, scratch: Scratch) -> None:
    for handle in (scratch.file("f", b"data"), scratch.directory("d")):
        need_settable(nfs3, handle, Sattr3(mode=0o700))
        reply = nfs3.setattr(handle, Sattr3(mode=0o700), guard=_wrong(scratch.attributes(handle)))
        expect(reply).status(Nfsstat3.NFS3ERR_NOT_SYNC)


@proves(GUARD_PRESERVES, killed_by="setattr3-ignores-guard")
def test_wrong_guard_preserves_every_attribute(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data", mode=0o600)
    known = scratch.attributes(file)
    asked = Sattr3(mode=0o777, size=2, atime=SERVER_TIME, mtime=SERVER_TIME)
    observe("SETATTR with a wrong guard", nfs3.setattr(file, asked, guard=_wrong(known)).status)
    expect_preserved(scratch.attributes(file), known, EVERYTHING)


@proves(GUARD_PRESERVES, killed_by="setattr3-truncates-before-the-guard")
def test_wrong_guard_preserves_the_data(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"some data")
    guard = _wrong(scratch.attributes(file))
    observe("SETATTR with a wrong guard", nfs3.setattr(file, Sattr3(size=0), guard=guard).status)
    expect(scratch.read(file), "the data").equals(b"some data")


@proves(GUARD_COMPARED, killed_by="setattr3-guards-by-mtime", needs="cansettime")
def test_guard_is_compared_to_ctime_and_not_to_mtime(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data", mode=0o600)
    make_old(nfs3, file)
    known = scratch.attributes(file)
    if known.ctime == LONG_AGO:
        unsupported("ctime is a copy of mtime")
    observe("SETATTR guarded by mtime", nfs3.setattr(file, Sattr3(mode=0o751), guard=LONG_AGO).status)
    expect(oct(scratch.attributes(file).mode), "mode").equals(oct(known.mode))


@proves(NO_GUARD, killed_by="setattr3-guards-unasked")
def test_no_guard_is_no_reason_for_not_sync(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"data", mode=0o600)
    for mode in (0o640, 0o644, 0o600):
        reply = nfs3.setattr(file, Sattr3(mode=mode))
        expect(reply.status, "status").differs_from(Nfsstat3.NFS3ERR_NOT_SYNC)


# ---------------------------------------------------------------- attributes before and after


@proves(WCC, killed_by="setattr3-before-is-after")
def test_wcc_before_is_what_getattr_said(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"some data")
    known = scratch.attributes(file)
    reply = nfs3.setattr(file, Sattr3(size=4))
    expect_change(reply)
    if expect(reply).ok().obj_wcc.before is None:
        unsupported("SETATTR withholds the attributes from before")
    expect_before(reply, "resok.obj_wcc.before", known)


@proves(WCC, killed_by="setattr3-after-is-before")
def test_wcc_after_is_what_getattr_says(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"some data", mode=0o600)
    reply = nfs3.setattr(file, Sattr3(mode=0o640, size=4))
    expect_change(reply)
    if expect(reply).ok().obj_wcc.after is None:
        unsupported("SETATTR withholds the attributes from after")
    expect_same_object(reply, "resok.obj_wcc.after", scratch.attributes(file))


@proves(WCC, killed_by="setattr3-refusal-shows-what-was-asked")
def test_wcc_after_a_refusal_is_what_getattr_says(nfs3: Nfs3, scratch: Scratch) -> None:
    file = scratch.file("f", b"some data", mode=0o600)
    reply = nfs3.setattr(file, Sattr3(mode=0o640), guard=_wrong(scratch.attributes(file)))
    if reply.resfail is None or reply.resfail.obj_wcc.after is None:
        unsupported("SETATTR withholds the attributes after a refusal")
    expect_same_object(reply, "resfail.obj_wcc.after", scratch.attributes(file))
