# SPDX-License-Identifier: MIT
"""What is about operations works for those that a compound carries: shown with TOY, an invented protocol."""

from __future__ import annotations

import typing as t
from collections import Counter

import pytest

from fixtures.kills.mutants import Trace
from fixtures.plugin import evidence, statuses
from fixtures.plugin.classify import Judgement
from nfsclient.protocol.registry import registered
from nfsclient.replay import Story
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.blocking import RpcClient, connect_tcp
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.loop import Loop
from nfsclient.xdr import replace
from nfsjudge import Verdict, reproduce
from nfsjudge.lint import Finding, lint, views
from nfsjudge.lint import rule as rules
from nfsjudge.lint.case import Case
from nfsjudge.lint.engine import rules_for
from nfsjudge.lint.rule import Breach, rule
from nfsjudge.lint.views import Views, register
from nfsjudge.messages import Mark, message_records
from nfsjudge.pointing import Claim, find
from nfsjudge.records import StatisticsRecord, from_line, to_line
from nfsjudge.requirement import stated
from nfsjudge.tally import Tally
from nfsjudge.transcript import call_line, summary_line, transcript
from nfsmutants import Mutants, form
from nfsmutants.bending import amend
from nfsmutants.form import Call, mutant
from nfsserver import Server
from nfsserver.freedom import Freedom
from nfsserver.handlers import ServerApi
from reports.text import totals
from tests import toy
from tests.toy import ADD, COMPOUND, GET, PUT, TOY, ToyOp, ToyStat, add, did, exchange, get, got, put

if t.TYPE_CHECKING:
    from collections.abc import Iterator

    from nfsclient.rpc.program import Step
    from nfsclient.rpc.service import CallContext
    from nfsjudge.lint.world import World

KEEPS = stated("RFC 9999", "1", "GET gives what was PUT")
ENDS = stated("RFC 9999", "2", "the status of a compound is that of its last operation")


# ---------------------------------------------------------------- the server, mutants, knobs


