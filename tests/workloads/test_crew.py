# SPDX-License-Identifier: MIT
"""What the controller does with what workers say: nothing that makes no sense is merged, and no wait is endless."""

from __future__ import annotations

import json
import socket
import typing as t
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfsclient.rpc.loop import Loop
from reports.workloads.table import result_text
from workloads.carriers import wire
from workloads.carriers.crew import Crew, Deadlines
from workloads.carriers.messages import decode, no_report, report_of
from workloads.carriers.news import News
from workloads.carriers.wire import Wire
from workloads.contents import Contents
from workloads.ledger import Ledger
from workloads.result import JUDGED, SEEN
from workloads.running import About, carry_out
from workloads.shape import Misshaped, Plain
from workloads.spec import Order
from workloads.trouble import LostWorker, Refused, Stopped

Answer = Callable[[int, dict[str, Plain]], list[Plain]]
"""(worker, call) -> messages."""


def good(worker: int, call: dict[str, Plain]) -> list[Plain]:
    match call["call"]:
        case "clock":
            return [{"result": 1000.0 * worker}]
        case "open":
            return [{"result": {"null_rtt_us": 10.0, "nfsproof": "1"}}]
        case "phase":
            report = no_report(call["name"], call["start_at"] + 0.001 * worker, "")
            del report["stopped"]
            return [{"progress": "so far"}, {"result": {"report": report, "news": {"of": worker}}}]
        case "clean":
            return [{"result": {"left": ""}}]
        case _:
            return [{"result": True}]


class Said:
    """A `Reach` whose workers are functions."""

    def __init__(self, workers: int, answer: Answer = good) -> None:
        self.names = [f"number {number}" for number in range(workers)]
        self.answer = answer
        self.calls: list[tuple[int, dict[str, Plain]]] = []
        self.killed: set[int] = set()
        self.is_ended = False
        self._left: list[tuple[int, str]] = []
        self._gone: dict[int, str] = {}

    def start(self) -> None:
        pass

    def send(self, worker: int, text: str) -> None:
        call = json.loads(text)
        self.calls.append((worker, call))
        if worker in self.killed:
            return
        for message in self.answer(worker, call):
            if message == "gone":
                self._gone[worker] = "it is gone"
            else:
                self._left.append((worker, message if isinstance(message, str) else json.dumps(message)))

    def arrived(self) -> list[tuple[int, str]]:
        left, self._left = self._left, []
        return left

    def gone(self) -> Mapping[int, str]:
        return self._gone

    def kill(self, worker: int) -> None:
        self.killed.add(worker)

    def end(self, seconds: float) -> None:
        self.is_ended = True


@pytest.fixture(name="loop")
def make_loop() -> Iterator[Loop]:
    with closing(Loop()) as loop:
        yield loop


def crew_of(loop: Loop, reach: Said, **more: t.Any) -> Crew:
    order = Order(workload="write10", parameters={}, directory="d", workers=len(reach.names))
    settings: dict[str, t.Any] = {
        "last_phase": "z",
        "nfsproof": "1",
        "deadlines": Deadlines(open=0.2, slack=0, stop=0.1, clean=0.2),
        **more,
    }
    return Crew(order, reach, loop=loop, **settings)


def test_the_first_worker_opens_before_the_others_and_clocks_are_compared(loop: Loop) -> None:
    reach = Said(3)
    crew = crew_of(loop, reach)
    assert crew.open() == [{"null_rtt_us": 10.0}] * 3
    opened = [(worker, call["order"]["worker"]) for worker, call in reach.calls if call["call"] == "open"]
    assert opened == [(0, 0), (1, 1), (2, 2)]
    reports = crew.phase("a")
    starts = [call["start_at"] for _, call in reach.calls if call["call"] == "phase"]
    # Their clocks say 0, 1000 and 2000 at the same time; all are given the same moment, in their own time.
    assert [round(starts[worker] - starts[0], -1) for worker in range(3)] == [0, 1000, 2000]
    assert [round(report["start"]["late_us"]) for report in reports] == [0, 1000, 2000]
    assert max(report["began_at"] for report in reports) - reports[0]["began_at"] == pytest.approx(
        0.002, abs=1e-4
    )


