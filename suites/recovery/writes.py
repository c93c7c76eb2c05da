# SPDX-License-Identifier: MIT
"""Writes of several shapes, each of which a crash may not lose once it is stable."""

from __future__ import annotations

import typing as t

from fixtures.checks.across import ARRANGED, CRASH, Steps
from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import StableHow
from nfsjudge import expect_data
from suites.losses import Losses
from suites.nfs3.contents import commit, pattern, read_range, write_all
from suites.recovery.after_crash import file_again

WRITES: t.Final = {
    "new-file": (0, 0, 9000),
    "overwrite": (9000, 3000, 3001),
    "append": (9000, 9000, 5000),
    "after-hole": (100, 100_000, 5000),
    "large": (0, 0, 300_000),
}
"""Name -> size of the file before, offset, size of the data."""


def survives(nfs3: Nfs3, scratch: Nfs3Scratch, losses: Losses, write: str, stable: StableHow) -> Steps:
    """Make one of the `WRITES`, COMMIT if it is UNSTABLE, crash: the data is still there."""
    before, offset, size = WRITES[write]
    file, data = scratch.file("f", pattern(before)), pattern(size, salt=1)
    yield ARRANGED
    answers = write_all(nfs3, file, offset, data, stable)
    if stable is StableHow.UNSTABLE:
        commit(nfs3, file, answers)
    yield CRASH
    survivor = losses.target.client(Nfs3)
    seen = read_range(survivor, file_again(losses.target, scratch, file, b"f"), offset, size)
    expect_data(seen, data, "data after the crash", at=offset)
    losses.need_data()
