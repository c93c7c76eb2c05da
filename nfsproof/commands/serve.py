# SPDX-License-Identifier: MIT
"""`nfsproof serve`: the embedded server for other clients."""

from __future__ import annotations

import click

from nfsproof import starter
from nfsproof.exits import Trouble


@click.command(epilog="Exit status: 0 stopped, or listed; 4 wrong usage, or the port is in use.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=20490,
    show_default=True,
    help="Port for NFS, MOUNT and portmap; 0: any free port.",
)
@click.option(
    "--export", "exports", multiple=True, metavar="PATH", help="Path of an export; may be repeated. [/export]"
)
@click.option(
    "--mutant", "mutants", multiple=True, metavar="NAME", help="Break a rule of an RFC; may be repeated."
)
@click.option(
    "--knob", "knobs", multiple=True, metavar="NAME=VALUE", help="Set a legal choice; may be repeated."
)
@click.option("--set", "settings", multiple=True, hidden=True)  # an old name of --knob
@click.option("--root-squash", is_flag=True, help="Treat root as nobody.")
@click.option("--udp/--no-udp", default=True, show_default=True, help="Also serve UDP.")
@click.option(
    "--snfs/--no-snfs", default=True, show_default=True, help="Also serve Spritely NFS (docs/spritely.md)."
)
@click.option(
    "--counts",
    "counts_port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Count calls by procedure, tell them on this port of --host (0: any), and print them at the end.",
)
@click.option(
    "--queue",
    "queue",
    default="",
    metavar="NAME=VALUE,...",
    help="Answer calls of NFS as a queueing server: service, disk, delay and overhead in ms; disks, hits or memory "
    "(MiB) and touched, packet (bytes), seed. docs/sensitivity.md describes them.",
)
@click.option("--list-mutants", is_flag=True, help="Print every mutant with the clause that it breaks.")
@click.option("--list-knobs", is_flag=True, help="Print every legal choice that can be set.")
def serve(
    host: str,
    port: int,
    exports: tuple[str, ...],
    mutants: tuple[str, ...],
    knobs: tuple[str, ...],
    settings: tuple[str, ...],
    root_squash: bool,
    udp: bool,
    snfs: bool,
    counts_port: int | None,
    queue: str,
    list_mutants: bool,
    list_knobs: bool,
) -> None:
    """Start the embedded server for other clients.

    It serves NFSv2, NFSv3, NFSv4.1, NFSv4.2, SNFS, MOUNT, portmap and rpcbind.

    Files are in memory and are lost when the server stops. The only authentication is AUTH_SYS: use it on loopback
    or on a network that you trust. Ctrl-C stops it.
    """
    starter.put_home_first()
    from nfsproof import serving

    if list_mutants or list_knobs:
        for paragraph in serving.describe_mutants() if list_mutants else serving.describe_knobs():
            click.echo(paragraph)
        return
    offer = serving.Offer(
        host=host,
        port=port,
        exports=exports or ("/export",),
        mutants=mutants,
        knobs=(*knobs, *settings),
        root_squash=root_squash,
        udp=udp,
        snfs=snfs,
        counts_port=counts_port,
        queue=queue,
    )
    try:
        serving.serve_until_stopped(offer, click.echo)
    except serving.CannotServe as error:
        raise Trouble(str(error)) from error
