# SPDX-License-Identifier: MIT
"""`--section`, `--procedure`, `--level`, `--part` and `-k`: which checks run."""

from __future__ import annotations

import socket
import types
import typing as t

import pytest

from fixtures.plugin.choosing import BadChoice, Section, _names_in
from nfsjudge import stated
from nfsjudge.records import RunRecord
from tests.plugin.conftest import Suite

LOOKUP = """
BINDING = Requirement(rfc="RFC 1813", section="3.3.7", gist="g", level=Level.MUST)
OTHER = Requirement(rfc="RFC 1094", section="2.2.9", gist="g")

def link_it(nfs3):
    nfs3.link(1, 2)

@proves(RULE, ADVICE, killed_by=MUTANT)
def test_finds(nfs3):
    pass

@proves(BINDING, killed_by=MUTANT)
@pytest.mark.parametrize("which", ["write-file", "dir"])
def test_names(which):
    pass

@proves(OTHER, killed_by=MUTANT)
def test_calls():
    def later(nfs3):
        nfs3.rename(1, 2)

@proves(OTHER, killed_by=MUTANT)
def test_helped():
    if False:
        link_it(None)
"""
ALL = {"finds", "names[write-file]", "names[dir]", "calls", "helped"}


def chosen(suite: Suite, *options: str) -> set[str]:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    outcome = suite.run(*options)
    assert outcome.exit_code in {0, 5}
    return set(outcome.checks)


