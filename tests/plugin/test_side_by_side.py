# SPDX-License-Identifier: MIT
"""Checks that wait do so together: the verdict and the evidence of each as if it had been alone."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from fixtures.checks.side_by_side import Wait, Waiting, side_by_side, wait_out
from fixtures.plugin import waiting
from nfsclient.rpc.loop import Loop
from tests.plugin.conftest import Outcome, Suite
from tests.plugin.test_interrupted import Server, serve
from tests.plugin.test_plugin_xdist import TWO
from tests.waiting import AT_MOST

__all__ = ["serve"]

IMPORTS = """
from fixtures.checks.side_by_side import Wait, answered, side_by_side
from nfsclient.errors import RpcTimeout
from nfsclient.protocol import nfs3 as p

LOG = []
"""


def check(
    name: str, before: str = "pass", after: str = "pass", fixtures: str = "nfs3, scratch", marks: str = ""
) -> str:
    """A check that waits between two parts, each of which is in the log of the process."""
    return f'''
@side_by_side
{marks}
@proves(RULE, killed_by=MUTANT)
def test_{name}({fixtures}):
    """{name}"""
    file = scratch.file("f", b"data")
    LOG.append("{name} begins")
    {before}
    yield Wait(10)
    observe("log", ", ".join(LOG))
    LOG.append("{name} goes on")
    {after}
    expect(scratch.attributes(file).size, "size").equals(4)
'''


ENDS = {
    "passes": "pass",
    "fails": "expect(scratch.attributes(file).size, 'size').equals(2)",
    "skips": "skip('a reason')",
    "lacks": "unsupported('a reason')",
    "breaks": "raise ValueError",
    "errs": "raise RpcTimeout('GETATTR', 1.0)",
}
VERDICTS = {
    "passes": "PASS",
    "fails": "FAIL",
    "skips": "SKIP",
    "lacks": "UNSUPPORTED",
    "breaks": "VOID",
    "errs": "FAIL",
}


def log_of(outcome: Outcome, name: str) -> list[str]:
    """What had been done in the process when a check had waited."""
    return outcome.checks[name].observations["log"].split(", ")


def test_all_wait_at_the_same_time(suite: Suite) -> None:
    suite.write(IMPORTS + "".join(map(check, "abc")))
    outcome = suite.run()
    assert set(outcome.verdicts.values()) == {"PASS"}
    assert log_of(outcome, "a") == ["a begins", "b begins", "c begins"]
    assert log_of(outcome, "c") == ["a begins", "b begins", "c begins", "a goes on", "b goes on"]


def test_who_waits_less_goes_on_earlier(suite: Suite) -> None:
    longer = "yield Wait(5)"
    suite.write(IMPORTS + check("a", before=longer) + check("b") + check("c", before=longer))
    assert log_of(suite.run(), "c")[3:] == ["b goes on", "a goes on"]


def test_a_condition_ends_a_wait(suite: Suite) -> None:
    until = "yield Wait(1000, lambda: 'b goes on' in LOG)"
    suite.write(IMPORTS + check("a", before=until) + check("b"))
    assert log_of(suite.run(), "a") == ["a begins", "b begins", "b goes on"]


def test_checks_that_want_the_target_for_themselves_wait_apart(suite: Suite) -> None:
    alone = "@pytest.mark.exclusive"
    suite.write(IMPORTS + check("a") + check("b", marks=alone) + check("c") + check("d", marks=alone))
    outcome = suite.run()
    assert log_of(outcome, "a") == ["a begins", "c begins"]
    assert log_of(outcome, "b")[4:] == ["b begins", "d begins"]


@pytest.mark.parametrize("is_here", [True, False])
def test_who_keeps_a_control_is_in_company_only_with_a_server_in_this_process(
    monkeypatch: pytest.MonkeyPatch, is_here: bool
) -> None:
    """Elsewhere others would wait for the control on the spot, and leases would run out meanwhile."""

    def item(*, keeps_control: bool) -> t.Any:
        def steps() -> Waiting[None]:
            yield Wait(1)

        function = side_by_side(keeps_control=keeps_control)(steps)
        return SimpleNamespace(function=function, stash=pytest.Stash(), get_closest_marker=lambda _name: None)

    monkeypatch.setattr(waiting, "plan_of", lambda _item: object())
    usual, keeper = item(keeps_control=False), item(keeps_control=True)
    assert waiting._may_join(usual, usual, is_here=is_here)
    assert waiting._may_join(keeper, usual, is_here=is_here) == is_here


def test_what_goes_wrong_is_of_that_check_only(suite: Suite) -> None:
    suite.write(
        IMPORTS
        + "".join(check(f"{name}_before", before=end) for name, end in ENDS.items())
        + "".join(check(f"{name}_after", after=end) for name, end in ENDS.items())
    )
    assert suite.run().verdicts == {
        f"{name}_{when}": verdict for name, verdict in VERDICTS.items() for when in ("before", "after")
    }


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ENDS)
def test_the_evidence_is_that_of_the_check_alone(suite: Suite, name: str, when: str) -> None:
    suite.write(IMPORTS + check("a") + check(name, **{when: ENDS[name]}) + check("z"))
    alone = suite.run("-k", name).checks[name]
    together = suite.run("--evidence", "always").checks[name]
    assert together.verdict == alone.verdict == VERDICTS[name]
    for field in ("exchanges", "statuses", "expected", "observed", "reason", "call"):
        assert getattr(together, field) == getattr(alone, field), field
    assert len(together.transcript) == len(alone.transcript)
    assert together.capture


def test_a_reply_that_comes_while_others_run_is_of_its_check(suite: Suite) -> None:
    """It was not waited for when the check paused, so it is read while another one is on the stage."""
    sends = "rpc = rpc_connect('nfs'); pending = rpc.submit(p.NULL, p.NULL.args())"
    fixtures = "nfs3, scratch, rpc_connect"
    suite.write(IMPORTS + check("a", before=sends, fixtures=fixtures) + check("b") + check("c"))
    outcome = suite.run()
    calls = {name: outcome.checks[name].exchanges for name in "abc"}
    assert calls["b"] == calls["c"] == calls["a"] - 1


def test_a_call_that_takes_long_is_waited_for_together(suite: Suite) -> None:
    asks = "expect((yield from answered(rpc_connect('nfs'), p.GETATTR, p.Getattr3Args(scratch.handle)))).ok()"
    suite.write(IMPORTS + check("a", before=asks, fixtures="nfs3, scratch, rpc_connect") + check("b"))
    assert set(suite.run().verdicts.values()) == {"PASS"}


def mute(name: str) -> str:
    """A check whose call the server never answers."""
    asks = "expect((yield from answered(rpc_connect('nfs'), p.COMMIT, p.Commit3Args(file, 0, 0)))).ok()"
    return check(name, before=asks, fixtures="nfs3, scratch, rpc_connect").replace("Wait(10)", "Wait(0.1)")


def test_a_call_without_a_reply_is_not_repeated_if_no_reply_comes_when_all_others_have_ended(
    suite: Suite, serve: Callable[..., Server]
) -> None:
    server = serve("mute-commit", now=True)
    suite.write(IMPORTS + check("a").replace("Wait(10)", "Wait(3)") + mute("b"))
    outcome = suite.run("--target", server.url, "--call-timeout=2", "--evidence", "always")
    assert outcome.verdicts == {"a": "PASS", "b": "FAIL"}
    assert outcome.checks["b"].expected == ["a reply within 2 s"]
    assert outcome.checks["b"].capture
    assert ", 1 without a reply" in outcome.text


@pytest.mark.parametrize(
    ("late", "times"), [("pass", 1), ("rpc.core.strays.append(bytes(8))", 2), ("rpc.close()", 2)]
)
def test_a_call_whose_reply_comes_late_is_repeated(suite: Suite, late: str, times: int) -> None:
    """Also one whose connection is closed since."""
    ends = f"""yield Wait(1)
    rpc = rpc_connect("nfs")
    rpc.call(p.NULL, p.NULL.args())
    {late}
    error = RpcTimeout("NULL", 1.0)
    error.exchange = v3.connections.exchanges[-1]
    raise error"""
    fixtures = "nfs3, v3, scratch, rpc_connect"
    suite.write(IMPORTS + check("a", after=ends, fixtures=fixtures) + check("b"))
    outcome = suite.run()
    assert outcome.verdicts == {"a": "FAIL", "b": "PASS"}
    assert log_of(outcome, "a").count("a begins") == times


def test_two_checks_without_a_reply_are_repeated(suite: Suite, serve: Callable[..., Server]) -> None:
    """The call of each may have been in the way of the other."""
    server = serve("mute-commit", now=True)
    suite.write(IMPORTS + mute("a") + mute("b"))
    outcome = suite.run("--target", server.url, "--call-timeout=1")
    assert ", 4 without a reply" in outcome.text


def test_a_procedure_that_is_never_answered_has_a_verdict_in_company_too(
    suite: Suite, serve: Callable[..., Server]
) -> None:
    """Who waited first runs again, and waits as long as any first call; only the others wait less."""
    server = serve("mute-commit", now=True)
    suite.write(IMPORTS + mute("a") + mute("b"))
    outcome = suite.run("--target", server.url, "--call-timeout=4")
    assert outcome.verdicts["a"] == "FAIL"
    assert outcome.checks["a"].expected == ["a reply within 4 s"]
    assert outcome.verdicts["b"] in {"VOID", "FAIL"}  # FAIL if this machine is so busy that it waits as long


FIXTURES = """
@pytest.fixture
def ends_badly(scratch):
    yield
    raise Unsupported("in the clean-up")

