# SPDX-License-Identifier: MIT
"""`pytest --target` in folders and projects of others, by the entry point of an installation.

The same from a wheel: .ci/wheel-test.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from fixtures import plugin
from reports.idlist import IdList
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
CHECK = "nfs3/NULL/no-results"
NODE = "suites/nfs3/test_null.py::test_no_results"

if not entry_points(group="pytest11", name="nfsproof"):
    pytest.skip("nfsproof is not installed here, so pytest does not know it", allow_module_level=True)


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """pytest as its users start it."""
    ours = ("PYTEST_", "PYTHONSAFEPATH", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=cwd,
        env=environment | {"HOME": str(cwd), "XDG_CACHE_HOME": str(cwd.parent / "cache")},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    made = tmp_path / "a project"
    made.mkdir()
    return made


def test_an_empty_folder(folder: Path) -> None:
    words = (CHECK, "mount/NULL/answ*", "suites.portmap.test_null", NODE.replace("nfs3", "nfs2"))
    ended = run("--target", "embedded", *words, "--pyargs", "-v", cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for node in (NODE, NODE.replace("nfs3", "nfs2"), "suites/mount/test_null.py::test_answered"):
        assert f"{node} PASSED" in ended.stdout
    assert "suites/portmap/test_null.py::" in ended.stdout
    assert (folder / "nfsproof-report" / "1" / "records.jsonl").is_file()
    assert {path.name for path in folder.iterdir()} == {"nfsproof-report", ".pytest_cache"}


def test_without_words_the_whole_suite_is_selected(folder: Path) -> None:
    ended = run("--target", "embedded", "--collect-only", "-q", "-p", "no:cacheprovider", cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    nodes = [line for line in ended.stdout.splitlines() if "::" in line]
    assert len(nodes) == len(IdList.read(ROOT / "suites" / "ids.txt").promised("embedded"))
    assert all(node.startswith("suites/") for node in nodes)
    assert list(folder.iterdir()) == []


def test_without_a_target_nothing_is_there(folder: Path) -> None:
    write(
        folder,
        {
            "test_own.py": """
import sys

def test_nothing_is_loaded():
    ours = {"nfsclient", "nfsjudge", "nfsserver", "nfstargets", "fixtures", "suites", "reports", "rich", "jinja2"}
    assert not ours & {name.partition(".")[0] for name in sys.modules}
    assert {name for name in sys.modules if name.startswith("nfsproof")} == {"nfsproof", "nfsproof.pytest_plugin"}

def test_no_options_fixtures_and_markers(request):
    assert not hasattr(request.config.option, "target") and not hasattr(request.config.option, "lint")
    assert request.session._fixturemanager.getfixturedefs("nfs3", request.node) is None
    assert not any(line.startswith("exclusive") for line in request.config.getini("markers"))
"""
        },
    )
    ended = run("-q", cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout
    assert "verdicts" not in ended.stdout
    assert not (folder / "nfsproof-report").exists()


def test_help_leads_to_all_options(folder: Path) -> None:
    short, long = run("--help", cwd=folder).stdout, run("--target", "embedded", "--help", cwd=folder).stdout
    assert "--target=TARGET" in short
    assert "--strict-should" not in short
    for option in ("--target=TARGET", "--strict-should", "--baseline=FILE", "--report=DIR", "--section"):
        assert option in long


OWN_TARGET = """
def pytest_addoption(parser):
    parser.addoption("--target", default="stable")
"""


def test_an_option_of_the_user_with_this_name_stays_the_users(folder: Path) -> None:
    test = "def test_it(pytestconfig): assert pytestconfig.option.target == 'beta'\n"
    write(folder, {"conftest.py": OWN_TARGET, "test_own.py": test})
    ended = run("-q", "--target", "beta", cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed" in ended.stdout
    assert run("--help", cwd=folder).returncode == 0


CONFTEST = """
import pytest
import fixtures.of_the_user

def pytest_addoption(parser):
    parser.addoption("--mine", default="")

@pytest.fixture
def root(): raise RuntimeError("the root of the user")

@pytest.fixture
def stage(): raise RuntimeError("the stage of the user")

@pytest.fixture
def scratch(): return "the scratch of the user"
"""
SETTINGS = """
[pytest]
addopts = --mine=3 -ra --strict-markers --import-mode={mode}
filterwarnings = error
python_files = check_*.py
python_functions = should_*
norecursedirs = nfs3 suites lib site-packages
testpaths = checks
strict_config = true
xfail_strict = true
consider_namespace_packages = true
"""


@pytest.mark.parametrize(
    ("mode", "workers"), [("prepend", ["-n2"]), ("importlib", [])], ids=["prepend", "importlib"]
)
def test_a_project_of_others_cannot_disturb(folder: Path, mode: str, workers: list[str]) -> None:
    write(
        folder,
        {
            "conftest.py": CONFTEST,
            "pytest.ini": SETTINGS.format(mode=mode),
            "fixtures/__init__.py": "",
            "fixtures/of_the_user.py": "",
            "suites/__init__.py": "raise SystemExit('suites of the user')",
            "reports/__init__.py": "raise SystemExit('reports of the user')",
            "nfs3/check_traps.py": "raise SystemExit('nfs3 of the user')",
        },
    )
    ended = run("--target", "embedded", "nfs3/NULL", "nfs3/LOOKUP/finds-object", "-q", *workers, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"\b\d+ passed in", ended.stdout)
    assert "warning" not in ended.stdout


OWN_TESTS = """
def test_uses_fixtures(nfs3, scratch, target):
    assert nfs3.getattr(scratch.handle).resok.obj_attributes.type == 2
    assert target.has("symlink")

