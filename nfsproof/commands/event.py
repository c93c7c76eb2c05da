# SPDX-License-Identifier: MIT
"""`nfsproof event`: several targets with one command."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble


@click.command(
    epilog="Exit status: that of the worst run, in the order 2, 3, 1, 4, 11, 10, 5, 0; 4 also for a mistake in FILE. "
    "docs/target-file.md describes FILE."
)
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="[FILE without .toml]"
)
@click.option("--check", "only_check", is_flag=True, help="Check FILE for mistakes, run nothing.")
def event(file: Path, output: Path | None, only_check: bool) -> int:
    """Run the checks on several servers and clients.

    Makes an archive of each run, and one board. FILE lists the targets with their labels and options: URLs, names of
    servers that nfsproof starts, and clients (client:libnfs), which have other checks. If a target does
    not answer, the others continue. Ctrl-C stops all runs cleanly; everything judged so far is kept.
    """
    starter.put_home_first()
    from nfsjudge.wording import count
    from nfsproof import events
    from nfsproof.events.holding import CannotHold
    from nfsproof.events.known import what_is_known

    try:
        found = events.load_event(file, what_is_known())
    except OSError as error:
        raise Trouble(f"cannot read {file}: {error.strerror}") from error
    except events.BadEvent as error:
        raise Trouble(str(error)) from error
    if only_check:
        click.echo(f"{file}: {count(len(found.targets), 'target')}")
        return int(Exit.OK)
    try:
        return events.hold(
            found,
            output or Path(file.stem),
            click.echo,
            lambda line: click.echo(f"nfsproof: {line}", err=True),
        )
    except CannotHold as error:
        raise Trouble(str(error)) from error
