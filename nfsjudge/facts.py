# SPDX-License-Identifier: MIT
"""What can be asked of the target of the running check when a verdict depends on it."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar

Facts: t.TypeAlias = Mapping[str, Callable[[], bool]]
"""Name of a fact -> a function that asks whether it is so."""

_facts: ContextVar[Facts | None] = ContextVar("nfs_facts", default=None)


@contextlib.contextmanager
def asking(facts: Facts | None) -> Iterator[None]:
    """Let `is_so` ask by these functions."""
    token = _facts.set(facts)
    try:
        yield
    finally:
        _facts.reset(token)


def is_so(fact: str) -> bool:
    """Whether a fact holds of the target of the running check. False if nobody can tell."""
    asks = (_facts.get() or {}).get(fact)
    return asks is not None and asks()
