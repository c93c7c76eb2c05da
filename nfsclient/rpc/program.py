# SPDX-License-Identifier: MIT
"""Procedures and programs as data (RFC 5531 section 8.2): what a client calls and a server answers."""

from __future__ import annotations

import typing as t
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from nfsclient.xdr import Buffer, XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)


@dataclass(frozen=True)
class BulkResult(t.Generic[A, R]):
    """Where the results of a procedure carry bulk data in the usual case, to receive it in place.

    `at` is the offset of the data's length word in the results, when every optional part is there; the data
    ends the results. `asked` tells from the arguments how many bytes may come; `data` gives what a result has,
    None without; `place` puts other data into a result. A reply of another shape is decoded in the ordinary way.
    """

    at: int
    asked: Callable[[A], int]
    data: Callable[[R], Buffer | None]
    place: Callable[[R, Buffer], None]


@dataclass(frozen=True, eq=False)
class Procedure(t.Generic[A, R]):
    """One procedure of one version of a program, with the types of its arguments and results.

    Procedures are constants of their protocol: two are equal when they are the same object.
    """

    program: int
    version: int
    number: int
    name: str
    args: type[A]
    res: type[R]
    bulk: BulkResult[A, R] | None = None

    @cached_property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.name} (program {self.program} version {self.version} procedure {self.number})"


@dataclass(frozen=True)
class Program:
    """One version of a program: its procedures, which all carry the same program and version number."""

    number: int
    version: int
    name: str
    procedures: tuple[Procedure[t.Any, t.Any], ...]

    @cached_property
    def by_number(self) -> dict[int, Procedure[t.Any, t.Any]]:
        """Procedure number -> procedure."""
        return {procedure.number: procedure for procedure in self.procedures}

    @cached_property
    def by_name(self) -> dict[str, Procedure[t.Any, t.Any]]:
        """Procedure name ("GETATTR") -> procedure."""
        return {procedure.name: procedure for procedure in self.procedures}
