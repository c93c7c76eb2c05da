# SPDX-License-Identifier: MIT
"""Many programs of a seed, each in a separate directory; one that breaks is made shorter, and is run again for show.

Programs run without being recorded: hundreds of calls would hide those that matter. The shortest one that breaks the
same property runs once more on new connections, recorded, so that evidence and script have its calls and no others.
"""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from nfsclient.errors import NfsClientError
from nfsjudge import observe, skip
from nfsjudge.expect import fail
from suites.model.claims import GROUPS
from suites.model.judging import Broken
from suites.model.machine import Experience, Machine
from suites.model.steps import Deck, Drawing

PROGRAMS: t.Final = 3
"""In a check."""
BUDGET: t.Final = 15.0
"""Seconds after which no step begins; and again while a program is made shorter."""
MOST_CALLS: t.Final = 6000
"""Calls of all programs of a check, and again while one is made shorter."""
MOST_TRIES: t.Final = 80
"""Shorter programs that are tried."""


class Step(t.Protocol):
    """A step of a program."""

    def words(self) -> str:
        """For people."""
        ...


Program: t.TypeAlias = tuple[Step, ...]


class Players(t.Protocol):
    """One of the clients."""

    def copies_sent(self) -> int:
        """How many calls this client has sent again."""
        ...


class Playing(t.Protocol):
    """One program on a server."""

    done: t.Any
    """The steps that were made."""

    @property
    def weak(self) -> t.Mapping[t.Any, Broken]:
        """What is only NONSTRICT."""
        ...

    def run(self, program: t.Any) -> None:
        """Make the steps. Raises `Broken`."""
        ...


class Ground(t.Protocol):
    """Where programs run."""

    def join(self, *, recorded: bool) -> t.Any:
        """Two clients, on new connections."""
        ...

    def directory(self, name: str, players: t.Any) -> t.Any:
        """Something new that is empty, for one program: the handle of a directory by version, or of a file."""
        ...


@dataclass(slots=True)
class Run:
    """A program that ran: what it did, and the worst that it found."""

    program: Program
    broken: Broken | None


