# SPDX-License-Identifier: MIT
"""Makes a pytest of any project run the checks: what `nfsproof.pytest_plugin` does once it has ``--target``.

The project is the user's: its configuration, conftest files and plugins stay in force. The checks do not depend on
them: `fixtures.plugin.away` collects them in its own way.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from nfsproof.starter import home

_ROOMS = ("fixtures", "suites", "reports")
"""The packages whose names others may have, too."""


def load(config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> None:
    """Load the plugin, with its options. Raises UsageError if modules of the user have the names of our packages."""
    place = home()
    _make_way(place, config, args)
    # For these imports only: the import path of the user's tests is theirs. What is in a package is found by it.
    sys.path.insert(0, str(place))
    try:
        for plugin in ("fixtures.plugin", "fixtures.plugin.away", "nfsproof.pytest_words"):
            config.pluginmanager.import_plugin(plugin)
        for room in _ROOMS:
            importlib.import_module(room)
    finally:
        sys.path.remove(str(place))
    from fixtures.plugin.away import PLACE
    from fixtures.plugin.wire_log import keep_error_output

    config.stash[PLACE] = place / "suites"
    known = parser.parse_known_args(args, namespace=copy.copy(config.option))
    known.confcutdir = config.known_args_namespace.confcutdir
    config.known_args_namespace = known
    keep_error_output(config)


def _make_way(place: Path, config: pytest.Config, args: Sequence[str]) -> None:
    """Forget modules of others that have the names of our packages: a conftest may have imported them.

    They keep working where they were imported. But tests of the user may import them again. Raises UsageError then.
    """
    foreign = [
        name for name in _ROOMS if name in sys.modules and not _is_ours(sys.modules[name], place / name)
    ]
    own = [arg for arg in args if (config.invocation_params.dir / arg.partition("::")[0]).exists()]
    if foreign and own:
        raise pytest.UsageError(
            f"your tests ({own[0]}) and nfsproof both have a package {foreign[0]}, and only one of them can be "
            "imported: run the checks without your tests, or rename your package"
        )
    for name in foreign:
        for module in [
            module_name
            for module_name in sys.modules
            if module_name == name or module_name.startswith(f"{name}.")
        ]:
            del sys.modules[module]


def _is_ours(module: object, folder: Path) -> bool:
    return folder.resolve() in [Path(place).resolve() for place in getattr(module, "__path__", [])]
