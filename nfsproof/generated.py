# SPDX-License-Identifier: MIT
"""`nfsproof regenerate`: everything in a checkout that is made from other files or from a run, written or compared.

The list of ids comes from pytest, the tables of docs/knobs.md and docs/lint.md from their declarations, examples with
numbers of checks in docs/guide.md from the list of ids, the man page from the help of the commands; suites/reach.txt
from the records of a whole run on the embedded server, or, for checks that are new, of a run of these.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from nfsjudge.wording import count
from nfsproof import covering, starter
from nfsproof.linting import rules_table
from nfsproof.manpage import man_page
from nfsproof.unfilled import unfilled
from nfsserver import KNOBS
from reports.idlist import IdList
from reports.minors import left_out
from reports.reach import REACH, parse_reach, reach_of, render_list

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a page between two comments, with what makes it."""

    page: str
    name: str
    make: Callable[[], list[str]]

    def expected(self, text: str) -> str:
        """The page as it should be. Raises ValueError if the comments are not there."""
        begin, end = (
            f"<!-- {self.name}: made by nfsproof regenerate -->\n\n",
            f"\n\n<!-- end of {self.name} -->",
        )
        pattern = re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)
        if pattern.search(text) is None:
            raise ValueError(f"docs/{self.page} has no part between {begin.strip()} and {end.strip()}")
        return pattern.sub(lambda _: "\n".join(self.make()), text)


@dataclass(frozen=True, slots=True)
class Whole:
    """A file that is made as a whole."""

    page: str
    make: Callable[[], str]

    def expected(self, _text: str) -> str:
        return self.make()


def knobs_table() -> list[str]:
    """The knobs of the embedded server as a table in Markdown."""
    return [
        "| knob | values | default | effect | clause that permits it | SHOULD that the server then does not follow |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| `{knob.name}` | {knob.takes} | `{knob.usual or '(empty)'}` | {_cell(knob.meaning)} | "
            f"{'; '.join(knob.cites)} | {'; '.join(knob.nonstrict)} |"
            for knob in KNOBS.values()
        ),
    ]


def _cell(text: str) -> str:
    """Text within a table: a bar would end its cell."""
    return text.replace("|", "\\|")


def lint_table() -> list[str]:
    """The rules of the lint, with the head of the table."""
    return [
        "| rule | severity | clause | what it finds | mutants |",
        "| --- | --- | --- | --- | --- |",
        *rules_table(),
    ]


def _ids_of_checks() -> set[str]:
    """The checks of servers, as the list has them now: it may just have been written."""
    return IdList.read(starter.home() / "suites" / "ids.txt").promised("embedded")


def progress_example() -> list[str]:
    """What a terminal shows in the middle of a run: of as many checks as there are."""
    ids = _ids_of_checks()
    number = len(ids - left_out(ids, 2))
    done = number * 48 // 100
    counts = f"PASS {max(0, done - 14)}  SKIP 9  FAIL 5"
    return [
        f"    ━━━━━━━━━━━╸━━━━━━━━━━━━ {done}/{number}  48 %  about 20 s left  {counts}",
        "    nfs3/READDIR/large-count[readdir-64k]  3 s",
    ]


def causes_example() -> list[str]:
    """Lines of causes, one of them with all checks of a protocol."""
    number = sum(check_id.startswith("nfs2/") for check_id in _ids_of_checks())
    checks = "9 checks  nfs3/names/slash-create, nfs3/names/slash-use"
    return [
        f"    FAIL       READDIR: names in the subdirectory: expected none, got 'new' (RFC 1813 2.5): {checks}",
        f"    UNSUPPORTED NFSv2 is not served: {number} checks not asked",
    ]


def fio_table() -> list[str]:
    """Keys of job files of fio that are accepted without effect."""
    from workloads.fio import IGNORED

    return [
        "| key | why |",
        "| --- | --- |",
        *(f"| `{key}` | {_cell(why)} |" for key, why in IGNORED.items()),
    ]


def study_schema() -> str:
    """The JSON schema of studies of `nfsproof sensitivity`."""
    from workloads.sensitivity.study import json_schema

    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def result_schema() -> str:
    """The JSON schema of results of workloads."""
    from workloads.result import json_schema

    return json.dumps(json_schema(), indent=1) + "\n"


