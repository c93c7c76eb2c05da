# SPDX-License-Identifier: MIT
"""`nfsproof regenerate`: what is generated is as it should be, and follows a change."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nfsproof import generated
from nfsproof.cli import commands
from nfsproof.exits import Exit
from nfsproof.unfilled import unfilled
from tests.waiting import AT_MOST

ROOT = Path(__file__).resolve().parents[2]
ROOMS = (
    "nfsclient",
    "nfsserver",
    "nfsmutants",
    "nfsjudge",
    "nfsfaults",
    "fixtures",
    "reports",
    "nfsproof",
    "baselines",
    "docs",
)


@pytest.mark.parametrize(
    "part", generated.parts(commands), ids=lambda part: f"{part.page} {getattr(part, 'name', '')}".strip()
)
def test_pages_have_the_declarations_as_they_are(part: generated.Part) -> None:
    text = (ROOT / "docs" / part.page).read_text(encoding="utf-8")
    assert text == part.expected(text), "bin/nfsproof regenerate"


def test_a_page_without_the_comments_is_refused() -> None:
    with pytest.raises(ValueError, match="no part between"):
        generated.PARTS[0].expected("# Knobs\n")


def test_nothing_is_left_to_fill_in() -> None:
    assert list(unfilled(ROOT)) == []


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A checkout whose suite is NULL of NFSv3."""
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "images"))
    (tmp_path / "suites/nfs3").mkdir(parents=True)
    for name in ("__init__.py", "nfs3/__init__.py", "nfs3/test_null.py"):
        shutil.copy(ROOT / "suites" / name, tmp_path / "suites" / name)
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def regenerate(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "nfsproof", "regenerate", *words],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )


def test_everything_is_written_and_compared(small: Path) -> None:
    knobs = small / "docs/knobs.md"
    right = knobs.read_text()
    knobs.write_text(right.replace("| `write_accepts` |", "| `write_takes` |"))
    stale = regenerate(small, "--check")
    assert stale.returncode == Exit.FAIL, stale.stderr
    assert "new, but not listed: nfs3/NULL/" in stale.stdout
    assert "-| `write_takes` |" in stale.stdout
    done = regenerate(small)
    assert done.returncode == Exit.OK, done.stdout + done.stderr
    assert "written: docs/knobs.md" in done.stdout
    assert "running 2 new checks on the embedded server" in done.stdout
    assert "written: suites/reach.txt" in done.stdout
    assert (
        "━━━ 0/2  48 %" in (small / "docs/guide.md").read_text()
    )  # the numbers are those of the list of ids
    assert knobs.read_text() == right
    assert "nfs3/NULL/" in (small / "suites/ids.txt").read_text()


def test_what_is_not_filled_in_is_red_and_stops_the_update(small: Path) -> None:
    check = small / "suites/nfs3/test_null.py"
    check.write_text(check.read_text() + "\n# FILL IN: more\n")
    done = regenerate(small)
    assert done.returncode == Exit.FAIL
    assert "not filled in: suites/nfs3/test_null.py:" in done.stdout
    assert not (small / "suites/ids.txt").exists()
