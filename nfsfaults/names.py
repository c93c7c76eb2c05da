# SPDX-License-Identifier: MIT
"""The names of programs, procedures and operations in a plan: those of the RFCs, and of Wireshark for programs."""

from __future__ import annotations

from dataclasses import dataclass

from nfsclient.protocol.registry import families
from nfsclient.rpc.program import AnyOperation, Program
from nfsclient.similar import similar_text


class BadPlan(ValueError):
    """A plan says something that cannot be meant: an unknown name, or values that do not go together."""


@dataclass(frozen=True)
class Names:
    """What a selector's program, version and names mean."""

    programs: frozenset[int] | None
    """Program numbers; None: any."""
    operations: frozenset[AnyOperation] | None
    """Procedures, and operations that compounds carry; None: any."""


def names_of(program: str | int | None, version: int | None, names: tuple[str, ...]) -> Names:
    """What the words of a selector mean. Raises `BadPlan` with near matches."""
    candidates = _programs(program)
    if version is not None:
        candidates = tuple(program for program in candidates if program.version == version)
        if not candidates and not isinstance(program, int):
            raise BadPlan(f"version: {program or 'no program'} has no version {version} here")
    numbers = _numbers(program)
    if not names:
        return Names(numbers, None)
    return Names(numbers, frozenset(operation for name in names for operation in _named(name, candidates)))


def _programs(program: str | int | None) -> tuple[Program, ...]:
    if program is None:
        return tuple(program for versions in families().values() for program in versions)
    if isinstance(program, int):
        return tuple(
            candidate
            for versions in families().values()
            for candidate in versions
            if candidate.number == program
        )
    known = families()
    if program not in known:
        near = similar_text(program, known, f"known: {', '.join(known)}, or a number")
        raise BadPlan(f"program: unknown program {program!r}{near}")
    return known[program]


def _numbers(program: str | int | None) -> frozenset[int] | None:
    if program is None:
        return None
    if isinstance(program, int):
        return frozenset({program})
    return frozenset(program.number for program in families()[program])


def _named(name: str, candidates: tuple[Program, ...]) -> list[AnyOperation]:
    found = [
        operation for program in candidates for operation in program.operations if operation.name == name
    ]
    if not found:
        known = {operation.name for program in candidates for operation in program.operations}
        raise BadPlan(f"procedure: unknown procedure or operation {name!r}{similar_text(name, known)}")
    return found
