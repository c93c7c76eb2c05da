# SPDX-License-Identifier: MIT
"""The two versions of a file's data, against two byte arrays."""

from __future__ import annotations

import errno
import typing as t

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from nfsserver.fs.errors import FsError
from nfsserver.fs.pages import PAGE, PageBudget, PagedData

OFFSETS = st.integers(0, 4 * PAGE)
PIECES = st.builds(lambda byte, count: bytes([byte]) * count, st.integers(1, 255), st.integers(1, 2 * PAGE))


class Model:
    """What READ would see and what a crash would leave, as plain bytes."""

    def __init__(self) -> None:
        self.volatile = bytearray()
        self.stable = bytearray()

    @staticmethod
    def put(version: bytearray, offset: int, data: bytes) -> None:
        version.extend(bytes(max(0, offset + len(data) - len(version))))
        version[offset : offset + len(data)] = data

    def commit(self, offset: int, count: int) -> None:
        start = offset // PAGE * PAGE
        end = -(-(offset + count) // PAGE) * PAGE if count else len(self.volatile)
        self.stable.extend(bytes(len(self.volatile) - len(self.stable)))
        self.stable[start:end] = self.volatile[start:end]


class DataMachine(RuleBasedStateMachine):
    """Any sequence of writes, commits, truncations and crashes."""

    def __init__(self) -> None:
        super().__init__()
        self.budget = PageBudget(1000)
        self.data = PagedData(self.budget)
        self.model = Model()

    @rule(offset=OFFSETS, piece=PIECES)
    def write_unstable(self, offset: int, piece: bytes) -> None:
        assert self.data.write(offset, piece, stable=False) == len(piece)
        self.model.put(self.model.volatile, offset, piece)

    @rule(offset=OFFSETS, piece=PIECES)
    def write_stable(self, offset: int, piece: bytes) -> None:
        assert self.data.write(offset, piece, stable=True) == len(piece)
        self.model.put(self.model.volatile, offset, piece)
        self.model.put(self.model.stable, offset, piece)

    @rule(offset=OFFSETS, count=st.integers(0, 2 * PAGE))
    def commit(self, offset: int, count: int) -> None:
        self.data.commit(offset, count)
        self.model.commit(offset, count)

    @rule(size=OFFSETS)
    def truncate(self, size: int) -> None:
        self.data.truncate(size)
        for version in (self.model.volatile, self.model.stable):
            version.extend(bytes(max(0, size - len(version))))
            del version[size:]

    @rule()
    def crash(self) -> None:
        self.data.crash()
        self.model.volatile = bytearray(self.model.stable)

    @rule(offset=OFFSETS, count=OFFSETS)
    def read(self, offset: int, count: int) -> None:
        assert self.data.read(offset, count) == self.model.volatile[offset : offset + count]

    @invariant()
    def sizes_agree(self) -> None:
        assert self.data.size == len(self.model.volatile)
        assert self.data.stable_size == len(self.model.stable)

    def teardown(self) -> None:
        assert self.data.read(0, 10 * PAGE) == self.model.volatile
        self.data.crash()
        assert self.data.read(0, 10 * PAGE) == self.model.stable
        assert not self.data.is_dirty
        assert self.budget.total - self.budget.free == self.data.used // PAGE
        self.data.discard()
        assert self.budget.free == self.budget.total


DataMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestDataAgainstModel: t.Any = DataMachine.TestCase


def test_offsets_have_64_bits() -> None:
    data = PagedData(PageBudget(10))
    data.write(2**63 - 10, b"far", stable=True)
    assert data.read(2**63 - 12, 20) == b"\0\0far"
    assert data.used == PAGE


def test_full_storage_is_written_short_then_refused() -> None:
    data = PagedData(PageBudget(2))
    assert data.write(0, bytes(3 * PAGE), stable=True) == 2 * PAGE
    with pytest.raises(FsError) as refused:
        data.write(2 * PAGE, b"x", stable=True)
    assert refused.value.errno == errno.ENOSPC
    assert data.size == 2 * PAGE


def test_full_storage_still_takes_overwrites() -> None:
    data = PagedData(PageBudget(1))
    data.write(0, b"old", stable=True)
    assert data.write(0, b"new", stable=False) == 3
    data.crash()
    assert data.read(0, 3) == b"new"  # no room to keep the old page: committed at once
