# SPDX-License-Identifier: MIT
"""Share reservations against a model that looks at all owners. No protocol is in the table."""

from __future__ import annotations

import typing as t
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsserver.state.held import Held
from nfsserver.state.shares import NOTHING, Share, Shares
from nfsserver.state.stateids import StateError

OWNERS: t.Final[tuple[Hashable, ...]] = (1, "host", (1, b"owner"))
BITS = st.sampled_from(list(map(Share, range(4))))
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "put", "release"]), st.sampled_from(OWNERS), BITS, BITS, st.booleans()
    ),
    max_size=30,
)


@given(STEPS)
def test_shares_are_those_of_the_model(steps: list[tuple[str, Hashable, Share, Share, bool]]) -> None:
    table = Shares()
    model: dict[Hashable, tuple[Share, Share]] = {}
    for deed, owner, access, deny, counts_itself in steps:
        others = [pair for other, pair in model.items() if counts_itself or other != owner]
        excluded = any(a & deny or d & access for a, d in others)
        besides = None if counts_itself else owner
        assert table.excludes("file", access, deny, besides=besides) == excluded
        if deed == "release":
            table.release("file", owner)
            model.pop(owner, None)
        elif deed == "put" or not excluded:  # `put` also downgrades, and does not compare
            table.put("file", owner, access, deny)
            model[owner] = access, deny
        assert {each: table.of("file", each) for each in table.owners("file")} == model
        granted = (Share.NONE, Share.NONE)
        for a, d in model.values():
            granted = granted[0] | a, granted[1] | d
        assert table.granted("file") == granted
        assert table.granted("another") == NOTHING


def test_a_file_that_is_gone_has_no_reservations() -> None:
    table = Shares()
    table.put("file", 1, Share.READ, Share.WRITE)
    table.forget("file")
    assert not table.owners("file")
    assert not table.excludes("file", Share.WRITE)


def test_nfsv4_and_another_protocol_exclude_each_other() -> None:
    held = Held(1)
    held.shares.put("file", "host", Share.READ, Share.WRITE)
    with pytest.raises(StateError, match="SHARE_DENIED"):
        held.opens.open("client", b"opener", "file", Share.WRITE, Share.NONE)
    first = held.opens.open("client", b"opener", "file", Share.READ, Share.WRITE)
    assert held.opens.has_others("file", "client")
    assert held.shares.excludes("file", Share.WRITE, besides="host")
    held.close(first)
    assert not held.shares.excludes("file", Share.WRITE, besides="host")
    assert held.shares.owners("file") == ("host",)
