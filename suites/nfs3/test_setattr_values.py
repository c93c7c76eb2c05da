# SPDX-License-Identifier: MIT
"""SETATTR (RFC 1813 section 3.3.2): extreme modes, owners, sizes and times.

A server may refuse a value that it cannot store. If it answers with success, it has stored the value.
"""

from __future__ import annotations

import pytest

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import DONT_CHANGE_TIME, SERVER_TIME, Nfsstat3, Nfstime3, Sattr3, SetTime
from nfsjudge import expect, expect_data, observe, proves, should, stated
from suites.nfs3.attributes import expect_change
from suites.nfs3.clauses import (
    MODE_HAS_DEFINED_BITS_ONLY,
    NSECONDS_BELOW_ONE_SECOND,
    SETATTR_SETS_ATTRIBUTES,
    SETS_TIMES_TO_TIME_DELTA,
    SIZE_CHANGE_KEEPS_DATA,
    STORES_32_BIT_SECONDS,
)
from suites.nfs3.contents import read_range
from suites.nfs3.limits import need_far
from suites.nfs3.times import (
    A_DAY,
    A_TIME,
    ANOTHER_TIME,
    LONG_AGO,
    ROUGHLY,
    SECOND,
    at_client_time,
    expect_time,
    make_old,
)

SETATTR_SETS_THE_LARGEST_ID = should(  # many systems use the largest number for "do not change"
    "RFC 1813",
    "3.3.2",
    "SETATTR that succeeds has set the owner or group, even to 2^32-1; a server may refuse that number",
)
SETATTR_SETS_LONG_NSECONDS = should(  # no section says what 1,000,000,000 nanoseconds or more are
    "RFC 1813",
    "3.3.2",
    "SETATTR that succeeds has set the time, even if nseconds is a second or more; a server may refuse that",
)
SETATTR_ADDS_NO_MODE_BITS = stated(
    "RFC 1813",
    "3.3.2",
    "SETATTR of mode sets no set-user-id, set-group-id or sticky bit that was not requested",
)
MODES = [0o0, 0o777, 0o111, 0o4755, 0o2755, 0o1755, 0o7777]
IDS = [0, 2**16 - 1, 2**16, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
SIZES = {
    "2g-1": 2**31 - 1,
    "2g": 2**31,
    "4g-1": 2**32 - 1,
    "4g": 2**32,
    "1t": 2**40,
    "int64max": 2**63 - 1,
    "int64max+1": 2**63,
    "uint64max": 2**64 - 1,
}
TIMES = ("atime", "mtime")


def _octal(mode: int) -> str:
    return f"{mode:04o}"


def _times(which: str, time: SetTime) -> Sattr3:
    """Arguments that set one of the two times only."""
    atime, mtime = (time, DONT_CHANGE_TIME) if which == "atime" else (DONT_CHANGE_TIME, time)
    return Sattr3(atime=atime, mtime=mtime)


# ---------------------------------------------------------------- mode


@pytest.mark.parametrize("mode", MODES, ids=_octal)
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-inverts-the-last-mode-bit")
def test_file_mode_values(nfs3: Nfs3, scratch: Nfs3Scratch, mode: int) -> None:
    """SETATTR of any mode of a file sets the permission bits and adds no others."""
    file = scratch.file("f", mode=0o600)
    expect_change(nfs3.setattr(file, Sattr3(mode=mode)))
    seen = scratch.attributes(file)
    observe(f"mode after SETATTR of {mode:04o}", f"{seen.mode:04o}")
    expect(seen.mode & 0o777, "permission bits of mode", of=seen, field="mode").equals(mode & 0o777)
    expect(
        seen.mode & 0o7000 & ~mode,
        "set-id and sticky bits of mode, not requested",
        of=seen,
        field="mode",
        because=SETATTR_ADDS_NO_MODE_BITS,
    ).equals(0)


@pytest.mark.parametrize("mode", MODES, ids=_octal)
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-inverts-the-last-mode-bit")
def test_directory_mode_values(nfs3: Nfs3, scratch: Nfs3Scratch, mode: int) -> None:
    """SETATTR of any mode of a directory sets the permission bits."""
    directory = scratch.directory("d", mode=0o700)
    expect_change(nfs3.setattr(directory, Sattr3(mode=mode)))
    seen = scratch.attributes(directory)
    observe(f"mode after SETATTR of {mode:04o}", f"{seen.mode:04o}")
    # A directory may have inherited the set-group-id bit and keep it.
    expect(seen.mode & 0o777, "permission bits of mode", of=seen, field="mode").equals(mode & 0o777)


@pytest.mark.parametrize("mode", [0o10644, 0o100644, 0xFFFF_F1A4], ids=_octal)
@proves(MODE_HAS_DEFINED_BITS_ONLY, killed_by="setattr3-keeps-undefined-mode-bits")
def test_undefined_mode_bits(nfs3: Nfs3, scratch: Nfs3Scratch, mode: int) -> None:
    """SETATTR does not store undefined bits of the mode."""
    file = scratch.file("f", mode=0o600)
    reply = nfs3.setattr(file, Sattr3(mode=mode))
    observe(f"SETATTR of mode {mode:04o}", reply.status)
    seen = scratch.attributes(file)
    expect(seen.mode & ~0o7777, "undefined bits of mode, above 07777", of=seen, field="mode").equals(0)


# ---------------------------------------------------------------- owner and group


@pytest.mark.parametrize("number", IDS)
@pytest.mark.parametrize("which", ["uid", "gid"])
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-stores-other-ids")
def test_id_values(nfs3: Nfs3, scratch: Nfs3Scratch, which: str, number: int) -> None:
    """SETATTR that succeeds stores an owner or group of any value."""
    file = scratch.file("f")
    # Start from other values, so that a SETATTR that does nothing shows.
    expect_change(nfs3.setattr(file, Sattr3(uid=4242, gid=4343)))
    expect_change(nfs3.setattr(file, Sattr3(uid=number) if which == "uid" else Sattr3(gid=number)))
    because = SETATTR_SETS_THE_LARGEST_ID if number == 2**32 - 1 else None
    expect(scratch.attributes(file), because=because).field(which).equals(number)


# ---------------------------------------------------------------- size


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@proves(SETATTR_SETS_ATTRIBUTES, killed_by="setattr3-limits-size-to-31-bits")
def test_large_size(nfs3: Nfs3, scratch: Nfs3Scratch, size: int) -> None:
    """SETATTR stores a large size, or refuses it, and keeps the data."""
    file = scratch.file("f", b"data")
    with need_far(nfs3, scratch, size, by_setattr=True):
        reply = nfs3.setattr(file, Sattr3(size=size))
    observe(f"SETATTR of size {size}", reply.status)
    if reply.status == Nfsstat3.NFS3_OK:
        expect(scratch.attributes(file)).field("size").equals(size)
    else:
        expect(reply).refused()
    # A SETATTR that fails may have taken effect in part (section 3.3.2), but not on the data.
    expect_data(read_range(nfs3, file, 0, 4), b"data", of="range", because=SIZE_CHANGE_KEEPS_DATA)


@pytest.mark.parametrize("size", [2**31, 2**32, 2**40], ids=["2g", "4g", "1t"])
@proves(SIZE_CHANGE_KEEPS_DATA, killed_by="setattr3-shrinks-large-files-to-nothing")
def test_truncate_large_file(nfs3: Nfs3, scratch: Nfs3Scratch, size: int) -> None:
    """SETATTR that truncates a large file keeps its beginning."""
    file = scratch.file("f", b"data")
    with need_far(nfs3, scratch, size, by_setattr=True):
        grown = nfs3.setattr(file, Sattr3(size=size))
    expect_change(grown)
    expect_change(nfs3.setattr(file, Sattr3(size=3)))
    expect_data(scratch.read(file), b"dat")


# ---------------------------------------------------------------- times


@pytest.mark.parametrize("seconds", [0, 2**31 - 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize("which", TIMES)
@proves(SETS_TIMES_TO_TIME_DELTA, killed_by="setattr3-sets-times-a-minute-late", needs="cansettime")
def test_seconds(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, which: str, seconds: int) -> None:
    """SETATTR sets a time to any number of seconds, or refuses it."""
    file = scratch.file("f", b"data")
    asked = Nfstime3(seconds)
    expect_change(nfs3.setattr(file, _times(which, at_client_time(asked))))
    because = STORES_32_BIT_SECONDS if seconds >= 2**31 or not seconds else None
    expect_time(nfs3, root, which, getattr(scratch.attributes(file), which), asked, because=because)


@pytest.mark.parametrize("nseconds", [0, 1, SECOND - 1])
@pytest.mark.parametrize("which", TIMES)
@proves(SETS_TIMES_TO_TIME_DELTA, killed_by="setattr3-sets-times-a-minute-late", needs="cansettime")
def test_nseconds(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, which: str, nseconds: int) -> None:
    """SETATTR sets the nanoseconds of a time to the accuracy of time_delta."""
    file = scratch.file("f", b"data")
    asked = Nfstime3(A_TIME.seconds, nseconds)
    expect_change(nfs3.setattr(file, _times(which, at_client_time(asked))))
    expect_time(nfs3, root, which, getattr(scratch.attributes(file), which), asked)


@pytest.mark.parametrize("nseconds", [SECOND, 2**32 - 1])
@pytest.mark.parametrize("which", TIMES)
@proves(
    NSECONDS_BELOW_ONE_SECOND,
    SETATTR_SETS_LONG_NSECONDS,
    killed_by=("setattr3-keeps-overfull-nanoseconds", "setattr3-drops-overfull-nanoseconds"),
    needs="cansettime",
)
def test_nseconds_overflow(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, which: str, nseconds: int) -> None:
    """SETATTR of 1,000,000,000 nanoseconds or more sets the time that they amount to, or is refused."""
    file = scratch.file("f", b"data")
    asked = Nfstime3(A_TIME.seconds, nseconds)
    reply = nfs3.setattr(file, _times(which, at_client_time(asked)))
    observe(f"SETATTR of {nseconds} nanoseconds", reply.status)
    seen = getattr(scratch.attributes(file), which)
    expect(seen).field("nseconds", f"nseconds of {which}").at_most(SECOND - 1)
    if reply.status == Nfsstat3.NFS3_OK:
        # Other checks judge the accuracy.
        expect_time(nfs3, root, which, seen, asked, tolerance=SECOND // 2, because=SETATTR_SETS_LONG_NSECONDS)


@pytest.mark.parametrize("which", TIMES)
@proves(SETS_TIMES_TO_TIME_DELTA, killed_by="setattr3-sets-both-times-to-the-servers", needs="cansettime")
def test_mixed_time_sources(nfs3: Nfs3, root: bytes, scratch: Nfs3Scratch, which: str) -> None:
    """SETATTR sets one time to the client's and the other to the server's in one call."""
    file = scratch.file("f", b"data")
    make_old(nfs3, file, atime=True)
    mine, other = ANOTHER_TIME, "mtime" if which == "atime" else "atime"
    asked = {which: at_client_time(mine), other: SERVER_TIME}
    expect_change(nfs3.setattr(file, Sattr3(atime=asked["atime"], mtime=asked["mtime"])))
    seen = scratch.attributes(file)
    expect_time(nfs3, root, which, getattr(seen, which), mine, tolerance=ROUGHLY)
    expect(seen).field(f"{other}.seconds", f"seconds of {other}").at_least(LONG_AGO.seconds + A_DAY)
