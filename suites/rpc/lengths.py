# SPDX-License-Identifier: MIT
"""Messages that announce a large length: the same with smaller lengths first (`fixtures.checks.announcing`)."""

from __future__ import annotations

from collections.abc import Iterator

from fixtures.checks.announcing import RUNGS, Announced
from fixtures.checks.wire import words


def with_smaller_lengths(
    data: bytes, at: int | None, announced: Announced, *, mark: int = 0, unit: int = 1, times: int = 3
) -> Iterator[bytes]:
    """The data with a smaller length in the word at `at` each time, and at last as they are.

    `mark`: bits of the word that are not of the length. None for `at`, a word that is not there or a small length: the
    data alone. The other parameters are those of `Announced`.
    """
    if at is None or len(data) < at + 4:
        yield data
        return
    word = int.from_bytes(data[at : at + 4], "big")
    length, bits = word & ~mark, word & mark
    if length * unit <= RUNGS[0]:
        yield data
        return
    for each in announced(length, unit=unit, times=times):
        yield data[:at] + words(bits | each) + data[at + 4 :]
