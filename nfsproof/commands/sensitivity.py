# SPDX-License-Identifier: MIT
"""`nfsproof sensitivity`: what curves of response time over throughput say of a server."""

from __future__ import annotations

import math
import sys
import typing as t
from pathlib import Path

import click
from click.core import ParameterSource

from nfsproof import starter
from nfsproof.commands.shared import defects_are_no_verdicts
from nfsproof.commands.workload import _hosts
from nfsproof.exits import Exit, Trouble

if t.TYPE_CHECKING:
    from nfsproof.workload_carriers import Workers

_PATH: t.Final = click.Path(path_type=Path)
_MOST_VALUES: t.Final = 20
_TIMES: t.Final = (1e-3, 1e7)
"""µs of a latency or an overhead: an overhead of the client cannot be interrupted."""
_BANDWIDTHS: t.Final = (1e-3, 1e6)
"""MB/s."""
_FILES: t.Final = 1 << 40
"""As many as --max-bytes permits."""
_LEAST_PACKET: t.Final = 64
_LONGEST: t.Final = 3600.0
"""Seconds of a point, and of what has to be made for it."""


def _above_zero(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value < math.inf:
        raise click.BadParameter(f"expected a number above 0, got {value:g}")
    return value


def _numbers(_context: click.Context, option: click.Parameter, text: str) -> tuple[float, ...]:
    least, most = _BANDWIDTHS if option.name == "bandwidth" else _TIMES
    try:
        found = tuple(float(each) for each in text.split(",") if each.strip())
    except ValueError:
        raise click.BadParameter(f"expected numbers with commas between them, got {text!r}") from None
    if not all(least <= each <= most for each in found) or len(found) > _MOST_VALUES:
        raise click.BadParameter(
            f"expected up to {_MOST_VALUES} numbers from {least:g} to {most:g}, got {text!r}"
        )
    return tuple(dict.fromkeys(found))


def _bytes_or_none(context: click.Context, option: click.Parameter, text: str) -> int:
    from nfsproof.commands.workload import _bytes as size_of

    return size_of(context, option, text) or 0


def _packet(context: click.Context, option: click.Parameter, text: str) -> int:
    size = _bytes_or_none(context, option, text)
    if size and size < _LEAST_PACKET:
        raise click.BadParameter(f"expected {_LEAST_PACKET} bytes or more, or 0, got {size}")
    return size


def _bytes(context: click.Context, option: click.Parameter, text: str) -> int:
    from nfsproof.commands.workload import _size

    size = _size(context, option, text)
    assert size is not None
    return size


@click.command(
    epilog="Exit status: 0 done; 1 wrong data, or a rule of the lint is broken; 2 interrupted; 3 internal error; "
    "4 wrong usage, the target does not answer, the peak of a setting could not be measured, a file that is no curve, "
    "or scipy is not installed. What was measured until then is printed."
)
@click.argument("target", required=False)
@click.option(
    "--from",
    "curve",
    type=_PATH,
    metavar="CSV",
    help="Measure nothing: infer a server from this curve, of operations per second and ms.",
)
@click.option(
    "--disk-ms",
    type=float,
    callback=_above_zero,
    metavar="MS",
    help="With --from: milliseconds of a disk for one operation, if known. [inferred]",
)
@click.option(
    "--version", type=click.Choice(("2", "3", "4.1", "4.2")), help="The version of NFS. [that of the target]"
)
@click.option(
    "--proto", "transport", type=click.Choice(("tcp", "udp")), help="TCP or UDP. [that of the target]"
)
@click.option(
    "--latency", default="", callback=_numbers, metavar="US,...", help="Latencies L of each direction, in µs."
)
@click.option(
    "--overhead",
    default="",
    callback=_numbers,
    metavar="US,...",
    help="Overheads o, in µs: a serial delay of the proxy for each message.",
)
@click.option(
    "--bandwidth", default="", callback=_numbers, metavar="MB/S,...", help="Bandwidths 1/G of each direction."
)
@click.option(
    "--client-overhead",
    default="",
    callback=_numbers,
    metavar="US,...",
    help="Overheads o of the client, in µs: its processor is busy for each message that it sends or receives.",
)
@click.option(
    "--server-overhead",
    default="",
    callback=_numbers,
    metavar="US,...",
    help="With --queue: overheads o of the embedded server, in µs of its processor for each message.",
)
@click.option(
    "--packet",
    default="0",
    callback=_packet,
    metavar="BYTES",
    help="Of a message, for overheads of client and server. [a call or a reply is one message]",
)
@click.option(
    "--loads",
    type=click.IntRange(0, 10),
    default=10,
    show_default=True,
    metavar="N",
    help="Loads of a curve; 0: the peak alone, 1: and the lowest load.",
)
@click.option("--repeat", "repeats", type=click.IntRange(1, 50), default=3, show_default=True, metavar="N",
              help="How often each load is measured.")  # fmt: skip
@click.option("--seconds", type=float, default=10.0, show_default=True, callback=_above_zero, metavar="S",
              help="Of a point at least; more where fewer than 1,800 operations would arrive.")  # fmt: skip
@click.option(
    "--max-seconds",
    "longest",
    type=float,
    default=_LONGEST,
    show_default=True,
    callback=_above_zero,
    metavar="S",
    help="Of a point: one at a load of which 1,800 operations take longer is not measured.",
)
@click.option(
    "--callers",
    type=click.IntRange(1, 4096),
    default=32,
    show_default=True,
    metavar="N",
    help="At the peak, of each worker.",
)
@click.option("--seed", type=click.IntRange(1, 1 << 62), default=1, show_default=True, metavar="N",
              help="Decides all that is drawn.")  # fmt: skip
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes that load the server together; of a cluster, how many of its workers. [1]",
)
@click.option(
    "--cluster", metavar="ADDRESS", default="", help="Workers of a cluster of Dask; with --workers."
)
@click.option(
    "--hosts", metavar="A,B,...", callback=_hosts, help="A worker on each of these machines, started by SSH."
)
@click.option("--remote-python", metavar="PATH", default="", help="Python of the machines of --hosts.")
@click.option(
    "--listen",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address of this machine at which workers on others reach the proxy.",
)
@click.option(
    "--resend",
    type=float,
    callback=_above_zero,
    metavar="MS",
    help="Over UDP: send a call again after this time, and have half as many under way then, as old kernels did.",
)
@click.option(
    "--bytes",
    default="0",
    callback=_bytes_or_none,
    metavar="BYTES",
    help="Of files for each operation per second. [10M, or less if that is more than --max-bytes]",
)
@click.option(
    "--max-bytes", default="256M", callback=_bytes, metavar="BYTES", help="Of files at most. [256M]"
)
@click.option(
    "--label", default="", metavar="NAME", help="Name of the target in the study, instead of its address."
)
@click.option("--queue", default="", metavar="NAME=VALUE,...",
              help="Times of the embedded server, in ms: see nfsproof serve --queue.")  # fmt: skip