class Rig:
    """A server that offers TOY besides its own programs, and a client."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.server = Server(seed=1)
        more = Freedom((ADD,), ("read_returns",), add_less)
        self.server.offer(toy.SERVICE._replace(freedoms=(more,)))
        self.server.listen(self.loop)
        self.rpc: RpcClient = connect_tcp("127.0.0.1", self.server.port, loop=self.loop)

    def ask(self, *asked: toy.ArgOp) -> list[toy.ResOp]:
        return self.rpc.call(COMPOUND, toy.CompoundArgs(0, list(asked))).resarray


def add_less(server: ServerApi, context: CallContext, args: toy.NumberArgs, proceed: t.Any) -> t.Any:
    """ADD takes no more than a knob says."""
    most = server.knobs.now.read_returns or args.value
    return proceed(context, replace(args, value=min(args.value, most)))


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    yield rig
    rig.rpc.close()
    rig.server.close()
    rig.loop.close()
    assert not rig.server.messages.faults


def test_a_compound_performs_its_operations_and_stops_at_an_error(rig: Rig) -> None:
    assert rig.ask(put(5), add(6), get()) == [did(ToyOp.PUT), did(ToyOp.ADD), got(11)]
    assert rig.ask(put(99), add(6), get()) == [did(ToyOp.PUT), did(ToyOp.ADD, ToyStat.FULL)]
    assert rig.server.pipeline.performed == Counter({COMPOUND: 2, PUT: 2, ADD: 2, GET: 1})


def test_a_mutant_bends_one_operation_inside_a_compound(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "_registry", dict(form._registry))

    @mutant(GET)
    def get_forgets_what_was_added(call: Call[toy.GetArgs, toy.GetRes]) -> toy.GetRes:
        """GET answers one less than the register has"""
        assert call.operation is GET
        return amend(call.proceed(), value=call.context.state.value - 1)

    mutants = Mutants(rig.server, ["get-forgets-what-was-added"])
    assert rig.ask(put(5), get(), add(6), get()) == [did(ToyOp.PUT), got(4), did(ToyOp.ADD), got(10)]
    mutants.clear()
    assert rig.ask(put(5), get()) == [did(ToyOp.PUT), got(5)]

    trace = Trace()
    trace.note("suites/toy/test_x.py::test_x[clean]", Counter({COMPOUND: 1, PUT: 1}))
    trace.note("suites/toy/test_y.py::test_y[clean]", Counter({COMPOUND: 1, GET: 1}))
    assert not trace.may_see("suites/toy/test_x.py::test_x[clean]", "get-forgets-what-was-added")
    assert trace.may_see("suites/toy/test_y.py::test_y[clean]", "get-forgets-what-was-added")


def test_a_knob_is_around_an_operation_inside_a_compound(rig: Rig) -> None:
    rig.server.knobs.set("read_returns", 2)
    assert rig.ask(put(5), add(6), get())[-1] == got(7)
    rig.server.knobs.reset()
    assert rig.ask(put(5), add(6), get())[-1] == got(11)


def test_what_is_interposed_sees_operations_of_compounds(rig: Rig) -> None:
    seen = []

    def note(_server: ServerApi, context: CallContext, args: toy.NumberArgs, proceed: t.Any) -> t.Any:
        seen.append((context.operation, args.value))
        return proceed(context, args)

    take_away = rig.server.interpose(PUT, note)
    rig.ask(put(1), add(2), put(3))
    take_away()
    rig.ask(put(4))
    assert seen == [(PUT, 1), (PUT, 3)]


# ---------------------------------------------------------------- steps


def test_the_steps_of_a_call(rig: Rig) -> None:
    recorded: list[Exchange] = []
    rig.rpc.on_exchange = recorded.append
    rig.ask(put(99), add(6), get())
    (exchange,) = recorded
    assert [step.operation for step in exchange.steps] == [PUT, ADD, GET]
    assert [getattr(step.args, "value", None) for step in exchange.steps] == [99, 6, None]
    assert [getattr(step.result, "status", None) for step in exchange.steps] == [
        ToyStat.OK,
        ToyStat.FULL,
        None,
    ]
    assert [step.at("status") for step in exchange.steps[:2]] == [
        "resarray[0].opput.status",
        "resarray[1].opadd.status",
    ]
    refused = exchange.steps[1].result
    assert all(exchange.is_about(it) for it in (refused, exchange.result, exchange))
    assert not exchange.is_about(did(ToyOp.PUT).opput), "equal, but another reply's"
    assert exchange.path_of(refused, "status") == "resarray[1].opadd.status"
    assert exchange.path_of(refused, None) == "resarray[1].opadd"
    assert exchange.path_of(exchange.result, "status") == "status"


def test_steps_are_found_once_until_the_reply_is_another(rig: Rig) -> None:
    recorded: list[Exchange] = []
    rig.rpc.on_exchange = recorded.append
    rig.ask(put(99), get())
    (exchange,) = recorded
    assert exchange.steps is exchange.steps
    exchange.result = None
    assert [step.result for step in exchange.steps] == [None, None]


# ---------------------------------------------------------------- lint


@pytest.fixture
def lint_of_toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The lint knows TOY, and has a rule over GET and one over COMPOUND."""
    monkeypatch.setattr(rules, "_rules", dict(rules._rules))
    monkeypatch.setattr(views, "_REGISTERED", dict(views._REGISTERED))

    def learn(world: World, step: Step, _views: object, *, is_shared: bool) -> None:
        world.properties.clear()
        if step.operation is PUT and step.result is not None and not is_shared:
            world.properties[0] = (step.args.value, world.source)

    register(TOY, Views(lambda _step: [], lambda step: [] if step.operation is GET else None, learn))

    @rule("toy/get-what-was-put", KEEPS, of=(GET,))
    def get_what_was_put(case: Case) -> Breach | None:
        said = case.world.properties.get(0)
        if said is None or case.ok is None or case.ok.value == said[0]:
            return None
        return Breach(str(said[0]), str(case.ok.value), "resok.value", said[1].number)

    @rule("toy/status-of-compound", ENDS, of=(COMPOUND,))
    def status_of_compound(case: Case) -> Breach | None:
        last = [step.result.status for step in case.exchange.steps if step.result is not None][-1:]
        return Breach(str(last), str(case.status), "status") if last and last != [case.status] else None

    rules_for.cache_clear()
    yield
    rules_for.cache_clear()


