# SPDX-License-Identifier: MIT
"""Names of checks on the command line become arguments of pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nfsproof.selector import Selector, UnknownCheck
from reports.idlist import known_ids
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
TWO = "def test_works(nfs3):\n    ...\n\n\ndef test_is_right(nfs3):\n    ...\n"
FILES = {
    "nfs3/test_read.py": TWO,
    "nfs3/test_read_ranges.py": "def test_far_away(nfs3):\n    ...\n",
    "nfs3/test_readdir.py": TWO,
    "nfs3/objects/test_handles.py": TWO,
    "nfs3/test_write.py": TWO,
    "mount/test_mnt.py": TWO,
}
IDS = """
nfs3/READ/works
nfs3/READ/is-right
nfs3/READ/far-away[2-gib]
nfs3/READ/far-away[4-gib]
nfs3/READDIR/works
nfs3/READDIR/is-right
nfs3/handles/works
nfs3/handles/is-right
nfs3/WRITE/works[tcp]
nfs3/WRITE/works[udp]
mount/MNT/works
mount/MNT/is-right
# gone: nfs3/ranges/it_is_far -> nfs3/READ/far-away
# gone: nfs3/ranges/it_is_near -> nfs3/READ/works
# gone: nfs3/transport/it_works_by[TCP *] -> nfs3/WRITE/works[tcp]
# gone: nfs3/transport/it_works_by[UDP] -> nfs3/WRITE/works[udp]
# gone: nfs3/transport/removed
# gone: nfs3/ranges/it_is_far[1-gib]
# gone: nfs3/ranges/it_went -> nfs3/READ/went
# gone: nfs3/READ/went
"""


def test_a_pattern_with_many_stars_is_fast(selector: Selector) -> None:
    with pytest.raises(UnknownCheck):
        selector.translate("nfs3/" + "*e" * 200 + "?Z")
    assert selector.translate("nfs?/**RE**/w?r*s") == selector.translate("nfs3/READ*/works")


@pytest.fixture
def selector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Selector:
    """A few suites: nfs3 with READ, READDIR, WRITE and a mechanism, mount."""
    monkeypatch.chdir(tmp_path)
    suites = tmp_path / "home" / "suites"
    for place, text in FILES.items():
        (suites / place).parent.mkdir(parents=True, exist_ok=True)
        (suites / place).write_text(text)
    (suites / "ids.txt").write_text(IDS)
    return Selector(suites)


READ = ["nfs3/test_read.py", "nfs3/test_read_ranges.py"]
FAR = "nfs3/test_read_ranges.py"
WORKS = "nfs3/test_write.py::test_works"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("mount", ["mount/test_mnt.py"]),
        ("nfs3/", ["nfs3/objects/test_handles.py", *READ, "nfs3/test_readdir.py", "nfs3/test_write.py"]),
        ("nfs3/READ", READ),
        ("nfs3/read", READ),
        ("nfs3/handles", ["nfs3/objects/test_handles.py"]),
        ("nfs3/WRITE/works", [WORKS]),
        ("nfs3/write/Works", [WORKS]),
        ("nfs3/WRITE/works[tcp]", [f"{WORKS}[tcp]"]),
        ("nfs3/WRITE/works[TCP]", [f"{WORKS}[tcp]"]),
        ("nfs3/WRITE/works[*p]", [WORKS]),
        ("nfs3/READ/far-away[4*]", [f"{FAR}::test_far_away[4-gib]"]),
        ("nfs3/WRITE/is-right[new]", ["nfs3/test_write.py::test_is_right[new]"]),
        ("nfs3/READ*/is-right", ["nfs3/test_read.py::test_is_right", "nfs3/test_readdir.py::test_is_right"]),
        ("*/MNT", ["mount/test_mnt.py"]),
        ("*/mnt/w?rks", ["mount/test_mnt.py::test_works"]),
        ("nfs3/ranges/it_is_far", [FAR]),
        ("nfs3/ranges/it_is_far[2-gib]", [f"{FAR}::test_far_away[2-gib]"]),
        ("nfs3/ranges", ["nfs3/test_read.py::test_works", FAR]),
        ("nfs3/ranges/*far", [FAR]),
        ("nfs3/transport/it_works_by", [WORKS]),
        ("nfs3/transport/it_works_by[TCP *]", [f"{WORKS}[tcp]"]),
        ("suites/nfs3/test_read.py::test_works", ["nfs3/test_read.py::test_works"]),
        ("suites/nfs3/test_read.py", ["nfs3/test_read.py"]),
        ("suites/nfs3/objects", ["nfs3/objects"]),
    ],
)
def test_a_name_is_found(word: str, found: list[str], selector: Selector) -> None:
    assert sorted(selector.translate(word)) == sorted(str(selector.suites / place) for place in found)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("nfs3/ranges/it_is_far", "nfs3/ranges/it_is_far is now called nfs3/READ/far-away"),
        (
            "nfs3/Ranges/it_is_far[2-gib]",
            "nfs3/Ranges/it_is_far[2-gib] is now called nfs3/READ/far-away[2-gib]",
        ),
        ("nfs3/ranges", "nfs3/ranges is now called nfs3/READ/far-away, nfs3/READ/works"),
        ("nfs3/READ/works", ""),
        ("nfs3/READ", ""),
        ("suites/nfs3/test_read.py::test_works", ""),
    ],
)
def test_an_old_name_has_a_new_one(word: str, text: str, selector: Selector) -> None:
    assert selector.renamed(word) == text


@pytest.mark.parametrize(
    "words", [["nfs3/READ/works"], ["nfs3/write/Works[udp]", "nfs3/handles/works"], ["mount/MNT/works"]]
)
def test_of_ids_of_one_folder_nothing_else_is_read(words: list[str], selector: Selector) -> None:
    all_read = Selector(selector.suites)
    outside = [
        file for file in selector.suites.rglob("test_*.py") if words[0].split("/")[0] not in file.parts
    ]
    expected = [all_read.translate(word) for word in words]
    for file in outside:
        file.unlink()
    selector.read_only_for(words)
    assert [selector.translate(word) for word in words] == expected


@pytest.mark.parametrize(
    "words", [["nfs3/READ*"], ["nfs3/READ/works", "mount/MNT/works"], ["nfs3"], ["READ"], []]
)
def test_for_other_words_all_is_read(words: list[str], selector: Selector) -> None:
    selector.read_only_for(words)
    assert selector.translate("mount/MNT/is-right") == Selector(selector.suites).translate(
        "mount/MNT/is-right"
    )


def test_what_is_in_the_current_folder_stays_a_path(selector: Selector, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").touch()
    assert selector.translate("test_mine.py::test_x") == ["test_mine.py::test_x"]


@pytest.mark.parametrize("word", ["nfs3/wrote", "nfs3/WRITE/work", "nfs4", "nfs3/x*", "nfs3/READ/works/x"])
def test_an_unknown_name_is_refused(word: str, selector: Selector) -> None:
    with pytest.raises(UnknownCheck, match=r"no check (has the id|and no server is called)"):
        selector.translate(word)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("nfs3/wrote", r"no check has the id nfs3/wrote; similar: nfs3/WRITE"),
        (
            "nfs3/WRITE/works[sctp]",
            r"nfs3/WRITE/works has no parameters \[sctp\]; there are \[tcp\], \[udp\]",
        ),
        ("nfs3/transport/removed", "^the check nfs3/transport/removed was removed$"),
        (
            "nfs3/ranges/it_is_far[1-gib]",
            r"^the check nfs3/ranges/it_is_far\[1-gib\] was removed; nfs3/READ/far-away is left of it$",
        ),
        (
            "nfs3/ranges/it_went",
            r"^the check nfs3/ranges/it_went was removed \(last called nfs3/READ/went\)$",
        ),
        (
            "127.0.0.1:24999/export",
            "^no check has the id 127.0.0.1:24999/export; for a server write nfs://127.0.0.1:24999/export$",
        ),
        ("", "^a target or a check is empty: is the variable set"),
        (
            "127.0.0.1:export",
            "^no check and no server is called 127.0.0.1:export; .* nfs://127.0.0.1/export$",
        ),
        ("ganehsa", "no check and no server is called ganehsa; similar: ganesha"),
        ("ganehsa:mem", "no check and no server is called ganehsa:mem; similar: ganesha:mem"),
    ],
)
def test_what_there_is_is_said(word: str, message: str, selector: Selector) -> None:
    with pytest.raises(UnknownCheck, match=message):
        selector.translate(word)


def test_a_word_that_is_neither_check_nor_server_gets_what_both_are(selector: Selector) -> None:
    with pytest.raises(
        UnknownCheck, match=r"--list-requirements.*: embedded, ganesha.* or nfs://HOST/EXPORT"
    ):
        selector.translate("my-host")


_WITH_AN_OLD_NAME = """
import runpy, sys
from reports.idlist import IdList
line, read = sys.argv.pop(1), IdList.parse
IdList.parse = lambda text: read(text + line)
runpy.run_module("nfsproof", run_name="__main__")
"""
"""The command line, with a line in the list of ids that no release has needed yet."""


def test_an_old_name_on_the_command_line_is_reported_once() -> None:
    old, new = (
        "nfs3/NULL/old-name",
        min(check_id for check_id in known_ids().present if check_id.startswith("nfs3/")),
    )
    line = f"# gone: {old} -> {new}\n"
    command = [sys.executable, "-c", _WITH_AN_OLD_NAME, line, "run", old, "--collect-only", "-q"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=AT_MOST)
    assert done.stderr == f"nfsproof: {old} is now called {new}\n"


def selected(*words: str) -> list[str]:
    """The node ids that a command line selects."""
    command = [sys.executable, "-m", "nfsproof", "run", *words, "--collect-only", "-q"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=AT_MOST)
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_one_of_several_parameters_runs_on_its_mutants_alone() -> None:
    name = next(
        check_id
        for check_id in sorted(known_ids().present)
        if check_id.startswith("nfs3/") and "[" in check_id
    )
    plain, on_mutants = selected(name), selected(name, "--mutants=pairs")
    assert len(plain) == 1
    assert len(on_mutants) > 1
    assert {check_id.partition("[")[0] for check_id in on_mutants} == {plain[0].partition("[")[0]}
    parameters = plain[0].partition("[")[2].removesuffix("]")
    assert all(parameters in check_id.partition("[")[2] for check_id in on_mutants)
