# SPDX-License-Identifier: MIT
"""What several commands share: lines of help, and the ends that a command can have."""

from __future__ import annotations

import functools
import traceback
import typing as t
from collections.abc import Callable
from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import EXIT_CODES, Exit, Trouble

if t.TYPE_CHECKING:
    from nfsproof.baselines import Comparison

EPILOG = "Exit status: " + "; ".join(f"{code.value} {meaning}" for code, meaning in EXIT_CODES.items()) + "."
READS = "Exit status: 0 done; 4 wrong usage, or a file cannot be read or written."
PASS_ON: t.Final[dict[str, t.Any]] = {"ignore_unknown_options": True, "help_option_names": ["--help"]}
"""Settings of a command that gives the options that it does not know to pytest."""


P = t.ParamSpec("P")


def defects_are_no_verdicts(command: Callable[P, int]) -> Callable[P, int]:
    """A command whose status 1 says that a server is wrong: a defect of nfsproof must not look like that."""

    @functools.wraps(command)
    def guarded(*args: P.args, **more: P.kwargs) -> int:
        try:
            return command(*args, **more)
        except (Trouble, click.ClickException, click.exceptions.Exit, click.Abort, OSError):
            raise
        except Exception:  # noqa: BLE001  (whatever it is, it is ours)
            traceback.print_exc()
            return int(Exit.INTERNAL)

    return guarded


def print_comparison(compare: Callable[[t.Any], Comparison]) -> int:
    """Print the result of a function of `nfsproof.baselines`, and return the exit status.

    `compare` is called with that module. Raises Trouble for a mistake of the user.
    """
    starter.put_home_first()
    from nfsproof import baselines

    try:
        comparison = compare(baselines)
    except OSError as error:
        raise Trouble(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
    except ValueError as error:  # from a baseline, a record or an update: the text says where
        raise Trouble(str(error)) from error
    click.echo("\n".join(comparison.lines))
    return int(comparison.status)


def require_checkout(what: str) -> Path:
    """The folder of the checkout. Raises Trouble in an installed wheel, which has none."""
    root = starter.put_home_first()
    if not starter.is_checkout():
        raise Trouble(f"{what} needs a checkout of nfsproof: clone the project and use its bin/nfsproof")
    return root
