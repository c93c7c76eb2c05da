# SPDX-License-Identifier: MIT
"""Attributes that a call must not change, and that may change by themselves: times of data that arrives late."""

from __future__ import annotations

from collections.abc import Callable

from nfsjudge import Requirement, expect, observe


def expect_steady(
    look: Callable[[], object],
    act: Callable[[], object],
    what: str,
    *,
    because: Requirement | None = None,
    known: object = None,
) -> None:
    """What `look` returns is the same before and after `act`, or at least when both are done once more.

    `known`: what `look` has returned just now. Where a server of servers, or a cache of files that are open, keeps
    data for a while, the time of a WRITE may be replaced by another one once, at any moment.
    """
    __tracebackhide__ = True
    before = look() if known is None else known
    act()
    after = look()
    if after == before:
        return
    act()
    again = look()
    if again == after:
        observe("moves by itself", what)
        return
    expect(again, what, because=because).equals(after)
