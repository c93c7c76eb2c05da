# SPDX-License-Identifier: MIT
"""Two results, or two sets of them, compared: slower, faster, or no difference seen.

What is compared is the time of the same work: seconds of a script, time per operation of a rate. Only equal work is
comparable: workload, parameters, policy, version, sizes, callers, window and, where the work is drawn, the seed must be
equal; `across` names those that differ on purpose. A result that is not PASS is refused: a fast server that is wrong is
not fast.

A difference is *seen* if the interval of the ratio does not contain 1 (`workloads.statistics`). From one run of each
side none can be seen, whatever the numbers are.
"""

from __future__ import annotations

import enum
import re
import statistics as plain_statistics
import typing as t
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfsjudge.verdict import Verdict
from workloads import result, shape, statistics
from workloads.result import Result
from workloads.statistics import Interval

_LIMIT = re.compile(r"slower:(\d{1,4}(?:\.\d{1,3})?)%")
PAIRS = statistics.FEWEST_PAIRS
"""How often A B runs, if nobody says it."""


class NotComparable(ValueError):
    """Two results of different work, or one that is not PASS. The text names what differs."""


class Difference(enum.StrEnum):
    """What is seen between two sides."""

    SLOWER = "slower"
    FASTER = "faster"
    NONE = "no difference seen"
    UNKNOWN = "not enough runs"


class Design(enum.StrEnum):
    """How the runs of two sides belong together."""

    PAIRS = "pairs"
    """Run 1 of A and run 1 of B were made one after the other."""
    SETS = "sets"


@dataclass(frozen=True)
class Measure:
    """One quantity of both sides."""

    name: str
    unit: str
    """"s" or "µs"."""
    before: float
    after: float
    """Medians of the runs."""
    ratio: Interval | None
    """Of after to before; None if there are too few runs, or a value is 0."""


@dataclass(frozen=True)
class Comparison:
    """All of a comparison."""

    before: tuple[Result, ...]
    after: tuple[Result, ...]
    design: Design
    time: Measure
    """Seconds of a script, time per operation of a rate: the verdict is about this."""
    others: tuple[Measure, ...]
    calls: dict[str, tuple[float, float]]
    """Medians of the calls by procedure, of scripts: those that differ."""
    warnings: tuple[str, ...]

    @property
    def difference(self) -> Difference:
        """Whether B is slower or faster than A."""
        ratio = self.time.ratio
        if ratio is None:
            return Difference.UNKNOWN
        if ratio.low > 1:
            return Difference.SLOWER
        return Difference.FASTER if ratio.high < 1 else Difference.NONE

    def is_slower_by_more(self, share: float) -> bool:
        """Whether B is seen to be slower, and the estimate is above a share. NotComparable without an interval."""
        if self.time.ratio is None:
            raise NotComparable(
                f"a limit needs at least {PAIRS} pairs, or {statistics.FEWEST_OF_A_SET} runs of each side; got "
                f"{len(self.before)} and {len(self.after)}"
            )
        return self.difference is Difference.SLOWER and self.time.ratio.estimate > 1 + share


def parse_limit(text: str) -> float:
    """The share of ``slower:5%``: 0.05. Raises ValueError."""
    if match := _LIMIT.fullmatch(text):
        return float(match[1]) / 100
    raise ValueError(f"expected a limit such as slower:5%, got {text[:50]!r}")


def compare(
    before: Sequence[Result],
    after: Sequence[Result],
    *,
    design: Design = Design.SETS,
    across: Collection[str] = (),
) -> Comparison:
    """Compare the runs of two sides. `across`: fields of `Setup`, or "seed", that differ on purpose.

    Raises NotComparable.
    """
    if not before or not after:
        raise NotComparable("expected at least one result of each side, got none")
    if design is Design.PAIRS and len(before) != len(after):
        raise NotComparable(f"pairs have a run of each side: got {len(before)} and {len(after)}")
    require_comparable(before, after, across=across)
    sides = _Sides(before, after, design)
    return Comparison(
        before=tuple(before),
        after=tuple(after),
        design=design,
        time=sides.time(),
        others=tuple(sides.others()),
        calls=_calls(before, after) if before[0].setup.kind == "script" else {},
        warnings=tuple(_warnings(before, after)),
    )


def require_comparable(
    before: Sequence[Result], after: Sequence[Result], *, across: Collection[str] = ()
) -> None:
    """Raises NotComparable if not all results are PASS and of the same work."""
    known = {*_work(before[0]), *shape.hints_of(result.Setup), "seed"}
    if unknown := sorted(set(across) - known):
        raise NotComparable(
            f"expected something that runs can differ in ({', '.join(sorted(known))}), got {unknown[0]!r}"
        )
    for side, results in (("A", before), ("B", after)):
        for number, each in enumerate(results, 1):
            if each.verdict is not Verdict.PASS:
                raise NotComparable(f"run {number} of {side} is {each.verdict}: {'; '.join(each.reasons)}")
            own = () if each is results[0] else _different(results[0], each, ())
            if own:
                raise NotComparable(f"the runs of {side} are of different work: {own[0]}")
    if different := _different(before[0], after[0], across):
        raise NotComparable(f"A and B are of different work: {'; '.join(different)}")


