# SPDX-License-Identifier: MIT
"""TOY, an invented protocol with a compound: a call carries operations on a register, and stops at the first error.

It is here to show that all that is about operations works for what a compound carries, before NFSv4 does.
"""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Sequence
from dataclasses import dataclass

from nfsclient.protocol import registry
from nfsclient.protocol.registry import Protocol
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import AnyOperation, Operation, Procedure, Program, Step
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import Array, Case, Struct, Union, Void, XdrEnum, u32
from nfsjudge import policy
from nfsjudge.lint import views
from nfsjudge.lint.seen import View
from nfsjudge.policy.common import NOT_SUPPORTED
from nfsserver import service
from nfsserver.handlers import Handlers, ServerApi, answers
from nfsserver.service import Service

PROGRAM, VERSION = 0x20000077, 1


class ToyStat(XdrEnum):
    OK = 0
    FULL = 1
    ABSENT = 2


class ToyOp(XdrEnum):
    PUT = 3
    ADD = 4
    GET = 5


class NumberArgs(Struct):
    value: u32


class GetArgs(Struct):
    pass


class StatusRes(Struct):
    status: ToyStat


class GetOk(Struct):
    value: u32


class GetRes(Union):
    status: ToyStat
    resok: t.Annotated[GetOk | None, Case(ToyStat.OK)] = None


class ArgOp(Union):
    argop: ToyOp
    opput: t.Annotated[NumberArgs | None, Case(ToyOp.PUT)] = None
    opadd: t.Annotated[NumberArgs | None, Case(ToyOp.ADD)] = None
    opget: t.Annotated[GetArgs | None, Case(ToyOp.GET)] = None


class ResOp(Union):
    resop: ToyOp
    opput: t.Annotated[StatusRes | None, Case(ToyOp.PUT)] = None
    opadd: t.Annotated[StatusRes | None, Case(ToyOp.ADD)] = None
    opget: t.Annotated[GetRes | None, Case(ToyOp.GET)] = None


class CompoundArgs(Struct):
    tag: u32
    argarray: t.Annotated[list[ArgOp], Array(16)]


class CompoundRes(Struct):
    status: ToyStat
    resarray: t.Annotated[list[ResOp], Array(16)]


PUT = Operation(PROGRAM, VERSION, 3, "PUT", NumberArgs, StatusRes)
ADD = Operation(PROGRAM, VERSION, 4, "ADD", NumberArgs, StatusRes)
GET = Operation(PROGRAM, VERSION, 5, "GET", GetArgs, GetRes)
OPERATIONS: t.Final[dict[int, AnyOperation]] = {operation.number: operation for operation in (PUT, ADD, GET)}


def arm_of(operation: AnyOperation) -> str:
    return f"op{operation.name.lower()}"


@dataclass(slots=True, eq=False)
class ToyStep(Step):
    """A step that also knows where it stands, as those of NFSv4 will know the current filehandle."""

    index: int = 0


def steps_of(args: CompoundArgs | None, res: CompoundRes | None) -> Sequence[Step]:
    steps = []
    for at, asked in enumerate(args.argarray if args is not None else []):
        operation = OPERATIONS[asked.argop]
        arm = arm_of(operation)
        answered = res.resarray[at] if res is not None and at < len(res.resarray) else None
        result = None if answered is None else getattr(answered, arm)
        path = f"resarray[{at}].{arm}"
        steps.append(ToyStep(operation, getattr(asked, arm), result, path, at))
    return steps


NULL = Procedure(PROGRAM, VERSION, 0, "NULL", Void, Void)
COMPOUND = Procedure(PROGRAM, VERSION, 1, "COMPOUND", CompoundArgs, CompoundRes, steps=steps_of)
TOY = Program(PROGRAM, VERSION, "TOY", (NULL, COMPOUND), tuple(OPERATIONS.values()))
PROTOCOL: t.Final = Protocol(
    name="toy", title="Toy", rfcs={0: "RFC 9999"}, modules=(__name__,), service="mount"
)


def put(value: int) -> ArgOp:
    return ArgOp(ToyOp.PUT, opput=NumberArgs(value))


def add(value: int) -> ArgOp:
    return ArgOp(ToyOp.ADD, opadd=NumberArgs(value))


def get() -> ArgOp:
    return ArgOp(ToyOp.GET, opget=GetArgs())


# ---------------------------------------------------------------- the server's side


@dataclass(slots=True)
class Register:
    """What the operations of one compound share."""

    value: int = 0


def _put(_server: ServerApi, context: CallContext, args: NumberArgs) -> StatusRes:
    context.state.value = args.value
    return StatusRes(ToyStat.OK)


def _add(_server: ServerApi, context: CallContext, args: NumberArgs) -> StatusRes:
    total = context.state.value + args.value
    if total > 100:
        return StatusRes(ToyStat.FULL)
    context.state.value = total
    return StatusRes(ToyStat.OK)


def _get(_server: ServerApi, context: CallContext, _args: GetArgs) -> GetRes:
    return GetRes(ToyStat.OK, GetOk(context.state.value))


HANDLERS: t.Final[Handlers] = dict([answers(PUT, _put), answers(ADD, _add), answers(GET, _get)])


def _compound(server: ServerApi, context: CallContext, args: CompoundArgs) -> CompoundRes:
    register = Register()
    reply = CompoundRes(ToyStat.OK, [])
    for asked in args.argarray:
        operation = OPERATIONS[asked.argop]
        inner = dataclasses.replace(context, operation=operation, state=register)
        arm = arm_of(operation)
        result = server.perform(operation, HANDLERS[operation], inner, getattr(asked, arm))
        reply.resarray.append(ResOp(asked.argop, **{arm: result}))
        reply.status = result.status
        if reply.status is not ToyStat.OK:
            break
    return reply


SERVICE: t.Final = Service(TOY, dict([answers(COMPOUND, _compound)]))


# ---------------------------------------------------------------- what a protocol registers


def join_in() -> None:
    """Register TOY with all that it brings, as the modules of a real protocol do. It stays until the process ends."""
    registry.register(PROTOCOL)
    service.register(SERVICE)
    policy.register(
        policy.ProtocolPolicy(
            statuses=(policy.StatusPolicy(status=ToyStat, inconclusive={ToyStat.ABSENT: NOT_SUPPORTED}),),
            versions={TOY: "toy"},
            may_lack=(ADD,),
        )
    )
    views.register(TOY, VIEWS)


def _no_views(_step: Step) -> list[View]:
    return []


def _no_change(_step: Step) -> list[bytes]:
    return []


def _learn(*_args: object, **_options: object) -> None:
    pass


VIEWS: t.Final = views.Views(_no_views, _no_change, _learn)


# ---------------------------------------------------------------- exchanges without a server


def exchange(asked: list[ArgOp], answered: list[ResOp] | None, status: ToyStat = ToyStat.OK) -> Exchange:
    args = CompoundArgs(7, asked)
    made = Exchange(1, COMPOUND, args, AuthSys(0, 0), b"call", 0.0, "x:1", "tcp")
    if answered is not None:
        made.result = CompoundRes(status, answered)
        made.reply, made.received_at = b"reply", 0.001
    return made


def got(value: int) -> ResOp:
    return ResOp(ToyOp.GET, opget=GetRes(ToyStat.OK, GetOk(value)))


def did(op: ToyOp, status: ToyStat = ToyStat.OK) -> ResOp:
    made = StatusRes(status)
    return ResOp(op, opput=made) if op is ToyOp.PUT else ResOp(op, opadd=made)
