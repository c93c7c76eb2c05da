# SPDX-License-Identifier: MIT
"""Compares times to the accuracy that the server promises."""

from __future__ import annotations

import typing as t

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import Nfstime3
from nfsjudge import Requirement, expect, observe, skip

SECOND: t.Final = 1_000_000_000
"""A second in nanoseconds."""


def nanoseconds(time: Nfstime3) -> int:
    """A time as a number of nanoseconds."""
    return time.seconds * SECOND + time.nseconds


def expect_time(
    nfs3: Nfs3,
    root: bytes,
    what: str,
    seen: Nfstime3,
    asked: Nfstime3,
    *,
    because: Requirement | None = None,
) -> None:
    """Two times agree to the time_delta of FSINFO, or to a second if that is 0."""
    __tracebackhide__ = True
    info = nfs3.fsinfo(root)
    if info.resok is None:
        skip(f"the accuracy of times is not known: FSINFO answers {info.status}")
    accuracy = nanoseconds(info.resok.time_delta) or SECOND
    observe("time_delta", info.resok.time_delta)
    wanted = nanoseconds(asked)
    expect(nanoseconds(seen), f"{what} in nanoseconds", because=because).between(
        wanted - accuracy, wanted + accuracy
    )
