# SPDX-License-Identifier: MIT
"""Rules and findings: what the lint checks in every exchange. Each is declared once, next to its clause."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nfsclient.errors import NfsClientError
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import AnyOperation, Step
from nfsclient.xdr import XdrType
from nfsjudge.answers import outcome_of_error
from nfsjudge.deviation import OutcomeRecord
from nfsjudge.requirement import Level, Requirement
from nfsjudge.terms import plain_path, term_of_value, value_at

if t.TYPE_CHECKING:
    from nfsjudge.lint.case import Case

Severity: t.TypeAlias = t.Literal["FAIL", "NONSTRICT", "INFO"]
SEVERITIES: t.Final[tuple[Severity, ...]] = ("INFO", "NONSTRICT", "FAIL")
"""From the lightest to the worst."""


When: t.TypeAlias = t.Literal["always", "failed", "refused", "shown"]
"""Of which cases a rule can say anything, so that it is not asked about others:

    failed      calls without results: an error of RPC or XDR, bytes that a check made itself, a reply without a call
    refused     operations with a status that is not OK
    shown       operations whose result shows attributes of an object (`Case.views`)
"""


@dataclass(frozen=True, slots=True)
class Breach:
    """What a rule saw in one operation. `field` is the dotted path in its result; `earlier` the
    number of the exchange that it contradicts; `error` why there is no result, if that is what is wrong."""

    expected: str
    observed: str
    field: str | None = None
    earlier: int | None = None
    error: NfsClientError | None = None


Look: t.TypeAlias = "Callable[[Case], Breach | None]"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a pure function from a case to a breach, the clause that it holds, and mutants that break it.

    `operations` are those that it looks at, in calls and in compounds; None for every exchange as a whole. A rule
    with a requirement of level MAY notes a legal rarity (INFO) and never says that anything is wrong.
    """

    name: str
    """ "nfs3/write-count": protocol and what is wrong."""
    requirement: Requirement
    look: Look
    operations: tuple[AnyOperation, ...] | None
    killed_by: tuple[str, ...]
    when: When = "always"

    @property
    def id(self) -> str:
        """Stable, in records and reports: "lint/nfs3/write-count"."""
        return f"lint/{self.name}"

    @property
    def severity(self) -> Severity:
        """What breaking it amounts to."""
        if self.requirement.level is Level.MAY:
            return "INFO"
        is_red = self.requirement.is_binding or self.requirement.harm is not None  # what it saw was done
        return "FAIL" if is_red else "NONSTRICT"


@dataclass(slots=True)
class Finding:
    """A rule that was broken: the first exchange in which it was, and how often in all."""

    rule: Rule
    breach: Breach
    exchange: Exchange
    number: int
    """Of the exchange, from 1 on, in the order in which they were given."""
    count: int = 1
    step: Step | None = None
    """The operation of the exchange; None for bytes that a check made itself."""

    @property
    def field(self) -> str | None:
        """The dotted path of what is wrong: in the decoded reply, or in the arguments of a callback."""
        if self.step is None:
            return self.breach.field
        if self.exchange.is_callback:
            return self.exchange.path_of(self.step.args, self.breach.field)
        return self.step.at(self.breach.field)

    @property
    def severity(self) -> Severity:
        """FAIL, NONSTRICT or INFO."""
        return self.rule.severity

    @property
    def outcome(self) -> OutcomeRecord:
        """What was seen, in fields: the status or the value at the path of the breach, or why there are no results."""
        operation = "" if self.step is None else self.step.operation.name
        if self.breach.error is not None:
            found = outcome_of_error(self.breach.error)
            found.operation = found.operation or operation
            return found
        path = plain_path(self.breach.field)
        result = None if self.step is None else self.exchange.part_of_server(self.step)
        if not path or not isinstance(result, XdrType):
            return OutcomeRecord(operation=operation, field=path)
        term = term_of_value(value_at(result, self.breach.field or ""))
        return OutcomeRecord(str(term.kind), operation, seen=term.name, field=path)

    @property
    def text(self) -> str:
        """What was seen, with where, in one line."""
        return self.say("exchange #")

    def say(self, unit: str) -> str:
        """The same, where numbers are of something else than exchanges."""
        name = self.step.operation.name if self.step is not None else "raw call"
        earlier = self.breach.earlier
        against = f" (against {unit}{earlier})" if earlier is not None else ""
        more = f"; {self.count} times in all" if self.count > 1 else ""
        return f"{name}, {unit}{self.number}: {self.breach.observed}{against}{more}"


_rules: dict[str, Rule] = {}


def rule(
    name: str,
    requirement: Requirement,
    *,
    of: Iterable[AnyOperation] | None,
    killed_by: str | tuple[str, ...] = (),
    when: When = "always",
) -> Callable[[Look], Look]:
    """Register the decorated function as a rule over the operations `of` (None: over all exchanges).

    `when` says of which cases it returns a breach at most.
    """

    def register(look: Look) -> Look:
        if name in _rules:
            raise ValueError(f"two rules are named {name!r}")
        mutants = (killed_by,) if isinstance(killed_by, str) else killed_by
        operations = None if of is None else tuple(of)
        _rules[name] = Rule(name, requirement, look, operations, mutants, when)
        return look

    return register


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by name. Importing `nfsjudge.lint` has registered them all."""
    return tuple(_rules[name] for name in sorted(_rules))
