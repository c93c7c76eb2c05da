# SPDX-License-Identifier: MIT
"""Targets by name: what `--target` accepts besides a URL."""

from __future__ import annotations

import functools
from importlib import import_module

from nfsclient.similar import similar_text
from nfstargets.base import Target, TargetAddress, TargetError
from nfstargets.clients import KIND

__all__ = ["TARGETS", "Target", "TargetAddress", "TargetError", "make_target"]

TARGETS: dict[str, str]
"""The servers: name to "module:class". Imported only when asked for, so that a target's own needs stay its own."""


def __getattr__(name: str) -> dict[str, str]:
    """`TARGETS`, when somebody first looks: a diagnosis of a URL needs none of them."""
    if name != "TARGETS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _targets()


@functools.cache
def _targets() -> dict[str, str]:
    from nfstargets.recipes import RECIPES

    return {
        "embedded": "nfstargets.embedded:EmbeddedTarget",
        "ganesha": "nfstargets.ganesha:GaneshaTarget",
        "knfsd": "nfstargets.knfsd.target:KnfsdTarget",
        **dict.fromkeys(RECIPES, INSTALLED),
    }


INSTALLED = "nfstargets.installed:InstalledTarget"
"""What installs itself on demand."""
PLAIN = frozenset({"embedded"})
"""Those that have no options."""


def make_target(text: str) -> Target:
    """The target that `--target TEXT` means: "name", "name:option", "client:name" or an nfs:// URL. It is not started.

    Raises TargetError when the text means nothing that is known here.
    """
    if "://" in text:
        from nfstargets.url import UrlTarget

        return UrlTarget(text)
    name, _, option = text.partition(":")
    if name == KIND:
        from nfstargets.clients.target import ClientTarget  # most runs need no client

        return ClientTarget(option)
    targets = _targets()
    place = targets.get(name)
    if place is None:
        known = ", ".join(sorted(targets))
        near = similar_text(name, targets)
        raise TargetError(f"unknown target {text!r}{near}; expected nfs://HOST/EXPORT or one of {known}")
    module_name, _, class_name = place.partition(":")
    try:
        factory = getattr(import_module(module_name), class_name)
    except ImportError as error:
        raise TargetError(f"target {name!r} cannot be loaded here: {error}") from error
    if place == INSTALLED:
        factory = functools.partial(factory, name)
    if option and name in PLAIN:
        raise TargetError(f"target {name!r} has no variants: expected it without {':' + option!r}")
    target = factory(option) if option else factory()
    if not isinstance(target, Target):
        raise TargetError(f"{place} is not a Target")
    return target
