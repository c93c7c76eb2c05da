# SPDX-License-Identifier: MIT
"""What each action of a plan does to messages: no sockets, no clock."""

from __future__ import annotations

import typing as t

import pytest

from nfsclient.protocol import nfs3
from nfsclient.rpc.record import RecordAssembler
from nfsfaults import actions as a
from nfsfaults.matcher import Event, Finish, Flow, Matcher, SendElsewhere, Write
from nfsfaults.messages import Kind, Toward
from nfsfaults.names import BadPlan
from nfsfaults.plan import Link, Plan, Rule, Selector
from tests.nfsfaults.messages import call, framed, reply


def flow_of(*rules: Rule, links: tuple[Link, ...] = (), seed: int = 0) -> tuple[Matcher, Flow]:
    matcher = Matcher(Plan(rules, links, seed))
    return matcher, matcher.flow()


def on(operation: str, *actions: a.Action, kind: Kind = "call", **how: t.Any) -> Rule:
    return Rule(Selector(kind, operations=(operation,), **how), actions)


def drained(flow: Flow, until: float = 100.0) -> list[Event]:
    """All events until a time, asked for at each deadline as an executor does."""
    events: list[Event] = []
    while (deadline := flow.deadline) is not None and deadline <= until:
        events += flow.events(deadline)
    return events


def times_and_xids(events: list[Event]) -> list[tuple[float, int]]:
    return [
        (event.at, int.from_bytes(event.data[4:8], "big")) for event in events if isinstance(event, Write)
    ]


def send(flow: Flow, *messages: bytes, now: float = 0.0, toward: Toward = "server") -> None:
    for message in messages:
        flow.receive(now, message, toward)


def test_what_no_rule_wants_passes_at_once_and_in_order() -> None:
    matcher, flow = flow_of(on("WRITE", a.Drop()))
    send(flow, call(xid=1), call("REMOVE", 2), b"no RPC message")
    written = [event.data for event in flow.events(0.0) if isinstance(event, Write)]
    assert written == [framed(call(xid=1)), framed(call("REMOVE", 2)), framed(b"no RPC message")]
    assert [rule.label for rule in matcher.unfired] == ["drop on call of WRITE (each)"]


@pytest.mark.parametrize(
    ("how", "lost"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"nth": 2}, [2]),
        ({"every": 2}, [2, 4, 6]),
        ({"every": 2, "count": 2}, [2, 4]),
        ({"count": 1}, [1]),
    ],
)
def test_a_rule_acts_at_its_turn(how: dict[str, t.Any], lost: list[int]) -> None:
    _, flow = flow_of(on("GETATTR", a.Drop(), **how))
    send(flow, *(call(xid=xid) for xid in range(1, 7)))
    passed = {xid for _, xid in times_and_xids(flow.events(0.0))}
    assert [xid for xid in range(1, 7) if xid not in passed] == lost


def test_probability_repeats_with_the_seed() -> None:
    def passed(seed: int) -> list[tuple[float, int]]:
        _, flow = flow_of(on("GETATTR", a.Drop(), probability=0.5), seed=seed)
        send(flow, *(call(xid=xid) for xid in range(64)))
        return times_and_xids(flow.events(0.0))

    assert passed(1) == passed(1)
    assert passed(1) != passed(2)
    assert 0 < len(passed(1)) < 64


def test_a_reply_is_known_by_its_call_and_the_call_by_its_arguments() -> None:
    rule = Rule(
        Selector("reply", operations=("READ",), where=lambda message: message.args.count == 100),
        (a.SetField("result.status", 5),),
    )
    matcher, flow = flow_of(rule)
    send(flow, call("READ", 7))
    send(flow, reply("READ", 7), toward="client")
    *_, answer = flow.events(0.0)
    assert isinstance(answer, Write)
    assert nfs3.Read3Res.from_xdr(answer.data[-8:]).status == nfs3.Nfsstat3.NFS3ERR_IO
    assert matcher.firings[0].message == "READ reply, xid 0x00000007"
    assert matcher.firings[0].after == answer.data[4:]


def test_a_second_reply_is_known_as_well() -> None:
    matcher, flow = flow_of(on("REMOVE", a.Drop(), kind="reply", nth=2))
    send(flow, call("REMOVE", 7))
    send(flow, reply("REMOVE", 7), reply("REMOVE", 7), toward="client")
    assert len(flow.events(0.0)) == 2  # the call and the first reply
    assert matcher.fired[0] == 1


def test_later_messages_pass_a_delayed_one() -> None:
    _, flow = flow_of(on("GETATTR", a.Delay(2.0), nth=1))
    send(flow, call(xid=1), call(xid=2))
    assert times_and_xids(drained(flow)) == [(0.0, 2), (2.0, 1)]


def test_copies_follow_in_their_gap() -> None:
    _, flow = flow_of(on("GETATTR", a.Duplicate(2, gap=0.5)))
    send(flow, call(xid=1))
    assert times_and_xids(drained(flow)) == [(0.0, 1), (0.5, 1), (1.0, 1)]


