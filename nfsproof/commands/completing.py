# SPDX-License-Identifier: MIT
"""What a shell offers after `nfsproof run`: targets, ids of checks level by level, and all options of its help."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click
from click.shell_completion import CompletionItem

from nfsproof import starter

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def complete_id(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Ids that begin so, up to the next slash or bracket: there are thousands."""
    return [CompletionItem(one) for one in _levels(_ids(), begun)]


def complete_target_or_id(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """The same, and servers that nfsproof starts, as long as no word stands before."""
    is_first = not context.params.get("arguments")
    servers = [CompletionItem(one) for one in _servers() if is_first and one.startswith(begun)]
    return [*servers, *complete_id(context, parameter, begun)]


class CommandWithOptionsOfPytest(click.Command):
    """A command whose help also lists options that are not its own."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """All options that the help names."""
        found = super().shell_complete(ctx, incomplete)
        known = {one.value for one in found}
        named = dict.fromkeys(_OPTION.findall(self.help or ""))
        more = [one for one in named if one.startswith(incomplete or "-") and one not in known]
        return [*found, *map(CompletionItem, more)] if incomplete.startswith("-") else found


def _servers() -> list[str]:
    starter.put_home_first()
    from nfstargets import TARGETS
    from nfstargets.clients import KIND
    from nfstargets.clients.drivers import CLIENTS
    from nfstargets.ganesha_config import EXPORT_KINDS
    from nfstargets.knfsd.options import FILE_SYSTEMS, MACHINES

    kinds = {"ganesha": EXPORT_KINDS, "knfsd": (*FILE_SYSTEMS, *MACHINES), KIND: tuple(CLIENTS)}
    return [*TARGETS, *(f"{name}:{kind}" for name, some in kinds.items() for kind in some)]


def _ids() -> Sequence[str]:
    starter.put_home_first()
    from reports.idlist import known_ids

    return sorted(known_ids().present)


def _levels(ids: Sequence[str], begun: str) -> list[str]:
    """What the word may become at its next slash or bracket, without regard to case."""
    found: dict[str, None] = {}
    depth = begun.count("/")
    for one in ids:
        if not one.lower().startswith(begun.lower()):
            continue
        parts = one.split("/")
        if depth < len(parts) - 1 and "[" not in begun:
            found["/".join(parts[: depth + 1]) + "/"] = None
        elif "[" in begun:
            found[one] = None
        else:
            found[one.partition("[")[0]] = None
    only = next(iter(found)) if len(found) == 1 else ""
    if only == begun:  # a function: its parameters
        return [one for one in ids if one.startswith(begun)]
    # A shell adds a blank to a word that is the only one: what ends with a slash is never offered alone.
    return _levels(ids, only) if only.endswith("/") else list(found)
