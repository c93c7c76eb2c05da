# SPDX-License-Identifier: MIT
"""Commands that make several runs: pairs for a comparison, and the jobs of a file of fio."""

from __future__ import annotations

import json
import typing as t
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from nfsproof import workload_pairs, workload_words
from nfsproof.commands.workload import workload
from nfsproof.exits import Exit, Trouble
from nfsproof.workload_words import wish_of_words
from nfsproof.workloading import Wish
from tests.needs import needs
from tests.workloads import samples
from workloads import result
from workloads.fio import parse_jobs
from workloads.result import Result

SMALL = ("--set", "size=64k", "--version", "3")


def run(*words: str | Path) -> tuple[int, str]:
    """(exit status, output) of `nfsproof workload`. Raises Trouble, which `nfsproof` prints as one line."""
    ended = CliRunner().invoke(workload, [str(word) for word in words], standalone_mode=False)
    if ended.exception is not None:
        raise ended.exception
    return int(ended.return_value or 0), ended.output


def test_pairs_are_run_compared_and_kept(tmp_path: Path) -> None:
    status, text = run("compare", "embedded", "embedded", "--run", "write10", "--out", tmp_path, "--", *SMALL)
    assert status == 0
    assert "B: " in text
    assert "signed-rank test, 93.75 %" in text
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("result.json")) == [
        f"{side}/{number}/result.json" for side in "AB" for number in range(1, 6)
    ]
    again = run("compare", tmp_path / "A", tmp_path / "B", "--paired")[1]
    assert again == text[text.index("work: ") :]


def compare_with(runs: t.Iterator[Result], lines: list[str], **more: t.Any) -> int:
    wish = Wish(workload="write10", target="embedded")
    return workload_pairs.compare_runs(
        (wish, wish), pairs=5, out=None, across=(), say=lines.append, progress=lambda _text: None,
        runner=lambda _wish, **_more: next(runs), **{"limit": "", **more},
    )  # fmt: skip


def test_a_wrong_run_ends_the_comparison_red() -> None:
    made, lines = iter([samples.SCRIPT, samples.WRONG_DATA]), list[str]()
    assert compare_with(made, lines) == Exit.FAIL
    assert "1280 reads compared (10 MiB), 1 WRONG" in lines[0]
    assert lines[1] == "not compared: run 1 of B is FAIL: 1 read returned wrong data"
    assert compare_with(iter([samples.VOID]), []) == Exit.VOID


def test_a_bad_limit_is_refused_before_the_first_run() -> None:
    with pytest.raises(Trouble, match="expected a limit such as slower:5%, got '5'"):
        compare_with(iter([]), [], limit="5")


def test_a_limit_is_judged_on_pairs() -> None:
    pairs = [samples.rate(slower=slower) for _ in range(5) for slower in (1.0, 1.2)]
    lines: list[str] = []
    assert compare_with(iter(pairs), lines, limit="slower:5%") == Exit.FAIL
    assert lines[-1] == "beyond the limit slower:5%"
    assert compare_with(iter(pairs), [], limit="slower:25%") == Exit.OK


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a", "b", "--out", "x"), "expected --run NAME with options after --, with --pairs, or with --out"),
        (("a", "b", "--", "--version", "3"), "expected --run NAME with options after --"),
        (("embedded", "embedded", "--run", "write10", "--", "--colour"), "No such option"),
        (
            ("embedded", "embedded", "--run", "write10", "--", "--version", "9"),
            "Invalid value for '--version'",
        ),
        (("embedded", "embedded", "--run", "write10", "--pairs", "4"), "4 is not in the range 5<=x<=200"),
    ],
)
def test_wrong_usage_is_one_line(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        run("compare", *words)
    assert said in caught.value.format_message()


def test_options_of_one_result_stand_before() -> None:
    with pytest.raises(Trouble, match="--out stands before --"):
        run("compare", "embedded", "embedded", "--run", "write10", "--", "--out", "x")
    with pytest.raises(Trouble, match="--dry-run stands before --"):
        run("compare", "embedded", "embedded", "--run", "write10", "--", "--dry-run")


def test_words_become_the_wish_of_a_run() -> None:
    command = workload.commands["run"]
    wish = wish_of_words(command, "write10", "embedded", ["--size", "8k", "--window", "7", "--wsize", "1k"])
    assert (wish.workload, wish.target, wish.rsize, wish.wsize, wish.window) == (
        "write10",
        "embedded",
        8192,
        1024,
        7,
    )


# ---------------------------------------------------------------- fio

JOBS = """\
[global]
runtime=2
size=1m
[first]
rw=randread
bs=8k
numjobs=2
iodepth=4
[second]
stonewall
rw=write
sync=1
"""


def test_a_job_becomes_the_wish_of_a_run() -> None:
    first, second = parse_jobs(JOBS)
    wish = workload_words.wish_of_job(first, "embedded", "3")
    assert (wish.workload, wish.clients, wish.callers, wish.duration) == ("randread", 2, 4, 2.0)
    assert wish.parameters == {"size": "1048576", "io": "8192"}
    assert (wish.policy, wish.rsize, wish.wsize, wish.stable) == ("like", 8192, 8192, "unstable")
    assert workload_words.wish_of_job(second, "embedded", None).stable == "file-sync"


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ((samples.SCRIPT, samples.SCRIPT), Exit.OK),
        ((samples.WRONG_DATA, samples.VOID), Exit.FAIL),
        ((samples.VOID, samples.SCRIPT), Exit.VOID),
    ],
)
def test_the_worst_job_decides(results: tuple[Result, Result], status: Exit, tmp_path: Path) -> None:
    path = tmp_path / "jobs.fio"
    path.write_text(JOBS, encoding="utf-8")
    made, lines, folders = iter(results), list[str](), list[Path | None]()

    def runner(_wish: Wish, *, say: t.Any, out: Path | None) -> Result:
        folders.append(out)
        return next(made)

    def wish(job: t.Any) -> Wish:
        return workload_words.wish_of_job(job, "embedded", "3")

    assert (
        workload_pairs.run_jobs(
            path, wish, out=tmp_path / "out", say=lines.append, progress=lines.append, runner=runner
        )
        == status
    )
    assert lines[0::2] == ["[first]", "[second]"]
    assert folders == [tmp_path / "out" / "1", tmp_path / "out" / "2"]


def test_a_job_file_that_is_not_understood_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "jobs.fio"
    path.write_text("[job]\nrw=trim\n", encoding="utf-8")
    with pytest.raises(Trouble, match=r"jobs\.fio:2: rw: expected one of"):
        run("fio", path)
    with pytest.raises(Trouble, match=r"nowhere\.fio: No such file"):
        run("fio", tmp_path / "nowhere.fio")


@needs("jsonschema")
def test_a_real_result_is_valid_by_the_schema_and_read_again(tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    run("run", "write10", "embedded", *SMALL, "--out", tmp_path)
    Draft202012Validator(result.json_schema()).validate(json.loads((tmp_path / "result.json").read_bytes()))
    made = result.read(tmp_path)
    assert result.from_plain(result.to_plain(made)) == made
    assert made.calls["WRITE"] == 8
    assert (made.setup.clients, made.setup.listing) == (1, "with attributes")
