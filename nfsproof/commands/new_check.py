# SPDX-License-Identifier: MIT
"""`nfsproof new-check`: the frame of a check."""

from __future__ import annotations

import click

from nfsproof.commands.shared import require_checkout
from nfsproof.exits import Trouble


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
    root = require_checkout("a new check")
    from fixtures.ids import MAX_ID
    from nfsproof.newcheck import TESTS, CannotMake, Wish, make_plan, write_check
    from nfsproof.unfilled import unfilled

    wish = Wish(check_id, title, section, level or "", gist, clause, mutant, procedures, file, after)
    try:
        plan = make_plan(wish, root)
        written = write_check(plan, root)
    except CannotMake as error:
        raise Trouble(str(error)) from error
    click.echo("written:")
    for change in written:
        click.echo(f"  {change}")
    click.echo("to fill in:")
    files = sorted({root / change.file for change in written} | {root / "nfsmutants" / "rules.py"})
    for line in unfilled(root, files):
        click.echo(f"  {line}")
    room = MAX_ID - len(check_id) - len("[]")
    click.echo(f"parameters: {f'at most {room} characters' if room > 0 else 'none, the id is too long'}")
    click.echo("then:")
    for command in (f"run embedded {check_id}", f"selftest --mutants {check_id}", f"run URL {check_id}"):
        click.echo(f"  bin/nfsproof {command}")
    click.echo("  bin/nfsproof regenerate")
    click.echo(f"  bin/nfsproof selftest {' '.join(TESTS)}")
