# SPDX-License-Identifier: MIT
"""SETATTR (RFC 5661 section 18.30) of values at the ends of their range, of one attribute alone, and of none."""

from __future__ import annotations

import typing as t

import pytest

from fixtures.checks.dialects.nfs4 import Nfs4Scratch, new_state_owner, through_grace
from nfsclient.clients.nfs4 import Compounds
from nfsclient.clients.nfs4 import operations as op
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsjudge import Harm, expect, expect_data, observe, proves, should, skip, stated
from suites.nfs4.attribute_values import expect_near
from suites.nfs4.gaps import need_far
from suites.nfs4.opens import BOTH, open_file
from suites.steady import expect_steady

KEEPS_WHAT_IT_DOES_NOT_NAME = stated(
    "RFC 5661",
    "18.30.3",
    "the new attributes are those that the bitmap names: SETATTR keeps the others, and the data",
    harm=Harm.OBJECT,
    also={"4.0": ("RFC 7530", "16.32.4")},
)
OWNERS_KEEP_MODE = should(  # "can be used": an ACL of named users may say another mode for another owner
    "RFC 5661",
    "6.3.2",
    "the mode of an object says what its owner, its group and others may do: another owner should keep it",
)
TIME_IS_OF_MODIFICATION = should(
    # whether another attribute is a part of the object that is modified is not said
    "RFC 5661",
    "5.8.2.43",
    "time_modify is the time of the last modification: SETATTR of other attributes should keep it",
    also={"4.0": ("RFC 7530", "5.8.2.39")},
)
SAME_SIZE_KEEPS_DATA = stated(
    "RFC 5661",
    "18.30.4",
    "data beyond the new size is discarded: with the size that a file has, that is none",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "16.32.5")},
)
SIZE_HAS_64_BITS = stated(
    "RFC 5661",
    "5.8.1.5",
    "size is the size of the object in bytes, with 64 bits: SETATTR sets a large one, or refuses it",
    harm=Harm.DATA,
    also={"4.0": ("RFC 7530", "5.8.1.5")},
)
SECONDS_HAVE_64_BITS = should(
    # "preserving as much accuracy as possible": no range is promised, and a file system may have fewer bits than its
    # server knows. STORES_32_BIT_SECONDS of NFSv3 is the same fact.
    "RFC 5661",
    "3.3.1",
    "seconds of a time have 64 bits: SETATTR sets a time after 2038 or 2106, or as near as the file system has",
)
SETS_EACH_MODE = should(  # an ACL may not be able to express each mode (section 6.3.1)
    "RFC 5661", "6.2.4", "SETATTR of the mode sets the nine permission bits of an object of any type"
)
_DATA: t.Final = bytes(1 + at * 7 % 251 for at in range(5000))
_TIMES: t.Final = {"2038": 2**31 + 1000, "2106": 2**32 + 1000}
_LAST_OF_OLD_CLOCKS: t.Final = 2**31 - 1
"""The last second that file systems with 32 bits have, which some set in place of a later one."""
_REFUSALS: t.Final = {
    Nfsstat4.NFS4ERR_ATTRNOTSUPP,
    Nfsstat4.NFS4ERR_BADOWNER,
    Nfsstat4.NFS4ERR_INVAL,
    Nfsstat4.NFS4ERR_PERM,
}
"""What a server may answer that does not let this user set this value."""


@proves(SAME_SIZE_KEEPS_DATA, killed_by="setattr4-same-size-clears")
def test_same_size(compounds: Compounds, scratch: Nfs4Scratch) -> None:
    """SETATTR of the size that a file has keeps its data."""
    opened = open_file(compounds, scratch.file("file", _DATA), BOTH)
    setting = op.setattr(Fattr4(size=len(_DATA)), opened.stateid)
    expect(compounds.compound(op.putfh(opened.handle), setting)).ok()
    expect_data(scratch.read(opened.handle), _DATA)


@pytest.mark.parametrize("size", [2**31 + 2, 2**32 + 2], ids=["2g+2", "4g+2"])
@proves(SIZE_HAS_64_BITS, killed_by="setattr4-sizes-have-31-bits")
def test_large_size(compounds: Compounds, scratch: Nfs4Scratch, size: int) -> None:
    """SETATTR sets a size beyond 2 or 4 GiB, or refuses it, and keeps the data."""
    opened = open_file(compounds, scratch.file("file", b"data"), BOTH)
    with need_far(compounds, scratch, size, by_setattr=True):
        reply = compounds.compound(op.putfh(opened.handle), op.setattr(Fattr4(size=size), opened.stateid))
    observe(f"SETATTR of the size {size}", reply.status)
    if reply.status == Nfsstat4.NFS4_OK:
        expect(scratch.attributes(opened.handle)).field("size").equals(size)
    reading = compounds.compound(op.putfh(opened.handle), op.read(opened.stateid, 0, 4))
    seen = expect(reading).of(p.READ).ok().data
    expect_data(seen, b"data"[: max(1, len(seen))], of="range")


