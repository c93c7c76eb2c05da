# SPDX-License-Identifier: MIT
"""The model of opens and locks agrees with one that knows single bytes; programs of one seed are the same ones."""

from __future__ import annotations

import typing as t

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.clients.nfs4 import CompoundReply
from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import XdrType
from suites.model.judging import Broken
from suites.model.machine import Experience
from suites.model.state_claims import CLAIMS, StateProperty
from suites.model.state_machine import StateMachine, StatePlayer
from suites.model.state_steps import LONGEST, SHORTEST, StateDrawing, StateStep, imitate, possible
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


class _Grants:
    """A server that grants each OPEN, and knows no current stateid for CLOSE."""

    was_idle = False

    def __init__(self) -> None:
        self.closed: list[p.Stateid4] = []

    def name_of(self, _owner: Owner, _program: str) -> bytes:
        return b"owner"

    def run(self, *operations: XdrType) -> CompoundReply:
        results: list[t.Any] = [p.Putfh4Res(Nfsstat4.NFS4_OK)]
        for each in operations[1:]:
            if isinstance(each, p.Open4Args):
                none = p.OpenDelegation4(p.OpenDelegationType4.OPEN_DELEGATE_NONE)
                change = p.ChangeInfo4(False, 1, 1)
                opened = p.Open4ResOk(p.Stateid4(1, bytes(range(12))), change, 0, [], none)
                results.append(p.Open4Res(Nfsstat4.NFS4_OK, opened))
            elif isinstance(each, p.Close4Args):
                self.closed.append(each.open_stateid)
                is_known = each.open_stateid != p.CURRENT_STATEID
                status = Nfsstat4.NFS4_OK if is_known else Nfsstat4.NFS4ERR_BAD_STATEID
                results.append(p.Close4Res(status, p.INVALID_STATEID if is_known else None))
        status = results[-1].status
        return CompoundReply(
            p.Compound4Args(b"", 1, list(operations)), p.Compound4Res(status, b"", results), supplied=0
        )


def test_an_open_is_seen_although_close_fails_and_is_closed() -> None:
    player = _Grants()
    players = [t.cast("StatePlayer", player)] * 2
    judged = frozenset(StateProperty)
    machine = StateMachine(players, b"file", "program", Experience(), judged, is_over=lambda: False)
    with pytest.raises(Broken) as caught:
        machine.run([StateStep(owner=Owner(1, 0), verb="OPEN", access=READ, deny=READ)])
    assert caught.value.requirement is CLAIMS[StateProperty.SHARES]
    assert player.closed == [p.CURRENT_STATEID, *[p.Stateid4(1, bytes(range(12)))] * 2]
