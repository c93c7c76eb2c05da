# SPDX-License-Identifier: MIT
"""`nfsproof baseline`: known failures, compared and updated."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.commands.shared import print_comparison


@click.group(epilog="docs/baselines.md describes the file.")
def baseline() -> None:
    """Compare a run with known failures, or update them."""


@baseline.command(
    "check", epilog="Exit status: 0 no difference; 11 differences; 4 wrong usage, or a file cannot be read."
)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("word", metavar="FILE")
def baseline_check(run_folder: Path, word: str) -> int:
    """Print how RUN differs from FILE, or from a baseline of nfsproof by its name (ganesha-4.3-vfs).

    auto is the one for the server and version of the run.
    """
    return print_comparison(lambda baselines: baselines.check(run_folder, word))


@baseline.command(
    "update",
    epilog="Exit status: 0 done; 11 something is left that an update cannot settle (expired entries, the floor); "
    "4 wrong usage, an incomplete run, or a file that cannot be read or written.",
)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print the change, write nothing.")
def baseline_update(run_folder: Path, file: Path, dry_run: bool) -> int:
    """Update FILE with the results of RUN, and print the change. FILE is created if it does not exist.

    Of a change of more than 60 lines, only counts are printed.
    Reasons, links, comments and order are kept. New entries are at the end; their reasons begin with TODO.
    """
    return print_comparison(lambda baselines: baselines.update(run_folder, file, dry_run=dry_run))


@baseline.command("list", epilog="Exit status: 0.")
def baseline_list() -> None:
    """Print the names of the baselines that come with nfsproof."""
    starter.put_home_first()
    from reports.baseline import shipped

    for file in shipped():
        click.echo(f"{Path(file.name).stem:<28} {file.server}: {len(file.entries)} known causes")
