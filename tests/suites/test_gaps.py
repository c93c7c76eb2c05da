# SPDX-License-Identifier: MIT
"""Whether a call far beyond the end is made: not on a server that would fill the gap for minutes."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from nfsclient.errors import RpcTimeout
from nfsjudge import Skipped
from suites.gaps import GAP, SMALL_GAP, Far, need_gaps


class _Server:
    """Makes each gap in some seconds, and a small one at once unless it hangs. A `space` of GAP: that of all bytes."""

    def __init__(
        self, seconds: float | list[float], space: int | None, *, status: int = 0, hangs: bool = False
    ) -> None:
        self._seconds = seconds if isinstance(seconds, list) else [seconds]
        self._space, self._status, self._hangs = space, status, hangs
        self._now = 0.0
        self.caller: t.Any = SimpleNamespace(loop=SimpleNamespace(clock=lambda: self._now), timeout=10.0)
        self.offsets: list[int] = []

    def grow(self, offset: int) -> int:
        self.offsets.append(offset)
        is_small = offset == SMALL_GAP
        at = min(len(self.offsets) - 2, len(self._seconds) - 1)
        seconds = (20.0 if self._hangs else 0.0) if is_small else self._seconds[at]
        self._now += seconds
        if seconds > self.caller.timeout:
            raise RpcTimeout("no answer", seconds)
        return self._status

    def need(self, far: int) -> Far:
        return need_gaps(self.caller, far, self.grow, self._used)

    def _used(self) -> int | None:
        return self.offsets[-1] if self._space == GAP else self._space


def _excuses(far: Far) -> bool:
    """Whether a far call that is not answered is SKIP."""
    with pytest.raises((Skipped, RpcTimeout)) as seen, far:
        raise RpcTimeout("WRITE", 10.0)
    return seen.type is Skipped


@pytest.mark.parametrize(
    ("seconds", "space", "far"),
    [
        (5.0, 4096, 1 << 40),  # sparse, on a slow machine; or `used` is a constant
        (0.1, GAP, 1 << 31),  # filled, and fast enough for this one
        (0.1, 0, 1 << 31),
    ],
)
def test_the_check_goes_on_and_excuses_a_timeout(seconds: float, space: int | None, far: int) -> None:
    assert _excuses(_Server(seconds, space).need(far))


@pytest.mark.parametrize("space", [None, 0, GAP])
@pytest.mark.parametrize("seconds", [0.0001, [0.1, 0.0001], [0.05, 0.1, 0.0001]])
def test_a_server_that_makes_a_gap_at_once_has_to_answer(
    seconds: float | list[float], space: int | None
) -> None:
    """Nobody fills 64 MiB in a millisecond, whatever `used` says; on a busy machine one of three shows it."""
    assert not _excuses(_Server(seconds, space).need(1 << 40))


@pytest.mark.parametrize(
    ("seconds", "space", "far"),
    [(0.1, GAP, 1 << 40), (0.5, None, 1 << 31), (0.1, 0, 1 << 40), (20.0, 0, 1 << 31)],
)
def test_a_server_that_fills_gaps_is_left_alone(seconds: float, space: int | None, far: int) -> None:
    with pytest.raises(Skipped, match="files of the server may have no gaps"):
        _Server(seconds, space).need(far)


def test_a_slow_gap_is_made_once() -> None:
    server = _Server(0.3, None)
    server.need(1 << 31)
    assert server.offsets == [SMALL_GAP, GAP]


def test_a_gap_that_is_refused_decides_nothing() -> None:
    """For a reason that may have passed when the far call is made."""
    assert _excuses(_Server(9.0, None, status=5).need(1 << 40))


def test_a_server_that_is_not_ready_is_left_alone() -> None:
    with pytest.raises(Skipped, match="put off"):
        _Server(0.0001, None, status=10008).need(1 << 40)


def test_a_server_that_hangs_at_each_gap_is_not_excused() -> None:
    with pytest.raises(RpcTimeout):
        _Server(0.0001, None, hangs=True).need(1 << 31)