@pytest.mark.parametrize(("option", "is_partial"), [("--part=1/2", True), ("--part=1/1", False)])
def test_a_part_of_the_checks_is_a_partial_run(suite: Suite, option: str, is_partial: bool) -> None:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    (run, *_) = suite.run(option, "suites").lines
    assert isinstance(run, RunRecord)
    assert run.is_partial is is_partial


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], ALL),
        (["--section=3.3.7"], {"names[write-file]", "names[dir]"}),
        (["--section=3.3"], {"finds", "names[write-file]", "names[dir]"}),
        (["--section=RFC 1813 3.3.2"], {"finds"}),
        (["--section=rfc1094:2"], {"calls", "helped"}),
        (["--section=3.3.1,2.2.9"], {"finds", "calls", "helped"}),
        (["--section=3.3.1", "--section=2.2.9"], {"finds", "calls", "helped"}),
        (["--level=must"], {"names[write-file]", "names[dir]"}),
        (["--level=SHOULD,MUST"], {"finds", "names[write-file]", "names[dir]"}),
        (["--procedure=LOOKUP"], ALL),
        (["--procedure=write"], {"names[write-file]"}),
        (["--procedure=rename"], {"calls"}),
        (["--procedure=LINK,WRITE"], {"helped", "names[write-file]"}),
        (["--procedure=LINK", "--section=2.2.9"], {"helped"}),
        (["-k", "names"], {"names[write-file]", "names[dir]"}),
        (["-k", "LOOKUP/calls"], {"calls"}),
        (["-k", "finds or calls", "--section=3.3"], {"finds"}),
    ],
)
def test_checks_are_chosen(suite: Suite, options: list[str], found: set[str]) -> None:
    assert chosen(suite, *options) == found


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "--section=3.3.99",
            "--section: none of the checks is about 3.3.99; they are about RFC 1813 3.3.1, 3.3.2, 3.3.7",
        ),
        ("--section=9", "they are about RFC 1094 2; RFC 1813 3"),
        ("--section=rfc1094:9", "none of the checks is about rfc1094:9; they are about RFC 1094 2"),
        ("--section=some", "--section: expected 3.3.14, RFC 1813 3.3.14 or rfc1813:3.3.14, seen 'some'"),
        (
            "--procedure=WROTE",
            "none of the checks is about WROTE; similar: WRITE",
        ),
        ("--procedure=NULL", "is about NULL; they are about LINK, LOOKUP, RENAME, WRITE"),
        (
            "--level=MAY",
            "--level: none of the checks has a requirement of level MAY; their levels are MUST, ",
        ),
        ("--level=HIGH", "--level: unknown level 'HIGH'; there are MUST, SHOULD, MAY, STATED"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(suite: Suite, option: str, message: str) -> None:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    outcome = suite.run(option)
    assert outcome.exit_code == 4
    assert message in outcome.text
    assert not suite.report.exists()


def test_every_check_is_in_one_part(suite: Suite) -> None:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    parts = [set(suite.run(f"--part={number}/2").checks) for number in (1, 2)]
    assert parts[0] | parts[1] == ALL
    assert not parts[0] & parts[1]


@pytest.mark.parametrize("text", ["3/2", "0/2", "1", "a/b", "1/", "-1/2"])
def test_parts_that_there_are_not(suite: Suite, text: str) -> None:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    outcome = suite.run(f"--part={text}")
    assert outcome.exit_code == 4
    assert "--part: expected K/N with K from 1 to N, such as 1/3" in outcome.text


def test_values_that_fit_no_check_together_are_refused(suite: Suite) -> None:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    outcome = suite.run("--section=3.3.1", "--level=SHOULD", "--procedure=write")
    assert outcome.exit_code == 4
    assert "no check matches all of --section 3.3.1, --procedure write, --level SHOULD" in outcome.text


def test_a_wrong_choice_is_refused_before_the_target_is_contacted(suite: Suite) -> None:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    suite.report.mkdir()
    (suite.report / "records.jsonl").write_text("an earlier run\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        url = f"nfs://127.0.0.1/export?nfsport={port}&mountport={port}"
        outcome = suite.run("--section=3.3.99", f"--target={url}")
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert outcome.exit_code == 4
    assert (suite.report / "records.jsonl").read_text() == "an earlier run\n"


def test_workers_refuse_as_well(suite: Suite) -> None:
    suite.write(LOOKUP, "suites/nfs3/test_lookup_fake.py")
    outcome = suite.run_apart("-p", "xdist.plugin", "-n", "2", "--section=9")
    assert outcome.exit_code == 4
    assert "ERROR: --section: none of the checks is about 9; they are about" in outcome.text


@pytest.mark.parametrize("text", ["", "3..3", "3.3.14 and more", "RFC 1813", "rfc:3"])
def test_text_that_is_no_section(text: str) -> None:
    with pytest.raises(BadChoice):
        Section.parse(text)


def test_a_section_holds_those_below_it_and_no_others() -> None:
    stands_in = stated("RFC 1813", "3.3.14", "g")
    assert [
        Section.parse(section).holds(stands_in) for section in ("3.3", "3.3.1", "3.3.14", "3.3.14.1")
    ] == [
        True,
        False,
        True,
        False,
    ]
    appendix = stated("RFC 1094", "A.5.1", "g")
    assert Section.parse("rfc 1094: a.5").holds(appendix)


OF_TWO_VERSIONS: t.Final = """
import pytest
from nfsjudge import stated
BOTH = stated("RFC 1813", "3.3.3", "found", also={"2": ("RFC 1094", "2.2.5")})

@pytest.mark.parametrize("nfs_version", ["v2", "v3"])
@proves(BOTH, killed_by=MUTANT)
def test_it(nfs_version):
    pass
"""


def test_a_check_is_in_the_sections_of_its_version_only(suite: Suite) -> None:
    suite.write(OF_TWO_VERSIONS, "suites/recovery/test_fake.py")
    assert set(suite.run("--section=rfc1094:2.2").verdicts) == {"it[v2]"}
    listed = suite.run("--list-requirements").text
    assert "RFC 1094 section 2.2.5 (STATED): found\n    recovery/fake/it[v2]" in listed
    assert "RFC 1813 section 3.3.3 (STATED): found\n    recovery/fake/it[v3]" in listed


def test_calls_are_followed_into_the_modules_of_the_suites() -> None:
    helpers = types.ModuleType("suites.nfs3.acts")
    exec(
        "def make(nfs3):\n    nfs3.mknod(1)\n    again(nfs3)\ndef again(nfs3):\n    make(nfs3)", vars(helpers)
    )
    scope: dict[str, object] = {"acts": helpers, "__name__": "suites.nfs3.test_x"}
    exec("def test_one(nfs3):\n    acts.make(nfs3)\ndef test_two(nfs3):\n    acts.again(nfs3)", scope)
    assert "mknod" in _names_in(scope["test_one"])
    assert "mknod" in _names_in(scope["test_two"])


def test_the_version_of_mount_is_that_of_a_check_of_mount(suite: Suite) -> None:
    """Not only in its own folder."""
    of_mount = OF_TWO_VERSIONS.replace('"nfs_version", ["v2", "v3"]', '"version", [2, 3], ids="v{}".format')
    suite.write(of_mount.replace("nfs_version", "version"), "suites/recovery/test_fake.py")
    assert set(suite.run("--section=rfc1094:2.2").verdicts) == {"it[v2]"}
