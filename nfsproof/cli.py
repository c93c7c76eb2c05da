# SPDX-License-Identifier: MIT
"""The command line: its commands put together, and how it ends. Each command is a module of `nfsproof.commands`."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import typing as t
from collections.abc import Iterator, Mapping, Sequence

import click

from nfsproof import starter
from nfsproof.commands.shared import EPILOG
from nfsproof.exits import Exit, Trouble


class _ReaderLeft(Exception):
    """Nobody reads the output any more: `| head`."""


_NAMES: t.Final = (
    "archive", "baseline", "clients", "coverage", "diff", "doctor", "event", "install", "lint", "new-check", "proxy",
    "pynfs", "regenerate", "replay", "report", "reproduce", "run", "selftest", "sensitivity", "serve", "target",
    "workload",
)  # fmt: skip


class _OnDemand(Mapping[str, click.Command]):
    """The commands by name; the module of one is imported when somebody asks for it."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in _NAMES:
            raise KeyError(name)
        word = name.replace("-", "_")
        command: click.Command = getattr(importlib.import_module(f"nfsproof.commands.{word}"), word)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> object:
        """Let no BrokenPipeError reach click, which would end the process with 1: a check failed."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderLeft from error


def _show_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        starter.put_home_first()
        from fixtures.plugin.suite_version import suite_version

        click.echo(f"nfsproof {suite_version()}")
        context.exit()


@click.group(
    cls=_Commands,
    commands=t.cast("t.Any", _OnDemand()),  # click only reads it
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EPILOG,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version with its commit, and exit.",
)
def commands() -> None:
    """Test NFS servers: compare every reply with the RFCs.

    \b
    nfsproof run                             run the checks on the embedded reference server
    nfsproof run nfs://host/export           run the checks on your server
    nfsproof run nfs://host/export nfs3/WRITE        run only the checks of WRITE
    nfsproof run ganesha                     start NFS-Ganesha, run the checks, stop it
    nfsproof run nfs://host/export --baseline mine.toml      be red only where something is new
    nfsproof doctor nfs://host/export        find out why a server does not answer
    nfsproof event FILE.toml                 test several servers, make archives and one board
    nfsproof serve                           start the embedded server for other clients
    nfsproof proxy --to host:2049 --plan FILE.toml   put faults between a client and a server
    nfsproof replay FILE.pcapng --to nfs://host/export   send requests of a capture again
    nfsproof clients                         test NFS clients under faults
    nfsproof workload run find               run a workload of a paper, and compare all data
    nfsproof pynfs ~/pynfs nfs://host/export         run the tests of pynfs, a second opinion
    nfsproof install shenaniganfs            install another server to test

    nfsproof needs no root, no kernel mount and no compiler. The checks create, change and remove files below the
    export: use an export made for testing.
    """


_RUNS = frozenset({"clients", "run", "selftest", "event", "pynfs", "reproduce", "workload"})
"""Commands whose exit status is a verdict: cut short, there is none."""


def _reader_left(args: Sequence[str]) -> int:
    """The exit status after `| head`. Nothing can be written any more, not even by a flush at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (sys.stdout, sys.__stdout__):  # pytest may not have put its own back
        if output is not None:
            os.dup2(nowhere, output.fileno())
            output.flush()
    return int(Exit.INTERRUPTED if _RUNS & set(args[:1]) else Exit.OK)


def run_command_line(args: Sequence[str]) -> int:
    """Parse and run a command; return the exit status. Mistakes of the user give one line, not a traceback."""
    try:
        result = commands.main(args=list(args), prog_name="nfsproof", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except Trouble as error:
        click.echo(f"nfsproof: {error}", err=True)
        return int(Exit.USAGE)
    except click.ClickException as error:
        error.show()
        return int(Exit.USAGE)
    except (click.Abort, KeyboardInterrupt):
        click.echo("nfsproof: interrupted", err=True)
        return int(Exit.INTERRUPTED)
    except (_ReaderLeft, BrokenPipeError):
        return _reader_left(args)
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo("nfsproof: cannot write to standard output: no space left", err=True)
        return int(Exit.USAGE)
    return int(result or 0)