def test_uses_nfs4(session, v4):
    assert v4.scratch.handle

def test_uses_that_of_the_conftest(root):
    assert root == "the user's"

def test_fails():
    assert not "as the user wants"
"""
OWN_FIXTURE = 'import pytest\n@pytest.fixture\ndef root(): return "the user\'s"\n'


def test_own_tests_use_fixtures_and_their_failures_count(folder: Path) -> None:
    example = re.search(
        r"(?m)^    def test_greeting.*\n(?:     .*\n)+", (ROOT / "docs" / "pytest.md").read_text("utf-8")
    )
    assert example is not None
    tests = {"test_own.py": OWN_TESTS, "test_example.py": textwrap.dedent(example[0])}
    write(folder, {"conftest.py": OWN_FIXTURE} | {f"tests/{name}": text for name, text in tests.items()})
    ended = run("--target", "embedded", "tests", CHECK, "-q", cwd=folder)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "1 failed, 5 passed" in ended.stdout
    assert "as the user wants" in ended.stdout
    # A baseline is about checks: it excuses no test of somebody else.
    known = run("--target", "embedded", "tests", CHECK, "-q", "--baseline", "embedded", cwd=folder)
    assert known.returncode == 1, known.stdout + known.stderr
    others = run("--target", "embedded", "tests", CHECK, "-q", "-k", "not fails", cwd=folder)
    assert others.returncode == 0, others.stdout + others.stderr


def test_two_packages_of_one_name_end_in_one_line(folder: Path) -> None:
    files = ("fixtures/__init__.py", "fixtures/mine.py", "tests/test_own.py")
    write(folder, {"conftest.py": "import fixtures.mine", **dict.fromkeys(files, "")})
    ended = run("--target", "embedded", "tests", CHECK, cwd=folder)
    assert (ended.returncode, ended.stdout) == (4, "")
    assert re.fullmatch(
        r"ERROR: your tests \(tests\) and nfsproof both have a package fixtures,[^\n]*\n\n?", ended.stderr
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nfs3/WRITTE",), "no check has the id nfs3/WRITTE; similar: nfs3/WRITE"),
        (("--section", "99", CHECK), "none of the checks is about 99"),
    ],
    ids=["id", "section"],
)
def test_mistakes_end_in_one_line(folder: Path, words: tuple[str, ...], said: str) -> None:
    ended = run("--target", "embedded", *words, cwd=folder)
    assert ended.returncode == 4
    assert said in ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr


def test_it_can_be_switched_off(folder: Path) -> None:
    ended = run("-p", "no:nfsproof", "--target", "embedded", CHECK, cwd=folder)
    assert ended.returncode == 4
    assert "unrecognized arguments: --target" in ended.stderr


def test_other_options_of_pytest_work(folder: Path) -> None:
    words = ("--target=embedded", "nfs3/NULL", "--mutant", "null3-returns-results")
    red = run(*words, "-x", "--junitxml=x.xml", "--log-wire=wire.log", "--report=out", cwd=folder)
    assert red.returncode == 1, red.stdout + red.stderr
    assert 'classname="suites.nfs3.test_null"' in (folder / "x.xml").read_text()
    assert "nfs3/NULL/" in (folder / "wire.log").read_text()
    assert (folder / "out" / "report.html").is_file()
    again = run(*words, "--lf", cwd=folder)
    assert "deselected / 1 selected" in again.stdout, again.stdout
    # The traffic of a check that passes is no reason to run it again.
    assert run("--target=embedded", "nfs3/NULL", "--lf", cwd=folder).returncode == 0


def test_words_name_checks_in_a_checkout_too() -> None:
    words = ("--target", "embedded", CHECK, "--collect-only", "-q", "-p", "no:cacheprovider")
    ended = run(*words, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[0] == NODE


def test_a_pytest_that_lacks_something_ends_in_one_line() -> None:
    hidden = (
        "import importlib.util as u, sys, pytest; found = u.find_spec; "
        "u.find_spec = lambda name, *more: None if name == 'rich' else found(name, *more); "
        "sys.exit(pytest.main(sys.argv[1:]))"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ended = subprocess.run(
        [sys.executable, "-c", hidden, "--target", "embedded", CHECK],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )
    assert ended.returncode == 4
    (line,) = filter(None, ended.stderr.splitlines())
    assert re.fullmatch(r"ERROR: nfsproof: this pytest \(.*\) lacks rich; use bin/nfsproof run, or .*", line)
    with pytest.raises(pytest.UsageError, match="lacks no_such_module"):
        plugin._require(("rich", "no_such_module"))
