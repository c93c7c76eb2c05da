# SPDX-License-Identifier: MIT
"""How a protocol layer obeys a knob: a function around handlers, active while the knob differs from its default."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable

from nfsclient.rpc.program import AnyOperation
from nfsserver.handlers import ServerApi
from nfsserver.knobs import KNOBS
from nfsserver.middleware import AnyAroundCall
from nfsserver.settings import Settings

Mark: t.TypeAlias = int | bytes
"""What decides whether a freedom changes a call: a size, or the name of a file."""


def _nothing(_server: ServerApi, _args: t.Any) -> Iterable[Mark]:
    return ()


def _is_answered(_reply: t.Any) -> Iterable[Mark]:
    return (0,)


def _always(_now: Settings, _mark: Mark) -> bool:
    return True


def decided_by_call(_reply: t.Any) -> Iterable[Mark]:
    """`Freedom.of_reply` where the call alone decides."""
    return ()


class Freedom(t.NamedTuple):
    """What runs around `operations` while one of `knobs` differs from its default, inside all middleware.

    The last three say which calls it changes. `of_call` and `of_reply` give marks of a call, and of the reply of a
    server with default knobs; `differs` says for settings and a mark whether the middleware does anything.
    Larger sizes differ where smaller ones do.
    """

    operations: tuple[AnyOperation, ...]
    knobs: tuple[str, ...]
    middleware: AnyAroundCall
    of_call: Callable[[ServerApi, t.Any], Iterable[Mark]] = _nothing
    of_reply: Callable[[t.Any], Iterable[Mark]] = _is_answered
    differs: Callable[[Settings, t.Any], bool] = _always

    @property
    def name(self) -> str:
        return f"{self.middleware.__module__}.{self.middleware.__name__}"

    def is_used(self, now: Settings) -> bool:
        """Whether one of its knobs differs from its default."""
        return any(getattr(now, name) != KNOBS[name].default for name in self.knobs)
