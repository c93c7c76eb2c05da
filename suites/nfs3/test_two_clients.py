# SPDX-License-Identifier: MIT
"""READ (RFC 1813 section 3.3.6) of a file that another client changes.

The protocol makes no promise about caches of clients. But once a server has answered a change, later READs return it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import (
    ACCESS3_EXTEND,
    ACCESS3_MODIFY,
    ACCESS3_READ,
    Nfsstat3,
    Sattr3,
    StableHow,
)
from nfsjudge import (
    Harm,
    Part,
    expect,
    expect_data,
    expect_unchanged,
    must,
    proves,
    should,
    skip,
)
from nfsjudge.expect import StatusReply
from suites.clauses import FILEID_STAYS, WRITE_KEEPS_OWNER_AND_MODE
from suites.nfs3.attributes import expect_change, with_mode
from suites.nfs3.clauses import READ_RETURNS_CURRENT_DATA
from suites.nfs3.contents import pattern, read_range, stored, write_all
from suites.nfs3.permissions import STRANGER, access_of
from suites.nfs3.statuses import NO_PERMISSION

ACCESS_IS_CURRENT = should(  # what ACCESS says may be out of date as soon as it is said
    "RFC 1813", "3.3.4", "ACCESS follows the owner and the mode that the object has now"
)
READ_FOLLOWS_THE_MODE = (
    should(  # a server may know of open files: a local user who has one open keeps it, too
        "RFC 1813",
        "4.4",
        "READ should follow the mode that the file has now, though the user was granted it before",
        part=Part.IMPLEMENTATION,
    )
)
WRITE_FOLLOWS_THE_MODE = should(
    "RFC 1813",
    "4.4",
    "WRITE should follow the mode that the file has now, though the user was granted it before",
    part=Part.IMPLEMENTATION,
)
READ_IS_CHECKED_EACH_TIME = must(
    "RFC 1813",
    "4.4",
    "a server must check permission on each READ: what another user was granted does not stand for it",
    part=Part.IMPLEMENTATION,
    says_must=True,
    harm=Harm.SECRET,
)
WRITE_IS_CHECKED_EACH_TIME = must(
    "RFC 1813",
    "4.4",
    "a server must check permission on each WRITE: what another user was granted does not stand for it",
    part=Part.IMPLEMENTATION,
    says_must=True,
    harm=Harm.OBJECT,
)
SIZE: t.Final = 6000
ACCESS: t.Final = ACCESS3_READ | ACCESS3_MODIFY | ACCESS3_EXTEND
Change: t.TypeAlias = Callable[[Nfs3, Nfs3Scratch, bytes], bytes]


def _writes(stable: StableHow) -> Change:
    def act(other: Nfs3, _scratch: Nfs3Scratch, file: bytes) -> bytes:
        write_all(other, file, 1000, pattern(3000, salt=1), stable)
        return pattern(SIZE)[:1000] + pattern(3000, salt=1) + pattern(SIZE)[4000:]

    return act


def _sets_size(size: int) -> Change:
    def act(other: Nfs3, _scratch: Nfs3Scratch, file: bytes) -> bytes:
        reply = other.setattr(file, Sattr3(size=size))
        if reply.status != Nfsstat3.NFS3_OK:
            skip(f"cannot set the size: SETATTR answers {reply.status}", reply)
        return pattern(SIZE)[:size].ljust(size, b"\0")

    return act


def _appends(other: Nfs3, _scratch: Nfs3Scratch, file: bytes) -> bytes:
    write_all(other, file, SIZE, pattern(500, salt=1))
    return pattern(SIZE) + pattern(500, salt=1)


CHANGES: t.Final[dict[str, Change]] = {
    # UNSTABLE data has a separate check: nfs3/WRITE/unstable-data-visible.
    **{
        f"write-{stable.name.lower()}": _writes(stable)
        for stable in (StableHow.DATA_SYNC, StableHow.FILE_SYNC)
    },
    "append": _appends,
    "truncate": _sets_size(1234),
    "extend": _sets_size(9000),
}
"""What another client does to a file of `SIZE` bytes; each returns the content of the file afterwards."""


@pytest.mark.parametrize("change", CHANGES)
@proves(READ_RETURNS_CURRENT_DATA, killed_by="read3-caches-data-by-connection")
def test_read_current(nfs3: Nfs3, second_client: Nfs3, scratch: Nfs3Scratch, change: str) -> None:
    """READ returns what another client has changed before."""
    file = stored(scratch, "f", pattern(SIZE))
    read_range(nfs3, file, 0, SIZE)
    wanted = CHANGES[change](second_client, scratch, file)
    seen = read_range(nfs3, file, 0, 2 * SIZE)
    known = len(wanted.rstrip(b"\0"))  # another check proves that an extension reads as zeros
    expect_data(seen[:known], wanted[:known], of="range")
    expect(len(seen), "number of bytes that READ returns").equals(len(wanted))


def _known_access(nfs3: Nfs3, stranger: Nfs3, scratch: Nfs3Scratch) -> dict[int, int]:
    """What ACCESS grants another user on new files, by mode. SKIP if that does not depend on the mode."""
    known = {
        mode: access_of(stranger, with_mode(nfs3, scratch.file(f"f{mode:o}"), mode), ACCESS)
        for mode in (0o600, 0o644)
    }
    if known[0o600] == known[0o644]:
        skip("ACCESS does not follow the mode: another check judges that")
    return known


@proves(
    ACCESS_IS_CURRENT,
    killed_by="access3-remembers-what-it-granted",
    needs=("other_users", "distinct_users"),
)
def test_access_after_mode(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS of another user follows a mode that the owner has set since, as for a new file."""
    stranger, file = as_user(*STRANGER), scratch.file("file")
    known = _known_access(nfs3, stranger, scratch)
    for mode in (0o644, 0o600, 0o644):
        granted = access_of(stranger, with_mode(nfs3, file, mode), ACCESS)
        what = f"access of another user after the mode was set to {mode:04o}"
        expect(granted, what, field="access").equals(known[mode])


