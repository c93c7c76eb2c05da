# SPDX-License-Identifier: MIT
"""How the world of the lint learns from a protocol: what each of its operations says of which objects, and may change.

A protocol brings a module `NAME_views` that registers its `Views` here. The engine loads these modules, and looks up
the views of each exchange. Calls of a protocol without views may have changed anything, unless it changes no files.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from nfsclient.protocol.registry import OTHER_PROGRAMS, protocol_of
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Program, Step
from nfsjudge.lint.seen import View
from nfsjudge.lint.world import World


def _settled(_world: World, _step: Step | None) -> None:
    pass


def _no_number(_exchange: Exchange) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Views:
    """How the world learns from the operations of a program. Its rules are found by their operations."""

    views: Callable[[Step], list[View]]
    """What the result says of objects; paths begin at the result."""
    changed: Callable[[Step], Sequence[bytes] | None]
    """The handles of the objects that an operation may have changed; None for any object whatever."""
    learn: Callable[..., None]
    """(world, step, views, is_shared=): take in what a step says, and forget what it may have changed."""
    request: Callable[[Exchange], Hashable] = _no_number
    """What two exchanges share of which the second is the first one again, besides their XID; None if nothing does."""
    unsettle: Callable[[World, Step | None], None] = _settled
    """(world, step): forget what a step may end besides objects, in the world of any address of the server."""


def _nothing(_step: Step) -> list[View]:
    return []


def _no_change(_step: Step) -> list[bytes]:
    return []


def _learn_nothing(*_args: object, **_options: object) -> None:
    pass


def _anything(_step: Step) -> None:
    return None


def _learn_of_change(world: World, _step: Step | None, _views: list[View], *, is_shared: bool) -> None:  # noqa: ARG001
    world.removed()


HARMLESS: t.Final = Views(_nothing, _no_change, _learn_nothing)
"""Of what changes no files."""
UNKNOWN: t.Final = Views(_nothing, _anything, _learn_of_change)
"""Of what may have changed anything."""
_REGISTERED: t.Final[dict[tuple[int, int], Views]] = {}


def register(program: Program, views: Views) -> None:
    """Let the world learn from a program."""
    _REGISTERED[program.number, program.version] = views


def views_for(exchange: Exchange) -> Views:
    """How to learn from an exchange. What is not known may have changed anything."""
    procedure = exchange.procedure
    if procedure is None:
        program = int.from_bytes(exchange.call[12:16], "big")
        return HARMLESS if not exchange.call or _is_harmless(program) else UNKNOWN
    if procedure.steps is not None and not exchange.steps:
        return UNKNOWN
    if procedure.number == 0 or _is_harmless(procedure.program):
        return HARMLESS
    return _REGISTERED.get((procedure.program, procedure.version), UNKNOWN)


def _is_harmless(program: int) -> bool:
    """Whether a program changes no files, by its number."""
    protocol = protocol_of(program)
    return program in OTHER_PROGRAMS if protocol is None else not protocol.changes_files
