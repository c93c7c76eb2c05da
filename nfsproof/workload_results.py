# SPDX-License-Identifier: MIT
"""`nfsproof workload show` and `compare`: what was measured, in the forms that are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfsproof.exits import Exit, Trouble
from reports.board.results import render_results
from reports.workloads.charts import MOST, pictures
from reports.workloads.openmetrics import openmetrics
from reports.workloads.sheets import sheets
from reports.workloads.table import comparison_text, repeats_text, result_text
from reports.workloads.wording import names_of
from workloads.compare import Design, NotComparable, compare, parse_limit, read_set
from workloads.result import Result, ResultError

Say = Callable[[str], None]
STDOUT = Path("-")


@dataclass(frozen=True, slots=True)
class Forms:
    """What `show` is to write. `Path("-")` is the output; None is not wanted. Nothing at all: text on the output."""

    html: Path | None = None
    csv: Path | None = None
    svg: Path | None = None
    """Folders."""
    openmetrics: Path | None = None


def show(paths: Sequence[Path], forms: Forms, say: Say) -> None:
    """Read results and write each form. Raises Trouble."""
    results = [each for path in paths for each in read(path)]
    if forms == Forms():
        texts = [*map(result_text, results), repeats_text(results)]
        say("\n".join(text for text in texts if text).rstrip("\n"))
        return
    if len(results) > MOST and (forms.html or forms.svg):
        raise Trouble(
            f"expected at most {MOST} results for pictures, got {len(results)}: choose some of them"
        )
    if len(results) > 1 and forms.openmetrics:
        raise Trouble(f"expected one result for OpenMetrics, got {len(results)}")
    if forms.html:
        _write(forms.html, render_results(results), say)
    if forms.openmetrics:
        _write(forms.openmetrics, openmetrics(results[0]), say)
    if forms.svg:
        named = list(zip(names_of(results), results, strict=True))
        for title, svg in pictures(named):
            _write(forms.svg / f"{title.lower().replace(' ', '-')}.svg", svg + "\n", say)
    if forms.csv:
        for number, each in enumerate(results, 1):
            folder = forms.csv if len(results) == 1 else forms.csv / str(number)
            for name, text in sheets(each).items():
                _write(folder / name, text, say)


def read(path: Path) -> list[Result]:
    """The results at a path, as `read_set`. Raises Trouble."""
    try:
        return read_set(path)
    except ResultError as error:
        raise Trouble(str(error)) from error
    except OSError as error:
        raise Trouble(f"{error.filename or path}: {error.strerror}") from error


def _write(path: Path, text: str, say: Say) -> None:
    if path == STDOUT:
        say(text.rstrip("\n"))
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Trouble(f"cannot write {path}: {error.strerror}") from error


def compare_files(
    before: Path, after: Path, *, is_paired: bool, across: Sequence[str], limit: str, say: Say
) -> int:
    """Compare the results at two paths and print it; the exit status. Raises Trouble."""
    design = Design.PAIRS if is_paired else Design.SETS
    return judge(read(before), read(after), design=design, across=across, limit=limit, say=say)


def judge(
    before: Sequence[Result],
    after: Sequence[Result],
    *,
    design: Design,
    across: Sequence[str],
    limit: str,
    say: Say,
) -> int:
    """Compare two sides and print it. The exit status is FAIL only beyond a limit. Raises Trouble."""
    try:
        share = parse_limit(limit) if limit else None
        comparison = compare(before, after, design=design, across=across)
        is_beyond = share is not None and comparison.is_slower_by_more(share)
    except NotComparable as error:
        raise Trouble(f"not comparable: {error}") from error
    except ValueError as error:
        raise Trouble(str(error)) from error
    say(comparison_text(comparison).rstrip("\n"))
    if is_beyond:
        say(f"beyond the limit {limit}")
    return int(Exit.FAIL if is_beyond else Exit.OK)