@pytest.mark.parametrize("year", _TIMES)
@proves(
    SECONDS_HAVE_64_BITS,
    killed_by=("setattr4-seconds-have-31-bits", "setattr4-times-end-in-2038"),
)
def test_late_time(compounds: Compounds, scratch: Nfs4Scratch, year: str) -> None:
    """SETATTR sets a time after 2038 or 2106, or the last one that the file system has, or refuses it."""
    file, seconds = scratch.file("file"), _TIMES[year]
    if scratch.attributes(file, "cansettime").cansettime is False:
        skip("the server says that times cannot be set (cansettime)")
    reply = compounds.compound(op.putfh(file), op.setattr(Fattr4(time_modify_set=p.client_time(seconds))))
    observe(f"SETATTR of a time after {year}", reply.status)
    if reply.status in _REFUSALS:
        skip(f"the server does not set a time after {year}: SETATTR answers {reply.status}", reply)
    if "time_modify_set" not in p.names_of(expect(reply).of(p.SETATTR).ok().attrsset):
        skip("attrsset says that the time was not set")
    known = scratch.attributes(file, "time_modify", "time_delta")
    if known.time_modify is not None and _LAST_OF_OLD_CLOCKS <= known.time_modify.seconds < seconds:
        if _time_of_new(compounds, scratch, seconds) != seconds:
            skip(f"the last time of the file system is {known.time_modify.seconds}, or earlier")
        observe("time_modify of a new file", f"as asked for in OPEN: the file system has a time after {year}")
    expect_near(known, "time_modify", seconds)


def _time_of_new(compounds: Compounds, scratch: Nfs4Scratch, seconds: int) -> int | None:
    """Seconds of time_modify of a file that is created with this time; None if that is refused."""
    how = op.guarded(Fattr4(time_modify_set=p.client_time(seconds)))
    opening = op.open(b"late", BOTH, owner=new_state_owner(), how=how)
    reply = through_grace(compounds, op.putfh(scratch.handle), opening)
    if reply.status != Nfsstat4.NFS4_OK:
        return None
    compounds.compound(op.putfh(scratch.handle), op.lookup(b"late"), op.close(reply.stateid))
    late = scratch.lookup("late")
    time = None if late is None else scratch.attributes(late, "time_modify").time_modify
    return None if time is None else int(time.seconds)


@pytest.mark.parametrize("kind", ["file", "directory", "fifo"])
@proves(SETS_EACH_MODE, killed_by="setattr4-inverts-the-last-mode-bit")
def test_mode_values(compounds: Compounds, scratch: Nfs4Scratch, kind: str) -> None:
    """SETATTR of any mode of an object sets the permission bits."""
    make = {"file": scratch.file, "directory": scratch.directory, "fifo": scratch.fifo}[kind]
    handle = make("object")
    for mode in (0, 0o777, 0o421, 0o040, 0o700):
        expect(compounds.compound(op.putfh(handle), op.setattr(Fattr4(mode=mode)))).ok()
        seen = scratch.attributes(handle, "mode").mode or 0
        expect(seen & 0o777, f"permission bits of the mode after SETATTR of {mode:04o}", field="mode").equals(
            mode
        )


# ---------------------------------------------------------------- one attribute alone, and none

_ALONE: t.Final[dict[str, tuple[Fattr4, tuple[str, ...]]]] = {
    "nothing": (Fattr4(), ()),
    "mode": (Fattr4(mode=0o604), ("mode",)),
    "size": (Fattr4(size=10), ("size",)),
    "owner": (Fattr4(owner=b"4242"), ("owner", "mode")),
    "group": (Fattr4(owner_group=b"4343"), ("owner_group", "mode")),
    "modify": (Fattr4(time_modify_set=p.client_time(1_000_000_000)), ()),
    "access": (Fattr4(time_access_set=p.client_time(1_000_000_000)), ()),
}
"""By name: what is set, and which attributes that may change."""
_KEPT: t.Final = ("type", "mode", "numlinks", "owner", "owner_group", "size")


@pytest.mark.parametrize("which", _ALONE)
@proves(KEEPS_WHAT_IT_DOES_NOT_NAME, killed_by="setattr4-resets-what-is-not-named")
def test_alone(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """SETATTR of one attribute, or of none, keeps the other attributes and the data."""
    changing = _ALONE[which][1]
    file = scratch.file("file", _DATA, mode=0o640)
    before = scratch.attributes(file, *_KEPT)
    _set_alone(compounds, file, which)
    after = scratch.attributes(file, *_KEPT)
    for name in _KEPT:
        if name not in changing:
            expect(after).field(name, f"{name} after SETATTR of {which}").equals(getattr(before, name))
    expect_data(scratch.read(file), _DATA[:10] if which == "size" else _DATA)


@pytest.mark.parametrize("which", ["owner", "group"])
@proves(OWNERS_KEEP_MODE, killed_by="setattr4-of-an-owner-resets-the-mode")
def test_owner_keeps_mode(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """SETATTR of the owner or of the group keeps the mode."""
    file = scratch.file("file", mode=0o640)
    before = scratch.attributes(file, "mode").mode
    _set_alone(compounds, file, which)
    expect(scratch.attributes(file, "mode")).field("mode", f"mode after SETATTR of {which}").equals(before)


@pytest.mark.parametrize("which", ["nothing", "mode", "owner", "group", "access"])
@proves(TIME_IS_OF_MODIFICATION, killed_by="setattr4-is-a-modification")
def test_keeps_time(compounds: Compounds, scratch: Nfs4Scratch, which: str) -> None:
    """SETATTR of another attribute than the size, or of none, keeps time_modify."""
    file = scratch.file("file", b"data", mode=0o640)
    before = scratch.attributes(file, "time_modify").time_modify
    if before is None:
        skip("the server does not support time_modify")
    expect_steady(
        lambda: scratch.attributes(file, "time_modify").time_modify,
        lambda: _set_alone(compounds, file, which),
        f"time_modify after SETATTR of {which}",
        known=before,
    )


def _set_alone(compounds: Compounds, file: bytes, which: str) -> None:
    """SETATTR of one attribute, or of none. SKIP where this user may not set it."""
    reply = compounds.compound(op.putfh(file), op.setattr(_ALONE[which][0]))
    observe(f"SETATTR of {which}", reply.status)
    if reply.status in _REFUSALS:
        skip(f"the server does not set it for this user: SETATTR answers {reply.status}", reply)
    expect(reply).ok()
