# SPDX-License-Identifier: MIT
"""Targets by name: what `--target` accepts besides a URL."""

from __future__ import annotations

from functools import partial
from importlib import import_module

from nfsclient.similar import similar_text
from nfstargets.base import Target, TargetAddress, TargetError
from nfstargets.clients import KIND
from nfstargets.recipes import RECIPES

__all__ = ["TARGETS", "Target", "TargetAddress", "TargetError", "make_target"]

TARGETS: dict[str, str] = {
    "embedded": "nfstargets.embedded:EmbeddedTarget",
    "ganesha": "nfstargets.ganesha:GaneshaTarget",
    "knfsd": "nfstargets.knfsd.target:KnfsdTarget",
    **dict.fromkeys(RECIPES, "nfstargets.installed:InstalledTarget"),
}
"""The servers: name to "module:class". Imported only when asked for, so that a target's own needs stay its own."""
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
    place = TARGETS.get(name)
    if place is None:
        known = ", ".join(sorted(TARGETS))
        near = similar_text(name, TARGETS)
        raise TargetError(f"unknown target {text!r}{near}; expected nfs://HOST/EXPORT or one of {known}")
    module_name, _, class_name = place.partition(":")
    try:
        factory = getattr(import_module(module_name), class_name)
    except ImportError as error:
        raise TargetError(f"target {name!r} cannot be loaded here: {error}") from error
    if name in RECIPES:
        factory = partial(factory, name)
    if option and name in PLAIN:
        raise TargetError(f"target {name!r} has no variants: expected it without {':' + option!r}")
    target = factory(option) if option else factory()
    if not isinstance(target, Target):
        raise TargetError(f"{place} is not a Target")
    return target
