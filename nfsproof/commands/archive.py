# SPDX-License-Identifier: MIT
"""`nfsproof archive`: a run in one file, without host names."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.commands.shared import READS
from nfsproof.exits import Trouble


@click.command(epilog=READS)
@click.argument("run_folder", metavar="[RUN]", default="nfsproof-report", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="A .tar.gz or .zip. [RUN.tar.gz]"
)
@click.option("--label", default="", metavar="TEXT", help="Name of the target, such as Server A.")
@click.option(
    "--anonymous/--named",
    default=None,
    help="Hide which server it is: kind, description, export. [anonymous with a label]",
)
@click.option("--hide", multiple=True, metavar="WORD", help="Hide this word, too; may be repeated.")
@click.option("--with-hosts", is_flag=True, help="Hide nothing.")
@click.option("--with-logs", is_flag=True, help="Include the logs of servers that nfsproof started.")
def archive(
    run_folder: Path,
    output: Path | None,
    label: str,
    anonymous: bool | None,
    hide: tuple[str, ...],
    with_hosts: bool,
    with_logs: bool,
) -> None:
    """Pack a run into one file without host names.

    The file contains no addresses and paths of your machine either. RUN is the folder of a run. nfsproof report reads
    archives and folders alike. docs/interop-event.md lists what an archive hides, and what may remain in it.
    """
    starter.put_home_first()
    from nfsjudge.wording import count
    from nfsproof import archiving
    from reports.folders import chosen_run

    wishes = archiving.Wishes(label, anonymous, with_hosts, with_logs, hide)
    try:
        packed = archiving.pack(
            chosen_run(run_folder), output or archiving.default_name(run_folder, label), wishes
        )
    except archiving.ArchiveError as error:
        raise Trouble(str(error)) from error
    for problem in packed.problems:
        click.echo(f"nfsproof: warning: {problem}", err=True)
    note = "nothing hidden" if with_hosts else f"label: {packed.manifest.label or 'none'}"
    click.echo(f"written: {packed.file} ({count(len(packed.manifest.files), 'file')}, {note})")
