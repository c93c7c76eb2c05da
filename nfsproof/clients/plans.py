# SPDX-License-Identifier: MIT
"""The fault plans that clients have to come through, each with the clause that says what a client does then.

All are what a network or a right server may do. `none` is the control: what fails there, says nothing elsewhere.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping
from dataclasses import dataclass, field

from nfsfaults import actions as a
from nfsfaults.messages import Kind, Message
from nfsfaults.plan import Plan, Rule, Selector
from nfsjudge.requirement import Part, Requirement, should, stated

SHORT: t.Final = 5000
"""Bytes of the shortest READ and WRITE."""
_DELAY: t.Final = 10008
"""NFS3ERR_JUKEBOX and NFS4ERR_DELAY."""
Event: t.TypeAlias = t.Literal["", "crash", "restart"]
_CHANGES: t.Final = (
    *("CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK", "SETATTR"),
    *("WRITE", "COMMIT", "OPEN", "CLOSE", "LOCK", "LOCKU"),
)


def _of(rfc: str, section: str, gist: str, *, implementation: bool = False) -> Requirement:
    if implementation:
        part = Part.IMPLEMENTATION
        return should(rfc, section, gist, part=part)
    return stated(rfc, section, gist)


RETRANSMITS: t.Final = _of(
    "RFC 1813", "4.5", "a client retransmits a request whose connection broke before its reply came"
)
RETRIES: t.Final = _of(
    "RFC 5661",
    "2.10.6.1",
    "a request without a reply is sent again on a new connection, with its slot and sequence ID",
)
MATCHES: t.Final = _of("RFC 5531", "9", "a client matches replies with calls by the XID")
RECORDS: t.Final = _of("RFC 5531", "11", "a record is one or more fragments, and TCP divides it anywhere")


@dataclass(frozen=True)
class ClientPlan:
    """One plan, for NFSv3 and for NFSv4."""

    name: str
    gist: str
    clauses: tuple[Requirement, Requirement]
    """Of NFSv3 and of NFSv4."""
    rules: tuple[Rule, ...] = ()
    event: Event = ""
    """What happens to the server whenever a rule acts."""
    knobs: Mapping[str, t.Any] = field(default_factory=dict)
    works: tuple[str, ...] = ()
    """Only these can meet it; empty: all."""
    patience: float = 1.0
    """How many times longer a work may take: some clients wait five seconds for each object."""

    def clause(self, version: str) -> Requirement:
        """What a client does then."""
        return self.clauses[version != "3"]

    def plan(self, seed: int) -> Plan:
        """For an executor."""
        return Plan(self.rules, seed=seed)


def _rule(on: Kind, action: a.Action, *operations: str, name: str = "", **turn: t.Any) -> Rule:
    return Rule(Selector(on, "nfs", operations=operations, **turn), (action,), name)


def _noted(name: str, where: t.Callable[[Message], bool], *operations: str) -> Rule:
    """A rule that changes nothing: it shows that the server did what its knobs say."""
    return _rule("reply", a.Delay(0.0), *operations, name=name, where=where)


def _is_delay(message: Message) -> bool:
    return bool(message.result.status == _DELAY)


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


_PLANS: t.Final = (
    ClientPlan("none", "nothing happens: the control", (MATCHES, MATCHES)),
    ClientPlan(
        "call-lost",
        "calls are lost, and their connection is closed",
        (RETRANSMITS, RETRIES),
        (_rule("call", a.Drop("close"), every=5, count=2),),
    ),
    ClientPlan(
        "reply-lost",
        "replies are lost, and their connection is closed",
        (RETRANSMITS, RETRIES),
        (_rule("reply", a.Drop("close"), every=6, count=2),),
    ),
    ClientPlan(
        "change-reply-lost",
        "replies to changes are lost, and their connection is reset",
        (RETRANSMITS, RETRIES),
        (_rule("reply", a.Drop("reset"), *_CHANGES, every=4, count=3),),
        works=("write", "patch", "append", "names", "attributes", "locks"),
    ),
    ClientPlan(
        "reply-cut",
        "the connection is reset in the middle of a reply",
        (RETRANSMITS, RETRIES),
        (_rule("reply", a.Truncate(50, "reset"), every=5, count=2),),
    ),
    ClientPlan(
        "reply-doubled", "replies come twice", (MATCHES, MATCHES), (_rule("reply", a.Duplicate(), every=3),)
    ),
    ClientPlan(
        "reply-late",
        "replies come a third of a second late, after those to later calls",
        (MATCHES, MATCHES),
        (_rule("reply", a.Delay(0.33), every=4, count=3),),
    ),
    ClientPlan(
        "segments",
        "TCP divides replies at any place, even in the record mark",
        (RECORDS, RECORDS),
        (_rule("reply", a.Segments((3, 1, 20, 5000), 0.001), every=2),),
    ),
    ClientPlan(
        "fragments",
        "records of replies come in three RPC fragments",
        (RECORDS, RECORDS),
        (_rule("reply", a.Fragments((8, 12)), every=2),),  # no reply is shorter than 24 bytes
    ),
    ClientPlan(
        "small-fragments",
        "records of replies begin with RPC fragments of a few bytes",
        (RECORDS, RECORDS),
        (_rule("reply", a.Fragments((1, 3, 7)), every=2),),
    ),
    ClientPlan(
        "empty-fragments",
        "records of replies have an empty RPC fragment in the middle, or at the end",
        (RECORDS, RECORDS),
        (
            _rule("reply", a.Fragments((20, 0)), every=2),
            _rule("reply", a.Fragments((1 << 20, 0)), every=3),
        ),
    ),
    ClientPlan(
        "stall",
        "a reply stops in its middle for a second",
        (RECORDS, RECORDS),
        (_rule("reply", a.Stall(1.0, 30), every=5, count=1),),
    ),
    ClientPlan(
        "delay-status",
        "the server first answers JUKEBOX or DELAY about some objects",
        (
            _of("RFC 1813", "2.6", "after JUKEBOX the client waits and tries the request with a new XID"),
            _of("RFC 5661", "15.1.1.3", "after DELAY the client waits and sends the request again"),
        ),
        (_noted("JUKEBOX or DELAY", _is_delay),),
        knobs={"jukebox_calls": 1, "jukebox_names": "*1"},
        patience=4.0,
    ),
    ClientPlan(
        "short-writes",
        f"a WRITE takes at most {SHORT} bytes",
        (
            _of("RFC 1813", "3.3.7", "the client writes the rest by another WRITE", implementation=True),
            _of("RFC 5661", "18.32.4", "the client writes the rest by another WRITE", implementation=True),
        ),
        (_noted("short WRITE", _is_short_write, "WRITE"),),
        knobs={"write_accepts": SHORT},
        works=("write", "patch"),
    ),
    ClientPlan(
        "short-reads",
        f"a READ gives at most {SHORT} bytes",
        (
            _of(
                "RFC 1813",
                "3.3.6",
                "without eof, the client reads the rest by another READ",
                implementation=True,
            ),
            _of(
                "RFC 5661",
                "18.22.4",
                "without eof, the client reads the rest by another READ",
                implementation=True,
            ),
        ),
        (_noted("short READ", _is_short_read, "READ"),),
        knobs={"read_returns": SHORT},
        works=("read",),
    ),
    ClientPlan(
        "crash",
        "the server crashes between a WRITE and its COMMIT: what was unstable is lost",
        (
            _of(
                "RFC 1813",
                "3.3.21",
                "after another verf, the client sends data again that was not committed",
                implementation=True,
            ),
            _of("RFC 5661", "18.32.3", "after another writeverf, the client takes UNSTABLE4 data for lost"),
        ),
        (_rule("call", a.Delay(0.2), "WRITE", nth=5), _rule("call", a.Delay(0.2), "COMMIT", nth=1)),
        "crash",
        works=("write", "patch"),
    ),
    ClientPlan(
        "restart",
        "the server begins another instance",
        (
            RETRANSMITS,
            _of("RFC 5661", "8.4.2.1", "after a restart of the server, the client reclaims its state"),
        ),
        (_rule("call", a.Delay(0.2), nth=6),),
        "restart",
    ),
)
PLANS: t.Final[dict[str, ClientPlan]] = {plan.name: plan for plan in _PLANS}
CONTROL: t.Final = "none"
