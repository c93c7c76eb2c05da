# SPDX-License-Identifier: MIT
"""The form of a mutant: a named deviation of the reference server, which breaks one rule.

    @mutant(WRITE)
    def write3_reports_more_than_sent(call: Write) -> Write3Res:
        \"\"\"WRITE answers one byte more than it was sent\"\"\"
        return amend(call.proceed(), count=lambda it: it.count + 1)

The name of the function, with hyphens, is the name of the mutant. The first paragraph of its docstring says what the
server does wrong. The decorator names the operations that the mutant changes. The function gets a `Call` and returns
the reply: the server's own (`call.proceed()`), the server's reply to other arguments, or one that it builds itself.

The rule that a mutant breaks is the clause of the check that names it (`killed_by`). If only checks of several clauses
name it, it says which of them: `@mutant(LOCK, breaks=RFC5661_LOCK)`.

`wire_mutant` is for mutants that change bytes (RPC headers, malformed replies): its function gets a `Message`.
`transport_mutant` is for mutants of fragments, connections and datagrams. It decorates a class instead of a function:
`RpcAnswersTwice` is the mutant ``rpc-answers-twice``. `mutant_of_each` makes one mutant per operation.
`mutant_in_steps` is for races: its function is a generator, and other calls come between its steps (`windows`).
"""

from __future__ import annotations

import dataclasses
import re
import typing as t
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import cleandoc

from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.program import AnyOperation, Operation
from nfsclient.rpc.service import CallContext
from nfsclient.rpc.sockets import Address
from nfsclient.similar import similar_text
from nfsclient.xdr import XdrType
from nfsmutants.bending import change
from nfsmutants.windows import Steps
from nfsserver.backend import Backend
from nfsserver.fs import Caller
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Answer, Proceed, ProceedMessage
from nfsserver.transport import TransportMiddleware

A = t.TypeVar("A", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)
T = t.TypeVar("T", bound=TransportMiddleware)

State: t.TypeAlias = dict[t.Any, t.Any]
"""The memory of a mutant in one server, from the time it is switched on until it is switched off."""


@dataclass(slots=True)
class Call(t.Generic[A, R]):
    """One operation, in a call or in a compound, on its way to the handler."""

    server: ServerApi
    context: CallContext
    args: A
    state: State
    handler: Proceed[A, R]
    """Answers the call correctly; `proceed` calls it."""

    def proceed(self, args: A | None = None) -> R:
        """The server's answer to the call, or to the same call with other arguments."""
        return self.handler(self.context, self.args if args is None else args)

    def proceed_with(self, path: str = "", /, **changes: t.Any) -> R:
        """The server's answer to the same call with other arguments, made by `change`."""
        return self.proceed(change(self.args, path, **changes))

    def proceed_as_root(self, args: A | None = None) -> R:
        """The answer that root would get."""
        as_root = dataclasses.replace(self.context, credential=AuthSys(0, 0))
        return self.handler(as_root, self.args if args is None else args)

    @property
    def operation(self) -> AnyOperation:
        """The operation of the call."""
        return self.context.operation

    @property
    def peer(self) -> Address:
        """The address that the call came from."""
        return self.context.peer

    @property
    def backend(self) -> Backend:
        """What all protocols of the server share: handles, objects, boots, limits."""
        return self.server.backend

    @property
    def caller(self) -> Caller:
        """The user who makes the call."""
        return self.server.backend.caller(self.context)


AnyCall: t.TypeAlias = Call[t.Any, t.Any]


@dataclass(slots=True)
class Message:
    """One RPC message, from its header to the end of the arguments."""

    server: ServerApi
    data: bytes
    state: State
    handler: ProceedMessage

    def proceed(self, data: bytes | None = None) -> Answer:
        """The server's answer to the message, or to other bytes; None if it sends no answer."""
        return self.handler(self.data if data is None else data)


class TransportMutant(TransportMiddleware):
    """The base of transport mutants that need more of the server than its sockets."""

    server: ServerApi
    """The server that it is switched on in."""


