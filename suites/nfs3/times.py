# SPDX-License-Identifier: MIT
"""Times: old ones from which a change shows, conversions and comparisons, and guards of SETATTR."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import DONT_CHANGE_TIME, Fattr3, Nfstime3, Sattr3, SetTime, TimeHow
from nfsjudge import Requirement, expect, observe, show, skip

LONG_AGO: t.Final = Nfstime3(946_684_800)
"""The year 2000: no server's clock shows it by chance."""
A_TIME: t.Final = Nfstime3(1_000_000_000)
"""A date in 2001, far from the time of any run."""
ANOTHER_TIME: t.Final = Nfstime3(1_100_000_000)
SECOND: t.Final = 1_000_000_000
"""A second in nanoseconds."""
ROUGHLY: t.Final = 10 * SECOND
"""Tolerance of checks that are about something else than accuracy."""
A_DAY: t.Final = 86_400
"""A day in seconds."""


TICK: t.Final = 25_000_000
"""Nanoseconds: clocks of file systems tick at least this often, unless their times show that they are coarser."""
LONGEST_TICK: t.Final = 4.0
"""Seconds that a check waits for a tick."""


class WaitForTick(t.Protocol):
    """The fixture `wait_for_tick`."""

    def __call__(self, time: Nfstime3, *, whatever_delta: bool = False) -> None:
        """Return when the server's clock has passed a time by so much that a change is given a later one.

        It ends as SKIP if that takes too long, and if time_delta says so, unless `whatever_delta`.
        """
        ...


def tick_after(time: Nfstime3) -> int:
    """How many nanoseconds later a change must have another time: two seconds if the time has whole seconds."""
    return TICK if time.nseconds else 2 * SECOND


def at_client_time(time: Nfstime3) -> SetTime:
    """SET_TO_CLIENT_TIME with this time."""
    return SetTime(TimeHow.SET_TO_CLIENT_TIME, time)


def make_old(nfs3: Nfs3, file: bytes, *, mtime: bool = True, atime: bool = False) -> None:
    """Set times to `LONG_AGO`, so that a later change shows. SKIP if that does not work: other checks judge it."""
    old = at_client_time(LONG_AGO)
    asked = Sattr3(atime=old if atime else DONT_CHANGE_TIME, mtime=old if mtime else DONT_CHANGE_TIME)
    nfs3.setattr(file, asked)
    reply = nfs3.getattr(file)
    if reply.resok is None:
        skip(f"cannot get the times of the object: GETATTR answers {reply.status}", reply)
    seen = reply.resok.obj_attributes
    if (mtime and seen.mtime != LONG_AGO) or (atime and seen.atime != LONG_AGO):
        skip("SETATTR does not set the time to the year 2000, so a later change would not show")


def wrong_guard(known: Fattr3) -> Nfstime3:
    """A ctime that the object does not have: one bit differs, that is three days."""
    return Nfstime3(known.ctime.seconds ^ 1 << 18, known.ctime.nseconds)


def nanoseconds(time: Nfstime3) -> int:
    """A time as a number of nanoseconds."""
    return time.seconds * SECOND + time.nseconds


def is_longer_than_a_day(delta: Nfstime3) -> bool:
    """Whether a time_delta is one that no file system has."""
    return nanoseconds(delta) > A_DAY * SECOND


def expect_time(
    nfs3: Nfs3,
    root: bytes,
    what: str,
    seen: Nfstime3,
    asked: Nfstime3,
    *,
    tolerance: int = 0,
    because: Requirement | None = None,
) -> None:
    """Two times agree to the time_delta of FSINFO, or to a second if that is 0; or to `tolerance` in nanoseconds.

    A server that rounds times to the time_delta that it announces is right. A day is the longest that is known of file
    systems; one that is longer promises nothing, and ends the check as SKIP: `nfs3/FSINFO/honest-time-delta` judges it.
    """
    __tracebackhide__ = True
    info = nfs3.fsinfo(root)
    if info.resok is None:
        skip(f"cannot get time_delta: FSINFO answers {info.status}", info)
    observe("time_delta", show(info.resok.time_delta))
    if is_longer_than_a_day(info.resok.time_delta):
        skip(f"time_delta is {show(info.resok.time_delta)} seconds, which promises nothing of a time")
    accuracy = max(nanoseconds(info.resok.time_delta) or SECOND, tolerance)
    wanted = nanoseconds(asked)
    expect(seen, what, of=seen, because=because).satisfies(
        lambda time: wanted - accuracy <= nanoseconds(time) <= wanted + accuracy,
        f"{show(asked)} to within {show(Nfstime3(*divmod(accuracy, SECOND)))} seconds",
    )
