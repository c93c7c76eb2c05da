# SPDX-License-Identifier: MIT
"""Find the target among the words after `nfsproof run`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nfstargets.spelling import as_url
from reports.again import is_file_of_targets

SCHEME_ONLY = re.compile(r"nfs:(?!//[^/])/*(?P<path>.*)", re.IGNORECASE)
"""A URL without its host."""
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


class ArgumentError(ValueError):
    """The words cannot be understood; the text says why and what to write."""


def split_target(
    words: Sequence[str], named: Sequence[str], option: str | None = None
) -> tuple[str | None, list[str]]:
    """Split words into the target and the rest.

    The target is a URL or `host:/export` anywhere, or one of `named` (or `name:choice`), or a target file, in front.
    `option` is the value of --target. Returns the target, or None, and the other words in their order. Raises
    ArgumentError for two targets, and for a URL without a host.
    """
    targets = [] if option is None else [as_url(option)]
    rest = []
    for position, word in enumerate(map(as_url, words)):
        is_first = position == 0
        if URL.match(word) or (is_first and (word.partition(":")[0] in named or is_file_of_targets(word))):
            targets.append(word)
        else:
            rest.append(word)
    for word in (*targets, *rest):
        if scheme := SCHEME_ONLY.fullmatch(word):
            raise ArgumentError(f"{word} has no host; write nfs://HOST/{scheme['path']}")
    if len(targets) > 1:
        raise ArgumentError(f"expected one target, got {', '.join(targets)}")
    return (targets[0] if targets else None), rest