@pytest.fixture
def begins_badly(scratch):
    skip("in the set-up")

from nfsjudge import Unsupported
"""


def test_fixtures_end_with_their_check(suite: Suite) -> None:
    suite.write(
        IMPORTS
        + FIXTURES
        + check("a")
        + check("b", fixtures="nfs3, scratch, ends_badly")
        + check("c", fixtures="nfs3, scratch, begins_badly")
    )
    outcome = suite.run()
    assert outcome.verdicts == {"a": "PASS", "b": "UNSUPPORTED", "c": "SKIP"}
    assert outcome.checks["b"].reason == "in the clean-up"


def test_after_a_restart_the_others_begin_again(suite: Suite) -> None:
    suite.write(
        IMPORTS
        + check("a")
        + check("b", after="target.restart(); nfs3 = target.client(Nfs3)", fixtures="nfs3, scratch, target")
        + check("c")
    )
    outcome = suite.run()
    assert {name: outcome.verdicts[name] for name in "ac"} == {"a": "PASS", "c": "PASS"}
    assert log_of(outcome, "c").count("c begins") == 2


def test_a_check_whose_company_was_ended_shows_who_was_there(suite: Suite) -> None:
    """Whatever ended it may be the doing of any of them."""
    restarts = "target.restart(); nfs3 = target.client(Nfs3)"
    suite.write(
        IMPORTS
        + check("a", after=ENDS["fails"]).replace("Wait(10)", "Wait(20)")
        + check("b", after=restarts, fixtures="nfs3, scratch, target")
        + check("c", after=ENDS["fails"])
    )
    outcome = suite.run()
    assert {name: outcome.verdicts[name] for name in "ac"} == {"a": "FAIL", "c": "FAIL"}
    shown = "while checks waited together: "
    (line,) = [line for line in outcome.checks["a"].transcript if shown in line]
    assert set(line.partition(shown)[2].split(", ")) == {f"nfs3/fake/{name}" for name in "abc"}
    alone = suite.run("-k", "test_a").checks["a"].transcript
    assert not [line for line in alone if shown in line]


def test_nothing_is_left_when_a_run_is_interrupted(suite: Suite, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    noting = f"""
@pytest.fixture
def noting(scratch, request):
    yield
    with open({str(ended)!r}, "a") as file:
        print(request.node.name, file=file)
