# SPDX-License-Identifier: MIT
"""Tests of nfsproof leave the HOME of the user alone: they have one for themselves."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from nfsproof import starter
from nfsproof.starter import OWN_HOME
from nfstargets.cache import PLACE
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
WRITES = "tests/cli/test_new_check.py::test_the_frame_is_void_until_it_is_filled_in"
"""A test that runs checks as a user does, so that pytest keeps for --lf what failed."""
RUNS = {
    "with-workers": ("-m", "nfsproof", "selftest", WRITES, "-n", "1"),
    "by-pytest": ("-m", "pytest", WRITES),
    "mutants": ("-m", "nfsproof", "selftest", "--mutants", "nfs3/NULL/no-results"),
    "drawn-knobs": ("-m", "nfsproof", "selftest", "--knobs=drawn:1-1", "nfs3/NULL"),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def user(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has run nfsproof before, and whose files must stay as they are."""
    home = tmp_path / "home"
    for name in (".cache/nfsproof/last-runs/0123456789abcdef/v/cache/lastfailed", ".config/x", ".profile"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("{}")
    ours = (OWN_HOME, PLACE, "HYPOTHESIS_STORAGE_DIRECTORY")
    left = {
        name: value for name, value in os.environ.items() if not name.startswith("XDG_") and name not in ours
    }
    return left | {"HOME": str(home), "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("words", RUNS.values(), ids=RUNS)
def test_no_file_of_the_user_is_changed(words: tuple[str, ...], user: dict[str, str], tmp_path: Path) -> None:
    before = contents(tmp_path)
    command = [sys.executable, "-P", *words]
    ended = subprocess.run(
        command, cwd=ROOT, env=user, capture_output=True, text=True, timeout=AT_MOST, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert contents(tmp_path) == before


def test_only_installed_servers_are_where_the_user_has_them(user: dict[str, str]) -> None:
    program = (
        "import os; from nfsproof import starter; made = starter.leave_the_home_of_the_user();"
        "from nfstargets.cache import cache_folder; print(cache_folder()); print(starter.cache_folder());"
        "print(os.path.expanduser('~')); print(starter.leave_the_home_of_the_user())"
    )
    command = [sys.executable, "-P", "-c", program]
    said = subprocess.run(
        command, env=user, capture_output=True, text=True, timeout=AT_MOST, check=True
    ).stdout
    servers, cache, home, again = map(Path, said.splitlines())
    assert servers == Path(user["HOME"]) / ".cache/nfsproof/servers"
    assert cache == home / ".cache/nfsproof"
    assert again == home != Path(user["HOME"])
    assert not home.exists()  # it goes with its process


def test_this_process_has_one() -> None:
    assert Path(os.environ[OWN_HOME]) == Path.home() != Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert starter.cache_folder().is_relative_to(Path.home())