def test_workers_learn_what_the_others_have_made_and_the_last_phase_needs_none(loop: Loop) -> None:
    reach = Said(3)
    crew = crew_of(loop, reach)
    crew.open()
    crew.phase("a")
    crew.phase("z")
    phases = [(worker, call) for worker, call in reach.calls if call["call"] == "phase"]
    assert [call["learn"] for _, call in phases[:3]] == [[], [], []]
    assert [call["learn"] for _, call in phases[3:]] == [
        [{"of": 1}, {"of": 2}],
        [{"of": 0}, {"of": 2}],
        [{"of": 0}, {"of": 1}],
    ]
    assert [call["collect"] for _, call in phases] == [True] * 3 + [False] * 3


def _phase_gives(*messages: Plain) -> Answer:
    def answer(worker: int, call: dict[str, Plain]) -> list[Plain]:
        return list(messages) if call["call"] == "phase" and worker == 1 else good(worker, call)

    return answer


def _bad_report(**change: t.Any) -> Plain:
    report = no_report("a", 1.0, "")
    return {"result": {"report": {**report, **change}, "news": None}}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("gone", "it is gone (a)"),
        ("{", "its answer makes no sense: expected JSON"),
        ("[1]", "expected an object"),
        ('{"result": NaN}', "NaN is no number of JSON"),
        ({"hello": 1}, "no answer has the form of"),
        ({"broken": "ValueError: x"}, "it failed: ValueError: x"),
        ({"result": {"news": None}}, "its answer makes no sense"),
        ({"result": [1]}, "its answer makes no sense"),
        (_bad_report(name="b"), "expected a report of a, got one of 'b'"),
        (_bad_report(operations=-1), "report of a.operations: expected a whole number"),
        (_bad_report(rpcs="many"), "report of a.rpcs"),
        (_bad_report(latencies={"count": 3}), "not a histogram"),
        (_bad_report(more=1), "expected no field named 'more'"),
        (_bad_report(findings=[{"rule": "r", "severity": "BAD", "text": "", "count": 1}]), "a severity"),
    ],
)
def test_a_worker_that_makes_no_sense_is_lost(loop: Loop, message: Plain, expected: str) -> None:
    removed = list[str]()

    def remove() -> str:
        removed.append("by the controller")
        return ""

    reach = Said(3, _phase_gives(message))
    crew = crew_of(loop, reach, remove=remove)
    crew.open()
    with pytest.raises(LostWorker) as caught:
        crew.phase("a")
    assert "worker 1 (number 1): " in str(caught.value)
    assert expected in str(caught.value)
    assert reach.killed == {1}
    assert crew.clean() == [{"left": ""}]
    assert [worker for worker, call in reach.calls if call["call"] == "clean"] == [0]
    assert removed == []
    crew.close()
    assert reach.is_ended


def test_a_worker_that_says_nothing_is_lost_in_time(loop: Loop) -> None:
    reach = Said(2, lambda worker, call: [] if worker and call["call"] == "open" else good(worker, call))
    with pytest.raises(LostWorker, match=r"worker 1 \(number 1\): it did not answer in time \(open, 0 s\)"):
        crew_of(loop, reach).open()
    assert reach.killed == {1}


def test_if_all_are_lost_the_controller_removes_what_is_left(loop: Loop) -> None:
    for left in ("", "d: no space"):
        reach = Said(2, lambda worker, call: ["gone"] if call["call"] == "phase" else good(worker, call))
        crew = crew_of(loop, reach, remove=lambda left=left: left)
        crew.open()
        with pytest.raises(LostWorker):
            crew.phase("a")
        assert crew.clean() == [{"left": left}]


def test_a_worker_that_cannot_open_stops_the_run_after_the_others_have_answered(loop: Loop) -> None:
    def answer(worker: int, call: dict[str, Plain]) -> list[Plain]:
        if worker == 1 and call["call"] == "open":
            return [{"stopped": {"kind": "connection", "text": "nobody answers"}}]
        if worker == 2 and call["call"] == "open":
            return [{"refused": "no"}]
        return good(worker, call)

    reach = Said(3, answer)
    crew = crew_of(loop, reach)
    with pytest.raises(Stopped, match=r"worker 1 \(number 1\): nobody answers") as caught:
        crew.open()
    assert caught.value.kind == "connection"
    assert crew.clean() == [{"left": ""}]
    assert reach.killed == set()


