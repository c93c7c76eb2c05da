# SPDX-License-Identifier: MIT
"""`nfsproof selftest`: nfsproof's own tests, mutants and knobs."""

from __future__ import annotations

import shlex

import click

from nfsproof import starter
from nfsproof.commands.shared import PASS_ON
from nfsproof.exits import Trouble


@click.command(
    context_settings=PASS_ON,
    epilog="Exit status: the same as nfsproof run; 1: a test failed, or a mutant survived.",
)
@click.option(
    "--mutants",
    is_flag=False,
    flag_value="pairs",
    metavar="[pairs|sample|matrix|drawn]",
    help="Run each check on the clean server and on the mutants that it names; "
    "=sample: also on some other mutants; =matrix: on all others that it could see; =drawn or =drawn:1-99: servers "
    "with three random mutants and random legal choices, which must not be green.",
)
@click.option(
    "--knobs",
    is_flag=False,
    flag_value="",
    metavar="[TEXT]",
    help="Run checks with random legal choices of the server (9 seeds, a third of the checks each), and the checks "
    "that can see it for each choice that refuses much; =drawn:1-99: these seeds, all checks; =TEXT: each choice "
    "(NAME=VALUE) that contains TEXT; =all: all checks with each choice.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENT ...]")
def selftest(mutants: str | None, knobs: str | None, arguments: tuple[str, ...]) -> int:
    """Test nfsproof itself.

    In a checkout this runs the project's own tests, with three workers for two processors unless -n or a part of them
    is chosen. The wheel does not contain them: there, and with --mutants, each check runs on the clean embedded server,
    where it must pass, and on its mutants, where it must fail. All of it works in a temporary HOME, so
    that what you keep in yours stays as it is.
    """
    starter.leave_the_home_of_the_user()
    if knobs is not None:
        starter.put_home_first()
        from nfsproof import freedoms

        if freedoms.names_checks(knobs):
            # `--knobs nfs3/WRITE`, `--knobs nfs4`: the parser reads the next word as the value of the option.
            knobs, arguments = "", (knobs, *arguments)
        return freedoms.try_all(arguments, click.echo, knobs)
    if mutants is not None and mutants.startswith("drawn"):
        if arguments:
            raise Trouble(
                f"--mutants=drawn runs whole suites: it takes no checks and no options, got {shlex.join(arguments)}"
            )
        starter.put_home_first()
        from nfsproof import drawn_mutants

        return drawn_mutants.try_drawn(mutants, click.echo)
    if mutants not in {None, "pairs", "sample", "matrix"}:
        # `--mutants nfs3/WRITE`: the parser reads the next word as the value of the option.
        mutants, arguments = "pairs", (str(mutants), *arguments)
    if mutants is None and starter.is_checkout():
        return starter.run_own_tests(arguments)
    if mutants is None:
        click.echo(
            "nfsproof: only a checkout contains the project's own tests; running the checks on their mutants",
            err=True,
        )
    # Checks of clients run on mutants of a client. Together with checks of servers, they would be left out.
    of_clients = (
        ["--target=client:nfsclient"]
        if any(argument.startswith("clients/") for argument in arguments)
        else []
    )
    options = ["-p", "no:cacheprovider", f"--mutants={mutants or 'pairs'}", *of_clients]
    return starter.run_suite([*options, *arguments])
