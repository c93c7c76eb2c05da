# SPDX-License-Identifier: MIT
"""The names of programs, procedures and operations in a plan: those of the RFCs, and of Wireshark for programs."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass
from functools import cache

from nfsclient.protocol import mount, nfs2, nfs3, nfs4, portmap, rpcbind
from nfsclient.rpc.program import AnyOperation, Program
from nfsclient.similar import similar_text

PROGRAMS: t.Final[dict[str, tuple[Program, ...]]] = {
    "nfs": (nfs2.NFS2, nfs3.NFS3, nfs4.NFS4),
    "mount": (mount.MOUNT1, mount.MOUNT2, mount.MOUNT3),
    "portmap": (portmap.PORTMAP2, rpcbind.RPCBIND3, rpcbind.RPCBIND4),
    "nfs-callback": (nfs4.NFS4_CALLBACK,),
}
"""Name -> its versions. The messages of other programs pass as bytes, and can be selected by number."""


class BadPlan(ValueError):
    """A plan says something that cannot be meant: an unknown name, or values that do not go together."""


@dataclass(frozen=True)
class Names:
    """What a selector's program, version and names mean."""

    programs: frozenset[int] | None
    """Program numbers; None: any."""
    operations: frozenset[AnyOperation] | None
    """Procedures, and operations that compounds carry; None: any."""


@cache
def program_of(number: int, version: int) -> Program | None:
    """The declaration of a version of a program, if there is one here.

    A callback program is whatever the client has chosen, so its number is not looked up.
    """
    for versions in PROGRAMS.values():
        for program in versions:
            if (program.number, program.version) == (number, version):
                return program
    return None


def names_of(program: str | int | None, version: int | None, names: tuple[str, ...]) -> Names:
    """What the words of a selector mean. Raises `BadPlan` with near matches."""
    candidates = _programs(program)
    if version is not None:
        candidates = tuple(one for one in candidates if one.version == version)
        if not candidates and not isinstance(program, int):
            raise BadPlan(f"version: {program or 'no program'} has no version {version} here")
    numbers = _numbers(program)
    if not names:
        return Names(numbers, None)
    return Names(numbers, frozenset(one for name in names for one in _named(name, candidates)))


def _programs(program: str | int | None) -> tuple[Program, ...]:
    if program is None:
        return tuple(one for versions in PROGRAMS.values() for one in versions)
    if isinstance(program, int):
        return tuple(one for versions in PROGRAMS.values() for one in versions if one.number == program)
    if program not in PROGRAMS:
        near = similar_text(program, PROGRAMS, f"known: {', '.join(PROGRAMS)}, or a number")
        raise BadPlan(f"program: unknown program {program!r}{near}")
    return PROGRAMS[program]


def _numbers(program: str | int | None) -> frozenset[int] | None:
    if program is None:
        return None
    if isinstance(program, int):
        return frozenset({program})
    return frozenset(one.number for one in PROGRAMS[program])


def _named(name: str, candidates: tuple[Program, ...]) -> list[AnyOperation]:
    found = [one for program in candidates for one in program.operations if one.name == name]
    if not found:
        known = {one.name for program in candidates for one in program.operations}
        raise BadPlan(f"procedure: unknown procedure or operation {name!r}{similar_text(name, known)}")
    return found
