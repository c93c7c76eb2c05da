# SPDX-License-Identifier: MIT
"""`show` and `compare` of `nfsproof workload`, as a user calls them."""

from __future__ import annotations

import dataclasses
import typing as t
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfsproof.commands.workload_results import compare, show
from nfsproof.exits import Trouble
from tests.workloads import samples
from workloads import result
from workloads.result import Result


def run(command: t.Any, *words: str | Path) -> tuple[int, str]:
    """(exit status, output). Raises Trouble, which `nfsproof` prints as one line."""
    ended = CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)
    if ended.exception is not None:
        raise ended.exception
    return int(ended.return_value or 0), ended.output


def kept(folder: Path, *results: Result) -> Path:
    """A folder of runs."""
    for number, each in enumerate(results, 1):
        (folder / str(number)).mkdir(parents=True)
        result.write(each, folder / str(number))
    return folder


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    before = kept(tmp_path / "a", *(samples.rate(slower=1.0 + n / 100) for n in range(5)))
    return before, kept(tmp_path / "b", *(samples.rate(slower=1.3 + n / 100) for n in range(5)))


def test_results_are_shown_as_text(tmp_path: Path) -> None:
    folder = kept(tmp_path / "a", samples.SCRIPT, samples.WRONG_DATA)
    status, text = run(show, folder)
    assert status == 0
    assert text.count("workload: write10") == 2
    assert text.endswith("verdict:  FAIL\n")


def test_each_form_is_written(tmp_path: Path) -> None:
    folder = kept(tmp_path / "a", samples.rate())
    made = tmp_path / "made"
    status, text = run(
        show, folder, "--html", made / "page.html", "--csv", made / "csv", "--svg", made / "svg", "--openmetrics", "-"
    )  # fmt: skip
    assert status == 0
    assert text.endswith("# EOF\n")
    assert sorted(str(path.relative_to(made)) for path in made.rglob("*.*")) == [
        "csv/calls.csv",
        "csv/latency.csv",
        "csv/phases.csv",
        "csv/seconds.csv",
        "page.html",
        "svg/calls-by-procedure.svg",
        "svg/latency-by-percentile.svg",
        "svg/operations-by-second.svg",
    ]
    run(show, folder / "1", folder / "1" / "result.json", "--csv", made / "two")
    assert (made / "two" / "2" / "phases.csv").is_file()


def test_a_difference_is_printed_and_fails_only_beyond_a_limit(sides: tuple[Path, Path]) -> None:
    status, text = run(compare, *sides)
    assert status == 0
    assert "B: slower: 1.294 times the time of A" in text
    assert run(compare, *sides, "--fail-if", "slower:50%")[0] == 0
    status, text = run(compare, *sides, "--paired", "--fail-if", "slower:5%")
    assert status == 1
    assert text.endswith("beyond the limit slower:5%\n")
    assert run(compare, sides[1], sides[0], "--fail-if", "slower:5%")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a", "a/1", "--fail-if", "slower:5%"], "not comparable: a limit needs at least 5 pairs"),
        (["a", "a/1", "--paired"], "not comparable: pairs have a run of each side: got 5 and 1"),
        (["a", "b", "--fail-if", "5%"], "expected a limit such as slower:5%, got '5%'"),
        (["a", "b", "--across", "colour"], "expected something that runs can differ in"),
        (
            ["a", "other"],
            "not comparable: A and B are of different work: workload is 'randread' and 'write10'",
        ),
        (["a", "nowhere"], "nowhere: No such file or directory"),
        (["a", "broken"], "expected a result of schema 1, got 9"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    words: list[str], said: str, sides: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sides[0].parent
    monkeypatch.chdir(folder)
    kept(folder / "other", samples.SCRIPT)
    (folder / "broken").mkdir()
    (folder / "broken" / "result.json").write_text('{"schema": 9}', encoding="utf-8")
    with pytest.raises(Trouble, match=said) as caught:
        run(compare, *words)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_shown_is_one_line(tmp_path: Path) -> None:
    many = kept(tmp_path / "many", *[samples.SCRIPT] * 9)
    with pytest.raises(Trouble, match="expected at most 8 results for pictures, got 9"):
        run(show, many, "--html", tmp_path / "x.html")
    with pytest.raises(Trouble, match="expected one result for OpenMetrics, got 9"):
        run(show, many, "--openmetrics", "-")
    with pytest.raises(Trouble, match=r"cannot write .*: \w"):
        run(show, many / "1", "--html", many / "1" / "result.json" / "x.html")


def test_two_versions_are_compared_on_purpose(tmp_path: Path) -> None:
    setup = dataclasses.replace(samples.SETUP, version="2", stable="")
    other = kept(tmp_path / "b", dataclasses.replace(samples.SCRIPT, setup=setup))
    before = kept(tmp_path / "a", samples.SCRIPT)
    with pytest.raises(Trouble, match="version is '3' and '2'"):
        run(compare, before, other)
    assert run(compare, before, other, "--across", "version", "--across", "stable")[0] == 0
