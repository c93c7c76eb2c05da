# SPDX-License-Identifier: MIT
"""The commands. Everything heavy is imported by the command that needs it: `--help` comes at once."""

from __future__ import annotations

import errno
import os
import sys
import typing as t
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from nfsproof import __version__, checkout_commands, starter
from nfsproof.exits import EXIT_CODES, Exit, Trouble

EPILOG = "Exit status: " + "; ".join(f"{code.value} {meaning}" for code, meaning in EXIT_CODES.items()) + "."
READS = "Exit status: 0 done; 4 wrong usage, or nothing could be read or written."
PASS_ON = {"ignore_unknown_options": True, "help_option_names": ["--help"]}


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="nfsproof", message="%(prog)s %(version)s")
def commands() -> None:
    """Tests NFS servers on the wire and judges every answer against a clause of an RFC.

    \b
    nfsproof run                             the checks against the embedded reference server
    nfsproof run nfs://host/export           the checks against your server
    nfsproof run nfs://host/export nfs3/WRITE        only those of WRITE
    nfsproof run ganesha                     against an NFS-Ganesha that is started and stopped for it
    nfsproof install shenaniganfs            other servers to run them against
    nfsproof run nfs://host/export --baseline mine.toml      red only where something is new
    nfsproof event FILE.toml                 several servers, with archives to hand over and one board
    nfsproof doctor nfs://host/export        why does my server not answer?
    nfsproof serve                           an NFS server of your own, right or wrong as you like

    No root, kernel mount or compiler is needed. The checks create, change and remove files below the export:
    point them at one made for testing.
    """


@commands.command(context_settings=PASS_ON, options_metavar="[OPTIONS]", epilog=EPILOG)
@click.option("--target", metavar="TARGET", help="The same as the first argument, as pytest users know it.")
@click.option("--strict", is_flag=True, help="A broken SHOULD is red as well (NONSTRICT counts as failed).")
@click.argument(
    "arguments", nargs=-1, type=click.UNPROCESSED, metavar="[TARGET] [CHECK ...] [PYTEST OPTION ...]"
)
def run(target: str | None, strict: bool, arguments: tuple[str, ...]) -> int:
    """Runs the checks and gives verdicts.

    TARGET is nfs://HOST[:PORT]/EXPORT[?PARAMETERS] or the name of a server that is started for the run:
    embedded (the default), ganesha, ganesha:mem, and those of `nfsproof install --list`.

    CHECK is an id (nfs3/RENAME/mixed-types[dir-fifo]), the beginning of one (nfs3/RENAME) or a pattern
    (nfs3/READ*), in any case; or a file, or an old id. Without any, all checks run.

    \b
    Which of them:
      --section 3.3.14          of this section or one below; also RFC 1813 3.3.14, rfc1813:3.3.14
      --procedure RENAME        that are about this procedure, or call it
      --level MUST,STATED       of requirements of these levels (also SHOULD, MAY)
    What is red:
      --baseline FILE           only what differs from this file, or a baseline of ours
      --require CAPABILITY,...  also when the target lacks one of these
      --lint fail|report|off    what rules held against every exchange find: red, told, not looked for
    What is left:
      --report DIR              the folder of records and reports [nfsproof-report]
      --evidence failure|always|never
                                of which checks captures and scripts are kept
      --label TEXT              how the target is called in reports
    How it runs:
      --progress auto|rich|plain|off
      --call-timeout SECONDS    for one call [10]
      --knob NAME=VALUE         a legal freedom that the embedded server takes; may be repeated
      --list-requirements       print the requirements with their checks, run nothing

    All other options go to pytest: -x (stop at the first failure), -n 2 (two workers), -k, -v, --junitxml=FILE.
    All of them: nfsproof run -- --help.
    """
    starter.put_home_first()
    from fixtures.targets import TARGETS
    from nfsproof.arguments import ArgumentError, split_target

    try:
        found, rest = split_target(arguments, tuple(TARGETS), target)
    except ArgumentError as error:
        raise Trouble(str(error)) from error
    strictly = ["--strict-should"] if strict else []
    return starter.run_suite(["--target", found or "embedded", *strictly, *rest])


