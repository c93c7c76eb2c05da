# SPDX-License-Identifier: MIT
"""The commands for work on nfsproof itself: `new-check`, `regenerate`, `coverage`. They need a checkout."""

from __future__ import annotations

from pathlib import Path

import click

from nfsproof import starter
from nfsproof.exits import Exit, Trouble

_RECORDS = click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))


@click.command(
    "new-check",
    epilog="Exit status: 0 written; 4 nothing was written: the line says why. A worked example: "
    "docs/writing-a-check.md.",
)
@click.argument("check_id", metavar="ID")
@click.option("--title", default="", metavar="TEXT", help="The claim in one sentence.")
@click.option(
    "--section",
    default="",
    metavar="SECTION",
    help='Of a new clause: 3.3.14, or "RFC 4506 4.10". [that of the operation]',
)
@click.option("--level", default=None, type=click.Choice(["MUST", "STATED", "SHOULD"]), help="Its level.")
@click.option("--gist", default="", metavar="TEXT", help="What it says, in your own words.")
@click.option(
    "--clause",
    default="",
    metavar="NAME",
    help="A clause of clauses.py or of the file; with --section or --gist: the name of the new one.",
)
@click.option(
    "--mutant", default="", metavar="NAME", help="The name of the new mutant, or of one that exists."
)
@click.option(
    "--procedure",
    "procedures",
    multiple=True,
    metavar="NAME",
    help="What the mutant bends; may be repeated. [the operation in the id]",
)
@click.option("--file", default="", metavar="NAME", help="The suite file, where several have the subject.")
@click.option("--after", default="", metavar="CHECK", help="Place it after this check. [at the end]")
def new_check(
    check_id: str,
    title: str,
    section: str,
    level: str | None,
    gist: str,
    clause: str,
    mutant: str,
    procedures: tuple[str, ...],
    file: str,
    after: str,
) -> None:
    """Write the frame of a check: the check, its clause and its mutant, each in its file.

    ID is PROTOCOL/SUBJECT/slug, such as nfs3/RENAME/keeps-fileid. What you must fill in is marked FILL IN or
    FILL_IN. Until then the check is VOID, and linter, type checker and CI are red.

    \b
    nfsproof new-check nfs3/RENAME/keeps-fileid --file rename --section 3.3.14 --level STATED
    nfsproof new-check nfs3/wcc_data/two-names --clause WCC_BEFORE_IS_PRE_OPERATION --procedure LINK
    """
    root = _checkout("a new check")
    from fixtures.ids import MAX_ID
    from nfsproof.newcheck import CannotMake, Wish, make_plan, write_check
    from nfsproof.unfilled import unfilled

    wish = Wish(check_id, title, section, level or "", gist, clause, mutant, procedures, file, after)
    try:
        plan = make_plan(wish, root)
        written = write_check(plan, root)
    except CannotMake as error:
        raise Trouble(str(error)) from error
    click.echo("written:")
    for one in written:
        click.echo(f"  {one}")
    click.echo("to fill in:")
    files = sorted({root / one.file for one in written} | {root / "nfsmutants" / "rules.py"})
    for line in unfilled(root, files):
        click.echo(f"  {line}")
    room = MAX_ID - len(check_id) - len("[]")
    click.echo(f"parameters: {f'at most {room} characters' if room > 0 else 'none, the id is too long'}")
    click.echo("then:")
    for command in (f"run embedded {check_id}", f"selftest --mutants {check_id}", f"run URL {check_id}"):
        click.echo(f"  bin/nfsproof {command}")
    click.echo("  bin/nfsproof regenerate")


@click.command(
    epilog="Exit status: 0 everything is up to date; 1 something differs, or is not filled in; 4 there is no "
    "complete run."
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; red if anything differs.")
@_RECORDS
def regenerate(only_check: bool, folder: Path | None) -> int:
    """Write everything that is generated in a checkout, or compare it (--check).

    \b
    suites/ids.txt                        from the checks
    docs/knobs.md, docs/lint.md           their tables, from the declarations
    docs/coverage.md, coverage-checks.md  from a whole run on the embedded server

    DIR has the records of such a run; without DIR there is one first, which takes about a minute. Places that
    nfsproof new-check left to fill in are red.
    """
    _checkout("what is generated")
    from nfsproof import covering, generated

    work = generated.check if only_check else generated.regenerate
    try:
        is_right = work(folder, click.echo)
    except covering.CannotCover as error:
        raise Trouble(str(error)) from error
    if is_right:
        click.echo("everything that is generated is up to date")
    elif only_check:
        click.echo("not up to date; run bin/nfsproof regenerate")
    return int(Exit.OK if is_right else Exit.FAIL)


@click.command(epilog="Exit status: 0 the pages are up to date; 1 they are not; 4 there is no complete run.")
@click.option("--update", "mode", flag_value="update", help="Write the pages.")
@click.option(
    "--check", "mode", flag_value="check", help="Compare the pages with the run; red if they differ."
)
@_RECORDS
def coverage(mode: str | None, folder: Path | None) -> int:
    """Write or verify docs/coverage.md.

    The page shows a complete run on the embedded server: the one in DIR, or a new one. Only a checkout has it. For a
    run on your server, use nfsproof report --coverage.
    """
    starter.put_home_first()
    from nfsproof import covering

    if mode is None:
        raise click.UsageError("Missing option '--update' or '--check'.")
    if not starter.is_checkout():
        raise Trouble(
            "only a checkout contains these pages; use nfsproof report --coverage for the coverage of a run"
        )
    docs = starter.home() / "docs"
    try:
        pages = covering.make_pages(folder)
    except covering.CannotCover as error:
        raise Trouble(str(error)) from error
    if mode == "update":
        for name in covering.write(pages, docs):
            click.echo(f"written: docs/{name}")
    wrong = covering.differences(pages, docs)
    for line in wrong:
        click.echo(line)
    click.echo(
        "docs/coverage.md is out of date; run bin/nfsproof regenerate"
        if wrong
        else "docs/coverage.md is up to date"
    )
    return int(Exit.FAIL if wrong else Exit.OK)


def _checkout(what: str) -> Path:
    """The folder of the checkout. In an installed wheel there is none."""
    root = starter.put_home_first()
    if not starter.is_checkout():
        raise Trouble(f"{what} needs a checkout of nfsproof: clone the project and use its bin/nfsproof")
    return root


COMMANDS = (new_check, regenerate, coverage)
