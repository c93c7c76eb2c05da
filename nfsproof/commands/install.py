# SPDX-License-Identifier: MIT
"""`nfsproof install`: other servers to test."""

from __future__ import annotations

import click

from nfsproof import starter
from nfsproof.exits import Trouble


@click.command(
    epilog="Exit status: 0 installed, or listed; 4 not possible: the message says what is missing."
)
@click.option(
    "--list", "list_them", is_flag=True, help="Print which servers can be installed, and which are."
)
@click.argument("names", nargs=-1, metavar="[NAME ...]")
def install(list_them: bool, names: tuple[str, ...]) -> None:
    """Install another NFS server to test.

    The installer uses go, cargo, pip, or apt with mmdebstrap or gcc. Each server is installed into its own folder below
    ~/.cache/nfsproof/servers (or below $NFSPROOF_SERVERS, or $XDG_CACHE_HOME/nfsproof/servers). Besides that, only
    the caches of go, cargo or pip change.
    """
    starter.put_home_first()
    from nfsproof import installing

    if not list_them and not names:
        raise Trouble("expected the name of a server; nfsproof install --list prints them")
    try:
        for name in names:
            installing.install_by_name(name, lambda line: click.echo(line, err=True))
    except installing.InstallError as error:
        raise Trouble(str(error)) from error
    for line in installing.listing() if list_them else ():
        click.echo(line)