OnCall: t.TypeAlias = Callable[[Call[A, R]], R]
OnCallInSteps: t.TypeAlias = Callable[[Call[A, R]], Steps[R]]
AnyOnCall: t.TypeAlias = Callable[[t.Any], t.Any]
OnMessage: t.TypeAlias = Callable[[Message], Answer]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One deviation: `gist` says what the server does wrong."""

    name: str
    gist: str
    operations: tuple[AnyOperation, ...] = ()
    """The operations that it changes; empty for mutants of messages and transports."""
    breaks: str = field(default="", kw_only=True)
    """The clause that forbids it; empty: that of the checks that name the mutant (`nfsproof.proofs`)."""
    on_call: AnyOnCall | None = field(default=None, kw_only=True)
    on_message: OnMessage | None = field(default=None, kw_only=True)
    transport: type[TransportMiddleware] | None = field(default=None, kw_only=True)
    in_steps: bool = field(default=False, kw_only=True)
    """`on_call` is a generator function: other calls come between its steps."""
    only_raw: bool = field(default=False, kw_only=True)
    """Changes nothing that a typed client sends or receives: only checks that build their own bytes can detect it."""
    kills_many: str = field(default="", kw_only=True)
    """Why it may fail many checks. Without a reason, a mutant that kills a tenth of the checks is too blunt."""


class UnknownMutant(LookupError):
    """A name that no mutant has."""

    def __init__(self, name: str) -> None:
        near = similar_text(name, _registry)
        super().__init__(
            f"no mutant is named {name!r}{near}; `nfsproof serve --list-mutants` shows all names"
        )
        self.name = name


class WrongDeclaration(ValueError):
    """A mutant with a name that is already in use, or without a docstring."""


_registry: dict[str, Mutant] = {}


def all_mutants() -> tuple[Mutant, ...]:
    """Every mutant, by name."""
    return tuple(_registry[name] for name in sorted(_registry))


def find_mutant(name: str) -> Mutant:
    """The mutant of this name. Raises `UnknownMutant`."""
    try:
        return _registry[name]
    except KeyError:
        raise UnknownMutant(name) from None


def _register(mutant: Mutant) -> None:
    if mutant.name in _registry:
        raise WrongDeclaration(f"two mutants are named {mutant.name!r}")
    if not mutant.gist:
        raise WrongDeclaration(f"{mutant.name!r} has no docstring that says what it does wrong")
    _registry[mutant.name] = mutant


def _gist_of(declared: Callable[..., t.Any]) -> str:
    paragraph = cleandoc(declared.__doc__ or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def _name_of(declared: Callable[..., t.Any]) -> str:
    """``some_name`` and ``SomeName`` are both ``some-name``."""
    words = re.sub(r"(?<=.)(?=[A-Z])", "-", declared.__name__)
    return words.replace("_", "-").lower()


# ---------------------------------------------------------------- declarations


@t.overload
def mutant(
    operations: Operation[A, R], *, breaks: str = "", kills_many: str = ""
) -> Callable[[OnCall[A, R]], OnCall[A, R]]: ...
@t.overload
def mutant(
    operations: tuple[AnyOperation, ...], *, breaks: str = "", kills_many: str = ""
) -> Callable[[AnyOnCall], AnyOnCall]: ...
def mutant(
    operations: AnyOperation | tuple[AnyOperation, ...], *, breaks: str = "", kills_many: str = ""
) -> Callable[[AnyOnCall], AnyOnCall]:
    """Register a function of a `Call` that deviates in one operation, or in several."""
    bent = operations if isinstance(operations, tuple) else (operations,)

    def register(on_call: AnyOnCall) -> AnyOnCall:
        name, gist = _name_of(on_call), _gist_of(on_call)
        _register(Mutant(name, gist, bent, breaks=breaks, on_call=on_call, kills_many=kills_many))
        return on_call

    return register


def mutant_in_steps(
    operation: Operation[A, R], *, breaks: str = "", kills_many: str = ""
) -> Callable[[OnCallInSteps[A, R]], OnCallInSteps[A, R]]:
    """Register a generator function of a `Call`: at each `yield`, the server answers other calls."""

    def register(on_call: OnCallInSteps[A, R]) -> OnCallInSteps[A, R]:
        name, gist, bent = _name_of(on_call), _gist_of(on_call), (operation,)
        made = Mutant(name, gist, bent, breaks=breaks, on_call=on_call, in_steps=True, kills_many=kills_many)
        _register(made)
        return on_call

    return register


def mutant_of_each(
    operations: tuple[AnyOperation, ...], *, kills_many: str = ""
) -> Callable[[AnyOnCall], AnyOnCall]:
    """Register a function of a `Call` as one mutant per operation.

    ``creates_nothing`` becomes ``create3-creates-nothing``, ``mkdir3-creates-nothing`` and so on; `{}` in the
    docstring stands for the operation.
    """

    def register(on_call: AnyOnCall) -> AnyOnCall:
        for operation in operations:
            name = f"{operation.name.lower()}{operation.version}-{_name_of(on_call)}"
            gist = _gist_of(on_call).format(operation.name)
            _register(Mutant(name, gist, (operation,), on_call=on_call, kills_many=kills_many))
        return on_call

    return register


def wire_mutant(
    *, breaks: str = "", only_raw: bool = False, kills_many: str = ""
) -> Callable[[OnMessage], OnMessage]:
    """Register a function of a `Message`."""

    def register(on_message: OnMessage) -> OnMessage:
        name, gist = _name_of(on_message), _gist_of(on_message)
        made = Mutant(
            name, gist, breaks=breaks, on_message=on_message, only_raw=only_raw, kills_many=kills_many
        )
        _register(made)
        return on_message

    return register


def transport_mutant(
    *, breaks: str = "", only_raw: bool = False, kills_many: str = ""
) -> Callable[[type[T]], type[T]]:
    """Register a class. Each time the mutant is switched on, it makes a new object of the class."""

    def register(transport: type[T]) -> type[T]:
        name, gist = _name_of(transport), _gist_of(transport)
        made = Mutant(
            name, gist, breaks=breaks, transport=transport, only_raw=only_raw, kills_many=kills_many
        )
        _register(made)
        return transport

    return register
