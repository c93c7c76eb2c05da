# SPDX-License-Identifier: MIT
"""How a check ends if it does not pass, and what it notes meanwhile."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from nfsjudge.deviation import Deviation, OutcomeRecord
from nfsjudge.facts import Facts, asking
from nfsjudge.pointing import Claim
from nfsjudge.records import deviation_text
from nfsjudge.requirement import Requirement
from nfsjudge.terms import outcome_of

F = t.TypeVar("F", bound=Callable[..., object])


class Nonconformance(AssertionError):
    """The target broke a requirement. No other exception means that.

    `what` is a noun, `expected` the acceptable outcomes and `observed` the one that was seen: texts read
    ``WHAT: expected A or B, got C``. `subject` is the reply in which it shows and `field` the dotted path in it, for
    the transcript to mark. A claim about a value alone has neither: `claim` helps to find them.

    `requirement` is the clause that the version states which the running check speaks.

    `outcome` has the same in fields. It follows from the terms of `expected` and `observed` (`nfsjudge.terms`);
    `kind` and `operation` say what these do not know.
    """

    def __init__(
        self,
        *,
        what: str = "",
        expected: tuple[str, ...],
        observed: str,
        requirement: Requirement | None = None,
        subject: object = None,
        field: str | None = None,
        claim: Claim | None = None,
        kind: Deviation | None = None,
        operation: str = "",
        outcome: OutcomeRecord | None = None,
    ) -> None:
        super().__init__(deviation_text(what, expected, observed))
        self.what = what
        self.expected = tuple(map(str, expected))
        self.observed = str(observed)
        self.outcome = outcome or outcome_of(
            expected, observed, kind=kind, operation=operation, what=what, field=field
        )
        self.requirement = None if requirement is None else as_spoken(requirement)
        self.subject = subject
        self.field = field
        self.claim = claim


class Damage(Nonconformance):
    """Something is gone or broken that the target had acknowledged: FAIL in set-up too. It names its clause."""


class NotJudged(Exception):
    """The check ends without a verdict on the target. `subject` is the reply that refused what it needs, if one did.

    `reason` is a text; made with `nfsjudge.reason.because` it has its fields with it.
    """

    def __init__(self, reason: str = "", subject: object = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.subject = subject


class Unsupported(NotJudged):
    """The check needs something optional, and the target refused it correctly."""


class Skipped(NotJudged):
    """A precondition of the check is missing; the text says which."""


def unsupported(reason: str, subject: object = None) -> t.NoReturn:
    """End the check as UNSUPPORTED, because of a reply if there is a `subject`."""
    raise Unsupported(reason, subject)


def skip(reason: str, subject: object = None) -> t.NoReturn:
    """End the check as SKIP: a precondition is missing, and that is nobody's fault. `subject` as of `NotJudged`."""
    raise Skipped(reason, subject)


@dataclass(frozen=True, slots=True)
class Proof:
    """What `@proves` says of a check."""

    requirements: tuple[Requirement, ...]
    killed_by: tuple[str, ...]
    needs: tuple[str, ...]
    version: str = ""
    """The version of the protocol that the check speaks, if the requirements are those of one: "3", "4.0"."""

    @property
    def main(self) -> Requirement:
        """The requirement that a failed expectation breaks, unless it says otherwise."""
        return self.requirements[0]

    def of(self, version: str) -> Proof:
        """What a check that speaks this version proves: each requirement with the citation of that version."""
        return replace(
            self,
            requirements=tuple(requirement.of(version) for requirement in self.requirements),
            version=version,
        )


PROOF_ATTRIBUTE = "__nfs_proof__"


def proves(
    *requirements: Requirement, killed_by: str | tuple[str, ...], needs: str | tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Mark a test as a check: what it proves, which mutants it must catch, which capabilities it needs."""
    if not requirements:
        raise ValueError("a check proves at least one requirement")
    proof = Proof(
        requirements,
        (killed_by,) if isinstance(killed_by, str) else killed_by,
        (needs,) if isinstance(needs, str) else needs,
    )

    def mark(check: F) -> F:
        setattr(check, PROOF_ATTRIBUTE, proof)
        return check

    return mark


def proof_of(check: object) -> Proof | None:
    """What `@proves` said of a function, if anything."""
    return getattr(check, PROOF_ATTRIBUTE, None)


@dataclass(slots=True)
class Running:
    """The check that is running: what it proves, what it observed, which minor clauses it found broken."""

    proof: Proof | None = None
    observations: dict[str, str] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)


_running: ContextVar[Running | None] = ContextVar("nfs_running_check", default=None)


@contextlib.contextmanager
def running(proof: Proof | None, facts: Facts | None = None) -> Iterator[Running]:
    """Make a check the running one. `facts` are what can be asked of its target."""
    state = Running(proof)
    token = _running.set(state)
    try:
        with asking(facts):
            yield state
    finally:
        _running.reset(token)


def observe(key: str, value: object) -> None:
    """Note which of several legal answers was seen. Shown in the report, never a verdict."""
    state = _running.get()
    if state is not None:
        state.observations[key] = str(value)


def measure(key: str, seconds: float) -> None:
    """Note how long something took that no clause limits. Shown in the report, never a verdict."""
    state = _running.get()
    if state is not None:
        state.figures[key] = round(seconds, 6)


def as_spoken(requirement: Requirement) -> Requirement:
    """A requirement as the version states it that the running check speaks."""
    state = _running.get()
    return requirement if state is None or state.proof is None else requirement.of(state.proof.version)


def current_requirement() -> Requirement | None:
    """What the running check proves first."""
    state = _running.get()
    return state.proof.main if state is not None and state.proof is not None else None