@commands.command(
    context_settings=PASS_ON,
    epilog="Exit status: as of nfsproof run; 1: a test failed, or a mutant survived.",
)
@click.option(
    "--mutants",
    is_flag=False,
    flag_value="pairs",
    metavar="[pairs|sample|matrix]",
    help="Instead: run each check on the clean server and on the mutants that it names; "
    "=sample: also on some others; =matrix: on all.",
)
@click.option(
    "--knobs",
    is_flag=False,
    flag_value="",
    metavar="[TEXT]",
    help="Instead: run the checks with each legal freedom of the server taken (with =TEXT: those that hold it).",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENT ...]")
def selftest(mutants: str | None, knobs: str | None, arguments: tuple[str, ...]) -> int:
    """Tests nfsproof itself: its own tests, or whether every check is able to fail.

    In a checkout the tests of library, server, plugin and command line. They do not travel in the wheel:
    there each check is run on the clean embedded server, where it must pass, and on its mutants, where it
    must fail.
    """
    if knobs is not None:
        starter.put_home_first()
        from nfsproof import freedoms

        return freedoms.try_all(arguments, click.echo, knobs)
    if mutants not in {None, "pairs", "sample", "matrix"}:
        # `--mutants nfs3/WRITE`: the parser takes what follows for the option's value.
        mutants, arguments = "pairs", (str(mutants), *arguments)
    if mutants is None and starter.is_checkout():
        tests = starter.home() / "tests"
        return starter.run_own_tests([*arguments] if _names_a_path(arguments) else [str(tests), *arguments])
    if mutants is None:
        click.echo(
            "nfsproof: the tests of our own are in the checkout only; running the checks on their mutants",
            err=True,
        )
    return starter.run_suite([f"--mutants={mutants or 'pairs'}", *arguments])


