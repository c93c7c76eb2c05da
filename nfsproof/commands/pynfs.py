# SPDX-License-Identifier: MIT
"""`nfsproof pynfs`: the tests of pynfs as a second opinion."""

from __future__ import annotations

import math
import typing as t
from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit

_UNITS: t.Final = {"": 1, "s": 1, "m": 60, "h": 3600}


def _seconds(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
    """``90``, ``90s``, ``10m``, ``2h`` in seconds."""
    if text is None:
        return None
    number = text.rstrip("smh")
    try:
        seconds = float(number) * _UNITS[text[len(number) :]]
    except (ValueError, KeyError):
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise click.BadParameter(f"expected a time such as 90s, 10m or 2h, got {text!r}")
    return seconds


@click.command(
    epilog="Exit status: 0 pynfs ran, whatever it says; 1 with --pynfs-counts: one of its tests failed; 2 interrupted; "
    "4 wrong usage, pynfs cannot be started, or the target does not answer; 5 no test was selected; 10 pynfs could "
    "judge nothing, or with --pynfs-counts not all."
)
@click.argument("words", nargs=-1, metavar="[CHECKOUT TARGET [CODE ...]]")
@click.option("--minor", type=click.Choice(("0", "1", "2")), default="1", help="Minor version of NFSv4. [1]")
@click.option("--compare", "ours", type=click.Path(path_type=Path), metavar="RUN",
              help="Compare with this run of nfsproof, by topic.")  # fmt: skip
@click.option("--pynfs-counts", "counts", is_flag=True, help="Its failures decide the exit status.")
@click.option(
    "--test-timeout", callback=_seconds, metavar="TIME", help="Longest time of one test. [60s and two leases]"
)
@click.option(
    "--time-limit",
    callback=_seconds,
    metavar="TIME",
    help="Longest time of the run; tests that it does not reach are VOID.",
)
@click.option("--python", default="", metavar="PROGRAM",
              help="Python for pynfs. [.venv or venv in CHECKOUT, else python3]")  # fmt: skip
@click.option(
    "--serverhelper",
    default="",
    metavar="PROGRAM",
    help="Program that restarts the server, for tests that need it.",
)
@click.option("--serverhelperarg", default="", metavar="ARG", help="Its first argument.")
@click.option(
    "--knob",
    "knobs",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a legal choice of the embedded server. [lease_time=10]",
)
@click.option(
    "--mutant", "mutants", multiple=True, metavar="NAME", help="Break a rule of the embedded server."
)
@click.option(
    "--label", default="", metavar="NAME", help="Name of the target in reports, instead of its address."
)
@click.option("--report", type=click.Path(path_type=Path, file_okay=False), default=Path("nfsproof-pynfs"),
              metavar="DIR", help="Folder of the records and reports. [nfsproof-pynfs]")  # fmt: skip
def pynfs(
    words: tuple[str, ...],
    minor: str,
    ours: Path | None,
    counts: bool,
    test_timeout: float | None,
    time_limit: float | None,
    python: str,
    serverhelper: str,
    serverhelperarg: str,
    knobs: tuple[str, ...],
    mutants: tuple[str, ...],
    label: str,
    report: Path,
) -> int:
    """Run the tests of pynfs on a server: a second opinion.

    \b
    nfsproof pynfs ~/pynfs embedded                    its usual tests (all) of NFSv4.1, on the embedded server
    nfsproof pynfs ~/pynfs nfs://host/export EID1 rename      these codes, and the codes with these flags
    nfsproof pynfs ~/pynfs ganesha:vfs --minor 0       its tests of NFSv4.0
    nfsproof pynfs --compare nfsproof-report           compare the last run of pynfs with a run of nfsproof

    CHECKOUT is the folder of your checkout of pynfs, built as its README says; nfsproof contains nothing of it.
    TARGET is what nfsproof run accepts. CODE is a code or a flag of pynfs; a leading "no" excludes it. The default
    is all.

    With --compare and without TARGET nothing runs, and CHECKOUT is the folder of a run of pynfs (nfsproof-pynfs by
    default). docs/pynfs.md describes verdicts and the comparison.
    """
    starter.put_home_first()
    from nfsproof.pynfs import comparing, running
    from nfsproof.pynfs.checkout import open_checkout

    if ours is not None and len(words) < 2:
        theirs = Path(words[0]) if words else report
        for line in comparing.compare_folders(ours, theirs):
            click.echo(line)
        return int(Exit.OK)
    if len(words) < 2:
        raise click.UsageError("expected CHECKOUT and TARGET, or --compare RUN")
    if ours is not None:
        comparing.require_run(ours)
    wish = running.Wish(
        target=words[1],
        words=words[2:],
        knobs=knobs,
        mutants=frozenset(mutants),
        helper=(serverhelper, serverhelperarg),
        test_limit=test_timeout,
        run_limit=time_limit,
        counts=counts,
        label=label,
        report=report,
    )
    checkout = open_checkout(Path(words[0]).expanduser().absolute(), int(minor), python)
    status = running.run(wish, checkout, click.echo)
    if ours is not None and status not in {Exit.INTERRUPTED, Exit.NOTHING}:
        for line in comparing.compare_folders(ours, report):
            click.echo(line)
    return status