def test_one_with_wrong_data_stops_the_others(loop: Loop) -> None:
    wrong = {"wrong": {"text": "bad", "capture": ""}, "stopped": None}

    def answer(worker: int, call: dict[str, Plain]) -> list[Plain]:
        if call["call"] == "phase":
            return [_bad_report(**wrong)] if worker == 1 else []
        if call["call"] == "stop":
            return [{"interrupted": True}]
        return good(worker, call)

    crew = crew_of(loop, Said(3, answer))
    crew.open()
    reports = crew.phase("a")
    assert [sorted(report.keys() & {"wrong", "stopped"}) for report in reports] == [
        ["stopped"], ["wrong"], ["stopped"],
    ]  # fmt: skip
    assert "worker 2 (number 2) was stopped" in reports[2]["stopped"]["text"]


@pytest.mark.parametrize(
    "message", ["", "gone", "{", {"broken": "x"}, {"result": {"report": 1}}, {"result": [1]}]
)
def test_wrong_data_is_not_lost_with_another_worker(loop: Loop, message: Plain) -> None:
    """The one that is lost says nothing after `stop`, is gone, or makes no sense."""

    def answer(worker: int, call: dict[str, Plain]) -> list[Plain]:
        if call["call"] == "phase":
            return [_bad_report(wrong={"text": "bad", "capture": ""}, stopped=None)] if worker == 1 else []
        if call["call"] == "stop":
            return [message] if message and worker == 2 else [] if worker == 2 else [{"interrupted": True}]
        return good(worker, call)

    reach = Said(3, answer)
    crew = crew_of(loop, reach)
    crew.open()
    reports = crew.phase("a")
    assert [sorted(report.keys() & {"wrong", "stopped"}) for report in reports] == [
        ["stopped"], ["wrong"], ["stopped"],
    ]  # fmt: skip
    assert reach.killed == {2}


def test_another_version_is_refused(loop: Loop) -> None:
    with pytest.raises(Refused, match="install the same version everywhere"):
        crew_of(loop, Said(2), nfsproof="2").open()


def test_a_report_is_what_was_sent() -> None:
    report = no_report("a", 5.0, "why") | {"series": [[0, 1, 2, 3, 4.5, 6.5]], "calls": {"READ": 2}}
    assert report_of(report, "a") == report
    with pytest.raises(Misshaped, match="six numbers"):
        report_of(report | {"series": [[0, 1, 2, 3, 4.5]]}, "a")
    with pytest.raises(Misshaped, match="expected JSON"):
        decode("[" * 100_000)


# ---------------------------------------------------------------- the wire


@given(st.lists(st.text(st.characters(max_codepoint=127), max_size=50)), st.integers(1, 7))
def test_messages_arrive_whole_however_they_are_cut(messages: list[str], size: int) -> None:
    ours, theirs = socket.socketpair()
    with closing(Loop()) as loop, closing(Wire(ours, loop)) as end, theirs:
        octets = b"".join(map(wire.frame, messages))
        for at in range(0, len(octets), size):
            theirs.sendall(octets[at : at + size])
            loop.run_once(loop.clock() + 1)
        loop.catch_up()
        assert list(end.inbox) == messages
        assert not end.is_over


def _ends(end: Wire, loop: Loop) -> bool:
    return loop.run_until(lambda: end.is_over, loop.clock() + 60)


def test_a_message_that_is_cut_off_or_too_long_ends_the_wire() -> None:
    for octets in (wire.frame("half")[:-1], b"\xff\xff\xff\xff"):
        ours, theirs = socket.socketpair()
        with closing(Loop()) as loop, closing(Wire(ours, loop)) as end:
            theirs.sendall(octets)
            theirs.close()
            assert _ends(end, loop)
            assert list(end.inbox) == []
            end.send("nothing happens")


# ---------------------------------------------------------------- news


_CONTENTS = Contents(1)


def _ledger() -> Ledger:
    return Ledger(_CONTENTS, 0)


_NAMES = st.sampled_from(["a", "b", "c", "e"])
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "write", "remove", "rename", "link", "symlink", "mkdir", "cut", "tell"]),
        _NAMES, _NAMES, st.integers(0, 50), st.integers(1, 50),
    ),
    max_size=40,
)  # fmt: skip


