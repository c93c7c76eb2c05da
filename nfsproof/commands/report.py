# SPDX-License-Identifier: MIT
"""`nfsproof report`: reports from the records of runs."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.commands.shared import READS
from nfsproof.exits import Trouble


@click.command(epilog=READS + " It does not depend on the verdicts.")
@click.argument("runs", metavar="[RUN ...]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="The board, an HTML page.")
@click.option("--allure", type=click.Path(path_type=Path), metavar="FOLDER", help="Results for Allure.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="JUnit XML, for CI.")
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="A summary for a pull request."
)
@click.option("--annotate", is_flag=True, help="Print annotations for GitHub Actions.")
@click.option(
    "--coverage",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Covered sections and errors of the RFCs; FILE ends in .html, .md or .json.",
)
@click.option(
    "--causes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Causes of failures and reasons, as JSON.",
)
@click.option(
    "--workloads",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="RESULT",
    help="With --html: results of nfsproof workload, studies of nfsproof sensitivity, for the board; may be repeated.",
)
def report(
    runs: tuple[Path, ...],
    html: Path | None,
    allure: Path | None,
    junit: Path | None,
    markdown: Path | None,
    annotate: bool,
    coverage: Path | None,
    causes: Path | None,
    workloads: tuple[Path, ...],
) -> None:
    """Make reports from the records of runs.

    RUN is the folder of a run, its records.jsonl, an archive, or a folder of such folders or archives. The default
    is nfsproof-report. Without an option, the text report is printed. FILE may be - for standard output.
    docs/reports.md describes the formats.
    """
    starter.put_home_first()
    from nfsproof import reporting

    if workloads and html is None:
        raise click.UsageError("--workloads is a view of the board: give --html, too")
    forms = reporting.Forms(html, allure, junit, markdown, annotate, coverage, causes, workloads)
    try:
        reporting.report(runs or (Path("nfsproof-report"),), forms, click.echo, reporting.to_stderr)
    except reporting.ReportError as error:
        raise Trouble(str(error)) from error