@proves(
    ACCESS_IS_CURRENT,
    killed_by="access3-remembers-what-it-granted",
    needs=("root", "other_users", "distinct_users"),
)
def test_access_after_owner(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """ACCESS of a user follows the owner that the file has got since, as for a new file."""
    stranger, uid = as_user(*STRANGER), STRANGER[0]
    before, new, file = (with_mode(nfs3, scratch.file(name), 0o600) for name in ("before", "new", "file"))
    expect_change(nfs3.setattr(new, Sattr3(uid=uid)))
    known = [access_of(stranger, handle, ACCESS) for handle in (before, new)]
    if known[0] == known[1]:
        skip("ACCESS does not follow the owner: another check judges that")
    for owner, wanted in ((0, known[0]), (uid, known[1]), (0, known[0])):
        expect_change(nfs3.setattr(file, Sattr3(uid=owner)))
        what = f"access of user {uid} after the file was given to user {owner}"
        expect(access_of(stranger, file, ACCESS), what, field="access").equals(wanted)


# ---------------------------------------------------------------- data of another user

_Use: t.TypeAlias = Callable[[Nfs3, bytes], StatusReply]


def _reads(nfs3: Nfs3, file: bytes) -> StatusReply:
    return nfs3.read(file, 0, 4)


def _writes_data(nfs3: Nfs3, file: bytes) -> StatusReply:
    return nfs3.write(file, 0, b"data")


def _need_denied(nfs3: Nfs3, stranger: Nfs3, new: bytes, use: _Use) -> None:
    """SKIP unless the mode of a file that nobody has used so decides whether another user may."""
    reply = use(stranger, with_mode(nfs3, new, 0o600))
    if reply.status == Nfsstat3.NFS3_OK:
        skip("the mode 0600 keeps no other user from the data: another check judges that")
    if reply.status not in NO_PERMISSION:
        skip(
            f"whether the mode 0600 keeps other users out is not known: the call answers {reply.status}",
            reply,
        )


def _after_mode(nfs3: Nfs3, stranger: Nfs3, file: bytes, use: _Use) -> StatusReply:
    """What a user is answered whom a file has admitted before its mode was set to 0600. SKIP if it admits nobody."""
    first = use(stranger, with_mode(nfs3, file, 0o666))
    if first.status != Nfsstat3.NFS3_OK:
        skip(f"another user may not use a file of mode 0666: the call answers {first.status}")
    return use(stranger, with_mode(nfs3, file, 0o600))


@proves(
    READ_FOLLOWS_THE_MODE,
    killed_by="data3-remembers-who-was-granted",
    needs=("other_users", "distinct_users"),
)
def test_read_after_mode(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """READ is refused to another user whom the owner has excluded since it was granted."""
    stranger = as_user(*STRANGER)
    _need_denied(nfs3, stranger, scratch.file("new", b"data"), _reads)
    expect(_after_mode(nfs3, stranger, scratch.file("file", b"data"), _reads)).refused()


@proves(
    WRITE_FOLLOWS_THE_MODE,
    killed_by="data3-remembers-who-was-granted",
    needs=("other_users", "distinct_users"),
)
def test_write_after_mode(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """WRITE is refused to another user whom the owner has excluded since it was granted."""
    stranger = as_user(*STRANGER)
    _need_denied(nfs3, stranger, scratch.file("new"), _writes_data)
    expect(_after_mode(nfs3, stranger, scratch.file("file"), _writes_data)).refused()


@proves(
    READ_IS_CHECKED_EACH_TIME,
    killed_by="data3-grants-all-what-one-was-granted",
    needs=("other_users", "distinct_users"),
)
def test_read_after_owner(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """READ of a file of mode 0600 is refused to another user after its owner has read it."""
    stranger = as_user(*STRANGER)
    _need_denied(nfs3, stranger, scratch.file("new", b"data"), _reads)
    file = with_mode(nfs3, scratch.file("file", b"data"), 0o600)
    expect(nfs3.read(file, 0, 4)).ok()
    expect(stranger.read(file, 0, 4)).refused()


@proves(
    WRITE_IS_CHECKED_EACH_TIME,
    killed_by="data3-grants-all-what-one-was-granted",
    needs=("other_users", "distinct_users"),
)
def test_write_after_owner(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch) -> None:
    """WRITE to a file of mode 0600 is refused to another user after its owner has written to it."""
    stranger = as_user(*STRANGER)
    _need_denied(nfs3, stranger, scratch.file("new"), _writes_data)
    file = with_mode(nfs3, scratch.file("file"), 0o600)
    expect(nfs3.write(file, 0, b"mine")).ok()
    expect(stranger.write(file, 0, b"data")).refused()


@pytest.mark.parametrize("count", [4, 20], ids=["part", "whole"])
@proves(WRITE_KEEPS_OWNER_AND_MODE, FILEID_STAYS, killed_by="write3-gives-the-file-away", needs="other_users")
def test_foreign_write(nfs3: Nfs3, as_user: Callable[..., Nfs3], scratch: Nfs3Scratch, count: int) -> None:
    """WRITE by another user keeps the owner, the group, the mode and the fileid of a file."""
    file = with_mode(nfs3, scratch.file("file", b"0123456789"), 0o666)
    before = scratch.attributes(file)
    expect(as_user(*STRANGER).write(file, 0, pattern(count))).ok()
    after = scratch.attributes(file)
    expect_unchanged(before, after, ("uid", "gid", "mode"))
    expect_unchanged(before, after, ("fileid",), because=FILEID_STAYS)