"""
    suite.write(
        IMPORTS
        + noting
        + check("a", fixtures="nfs3, scratch, noting")
        + check("b", after="raise KeyboardInterrupt", fixtures="nfs3, scratch, noting")
        + check("c", fixtures="nfs3, scratch, noting")
    )
    outcome = suite.run_apart()
    assert "interrupted before the first check was finished" in outcome.text
    assert sorted(ended.read_text().split()) == ["test_a", "test_b", "test_c"]


def test_a_run_that_stops_early_has_only_what_had_its_turn(suite: Suite) -> None:
    suite.write(IMPORTS + check("a") + check("b", after=ENDS["fails"]) + check("c"))
    outcome = suite.run("-x")
    assert outcome.verdicts == {"a": "PASS", "b": "FAIL"}
    assert outcome.exit_code == 1


def test_the_same_verdicts_with_workers(suite: Suite) -> None:
    suite.write(
        IMPORTS
        + "".join(check(f"{name}{number}", after=end) for name, end in ENDS.items() for number in range(3))
    )
    outcome = suite.run_apart(*TWO)
    assert outcome.verdicts == {
        f"{name}{number}": verdict for name, verdict in VERDICTS.items() for number in range(3)
    }


def test_on_mutants_each_check_is_alone(suite: Suite) -> None:
    suite.write(IMPORTS + check("a", after="expect('b begins' in LOG, 'company').equals(False)") + check("b"))
    outcome = suite.run("--mutants")
    assert "2 checks" in outcome.text


def test_where_knobs_are_traced_each_check_is_alone(suite: Suite, tmp_path: Path) -> None:
    suite.write(IMPORTS + check("a") + check("b"))
    outcome = suite.run(f"--write-knob-trace={tmp_path / 'trace'}")
    assert log_of(outcome, "a") == ["a begins"]


def test_the_log_of_the_wire_names_the_right_check(suite: Suite, tmp_path: Path) -> None:
    log = tmp_path / "wire"
    suite.write(IMPORTS + check("a") + check("b"))
    suite.run(f"--log-wire={log}")
    lines = [line for line in log.read_text().splitlines() if "WRITE" in line]
    assert [name for line in lines for name in "ab" if f"nfs3/fake/{name} " in f"{line} "] == ["a", "b"]


LEASES = """
@side_by_side(short_lease=True)
@proves(RULE, killed_by=MUTANT)
def test_{name}(v4, target):
    '''{name}'''
    def lease():
        reply = v4.session.compound(op.putrootfh(), op.getattr("lease_time"))
        return expect(reply).ok().attributes.lease_time
    if lease() > 10:
        target.set_lease(3)
        v4.end_sessions()
    yield Wait(lease())
    observe("lease", lease())
"""


def test_a_lease_is_set_once_for_all(suite: Suite) -> None:
    usual = """
@proves(RULE, killed_by=MUTANT)
def test_usual(v4):
    '''usual'''
    reply = v4.session.compound(op.putrootfh(), op.getattr("lease_time"))
    observe("lease", expect(reply).ok().attributes.lease_time)
"""
    suite.write(
        IMPORTS
        + "from nfsclient.clients.nfs4 import operations as op\n"
        + usual.replace("usual", "before")
        + check("other")
        + "".join(LEASES.format(name=name) for name in ("one", "two"))
        + "@pytest.mark.exclusive"
        + usual
    )
    outcome = suite.run()
    assert set(outcome.verdicts.values()) == {"PASS"}
    leases = {name: record.observations.get("lease") for name, record in outcome.checks.items()}
    assert leases["one"] == leases["two"] == "3"
    assert leases["before"] == leases["usual"] != "3"
    assert [name for name, record in outcome.checks.items() if "set_lease" in record.steered] == ["one"]


def test_a_helper_can_wait_on_the_spot() -> None:
    def helper() -> Waiting[int]:
        yield Wait(0.001)
        yield Wait(AT_MOST, lambda: True)
        return 7

    assert wait_out(helper(), Loop()) == 7
