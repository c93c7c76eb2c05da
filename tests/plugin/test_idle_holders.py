# SPDX-License-Identifier: MIT
"""A server may close the connection of a client that waits for a callback, and can call it only over the next one."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Suite
from tests.waiting import AT_MOST

HOLDERS = f"""
    from fixtures.checks.side_by_side import Wait, side_by_side
    from nfsclient.protocol import nfs4 as p
    from suites.nfs4.conflicts import conflicting_open
    from suites.nfs4.delegations import ACCESS, delegated, recalls, rpc_of

    def grow_idle(v4, session):
        loop = v4.connections.loop
        assert loop.run_until(lambda: not rpc_of(session).is_open, loop.clock() + {AT_MOST})

    @side_by_side
    @proves(RULE, killed_by=MUTANT)
    def test_before(v4):
        granted = yield from delegated(v4, v4.scratch, ACCESS["read"])
        grow_idle(v4, granted.holder)
        conflict = conflicting_open(granted)
        yield from conflict.need_callback(p.CbRecall4Args)
        granted.give_back()
        yield from conflict.succeeds()

    @side_by_side
    @proves(RULE, killed_by=MUTANT)
    def test_meanwhile(v4):
        granted = yield from delegated(v4, v4.scratch, ACCESS["read"])
        conflict = conflicting_open(granted)
        yield from conflict.need_callback(p.CbRecall4Args)
        grow_idle(v4, granted.holder)
        granted.give_back()
        yield from conflict.succeeds()

    @side_by_side
    @proves(RULE, killed_by=MUTANT)
    def test_served(target, v4):
        granted = yield from delegated(v4, v4.scratch, ACCESS["read"])
        grow_idle(v4, granted.holder)
        change = target.begin_locally(v4.scratch.name + b"/file")
        assert not change.is_over
        assert (yield from granted.serve(lambda: bool(recalls(granted.holder)), 30))
        granted.give_back()
        assert (yield from change.ending(30))
"""


@pytest.mark.parametrize("alone", ["before", "meanwhile", "served", ""])
def test_the_holder_of_a_delegation_is_called_over_its_next_connection(suite: Suite, alone: str) -> None:
    suite.write(HOLDERS)
    outcome = suite.run("--knob=idle_close=0.2", *(("-k", f"test_{alone}") if alone else ()))
    assert set(outcome.verdicts.values()) == {"PASS"}, outcome.text