def test_a_held_message_goes_after_the_next_ones() -> None:
    _, flow = flow_of(on("REMOVE", a.Hold(messages=2)))
    send(flow, call("REMOVE", 1), *(call(xid=xid) for xid in (2, 3, 4)))
    assert [xid for _, xid in times_and_xids(drained(flow))] == [2, 3, 1, 4]


def test_a_held_message_goes_when_nothing_comes() -> None:
    _, flow = flow_of(on("REMOVE", a.Hold(seconds=3.0)))
    send(flow, call("REMOVE", 1))
    assert times_and_xids(drained(flow)) == [(3.0, 1)]


def test_a_drop_may_end_the_connection_after_what_went_before() -> None:
    _, flow = flow_of(on("REMOVE", a.Drop(then="reset")))
    send(flow, call(xid=1), call("REMOVE", 2))
    assert flow.events(0.0) == [Write(0.0, "server", framed(call(xid=1))), Finish(0.0, "server", "reset")]


@pytest.mark.parametrize("via", ["same-port", "other-port", "forged"])
def test_a_replay_elsewhere_has_the_same_bytes(via: a.Via) -> None:
    _, flow = flow_of(on("REMOVE", a.Replay(1.0, via)))
    send(flow, call("REMOVE", 1))
    assert drained(flow) == [
        Write(0.0, "server", framed(call("REMOVE", 1))),
        SendElsewhere(1.0, "server", call("REMOVE", 1), via),
    ]


def test_a_blackhole_swallows_both_directions_for_its_time() -> None:
    _, flow = flow_of(on("REMOVE", a.Blackhole(5.0)))
    send(flow, call("REMOVE", 1), call(xid=2), now=1.0)
    send(flow, reply(xid=2), now=5.9, toward="client")
    send(flow, call(xid=3), now=6.0)
    assert times_and_xids(drained(flow)) == [(6.0, 3)]


def test_segments_cut_the_record_and_hold_up_what_follows() -> None:
    _, flow = flow_of(on("REMOVE", a.Segments((1, 3), gap=0.25)))
    record = framed(call("REMOVE", 1))
    send(flow, call("REMOVE", 1), call(xid=2))
    *pieces, last = drained(flow)
    assert [event.data for event in pieces[:3] if isinstance(event, Write)] == [
        record[:1],
        record[1:4],
        record[4:7],
    ]
    assert b"".join(event.data for event in pieces if isinstance(event, Write)) == record
    assert last == Write(pieces[-1].at, "server", framed(call(xid=2)))
    assert pieces[-1].at == pytest.approx(0.25 * (len(pieces) - 1))


@pytest.mark.parametrize("sizes", [(4,), (0, 4), (1, 1, 1), (1000,), (12, 12, 12)])
def test_fragments_are_one_record(sizes: tuple[int, ...]) -> None:
    _, flow = flow_of(on("REMOVE", a.Fragments(sizes, gap=0.5)))
    send(flow, call("REMOVE", 1))
    events = drained(flow)
    data = b"".join(event.data for event in events if isinstance(event, Write))
    (record,) = RecordAssembler().feed(data)
    assert record.payload() == call("REMOVE", 1)
    assert len(data) - len(call("REMOVE", 1)) == 4 * len(events)


def test_a_stall_stands_in_the_middle_of_a_record() -> None:
    _, flow = flow_of(on("REMOVE", a.Stall(2.0, at=10)))
    record = framed(call("REMOVE", 1))
    send(flow, call("REMOVE", 1), call(xid=2))
    assert drained(flow) == [
        Write(0.0, "server", record[:10]),
        Write(2.0, "server", record[10:]),
        Write(2.0, "server", framed(call(xid=2))),
    ]


@pytest.mark.parametrize(("action", "how"), [(a.Truncate(10), "close"), (a.Reset(10), "reset")])
def test_a_cut_record_ends_the_connection(action: a.Action, how: str) -> None:
    _, flow = flow_of(on("REMOVE", action))
    send(flow, call("REMOVE", 1))
    assert drained(flow) == [
        Write(0.0, "server", framed(call("REMOVE", 1))[:10]),
        Finish(0.0, "server", how),  # type: ignore[arg-type]
    ]


def test_a_datagram_is_cut_and_never_segmented() -> None:
    matcher = Matcher(Plan((on("REMOVE", a.Truncate(30)), on("GETATTR", a.Segments()))))
    flow = matcher.flow("udp")
    send(flow, call("REMOVE", 1), call(xid=2))
    first, _, second = flow.events(0.0)
    assert isinstance(first, Write)
    assert first.data == call("REMOVE", 1)[:30]
    assert second == Write(0.0, "server", call(xid=2))
    assert [rule.select.operations for rule in matcher.unfired] == [("GETATTR",)]