def _work(made: Result) -> dict[str, object]:
    """What must be equal, by the name of its field."""
    flat: dict[str, object] = {}
    for name, value in shape.to_plain(made.setup).items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            flat[name] = value
    return flat | ({"seed": made.seed} if made.is_drawn else {})


def _different(before: Result, after: Result, across: Collection[str]) -> list[str]:
    first, second = _work(before), _work(after)
    return [
        f"{name} is {_shown(first, name)} and {_shown(second, name)}"
        for name in {**first, **second}
        if first.get(name) != second.get(name) and not {name, name.partition(".")[0]} & set(across)
    ]


def _shown(work: dict[str, object], name: str) -> str:
    return repr(work[name])[:80] if name in work else "not set"


class _Sides:
    """Both sides, of which quantities are measured."""

    def __init__(self, before: Sequence[Result], after: Sequence[Result], design: Design) -> None:
        self._before, self._after, self._design = before, after, design

    def measure(self, name: str, unit: str, value: Callable[[Result], float]) -> Measure:
        first, second = [value(each) for each in self._before], [value(each) for each in self._after]
        medians = plain_statistics.median(first), plain_statistics.median(second)
        return Measure(name, unit, *medians, _ratio(first, second, self._design))

    def time(self) -> Measure:
        """What the verdict is about."""
        if self._before[0].setup.kind == "rate":
            return self.measure(
                "time per operation", "µs", lambda each: 1e6 / each.rate if each.rate else 0.0
            )
        return self.measure("time", "s", lambda each: each.seconds)

    def others(self) -> t.Iterator[Measure]:
        """Percentiles of rates, phases of scripts; as far as all runs have them."""
        runs = [*self._before, *self._after]
        if self._before[0].setup.kind == "rate":
            if all(each.latency.operations.count for each in runs):
                yield self.measure("p50", "µs", lambda each: each.latency.operations.percentile(50))
                yield self.measure("p99", "µs", lambda each: each.latency.operations.percentile(99))
            return
        names = [phase.name for phase in runs[0].phases]
        if len(names) > 1 and all([phase.name for phase in each.phases] == names for each in runs):
            for index, name in enumerate(names):
                yield self.measure(name, "s", _seconds_of(index))


def _seconds_of(index: int) -> Callable[[Result], float]:
    return lambda each: each.phases[index].seconds


def _ratio(before: Sequence[float], after: Sequence[float], design: Design) -> Interval | None:
    try:
        if design is Design.PAIRS:
            return statistics.ratio_of_pairs(list(zip(before, after, strict=True)))
        return statistics.ratio_of_sets(before, after)
    except ValueError:
        return None


def _calls(before: Sequence[Result], after: Sequence[Result]) -> dict[str, tuple[float, float]]:
    names = {name for each in (*before, *after) for name in each.calls}
    medians = {
        name: (
            plain_statistics.median(each.calls.get(name, 0) for each in before),
            plain_statistics.median(each.calls.get(name, 0) for each in after),
        )
        for name in sorted(names)
    }
    return {name: both for name, both in medians.items() if both[0] != both[1]}


def _warnings(before: Sequence[Result], after: Sequence[Result]) -> t.Iterator[str]:
    runs = [*before, *after]
    for what in ("nfsproof", "python", "system", "processors"):
        values = {str(getattr(each.environment, what)) for each in runs}
        if len(values) > 1:
            yield f"the runs differ in {what}: {', '.join(sorted(values))}"
    yield from dict.fromkeys(warning for each in runs for warning in each.warnings)
    if any(each.troubles for each in runs):
        yield "not every call of every run went well: see troubles in the results"


def run_pairs(
    run: Callable[[str, int], Result],
    *,
    pairs: int = PAIRS,
) -> tuple[list[Result], list[Result]]:
    """Makes the runs A B A B. `run` gets the side, "A" or "B", and the number of the pair from 1.

    What differs from minute to minute on the machine then meets both sides. Raises ValueError for too few pairs, and
    what `run` raises. A run that is not PASS ends it: NotComparable.
    """
    if not statistics.FEWEST_PAIRS <= pairs <= statistics.MOST:
        raise ValueError(f"expected {statistics.FEWEST_PAIRS} to {statistics.MOST} pairs, got {pairs}")
    made: dict[str, list[Result]] = {"A": [], "B": []}
    for number in range(1, pairs + 1):
        for side, results in made.items():
            single = run(side, number)
            if single.verdict is not Verdict.PASS:
                raise NotComparable(
                    f"run {number} of {side} is {single.verdict}: {'; '.join(single.reasons)}"
                )
            results.append(single)
    return made["A"], made["B"]


def read_set(path: Path) -> list[Result]:
    """The results at a path: a file, the folder of a run, or a folder of such folders and files, in order of names.

    Raises OSError and `ResultError`.
    """
    if not path.is_dir() or (path / result.FILE).exists():
        return [result.read(path)]
    found = [each for each in path.iterdir() if (each / result.FILE).is_file() or each.suffix == ".json"]
    if not found:
        raise result.ResultError(f"{path}: expected {result.FILE}, or folders with it, got none")
    if len(found) > statistics.MOST:
        raise result.ResultError(f"{path}: expected at most {statistics.MOST} results, got {len(found)}")
    return [result.read(each) for each in sorted(found, key=_natural)]


def _natural(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", path.name)]