@commands.command(epilog="Exit status: 0 stopped, or listed; 4 wrong usage, or the port is taken.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=20490,
    show_default=True,
    help="One port for NFS, MOUNT and portmap; 0: any.",
)
@click.option(
    "--export", "exports", multiple=True, metavar="PATH", help="An export; may be repeated. [/export]"
)
@click.option("--mutant", "mutants", multiple=True, metavar="NAME", help="Break a rule; may be repeated.")
@click.option(
    "--set", "knobs", multiple=True, metavar="NAME=VALUE", help="Take a legal freedom; may be repeated."
)
@click.option("--root-squash", is_flag=True, help="Take root for nobody.")
@click.option("--udp/--no-udp", default=True, show_default=True)
@click.option(
    "--list-mutants", is_flag=True, help="Print every mutant with the clause that it breaks, and end."
)
@click.option("--list-knobs", is_flag=True, help="Print every legal freedom that can be set, and end.")
def serve(
    host: str,
    port: int,
    exports: tuple[str, ...],
    mutants: tuple[str, ...],
    knobs: tuple[str, ...],
    root_squash: bool,
    udp: bool,
    list_mutants: bool,
    list_knobs: bool,
) -> None:
    """Serves NFSv2 and NFSv3 from memory: the embedded reference server, for other clients.

    What is written is lost when it ends. There is no authentication beyond AUTH_SYS: keep it on loopback or
    on a network that you trust.
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
        knobs=knobs,
        root_squash=root_squash,
        udp=udp,
    )
    try:
        serving.serve_until_stopped(offer, click.echo)
    except serving.CannotServe as error:
        raise Trouble(str(error)) from error


@commands.command(
    epilog="Exit status: 0 installed, or listed; 4 it could not be: the line says what is needed."
)
@click.option("--list", "list_them", is_flag=True, help="Print what can be installed and what is, and end.")
@click.argument("names", nargs=-1, metavar="[NAME ...]")
def install(list_them: bool, names: tuple[str, ...]) -> None:
    """Installs a server of others to run the checks against, with its package manager.

    Into a folder of its own below ~/.cache/nfsproof/servers (XDG_CACHE_HOME and NFSPROOF_SERVERS are heeded);
    nothing else of the machine is changed but the caches of go, cargo or pip.
    """
    starter.put_home_first()
    from nfsproof import installing

    if not list_them and not names:
        raise Trouble("install what? nfsproof install --list says what there is")
    try:
        for name in names:
            installing.install_by_name(name, lambda line: click.echo(line, err=True))
    except installing.InstallError as error:
        raise Trouble(str(error)) from error
    for line in installing.listing() if list_them else ():
        click.echo(line)


@commands.command(epilog="Exit status: 0 nothing stands in the way; 4 something does.")
@click.argument("url", metavar="URL")
def doctor(url: str) -> int:
    """Says what stands between you and a server that does not answer, and what to do about it.

    Name, port, rpcbind, MOUNT, export, privileged port, squash, RPC version: each is tried in turn. To see
    whether it may write, it makes a small directory below the export and removes it again.
    """
    starter.put_home_first()
    from fixtures.targets import TARGETS
    from nfsproof import doctor as clinic

    if url.partition(":")[0] in TARGETS:
        raise Trouble(f"{url} is a server that is started for a run; nfsproof run {url} says what is missing")

    diagnosis = clinic.diagnose(url)
    click.echo(diagnosis.render())
    return int(Exit.OK if diagnosis.healthy else Exit.USAGE)


@commands.command(epilog=READS + " The verdicts do not count.")
@click.argument("runs", metavar="[RUN ...]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="A page to look at.")
@click.option(
    "--allure", type=click.Path(path_type=Path), metavar="FOLDER", help="Results for Allure, and its page."
)
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="JUnit XML, for CI.")
@click.option(
    "--markdown", type=click.Path(path_type=Path), metavar="FILE", help="A summary for a pull request."
)
@click.option("--annotate", is_flag=True, help="Print annotations for GitHub Actions.")
@click.option(
    "--coverage",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sections of the RFCs and errors that were covered; FILE ends in .html, .md or .json.",
)
def report(
    runs: tuple[Path, ...],
    html: Path | None,
    allure: Path | None,
    junit: Path | None,
    markdown: Path | None,
    annotate: bool,
    coverage: Path | None,
) -> None:
    """Tells again what runs found, from the records that they left: as text, or in the forms that are named.

    RUN is the folder of a run (nfsproof-report if none is named), its records.jsonl, an archive, or a folder of
    such folders or archives.
    FILE may be - for the output. docs/reports.md says what is in each form.
    """
    starter.put_home_first()
    from nfsproof import reporting

    forms = reporting.Forms(html, allure, junit, markdown, annotate, coverage)
    try:
        reporting.report(runs or (Path("nfsproof-report"),), forms, click.echo, reporting.to_stderr)
    except reporting.ReportError as error:
        raise Trouble(str(error)) from error


@commands.command(
    epilog="Exit status: that of the worst run, in the order 2, 3, 1, 4, 11, 10, 5, 0; 4 also for a mistake in FILE. "
    "The file: docs/target-file.md."
)
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where all goes. [FILE without .toml]",
)
@click.option("--check", "only_check", is_flag=True, help="Look for mistakes in the file, run nothing.")
def event(file: Path, output: Path | None, only_check: bool) -> int:
    """Runs the checks against several targets, and packs what each has left into an archive to hand over.

    FILE names the targets, how they are called, and what is run. A target that is not there is told, and the
    others go on. Ctrl-C ends all in order; what was judged is kept.
    """
    starter.put_home_first()
    from nfsproof import events
    from nfsproof.events.holding import CannotHold
    from nfsproof.events.known import what_is_known

    try:
        found = events.load_event(file, what_is_known())
    except OSError as error:
        raise Trouble(f"cannot read {file}: {error.strerror}") from error
    except events.BadEvent as error:
        raise Trouble(str(error)) from error
    if only_check:
        number = len(found.targets)
        click.echo(f"{file}: {number} {'target' if number == 1 else 'targets'}")
        return int(Exit.OK)
    try:
        return events.hold(
            found,
            output or Path(file.stem),
            click.echo,
            lambda line: click.echo(f"nfsproof: {line}", err=True),
        )
    except CannotHold as error:
        raise Trouble(str(error)) from error


@commands.command(epilog=READS)
@click.argument("run_folder", metavar="[RUN]", default="nfsproof-report", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="A .tar.gz or .zip. [RUN.tar.gz]"
)
@click.option("--label", default="", metavar="TEXT", help="How the target is called: Server A.")
@click.option(
    "--anonymous/--named",
    default=None,
    help="Hide which server it is as well: its kind, its description, its export. [anonymous with a label]",
)
@click.option("--hide", multiple=True, metavar="WORD", help="Hide a word more; may be repeated.")
@click.option("--with-hosts", is_flag=True, help="Hide nothing.")
@click.option("--with-logs", is_flag=True, help="The logs of servers that were started for the run, too.")
def archive(
    run_folder: Path,
    output: Path | None,
    label: str,
    anonymous: bool | None,
    hide: tuple[str, ...],
    with_hosts: bool,
    with_logs: bool,
) -> None:
    """Packs what a run has left into one file to hand over, without names of hosts, addresses and paths.

    RUN is the folder of a run. nfsproof report reads archives as it reads folders. What may remain in them
    is told in docs/interop-event.md.
    """
    starter.put_home_first()
    from nfsproof import archiving

    wishes = archiving.Wishes(label, anonymous, with_hosts, with_logs, hide)
    try:
        packed = archiving.pack(run_folder, output or archiving.default_name(run_folder, label), wishes)
    except archiving.ArchiveError as error:
        raise Trouble(str(error)) from error
    for problem in packed.problems:
        click.echo(f"nfsproof: warning: {problem}", err=True)
    told = "nothing hidden" if with_hosts else f"called {packed.manifest.label or 'by its name'}"
    click.echo(f"written: {packed.file} ({len(packed.manifest.files)} files, {told})")


@commands.group(epilog="Words and fields: docs/baselines.md.")
def baseline() -> None:
    """Holds a run against what is known of its server: a file of checks that fail, each with its reason."""


@baseline.command(
    "check", epilog="Exit status: 0 no difference; 11 some; 4 wrong usage, or a file that cannot be read."
)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("word", metavar="FILE")
def baseline_check(run_folder: Path, word: str) -> int:
    """Says how the records of RUN differ from FILE, or from a baseline of ours by its name (ganesha-4.3-vfs)."""
    return _tell(lambda: _baselines().check(run_folder, word))


@baseline.command(
    "update",
    epilog="Exit status: 0 done; 11 something is left that an update does not settle (expired entries, the floor); "
    "4 wrong usage, no whole run, or a file that cannot be read or written.",
)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Show the change, write nothing.")
def baseline_update(run_folder: Path, file: Path, dry_run: bool) -> int:
    """Brings FILE up to what RUN has found, and shows the change; makes FILE if it is not there.

    Reasons, links, comments and order are kept. What is new stands at the end, and waits for its reason.
    """
    return _tell(lambda: _baselines().update(run_folder, file, dry_run=dry_run))


@baseline.command("list", epilog="Exit status: 0.")
def baseline_list() -> None:
    """Names the baselines that come with nfsproof."""
    starter.put_home_first()
    from reports.baseline import shipped

    for one in shipped():
        click.echo(f"{Path(one.name).stem:<28} {one.server}: {len(one.entries)} known causes")


@commands.command(
    epilog="Exit status: 0 no difference; 11 some; 4 wrong usage, or a run that cannot be read."
)
@click.argument("before", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("after", metavar="RUN", type=click.Path(path_type=Path))
def diff(before: Path, after: Path) -> int:
    """Says what changed from one run to another: broken, fixed, other verdict or symptom, new, gone."""
    return _tell(lambda: _baselines().difference(before, after))


def _baselines() -> t.Any:
    starter.put_home_first()
    from nfsproof import baselines

    return baselines


def _tell(work: Callable[[], t.Any]) -> int:
    """Print what a comparison found; what the user can mend is a line."""
    try:
        told = work()
    except OSError as error:
        raise Trouble(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
    except ValueError as error:  # of a baseline, a record or an update: it says where
        raise Trouble(str(error)) from error
    click.echo("\n".join(told.lines))
    return int(told.status)


@commands.command(
    epilog="Exit status: of the check, as of nfsproof run; with --script 0 when all was sent, whatever was "
    "answered, and 4 when the server was not reached."
)
@click.argument("name", metavar="ID")
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    default="nfsproof-report",
    show_default=True,
    type=click.Path(path_type=Path),
)
@click.option("--target", metavar="TARGET", help="Another server than the one of the run.")
@click.option("--script", is_flag=True, help="Run the script that the check left, and not the check.")
@click.option("--print", "show", is_flag=True, help="Print that script, and run nothing.")
def reproduce(name: str, folder: Path, target: str | None, script: bool, show: bool) -> int:
    """Runs one check of a run again, by its ID in the records that the run left.

    With --script the messages that it sent are sent again by nfsclient alone, and every answer is printed. The script
    is a file of the report: read it first (--print) when the report came from somebody else.
    """
    starter.put_home_first()
    from nfsjudge.records import BadRecord
    from nfsproof import reproducing

    try:
        found = reproducing.find(name, folder)
        if show:
            click.echo(reproducing.script_path(found).read_text(encoding="ascii"), nl=False)
            return int(Exit.OK)
        return reproducing.run_script(found, target) if script else reproducing.run_again(found, target)
    except FileNotFoundError as error:
        raise Trouble(
            f"no records of a run: {error.filename} is not there; --report=DIR names another"
        ) from error
    except (OSError, BadRecord, ValueError, reproducing.CannotReproduce) as error:
        raise Trouble(str(error)) from error


@commands.command(
    epilog="Exit status: 0 no rule broken; 1 one was; 4 wrong usage, or a capture that cannot be read to its end."
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path), required=False)
@click.option("--alone", is_flag=True, help="Nobody used the server but those in FILE, nor restarted it.")
@click.option("--strict", is_flag=True, help="A broken SHOULD is red as well.")
@click.option("--list-rules", is_flag=True, help="Print the rules with their clauses, and end.")
def lint(file: Path | None, alone: bool, strict: bool, list_rules: bool) -> int:
    """Judges the exchanges in a capture: FILE is pcap or pcapng, made by tcpdump, Wireshark or nfsproof.

    Every reply of NFSv2, NFSv3, MOUNT and RPC over TCP and UDP is held against the rules of docs/lint.md. With --alone
    also against what the server said before: then a change that no call shows is the server's. Numbers are those of
    the packets in which calls ended.
    """
    starter.put_home_first()
    from nfsproof import linting

    if list_rules:
        click.echo("\n".join(linting.rules_table()))
        return int(Exit.OK)
    if file is None:
        raise click.UsageError("Missing argument 'FILE'.")
    try:
        told = linting.lint_file(file, alone=alone)
    except OSError as error:
        raise Trouble(f"cannot read {file}: {error.strerror}") from error
    click.echo(told.text, nl=False)
    if told.broken:
        raise Trouble(f"{file}: {told.broken}")
    return int(Exit.FAIL if told.is_red(strict=strict) else Exit.OK)


for _command in checkout_commands.COMMANDS:
    commands.add_command(_command)


def run_command_line(args: Sequence[str]) -> int:
    """Parses, runs and gives the exit status; user errors end in one line, never in a traceback."""
    try:
        result = commands.main(args=list(args), prog_name="nfsproof", standalone_mode=False)
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
    except BrokenPipeError:
        # The reader has gone (`| head`). Nothing more can be said, not even by a flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.OK)
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo("nfsproof: cannot write to the output: no space is left", err=True)
        return int(Exit.USAGE)
    return int(result or 0)


def _names_a_path(arguments: Sequence[str]) -> bool:
    return any(
        Path(argument.partition("::")[0]).exists() for argument in arguments if not argument.startswith("-")
    )
