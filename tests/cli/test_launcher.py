# SPDX-License-Identifier: MIT
"""bin/nfsproof in a copy of a miniature checkout: what it says when it cannot work, what it makes otherwise.

The miniature project installs without any package index. The real first use is a step of .ci/run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import AT_MOST

LAUNCHER = Path(__file__).resolve().parents[2] / "bin" / "nfsproof"
TOOLS = (
    "cat",
    "cksum",
    "dirname",
    "ls",
    "mkdir",
    "readlink",
    "rm",
    "sed",
    "sleep",
    "sh",
    "tail",
    "uname",
    "grep",
)

PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "nfsproof"
version = "1"
"""
BACKEND = '''
"""Makes the editable wheel by hand, so that no build tool has to be fetched."""
import pathlib, zipfile

def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    info, name = "nfsproof-1.dist-info", "nfsproof-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        wheel.writestr("nfsproof.pth", str(pathlib.Path.cwd()))
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: nfsproof\\nVersion: 1\\n")
        lines = ("Wheel-Version: 1.0", "Generator: x", "Root-Is-Purelib: true", "Tag: py3-none-any", "")
        wheel.writestr(f"{info}/WHEEL", "\\n".join(lines))
        wheel.writestr(f"{info}/RECORD", "")
    return name
'''
ECHO = "import json, sys; print(json.dumps(sys.argv[1:])); sys.exit(17)\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A miniature checkout, with a blank in its path."""
    root = tmp_path / "a checkout"
    (root / "bin").mkdir(parents=True)
    (root / "nfsproof").mkdir()
    shutil.copy(LAUNCHER, root / "bin" / "nfsproof")
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "backend.py").write_text(BACKEND)
    (root / "nfsproof" / "__init__.py").write_text("")
    (root / "nfsproof" / "__main__.py").write_text(ECHO)
    return root


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder for PATH that holds the shell's tools and no Python."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in TOOLS:
        place = shutil.which(name)
        assert place is not None
        (folder / name).symlink_to(place)
    return folder


def fake_python(folder: Path, body: str) -> None:
    """A python3 that answers with a few lines of shell."""
    (folder / "python3").write_text(f"#!/bin/sh\n{body}\n")
    (folder / "python3").chmod(0o755)


def launch(
    program: Path, *words: str, path: Path | None = None, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the launcher with a bounded wait."""
    environment = {
        "PATH": str(path) if path else os.environ["PATH"],
        "HOME": str(program.parent),
        **variables,
    }
    return subprocess.run(
        [str(program), *words],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=AT_MOST,
        check=False,
    )


def test_old_python_is_named(tree: Path, tools: Path) -> None:
    fake_python(tools, '[ "$1" = --version ] && echo "Python 3.9.2" && exit 0; exit 1')
    ended = launch(tree / "bin" / "nfsproof", path=tools)
    assert ended.returncode == 4
    assert ended.stderr.startswith("nfsproof: Python 3.11 or newer is needed, found: Python 3.9.2\n")


def test_missing_python_is_said(tree: Path, tools: Path) -> None:
    ended = launch(tree / "bin" / "nfsproof", path=tools)
    assert ended.returncode == 4
    assert "found: no python3 in PATH" in ended.stderr


def test_missing_venv_names_the_package(tree: Path, tools: Path) -> None:
    fake_python(tools, 'case "$2" in *ensurepip*) exit 1 ;; esac')
    ended = launch(tree / "bin" / "nfsproof", path=tools)
    assert ended.returncode == 4
    assert "apt install python3-venv" in ended.stderr
    assert not (tree / ".venv.lock").exists()


def test_wrong_interpreter_is_named(tree: Path) -> None:
    ended = launch(tree / "bin" / "nfsproof", NFSPROOF_PYTHON="/no/such/python")
    assert ended.returncode == 4
    assert "NFSPROOF_PYTHON=/no/such/python" in ended.stderr


def test_a_folder_in_other_use_is_left_alone(tree: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "letter").write_text("dear")
    ended = launch(tree / "bin" / "nfsproof", NFSPROOF_PYTHON=sys.executable, NFSPROOF_VENV=str(precious))
    assert ended.returncode == 4
    assert (precious / "letter").read_text() == "dear"


def test_unreachable_index_is_said_with_the_log(tree: Path) -> None:
    (tree / "pyproject.toml").write_text(PYPROJECT.replace("[]", '["no-such-builder"]'))
    ended = launch(
        tree / "bin" / "nfsproof",
        NFSPROOF_PYTHON=sys.executable,
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_RETRIES="0",
    )
    assert ended.returncode == 4
    assert "is the package index reachable from here?" in ended.stderr
    assert (tree / ".venv.log").exists()
    assert not (tree / ".venv" / "nfsproof-stamp").exists()
    assert not (tree / ".venv.lock").exists()


def test_first_use_installs_and_the_next_only_runs(tree: Path, tmp_path: Path) -> None:
    link = tmp_path / "anywhere"
    link.symlink_to(tree / "bin" / "nfsproof")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "json.py").write_text("raise SystemExit('imported from the current folder')\n")
    # A set-up that was killed left its lock: an impossible process on this machine.
    (tree / ".venv.lock").mkdir()
    (tree / ".venv.lock" / "owner").write_text(f"99999999@{os.uname().nodename}\n")

    first = launch(
        link, "run", "a b", "--x=*", cwd=elsewhere, NFSPROOF_PYTHON=sys.executable, PYTHONPATH="/nowhere"
    )
    second = launch(link, cwd=elsewhere)

    assert (first.returncode, first.stdout) == (17, '["run", "a b", "--x=*"]\n'), first.stderr
    assert "first use: installing into" in first.stderr
    assert first.stderr.endswith("nfsproof: ready\n")
    assert (second.returncode, second.stdout, second.stderr) == (17, "[]\n", "")
    assert not (tree / ".venv.lock").exists()
