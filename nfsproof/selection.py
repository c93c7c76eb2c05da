# SPDX-License-Identifier: MIT
"""A pytest plugin of `nfsproof run`: checks are named by stable ids, their beginnings, or patterns.

`nfs3/write/keeps_data` is `suites/nfs3/test_write.py::test_keeps_data`. pytest parses its command line
first, so that values of options are not taken for names of checks. Each worker of xdist does the same.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from fixtures.ids import IdList
from fixtures.targets import TARGETS
from nfsproof.starter import home


class UnknownCheck(LookupError):
    """A word names no check; the text says which names are near."""


class Selector:
    """Translates names of checks below one folder of suites."""

    def __init__(self, suites: Path) -> None:
        self.suites = suites

    def known_ids(self) -> list[str]:
        """The listed stable ids, in order."""
        return sorted(IdList.read(self.suites / "ids.txt").present)

    def translate(self, word: str) -> list[str]:
        """The arguments of pytest that a word of the command line means. Raises UnknownCheck."""
        path, separator, name = word.partition("::")
        if separator or path.endswith(".py") or Path(path).is_absolute():
            return [self._path(path) + separator + name]
        name = word.strip("/")
        found: list[str] = []
        if {"*", "?"} & set(name.partition("[")[0]):
            found = [argument for known in self._matching(name) for argument in self._find(known)]
        else:
            with contextlib.suppress(OSError):  # a name that is too long for a file
                found = self._find(name)
        if not found:
            raise UnknownCheck(f"no check has the id {word}{self._near(name)}")
        return found

    def _path(self, path: str) -> str:
        """Node ids in reports begin with suites/: found from any folder."""
        below = self.suites.parent / path
        return str(below) if not Path(path).exists() and below.exists() else path

    def _find(self, name: str) -> list[str]:
        if (self.suites / name).is_dir():
            return [str(self.suites / name)]
        # What is in the brackets may hold anything, slashes as well.
        base, bracket, parameters = name.partition("[")
        folder, _, last = base.rpartition("/")
        module = self.suites / folder / f"test_{last}.py"
        if module.is_file() and not bracket:
            return [str(module)]
        folder, _, stem = folder.rpartition("/")
        module = self.suites / folder / f"test_{stem}.py"
        if module.is_file() and re.search(
            rf"^def test_{re.escape(last)}\(", module.read_text(), re.MULTILINE
        ):
            return [f"{module}::test_{last}{bracket}{parameters}"]
        return []

    def _matching(self, pattern: str) -> Iterable[str]:
        wanted = re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))
        return filter(wanted.fullmatch, self.known_ids())

    def _near(self, name: str) -> str:
        ids = self.known_ids()
        groups = {"/".join(known.split("/")[:depth]) for known in ids for depth in (1, 2)}
        near = difflib.get_close_matches(name, [*sorted(groups), *ids], n=3)
        if near:
            return f"; similar: {', '.join(near)}"
        listed = "; nfsproof run --list-requirements lists them"
        return (
            listed
            if "/" in name
            else f"{listed}. It is not a server either: {', '.join(TARGETS)}, or nfs://HOST/EXPORT"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Replaces what pytest would collect. Nothing named: all checks."""
    selector = Selector(home() / "suites")
    words: list[str] = getattr(config.option, "file_or_dir", [])  # absent with --help
    if not words:
        config.args[:] = [str(selector.suites)]
        return
    try:
        config.args[:] = [argument for word in words for argument in selector.translate(word)]
    except UnknownCheck as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Paths in the progress start at suites/, wherever the user stands."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.startpath = session.config.rootpath
