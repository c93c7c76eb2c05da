# SPDX-License-Identifier: MIT
"""The model of a file under WRITEs that are lost and doubled, against servers that execute them at random."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from suites.faults.possible import Possible, Sent

SIZE = 6


class Server:
    """Executes what it has when it likes, and what it answers at least once."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.model = Possible(bytes(SIZE))
        self.content = bytearray(SIZE)
        self.open: list[Sent] = []
        """Sent, not answered."""
        self.late: list[Sent] = []
        """What may still be executed."""
        self.log: list[tuple[int, bytes, Sent]] = []
        """Executions since the last COMMIT or crash: offset, data, of which WRITE."""
        self.stable = bytes(SIZE)
        self.value = 0

    def execute(self, write: Sent) -> None:
        self.content[write.offset : write.offset + len(write.data)] = write.data
        self.log.append((write.offset, write.data, write))

    def send(self) -> None:
        self.value += 1
        offset = self.random.randrange(SIZE)
        data = bytes([self.value]) * self.random.randint(1, SIZE - offset)
        write = self.model.send(offset, data)
        self.open.append(write)
        self.late.append(write)

    def answer(self) -> None:
        if self.open:
            write = self.open.pop(self.random.randrange(len(self.open)))
            self.execute(write)
            self.model.answer(write, len(write.data))
            if not write.has_copies:
                self.late.remove(write)

    def copy(self) -> None:
        if self.late:
            self.model.copy(self.random.choice(self.late))

    def wander(self) -> None:
        if self.late:
            self.execute(self.random.choice(self.late))

    def commit(self) -> None:
        self.model.committed(self.model.commit())
        self.stable = bytes(self.content)
        self.log.clear()

    def crash(self) -> None:
        """Each byte is that of the last COMMIT, or of any moment since then."""
        for at in range(SIZE):
            values = [self.stable[at]] + [
                data[at - offset] for offset, data, _ in self.log if offset <= at < offset + len(data)
            ]
            self.content[at] = self.random.choice(values)
        self.model.crash()
        self.stable = bytes(self.content)
        self.log.clear()


@given(
    st.integers(0, 1 << 32),
    st.lists(st.sampled_from(["send", "send", "answer", "answer", "copy", "wander", "commit", "crash"])),
)
def test_explains_each_server(seed: int, steps: list[str]) -> None:
    server = Server(seed)
    for step in steps:
        getattr(server, step)()
        assert server.model.judge(bytes(server.content)) is None


def test_acknowledged_data_replaces_older() -> None:
    model = Possible(b"....")
    model.answer(model.send(0, b"aaaa"), 4)
    model.answer(model.send(2, b"bb"), 2)
    assert [model.at(at) for at in range(4)] == [frozenset(b"a")] * 2 + [frozenset(b"b")] * 2


def test_concurrent_writes_leave_either() -> None:
    model = Possible(b".")
    first, second = model.send(0, b"a"), model.send(0, b"b")
    model.answer(first, 1)
    model.answer(second, 1)
    assert model.at(0) == frozenset(b"ab")


def test_a_copy_may_come_at_any_time() -> None:
    model = Possible(b".")
    first = model.send(0, b"a")
    model.copy(first)
    model.answer(first, 1)
    model.answer(model.send(0, b"b"), 1)
    assert model.at(0) == frozenset(b"ab")


def test_a_cut_call_is_none() -> None:
    model = Possible(b".")
    model.cut(model.send(0, b"a"))
    wrong = model.judge(b"a")
    assert wrong is not None
    assert (wrong.offset, wrong.possible, wrong.seen) == (0, frozenset(b"."), ord("a"))


def test_a_crash_spares_what_was_committed() -> None:
    model = Possible(b"..")
    model.answer(model.send(0, b"a"), 1)
    model.committed(model.commit())
    model.answer(model.send(1, b"b"), 1)
    model.crash()
    assert model.at(0) == frozenset(b"a")
    assert model.at(1) == frozenset(b"b.\0")
