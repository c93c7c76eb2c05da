# SPDX-License-Identifier: MIT
"""A release: one version everywhere, the changelog names it, and the distributions hold what they should."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import typing as t
import zipfile
from pathlib import Path

import pytest

from fixtures.plugin.suite_version import suite_version
from nfsproof import __version__
from reports.idlist import known_ids
from tests.needs import need
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[1]
_MADE: t.Final = {"PKG-INFO", "built.json"}
"""What is in the source distribution and not in the checkout: hatchling makes the one, `hatch_build.py` the other."""


def run(*words: str) -> str:
    done = subprocess.run(
        words,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=AT_MOST,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def versions_in_changelog() -> list[str]:
    """The headings of CHANGELOG.md, the latest first."""
    return re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel and a source distribution, without the network."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(folder))
    return folder


def test_the_command_line_and_records_say_the_version() -> None:
    said = run(sys.executable, "-m", "nfsproof", "--version")
    assert re.fullmatch(rf"nfsproof {re.escape(__version__)}(\+\S+)?\n", said)
    assert suite_version().partition("+")[0] == __version__


def test_the_changelog_begins_with_this_version() -> None:
    found = versions_in_changelog()
    assert found[0] == __version__
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in found)
    assert found == sorted(
        found, key=lambda version: [int(part) for part in version.split(".")], reverse=True
    )


def test_the_list_of_ids_knows_the_last_release() -> None:
    """Ids of a release stay when they are gone: `# released: VERSION` in suites/ids.txt is one of the steps."""
    this, *before = versions_in_changelog()
    assert known_ids().released in {this, before[0] if before else ""}


def test_docs_name_no_other_version() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "action.yml", *(ROOT / "docs").rglob("*")]
    named = {
        (str(path.relative_to(ROOT)), version)
        for path in pages
        if path.suffix in {".md", ".yml", ".toml", ".1"}
        for version in re.findall(r"nfsproof(?:-|==|@v?| )(\d+\.\d+\.\d+)", path.read_text(encoding="utf-8"))
    }
    assert {version for _, version in named} == {__version__}, named


def test_the_wheel_has_the_version_and_the_commands(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    assert wheel.name == f"nfsproof-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        about = packed.read(f"nfsproof-{__version__}.dist-info/METADATA").decode()
        starts = packed.read(f"nfsproof-{__version__}.dist-info/entry_points.txt").decode()
    assert f"\nVersion: {__version__}\n" in about
    assert "nfsproof = nfsproof.__main__:main" in starts
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "nfsproof-report"))]
    assert {"nfsproof/_home/suites/ids.txt", "nfsproof/_home/baselines/embedded.toml"} <= set(names)


def test_the_source_has_what_git_has(distributions: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as packed:
        found = {member.name.partition("/")[2] for member in packed.getmembers() if member.isfile()}
    assert source.name == f"nfsproof-{__version__}.tar.gz"
    if not (ROOT / ".git").exists():
        pytest.skip("this is not a clone, but a copy")
    need("git")
    kept = set(run("git", "ls-files").splitlines()) | set(
        run("git", "ls-files", "--others", "--exclude-standard").splitlines()
    )
    assert found - kept == _MADE
