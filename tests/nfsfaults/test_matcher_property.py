# SPDX-License-Identifier: MIT
"""What must be true of any plan and any traffic: nothing is lost or invented, and everything leaves at its time."""

from __future__ import annotations

import typing as t
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nfsfaults import actions as a
from nfsfaults.matcher import Event, Flow, Matcher, Write
from nfsfaults.plan import Link, Plan, Rule, Selector
from tests.nfsfaults.messages import call

SECONDS = st.integers(0, 8).map(float)
OPERATIONS = ("GETATTR", "READ", "REMOVE")
ACTIONS: t.Final = st.one_of(
    st.just(a.Drop()),
    SECONDS.map(a.Delay),
    st.builds(a.Duplicate, st.integers(1, 3), SECONDS),
    st.builds(a.Hold, st.integers(1, 3), SECONDS),
    st.builds(a.Replay, SECONDS),
    st.builds(a.Segments, st.just((7,)), SECONDS),
    st.builds(a.Stall, SECONDS, st.integers(0, 40)),
)
"""Those whose effect on a message is known without other messages."""


class Sent(t.NamedTuple):
    """A message of the traffic; its XID is its index."""

    at: float
    operation: str


def traffic() -> st.SearchStrategy[list[Sent]]:
    gaps = st.lists(
        st.tuples(st.sampled_from([0.0, 0.0, 1.0, 3.0]), st.sampled_from(OPERATIONS)), max_size=14
    )

    def timed(steps: list[tuple[float, str]]) -> list[Sent]:
        now, sent = 0.0, []
        for gap, operation in steps:
            now += gap
            sent.append(Sent(now, operation))
        return sent

    return gaps.map(timed)


def plans() -> st.SearchStrategy[dict[str, a.Action]]:
    """An action for some of the operations."""
    return st.dictionaries(st.sampled_from(OPERATIONS), ACTIONS, max_size=3)


def run(flow: Flow, sent: list[Sent]) -> list[Event]:
    """Messages at their times, and events at every deadline, as an executor does it."""
    events: list[Event] = []

    def advance(until: float) -> None:
        while (deadline := flow.deadline) is not None and deadline <= until:
            new = flow.events(deadline)
            assert all(event.at <= deadline for event in new)
            events.extend(new)

    for xid, message in enumerate(sent):
        advance(message.at)
        flow.receive(message.at, call(message.operation, xid), "server")
    advance(float("inf"))
    assert flow.deadline is None
    assert flow.queued == 0
    return events


def matcher_of(actions: dict[str, a.Action], *links: Link) -> Matcher:
    rules = [Rule(Selector(operations=(name,)), (action,)) for name, action in actions.items()]
    return Matcher(Plan(tuple(rules), links))


def records(events: list[Event]) -> list[tuple[float, int]]:
    """The times at which records begin, with their XIDs; the stream must divide into whole records."""
    starts: list[tuple[float, int]] = []
    stream, at = b"", 0.0
    for event in events:
        assert isinstance(event, Write)
        if not stream:
            at = event.at
        stream += event.data
        while len(stream) >= 4 and len(stream) - 4 >= int.from_bytes(stream[:4], "big") & 0x7FFF_FFFF:
            size = int.from_bytes(stream[:4], "big") & 0x7FFF_FFFF
            starts.append((at, int.from_bytes(stream[4:8], "big")))
            stream, at = stream[4 + size :], event.at
    assert not stream
    return starts


@given(traffic(), plans())
def test_every_message_goes_as_often_as_its_action_says(
    sent: list[Sent], actions: dict[str, a.Action]
) -> None:
    matcher = matcher_of(actions)
    gone = Counter(xid for _, xid in records(run(matcher.flow(), sent)))
    for xid, message in enumerate(sent):
        action = actions.get(message.operation)
        copies = 0 if isinstance(action, a.Drop) else 1
        if isinstance(action, a.Duplicate):
            copies += action.copies
        copies += isinstance(action, a.Replay)
        assert gone[xid] == copies, (xid, message, action)
    assert sum(matcher.fired.values()) == sum(message.operation in actions for message in sent)


@given(traffic(), plans())
def test_messages_that_no_rule_delays_keep_their_order(
    sent: list[Sent], actions: dict[str, a.Action]
) -> None:
    kept = [
        xid
        for xid, message in enumerate(sent)
        if not isinstance(actions.get(message.operation), a.Hold | a.Delay)
    ]
    first: list[int] = []
    for _, xid in records(run(matcher_of(actions).flow(), sent)):
        if xid in kept and xid not in first:
            first.append(xid)
    assert first == sorted(first)


@given(traffic(), SECONDS, st.integers(1, 3), SECONDS)
def test_times_are_those_of_the_actions(sent: list[Sent], delay: float, others: int, patience: float) -> None:
    """Held messages go with the n-th message that leaves after them, or at the end of their patience."""
    actions: dict[str, a.Action] = {"READ": a.Delay(delay), "REMOVE": a.Hold(others, patience)}
    log = records(run(matcher_of(actions).flow(), sent))
    at = {xid: when for when, xid in log}
    for xid, message in enumerate(sent):
        if message.operation == "GETATTR":
            assert at[xid] == message.at
        elif message.operation == "READ":
            assert at[xid] == message.at + delay
        else:
            place = [gone for _, gone in log].index(xid)
            passed = [
                gone
                for _, gone in log[:place]
                if sent[gone].operation != "REMOVE" and _left_after(sent, at, gone, xid)
            ]
            assert len(passed) <= others
            assert at[xid] == message.at + patience or len(passed) == others
            assert at[xid] <= message.at + patience


def _left_after(sent: list[Sent], at: dict[int, float], other: int, held: int) -> bool:
    """Whether a message left the flow after another one had entered it."""
    return other > held or at[other] > sent[held].at


@given(
    traffic(), st.builds(Link, st.just("server"), SECONDS, SECONDS, SECONDS, st.sampled_from([0.0, 0.125]))
)
def test_a_link_keeps_the_order_and_its_gaps(sent: list[Sent], link: Link) -> None:
    log = records(run(matcher_of({}, link).flow(), sent))
    assert [xid for _, xid in log] == list(range(len(sent)))
    free = 0.0
    for when, xid in log:  # the model: one message after the other
        size = len(call(sent[xid].operation, xid))
        start = max(sent[xid].at, free)
        took = link.overhead + link.gap_per_byte * size
        free = start + max(link.gap, took)
        assert when == start + took + link.latency
