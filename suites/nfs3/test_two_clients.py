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
from nfsjudge import Level, Requirement, expect, expect_data, proves, skip
from suites.nfs3.attributes import expect_change, with_mode
from suites.nfs3.clauses import READ_RETURNS_CURRENT_DATA
from suites.nfs3.contents import pattern, read_range, stored, write_all
from suites.nfs3.permissions import STRANGER, access_of

ACCESS_IS_CURRENT = Requirement(
    rfc="RFC 1813",
    section="3.3.4",
    level=Level.SHOULD,  # what ACCESS says may be out of date as soon as it is said
    gist="ACCESS follows the owner and the mode that the object has now",
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
        expect(granted, what).equals(known[mode])


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
    known = [access_of(stranger, one, ACCESS) for one in (before, new)]
    if known[0] == known[1]:
        skip("ACCESS does not follow the owner: another check judges that")
    for owner, wanted in ((0, known[0]), (uid, known[1]), (0, known[0])):
        expect_change(nfs3.setattr(file, Sattr3(uid=owner)))
        what = f"access of user {uid} after the file was given to user {owner}"
        expect(access_of(stranger, file, ACCESS), what).equals(wanted)