@click.option("--knob", "knobs", multiple=True, metavar="NAME=VALUE", help="A knob of the embedded server.")
@click.option(
    "--out",
    type=_PATH,
    metavar="DIR",
    help="Write sensitivity.json and curves.csv there after each point, and curves.svg; points that it has are kept.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be measured and how long it takes, and do nothing."
)
@defects_are_no_verdicts
def sensitivity(
    target: str | None, curve: Path | None, disk_ms: float | None, dry_run: bool, **wanted: t.Any
) -> int:
    """Measure how the response time of TARGET depends on load, latency, overhead and bandwidth.

    TARGET is what nfsproof run accepts. For each setting of the network, the workload sfs-like finds the peak in a
    closed loop, and measures the response time at up to ten loads, in random order. Base, slope and peak are compared
    with the laws of "NFS Sensitivity to High Performance Networks". A proxy makes the network slower, so it needs no
    privilege. A point is refused if its sending lagged. Ctrl-C ends it; with --out, the same command goes on.

    With --from, it infers the structure of a server from a published curve, by the queueing model of the paper: a
    processor, a cache whose hits become rarer as the load grows, disks, and a fixed delay. The model needs scipy:
    pip install 'nfsproof[fit]'. docs/sensitivity.md describes both.
    """
    starter.put_home_first()
    if (target is None) == (curve is None):
        raise click.UsageError("expected a TARGET or --from, and not both")
    if curve is not None:
        _refuse_others(("curve", "disk_ms"))
        return _infer(curve, disk_ms)
    if disk_ms is not None:
        raise click.UsageError("--disk-ms is about the model of --from")
    return _measure(str(target), dry_run=dry_run, **wanted)