def found(*exchanges: Exchange) -> dict[str, Finding]:
    return {finding.rule.name: finding for finding in lint(exchanges)}


@pytest.mark.usefixtures("lint_of_toy")
def test_a_rule_looks_at_a_step() -> None:
    right = exchange([put(5), get(), put(6), get()], [did(ToyOp.PUT), got(5), did(ToyOp.PUT), got(6)])
    assert not found(right), "each operation is judged by what those before it have left"
    wrong = exchange([put(5), get()], [did(ToyOp.PUT), got(7)])
    finding = found(wrong)["toy/get-what-was-put"]
    assert finding.field == "resarray[1].opget.resok.value"
    assert finding.step is not None
    assert finding.step.operation is GET
    assert finding.text == "GET, exchange #1: 7 (against exchange #1)"


@pytest.mark.usefixtures("lint_of_toy")
def test_a_rule_looks_at_a_compound_as_a_whole() -> None:
    wrong = exchange([put(5), get()], [did(ToyOp.PUT), got(5)], ToyStat.FULL)
    finding = found(wrong)["toy/status-of-compound"]
    assert (finding.field, finding.count) == ("status", 1)
    assert finding.text.startswith("COMPOUND, exchange #1")


@pytest.mark.usefixtures("lint_of_toy")
def test_operations_of_compounds_that_overlap_are_not_compared_with_each_other() -> None:
    played = exchange([put(5), get()], [did(ToyOp.PUT), got(6)])
    other = exchange([put(6)], [did(ToyOp.PUT)])
    assert "toy/get-what-was-put" in found(played)
    assert "toy/get-what-was-put" not in found(played, other)


# ---------------------------------------------------------------- statuses, statistics

REFUSED = (
    [put(99), add(6), get()],
    [did(ToyOp.PUT), did(ToyOp.ADD, ToyStat.FULL)],
    ToyStat.FULL,
)


def test_statuses_are_those_of_operations() -> None:
    with registered(toy.PROTOCOL):
        assert statuses.statuses_of([exchange(*REFUSED), exchange([get()], [got(1)])]) == [
            "toy1 ADD FULL",
            "toy1 GET OK",
            "toy1 PUT OK",
        ]
        assert statuses.statuses_of([exchange([get()], [], ToyStat.FULL)]) == ["toy1 COMPOUND FULL"]


def test_statistics_count_operations() -> None:
    tally = Tally((("toy", (TOY,)),))
    tally.add(exchange(*REFUSED))
    tally.add(exchange([get(), get()], None))
    other = Tally((("toy", (TOY,)),))
    other.merge(tally.to_plain())
    record = other.record()
    assert totals(record).startswith("2 calls, 1 without a reply, "), "what a compound carries is no call"
    rows = {(row.within, row.procedure): row for row in record.procedures}
    assert {name: (row.calls, row.replies) for name, row in rows.items()} == {
        ("", "COMPOUND"): (2, 1),
        ("COMPOUND", "PUT"): (1, 1),
        ("COMPOUND", "ADD"): (1, 1),
        ("COMPOUND", "GET"): (3, 0),
    }
    assert rows["", "COMPOUND"].bytes_sent == 8
    assert not rows["COMPOUND", "GET"].bytes_sent
    assert not rows["COMPOUND", "GET"].latency


def test_statistics_of_before_compounds_are_read() -> None:
    line = (
        '{"procedures": [{"protocol": "nfs3", "procedure": "READ", "calls": 2, "replies": 2, "retransmissions": 0, '
        '"bytes_sent": 8, "bytes_received": 9, "latency": {}}], "kind": "statistics", "schema": 1}'
    )
    record = from_line(line)
    assert isinstance(record, StatisticsRecord)
    assert (record.procedures[0].procedure, record.procedures[0].within) == ("READ", "")
    assert from_line(to_line(record)) == record


