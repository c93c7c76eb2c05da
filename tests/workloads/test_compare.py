# SPDX-License-Identifier: MIT
"""Comparisons: only equal work is compared, a difference is seen only if the interval says so."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from nfsjudge.verdict import Verdict
from tests.workloads import samples
from workloads import result
from workloads.compare import Design, Difference, NotComparable, compare, parse_limit, read_set, run_pairs
from workloads.result import Result


def runs(number: int, *, factor: float = 1.0, seed: int = 3) -> list[Result]:
    """Runs of a script whose phases last about 1 s in all, times a factor."""
    drawn = random.Random(seed)
    return [timed(samples.SCRIPT, factor * drawn.lognormvariate(0, 0.02)) for _ in range(number)]


def timed(run: Result, factor: float) -> Result:
    phases = tuple(dataclasses.replace(phase, seconds=phase.seconds * factor) for phase in run.phases)
    return dataclasses.replace(run, phases=phases)


@pytest.mark.parametrize(
    ("factor", "difference"),
    [(1.0, Difference.NONE), (1.2, Difference.SLOWER), (0.8, Difference.FASTER)],
)
@pytest.mark.parametrize("design", Design)
def test_a_difference_is_seen_if_there_is_one(factor: float, difference: Difference, design: Design) -> None:
    made = compare(runs(6), runs(6, factor=factor, seed=4), design=design)
    assert made.difference is difference
    assert made.time.ratio is not None
    assert made.time.ratio.estimate == pytest.approx(factor, abs=0.04)
    assert made.time.before == pytest.approx(1.0, abs=0.03)
    assert [each.name for each in made.others] == ["write", "close"]


def test_two_runs_that_share_their_minute_are_compared_with_each_other() -> None:
    """A machine that is now fast and now slow hides 10 % from sets, and not from pairs."""
    minutes = [1.0, 2.2, 0.7, 1.6, 3.0, 1.2]
    before = [timed(samples.SCRIPT, minute) for minute in minutes]
    after = [timed(samples.SCRIPT, 1.1 * minute) for minute in minutes]
    assert compare(before, after).difference is Difference.NONE
    paired = compare(before, after, design=Design.PAIRS)
    assert paired.difference is Difference.SLOWER
    assert paired.is_slower_by_more(0.05)
    assert not paired.is_slower_by_more(0.15)


def test_one_run_of_each_shows_no_difference() -> None:
    made = compare(runs(1), runs(1, factor=9.0))
    assert made.difference is Difference.UNKNOWN
    assert made.time.after / made.time.before > 8
    with pytest.raises(
        NotComparable, match="a limit needs at least 5 pairs, or 3 runs of each side; got 1 and 1"
    ):
        made.is_slower_by_more(0.05)


def test_a_rate_is_compared_by_its_time_per_operation_and_its_percentiles() -> None:
    drawn = random.Random(5)
    before = [samples.rate(slower=drawn.uniform(0.99, 1.01)) for _ in range(5)]
    after = [samples.rate(slower=1.5 * drawn.uniform(0.99, 1.01)) for _ in range(5)]
    made = compare(before, after)
    assert [each.name for each in (made.time, *made.others)] == ["time per operation", "p50", "p99"]
    assert made.difference is Difference.SLOWER
    assert made.time.before == pytest.approx(1000, rel=0.02)
    assert all(each.ratio and each.ratio.estimate == pytest.approx(1.5, abs=0.03) for each in made.others)


def test_calls_that_differ_are_listed() -> None:
    more = dataclasses.replace(samples.SCRIPT.phases[1], calls={"COMMIT": 1, "GETATTR": 1})
    after = dataclasses.replace(samples.SCRIPT, phases=(samples.SCRIPT.phases[0], more))
    assert compare([samples.SCRIPT], [after]).calls == {"GETATTR": (0, 1)}
    assert compare([samples.SCRIPT], [samples.SCRIPT]).calls == {}


def changed(**fields: object) -> Result:
    setup = dataclasses.replace(samples.SCRIPT.setup, **fields)  # type: ignore[arg-type]
    return dataclasses.replace(samples.SCRIPT, setup=setup)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (changed(workload="write40"), "workload is 'write10' and 'write40'"),
        (changed(policy="v3-like"), "policy is 'raw' and 'v3-like'"),
        (changed(version="2"), "version is '3' and '2'"),
        (
            changed(sizes=result.Sizes(read=8192, write=65536, directory=8192)),
            "sizes.write is 8192 and 65536",
        ),
        (changed(window=1), "window is 7 and 1"),
        (changed(parameters={"bytes": 1, "fileset": "one file"}), "parameters.bytes is 10485760 and 1"),
        (changed(parameters={"fileset": "one file"}), "parameters.bytes is 10485760 and not set"),
        (samples.VOID, "run 1 of B is VOID: the disk is full"),
        (samples.WRONG_DATA, "run 1 of B is FAIL: 1 read returned wrong data"),
    ],
)
def test_what_is_not_comparable_is_refused_by_name(other: Result, said: str) -> None:
    with pytest.raises(NotComparable, match=said):
        compare([samples.SCRIPT], [other])
    with pytest.raises(NotComparable, match=r"run 2 of A is|the runs of A are of different work: "):
        compare([samples.SCRIPT, other], [samples.SCRIPT])


def test_the_seed_matters_where_the_work_is_drawn() -> None:
    with pytest.raises(NotComparable, match="seed is 7 and 8"):
        compare([samples.rate()], [samples.rate(seed=8)])
    assert compare([samples.rate()], [samples.rate(seed=8)], across={"seed"}).time.before
    assert compare([samples.SCRIPT], [dataclasses.replace(samples.SCRIPT, seed=99)]).time.before == 1.0


def test_what_differs_on_purpose_is_named() -> None:
    other = changed(version="2", stable="")
    assert compare([samples.SCRIPT], [other], across={"version", "stable"}).difference is Difference.UNKNOWN
    with pytest.raises(NotComparable, match=r"stable is 'unstable' and ''$"):
        compare([samples.SCRIPT], [other], across={"version"})
    with pytest.raises(NotComparable, match=r"expected something that runs can differ in .*, got 'colour'"):
        compare([samples.SCRIPT], [other], across={"colour"})
    sizes = changed(sizes=result.Sizes(read=1, write=2, directory=3))
    assert compare([samples.SCRIPT], [sizes], across={"sizes"}).time.after == 1.0


def test_other_machines_and_troubles_are_warned_of() -> None:
    environment = dataclasses.replace(samples.ENVIRONMENT, processors=64)
    other = dataclasses.replace(
        samples.SCRIPT, environment=environment, warnings=("the client was at its limit",)
    )
    assert compare([samples.SCRIPT], [other]).warnings == (
        "the runs differ in processors: 2, 64",
        "the client was at its limit",
        "not every call of every run went well: see troubles in the results",
    )


def test_pairs_run_one_after_the_other() -> None:
    made: list[tuple[str, int]] = []

    def run(side: str, number: int) -> Result:
        made.append((side, number))
        return timed(samples.SCRIPT, 2.0 if side == "B" else 1.0)

    before, after = run_pairs(run, pairs=6)
    assert made == [(side, number) for number in range(1, 7) for side in "AB"]
    assert compare(before, after, design=Design.PAIRS).difference is Difference.SLOWER
    with pytest.raises(ValueError, match="expected 5 to 200 pairs, got 4"):
        run_pairs(run, pairs=4)


def test_a_run_that_is_wrong_ends_the_pairs() -> None:
    made: list[Verdict] = []

    def run(_side: str, number: int) -> Result:
        made.append(Verdict.PASS)
        return samples.VOID if number == 2 else samples.SCRIPT

    with pytest.raises(NotComparable, match="run 2 of A is VOID: the disk is full"):
        run_pairs(run)
    assert len(made) == 3


@pytest.mark.parametrize(
    ("text", "share"), [("slower:5%", 0.05), ("slower:12.5%", 0.125), ("slower:0%", 0.0)]
)
def test_a_limit_is_read(text: str, share: float) -> None:
    assert parse_limit(text) == share


@pytest.mark.parametrize(
    "text", ["", "slower", "slower:5", "faster:5%", "slower:-5%", "slower:5 %", "x" * 999]
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a limit such as slower:5%, got") as caught:
        parse_limit(text)
    assert len(str(caught.value)) < 120


def test_a_set_is_a_file_a_folder_or_folders_of_runs_in_order(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        folder = tmp_path / "set" / str(number)
        folder.mkdir(parents=True)
        result.write(timed(samples.SCRIPT, number), folder)

    def seconds(read: Sequence[Result]) -> list[float]:
        return [round(each.seconds, 6) for each in read]

    assert seconds(read_set(tmp_path / "set")) == [1.0, 9.0, 10.0]
    assert (
        seconds(read_set(tmp_path / "set" / "9"))
        == seconds(read_set(tmp_path / "set" / "9" / "result.json"))
        == [9.0]
    )
    (tmp_path / "set" / "2.json").write_text("{}", encoding="utf-8")
    with pytest.raises(result.ResultError, match=r"2\.json: expected a result of schema 1, got None"):
        read_set(tmp_path / "set")
    (tmp_path / "empty").mkdir()
    with pytest.raises(result.ResultError, match=r"expected result\.json, or folders with it, got none"):
        read_set(tmp_path / "empty")
