# SPDX-License-Identifier: MIT
"""Whether a WRITE far beyond the end is sent: not to a server that would fill the gap for minutes."""

from __future__ import annotations

import typing as t
from types import SimpleNamespace

import pytest

from nfsclient.errors import RpcTimeout
from nfsjudge import Skipped
from suites.gaps import GAP, need_gaps


class _Server:
    """Answers each WRITE after some seconds."""

    def __init__(self, seconds: float, space: int | None, *, accepts: bool = True) -> None:
        self._seconds, self._space, self._accepts = seconds, space, accepts
        self._now = 0.0
        self.caller: t.Any = SimpleNamespace(loop=SimpleNamespace(clock=lambda: self._now), timeout=10.0)
        self.offsets: list[int] = []

    def write(self, offset: int) -> bool:
        self.offsets.append(offset)
        self._now += self._seconds
        if self._seconds > self.caller.timeout:
            raise RpcTimeout("no answer", self._seconds)
        return self._accepts

    def need(self, far: int) -> None:
        need_gaps(self.caller, far, self.write, lambda: self._space)


@pytest.mark.parametrize(
    ("seconds", "space", "far"),
    [
        (5.0, 4096, 1 << 40),  # sparse, on a slow machine
        (0.1, GAP, 1 << 31),  # filled, and fast enough for this one
        (0.0001, None, 1 << 40),
    ],
)
def test_the_check_goes_on(seconds: float, space: int | None, far: int) -> None:
    server = _Server(seconds, space)
    server.need(far)
    assert server.offsets == [GAP]


@pytest.mark.parametrize(
    ("seconds", "space", "far"), [(0.1, GAP, 1 << 40), (0.5, None, 1 << 31), (20.0, 0, 1 << 31)]
)
def test_a_server_that_fills_gaps_is_left_alone(seconds: float, space: int | None, far: int) -> None:
    with pytest.raises(Skipped, match="files of the server may have no gaps"):
        _Server(seconds, space).need(far)


def test_a_gap_that_is_refused_decides_nothing() -> None:
    _Server(9.0, None, accepts=False).need(1 << 40)
