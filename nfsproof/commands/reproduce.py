# SPDX-License-Identifier: MIT
"""`nfsproof reproduce`: one check of a run again."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.commands.completing import complete_id
from nfsproof.exits import Exit, Trouble


@click.command(
    epilog="Exit status: the same as nfsproof run for this check. With --script: 0 if all messages were sent, whatever "
    "the server answered; 4 if the server was not reached."
)
@click.argument("name", metavar="ID", shell_complete=complete_id)
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    default="nfsproof-report",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the run.",
)
@click.option(
    "--target",
    metavar="TARGET",
    help="Use this server instead of the one of the run; also a target file (FILE.toml).",
)
@click.option("--script", is_flag=True, help="Run the script of the check instead of the check.")
@click.option(
    "--trust",
    is_flag=True,
    help="With --script: run it although it comes from someone else. Read it first (--print).",
)
@click.option("--print", "show", is_flag=True, help="Print the script, run nothing.")
def reproduce(name: str, folder: Path, target: str | None, script: bool, trust: bool, show: bool) -> int:
    """Run one check of a run again.

    ID is the id of a check, the beginning of one, or a rule of the lint (then the first check that broke it). With
    --script, the script in the report sends the same messages and prints every reply. A server that was started for the
    run is started again. The script of an archive comes from someone else and runs only with --trust.
    """
    starter.put_home_first()
    from nfsjudge.records import BadRecord
    from nfsproof import reproducing
    from nfstargets import TargetError

    try:
        found = reproducing.find(name, folder)
        if show:
            click.echo(reproducing.script_path(found).read_text(encoding="ascii"), nl=False)
            return int(Exit.OK)
        if script:
            return reproducing.run_script(found, target, trust=trust)
        return reproducing.run_again(found, target)
    except FileNotFoundError as error:
        raise Trouble(
            f"expected the records of a run, but {error.filename} does not exist; name the folder with --report DIR"
        ) from error
    except (OSError, BadRecord, ValueError, reproducing.CannotReproduce, TargetError) as error:
        raise Trouble(str(error)) from error
