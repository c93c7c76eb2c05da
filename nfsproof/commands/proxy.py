# SPDX-License-Identifier: MIT
"""`nfsproof proxy`: faults between a client and a server."""

from __future__ import annotations

import typing as t
from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble

if t.TYPE_CHECKING:
    from fixtures.proxy_watch import Watch
    from nfsfaults.proxy_sockets import SourcePort


def _source_port(_context: click.Context, _option: click.Parameter, text: str) -> SourcePort:
    if text in {"any", "same"}:
        return t.cast("SourcePort", text)
    if text.isascii() and text.isdecimal() and 0 < int(text) < 1 << 16:
        return int(text)
    raise click.BadParameter(f"expected any, same or a port, seen {text!r}")


@click.command(
    epilog="Exit status: 0 stopped; 1 with --lint: the server breaks a rule; 4 wrong usage, a mistake in the plan, or "
    "the server does not answer."
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default="127.0.0.1:0",
    help="Where clients connect; port 0: any free port. [127.0.0.1:0]",
)
@click.option(
    "--to", metavar="HOST:PORT|URL", help="The server. With a URL, the proxy also stands before MOUNT."
)
@click.option(
    "--plan",
    "plan_file",
    metavar="FILE.toml",
    type=click.Path(path_type=Path),
    help="What happens to which messages (docs/faults.md). Without it, all pass.",
)
@click.option(
    "--seed",
    type=click.IntRange(1, (1 << 63) - 1),
    help="Decides what a plan draws at random, as a run before printed it.",
)
@click.option(
    "--capture",
    metavar="FILE.pcapng",
    type=click.Path(path_type=Path),
    help="Write what passes on both sides.",
)
@click.option("--lint", is_flag=True, help="Judge the replies of the server by the rules of docs/lint.md.")
@click.option(
    "--source-port",
    metavar="PORT",
    default="any",
    callback=_source_port,
    help="Call the server from: any port, the same port as the client, or a number. [any]",
)
@click.option(
    "--rpcbind",
    metavar="PORT",
    type=click.IntRange(0, 65_535),
    help="Also listen here for the server's rpcbind, and name the ports of the proxy in its answers; 0: any port.",
)
@click.option(
    "--calibrate", is_flag=True, help="Measure how long delays really are on this machine, and exit."
)
def proxy(
    listen: str,
    to: str | None,
    plan_file: Path | None,
    seed: int | None,
    capture: Path | None,
    lint: bool,
    source_port: SourcePort,
    rpcbind: int | None,
    calibrate: bool,
) -> int:
    """Put faults between a client and a server.

    Messages that no rule of the plan wants pass as they are. Ctrl-C stops the proxy, and prints what has passed and
    which rules have acted. It needs no privilege.
    """
    starter.put_home_first()
    from nfsfaults.plan import Plan
    from nfsproof.fault_plans import BadPlanFile, load_plan
    from nfsproof.proxying import calibrating, running

    if calibrate:
        for line in calibrating.lines():
            click.echo(line)
        return int(Exit.OK)
    if to is None:
        raise click.UsageError("Missing option '--to'.")
    try:
        plan = Plan() if plan_file is None else load_plan(plan_file, seed)
    except OSError as error:
        raise Trouble(f"cannot read {plan_file}: {error.strerror}") from error
    except BadPlanFile as error:
        raise Trouble(str(error)) from error
    try:
        wish = running.Wish(
            plan=plan,
            listen=running.address_of(listen, "--listen"),
            to=running.upstream_of(to),
            capture=capture,
            lint=lint,
            source_port=source_port,
            rpcbind=rpcbind,
        )
        watch = running.run_until_stopped(wish)
    except running.CannotProxy as error:
        raise Trouble(str(error)) from error
    return _judged(watch) if lint else int(Exit.OK)


def _judged(watch: Watch) -> int:
    from nfsproof import linting

    findings = linting.in_order(watch.findings)
    for line in (line for finding in findings for line in linting.lines_of(finding)):
        click.echo(line)
    click.echo(linting.end_of(findings) if watch.answered else f"\nnothing was judged: {_why_not(watch)}")
    for line in linting.not_judged_of(watch.statistics):
        click.echo(line)
    return int(Exit.FAIL if any(finding.severity == "FAIL" for finding in findings) else Exit.OK)


def _why_not(watch: Watch) -> str:
    return "no call that can be judged had a reply" if watch.calls else "no call of RPC has passed"
