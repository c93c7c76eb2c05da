# SPDX-License-Identifier: MIT
"""`nfsproof workload show` and `compare`: results of workloads."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from nfsproof import starter
from nfsproof.commands.shared import READS, defects_are_no_verdicts

_PATH = click.Path(path_type=Path)


@click.command(epilog=READS + " It does not depend on the verdicts.")
@click.argument("results", metavar="RESULT ...", nargs=-1, required=True, type=_PATH)
@click.option(
    "--html", type=_PATH, metavar="FILE", help="A page with tables and pictures, results side by side."
)
@click.option("--csv", type=_PATH, metavar="DIR", help="Phases, calls, seconds and latencies as CSV.")
@click.option("--svg", type=_PATH, metavar="DIR", help="The pictures.")
@click.option("--openmetrics", type=_PATH, metavar="FILE", help="The text format of OpenMetrics.")
def show(
    results: tuple[Path, ...], html: Path | None, csv: Path | None, svg: Path | None, openmetrics: Path | None
) -> None:
    """Show results of workloads.

    RESULT is a result.json, the folder of one, or a folder of such folders. Without an option, the results are printed.
    FILE may be - for standard output. docs/workload-results.md describes the forms.
    """
    starter.put_home_first()
    from nfsproof import workload_results

    workload_results.show(results, workload_results.Forms(html, csv, svg, openmetrics), click.echo)


@click.command(
    epilog="Exit status: 0 compared; 1 slower than --fail-if allows, or a run was wrong; 2 interrupted; 3 internal "
    "error; 4 wrong usage, "
    "or the results are not comparable; 10 a run could not be carried out."
)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.argument("words", metavar="[-- OPTION ...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--paired", is_flag=True, help="Run 1 of A was made next to run 1 of B, and so on.")
@click.option(
    "--across",
    multiple=True,
    metavar="FIELD",
    help="This differs on purpose, such as version or policy; may be repeated.",
)
@click.option(
    "--fail-if", "limit", default="", metavar="slower:5%", help="Exit with 1 if B is slower by more."
)
@click.option(
    "--run", "workload", metavar="NAME", help="A and B are targets: run this workload on them, A B A B."
)
@click.option(
    "--pairs",
    type=click.IntRange(5, 200),
    default=5,
    show_default=True,
    metavar="N",
    help="With --run: how often.",
)
@click.option("--out", type=_PATH, metavar="DIR", help="With --run: keep the results in DIR/A and DIR/B.")
@defects_are_no_verdicts
def compare(
    before: str,
    after: str,
    words: tuple[str, ...],
    paired: bool,
    across: tuple[str, ...],
    limit: str,
    workload: str | None,
    pairs: int,
    out: Path | None,
) -> int:
    """Compare results: is B slower than A, faster, or is no difference seen?

    A and B are a result.json each, the folder of one, or a folder of such folders. A difference is seen from 3 runs of
    each side on, or from 5 pairs, and only between runs of the same work.

    With --run, A and B are targets, which may be the same, and the runs are made in turn. Options after -- are those of
    nfsproof workload run.
    """
    starter.put_home_first()
    from nfsproof import workload_results

    if workload is None:
        source = click.get_current_context().get_parameter_source("pairs")
        if words or out is not None or source is not ParameterSource.DEFAULT:
            raise click.UsageError("expected --run NAME with options after --, with --pairs, or with --out")
        return workload_results.compare_files(
            Path(before), Path(after), is_paired=paired, across=across, limit=limit, say=click.echo
        )
    from nfsproof import workload_pairs, workload_words

    run = _command_run()
    return workload_pairs.compare_runs(
        (
            workload_words.wish_of_words(run, workload, before, words),
            workload_words.wish_of_words(run, workload, after, words),
        ),
        pairs=pairs,
        out=out,
        across=across,
        limit=limit,
        say=click.echo,
        progress=_to_stderr,
    )


def _command_run() -> click.Command:
    """`nfsproof workload run`, which knows its options."""
    context = click.get_current_context()
    assert context.parent is not None
    group = context.parent.command
    assert isinstance(group, click.Group)
    run = group.get_command(context, "run")
    assert run is not None
    return run


def _to_stderr(text: str) -> None:
    click.echo(text, err=True)


@click.command(
    epilog="Exit status: 0 done, and nothing was wrong; 1 wrong data, a wrong answer, or a rule of the lint is broken; "
    "2 interrupted; 3 internal error; 4 wrong usage, or the target does not answer; 10 a job could not be carried out."
)
@click.argument("file", metavar="FILE", type=_PATH)
@click.argument("target", default="embedded")
@click.option(
    "--version", type=click.Choice(("2", "3", "4.1", "4.2")), help="The version of NFS. [that of the target]"
)
@click.option("--out", type=_PATH, metavar="DIR", help="Keep the results in DIR/1, DIR/2 and so on.")
@defects_are_no_verdicts
def fio(file: Path, target: str, version: str | None, out: Path | None) -> int:
    """Run the jobs of a job file of fio on TARGET, one after the other.

    A subset of its keys is read (docs/workload-results.md); another key is refused, with its line.
    """
    starter.put_home_first()
    from nfsproof import workload_pairs, workload_words
    from nfstargets.spelling import as_url

    return workload_pairs.run_jobs(
        file,
        lambda job: workload_words.wish_of_job(job, as_url(target), version),
        out=out,
        say=click.echo,
        progress=_to_stderr,
    )
