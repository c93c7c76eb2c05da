# SPDX-License-Identifier: MIT
"""Stateids, share reservations and delegations: what RFC 5661 says of each, and shares against a slow model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsserver.state.held import Held
from nfsserver.state.opens import Open
from nfsserver.state.shares import Share
from nfsserver.state.stateids import (
    ANONYMOUS,
    BYPASS,
    CURRENT,
    INVALID,
    SEQID_MAX,
    StateError,
    Stateid,
    is_older,
)

ACCESS = st.sampled_from([Share.READ, Share.WRITE, Share.BOTH])
DENY = st.sampled_from([Share.NONE, Share.NONE, Share.READ, Share.WRITE, Share.BOTH])
CLIENT = "client"
FILE = "file"


def opened(access: Share = Share.BOTH, deny: Share = Share.NONE) -> tuple[Held, Open]:
    held = Held(1)
    return held, held.opens.open(CLIENT, b"owner", FILE, access, deny)


def status(deed: object) -> str:
    try:
        deed()  # type: ignore[operator]
    except StateError as error:
        return error.status
    return "OK"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["open", "close", "downgrade"]), st.sampled_from([b"a", b"b"]), ACCESS, DENY
        )
    )
)
def test_shares_are_those_of_the_model(steps: list[tuple[str, bytes, Share, Share]]) -> None:
    held = Held(1)
    model: dict[bytes, list[tuple[Share, Share]]] = {b"a": [], b"b": []}
    for deed, owner, access, deny in steps:
        found = held.opens.find(CLIENT, owner, FILE)
        if deed == "open":
            modes = [mode for modes in model.values() for mode in modes]
            excluded = any(a & deny or d & access for a, d in modes)
            result = status(lambda: held.opens.open(CLIENT, owner, FILE, access, deny))  # noqa: B023
            assert result == ("SHARE_DENIED" if excluded else "OK")
            if not excluded:
                model[owner].append((access, deny))
        elif found is None:
            assert not model[owner]
        elif deed == "close":
            held.close(found)
            model[owner] = []
        else:
            subsets_a = {sum_of(a for a, _ in model[owner] if not a & ~access)}
            subsets_d = {sum_of(d for _, d in model[owner] if not d & ~deny)}
            result = status(lambda: held.opens.downgrade(found, access, deny))  # noqa: B023
            assert result == ("OK" if access in subsets_a and deny in subsets_d else "INVAL")
            if result == "OK":
                model[owner] = [(a, d) for a, d in model[owner] if not (a & ~access or d & ~deny)]
                model[owner].append((access, deny))
        found = held.opens.find(CLIENT, owner, FILE)
        assert (found is None) == (not model[owner])
        if found is not None:
            assert found.access == sum_of(a for a, _ in model[owner])
            assert found.deny == sum_of(d for _, d in model[owner])


def sum_of(shares: object) -> Share:
    whole = Share.NONE
    for share in shares:  # type: ignore[attr-defined]
        whole |= share
    return whole


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (0, "OK"),
        (None, "OK"),
        (-1, "OLD_STATEID"),
        (1, "BAD_STATEID"),
    ],
)
def test_a_seqid_is_current_or_zero(change: int | None, expected: str) -> None:
    held, state = opened()
    state.changed()
    seqid = 0 if change is None else state.seqid + change
    assert held.test(Stateid(seqid, state.other), CLIENT) == expected


def test_seqids_pass_the_greatest_without_becoming_zero() -> None:
    held, state = opened()
    state.seqid = SEQID_MAX
    assert state.changed().seqid == 1
    assert held.test(Stateid(SEQID_MAX, state.other), CLIENT, slots=8) == "OLD_STATEID"
    assert not is_older(1, SEQID_MAX, 8)


@pytest.mark.parametrize(
    "stateid", [ANONYMOUS, BYPASS, CURRENT, INVALID, Stateid(7, bytes(12)), Stateid(0, b"x" * 12)]
)
def test_what_is_no_state_is_bad(stateid: Stateid) -> None:
    held, _ = opened()
    assert held.test(stateid, CLIENT) == "BAD_STATEID"


def test_a_stateid_belongs_to_a_client_a_file_and_a_kind() -> None:
    held, state = opened()
    assert held.test(state.stateid, "another") == "BAD_STATEID"
    assert status(lambda: held.require(state.stateid, CLIENT, "another", "open")) == "BAD_STATEID"
    assert status(lambda: held.require(state.stateid, CLIENT, FILE, "lock")) == "BAD_STATEID"
    assert held.require(state.stateid, CLIENT, FILE, "open") is state


def test_a_stateid_of_an_earlier_instance_is_bad() -> None:
    _, state = opened()
    assert Held(2).test(state.stateid, CLIENT) == "BAD_STATEID"


def test_io_needs_an_open_for_it() -> None:
    held, reading = opened(Share.READ, Share.WRITE)
    assert status(lambda: held.require_io(reading.stateid, CLIENT, FILE, Share.READ)) == "OK"
    assert status(lambda: held.require_io(reading.stateid, CLIENT, FILE, Share.WRITE)) == "OPENMODE"
    assert status(lambda: held.require_io(ANONYMOUS, CLIENT, FILE, Share.WRITE)) == "LOCKED"
    assert status(lambda: held.require_io(BYPASS, CLIENT, FILE, Share.READ)) == "OK"
    assert status(lambda: held.require_io(CURRENT, CLIENT, FILE, Share.READ)) == "BAD_STATEID"


def test_a_close_frees_locks_or_refuses() -> None:
    held, state = opened()
    lock = held.locks.lock(state, b"locker", 0, 5, is_write=True)
    assert status(lambda: held.close(state, frees_locks=False)) == "LOCKS_HELD"
    held.close(state)
    assert held.test(state.stateid, CLIENT) == held.test(lock.stateid, CLIENT) == "BAD_STATEID"
    assert held.opens.find(CLIENT, b"owner", FILE) is None


def test_only_a_stateid_without_locks_is_freed() -> None:
    held, state = opened()
    lock = held.locks.lock(state, b"locker", 0, 5, is_write=True)
    assert status(lambda: held.free(state.stateid, CLIENT)) == "LOCKS_HELD"
    assert status(lambda: held.free(lock.stateid, CLIENT)) == "LOCKS_HELD"
    held.locks.unlock(lock, 0, 5)
    assert held.test(lock.stateid, CLIENT) == "OK"
    held.free(lock.stateid, CLIENT)
    assert held.test(lock.stateid, CLIENT) == "BAD_STATEID"


def test_what_a_lost_lease_takes_stays_known_until_it_is_freed() -> None:
    held, state = opened(deny=Share.BOTH)
    held.revoke(CLIENT, "EXPIRED")
    assert held.test(state.stateid, CLIENT) == "EXPIRED"
    assert held.losses(CLIENT) == {"EXPIRED"}
    assert not held.has_any(CLIENT)
    held.opens.require_shareable(FILE, Share.BOTH, Share.NONE)  # others can open it
    held.free(state.stateid, CLIENT)
    assert not held.losses(CLIENT)
    assert held.test(state.stateid, CLIENT) == "BAD_STATEID"


def test_a_released_client_leaves_nothing() -> None:
    held, state = opened()
    held.locks.lock(state, b"locker", 0, 5, is_write=True)
    held.release(CLIENT)
    assert len(held.stateids) == 0
    assert held.locks.conflict(FILE, 0, 5, is_write=True, client="other", owner=b"x") is None


@pytest.mark.parametrize(
    ("mine", "other", "policy", "expected"),
    [
        (Share.READ, None, "none", None),
        (Share.READ, None, "read", False),
        (Share.WRITE, None, "read", None),
        (Share.WRITE, None, "write", True),
        (Share.READ, Share.READ, "write", False),
        (Share.READ, Share.WRITE, "write", None),
        (Share.WRITE, Share.READ, "write", None),
    ],
)
def test_a_delegation_excludes_conflicting_opens(
    mine: Share, other: Share | None, policy: str, expected: bool | None
) -> None:
    held, _ = opened(mine)
    if other is not None:
        held.opens.open("other", b"o", FILE, other, Share.NONE)
    made = held.delegations.grant(CLIENT, FILE, mine, policy)  # type: ignore[arg-type]
    assert (None if made is None else made.is_write) == expected


def test_a_delegation_is_recalled_once_and_revoked_when_it_is_overdue() -> None:
    held, _ = opened(Share.READ)
    made = held.delegations.grant(CLIENT, FILE, Share.READ, "read")
    assert made is not None
    assert held.delegations.in_the_way(FILE, "other", changes=False) == []
    assert held.delegations.in_the_way(FILE, CLIENT, changes=True) == []
    assert held.delegations.in_the_way(FILE, None, changes=True) == [made]
    assert held.delegations.recall(made, 10.0)
    assert not held.delegations.recall(made, 11.0)
    assert held.delegations.grant("other", FILE, Share.READ, "read") is None  # not while one is recalled
    assert held.delegations.overdue(99.9, 90.0) == []
    assert held.delegations.overdue(100.0, 90.0) == [made]
    held.delegations.revoke(made)
    assert held.test(made.stateid, CLIENT) == "DELEG_REVOKED"
    held.free(made.stateid, CLIENT)
    assert held.test(made.stateid, CLIENT) == "BAD_STATEID"


def test_stateids_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    held, _ = opened()
    monkeypatch.setattr("nfsserver.bounds.MOST.states", 1)
    assert status(lambda: held.opens.open(CLIENT, b"another", FILE, Share.READ, Share.NONE)) == "DELAY"
    assert held.opens.find(CLIENT, b"another", FILE) is None
