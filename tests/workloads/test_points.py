# SPDX-License-Identifier: MIT
"""Points of a study: what is counted of them, which of them fits use, and the intervals of base and peak."""

from __future__ import annotations

import typing as t

import pytest

from nfsserver.queueing import Times
from tests.workloads.virtual import Bench
from workloads.rates import mix

_PROCESSOR: t.Final = Times(service=0.9e-3)


def test_messages_are_those_of_the_measured_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call and a reply, although 32 operations are under way at the end: their messages belong to none that is counted."""
    monkeypatch.setitem(t.cast("dict[str, t.Any]", mix._UNITS), "create", mix._UNITS["getattr"])
    point = Bench(monkeypatch, _PROCESSOR, seconds=1).peak()
    assert point.operations > 500
    assert point.messages == 2
