# SPDX-License-Identifier: MIT
"""The attribute change, which a server may take from a clock: objects are changed until it has moved."""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable

from fixtures.checks.dialects.nfs4 import Nfs4Scratch
from nfsclient.protocol import nfs4 as p
from nfsjudge import expect, skip

TICKS: t.Final = 64
"""Attempts until a server of coarse times has given up."""
_NUMBERS: t.Final = itertools.count()


def need_tick(scratch: Nfs4Scratch, since: p.Nfstime4 | None = None) -> None:
    """Wait until a new directory has a later time than this, or than the first one. SKIP if it never has."""
    for _ in range(TICKS):
        made = scratch.directory(f"tick-{next(_NUMBERS)}")
        seen = scratch.attributes(made, "time_metadata", "time_modify")
        time = seen.time_metadata or seen.time_modify
        since = since or time
        if time and since and (time.seconds, time.nseconds) > (since.seconds, since.nseconds):
            return
    skip(f"{TICKS} new directories have no later time: the clock may be coarse")


def _nothing(_: int) -> None:
    """No preparation."""


def expect_moves(
    scratch: Nfs4Scratch,
    judged: bytes,
    act: Callable[[int], object],
    what: str,
    *,
    prepare: Callable[[int], None] = _nothing,
) -> None:
    """Change an object until `change` has moved; fail if its time_metadata, or the clock, has moved and it has not.

    `judged` is not the directory of the check itself: there `need_tick` makes directories. SKIP if nothing moves.
    """
    __tracebackhide__ = True
    for number in range(TICKS + 1):
        prepare(number)
        before = scratch.attributes(judged, "change", "time_metadata")
        if number == TICKS:
            need_tick(scratch)
        act(number)
        after = scratch.attributes(judged, "change", "time_metadata")
        if after.change != before.change:
            return
        if number == TICKS or after.time_metadata != before.time_metadata:
            expect(after).field("change", f"change after {what}").differs_from(before.change)
