# SPDX-License-Identifier: MIT
"""`nfsproof target`: the description of a server or a client."""

from __future__ import annotations

import click

from nfsproof import starter
from nfsproof.exits import Exit


@click.group()
def target() -> None:
    """Describe a server or a client in a file, and try the file out."""


@target.command(epilog="Exit status: 0 everything worked; 4 something did not.")
@click.argument("file", metavar="FILE.toml[#LABEL]")
def check(file: str) -> int:
    """Try out a target file, step by step.

    Tests the URL as `nfsproof doctor` does, then carries out each control once (crash, restart, stop and start, files
    that change without NFS, a full disk) and looks at its effect by NFS. A client, and a server that nfsproof starts,
    is started once.
    """
    starter.put_home_first()
    from nfsproof.events.chosen import load_target
    from nfsproof.target_trial import try_out

    return int(Exit.OK if try_out(load_target(file), click.echo) else Exit.USAGE)
