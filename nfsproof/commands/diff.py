# SPDX-License-Identifier: MIT
"""`nfsproof diff`: two runs compared."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof.commands.shared import print_comparison


@click.command(epilog="Exit status: 0 no difference; 11 differences; 4 wrong usage, or a run cannot be read.")
@click.argument("before", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("after", metavar="RUN", type=click.Path(path_type=Path))
def diff(before: Path, after: Path) -> int:
    """Compare two runs.

    Prints the checks that are broken, fixed, new or gone, or that have another verdict or symptom. If a run has only
    a part of the checks, those that both ran are compared. For two servers, prints the causes that only one has, and
    those that both have.
    """
    return print_comparison(lambda baselines: baselines.difference(before, after))
