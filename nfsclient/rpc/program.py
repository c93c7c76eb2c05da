# SPDX-License-Identifier: MIT
"""Operations, procedures and programs as data (RFC 5531 section 8.2): what a client calls and a server answers.

An `Operation` is the smallest request that has its own arguments, results and status. In most protocols it is a
procedure, and a call is one operation. A call of NFSv4's COMPOUND carries many: such a procedure says how its arguments
and results fall into `Step`s. Whatever looks at requests (mutants, knobs, the lint, statistics, coverage) is about
operations and goes through the steps of a call, so that it needs no rule for compounds.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from nfsclient.xdr import Buffer, XdrType

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)

TRANSIENT: t.Final = range(0x4000_0000, 0x6000_0000)
"""Programs that are numbered as they are needed (RFC 5531 section 8.3), as clients of NFSv4 do for callbacks."""
_RESULTS: t.Final = 28
"""Where the results begin in a usual reply, with its record mark."""


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

    @cached_property
    def head(self) -> int:
        """Bytes of a usual reply, with its record mark, up to its bulk data."""
        return _RESULTS + self.at + 4


@dataclass(frozen=True, eq=False)
class Operation(t.Generic[A, R]):
    """One operation of one version of a program, with the types of its arguments and results.

    Operations are constants of their protocol: two are equal when they are the same object.
    """

    program: int
    version: int
    number: int
    """Among the procedures of the program, or among the operations that its compound procedure carries."""
    name: str
    args: type[A]
    res: type[R]

    @cached_property
    def label(self) -> str:
        """How messages name it."""
        return f"{self.name} (program {self.program} version {self.version} operation {self.number})"


AnyOperation: t.TypeAlias = Operation[t.Any, t.Any]


@dataclass(slots=True, eq=False)
class Step:
    """One operation of a call, and what came of it.

    A protocol may add to it what the call shows of the operation's surroundings, such as the current filehandle.
    """

    operation: AnyOperation
    args: t.Any
    """None where they are not known."""
    result: t.Any
    """None where there is none: no reply, or the server stopped at an operation before this one."""
    path: str = ""
    """Where the result stands in the decoded reply: `resarray[2].opread`; empty when it is the reply itself."""

    @property
    def status(self) -> t.Any:
        """The status in the result; None where there is no result, or no status in it."""
        return getattr(self.result, "status", None)

    def at(self, field: str | None) -> str | None:
        """The path in the decoded reply of a field of the result, or of the result itself."""
        return ".".join(part for part in (self.path, field) if part) or None


AsSteps: t.TypeAlias = Callable[[A | None, R | None], Sequence[Step]]
"""The steps of a call, from its decoded arguments and results; either may be missing."""


@dataclass(frozen=True, eq=False)
class Procedure(Operation[A, R]):
    """What a program answers to: an operation that is a whole call, or one that carries other operations."""

    bulk: BulkResult[A, R] | None = None
    bulk_of: Callable[[A], BulkResult[A, R] | None] | None = None
    """Where it depends on the call: says from its arguments what `bulk` is; the same object for calls of one form."""
    steps: AsSteps[A, R] | None = None
    """How a call falls into operations; None: it is one."""

    def bulk_for(self, args: A) -> BulkResult[A, R] | None:
        """Where the bulk data of the results of a call with `args` are; None if it has none, or nobody knows."""
        return self.bulk if self.bulk_of is None else self.bulk_of(args)

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
    carried: tuple[AnyOperation, ...] = ()
    """The operations that its compound procedures carry."""
    is_callback: bool = False
    """Whether servers call it at clients, under a number that each client chooses (`TRANSIENT`)."""

    @property
    def operations(self) -> tuple[AnyOperation, ...]:
        """All of them: procedures, and what these carry."""
        return (*self.procedures, *self.carried)

    @cached_property
    def by_number(self) -> dict[int, Procedure[t.Any, t.Any]]:
        """Procedure number -> procedure."""
        return {procedure.number: procedure for procedure in self.procedures}

    @cached_property
    def by_name(self) -> dict[str, Procedure[t.Any, t.Any]]:
        """Procedure name ("GETATTR") -> procedure."""
        return {procedure.name: procedure for procedure in self.procedures}
