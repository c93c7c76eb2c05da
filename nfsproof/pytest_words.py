# SPDX-License-Identifier: MIT
"""A pytest plugin: the words of pytest's own command line may be names of checks, as in `nfsproof run`.

A word is first what it is for pytest: a file or a folder that is there, or with ``--pyargs`` a module. Any other
word names checks (`nfsproof.selector`). Loaded in a checkout (pyproject.toml), and elsewhere with ``--target``.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.ids import SUITES
from fixtures.plugin.away import PLACE, suites_of
from nfsproof.selector import Selector, UnknownCheck
from nfsproof.starter import cache_folder


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Replace the words by what pytest collects. No words in a project of somebody else: all checks."""
    words: list[str] = getattr(config.option, "file_or_dir", [])  # absent with --help
    is_away = PLACE in config.stash
    if not words:
        if is_away:
            config.args[:] = [SUITES]
            _finish_away(config)
        return
    selector = Selector(suites_of(config))
    try:
        found = [argument for word in words for argument in _meaning(word, selector, config)]
    except UnknownCheck as error:
        raise pytest.UsageError(str(error)) from error
    if not hasattr(config, "workerinput"):
        for text in (selector.renamed(word) for word in words if not _is_of_pytest(word, config)):
            if text:
                sys.stderr.write(f"nfsproof: {text}\n")
    config.args[:] = dict.fromkeys(found)
    if is_away:
        _finish_away(config)


def _finish_away(config: pytest.Config) -> None:
    """Checks are named as modules: then pytest looks at no folder above them."""
    config.option.pyargs = True
    if all(arg.startswith(SUITES) for arg in config.args):
        # A folder of tables, which the examples of the user's own tests have no part in.
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_folder() / "hypothesis"))


def _meaning(word: str, selector: Selector, config: pytest.Config) -> Iterator[str]:
    """The arguments for pytest."""
    is_away = PLACE in config.stash
    if _is_of_pytest(word, config):
        path, separator, rest = word.partition("::")
        is_path = (config.invocation_params.dir / path).exists()
        # Absolute: not a module of this name, for which pytest would look first.
        yield f"{config.invocation_params.dir / path}{separator}{rest}" if is_path and is_away else word
        return
    for argument in selector.translate(word):
        yield _as_module(argument, selector.suites) if is_away else argument


def _is_of_pytest(word: str, config: pytest.Config) -> bool:
    """Whether a word names something of the user's: a path, or a module with --pyargs."""
    path = word.partition("::")[0]
    if (config.invocation_params.dir / path).exists():
        return True
    if not config.option.pyargs or not all(part.isidentifier() for part in path.split(".")):
        return False
    try:
        return importlib.util.find_spec(path) is not None
    except (ImportError, ValueError):
        return False


def _as_module(argument: str, suites: Path) -> str:
    """``suites.nfs3.test_write::test_x`` for a path or node id below `suites`; others stay as they are."""
    path, separator, rest = argument.partition("::")
    if not Path(path).is_relative_to(suites):
        return argument
    inside = Path(path).relative_to(suites.parent)
    return ".".join(inside.with_suffix("").parts) + separator + rest
