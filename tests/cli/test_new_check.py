# SPDX-License-Identifier: MIT
"""`nfsproof new-check` in a copy of the checkout: what it writes, that it is red, what it refuses."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.ids import folders
from nfsproof.cli import run_command_line
from nfsproof.exits import Exit
from nfsproof.newcheck import TESTS, CannotMake, Wish, make_plan, write_check
from nfsproof.newcheck.source import Source
from nfsproof.unfilled import unfilled
from tests.needs import needs
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
NewCheck = Callable[..., list[str]]


def copy(root: Path, *rooms: str) -> None:
    for room in rooms:
        shutil.copytree(ROOT / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copy(tmp_path, "suites", "nfsmutants")
    for room in (
        "fixtures",
        "nfsclient",
        "nfsjudge",
        "nfsserver",
    ):  # ruff recognises our packages by their folders
        (tmp_path / room).symlink_to(ROOT / room)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def new_check(root: Path, wish: Wish) -> list[str]:
    """What was written, each as FILE:LINE: WHAT."""
    return [str(change) for change in write_check(make_plan(wish, root), root)]


def ruff(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ruff", *words, "--no-cache", "suites", "nfsmutants"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def definitions(path: Path) -> dict[str, str]:
    """Source text of each definition and assignment in a file, by name."""
    text = path.read_text()
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            begin = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name] = "\n".join(text.splitlines()[begin - 1 : node.end_lineno])
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.get_source_segment(text, node) or ""
    return found


EVERY_PROTOCOL = [
    Wish("nfs3/RENAME/keeps-it", file="rename", title="RENAME keeps it.", level="MUST", section="3.3.14"),
    Wish("nfs3/wcc_data/links", clause="WCC_BEFORE_IS_PRE_OPERATION", procedures=("LINK", "rename")),
    Wish(
        "nfs3/SETATTR/older",
        file="setattr",
        clause="GUARD_IS_COMPARED_TO_CTIME",
        after="wrong-guard-not-sync",
    ),
    Wish("nfs3/quotas/by-user", file="quotas", procedures=("WRITE",), section="4.9"),
    Wish("nfs2/STATFS/steady", section="2.2.18", level="SHOULD", gist='blocks of "one" size'),
    Wish("mount/MNT/same-flavors", mutant="mnt3-forgets-flavors", procedures=("MNT1",)),
    Wish("mount/NULL/twice", section="5.2.0"),
    Wish("portmap/GETADDR/empty-netid", section="RFC 1833 2.2.1"),
    Wish("rpc/header/long-verifier", section="7.2"),
    Wish("rpc/tls/starts", file="tls", section="rfc5531:8"),
    Wish("nfs4/LOOKUP/keeps-it", title="LOOKUP keeps it.", level="MUST", section="18.13.3"),
]


@pytest.mark.parametrize("protocol", folders())
def test_the_types_of_fixtures_exist_and_other_checks_use_them(protocol: str) -> None:
    files = [path.read_text() for path in (ROOT / "suites" / protocol).glob("test_*.py")]
    for name, kind, module in importlib.import_module(f"suites.{protocol}").BEGINS_WITH:
        assert hasattr(importlib.import_module(module), kind)
        assert any(f"{name}: {kind}" in text for text in files)


@needs("ruff")
@pytest.mark.parametrize("wish", EVERY_PROTOCOL, ids=lambda wish: wish.id)
def test_what_is_written_is_red_and_nothing_else_is_wrong(root: Path, wish: Wish) -> None:
    new_check(root, wish)
    formatted = ruff(root, "format", "--check")
    assert formatted.returncode == 0, formatted.stdout
    linted = ruff(root, "check", "--output-format=concise")
    complaints = [line for line in linted.stdout.splitlines() if ".py:" in line]
    assert len(complaints) == 2, linted.stdout
    assert all("F821" in line and "FILL_IN" in line for line in complaints)


def test_check_clause_and_mutant_stand_where_they_belong(root: Path) -> None:
    written = new_check(root, EVERY_PROTOCOL[0])
    suite = definitions(root / "suites/nfs3/test_rename.py")
    mutants = definitions(root / "nfsmutants/nfs3/rename.py")
    assert suite["test_keeps_it"] == (
        '@proves(KEEPS_IT_FILL_IN, killed_by="rename3-fill-in-keeps-it")\n'
        "def test_keeps_it(nfs3: Nfs3, scratch: Nfs3Scratch) -> None:\n"
        '    """RENAME keeps it."""\n'
        "    FILL_IN(nfs3, scratch)  # arrange, do one act, judge one thing with expect()"
    )
    gist = "FILL IN: the clause in your own words"
    assert suite["KEEPS_IT_FILL_IN"] == f'KEEPS_IT_FILL_IN = must("RFC 1813", "3.3.14", "{gist}")'
    assert mutants["rename3_fill_in_keeps_it"] == (
        "@mutant(RENAME)\n"
        "def rename3_fill_in_keeps_it(call: Rename) -> Rename3Res:\n"
        '    """FILL IN: what RENAME does wrong, in one sentence"""\n'
        "    return FILL_IN(call.proceed())"
    )
    for line in written:
        file, number, _ = line.split(":", 2)
        assert (root / file).read_text().splitlines()[int(number) - 1].startswith(("def ", "KEEPS_IT"))


def test_a_mutant_is_written_as_those_of_its_file_are(root: Path) -> None:
    new_check(root, Wish("nfs4/READLINK/twice", mutant="readlink4-once-only"))
    path = root / "nfsmutants/nfs4/readlink.py"
    assert definitions(path)["readlink4_once_only"] == (
        "@mutant(p.READLINK)\n"
        "def readlink4_once_only(call: Readlink) -> p.Readlink4Res:\n"
        '    """FILL IN: what READLINK does wrong, in one sentence"""\n'
        "    return FILL_IN(call.proceed())"
    )
    assert (
        "READLINK" not in path.read_text().partition("Readlink = Call")[0].partition("import annotations")[2]
    )


def test_the_guide_ends_with_the_tests_that_a_new_check_can_break() -> None:
    guide = (ROOT / "docs" / "writing-a-check.md").read_text()
    assert " ".join(["bin/nfsproof selftest", *TESTS]) in " ".join(guide.replace("\\\n", " ").split())
    assert all((ROOT / words.partition("::")[0]).exists() for words in TESTS)


def test_a_new_subject_gets_files_that_mirror_each_other(root: Path) -> None:
    new_check(root, EVERY_PROTOCOL[3])
    suite = (root / "suites/nfs3/test_quotas.py").read_text()
    mutants = (root / "nfsmutants/nfs3/quotas.py").read_text()
    assert suite.startswith(
        '# SPDX-License-Identifier: MIT\n"""FILL IN: what quotas is about (RFC 1813 section 4.9)."""'
    )
    assert '"""Mutants that the checks in suites/nfs3/test_quotas.py catch."""' in mutants


def test_a_check_stands_after_another_and_its_mutant_too(root: Path) -> None:
    new_check(root, EVERY_PROTOCOL[2])
    checks = list(Source(root / "suites/nfs3/test_setattr.py").functions())
    mutants = list(Source(root / "nfsmutants/nfs3/setattr.py").functions())
    assert checks.index("test_older") == checks.index("test_wrong_guard_not_sync") + 1
    assert mutants.index("setattr3_fill_in_older") == mutants.index("setattr3_wrong_guard_is_inval") + 1


def test_a_mutant_that_exists_is_named_and_not_written(root: Path) -> None:
    before = (root / "nfsmutants/nfs3/commit.py").read_text()
    wish = Wish("nfs3/SETATTR/again", file="setattr", mutant="setattr3-ignores-guard")
    written = new_check(root, wish)
    assert len(written) == 2
    assert (root / "nfsmutants/nfs3/commit.py").read_text() == before
    assert (
        'killed_by="setattr3-ignores-guard"'
        in definitions(root / "suites/nfs3/test_setattr.py")["test_again"]
    )


def test_places_to_fill_in_are_found(root: Path) -> None:
    assert list(unfilled(root)) == []
    new_check(root, EVERY_PROTOCOL[3])
    found = list(unfilled(root))
    assert {line.partition(":")[0] for line in found} == {
        "nfsmutants/nfs3/quotas.py",
        "suites/nfs3/test_quotas.py",
    }


REFUSED = [
    (Wish("nfs3/NULL/no-results"), "nfs3/NULL/no-results is taken"),
    (Wish("nfs3/RENAME/keeps-it"), "--file rename or --file rename_objects"),
    (Wish("nfs3/RENAME/keeps-it", file="remove"), "would be about REMOVE, not RENAME"),
    (Wish("nfs3/rename/keeps-it"), "write nfs3/RENAME/keeps-it"),
    (Wish("nfs3/RENAM/keeps-it"), "similar: RENAME"),
    (Wish("nfs5/OPEN/x"), "expected one of nfs2, nfs3, nfs4, snfs, mount, portmap, rpc"),
    (Wish("nfs3/COMMIT/a-b-c-d-e"), "at most 4 are allowed"),
    (Wish("nfs3/COMMIT/" + "a" * 60), "at most 48 are allowed"),
    (Wish("nfs3/COMMIT/x[y]"), "without parameters"),
    (Wish("COMMIT"), "expected PROTOCOL/SUBJECT/slug"),
    (Wish("nfs3/quotas/x", section="4.9"), "--file quotas makes it"),
    (Wish("nfs3/wcc_data/x", section="2.5"), "--procedure NAME"),
    (Wish("nfs3/wcc_data/x", section="2.5", procedures=("LINKS",)), "similar: LINK"),
    (Wish("nfs3/wcc_data/x"), "which section"),
    (Wish("nfs3/COMMIT/x", section="3..3"), "expected 3.3.14"),
    (Wish("nfs3/COMMIT/x", clause="RETURNS_EXISTS"), "similar: RETURNS_EXIST"),
    (Wish("nfs3/COMMIT/x", clause="RETURNS_EXIST", level="MUST"), "are for a new clause"),
    (Wish("nfs3/COMMIT/x", clause="not a name"), "no name of a constant"),
    (Wish("nfs3/COMMIT/x", mutant="What?"), "--mutant"),
    (Wish("nfs3/COMMIT/x", title='says "x"'), "--title"),
    (Wish("nfs3/COMMIT/x", gist="two\nlines"), "--gist"),
    (Wish("nfs3/COMMIT/x", after="nothing"), "no check nothing in suites/nfs3/test_commit.py"),
]


@pytest.mark.parametrize(("wish", "why"), REFUSED, ids=[str(number) for number in range(len(REFUSED))])
def test_what_is_refused_leaves_no_trace(root: Path, wish: Wish, why: str) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.py")}
    with pytest.raises(CannotMake, match=re.escape(why)):
        new_check(root, wish)
    assert {path: path.read_bytes() for path in root.rglob("*.py")} == before


def test_names_of_the_past_are_refused(root: Path) -> None:
    ids = root / "suites/ids.txt"
    ids.write_text(
        ids.read_text() + "# gone: nfs3/NULL/old\n# gone: nfs3/NULL/older -> nfs3/NULL/no-results\n"
    )
    with pytest.raises(CannotMake, match="removed check"):
        make_plan(Wish("nfs3/NULL/old"), root)
    with pytest.raises(CannotMake, match="old name of nfs3/NULL/no-results"):
        make_plan(Wish("nfs3/NULL/older"), root)


def test_a_check_that_is_not_listed_yet_is_taken(root: Path) -> None:
    new_check(root, EVERY_PROTOCOL[0])
    with pytest.raises(CannotMake, match=r"test_rename\.py has it"):
        make_plan(EVERY_PROTOCOL[0], root)


def test_a_file_that_is_full_is_refused(root: Path) -> None:
    path = root / "nfsmutants/nfs3/commit.py"
    path.write_text(path.read_text() + "# more\n" * 600)
    with pytest.raises(CannotMake, match="600 are allowed"):
        new_check(root, Wish("nfs3/COMMIT/x"))
    assert list(unfilled(root)) == []


def test_an_installed_nfsproof_has_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nfsproof.starter.is_checkout", lambda: False)
    for words in (["new-check", "nfs3/NULL/x"], ["regenerate"]):
        assert run_command_line(words) == Exit.USAGE
        assert "needs a checkout of nfsproof" in capsys.readouterr().err


class TestSource:
    @pytest.mark.parametrize(
        ("there", "module", "name", "expected"),
        [
            ("from a import b", "nfsjudge", "proves", "from a import b\n\nfrom nfsjudge import proves"),
            (
                "from suites.x import y",
                "nfsjudge",
                "proves",
                "from nfsjudge import proves\nfrom suites.x import y",
            ),
            ("from nfsjudge import Z, a", "nfsjudge", "Level", "from nfsjudge import Level, Z, a"),
            ("from nfsjudge import a", "nfsjudge", "a", "from nfsjudge import a"),
            (
                "from nfsjudge import a as b",
                "nfsjudge",
                "a",
                "from nfsjudge import a as b\nfrom nfsjudge import a",
            ),
        ],
    )
    def test_imports(self, there: str, module: str, name: str, expected: str) -> None:
        head = "from __future__ import annotations\n\n"
        source = Source(Path("x.py"), f"{head}{there}\n")
        source.add_import(module, name)
        assert source.text == f"{head}{expected}\n"

    def test_a_long_import_is_wrapped(self) -> None:
        names = [f"A_LONG_NAME_OF_A_CONSTANT_{number}" for number in range(4)]
        source = Source(Path("x.py"), f"from suites.x import {', '.join(names[:3])}\n")
        source.add_import("suites.x", names[3])
        assert source.lines == ["from suites.x import (", *(f"    {name}," for name in names), ")"]


def test_the_frame_is_void_until_it_is_filled_in(tmp_path: Path) -> None:
    copy(
        tmp_path,
        "suites",
        "nfsmutants",
        "nfsclient",
        "nfsserver",
        "nfsjudge",
        "nfsfaults",
        "fixtures",
        "reports",
    )
    copy(tmp_path, "nfsproof", "baselines")
    new_check(tmp_path, Wish("nfs3/COMMIT/something"))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-m", "nfsproof", *words, "nfs3/COMMIT/something", "--progress=off"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=AT_MOST,
            check=False,
        )

    done = run("run", "embedded")
    assert done.returncode == Exit.VOID
    assert "FILL_IN" in done.stdout
    assert run("selftest", "--mutants").returncode == Exit.FAIL
