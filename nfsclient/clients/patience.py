# SPDX-License-Identifier: MIT
"""Putting up with JUKEBOX: the server asks to be called again later, in a new call (RFC 1813 section 2.6)."""

from __future__ import annotations

import contextlib
import functools
import inspect
import typing as t
from dataclasses import dataclass, field

R = t.TypeVar("R")


class WaitingLoop(t.Protocol):
    """The part of `nfsclient.rpc.loop.Loop` that waiting needs."""

    @property
    def clock(self) -> t.Callable[[], float]:
        """The time in seconds."""
        ...

    def run_until(self, predicate: t.Callable[[], bool], deadline: float) -> object:
        """Serve all connections until `predicate` is true or the clock passes `deadline`."""
        ...


@dataclass(frozen=True)
class Patience:
    """How to wait between attempts: `first` seconds, then twice as long each time up to `longest`.

    No attempt starts later than `total` seconds after the first answer. `wait` passes the time and `clock`
    tells it; `of` takes both from a loop, so that everything else on the loop is served meanwhile.
    """

    wait: t.Callable[[float], None]
    clock: t.Callable[[], float]
    first: float = 0.05
    longest: float = 5.0
    total: float = 30.0

    @classmethod
    def of(
        cls, loop: WaitingLoop, *, first: float = 0.05, longest: float = 5.0, total: float = 30.0
    ) -> Patience:
        """Patience that waits by running `loop`."""

        def wait(seconds: float) -> None:
            loop.run_until(lambda: False, loop.clock() + seconds)

        return cls(wait, loop.clock, first, longest, total)

    def pauses(self) -> t.Generator[float, bool | None]:
        """Wait before each further attempt and yield the seconds waited; ends when `total` is used up.

        After ``send(True)`` the pauses begin with `first` again, within the same `total`.
        """
        deadline = self.clock() + self.total
        pause = self.first
        while (left := deadline - self.clock()) > 0:
            waited = min(pause, left)
            self.wait(waited)
            pause = self.first if (yield waited) else min(pause * 2, self.longest)

    def retry(self, attempt: t.Callable[[], R], refused: t.Callable[[R], bool], first: R) -> R:
        """Attempt again while `refused` says so; the last result, which may still be a refusal.

        A compound that was executed further than before has another operation to wait for, as `Spell` knows.
        """
        result = first
        if refused(result):
            spell = Spell(self)
            while spell.pause(executed(result)):
                result = attempt()
                if not refused(result):
                    break
        return result


def executed(reply: object) -> int:
    """How many operations of a compound have results; 0 of any other reply."""
    return t.cast("int", getattr(reply, "executed", 0))


class Spell:
    """The waiting for one call, out of one patience.

    A call may have several steps, as a compound has operations, and each of them may be put off. So where it gets
    further than ever before, the pauses begin with the shortest again: the step that is new has not waited yet.
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._pauses: t.Generator[float, bool | None] | None = None
        self._furthest = 0

    def pause(self, step: int = 0) -> bool:
        """Wait for a while; False when patience has ended. `step` is how far the call got."""
        is_new, self._furthest = step > self._furthest, max(step, self._furthest)
        try:
            if self._pauses is None:
                self._pauses = self._patience.pauses()
                next(self._pauses)
            else:
                self._pauses.send(is_new)
        except StopIteration:
            return False
        return True


@dataclass(slots=True)
class Spending:
    """What one call of a path client has spent of its patience, in seconds, and how many spells of waiting are open."""

    seconds: float = 0.0
    spells: int = 0


@dataclass(frozen=True)
class SharedPatience(Patience):
    """Patience that all calls to the server share which one call of a path client makes.

    A path call makes many: `walk` one for each name. If each had `total` seconds, a server that asks for a little less
    than that every time would hold the caller for hours. So inside of `spend` the time of all waiting together is at
    most `total`; time in which the server answers, or the caller of a generator works, does not count.
    """

    current: list[Spending] = field(default_factory=list, repr=False)
    """The path call that is being made; empty while there is none."""

    @classmethod
    def shared(cls, patience: Patience) -> SharedPatience:
        """Patience of the same kind, to share."""
        return cls(patience.wait, patience.clock, patience.first, patience.longest, patience.total)

    @contextlib.contextmanager
    def spend(self, spending: Spending) -> t.Iterator[None]:
        """The waiting inside is part of one path call: of this one, unless one is being made already."""
        if self.current:
            yield
            return
        self.current.append(spending)
        try:
            yield
        finally:
            self.current.clear()

    def pauses(self) -> t.Generator[float, bool | None]:
        """As of `Patience`; ends, too, when the path call has used up its `total`."""
        if not self.current:
            yield from super().pauses()
            return
        spending, began = self.current[0], self.clock()
        spending.spells += 1
        try:
            left = self.total - spending.seconds
            kind = Patience(self.wait, self.clock, self.first, self.longest, max(0.0, left))
            yield from kind.pauses()
        finally:
            spending.spells -= 1
            if not spending.spells:  # spells within a spell are part of it
                spending.seconds += self.clock() - began


class HasPatience(t.Protocol):
    """A path client."""

    patience: SharedPatience


_END: t.Final = object()
C = t.TypeVar("C", bound=type)
P = t.ParamSpec("P")
_BY_PAGES: t.Final[set[t.Callable[..., t.Any]]] = set()


def one_patience(cls: C) -> C:
    """Make each public method of a path client one path call. A generator is one call until it ends."""
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and not name.startswith("_") and method not in _BY_PAGES:
            is_generator = inspect.isgeneratorfunction(method)
            setattr(cls, name, (_generating if is_generator else _calling)(method))
    return cls


def _calling(method: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    @functools.wraps(method)
    def call(self: HasPatience, *args: t.Any, **options: t.Any) -> t.Any:
        # As `spend`, without a context manager: of a `stat` it would be a tenth.
        current = self.patience.current
        if current:
            return method(self, *args, **options)
        current.append(Spending())
        try:
            return method(self, *args, **options)
        finally:
            current.clear()

    return call


def _generating(method: t.Callable[..., t.Any]) -> t.Callable[..., t.Any]:
    @functools.wraps(method)
    def generate(self: HasPatience, *args: t.Any, **options: t.Any) -> t.Iterator[t.Any]:
        spending, steps = Spending(), method(self, *args, **options)
        try:
            while True:
                with self.patience.spend(spending):
                    item = next(steps, _END)
                if item is _END:
                    return
                yield item
        finally:
            with self.patience.spend(spending):
                steps.close()

    return generate


def by_pages(method: t.Callable[P, t.Iterator[list[R]]]) -> t.Callable[P, t.Iterator[R]]:
    """Make a generator of lists give their elements, as one path call; only to get the next list is waiting.

    So an element costs nothing: a directory has thousands.
    """
    pages = _generating(method)

    @functools.wraps(method)
    def generate(*args: P.args, **options: P.kwargs) -> t.Iterator[R]:
        with contextlib.closing(pages(*args, **options)) as lists:
            for elements in lists:
                yield from elements

    _BY_PAGES.add(generate)
    return generate