class Campaign:
    """The programs of one check."""

    def __init__(
        self,
        ground: Ground,
        clock: Callable[[], float],
        *,
        name: str,
        group: str,
        seed: int,
        is_root: bool = False,
        lacks: Iterable[str] = (),
    ) -> None:
        """`name`, `group` and `seed` decide the programs, the group what is judged.

        `is_root`: owners may be set; `lacks`: verbs, and the mode EXCLUSIVE, that the target does not have.
        """
        self._ground = ground
        self._clock = clock
        self._name = f"{name} {group}"
        self._judged: frozenset[t.Any] = self.judged(group)
        self._seed = seed
        self._is_root = is_root
        self._numbers = itertools.count()
        self._experience = Experience()
        for verb in lacks:
            self._experience.leave_out(*(("CREATE", verb) if verb == "EXCLUSIVE" else (verb,)))
        self._players: Sequence[Players] = ground.join(recorded=False)
        self._end = clock() + BUDGET
        self._done: list[Step] = []
        """The steps of the program that ran last."""
        self.steps = 0

    # ------------------------------------------------------------ what is played

    def judged(self, group: str) -> frozenset[t.Any]:
        """The properties that count in a group."""
        return GROUPS[group]

    def draw(self, seed: str, deck: Deck) -> Program:
        """A program."""
        return Drawing(seed, deck, is_root=self._is_root, clients=len(self._players)).program()

    def machine(self, name: str, players: t.Any, experience: Experience) -> Playing:
        """What runs a program: `name` is new."""
        roots = self._ground.directory(name, players)
        return Machine(players, roots, experience, self._judged, is_over=self._is_over)

    # ------------------------------------------------------------ programs

    def judge(self, programs: int = PROGRAMS) -> None:
        """Run all programs, as far as time suffices; the shortest one that breaks fails the check."""
        __tracebackhide__ = True
        weak: Run | None = None
        deck: Deck = []
        for number in range(programs):
            if self._is_over() or self._experience.is_busy:
                break
            run = self._try(self.draw(f"{self._name} {self._seed} {number}", deck))
            self.steps += len(run.program)
            if run.broken is None:
                continue
            shown = self._show(self._shortest(run)) if run.broken.is_red else None
            if shown is not None:
                self._fail(shown)
            weak = weak or (None if run.broken.is_red else run)
        shown = None if weak is None else self._show(self._shortest(weak))
        if shown is not None:
            self._fail(shown)
        self._observe()
        if not self.steps:
            skip("the server refuses the steps of every program")

    def _observe(self) -> None:
        observe("seed", self._seed)
        observe("steps of random programs", self.steps)

    def _is_over(self) -> bool:
        return self._clock() > self._end or self._experience.calls > MOST_CALLS

    def _run(self, program: Program, players: t.Any = None) -> Run:
        """Run a program in a new directory. What was done is the part of it that was possible."""
        chosen = self._players if players is None else players
        machine = self.machine(f"p{next(self._numbers)}", chosen, self._experience)
        self._done = machine.done
        copies = sum(player.copies_sent() for player in chosen)
        try:
            machine.run(program)
            worst = next(iter(machine.weak.values()), None)
        except Broken as broken:
            worst = broken
        if sum(player.copies_sent() for player in chosen) != copies:
            worst = None  # a copy may have been executed after later calls (RFC 1813 section 4.5)
        return Run(tuple(machine.done), worst)

    def _try(self, program: Program) -> Run:
        """Run a program; if it ends with an error of the connection or a reply, once more, recorded.

        A server may close connections that are idle, or after a SYSTEM_ERR, so the second time counts.
        """
        try:
            return self._run(program)
        except NfsClientError:
            self._end, self._experience.calls = self._clock() + BUDGET, 0
            try:
                run = self._run(program, self._ground.join(recorded=True))
            except NfsClientError:
                observe("program", _words(self._done))
                raise
            self._players = self._ground.join(recorded=False)
            return run

    # ------------------------------------------------------------ shorter

    def _shortest(self, broken: Run) -> Run:
        """The shortest program found that breaks the same property."""
        self._end, self._experience.calls = self._clock() + BUDGET, 0
        tries = MOST_TRIES
        while tries > 0:
            for cut in _shorter(broken.program):
                tries -= 1
                if tries < 0 or self._is_over():
                    return broken
                try:
                    again = self._run(cut)
                except NfsClientError:  # what was found stands, as the server is now
                    return broken
                if _is_same(again, broken):
                    broken = again
                    break
            else:
                return broken
        return broken

    def _show(self, run: Run) -> Run | None:
        """Run it again, recorded. It may not break again: then this is what broke; None if it may happen once."""
        self._end, self._experience.calls = self._clock() + BUDGET, 0
        again = self._run(run.program, self._ground.join(recorded=True))
        if _is_same(again, run):
            return again
        assert run.broken is not None
        if run.broken.may_pass:
            observe("once, and not again", str(run.broken))
            return None
        run.broken.subject = None
        observe("the same program again", "did not break")
        return run

    def _fail(self, run: Run) -> t.NoReturn:
        __tracebackhide__ = True
        self._observe()
        found = run.broken
        assert found is not None
        # A note, not a part of the symptom: another seed finds another program for the same cause.
        observe("program", _words(run.program))
        fail(
            found.what,
            (found.expected,),
            found.observed,
            found.requirement,
            subject=found.subject,
            field=found.field,
            outcome=found.outcome,
        )


def _words(program: Iterable[Step]) -> str:
    steps = "; ".join(f"{number}. {step.words()}" for number, step in enumerate(program, 1))
    return f"in an empty directory: {steps}"


def _is_same(run: Run, other: Run) -> bool:
    if run.broken is None or other.broken is None:
        return False
    return run.broken.property is other.broken.property


def _shorter(program: Program) -> Iterator[Program]:
    """Parts of a program, the shortest first: without a half, a quarter, ..., one step."""
    size = len(program) // 2
    while size:
        for start in range(0, len(program), size):
            cut = program[:start] + program[start + size :]
            if cut:
                yield cut
        size //= 2
