# SPDX-License-Identifier: MIT
"""`pytest --target TARGET` in every environment that has nfsproof: the entry point of pytest, called ``nfsproof``.

pytest imports this module in every run of such an environment, so it imports nothing but pytest, and does nothing
unless the command line has ``--target``. The option is added last, after the plugins and conftest files of the
user: whoever else has an option of this name keeps it.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

_OPTION = "--target"
_PLUGIN = "fixtures.plugin"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Iterator[Any]:
    """Add the option, and load the plugin of the checks if it was given."""
    result = yield
    has_plugin = early_config.pluginmanager.has_plugin(_PLUGIN)  # in a checkout, and in `nfsproof run`
    if has_plugin or not (_names_target(early_config, args) or _wants_help(early_config)):
        return result
    try:
        parser.getgroup("nfsproof", "NFS conformance (nfsproof)").addoption(
            _OPTION,
            metavar="TARGET",
            help="run the checks of nfsproof on an NFS server: nfs://HOST/EXPORT, embedded, or another server of "
            "nfsproof. Arguments are then ids of checks (nfs3/WRITE) or your tests; --target TARGET --help lists "
            "the options for it",
        )
    except (ValueError, argparse.ArgumentError):
        return result  # the option of another plugin, or of the user
    known = parser.parse_known_args(args, namespace=copy.copy(early_config.option))
    if getattr(known, "target", None) is not None:
        from nfsproof.pytest_target import load

        load(early_config, parser, args)
    return result


def _names_target(config: pytest.Config, args: Sequence[str]) -> bool:
    """Whether the option was given: here, or to the controller of this worker."""
    is_given = any(arg == _OPTION or arg.startswith(f"{_OPTION}=") for arg in args)
    return is_given or getattr(config.option, "target", None) is not None


def _wants_help(config: pytest.Config) -> bool:
    return bool(getattr(config.known_args_namespace, "help", False))
