# SPDX-License-Identifier: MIT
"""The model of opens and locks agrees with one that knows single bytes; programs of one seed are the same ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suites.model.state_steps import LONGEST, SHORTEST, StateDrawing, imitate, possible
from suites.model.state_things import END, READ, WRITE, File, Opening, Owner, end_of

BYTES = 40
_ranges = st.tuples(st.integers(0, BYTES), st.integers(1, BYTES) | st.just(END))
_calls = st.lists(st.tuples(st.sampled_from(["read", "write", "unlock"]), _ranges), max_size=12)


@given(_calls)
def test_locks_of_an_owner_are_what_each_byte_got_last(calls: list[tuple[str, tuple[int, int]]]) -> None:
    opening, wanted = Opening([(READ | WRITE, 0)]), dict[int, str]()
    for what, (offset, length) in calls:
        end = end_of(offset, length)
        if what == "unlock":
            opening.unlock(offset, end)
        else:
            opening.lock(offset, end, is_write=what == "write")
        wanted |= dict.fromkeys(range(offset, min(end, 2 * BYTES)), what)
    file, owner = File(), Owner(1, 0)
    file.opens[owner] = opening
    for byte in range(2 * BYTES):
        assert file.is_locked(byte, is_write=False) is (wanted.get(byte, "unlock") != "unlock")
        assert file.is_locked(byte, is_write=True) is (wanted.get(byte) == "write")
        assert file.has_conflict(Owner(2, 0), byte, byte + 1, is_write=True) is file.is_locked(
            byte, is_write=False
        )
        assert not file.has_conflict(owner, byte, byte + 1, is_write=True)


@given(st.integers(1, 3), st.integers(0, 3), st.integers(1, 3), st.integers(0, 3))
def test_share_reservations_exclude_others_only(access: int, deny: int, wanted: int, denied: int) -> None:
    file = File()
    file.opens[Owner(1, 0)] = Opening([(access, deny)])
    assert file.is_denied(Owner(1, 1), wanted, denied) is bool(wanted & deny or denied & access)
    assert not file.is_denied(Owner(1, 0), wanted, denied)


@given(st.integers(0, 1000), st.sampled_from(["shares", "locks", "data"]))
def test_programs_are_possible_and_come_again(seed: int, group: str) -> None:
    program = StateDrawing(str(seed), group).program()
    assert program == StateDrawing(str(seed), group).program()
    assert SHORTEST <= len(program) <= LONGEST + 2
    file = File()
    for step in program:
        assert possible(file, step)
        imitate(file, step)
        assert step.words().startswith(f"{step.owner}: {step.verb}")
