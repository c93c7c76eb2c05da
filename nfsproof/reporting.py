# SPDX-License-Identifier: MIT
"""`nfsproof report`: what runs have left, in the forms that were requested."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfsjudge.records import BadRecord
from nfsproof import allure_page
from nfsproof.exits import Trouble
from reports import Run, load_all, render_board, render_text
from reports.allure import write_allure
from reports.annotations import annotation_lines
from reports.causes import plain_causes
from reports.charts import charts_of
from reports.coverage.rendering import render_coverage
from reports.junit import render_junit
from reports.markdown import render_markdown
from reports.plain import printable

STDOUT = Path("-")
_COVERAGE = (".html", ".md", ".json")


class ReportError(Exception):
    """A mistake that the user can fix, in one line."""


@dataclass(frozen=True, slots=True)
class Forms:
    """What is wanted. `Path("-")` is the output; None is not wanted. Nothing at all: text on the output."""

    html: Path | None = None
    allure: Path | None = None
    """A folder."""
    junit: Path | None = None
    markdown: Path | None = None
    annotate: bool = False
    coverage: Path | None = None
    """Its ending says which form: .html, .md or .json."""
    causes: Path | None = None
    """As JSON."""
    workloads: tuple[Path, ...] = ()
    """Results of workloads, for the board."""


def report(
    paths: Sequence[Path], forms: Forms, say: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Read the runs, warn of what cannot be read of them, and write each form. Raises ReportError."""
    hold_outputs(forms)
    runs = _load(paths, forms, warn)
    if forms == Forms():
        say("\n".join(render_text(run) for run in runs).rstrip("\n"))
        return
    for path, text in _texts(runs, forms):
        if path == STDOUT:
            say(text.rstrip("\n"))
        else:
            _write(path, text)
            warn(f"written: {path}")
    if forms.allure is not None:
        _write_allure(runs, forms.allure, warn)
    if forms.annotate:
        for line in annotation_lines(runs, Path.cwd()):
            say(line)


def _load(paths: Sequence[Path], forms: Forms, warn: Callable[[str], None]) -> list[Run]:
    html = forms.html if forms.html != STDOUT else None
    # A page links the evidence: that of archives has to lie somewhere.
    folder_of_page = None if html is None else html.with_name(f"{html.stem}-files")
    try:
        runs, problems = load_all(paths, folder_of_page)
    except FileNotFoundError as error:
        raise ReportError(f"expected the records of a run: {error.filename} is not there") from error
    except OSError as error:
        raise ReportError(f"cannot read {error.filename}: {error.strerror}") from error
    except BadRecord as error:
        raise ReportError(printable(str(error))) from error
    for problem in problems:
        warn(f"warning: {printable(problem)}")
    return runs


def _texts(runs: Sequence[Run], forms: Forms) -> Iterator[tuple[Path, str]]:
    if forms.html is not None:
        yield (
            forms.html,
            render_board(
                runs,
                charts=charts_of(runs),
                at=None if forms.html == STDOUT else forms.html,
                workloads=_workloads(forms.workloads),
            ),
        )
    if forms.junit is not None:
        yield forms.junit, render_junit(runs)
    if forms.markdown is not None:
        yield forms.markdown, render_markdown(runs)
    if forms.coverage is not None:
        yield forms.coverage, render_coverage(runs, forms.coverage.suffix.lstrip("."), charts_of(runs))

    if forms.causes is not None:
        yield forms.causes, json.dumps(plain_causes(runs), indent=1) + "\n"


def _workloads(paths: Sequence[Path]) -> Sequence[object]:
    """The views of results and studies, each a file, a folder, or a folder of folders. Raises ReportError."""
    if not paths:
        return ()
    from nfsproof import workload_results  # most reports have none
    from reports.board.results import views_of
    from reports.board.studies import views_of_studies
    from workloads.sensitivity.study import read_all
    from workloads.trouble import Refused

    try:
        studies = {path: read_all(path) for path in paths}
        results = [
            each
            for path in paths
            if not studies[path] or _has_results(path)
            for each in workload_results.read(path)
        ]
        return [*views_of(results), *views_of_studies([each for path in paths for each in studies[path]])]
    except (Trouble, Refused, OSError, ValueError) as error:
        raise ReportError(printable(f"--workloads: {error}")) from error


def _has_results(folder: Path) -> bool:
    return folder.is_dir() and any((each / "result.json").is_file() for each in folder.iterdir())


def hold_outputs(forms: Forms) -> None:
    """Before anything is read: can the outputs be written? Raises ReportError."""
    wanted = (forms.html, forms.junit, forms.markdown, forms.coverage, forms.causes)
    outputs = [path for path in wanted if path is not None]
    for path in outputs:
        if path != STDOUT:
            _hold_file(path)
    if forms.coverage is not None and forms.coverage.suffix not in _COVERAGE:
        raise ReportError(
            f"cannot choose the format of {forms.coverage}: expected a name that ends in {', '.join(_COVERAGE)} says it"
        )
    named = [path.absolute() for path in outputs]
    if len(set(named)) < len(named):
        raise ReportError("two outputs have the same name; give each its own")
    if forms.allure is not None:
        try:
            forms.allure.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReportError(f"cannot create the folder {forms.allure}: {error.strerror}") from error
        if not os.access(forms.allure, os.W_OK | os.X_OK):
            raise ReportError(f"cannot write into the folder {forms.allure}")


def _hold_file(path: Path) -> None:
    if path.is_dir():
        raise ReportError(f"cannot write {path}: it is a folder; name a file")
    if not path.parent.is_dir():
        raise ReportError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ReportError(f"cannot write {path}: permission denied")


def _write(path: Path, text: str) -> None:
    """Whole, or not at all: what was there stays until the new text is on the disk."""
    real = path.resolve()
    try:
        # A pipe or a terminal is written as it is, and so is a file in a folder that takes no other.
        if (path.exists() and not path.is_file()) or not os.access(real.parent, os.W_OK):
            path.write_text(text, encoding="utf-8")
            return
        fresh = real.with_name(f"{real.name[:200]}.new")
        try:
            fresh.write_text(text, encoding="utf-8")
            if real.exists():
                shutil.copymode(real, fresh)
            fresh.replace(real)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror}") from error


def _write_allure(runs: Sequence[Run], folder: Path, warn: Callable[[str], None]) -> None:
    """The results, and how Allure makes a page of them."""
    results = folder / "results"
    try:
        number = write_allure(runs, results)
        warn(f"written: {number} results for Allure in {results}")
        warn(allure_page.how_to_make_it(allure_page.prepare(folder)))
    except OSError as error:
        raise ReportError(f"cannot write {error.filename or folder}: {error.strerror}") from error


def to_stderr(line: str) -> None:
    """Warnings do not mix with a report on the output."""
    sys.stderr.write(f"nfsproof: {line}\n")