def _refuse_others(allowed: tuple[str, ...]) -> None:
    context = click.get_current_context()
    for option in context.command.params:
        name = str(option.name)
        if name not in allowed and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"{option.opts[0]} is about measuring: with --from nothing is measured")


def _infer(curve: Path, disk_ms: float | None) -> int:
    from reports.workloads import inferred
    from workloads.sensitivity import curves, inferring
    from workloads.trouble import Refused

    try:
        points = curves.read_curve(curve)
        click.echo(inferred.signature_text(points))
        found = inferring.infer(points, disk=None if disk_ms is None else disk_ms / 1000)
    except Refused as error:
        raise Trouble(str(error)) from error
    click.echo(inferred.model_text(found))
    return int(Exit.OK)


def _measure(target: str, *, dry_run: bool, **wanted: t.Any) -> int:
    from nfsproof import sensing, study_planning, workloading
    from nfstargets.spelling import as_url
    from reports.workloads.inferred import model_text
    from reports.workloads.studied import study_text
    from reports.workloads.study_charts import study_chart
    from workloads.safety import Limits
    from workloads.sensitivity.curves import FEWEST
    from workloads.sensitivity.inferring import infer
    from workloads.sensitivity.study import Setting, chosen, mean_curve
    from workloads.trouble import Refused

    settings = tuple(
        Setting(knob, value)
        for knob in ("latency", "overhead", "bandwidth", "client overhead", "server overhead")
        for value in sorted(wanted.pop(knob.replace(" ", "_")))
    )
    wish = study_planning.Wish(
        target=as_url(target),
        settings=settings,
        workers=_workers(wanted),
        resend=(wanted.pop("resend") or 0.0) / 1000,
        shares=chosen(wanted.pop("loads")),
        limits=Limits(wanted.pop("max_bytes"), _FILES, max(_LONGEST, wanted["seconds"], wanted["longest"])),
        **wanted,
    )
    if dry_run:
        for line in study_planning.plan_lines(wish):
            click.echo(line)
        return int(Exit.OK)
    if wish.out is not None:
        workloading.make_folder(wish.out)
    progress = workloading.progress_line if sys.stderr.isatty() else _silent
    study, status = sensing.run(wish, say=click.echo, progress=progress)
    click.echo("")
    click.echo(study_text(study))
    curve, model = mean_curve(study, Setting()), None
    if len(curve) >= FEWEST:
        try:
            found = infer(curve)
            model = found.server
            click.echo(model_text(found))
        except Refused as error:
            click.echo(f"no model: {error}")
    if wish.out is not None and (picture := study_chart(study, model)):
        _write(wish.out / "curves.svg", picture)
    return int(status)


def _workers(wanted: dict[str, t.Any]) -> Workers:
    from nfsproof.workload_carriers import Workers

    number, cluster, hosts = wanted.pop("workers"), wanted.pop("cluster"), wanted.pop("hosts")
    if cluster and hosts:
        raise click.UsageError("expected --cluster or --hosts, got both")
    if cluster and number is None:
        raise click.UsageError("--cluster needs --workers: all points of a study have the same number")
    return Workers(number, cluster, hosts, wanted.pop("remote_python"))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Trouble(f"cannot write {path}: {error.strerror}") from error


def _silent(_text: str) -> None:
    pass
