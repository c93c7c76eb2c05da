# SPDX-License-Identifier: MIT
"""The commands. Each command imports the heavy modules that it needs, so that `--help` is fast."""

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
READS = "Exit status: 0 done; 4 wrong usage, or a file cannot be read or written."
PASS_ON = {"ignore_unknown_options": True, "help_option_names": ["--help"]}


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=EPILOG,
)
@click.version_option(__version__, prog_name="nfsproof", message="%(prog)s %(version)s")
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
    nfsproof install shenaniganfs            install another server to test

    nfsproof needs no root, no kernel mount and no compiler. The checks create, change and remove files below the
    export: use an export made for testing.
    """


@commands.command(context_settings=PASS_ON, options_metavar="[OPTIONS]", epilog=EPILOG)
@click.option("--target", metavar="TARGET", help="The target; the same as the first argument.")
@click.option("--strict", is_flag=True, help="A broken SHOULD (NONSTRICT) is red.")
@click.argument(
    "arguments", nargs=-1, type=click.UNPROCESSED, metavar="[TARGET] [CHECK ...] [PYTEST OPTION ...]"
)
def run(target: str | None, strict: bool, arguments: tuple[str, ...]) -> int:
    """Run the checks on a server.

    TARGET is a URL, nfs://HOST[:PORT]/EXPORT[?PARAMETERS], or the name of a server that nfsproof starts and stops:
    embedded (the default), ganesha, ganesha:mem, or a server of `nfsproof install --list`.
    CHECK is an id (nfs3/RENAME/mixed-types[directory-fifo]), the beginning of ids (nfs3/RENAME), a pattern
    (nfs3/READ*), an old id or a file. Case does not matter. The default is all checks.

    \b
    Which checks run:
      --section 3.3.14          checks of this section or below; also RFC 1813 3.3.14, rfc1813:3.3.14
      --procedure RENAME        checks that are about this procedure, or call it
      --level MUST,STATED       checks of requirements with these levels (also SHOULD, MAY)
    What makes the run red:
      --baseline FILE           only differences from this file, or from a baseline of nfsproof
      --require CAPABILITY,...  the target lacks one of these capabilities
      --lint fail|report|off    rules for every call and reply: red, printed only, off [fail]
    What the run writes:
      --report DIR              folder of the records and reports [nfsproof-report]
      --evidence failure|always|never
                                which checks keep a capture and a script [failure]
      --label TEXT              name of the target in reports, instead of its address
    How it runs:
      --progress auto|rich|plain|off
      --call-timeout SECONDS    longest time for one call [10]
      --knob NAME=VALUE         set a legal choice of the embedded server; may be repeated
      --list-requirements       print the requirements with their checks, run nothing

    All other options go to pytest: -x (stop at the first failure), -n 2 (two workers), -k, -v, --junitxml=FILE.
    `nfsproof run -- --help` lists them.
    """
    starter.put_home_first()
    from nfsproof.arguments import ArgumentError, split_target
    from nfstargets import TARGETS

    try:
        found, rest = split_target(arguments, tuple(TARGETS), target)
    except ArgumentError as error:
        raise Trouble(str(error)) from error
    strictly = ["--strict-should"] if strict else []
    return starter.run_suite(["--target", found or "embedded", *strictly, *rest])


@commands.command(
    context_settings=PASS_ON,
    epilog="Exit status: the same as nfsproof run; 1: a test failed, or a mutant survived.",
)
@click.option(
    "--mutants",
    is_flag=False,
    flag_value="pairs",
    metavar="[pairs|sample|matrix]",
    help="Run each check on the clean server and on the mutants that it names; "
    "=sample: also on some other mutants; =matrix: on all mutants.",
)
@click.option(
    "--knobs",
    is_flag=False,
    flag_value="",
    metavar="[TEXT]",
    help="For each legal choice of the server, run the checks that can see it; =TEXT: only choices that contain TEXT; "
    "=all: all checks with all choices.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENT ...]")
def selftest(mutants: str | None, knobs: str | None, arguments: tuple[str, ...]) -> int:
    """Test nfsproof itself.

    In a checkout this runs the project's own tests, with a worker for each processor unless -n or a part of them is
    chosen. The wheel does not contain them: there, and with --mutants, each check runs on the clean embedded server,
    where it must pass, and on its mutants, where it must fail.
    """
    if knobs is not None:
        starter.put_home_first()
        from nfsproof import freedoms

        return freedoms.try_all(arguments, click.echo, knobs)
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
    return starter.run_suite([f"--mutants={mutants or 'pairs'}", *arguments])


@commands.command(epilog="Exit status: 0 stopped, or listed; 4 wrong usage, or the port is in use.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=20490,
    show_default=True,
    help="Port for NFS, MOUNT and portmap; 0: any free port.",
)
@click.option(
    "--export", "exports", multiple=True, metavar="PATH", help="Path of an export; may be repeated. [/export]"
)
@click.option(
    "--mutant", "mutants", multiple=True, metavar="NAME", help="Break a rule of an RFC; may be repeated."
)
@click.option(
    "--set", "knobs", multiple=True, metavar="NAME=VALUE", help="Set a legal choice; may be repeated."
)
@click.option("--root-squash", is_flag=True, help="Treat root as nobody.")
@click.option("--udp/--no-udp", default=True, show_default=True, help="Also serve UDP.")
@click.option("--list-mutants", is_flag=True, help="Print every mutant with the clause that it breaks.")
@click.option("--list-knobs", is_flag=True, help="Print every legal choice that can be set.")
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
    """Start the embedded server for other clients.

    It serves NFSv2, NFSv3, MOUNT, portmap and rpcbind.

    Files are in memory and are lost when the server stops. The only authentication is AUTH_SYS: use it on loopback
    or on a network that you trust. Ctrl-C stops it.
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
    epilog="Exit status: 0 installed, or listed; 4 not possible: the message says what is missing."
)
@click.option(
    "--list", "list_them", is_flag=True, help="Print which servers can be installed, and which are."
)
@click.argument("names", nargs=-1, metavar="[NAME ...]")
def install(list_them: bool, names: tuple[str, ...]) -> None:
    """Install another NFS server to test.

    The installer uses go, cargo or pip. Each server is installed into its own folder below ~/.cache/nfsproof/servers
    (or below $NFSPROOF_SERVERS, or $XDG_CACHE_HOME/nfsproof/servers). Besides that, only the caches of go, cargo or
    pip change.
    """
    starter.put_home_first()
    from nfsproof import installing

    if not list_them and not names:
        raise Trouble("expected the name of a server; nfsproof install --list prints them")
    try:
        for name in names:
            installing.install_by_name(name, lambda line: click.echo(line, err=True))
    except installing.InstallError as error:
        raise Trouble(str(error)) from error
    for line in installing.listing() if list_them else ():
        click.echo(line)


