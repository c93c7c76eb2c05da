# SPDX-License-Identifier: MIT
"""Which checks a word names: ids, their beginnings, patterns and former names become arguments of pytest.

Imports no pytest: `nfsproof event` reads words of its file without it.
"""

from __future__ import annotations

import functools
import re
import typing as t
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from fixtures.ids import id_of
from nfsclient.similar import similar
from nfsjudge.wording import count
from nfstargets import TARGETS
from reports.globs import glob_source
from reports.idlist import IdList, function_of

_ADDRESS: t.Final = re.compile(r"[\w.-]+:[0-9]+/.*", re.DOTALL)
"""A server with its port and a path, as in a URL."""
_NO_SLASH: t.Final = re.compile(r"((?:[\w-]+\.)+[\w-]+|localhost):([A-Za-z_][\w./-]*)")
"""A server by name or address, and an export without its slash."""
_MOST_NEW_IDS = 3
_FUNCTION = re.compile(r"^def (test_\w+)\(", re.MULTILINE)


class UnknownCheck(LookupError):
    """A word names no check; the text says which names are near."""


class Selector:
    """Translates names of checks below one folder of suites."""

    def __init__(self, suites: Path) -> None:
        self.suites = suites

    @functools.cached_property
    def _list(self) -> IdList:
        return IdList.read(self.suites / "ids.txt")

    @functools.cached_property
    def _nodes(self) -> dict[str, str]:
        """Id of each check, without parameters -> its node id."""
        return self._nodes_below(self.suites)

    def _nodes_below(self, folder: Path) -> dict[str, str]:
        """The same of the files in a folder of suites. They are read: nothing is imported for it."""
        found: dict[str, str] = {}
        for file in sorted(folder.rglob("test_*.py")):
            for name in _FUNCTION.findall(file.read_text(encoding="utf-8")):
                below = file.relative_to(self.suites.parent).as_posix()
                found.setdefault(id_of(f"{below}::{name}"), f"{file}::{name}")
        return found

    def read_only_for(self, words: Iterable[str]) -> None:
        """Read the files of one folder alone if all words are ids of checks in it. To be called before all others."""
        wanted = [word.strip("/").lower() for word in words]
        folders = {word.partition("/")[0] for word in wanted}
        folder = self.suites / min(folders, default="")
        if len(folders) != 1 or not (min(folders).isidentifier() and folder.is_dir()):
            return
        nodes = self._nodes_below(folder)
        present = [known for known in self._list.present if known.partition("/")[0] == folder.name]
        names = {known.lower(): known for known in (*nodes, *sorted(present))}
        if all("::" not in word and word in names for word in wanted):
            self.__dict__ |= {"_nodes": nodes, "_names": names}  # the cached properties

    @functools.cached_property
    def _names(self) -> dict[str, str]:
        """Ids with and without parameters, by themselves in lower case."""
        return {known.lower(): known for known in (*self._nodes, *sorted(self._list.present))}

    @functools.cached_property
    def _listed(self) -> dict[str, set[str]]:
        """Id without parameters -> its ids in the list."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for check_id in self._list.present:
            found[function_of(check_id)].add(check_id)
        return found

    @functools.cached_property
    def _in_file(self) -> dict[str, set[str]]:
        """File -> the node ids in it."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for node in self._nodes.values():
            found[_file_of(node)].add(node)
        return found

    def translate(self, word: str) -> list[str]:
        """The arguments of pytest that a word of the command line means. Raises UnknownCheck."""
        path, separator, name = word.partition("::")
        if separator or path.endswith(".py") or Path(path).is_absolute():
            return [self._path(path) + separator + name]
        wanted = word.strip("/").lower()
        found = _fitting(wanted, self._names) or _fitting(wanted, self._olds) or self._not_listed(wanted)
        if found:
            return self._arguments(found)
        if word.strip("/") and Path(self._path(path)).is_dir():
            return [self._path(path)]
        raise UnknownCheck(self._why(word, wanted))

    def renamed(self, word: str) -> str:
        """What the checks are called now that a word names by old ids, in one sentence; empty if it has none."""
        wanted = word.strip("/").lower()
        if "::" in word or _fitting(wanted, self._names):
            return ""
        now = list(dict.fromkeys(_fitting(wanted, self._olds)))
        functions = list(dict.fromkeys(map(function_of, now)))
        shown = now if len(now) == 1 else functions
        more = (
            f" and {count(len(shown) - _MOST_NEW_IDS, 'other check')}" if len(shown) > _MOST_NEW_IDS else ""
        )
        return f"{word} is now called {', '.join(shown[:_MOST_NEW_IDS])}{more}" if now else ""

    @functools.cached_property
    def _olds(self) -> dict[str, str]:
        """Old ids in lower case -> the ids of now."""
        return {old.lower(): current for old, current in self._list.old_names.items()}

    def _path(self, path: str) -> str:
        """Node ids in reports begin with suites/: found from any folder."""
        below = self.suites.parent / path
        return str(below) if not Path(path).exists() and below.exists() else path

    def _not_listed(self, wanted: str) -> list[str]:
        """A check that is not in the list yet: only pytest knows its parameters."""
        function = self._names.get(function_of(wanted), "")
        is_new = "[" in wanted and function in self._nodes and function not in self._listed
        return [function + wanted[len(function) :]] if is_new else []

    def _arguments(self, ids: Iterable[str]) -> list[str]:
        """Ids as node ids: all parameters of a function as the function, all functions of a file as the file."""
        chosen = list(dict.fromkeys(ids))
        named = set(chosen)
        functions = {
            function
            for function in map(function_of, chosen)
            if function in named or self._is_listed_in(named, function)
        }
        nodes = {self._nodes[function] for function in functions if function in self._nodes}
        whole = {file for file in map(_file_of, nodes) if self._in_file[file] <= nodes}
        arguments = []
        for choice in chosen:
            function = function_of(choice)
            node = self._nodes.get(function)
            if node is not None:
                of_function = node if function in functions else node + choice[len(function) :]
                arguments.append(_file_of(node) if _file_of(node) in whole else of_function)
        return list(dict.fromkeys(arguments))

    def _is_listed_in(self, ids: set[str], function: str) -> bool:
        """Whether some ids have all that the list has of a function."""
        return function in self._listed and self._listed[function] <= ids

    def _why(self, word: str, wanted: str) -> str:
        """Why nothing was found."""
        if not word.strip():
            return "a target or a check is empty: is the variable set that it comes from?"
        if path := _NO_SLASH.fullmatch(word):
            return f"no check and no server is called {word}; for a server write nfs://{path[1]}/{path[2]}"
        if _ADDRESS.fullmatch(word):
            return f"no check has the id {word}; for a server write nfs://{word}"
        function = self._names.get(function_of(wanted), "")
        if function in self._nodes and "[" in wanted:
            given = word.strip("/")[len(function) :]
            return f"{function} has no parameters {given}; there are {_some(self._listed.get(function, ()))}"
        if text := self._removed(word, wanted):
            return text
        name = word.strip("/")
        what = "no check has the id" if "/" in name else "no check and no server is called"
        return f"{what} {word}{self._near(name)}"

    def _removed(self, word: str, wanted: str) -> str:
        """That a check was removed, and which checks are left of its function; empty if it was not."""
        known = {old.lower(): old for old in (*self._list.gone, *self._list.renamed)}
        old = known.get(wanted, known.get(function_of(wanted), ""))
        if not old:
            return ""
        last = self._list.current(old)
        left = self._list.current(function_of(last))
        way = f" (last called {last})" if last != old and left not in self._nodes else ""
        return f"the check {word} was removed{way}" + (
            f"; {left} is left of it" if left in self._nodes else ""
        )

    def _near(self, name: str) -> str:
        server, colon, option = name.partition(":")
        servers = [] if "/" in name else [f"{near}{colon}{option}" for near in similar(server, TARGETS)]
        groups = {"/".join(known.split("/")[:depth]) for known in self._nodes for depth in (1, 2)}
        near = [*servers, *similar(name, groups | self._nodes.keys())]
        if near:
            return f"; similar: {', '.join(near[:3])}"
        listed = "; nfsproof run --list-requirements lists them"
        return listed if "/" in name else f"{listed}. Servers: {', '.join(TARGETS)}, or nfs://HOST/EXPORT"


def _file_of(node: str) -> str:
    return node.partition("::")[0]


def _fitting(wanted: str, names: dict[str, str]) -> list[str]:
    """The ids in `names`, a table by lower case, that a word means."""
    if wanted in names:  # what is in brackets may look like a pattern: a name that is one counts first
        return [names[wanted]]
    pattern = glob_source(wanted, has_question_marks=True)
    if "[" in wanted:
        fits = re.compile(pattern).fullmatch
        return [node for name, node in names.items() if fits(name)]
    fits = re.compile(rf"{pattern}(/.*)?").fullmatch
    return [node for name, node in names.items() if fits(function_of(name))]


def _some(ids: Iterable[str]) -> str:
    parameters = sorted(check_id[len(function_of(check_id)) :] for check_id in ids)
    shown = ", ".join(filter(None, parameters[:10]))
    return f"{shown} and {len(parameters) - 10} more" if len(parameters) > 10 else shown or "none"
