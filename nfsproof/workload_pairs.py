# SPDX-License-Identifier: MIT
"""`nfsproof workload compare A B --run NAME`, and `nfsproof workload fio`: commands that make several runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from nfsjudge.verdict import Verdict
from nfsproof import workloading
from nfsproof.exits import Exit, Trouble
from nfsproof.workload_results import judge
from nfsproof.workloading import Wish
from reports.workloads.table import result_text
from workloads.compare import Design, NotComparable, parse_limit, run_pairs
from workloads.fio import Job, JobError, read_jobs
from workloads.result import Result
from workloads.trouble import LostWorker

Say = Callable[[str], None]


def run_once(wish: Wish, *, say: Say, out: Path | None) -> Result:
    """One run, its result kept in `out`. Raises Trouble, KeyboardInterrupt."""
    if out is not None:
        workloading.make_folder(out)
    try:
        outcome = workloading.run(wish, say=say, out=out)
    except LostWorker as error:
        raise Trouble(f"lost worker: {error}") from error
    for left in outcome.left:
        say(f"could not be removed: {left}")
    if outcome.interrupted:
        raise KeyboardInterrupt
    if out is not None:
        workloading.write(outcome.result, out)
    return outcome.result


def compare_runs(
    wishes: tuple[Wish, Wish],
    *,
    pairs: int,
    out: Path | None,
    across: Sequence[str],
    limit: str,
    say: Say,
    progress: Say,
    runner: Callable[..., Result] = run_once,
) -> int:
    """Run A B A B, compare the pairs and print it; the exit status. Raises Trouble.

    A run that is FAIL ends with its own text and FAIL: a server that is wrong is not compared.
    """
    try:
        if limit:
            parse_limit(limit)  # before hours of runs
    except ValueError as error:
        raise Trouble(str(error)) from error
    sides = dict(zip("AB", wishes, strict=True))
    bad: list[Result] = []

    def run(side: str, number: int) -> Result:
        progress(f"pair {number} of {pairs}: {side}")
        made = runner(sides[side], say=progress, out=None if out is None else out / side / str(number))
        if made.verdict is not Verdict.PASS:
            bad.append(made)
        return made

    try:
        before, after = run_pairs(run, pairs=pairs)
    except NotComparable as error:
        for each in bad:
            say(result_text(each).rstrip("\n"))
        say(f"not compared: {error}")
        return int(Exit.FAIL if bad[0].verdict is Verdict.FAIL else Exit.VOID)
    except ValueError as error:
        raise Trouble(str(error)) from error
    return judge(before, after, design=Design.PAIRS, across=across, limit=limit, say=say)


def run_jobs(
    path: Path,
    wish: Callable[[Job], Wish],
    *,
    out: Path | None,
    say: Say,
    progress: Say,
    runner: Callable[..., Result] = run_once,
) -> int:
    """Run the jobs of a file of fio one after the other; the worst exit status. Raises Trouble."""
    try:
        jobs = read_jobs(path)
    except JobError as error:
        raise Trouble(str(error)) from error
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}") from error
    worst = Exit.OK
    for number, job in enumerate(jobs, 1):
        made = runner(wish(job), say=progress, out=None if out is None else out / str(number))
        say(f"[{job.name}]")
        say(result_text(made).rstrip("\n"))
        if made.verdict is Verdict.FAIL:
            worst = Exit.FAIL
        elif made.verdict is not Verdict.PASS and worst is Exit.OK:
            worst = Exit.VOID
    return int(worst)
