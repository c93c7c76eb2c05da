# SPDX-License-Identifier: MIT
"""The fault plans that clients have to come through, each with the clause that says what a client does then.

All are what a network or a right server may do. `NOTHING` is the control: where a client fails under it, no other plan
says anything about it.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fixtures.clients.trial import (
    Action,
    Conditions,
    Delay,
    Drop,
    Duplicate,
    Event,
    Fragments,
    Kind,
    Message,
    Rule,
    Segments,
    Selector,
    Stall,
    Truncate,
)
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge import Requirement
from suites.clients.clauses import (
    COMES_THROUGH,
    GOES_ON,
    MATCHES_REPLIES,
    READS_RECORDS,
    READS_THE_REST,
    WAITS,
    WRITES_AGAIN,
    WRITES_THE_REST,
    without_errors,
)

SHORT: t.Final = 5000
"""Bytes of the shortest READ and WRITE."""
_TRY_LATER: t.Final = (Nfsstat3.NFS3ERR_JUKEBOX, Nfsstat4.NFS4ERR_DELAY)
_CHANGES: t.Final = (
    *("CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK", "SETATTR"),
    *("WRITE", "COMMIT", "OPEN", "CLOSE", "LOCK", "LOCKU"),
)


@dataclass(frozen=True)
class ClientPlan:
    """One plan, for NFSv3 and for NFSv4."""

    name: str
    gist: str
    clause: Requirement
    rules: tuple[Rule, ...] = ()
    event: Event = ""
    """What happens to the server whenever a rule acts."""
    knobs: Mapping[str, t.Any] = field(default_factory=dict)
    works: tuple[str, ...] = ()
    """Only these can meet it; empty: all."""
    patience: float = 1.0
    """How many times longer a work may take: some clients wait five seconds for each object."""

    @property
    def claims(self) -> tuple[Requirement, ...]:
        """What a check of it proves."""
        return self.clause, without_errors(self.clause)

    @property
    def conditions(self) -> Conditions:
        """What a client meets under it."""
        return Conditions(self.rules, self.event, self.knobs)


def _rule(on: Kind, action: Action, *operations: str, name: str = "", **turn: t.Any) -> Rule:
    return Rule(Selector(on, "nfs", operations=operations, **turn), (action,), name)


def _noted(name: str, where: Callable[[Message], bool], *operations: str) -> Rule:
    """A rule that changes nothing: it shows that the server did what its knobs say."""
    return _rule("reply", Delay(0.0), *operations, name=name, where=where)


def _asks_to_wait(message: Message) -> bool:
    return message.result.status in _TRY_LATER


def _is_short_write(message: Message) -> bool:
    return any(
        step.operation.name == "WRITE" and _resok(step.result).count == SHORT for step in message.steps
    )


def _is_short_read(message: Message) -> bool:
    return any(
        step.operation.name == "READ"
        and len(_resok(step.result).data) == SHORT
        and not _resok(step.result).eof
        for step in message.steps
    )


def _resok(result: t.Any) -> t.Any:
    return getattr(result, "resok4", None) or result.resok


NOTHING: t.Final = ClientPlan("none", "nothing happens: the control", MATCHES_REPLIES)
CALL_LOST: t.Final = ClientPlan(
    "call-lost",
    "calls are lost, and their connection is closed",
    COMES_THROUGH,
    (_rule("call", Drop("close"), every=5, count=2),),
)
REPLY_LOST: t.Final = ClientPlan(
    "reply-lost",
    "replies are lost, and their connection is closed",
    COMES_THROUGH,
    (_rule("reply", Drop("close"), every=6, count=2),),
)
CHANGE_REPLY_LOST: t.Final = ClientPlan(
    "change-reply-lost",
    "replies to changes are lost, and their connection is reset",
    COMES_THROUGH,
    (_rule("reply", Drop("reset"), *_CHANGES, every=4, count=3),),
    works=("write", "patch", "append", "names", "attributes", "locks"),
)
REPLY_CUT: t.Final = ClientPlan(
    "reply-cut",
    "the connection is reset in the middle of a reply",
    COMES_THROUGH,
    (_rule("reply", Truncate(50, "reset"), every=5, count=2),),
)
REPLY_DOUBLED: t.Final = ClientPlan(
    "reply-doubled", "replies come twice", MATCHES_REPLIES, (_rule("reply", Duplicate(), every=3),)
)
REPLY_LATE: t.Final = ClientPlan(
    "reply-late",
    "replies come a third of a second late, after those to later calls",
    MATCHES_REPLIES,
    (_rule("reply", Delay(0.33), every=4, count=3),),
)
SEGMENTS: t.Final = ClientPlan(
    "segments",
    "TCP divides replies at any place, even in the record mark",
    READS_RECORDS,
    (_rule("reply", Segments((3, 1, 20, 5000), 0.001), every=2),),
)
FRAGMENTS: t.Final = ClientPlan(
    "fragments",
    "records of replies come in three RPC fragments",
    READS_RECORDS,
    (_rule("reply", Fragments((8, 12)), every=2),),  # no reply is shorter than 24 bytes
)
SMALL_FRAGMENTS: t.Final = ClientPlan(
    "small-fragments",
    "records of replies begin with RPC fragments of a few bytes",
    READS_RECORDS,
    (_rule("reply", Fragments((1, 3, 7)), every=2),),
)
EMPTY_FRAGMENTS: t.Final = ClientPlan(
    "empty-fragments",
    "records of replies have an empty RPC fragment in the middle, or at the end",
    READS_RECORDS,
    (
        _rule("reply", Fragments((20, 0)), every=2),
        _rule("reply", Fragments((1 << 20, 0)), every=3),
    ),
)
STALL: t.Final = ClientPlan(
    "stall",
    "a reply stops in its middle for a second",
    READS_RECORDS,
    (_rule("reply", Stall(1.0, 30), every=5, count=1),),
)
DELAY_STATUS: t.Final = ClientPlan(
    "delay-status",
    "the server first answers JUKEBOX or DELAY about some objects",
    WAITS,
    (_noted("JUKEBOX or DELAY", _asks_to_wait),),
    knobs={"jukebox_calls": 1, "jukebox_names": "*1"},
    patience=4.0,
)
SHORT_WRITES: t.Final = ClientPlan(
    "short-writes",
    f"a WRITE takes at most {SHORT} bytes",
    WRITES_THE_REST,
    (_noted("short WRITE", _is_short_write, "WRITE"),),
    knobs={"write_accepts": SHORT},
    works=("write", "patch"),
)
SHORT_READS: t.Final = ClientPlan(
    "short-reads",
    f"a READ gives at most {SHORT} bytes",
    READS_THE_REST,
    (_noted("short READ", _is_short_read, "READ"),),
    knobs={"read_returns": SHORT},
    works=("read",),
)
CRASH: t.Final = ClientPlan(
    "crash",
    "the server crashes between a WRITE and its COMMIT: what was unstable is lost",
    WRITES_AGAIN,
    (_rule("call", Delay(0.2), "WRITE", nth=5), _rule("call", Delay(0.2), "COMMIT", nth=1)),
    "crash",
    works=("write", "patch"),
)
RESTART: t.Final = ClientPlan(
    "restart",
    "the server begins another instance",
    GOES_ON,
    (_rule("call", Delay(0.2), nth=6),),
    "restart",
)
PLANS: t.Final = {
    plan.name: plan
    for plan in (
        NOTHING,
        CALL_LOST,
        REPLY_LOST,
        CHANGE_REPLY_LOST,
        REPLY_CUT,
        REPLY_DOUBLED,
        REPLY_LATE,
        SEGMENTS,
        FRAGMENTS,
        SMALL_FRAGMENTS,
        EMPTY_FRAGMENTS,
        STALL,
        DELAY_STATUS,
        SHORT_WRITES,
        SHORT_READS,
        CRASH,
        RESTART,
    )
}
