# SPDX-License-Identifier: MIT
"""`nfsproof clients`: NFS clients under faults."""

from __future__ import annotations

import typing as t
from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Trouble

_SEED: t.Final = click.IntRange(1, (1 << 63) - 1)


@click.command(
    epilog="Exit status: 0 nothing is red; 1 data were silently wrong, or with --strict an error or no end; 2 "
    "interrupted; 4 wrong usage, or a client that was named cannot be tested; 10 something could not be judged; 11 a "
    "run differs from its baseline."
)
@click.argument("names", metavar="[CLIENT ...]", nargs=-1)
@click.option("--plan", "plans", multiple=True, metavar="NAME", help="Only this plan; may be repeated.")
@click.option("--work", "works", multiple=True, metavar="NAME", help="Only this work; may be repeated.")
@click.option(
    "--version", "versions", multiple=True, metavar="3|4.1|4.2", help="Only this version; may be repeated."
)
@click.option(
    "--mount",
    default="",
    metavar="COMMAND",
    help="Test what this command mounts at {point}: {host}:/export, port {port} for NFS and MOUNT, version {version}.",
)
@click.option("--umount", default="", metavar="COMMAND", help="Undo --mount.")
@click.option(
    "--program",
    "programs",
    multiple=True,
    metavar="STEP=COMMAND",
    help="Test a client that mounts nothing: the command for a step, such as read='nfs-cat {url}'; may be repeated.",
)
@click.option(
    "--work-timeout",
    "seconds",
    type=click.FloatRange(1, 3600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest time for one work; more on a busy machine.",
)
@click.option("--seed", type=_SEED, default=1, show_default=True, help="What plans draw at random.")
@click.option("--strict", is_flag=True, help="An error of the client is red, and work that does not end.")
@click.option(
    "--baseline",
    default="",
    metavar="FILE",
    help="Red are only differences from this file (docs/baselines.md).",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("nfsproof-clients"),
    help="Folder of the records, captures and reports. [nfsproof-clients]",
)
@click.option("--list", "list_all", is_flag=True, help="Print clients, plans and works, and exit.")
def clients(
    names: tuple[str, ...],
    plans: tuple[str, ...],
    works: tuple[str, ...],
    versions: tuple[str, ...],
    mount: str,
    umount: str,
    programs: tuple[str, ...],
    seconds: float,
    seed: int,
    strict: bool,
    baseline: str,
    report: Path,
    list_all: bool,
) -> int:
    """Test NFS clients: does the work arrive, whatever happens to messages?

    CLIENT is nfsclient (the library of nfsproof), libnfs, linux (the kernel's client in a virtual machine:
    `nfsproof install knfsd`), command (see --mount) or program (see --program). The default is each of the first three
    that can be tested here.

    A client works on the embedded server, through a proxy that loses, delays, doubles and divides messages. Afterwards
    the files of the server are compared with what the client promised.

    Each client is a run of its checks: `nfsproof run client:libnfs clients/lost` runs some of them, with all options of
    `nfsproof run`.
    """
    starter.put_home_first()
    from nfsproof import client_list, client_runs

    if list_all:
        for line in client_list.lines():
            click.echo(line)
        return 0
    wish = client_runs.Wish(
        clients=names,
        plans=plans,
        works=works,
        versions=versions,
        mount=mount,
        umount=umount,
        programs=programs,
        seconds=seconds,
        seed=seed,
        strict=strict,
        baseline=baseline,
        report=report,
    )
    try:
        return client_runs.run(wish, click.echo)
    except (client_runs.BadWish, client_runs.BadFolder) as error:
        raise Trouble(str(error)) from error
