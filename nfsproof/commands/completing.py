# SPDX-License-Identifier: MIT
"""What a shell offers after `nfsproof run`: targets, ids of checks level by level, and all options of its help."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Sequence

import click

from nfsproof import starter

if t.TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def _items(words: Sequence[str]) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # only a shell needs it

    return [CompletionItem(word) for word in words]


def complete_id(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Ids that begin so, up to the next slash or bracket: there are thousands."""
    return _items(_levels(_ids(), begun))


def complete_target_or_id(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """The same, and servers that nfsproof starts, as long as no word stands before."""
    is_first = not context.params.get("arguments")
    servers = [server for server in _servers() if is_first and server.startswith(begun)]
    return [*_items(servers), *complete_id(context, parameter, begun)]


class CommandWithOptionsOfPytest(click.Command):
    """A command whose help also lists options that are not its own."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """All options that the help names."""
        found = super().shell_complete(ctx, incomplete)
        known = {item.value for item in found}
        named = dict.fromkeys(_OPTION.findall(self.help or ""))
        more = [name for name in named if name.startswith(incomplete or "-") and name not in known]
        return [*found, *_items(more)] if incomplete.startswith("-") else found


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
    for check_id in ids:
        if not check_id.lower().startswith(begun.lower()):
            continue
        parts = check_id.split("/")
        if depth < len(parts) - 1 and "[" not in begun:
            found["/".join(parts[: depth + 1]) + "/"] = None
        elif "[" in begun:
            found[check_id] = None
        else:
            found[check_id.partition("[")[0]] = None
    only = next(iter(found)) if len(found) == 1 else ""
    if only == begun:  # a function: its parameters
        return [check_id for check_id in ids if check_id.startswith(begun)]
    # A shell adds a blank to a word that is the only one: what ends with a slash is never offered alone.
    return _levels(ids, only) if only.endswith("/") else list(found)
