# SPDX-License-Identifier: MIT
"""SETATTR (RFC 1813 section 3.3.2) of every type of object, and by other users."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import SERVER_TIME, Nfsstat3, Nfstime3, Sattr3
from nfsjudge import (
    Harm,
    expect,
    expect_attributes,
    expect_unchanged,
    must,
    observe,
    proves,
)
from suites.nfs3.attributes import (
    EVERYTHING,
    PROTECTION,
    all_fields_except,
    expect_change,
    need_settable,
    with_mode,
)
from suites.nfs3.clauses import (
    DENIES_WITHOUT_PERMISSION,
    GRANTS_WITH_PERMISSION,
    SETATTR_SETS_ATTRIBUTES,
    SETATTR_SETS_NOTHING_ELSE,
    SETATTR_SIZE_IS_OF_FILES,
)
from suites.nfs3.file_types import HAS_NO_DATA, KINDS, SPECIAL, make
from suites.nfs3.permissions import STRANGER, expect_denied
from suites.nfs3.times import A_TIME, LONG_AGO, ROUGHLY, at_client_time, expect_time, wrong_guard

GUARD_MISMATCH_FAILS = must(
    "RFC 1813",
    "3.3.2",
    "if the guard differs from the ctime of the object, SETATTR changes nothing and fails with NFS3ERR_NOT_SYNC",
    harm=Harm.SUCCESS,
)
REQUESTS = {
    "uid": Sattr3(uid=STRANGER[0]),
    "gid": Sattr3(gid=STRANGER[1]),
    "atime": Sattr3(atime=at_client_time(LONG_AGO)),
    "mtime": Sattr3(mtime=at_client_time(LONG_AGO)),
    "mtime_of_the_server": Sattr3(mtime=SERVER_TIME),
}
FIELDS = {"uid": "uid", "gid": "gid", "atime": "atime", "mtime": "mtime", "mtime_of_the_server": "mtime"}


# ---------------------------------------------------------------- other users


@pytest.mark.parametrize("what", REQUESTS, ids=["uid", "gid", "atime", "mtime", "mtime-now"])
@proves(
    DENIES_WITHOUT_PERMISSION, killed_by="setattr3-denies-nobody", needs=("other_users", "distinct_users")
)
def test_other_user(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch, what: str) -> None:
    """Another user cannot change the owner, group or times of a file of mode 0644."""
    file = with_mode(nfs3, scratch.file("f", b"data"), 0o644)
    if what == "mtime_of_the_server":
        nfs3.setattr(file, Sattr3(mtime=at_client_time(LONG_AGO)))  # so that a change shows
    known = scratch.attributes(file)
    reply = as_user(*STRANGER).setattr(file, REQUESTS[what])
    expect_unchanged(known, scratch.attributes(file), (FIELDS[what],))
    expect_denied(reply, f"SETATTR of {what.replace('_', ' ')} by another user")


@proves(
    GRANTS_WITH_PERMISSION,
    killed_by="setattr3-only-owners-set-server-time",
    needs=("other_users", "cansettime"),
)
def test_writer_sets_server_time(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """A user who may write to a file can set its times to the server's time."""
    file = with_mode(nfs3, scratch.file("f", b"data"), 0o666)
    expect(as_user(*STRANGER).setattr(file, Sattr3(atime=SERVER_TIME, mtime=SERVER_TIME))).granted()


# ---------------------------------------------------------------- objects of other types


@pytest.mark.parametrize("kind", SPECIAL)
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-ignores-non-files")
def test_mode_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """SETATTR sets the mode of a special file."""
    handle = make(nfs3, scratch, kind)
    for mode in (0o600, 0o751):
        expect_change(nfs3.setattr(handle, Sattr3(mode=mode)))
        expect(scratch.attributes(handle).mode & PROTECTION, "mode", field="mode").equals(mode)


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-ignores-non-files")
def test_owner_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """SETATTR sets owner and group of a directory or special file."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    expect_change(nfs3.setattr(handle, Sattr3(uid=known.uid ^ 17, gid=known.gid ^ 18)))
    expect_attributes(scratch.attributes(handle), uid=known.uid ^ 17, gid=known.gid ^ 18)


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-ignores-non-files", needs="cansettime")
def test_times_any_type(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, kind: str) -> None:
    """SETATTR sets atime and mtime of a directory or special file."""
    handle = make(nfs3, scratch, kind)
    time = at_client_time(A_TIME)
    expect_change(nfs3.setattr(handle, Sattr3(atime=time, mtime=time)))
    seen = scratch.attributes(handle)
    for name, value in (("mtime", seen.mtime), ("atime", seen.atime)):
        expect_time(nfs3, root, name, value, A_TIME, tolerance=ROUGHLY)


@pytest.mark.parametrize("kind", ["directory", *SPECIAL])
@proves(SETATTR_SETS_NOTHING_ELSE, killed_by="setattr3-mode-changes-mtime-by-seconds")
def test_only_mode_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """SETATTR of the mode does not change other attributes of a directory or special file."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    expect_change(nfs3.setattr(handle, Sattr3(mode=0o710)))
    expect_unchanged(known, scratch.attributes(handle), all_fields_except("mode"))


@pytest.mark.parametrize("kind", [kind for kind in HAS_NO_DATA if kind != "fifo"])
@proves(SETATTR_SIZE_IS_OF_FILES, killed_by="setattr3-accepts-sizes-of-special-files")
def test_size_without_data(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """SETATTR refuses a size for an object without data."""
    handle = make(nfs3, scratch, kind)
    known = scratch.attributes(handle)
    reply = nfs3.setattr(handle, Sattr3(size=100))
    observe(f"SETATTR of the size of an object of type {KINDS[kind].name}", reply.status)
    expect_unchanged(known, scratch.attributes(handle), ("type", "mode", "nlink", "uid", "gid", "size"))
    expect(reply).refused()


@pytest.mark.parametrize("kind", HAS_NO_DATA)
@proves(GUARD_MISMATCH_FAILS, killed_by="setattr3-ignores-guard-of-special-files")
def test_wrong_guard_any_type(nfs3: Nfs3, scratch: Nfs3Scratch, kind: str) -> None:
    """SETATTR with a wrong guard changes nothing and returns NFS3ERR_NOT_SYNC."""
    handle = make(nfs3, scratch, kind)
    # The mode of a symbolic link has no meaning: a server may find nothing to set and ignore the guard.
    before, asked = Sattr3(mode=0o700), Sattr3(mode=0o711)
    if kind == "symlink":
        before = Sattr3(mtime=at_client_time(A_TIME))
        asked = Sattr3(mtime=at_client_time(Nfstime3(A_TIME.seconds + 1000)))
    need_settable(nfs3, handle, before)
    known = scratch.attributes(handle)
    reply = nfs3.setattr(handle, asked, guard=wrong_guard(known))
    expect_unchanged(known, scratch.attributes(handle), EVERYTHING)
    expect(reply).status(Nfsstat3.NFS3ERR_NOT_SYNC)