@given(_STEPS)
def test_another_ledger_learns_all_that_happens(steps: list[tuple[str, str, str, int, int]]) -> None:
    mine, other = _ledger(), _ledger()
    news, theirs = News(mine), News(other)
    for step, path, to, offset, count in steps:
        _do(mine, step, path, to, offset, count)
        if step == "tell":
            theirs.learn(json.loads(json.dumps(news.collect())))
    theirs.learn(json.loads(json.dumps(news.collect())))
    assert other.children == mine.children
    assert other.links == mine.links
    assert other.files.keys() == mine.files.keys()
    for path, state in mine.files.items():
        seen = other.files[path]
        assert (seen.number, seen.version) == (state.number, state.version)
        assert seen.pieces.between(0, 1000) == state.pieces.between(0, 1000)
        assert {each for each in other.files if other.files[each] is seen} == {
            each for each in mine.files if mine.files[each] is state
        }
    assert theirs.collect()["files"] == []


def _do(ledger: Ledger, step: str, path: str, to: str, offset: int, count: int) -> None:
    is_there = path in ledger.files or path in ledger.links or path in ledger.children
    to_is_there = to in ledger.files or to in ledger.links or to in ledger.children
    if step == "create" and not is_there:
        ledger.create(path)
    elif step == "mkdir" and not is_there:
        ledger.mkdir(path)
    elif step == "symlink" and not is_there:
        ledger.links[path] = to
        ledger.enter(path)
    elif path in ledger.files:
        if step == "write":
            state = ledger.files[path]
            state.end_write(state.begin_write(offset, count, 0))
        elif step == "cut":
            ledger.files[path].truncate(offset)
        elif step == "remove":
            ledger.remove(path)
        elif step == "rename" and not to_is_there:
            ledger.rename(path, to)
        elif step == "link" and not to_is_there:
            ledger.link(path, to)


def test_news_that_make_no_sense_are_refused() -> None:
    for plain in ({}, None, {"gone": 1}, News(_ledger()).collect() | {"files": [[["a"], 1, 1, [[0]]]]}):
        with pytest.raises(Misshaped, match="expected news of a ledger"):
            News(_ledger()).learn(plain)


# ---------------------------------------------------------------- the result


def _result_of(loop: Loop, lint: int = 4, **per_worker: list[t.Any]) -> t.Any:
    """Of a run of `write10` by workers with these values in the report of the measured phase."""

    def answer(worker: int, call: dict[str, Plain]) -> list[Plain]:
        found = good(worker, call)
        if call["call"] == "phase" and call["name"] == "write":
            found[1]["result"]["report"] |= {name: values[worker] for name, values in per_worker.items()}
        return found

    reach = Said(len(next(iter(per_worker.values()))), answer)
    order = Order(workload="write10", parameters={}, directory="d", workers=len(reach.names), lint=lint)
    crew = Crew(order, reach, loop=loop, last_phase="compare", nfsproof="1")
    return carry_out(crew, order, About("embedded", "1")).result


def test_a_busy_worker_is_named_by_number_and_one_that_waits_is_not_busy(loop: Loop) -> None:
    result = _result_of(loop, cpu=[1.9, 0.01, 0.2], seconds=[2.0, 0.001, 1.0], rpcs=[5, 0, 5])
    assert [each.cpu_share for each in result.client.workers] == pytest.approx([0.95, 0.005, 0.1])
    assert any(line.startswith("1 of 3 workers used up to 95% of a processor") for line in result.warnings)
    quiet = _result_of(loop, cpu=[1.3, 0.01], seconds=[2.0, 0.001])
    assert not any("of a processor" in line for line in quiet.warnings)


def test_calls_that_the_lint_judged_are_those_of_all_workers(loop: Loop) -> None:
    result = _result_of(loop, judged=[3, 4], seen=[12, 16], rpcs=[2, 3])
    assert (result.events[JUDGED], result.events[SEEN], result.warnings) == (7, 28, ())
    assert "lint:     judged 7 of 28 calls" in result_text(result).splitlines()


def test_a_short_run_says_nothing_of_the_processor(loop: Loop) -> None:
    result = _result_of(loop, cpu=[0.031, 0.01], seconds=[0.030, 0.03])
    assert result.client.cpu_share == 1.0
    assert result.warnings == ()
    busy = _result_of(loop, cpu=[3.1, 0.01], seconds=[3.0, 3.0])
    assert busy.client.cpu_share == 1.0
    assert "use more workers (--workers)" in busy.warnings[0]