@commands.command(epilog="Exit status: 0 the server can be tested; 4 it cannot.")
@click.argument("url", metavar="URL")
def doctor(url: str) -> int:
    """Find out why a server does not answer.

    Tests each step, from the name of the host to root squash, and prints what to do. For the write test it creates a
    small directory below the export and removes it again.
    """
    starter.put_home_first()
    from nfsproof import doctor as clinic
    from nfstargets import TARGETS

    if url.partition(":")[0] in TARGETS:
        raise Trouble(f"expected a URL; {url} is a server that nfsproof starts: try nfsproof run {url}")
    diagnosis = clinic.diagnose(url)
    click.echo(diagnosis.render())
    return int(Exit.OK if diagnosis.healthy else Exit.USAGE)


@commands.command(epilog=READS + " It does not depend on the verdicts.")
@click.argument("runs", metavar="[RUN ...]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="The board, an HTML page.")
@click.option(
    "--allure", type=click.Path(path_type=Path), metavar="FOLDER", help="Results and page for Allure."
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
    help="Covered sections and errors of the RFCs; FILE ends in .html, .md or .json.",
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
    """Make reports from the records of runs.

    RUN is the folder of a run, its records.jsonl, an archive, or a folder of such folders or archives. The default
    is nfsproof-report. Without an option, the text report is printed. FILE may be - for standard output.
    docs/reports.md describes the formats.
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
    "docs/target-file.md describes FILE."
)
@click.argument("file", metavar="FILE.toml", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FOLDER", help="[FILE without .toml]"
)
@click.option("--check", "only_check", is_flag=True, help="Check FILE for mistakes, run nothing.")
def event(file: Path, output: Path | None, only_check: bool) -> int:
    """Run the checks on several servers.

    Makes an archive of each run, and one board. FILE lists the targets with their labels and options. If a target does
    not answer, the others continue. Ctrl-C stops all runs cleanly; everything judged so far is kept.
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
@click.option("--label", default="", metavar="TEXT", help="Name of the target, such as Server A.")
@click.option(
    "--anonymous/--named",
    default=None,
    help="Hide which server it is: kind, description, export. [anonymous with a label]",
)
@click.option("--hide", multiple=True, metavar="WORD", help="Hide this word, too; may be repeated.")
@click.option("--with-hosts", is_flag=True, help="Hide nothing.")
@click.option("--with-logs", is_flag=True, help="Include the logs of servers that nfsproof started.")
def archive(
    run_folder: Path,
    output: Path | None,
    label: str,
    anonymous: bool | None,
    hide: tuple[str, ...],
    with_hosts: bool,
    with_logs: bool,
) -> None:
    """Pack a run into one file without host names.

    The file contains no addresses and paths of your machine either. RUN is the folder of a run. nfsproof report reads
    archives and folders alike. docs/interop-event.md lists what an archive hides, and what may remain in it.
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
    told = "nothing hidden" if with_hosts else f"label: {packed.manifest.label or 'none'}"
    click.echo(f"written: {packed.file} ({len(packed.manifest.files)} files, {told})")


@commands.group(epilog="docs/baselines.md describes the file.")
def baseline() -> None:
    """Compare a run with known failures, or update them."""


@baseline.command(
    "check", epilog="Exit status: 0 no difference; 11 differences; 4 wrong usage, or a file cannot be read."
)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("word", metavar="FILE")
def baseline_check(run_folder: Path, word: str) -> int:
    """Print how RUN differs from FILE, or from a baseline of nfsproof by its name (ganesha-4.3-vfs)."""
    return _tell(lambda: _baselines().check(run_folder, word))


@baseline.command(
    "update",
    epilog="Exit status: 0 done; 11 something is left that an update cannot settle (expired entries, the floor); "
    "4 wrong usage, an incomplete run, or a file that cannot be read or written.",
)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print the change, write nothing.")
def baseline_update(run_folder: Path, file: Path, dry_run: bool) -> int:
    """Update FILE with the results of RUN, and print the change. FILE is created if it does not exist.

    Reasons, links, comments and order are kept. New entries are at the end; their reasons begin with TODO.
    """
    return _tell(lambda: _baselines().update(run_folder, file, dry_run=dry_run))


@baseline.command("list", epilog="Exit status: 0.")
def baseline_list() -> None:
    """Print the names of the baselines that come with nfsproof."""
    starter.put_home_first()
    from reports.baseline import shipped

    for one in shipped():
        click.echo(f"{Path(one.name).stem:<28} {one.server}: {len(one.entries)} known causes")


@commands.command(
    epilog="Exit status: 0 no difference; 11 differences; 4 wrong usage, or a run cannot be read."
)
@click.argument("before", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("after", metavar="RUN", type=click.Path(path_type=Path))
def diff(before: Path, after: Path) -> int:
    """Compare two runs.

    Prints the checks that are broken, fixed, new or gone, or that have another verdict or symptom.
    """
    return _tell(lambda: _baselines().difference(before, after))


def _baselines() -> t.Any:
    starter.put_home_first()
    from nfsproof import baselines

    return baselines


def _tell(work: Callable[[], t.Any]) -> int:
    """Print the result of a comparison. A mistake of the user becomes one line."""
    try:
        told = work()
    except OSError as error:
        raise Trouble(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
    except ValueError as error:  # from a baseline, a record or an update: the text says where
        raise Trouble(str(error)) from error
    click.echo("\n".join(told.lines))
    return int(told.status)


@commands.command(
    epilog="Exit status: the same as nfsproof run for this check. With --script: 0 if all messages were sent, whatever "
    "the server answered; 4 if the server was not reached."
)
@click.argument("name", metavar="ID")
@click.option(
    "--report",
    "folder",
    metavar="DIR",
    default="nfsproof-report",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the run.",
)
@click.option("--target", metavar="TARGET", help="Use this server instead of the one of the run.")
@click.option("--script", is_flag=True, help="Run the script of the check instead of the check.")
@click.option("--print", "show", is_flag=True, help="Print the script, run nothing.")
def reproduce(name: str, folder: Path, target: str | None, script: bool, show: bool) -> int:
    """Run one check of a run again.

    ID is the id of a check, the beginning of one, or a rule of the lint (then the first check that broke it). With
    --script, the script in the report sends the same messages and prints every reply. If the report came from someone
    else, read the script first (--print).
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
            f"expected the records of a run, but {error.filename} does not exist; name the folder with --report DIR"
        ) from error
    except (OSError, BadRecord, ValueError, reproducing.CannotReproduce) as error:
        raise Trouble(str(error)) from error


@commands.command(
    epilog="Exit status: 0 no rule is broken; 1 a rule is broken; 4 wrong usage, or the capture is damaged."
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path), required=False)
@click.option("--alone", is_flag=True, help="No other client used the server, and nobody restarted it.")
@click.option("--strict", is_flag=True, help="A broken SHOULD is red.")
@click.option("--list-rules", is_flag=True, help="Print the rules with their clauses.")
def lint(file: Path | None, alone: bool, strict: bool, list_rules: bool) -> int:
    """Judge the traffic in a capture.

    FILE is a pcap or pcapng file of tcpdump, Wireshark or nfsproof. The rules of docs/lint.md are applied to every
    reply of NFSv2, NFSv3, MOUNT and RPC over TCP and UDP. With --alone, replies are also compared with earlier ones.
    The output names the packet in which a call ends.
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
    """Parse and run a command; return the exit status. Mistakes of the user give one line, not a traceback."""
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
        # The reader has gone (`| head`): nothing can be written any more, not even by a flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.OK)
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo("nfsproof: cannot write to standard output: no space left", err=True)
        return int(Exit.USAGE)
    return int(result or 0)
