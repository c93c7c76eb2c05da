# SPDX-License-Identifier: MIT
"""Mutants: named deviations of the reference server, each of which breaks one rule.

A mutant is *middleware* around the handlers of the procedures that it bends: it may change the arguments,
the reply, or the server behind them, and does nothing while its name is not in `Server.mutants`. Handlers
know of no mutant. Mutants live beside the handlers that they bend, in ``<family>_mutants.py``:

    @mutant("write3-reports-more-than-sent", bends=WRITE, breaks="RFC 1813 section 3.3.7",
            gist="WRITE answers one byte more than it was sent")
    def reports_more_than_sent(_server, context, args, proceed):
        ...

A deviation that no wrapper can make is declared with `declare_mutant`, and the code asks
``NAME in server.mutants``. One that bends bytes rather than values (RPC, record of a reply) is a
`wire_mutant`, around the whole answer to one message. One that bends what lies below messages (fragments,
connections, datagrams) is a `transport_mutant`: a `Bend` between the sockets and the server. Names say the
procedure with its version, then what it does wrong; a name is taken once only.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Iterator, MutableSet
from dataclasses import dataclass

from nfsclient.rpc.program import Procedure
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Buffer, XdrType
from nfsserver.transport import Bend

if t.TYPE_CHECKING:
    from nfsserver.server import Server

A = t.TypeVar("A", bound=XdrType)
B = t.TypeVar("B", bound=Bend)
R = t.TypeVar("R", bound=XdrType)

Proceed: t.TypeAlias = Callable[[CallContext, A], R]
"""The rest of the chain: other middleware, then the handler."""
Middleware: t.TypeAlias = "Callable[[Server, CallContext, A, Proceed[A, R]], R]"
AnyMiddleware: t.TypeAlias = "Middleware[t.Any, t.Any]"

Answer: t.TypeAlias = list[Buffer] | None
"""What goes back on the wire, without record marks; None for silence."""
ProceedWire: t.TypeAlias = Callable[[bytes], Answer]
WireMiddleware: t.TypeAlias = "Callable[[Server, bytes, ProceedWire], Answer]"


class UnknownMutant(LookupError):
    """A name that no mutant has."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no mutant is named {name!r}; `nfsproof serve --list-mutants` shows all names")
        self.name = name


class DuplicateMutant(ValueError):
    """A name that is taken already: an error of the declaration."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One deviation: `gist` says what the server does wrong, `breaks` the rule that forbids it."""

    name: str
    gist: str
    breaks: str
    bends: tuple[Procedure[t.Any, t.Any], ...] = ()
    middleware: AnyMiddleware | None = None
    wire: WireMiddleware | None = None
    bend: type[Bend] | None = None
    only_raw: bool = False
    """Bends nothing that a typed client sends, or gets: only checks that make their own bytes can see it."""


_registry: dict[str, Mutant] = {}


def _register(mutant: Mutant) -> None:
    if mutant.name in _registry:
        raise DuplicateMutant(f"two mutants are named {mutant.name!r}")
    _registry[mutant.name] = mutant


@t.overload
def mutant(
    name: str, *, bends: Procedure[A, R], breaks: str, gist: str
) -> Callable[[Middleware[A, R]], Middleware[A, R]]: ...
@t.overload
def mutant(
    name: str, *, bends: tuple[Procedure[t.Any, t.Any], ...], breaks: str, gist: str
) -> Callable[[AnyMiddleware], AnyMiddleware]: ...
def mutant(
    name: str, *, bends: Procedure[t.Any, t.Any] | tuple[Procedure[t.Any, t.Any], ...], breaks: str, gist: str
) -> Callable[[AnyMiddleware], AnyMiddleware]:
    """Register the decorated middleware. Raises `DuplicateMutant` when the name is taken."""

    def register(middleware: AnyMiddleware) -> AnyMiddleware:
        procedures = bends if isinstance(bends, tuple) else (bends,)
        _register(Mutant(name, gist, breaks, procedures, middleware=middleware))
        return middleware

    return register


def wire_mutant(
    name: str, *, breaks: str, gist: str, only_raw: bool = False
) -> Callable[[WireMiddleware], WireMiddleware]:
    """Register middleware around the answer to a whole RPC message: (server, message, proceed) -> answer."""

    def register(wire: WireMiddleware) -> WireMiddleware:
        _register(Mutant(name, gist, breaks, wire=wire, only_raw=only_raw))
        return wire

    return register


def transport_mutant(
    name: str, *, breaks: str, gist: str, only_raw: bool = False
) -> Callable[[type[B]], type[B]]:
    """Register the decorated kind of `Bend`."""

    def register(bend: type[B]) -> type[B]:
        _register(Mutant(name, gist, breaks, bend=bend, only_raw=only_raw))
        return bend

    return register


def declare_mutant(
    name: str, *, bends: tuple[Procedure[t.Any, t.Any], ...] = (), breaks: str, gist: str
) -> str:
    """Register a deviation that stands in the code itself, and give its name back."""
    _register(Mutant(name, gist, breaks, bends))
    return name


def all_mutants() -> tuple[Mutant, ...]:
    """Every mutant, by name. Importing this package has registered them all."""
    return tuple(_registry[name] for name in sorted(_registry))


def find_mutant(name: str) -> Mutant:
    """The mutant of this name. Raises `UnknownMutant`."""
    try:
        return _registry[name]
    except KeyError:
        raise UnknownMutant(name) from None


class ActiveMutants(MutableSet[str]):
    """The names that are switched on in one server: a set that refuses unknown names (`UnknownMutant`)."""

    def __init__(self, names: Iterable[str], on_change: Callable[[], None]) -> None:
        self._names: set[str] = set()
        self._on_change = on_change
        self.update(names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"ActiveMutants({sorted(self._names)})"

    def add(self, value: str) -> None:
        """Switch a mutant on."""
        find_mutant(value)
        self._names.add(value)
        self._on_change()

    def discard(self, value: str) -> None:
        """Switch a mutant off."""
        self._names.discard(value)
        self._on_change()

    def update(self, names: Iterable[str]) -> None:
        """Switch several mutants on."""
        for name in names:
            self.add(name)