# ---------------------------------------------------------------- evidence


def test_a_transcript_prints_a_compound_operation_by_operation() -> None:
    played = exchange(*REFUSED)
    assert summary_line(played, 1) == "#1 COMPOUND (PUT, ADD, GET) xid 0x00000001 -> ADD FULL (1.0 ms)"
    assert call_line(played) == "COMPOUND PUT value=99; ADD value=6; GET"
    refused = played.steps[1].result
    many = exchange([put(99)] * 20, [])
    assert call_line(many).endswith("PUT value=99; and 4 more")
    assert call_line(played, refused, "status") == "ADD (operation 2 of PUT, ADD, GET) value=6"
    assert call_line(played, played.result, played.path_of(refused, "status")) == call_line(played, refused)
    assert call_line(played, played.result, "status") == call_line(played), "the status of the compound"
    assert transcript([played], subject=refused, field="status", note="expected OK") == [
        "#1 COMPOUND (PUT, ADD, GET) xid 0x00000001 -> ADD FULL (1.0 ms)",
        "  as: AUTH_SYS uid 0, gid 0",
        "  call:",
        "    tag: 7",
        "  [0] PUT",
        "    value: 99",
        "    reply:",
        "      status: OK (0)",
        "  [1] ADD",
        "    value: 6",
        "    reply:",
        "      status: FULL (1)    <-- expected OK",
        "  [2] GET: no result",
    ]
    whole = transcript([played], subject=refused)
    assert "  [1] ADD    <-- here" in whole, "the operation, where no field is named"
    of_reply = transcript([played], subject=played.result, field="status")
    assert "    status: FULL (1)    <-- here" in of_reply, "the status of the compound"
    assert transcript([played], subject=played, field="resarray[0].opput.status") == transcript(
        [played], subject=played.steps[0].result, field="status"
    )


def test_a_status_is_that_of_the_operation() -> None:
    played = exchange(*REFUSED)
    of_step = Judgement(Verdict.FAIL, what="status", subject=played.steps[1].result, field="status")
    of_call = Judgement(Verdict.FAIL, what="status", subject=played.result, field="status")
    assert [evidence._what(each, played) for each in (of_step, of_call)] == [
        "status of ADD",
        "status of COMPOUND",
    ]


def test_a_mark_points_into_the_results_of_a_compound() -> None:
    played = exchange(*REFUSED)
    (_, reply) = message_records([played], marks=[Mark(played.steps[1].result, "status", "expected OK")])
    assert reply.summary == "COMPOUND (PUT, ADD, GET) xid 0x00000001: FULL"
    (at,) = reply.deviating
    assert reply.fields[at].strip() == "status: FULL (1)"
    assert at > reply.fields.index("  [1]:")


def test_a_script_marks_the_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "_CONSTANTS", {})
    played = exchange(*REFUSED)
    with registered(toy.PROTOCOL):
        text = reproduce.write_script(
            Story("toy/ADD/x", "FAIL", "a clause"),
            reproduce.Setting("nfs://host/export", credential=AuthSys(0, 0)),
            [played],
            marks=[Mark(played.steps[1].result, "status", "expected OK")],
        )
    assert "toy.COMPOUND, toy.CompoundArgs(tag=7" in text
    assert "deviates='resarray[1].opadd.status', note='expected OK'" in text


def test_a_claim_about_an_operation_is_found_in_the_compound() -> None:
    played = exchange([put(5), get()], [did(ToyOp.PUT), got(7)])
    result = played.steps[1].result
    by_part = find([played], Claim(value=7, part=result, field="resok.value"))
    assert by_part == (played.result, "resarray[1].opget.resok.value")
    by_name = find([played], Claim(value=7, field="resok.value"))
    assert by_name == by_part
