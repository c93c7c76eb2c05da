# SPDX-License-Identifier: MIT
"""`nfsproof workload paper`: the tables of the papers with our numbers."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.commands.shared import defects_are_no_verdicts

_PAPERS = ("nfsv3", "nfsv41", "sensitivity", "spritely", "clients")
_PATH = click.Path(path_type=Path)


@click.command(
    epilog="Exit status: 0 done; 1 wrong data, or a rule of the lint is broken; 2 interrupted; 3 internal error; "
    "4 wrong usage, or the target does not answer."
)
@click.argument("paper", type=click.Choice((*_PAPERS, "all")))
@click.argument("targets", metavar="TARGET ...", nargs=-1, required=True)
@click.option(
    "--repeat",
    type=click.IntRange(1, 50),
    default=1,
    show_default=True,
    metavar="N",
    help="Run all columns this often, in turn; the tables have medians.",
)
@click.option(
    "--out", type=_PATH, metavar="DIR", help="Keep the results there; those that are there are used again."
)
@click.option("--kept", is_flag=True, help="Run nothing: print the tables of the results in --out.")
@click.option(
    "--markdown",
    type=_PATH,
    metavar="FILE",
    help="Write the tables as a page, too; tables of other papers and targets that it has stay.",
)
@defects_are_no_verdicts
def paper(
    paper: str, targets: tuple[str, ...], repeat: int, out: Path | None, kept: bool, markdown: Path | None
) -> int:
    """Run what a paper measured, and print its tables: the paper's numbers, ours, and their ratio.

    The paper on sensitivity is about curves: its columns are studies, as of nfsproof sensitivity, which take long; with
    --out, they go on where they ended, point by point. --repeat is about their points.

    Calls are compared as they are; where ours differ by more than 2 %, the reason stands below the table. Seconds are
    compared as parts of those of one column only. TARGET is what nfsproof run accepts.
    """
    starter.put_home_first()
    from nfsproof import workload_papers
    from nfstargets.spelling import as_url

    wish = workload_papers.Wish(
        papers=_PAPERS if paper == "all" else (paper,),
        targets=[as_url(target) for target in targets],
        repeat=repeat,
        out=out,
        markdown=markdown,
        kept_only=kept,
    )
    return workload_papers.run(wish, say=click.echo, progress=lambda text: click.echo(text, err=True))