PARTS: tuple[Part, ...] = (
    Part("knobs.md", "knobs", knobs_table),
    Part("lint.md", "rules of the lint", lint_table),
    Part("guide.md", "the progress of a run", progress_example),
    Part("guide.md", "causes of a run", causes_example),
    Part("workload-results.md", "keys of fio without effect", fio_table),
)


def parts(commands: click.Group) -> tuple[Part | Whole, ...]:
    """Everything below docs/ that is made; the man page from the help of `commands`."""
    return (
        *PARTS,
        Whole("man/nfsproof.1", lambda: man_page(commands)),
        Whole("workload-result.schema.json", result_schema),
        Whole("sensitivity.schema.json", study_schema),
    )


def regenerate(commands: click.Group, records: Path | None, say: Say) -> bool:
    """Write everything; whether it could all be written. Raises `covering.CannotCover`."""
    left = list(unfilled(starter.home()))
    for line in left:
        say(f"not filled in: {line}")
    before = _ids_of_checks()
    if left or not _ids("update", say):
        return False
    docs = starter.home() / "docs"
    for page, _, expected in _differing(commands, docs):
        page.parent.mkdir(exist_ok=True)
        page.write_text(expected, encoding="utf-8")
        say(f"written: docs/{page.name}")
    listed, wanted = _reach_list(), _reach(records, before, say)
    if not listed.exists() or listed.read_text(encoding="utf-8") != wanted:
        listed.write_text(wanted, encoding="utf-8")
        say(f"written: suites/{listed.name}")
    return records is None or _has_no_faults(records, say)


def _reach_list() -> Path:
    return starter.home() / "suites" / REACH


def _reach(records: Path | None, before: set[str], say: Say) -> str:
    """suites/reach.txt from a whole run; without one, with the lines of checks that were not listed `before`."""
    if records is not None:
        return covering.make_pages(records).reach
    now = _ids_of_checks()
    new = now - before
    if new:
        say(f"running {count(len(new), 'new check')} on the embedded server")
    known = parse_reach(_reach_list().read_text(encoding="utf-8")) if _reach_list().exists() else {}
    found = {name: reach for name, reach in known.items() if name in now and name not in new}
    return render_list(found | {check.id: reach_of(check.steered) for check in covering.checks_in_run(new)})


def check(commands: click.Group, records: Path | None, say: Say) -> bool:
    """Say what differs; whether nothing does. Raises `covering.CannotCover`."""
    left = list(unfilled(starter.home()))
    for line in left:
        say(f"not filled in: {line}")
    ids_agree = _ids("check", say)
    docs = starter.home() / "docs"
    wrong = list(_differing(commands, docs))
    for page, there, expected in wrong:
        say("\n".join(covering.difference(page.name, there, expected)))
    # Only with the right ids can a run be a whole one.
    return ids_agree and _reach_agrees(records, say) and not left and not wrong


def _reach_agrees(records: Path | None, say: Say) -> bool:
    listed = _reach_list()
    there = listed.read_text(encoding="utf-8") if listed.exists() else ""
    if records is None:
        gone = sorted(parse_reach(there).keys() - _ids_of_checks())
        for name in gone:
            say(f"suites/{listed.name} has a check that is not there: {name}")
        say(
            f"the lines of suites/{listed.name} were not compared: name the folder of a run on the embedded server"
        )
        return not gone
    expected = covering.make_pages(records).reach
    for line in covering.difference(f"suites/{listed.name}", there, expected):
        say(line)
    return there == expected and _has_no_faults(records, say)


def _has_no_faults(records: Path, say: Say) -> bool:
    """Whether no reason why something cannot be covered is out of date."""
    faults = covering.make_pages(records).faults
    for line in faults:
        say(line)
    return not faults


def _differing(commands: click.Group, docs: Path) -> Iterator[tuple[Path, str, str]]:
    """Pages whose parts are not as they should be: the page, its text, the right text."""
    for part in parts(commands):
        page = docs / part.page
        there = page.read_text(encoding="utf-8") if page.exists() else ""
        expected = part.expected(there)
        if there != expected:
            yield page, there, expected


def _ids(mode: str, say: Say) -> bool:
    """In a separate process: this one may have read the list already."""
    done = subprocess.run(
        [sys.executable, "-m", "nfsproof", "run", f"--ids={mode}", "-q", "--progress=off"],
        env=os.environ | {"PYTHONPATH": str(starter.home())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    for line in done.stdout.splitlines():
        if line.strip() and not line.startswith("no tests ran"):
            say(line)
    return done.returncode == 0
