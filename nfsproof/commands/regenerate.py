# SPDX-License-Identifier: MIT
"""`nfsproof regenerate`: everything that is generated in a checkout."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof.commands.shared import require_checkout
from nfsproof.exits import Exit, Trouble


@click.command(
    epilog="Exit status: 0 everything is up to date; 1 something differs, or is not filled in; 4 there is no "
    "complete run."
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; red if anything differs.")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
def regenerate(only_check: bool, folder: Path | None) -> int:
    """Write everything that is generated in a checkout, or compare it (--check).

    \b
    suites/ids.txt                        from the checks
    docs/knobs.md, docs/lint.md           their tables, from the declarations
    docs/guide.md                         examples with numbers of checks, from suites/ids.txt
    docs/man/nfsproof.1                   from the help of the commands
    suites/reach.txt                      from a whole run on the embedded server

    DIR has the records of such a run. Without DIR, only the checks that are new run first, and --check does not compare
    suites/reach.txt. Places that nfsproof new-check left to fill in are red.
    """
    require_checkout("what is generated")
    from nfsproof import covering, generated

    work = generated.check if only_check else generated.regenerate
    commands = click.get_current_context().find_root().command
    assert isinstance(commands, click.Group)
    try:
        is_right = work(commands, folder, click.echo)
    except covering.CannotCover as error:
        raise Trouble(str(error)) from error
    if is_right:
        click.echo("everything that is generated is up to date")
    elif only_check:
        click.echo("not up to date; run bin/nfsproof regenerate")
    return int(Exit.OK if is_right else Exit.FAIL)
