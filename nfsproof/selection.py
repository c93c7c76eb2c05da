# SPDX-License-Identifier: MIT
"""A pytest plugin of `nfsproof run`: which checks the words of the command line name.

A word is an id (``nfs3/RENAME/mixed-types[directory-fifo]``), the beginning of ids (``nfs3/RENAME/mixed-types``,
``nfs3/RENAME``, ``nfs3``), a pattern with ``*`` and ``?``, any of these by the names that checks had before, a file
or a node id of pytest. Upper and lower case are the same. pytest parses its command line first, so that values of
options are not taken for names of checks. Each worker of xdist does the same.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from fixtures.ids import id_of
from fixtures.plugin.choosing import check_id_of
from nfsclient.similar import similar_text
from nfsproof.exits import Exit
from nfsproof.selector import Selector, UnknownCheck
from nfsproof.starter import home, wants_failed_only
from nfstargets.clients import is_client
from reports.idlist import OF_CLIENTS, function_of

_UNKNOWN = "unrecognized arguments: "
_WORDS: pytest.StashKey[list[str]] = pytest.StashKey()
"""The arguments of pytest before those with parameters were widened to their functions."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tell a mistake in an option in one line with near names, without pytest's own usage."""

    def tell(message: str) -> NoReturn:
        wrong, _, words = message.partition(_UNKNOWN)
        if wrong or not words:
            raise pytest.UsageError(message.removeprefix("argument "))
        known = [*parser.optparser._option_string_actions, "--strict", "--target"]
        unknown = [
            f"{name}{similar_text(name, [option for option in known if option.startswith('--')])}"
            for name in dict.fromkeys(word.partition("=")[0] for word in words.split() if word[0] == "-")
        ]
        raise pytest.UsageError(f"unknown option {', '.join(unknown or [words])}")

    parser.optparser.error = tell  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Replaces what pytest would collect. Nothing named: all checks."""
    selector = Selector(home() / "suites")
    words: list[str] = getattr(config.option, "file_or_dir", [])  # absent with --help
    if not words:
        of_client = is_client(str(getattr(config.option, "target", "")))
        config.args[:] = [str(selector.suites / OF_CLIENTS if of_client else selector.suites)]
        return
    selector.read_only_for(words)
    try:
        found = [argument for word in words for argument in selector.translate(word)]
        if not hasattr(config, "workerinput"):
            for text in filter(None, map(selector.renamed, words)):
                sys.stderr.write(f"nfsproof: {text}\n")
    except UnknownCheck as error:
        raise pytest.UsageError(str(error)) from error
    if getattr(config.option, "mutants", ""):
        # There items have the mutant among their parameters: pytest would not find those that are named without it.
        config.stash[_WORDS] = found
        found = [argument.partition("[")[0] for argument in found]
    config.args[:] = dict.fromkeys(found)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On mutants: of the checks of a function, leaves those with the parameters that were named."""
    words = config.stash.get(_WORDS, [])
    if not any("[" in word for word in words):
        return
    kept = [item for item in items if _is_named(item, words)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.hookimpl(specname="pytest_collection_modifyitems", trylast=True)
def pytest_run_known_failures_only(config: pytest.Config, items: list[pytest.Item]) -> None:
    """--lf: nothing runs if none of these checks failed when it last ran. pytest would run all of them then.

    Before the first run of a target nothing is known: then everything runs.
    """
    cache: pytest.Cache | None = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    if cache is None or not wants_failed_only(config.invocation_params.args):
        return
    failed = cache.get("cache/lastfailed", {})
    has_run = bool(cache.get("cache/nodeids", []))
    if has_run and not any(item.nodeid in failed for item in items):
        config.hook.pytest_deselected(items=items[:])
        items.clear()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Why nothing ran: on standard error, once."""
    config = session.config
    is_worker = hasattr(config, "workerinput")
    if exitstatus == Exit.NOTHING and not is_worker and wants_failed_only(config.invocation_params.args):
        sys.stderr.write(
            "nfsproof: --lf: none of these checks failed when it last ran on this target, so there is nothing to run\n"
        )


def _is_named(item: pytest.Item, words: Iterable[str]) -> bool:
    for word in words:
        path, _, name = word.partition("::")
        function, bracket, parameters = name.partition("[")
        file = Path(path).absolute()
        if item.path != file and file not in item.path.parents:
            continue
        is_of_function = item.nodeid.partition("[")[0].endswith(f"::{function}")
        if not name or (not bracket and is_of_function):
            return True
        if (
            bracket
            and is_of_function
            and check_id_of(item) == f"{function_of(id_of(item.nodeid))}[{parameters}"
        ):
            return True
    return False


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Paths in the progress start at suites/, wherever the user stands."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.startpath = session.config.rootpath


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_report_header() -> Generator[None, list[Any], list[Any]]:
    """Without the line on pytest's cache, which is there for --lf only."""
    return [line for line in (yield) if not str(line).startswith("cachedir:")]
