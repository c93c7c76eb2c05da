# SPDX-License-Identifier: MIT
"""A checkout of pynfs: whether it is one, whether it is built, the Python that can run it, and its codes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import typing as t
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nfsclient.similar import similar_text
from nfsproof.exits import Trouble
from nfsproof.starter import cache_folder
from nfstargets.machine import allowed
from reports.plain import printable

PROGRAM: t.Final = "testserver.py"
REBOOT: t.Final = "reboot"
"""The flag of tests that ask a person, or a program of the user, to restart the server."""
_LIST_SECONDS: t.Final = 60.0
_MOST_CODES: t.Final = 20_000
_CODE: t.Final = re.compile(r"[A-Za-z0-9_.-]{1,60}")
_FLAGS: t.Final = " FLAGS: "
_MISSING: t.Final = re.compile(r"^ModuleNotFoundError: No module named '([\w.]{1,80})'", re.MULTILINE)
_MADE: t.Final = re.compile(r"(xdrdef|rpc)(\.|$)|\w+_(const|type|pack)$")
"""Modules that the build step of pynfs makes."""
_PACKAGES: t.Final = {"xdrlib": "xdrlib3"}
"""Module -> the package that has it, where the names differ."""
_TREES: t.Final = {
    0: ("nfs4.0", "pynfs40", "nfs4.1/xdrdef/nfs4_const.py", "nfs4.0/lib/rpc/rpc_const.py"),
    1: ("nfs4.1", "pynfs41", "nfs4.1/xdrdef/nfs4_const.py", "rpc/rpc_const.py"),
}
"""Minor version -> the folder with its tests, the protocol of its records, and files that the build step makes."""
_HEX: t.Final = re.compile(r"[0-9a-f]{40}\n?")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout that can be run."""

    folder: Path
    """The checkout."""
    minor: int
    """The minor version of NFSv4 that is tested: 0, 1 or 2."""
    python: str
    """The interpreter."""
    codes: Mapping[str, tuple[str, ...]]
    """The code of each test -> its flags."""
    commit: str
    """Its first digits; empty if it is not known."""

    @property
    def tree(self) -> Path:
        """The folder with the tests of this minor version."""
        return self.folder / _TREES[min(self.minor, 1)][0]

    @property
    def protocol(self) -> str:
        """As in ids: ``pynfs40`` or ``pynfs41``."""
        return _TREES[min(self.minor, 1)][1]

    @property
    def command(self) -> list[str]:
        """What starts its test program."""
        return [self.python, "-u", str(self.tree / PROGRAM)]

    def select(self, words: t.Sequence[str]) -> list[str]:
        """The codes that words mean: codes and flags; a leading ``no`` excludes, and the last word counts.

        Raises `Trouble` for a word that is none.
        """
        flags = {flag for its in self.codes.values() for flag in its}
        chosen: dict[str, bool] = {}
        for word in words:
            is_wanted = not word.lower().startswith("no")
            name = word if is_wanted else word[2:]
            if name in self.codes:
                chosen[name] = is_wanted
            elif name in flags:
                chosen |= {code: is_wanted for code, listed in self.codes.items() if name in listed}
            else:
                near = similar_text(name, [*self.codes, *flags])
                raise Trouble(f"pynfs has no code and no flag {printable(name)!r}{near}")
        return [code for code in self.codes if chosen.get(code, False)]


def open_checkout(folder: Path, minor: int, python: str = "") -> Checkout:
    """The checkout in a folder. Raises `Trouble` that says what is missing, and how to get it."""
    tree, _, *made = _TREES[min(minor, 1)]
    if not (folder / tree / PROGRAM).is_file():
        raise Trouble(
            f"expected a checkout of pynfs, but there is no {folder / tree / PROGRAM}; "
            "pynfs is a separate program: git clone https://github.com/kofemann/pynfs"
        )
    if not all((folder / path).is_file() for path in made):
        raise Trouble(f"{folder} is not built: run\n{_build_steps(folder)}")
    chosen = _python_of(folder, python)
    return Checkout(folder, minor, chosen, _codes(folder, folder / tree, chosen), _commit(folder))


def _build_steps(folder: Path) -> str:
    return (
        f"    cd {folder}\n"
        "    python3 -m venv .venv && .venv/bin/pip install setuptools ply xdrlib3\n"
        '    PATH="$PWD/.venv/bin:$PATH" ./setup.py build\n'
        "as its README says"
    )


def _python_of(folder: Path, wanted: str) -> str:
    """The interpreter: the one that the user names, that of an environment in the checkout, or that of the system."""
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise Trouble(f"--python: there is no program {wanted}")
        return found
    inside = (folder / name / "bin" / "python" for name in (".venv", "venv"))
    named = next((str(path) for path in inside if path.is_file()), None)
    return named or shutil.which("python3") or sys.executable


def environment() -> dict[str, str]:
    """The environment of its processes: no settings of Python that are about nfsproof, and nothing is written there."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    return kept | {
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "PYTHONPYCACHEPREFIX": str(cache_folder() / "pynfs"),
    }


def _codes(folder: Path, tree: Path, python: str) -> dict[str, tuple[str, ...]]:
    """Its codes with their flags. Raises `Trouble`."""
    command = [python, "-u", str(tree / PROGRAM), "--showcodesflags"]
    try:
        listed = subprocess.run(
            command,
            cwd=tree,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="backslashreplace",
            timeout=allowed(_LIST_SECONDS),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Trouble(f"{tree / PROGRAM} --showcodesflags does not end") from None
    except OSError as error:
        raise Trouble(f"cannot start {python}: {error.strerror or error}") from error
    if listed.returncode:
        raise Trouble(_why_not(folder, python, listed.stderr))
    found: dict[str, tuple[str, ...]] = {}
    for line in listed.stdout.splitlines():
        code, mark, flags = line.partition(_FLAGS)
        if mark and _CODE.fullmatch(code) and len(found) < _MOST_CODES:
            found[code] = tuple(flags.split(", "))
    if not found:
        raise Trouble(f"{tree / PROGRAM} --showcodesflags lists no code: is it another program?")
    return found


def _why_not(folder: Path, python: str, errors: str) -> str:
    """Why its program does not start, and what to do."""
    missing = _MISSING.search(errors)
    if missing is None:
        last = next((line for line in reversed(errors.splitlines()) if line.strip()), "no output")
        return f"pynfs does not start with {python}: {printable(last)[:300]}"
    name = missing[1]
    if _MADE.match(name):
        return f"{folder} is not built: there is no module {name}; run\n{_build_steps(folder)}"
    package = _PACKAGES.get(name.partition(".")[0], name.partition(".")[0])
    return (
        f"pynfs needs the Python module {name}, which {python} does not have: "
        f"python3 -m venv {folder}/.venv && {folder}/.venv/bin/pip install {package}, "
        "or name another interpreter with --python"
    )


def _commit(folder: Path) -> str:
    """The commit of a checkout by git, from its files; empty if it is not known."""
    try:
        head = (folder / ".git" / "HEAD").read_text(encoding="ascii")
        if head.startswith("ref: refs/"):
            reference = head.removeprefix("ref: ").strip()
            if ".." in reference:
                return ""
            head = (folder / ".git" / reference).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
    return head[:9] if _HEX.fullmatch(head) else ""
