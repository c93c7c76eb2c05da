# SPDX-License-Identifier: MIT
"""`nfsproof coverage`: the coverage pages of a checkout."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble


@click.command(epilog="Exit status: 0 the pages are up to date; 1 they are not; 4 there is no complete run.")
@click.option("--update", "mode", flag_value="update", help="Write the pages.")
@click.option(
    "--check", "mode", flag_value="check", help="Compare the pages with the run; red if they differ."
)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def coverage(mode: str | None, folder: Path | None) -> int:
    """Write or verify docs/coverage.md.

    The page shows a complete run on the embedded server: the one in DIR, or a new one. Only a checkout has it. For a
    run on your server, use nfsproof report --coverage.
    """
    starter.put_home_first()
    from nfsproof import covering

    if mode is None:
        raise click.UsageError("Missing option '--update' or '--check'.")
    if not starter.is_checkout():
        raise Trouble(
            "only a checkout contains these pages; use nfsproof report --coverage for the coverage of a run"
        )
    docs = starter.home() / "docs"
    try:
        pages = covering.make_pages(folder)
    except covering.CannotCover as error:
        raise Trouble(str(error)) from error
    if mode == "update":
        for name in covering.write(pages, docs):
            click.echo(f"written: docs/{name}")
    wrong = covering.differences(pages, docs)
    for line in wrong:
        click.echo(line)
    click.echo(
        "docs/coverage.md is out of date; run bin/nfsproof regenerate"
        if wrong
        else "docs/coverage.md is up to date"
    )
    return int(Exit.FAIL if wrong else Exit.OK)
