# SPDX-License-Identifier: MIT
"""`nfsproof coverage`: pages on what the suites cover."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble


@click.command(
    epilog="Exit status: 0 the pages were made; 1 a reason why something cannot be covered is out of date; 4 there is "
    "no complete run."
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    default="nfsproof-report/coverage",
    type=click.Path(path_type=Path),
    show_default=True,
    help="Where to write coverage.md and coverage-checks.md.",
)
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def coverage(output: Path, folder: Path | None) -> int:
    """Write the pages on what the suites cover: sections, errors, and requirements with their checks.

    They show a complete run on the embedded server: the one in DIR, or a new one. For a run on your server, use
    nfsproof report --coverage.
    """
    starter.put_home_first()
    from nfsproof import covering

    try:
        pages = covering.make_pages(folder)
    except covering.CannotCover as error:
        raise Trouble(str(error)) from error
    for file in covering.write(pages, output):
        click.echo(f"written: {file}")
    for line in pages.faults:
        click.echo(line)
    return int(Exit.FAIL if pages.faults else Exit.OK)