def test_bytes_are_set_cut_and_flipped() -> None:
    data = call(xid=1)
    for action, changed in [
        (a.SetBytes(0, b"\xff" * 4), b"\xff" * 4 + data[4:]),
        (a.SetBytes(-1, flip=b"\x01"), data[:-1] + bytes([data[-1] ^ 1])),
        (a.SetBytes(-4, cut=4), data[:-4]),
        (a.SetBytes(4, b"more", cut=0), data[:4] + b"more" + data[4:]),
    ]:
        _, flow = flow_of(on("GETATTR", action))
        send(flow, data)
        assert flow.events(0.0) == [Write(0.0, "server", framed(changed))]


def test_a_rule_whose_field_is_not_there_has_not_fired() -> None:
    matcher, flow = flow_of(
        on("GETATTR", a.SetField("args.count", 1)), on("READ", a.SetField("args.count", 1))
    )
    send(flow, call(xid=1), call("READ", 2))
    first, second = flow.events(0.0)
    assert first == Write(0.0, "server", framed(call(xid=1)))
    assert isinstance(second, Write)
    assert nfs3.Read3Args.from_xdr(second.data[-20:]).count == 1
    assert len(matcher.unfired) == 1


def test_actions_of_a_rule_follow_each_other() -> None:
    _, flow = flow_of(on("READ", a.SetField("args.offset", 5), a.Duplicate(1, gap=1.0), a.Delay(2.0)))
    send(flow, call("READ", 1))
    events = drained(flow)
    assert [event.at for event in events] == [2.0, 3.0]
    assert all(
        isinstance(event, Write) and event.data[-12:] == bytes(7) + b"\x05" + b"\0\0\0d" for event in events
    )


def test_a_link_takes_its_time_for_bytes_and_gaps() -> None:
    size = len(call())
    _, flow = flow_of(links=(Link("server", latency=1.0, overhead=0.5, gap=2.0, gap_per_byte=0.01),))
    send(flow, call(xid=1), call(xid=2))
    (first, _), (second, _) = times_and_xids(drained(flow))
    assert first == pytest.approx(1.0 + 0.5 + 0.01 * size)
    assert second == pytest.approx(first + max(2.0, 0.5 + 0.01 * size))


@pytest.mark.parametrize("shared", [False, True])
def test_messages_of_two_connections_wait_for_each_other_on_a_shared_link(shared: bool) -> None:
    matcher, first = flow_of(links=(Link("server", latency=5.0, overhead=0.5, shared=shared),))
    second = matcher.flow("tcp")
    for flow in (first, second, first):
        send(flow, call())
        assert flow.events(0.0) == []
    times = [at for flow in (first, second) for at, _ in times_and_xids(drained(flow))]
    assert times == ([5.5, 6.5, 6.0] if shared else [5.5, 6.0, 5.5])


def test_a_link_loses_its_share() -> None:
    _, flow = flow_of(links=(Link("server", loss=0.25),))
    send(flow, *(call(xid=xid) for xid in range(400)))
    assert 50 < 400 - len(drained(flow)) < 150


def test_a_flow_is_clear_where_no_rule_could_match() -> None:
    _, flow = flow_of(on("REMOVE", a.Delay(1.0)), Rule(Selector("reply", program="mount"), (a.Drop(),)))
    heading = flow.tracker.heading(call(xid=1), "server")
    assert heading is not None
    assert not flow.is_clear(heading, "server")  # the version fits, and the procedure is not looked at
    answer = flow.tracker.heading(reply(xid=1), "client")
    assert answer is not None
    assert answer.program == 0
    assert not flow.is_clear(answer, "client") or answer.program == 0
    flow.pass_by(heading, "server")
    answer = flow.tracker.heading(reply(xid=1), "client")
    assert answer is not None
    assert (answer.program, flow.is_clear(answer, "client")) == (100003, True)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda: Selector(operations=("REMOV",)),
        lambda: Selector(program="nsf"),
        lambda: Selector(program="nfs", version=7),
        lambda: Selector(nth=1, every=2),
        lambda: Selector(nth=0),
        lambda: Selector(probability=2.0),
        lambda: a.Delay(-1.0),
        lambda: a.Delay(float("nan")),
        lambda: a.Duplicate(0),
        lambda: a.SetField("count", 1),
        lambda: a.SetBytes(0),
        lambda: a.Segments(()),
        lambda: a.Replay(via="elsewhere"),  # type: ignore[arg-type]
        lambda: Link("server", loss=1.0),
        lambda: Link("server", shared=1),  # type: ignore[arg-type]
        lambda: Plan(links=(Link("server"), Link("server"))),
        lambda: Rule(Selector(), ()),
    ],
    ids=map(str, range(17)),
)
def test_a_mistake_in_a_plan_is_refused(mistake: object) -> None:
    with pytest.raises(BadPlan):
        mistake()  # type: ignore[operator]


def test_an_unknown_procedure_names_near_ones() -> None:
    with pytest.raises(BadPlan, match="procedure: unknown procedure or operation 'REMOV'; similar: REMOVE"):
        Selector(operations=("REMOV",))
