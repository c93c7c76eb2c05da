# SPDX-License-Identifier: MIT
"""`nfsproof sensitivity`: what a curve of response time over throughput says of a server."""

from __future__ import annotations

import math
import typing as t
from pathlib import Path

import click

from nfsproof import starter
from nfsproof.commands.shared import defects_are_no_verdicts
from nfsproof.exits import Exit, Trouble


def _above_zero(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"expected a number above 0, got {value:g}")
    return value


@click.command(
    epilog="Exit status: 0 done; 3 internal error; 4 wrong usage, a file that is no curve, or scipy is not installed."
)
@click.option(
    "--from",
    "curve",
    type=click.Path(path_type=Path),
    metavar="CSV",
    required=True,
    help="A curve: operations per second, and response time in ms, in the order of loads.",
)
@click.option(
    "--disk-ms",
    type=float,
    callback=_above_zero,
    metavar="MS",
    help="Milliseconds of a disk for one operation, if known. [inferred]",
)
@defects_are_no_verdicts
def sensitivity(curve: Path, disk_ms: float | None) -> int:
    """Infer the structure of a server from its published curve of response time over throughput.

    Prints base, slope and saturation, and fits the queueing model of "NFS Sensitivity to High Performance Networks": a
    processor, a cache whose hits become rarer as the load grows, disks, and a fixed delay. The model needs scipy:
    pip install 'nfsproof[fit]'. docs/sensitivity.md describes it.
    """
    starter.put_home_first()
    from reports.workloads import inferred
    from workloads.sensitivity import curves, inferring
    from workloads.trouble import Refused

    try:
        points = curves.read_curve(curve)
        click.echo(inferred.signature_text(points))
        found: t.Final = inferring.infer(points, disk=None if disk_ms is None else disk_ms / 1000)
    except Refused as error:
        raise Trouble(str(error)) from error
    click.echo(inferred.model_text(found))
    return int(Exit.OK)
