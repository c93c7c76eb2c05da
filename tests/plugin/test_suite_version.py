# SPDX-License-Identifier: MIT
"""Records say which checks judged: the version, and in a checkout the commit."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fixtures.plugin.suite_version import HOME, commit_here, suite_version
from nfsproof import __version__
from tests.needs import need
from tests.waiting import AT_MOST


def git(folder: Path, *words: str) -> None:
    need("git")
    who = ["-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, timeout=AT_MOST)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like one, below a repository of something else."""
    git(tmp_path, "init", "-q")
    home = tmp_path / "checkout"
    (home / "nfsproof").mkdir(parents=True)
    (home / "nfsproof" / "__init__.py").write_text('"""x"""\n\n__version__ = "1.2.3"\n')
    return home


def test_this_one_says_the_version_that_the_command_says() -> None:
    assert suite_version().startswith(f"{__version__}+")


def test_without_its_own_repository_it_is_a_checkout(checkout: Path) -> None:
    assert suite_version(checkout) == "1.2.3+checkout"


def test_the_commit_is_reported_and_whether_it_was_changed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(checkout, "init", "-q")
    assert suite_version(checkout) == "1.2.3+checkout"
    git(checkout, "add", ".")
    git(checkout, "commit", "-q", "-m", "x")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert re.fullmatch(r"1\.2\.3\+[0-9a-f]{9}", suite_version(checkout))
    monkeypatch.delenv("GIT_DIR")
    (checkout / "nfsproof" / "__init__.py").write_text('__version__ = "1.2.4"\n')
    assert re.fullmatch(r"1\.2\.4\+[0-9a-f]{9}-dirty", suite_version(checkout))


def test_a_machine_without_git_is_no_error(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(checkout, "init", "-q")
    monkeypatch.setenv("PATH", "")
    assert suite_version(checkout) == "1.2.3+checkout"


def test_the_commit_of_the_tree_that_a_run_starts_in_is_known(checkout: Path) -> None:
    inner = checkout / "nfsproof"
    assert commit_here(inner, {}) == ""
    git(checkout.parent, "add", ".")
    git(checkout.parent, "commit", "-q", "-m", "x")
    assert re.fullmatch(r"[0-9a-f]{9}", commit_here(inner, {}))


def test_a_ci_job_says_which_commit_it_tests(checkout: Path) -> None:
    assert commit_here(checkout, {"GITHUB_SHA": "0123456789abcdef"}) == "012345678"
    assert commit_here(checkout, {"CI_COMMIT_SHA": "$(id)"}) == ""


def test_the_checkout_of_nfsproof_says_nothing_about_a_server() -> None:
    assert commit_here(HOME / "suites", {}) == ""
