# SPDX-License-Identifier: MIT
"""`nfsproof run`: the checks on a server."""

from __future__ import annotations

import shlex

import click

from nfsproof import starter
from nfsproof.commands.completing import CommandWithOptionsOfPytest, complete_target_or_id
from nfsproof.commands.shared import EPILOG, PASS_ON
from nfsproof.exits import Trouble


@click.command(
    cls=CommandWithOptionsOfPytest, context_settings=PASS_ON, options_metavar="[OPTIONS]", epilog=EPILOG
)
@click.option("--target", metavar="TARGET", help="The target; the same as the first argument.")
@click.option("--strict", is_flag=True, help="A broken SHOULD (NONSTRICT) is red.")
@click.argument(
    "arguments",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[TARGET] [CHECK ...] [PYTEST OPTION ...]",
    shell_complete=complete_target_or_id,
)
def run(target: str | None, strict: bool, arguments: tuple[str, ...]) -> int:
    """Run the checks on a server.

    TARGET is a URL, nfs://HOST[:PORT]/EXPORT[?PARAMETERS], or short HOST:/EXPORT, or the name of a server that nfsproof
    starts and stops: embedded (the default), ganesha, ganesha:mem, or a server of `nfsproof install --list`.
    Of nfs://HOST:PORT/EXPORT, MOUNT is tried at PORT as well. A server without NFSv3 is tested with NFSv4, unless the
    URL says version=3; ?version=4.1 (or 4.2) tests NFSv4 alone.
    client:NAME is a client, which has other checks (docs/clients.md).
    TARGET may also be a file (my.toml, or my.toml#LABEL) that describes a server (its URL, how it is crashed and
    restarted, what it lacks) or a client (docs/target-file.md).
    CHECK is an id (nfs3/RENAME/mixed-types[directory-fifo]), the beginning of ids (nfs3/RENAME), a pattern
    (nfs3/READ*), an old id or a file. Case does not matter. The default is all checks.

    One check of each operation and mechanism runs first, then the others. A line for each new cause of failures appears
    at once; at the end, the causes that do most harm come first.

    \b
    Which checks run:
      --section 3.3.14          checks of this section or below; also RFC 1813 3.3.14, rfc1813:3.3.14
      --procedure RENAME        checks that are about this procedure, or call it
      --level MUST,STATED       checks of requirements with these levels (also SHOULD, MAY)
      --part K/N                one of N parts of the checks
      --minor once|all          checks of NFSv4 in the highest minor version of the target and a tenth in the others,
                                or in each minor version [once]
    What makes the run red:
      --baseline FILE           only differences from this file, or from a baseline of nfsproof;
                                auto: the one for the started server and its version
      --require CAPABILITY,...  the target lacks one of these capabilities
      --floor N                 fewer than N checks were executed
      --lacks CAPABILITY,...    (not red:) the target does not have these, whatever it answers
      --lint fail|report|off    rules for every call and reply: red, printed only, off [fail]
    What the run writes:
      --transcript short|full   the first failure of each cause, or each failure in full [short]
      --report DIR              folder of the records and reports; what a run left there is replaced
                                [nfsproof-report/NUMBER, a new one for each run]
      --evidence failure|always|never
                                which checks keep a capture and a script [failure]
      --log-wire FILE           a line for each call with its reply, at once; - is standard error
      --label TEXT              name of the target in reports, instead of its address
    How it runs:
      --progress auto|rich|plain|off
      --call-timeout SECONDS    longest time for one call [10, more if the target is slow]
      --control NAME=COMMAND    how the server of a URL is crashed, restarted and filled (docs/target-file.md);
                                --control manual prompts you at the terminal
      --control-timeout SECONDS longest time for a command, and for the server to answer again [120]
      --time-limit TIME         longest time for all checks (90s, 10m, 2h); the rest is VOID
      --restart COMMAND         shell command that starts the server of a URL again when it died
      --restart-timeout TIME    longest time for that, and to answer again after a death [15s]
      --seed N                  what the checks of recovery draw at random [1]
      --thorough                do as much on the embedded server as on others (ten thousand names, 64 MiB, ...)
      --clean                   first remove what interrupted runs have left in the export
      --referral PATH           a directory of the server whose file system is elsewhere: for checks of referrals
      --probe-again             ask for everything, also a slow server, or one that a run within the last hour has asked
      --knob NAME=VALUE         set a legal choice of the embedded server; may be repeated
      --mutant NAME             break a rule of the embedded server, or let client:nfsclient misbehave; may be repeated
      --mount COMMAND, --umount COMMAND
                                how client:command mounts and unmounts
      --program STEP=COMMAND    what client:program does for a step; may be repeated
      --work-timeout TIME       longest time of a client for one work [30s]
      --list-requirements       print the requirements with their checks, run nothing

    All other options go to pytest: -x (stop at the first failure), -n 2 or -n auto (workers), --lf (the
    checks that failed when they last ran on this target), --ff (these first), --sw (go on at the last failure), -k,
    -v, --junitxml=FILE. `nfsproof run -- --help` lists them.
    """
    starter.collect_rarely()
    starter.put_home_first()
    starter.keep_code()
    from nfsproof.arguments import ArgumentError, split_target
    from nfstargets import TARGETS
    from nfstargets.clients import KIND
    from reports.again import is_file_of_targets, kept_options

    try:
        found, rest = split_target(arguments, (*TARGETS, KIND), target)
    except ArgumentError as error:
        raise Trouble(str(error)) from error
    strictly = ["--strict-should"] if strict else []
    again = [f"--again={shlex.join([found or 'embedded', *kept_options(rest)])}"]
    if found is not None and is_file_of_targets(found):
        from nfsproof.events.chosen import load_target, names_checks

        entry = load_target(found)
        strictly = ["--strict-should"] if strict or entry.strict else []
        checks = [] if names_checks(rest) else entry.checks
        limits = [f"--floor={entry.floor}"] if checks or not names_checks(rest) else []
        limits += [f"--time-limit={entry.timeout}"] if entry.timeout else []
        return starter.run_suite(
            ["--target", entry.target, *entry.options(), *limits, *strictly, *again, *checks, *rest]
        )
    return starter.run_suite(["--target", found or "embedded", *strictly, *again, *rest])
