# SPDX-License-Identifier: MIT
"""`nfsproof workload`: workloads of papers on a server."""

from __future__ import annotations

import math
import sys
import typing as t
from pathlib import Path

import click

from nfsproof import starter
from nfsproof.commands.shared import defects_are_no_verdicts
from nfsproof.commands.workload_paper import paper
from nfsproof.commands.workload_results import compare, fio, show
from nfsproof.exits import Exit, Trouble

_POLICIES = ("raw", "v2-like", "v3-like", "v4-like", "delegated", "spritely", "spritely-lazy")
_STABLE = ("unstable", "data-sync", "file-sync")


def _bytes(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    starter.put_home_first()
    from workloads.spec import size_of

    try:
        return size_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _size(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    size = _bytes(context, option, text)
    if size == 0:
        raise click.BadParameter("expected 1 byte at least, got 0")
    return size


class _Finite(click.FloatRange):
    """A number within bounds; not NaN, which every comparison lets pass, and not infinite."""

    def convert(self, value: t.Any, param: click.Parameter | None, context: click.Context | None) -> t.Any:
        if not math.isfinite(number := float(click.FLOAT.convert(value, param, context))):
            self.fail(f"expected a finite number, got {number}", param, context)
        return super().convert(number, param, context)


def _settings(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"expected NAME=VALUE, got {text!r}")
        found[name.strip()] = value.strip()
    return found


def _where(_context: click.Context, _option: click.Parameter, text: str | None) -> str:
    host, colon, port = (text or "").rpartition(":")
    if text and not (host and colon and port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise click.BadParameter(f"expected HOST:PORT, got {text!r}")
    return text or ""


def _hosts(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    hosts = tuple(each.strip() for each in (text or "").split(",") if each.strip())
    if any(each.startswith("-") for each in hosts):
        raise click.BadParameter("a host does not begin with -")
    return hosts


@click.group()
def workload() -> None:
    """Run workloads of published papers on a server.

    Every byte that is read is compared with what was written, and the lint judges the traffic: a server that is fast
    and wrong ends red.
    """


@workload.command("list", epilog="Exit status: 0 done; 4 there is no such workload.")
@click.argument("name", required=False)
def list_(name: str | None) -> int:
    """List the workloads; with NAME its parameters, and what each policy makes of its calls."""
    starter.put_home_first()
    from nfsproof import workload_list
    from workloads.trouble import Refused

    try:
        for line in workload_list.lines(name):
            click.echo(line)
    except Refused as error:
        raise Trouble(str(error)) from error
    return int(Exit.OK)


@workload.command(
    epilog="Exit status: 0 done, and nothing was wrong; 1 wrong data, a wrong answer, or a rule of the lint is broken; "
    "2 interrupted; 3 internal error; 4 wrong usage, or the target does not answer; 10 the workload could not be "
    "carried out."
)
@click.argument("name")
@click.argument("target", required=False)
@click.option(
    "--mount", "mount", metavar="PATH", help="Run on this mounted directory, with calls of the system."
)
@click.option(
    "--client",
    type=click.Choice(("linux",)),
    help="Run with this client on the embedded server: the kernel of a guest, which nfsproof install knfsd installs.",
)
@click.option(
    "--counts",
    metavar="HOST:PORT",
    callback=_where,
    help="With --mount: nfsproof serve --counts, which counts the calls of the client.",
)
@click.option("--set", "parameters", metavar="NAME=VALUE", multiple=True, callback=_settings,
              help="A parameter of the workload; see nfsproof workload list NAME.")  # fmt: skip
@click.option(
    "--policy", type=click.Choice(_POLICIES), help="What becomes of a call of the program on the wire."
)
@click.option(
    "--version",
    type=click.Choice(("2", "3", "4.1", "4.2", "snfs")),
    help="The version of NFS; snfs is Spritely NFS. [that of the target]",
)
@click.option(
    "--proto",
    "transport",
    type=click.Choice(("tcp", "udp")),
    help="TCP or UDP; UDP with NFSv2 and NFSv3 only. [that of the URL, or TCP]",
)
@click.option(
    "--size", metavar="BYTES", callback=_size, help="Bytes of one READ and WRITE, such as 8k or 1M. [64k]"
)
@click.option("--rsize", metavar="BYTES", callback=_size, help="Bytes of one READ.")
@click.option("--wsize", metavar="BYTES", callback=_size, help="Bytes of one WRITE.")
@click.option(
    "--page", metavar="BYTES", callback=_bytes, default="8192", help="Bytes of a page of a directory. [8192]"
)
@click.option("--stable", type=click.Choice(_STABLE),
              help="How firmly WRITE stores.")  # fmt: skip
@click.option("--plus/--no-plus", default=True, help="Whether attributes come with listings. [yes]")
@click.option(
    "--window", type=click.IntRange(1), metavar="N", help="Calls that one caller may have under way."
)
@click.option(
    "--clients", type=click.IntRange(1, 256), metavar="N", help="Clients, each with separate caches."
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes that share the work; of a cluster, how many of its workers. [1; of a cluster, all]",
)
@click.option(
    "--cluster", metavar="ADDRESS", help="Workers of a cluster of Dask, such as tcp://SCHEDULER:8786."
)
@click.option(
    "--hosts", metavar="A,B,...", callback=_hosts, help="A worker on each of these machines, started by SSH."
)
@click.option(
    "--remote-python",
    metavar="PATH",
    default="",
    help="Python of the machines of --hosts, with nfsproof[cluster]. [the path of this one]",
)
@click.option("--callers", type=click.IntRange(1), metavar="N", help="Callers of each client.")
@click.option("--connections", type=click.IntRange(1, 16), metavar="N", default=1, help="Of each client. [1]")
@click.option("--duration", type=_Finite(0.1), metavar="SECONDS", default=10.0, help="Of a rate. [10]")
@click.option(
    "--warmup", type=_Finite(0), metavar="SECONDS", default=2.0, help="Before that, not counted. [2]"
)
@click.option("--arrivals", type=_Finite(0), metavar="PER-SECOND", default=0.0,
              help="Open loop: units arrive at random, this many a second.")  # fmt: skip
@click.option(
    "--seed",
    type=click.IntRange(1, (1 << 63) - 1),
    default=1,
    metavar="N",
    help="Decides all that is drawn. [1]",
)
@click.option(
    "--lint", type=click.IntRange(0), metavar="N", help="The lint judges every Nth call. [1; 16 for rates]"
)
@click.option(
    "--max-bytes", metavar="BYTES", callback=_bytes, default="1G", help="Refuse a run that makes more. [1G]"
)
@click.option(
    "--max-files",
    type=click.IntRange(1),
    metavar="N",
    default=200_000,
    help="Refuse a run that makes more. [200000]",
)
@click.option("--max-seconds", type=_Finite(1), metavar="SECONDS", default=600.0, help="Longest phase. [600]")
@click.option(
    "--label", metavar="NAME", default="", help="Name of the target in the result, instead of its address."
)
@click.option(
    "--mutant", "mutants", metavar="NAME", multiple=True, help="Break a rule of the embedded server."
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), help="Write result.json there."
)
@click.option("--dry-run", is_flag=True, help="Say how much the run would make, and do nothing.")
@defects_are_no_verdicts
def run(out: Path | None, dry_run: bool, **wanted: t.Any) -> int:
    """Run the workload NAME on TARGET.

    TARGET is what nfsproof run accepts: embedded (the default), ganesha, or a URL. The run works in a new directory of
    the export and removes it at the end, also after Ctrl-C.
    """
    starter.put_home_first()
    from nfsproof import workloading
    from nfsproof.workload_words import given_of, wish_of
    from reports.workloads.table import result_text
    from workloads.trouble import LostWorker, Refused

    wish = wish_of(wanted, given_of(click.get_current_context()))
    if dry_run:
        try:
            click.echo("\n".join(workloading.dry_run(wish)))
        except Refused as error:
            raise Trouble(str(error)) from error
        return int(Exit.OK)
    if out is not None:
        workloading.make_folder(out)
    progress = workloading.progress_line if sys.stderr.isatty() else None
    try:
        outcome = workloading.run(wish, say=click.echo, progress=progress, out=out)
    except LostWorker as error:
        click.echo(f"nfsproof: lost worker: {error}", err=True)
        for left in error.left:
            click.echo(f"could not be removed: {left}", err=True)
        return int(Exit.VOID)
    finally:
        if progress is not None:
            progress("")
    click.echo(result_text(outcome.result))
    for left in outcome.left:
        click.echo(f"could not be removed: {left}", err=True)
    if out is not None:
        click.echo(f"result: {workloading.write(outcome.result, out)}")
    return int(workloading.exit_status(outcome))


for _command in (show, compare, paper, fio):
    workload.add_command(_command)
