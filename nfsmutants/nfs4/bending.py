# SPDX-License-Identifier: MIT
"""Changing arguments and results of NFSv4."""

from __future__ import annotations

import contextlib
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.channel import Channel
from nfsclient.xdr import Struct, Union, Unread, XdrType, replace, shape_of
from nfsmutants.bending import change
from nfsserver.handlers import ServerApi

X = t.TypeVar("X", bound=XdrType)


def status_field(result: XdrType) -> str:
    """What the RFC calls the status in the result of an operation."""
    return type(result).__xdr_fields__[0]


def succeeded(result: XdrType) -> bool:
    """Whether an operation succeeded."""
    return p.status_of(result) == Nfsstat4.NFS4_OK


def amend4(result: X, path: str = "", /, **changes: t.Any) -> X:
    """A result with other values, changed as `change` does; unchanged if the operation failed."""
    if not succeeded(result):
        return result
    if not isinstance(result, Union):
        return change(result, path, **changes)
    arm = shape_of(type(result)).arm_for(Nfsstat4.NFS4_OK)
    assert arm is not None
    assert arm.name is not None
    return replace(result, **{arm.name: change(getattr(result, arm.name), path, **changes)})


def refusal(like: X, status: Nfsstat4) -> X:
    """A result of the same operation that fails with `status`."""
    cls = type(like)
    if issubclass(cls, Struct):
        return replace(like, **{status_field(like): status})
    return t.cast("t.Any", cls)(status)  # type: ignore[no-any-return]


def restate4(result: X, old: Nfsstat4, new: Nfsstat4) -> X:
    """The result with the status `new` instead of `old`; unchanged if its status is another one."""
    return refusal(result, new) if p.status_of(result) == old else result


def words_of(*names: str) -> frozenset[int]:
    """The numbers of attributes."""
    return frozenset(p.NUMBERS[name] for name in names)


# ---------------------------------------------------------------- callbacks


@contextlib.contextmanager
def calls_back(server: ServerApi, bend: Callable[[p.CbCompound4Args], p.CbCompound4Args]) -> Iterator[None]:
    """CB_COMPOUNDs that are sent inside, on connections that are there, have other arguments."""
    sessions = [session for client in server.states.clients for session in client.sessions.values()]
    channels = {channel for session in sessions for channel in session.connections}

    def through(channel: Channel) -> Callable[..., t.Any]:
        genuine = channel.call

        def call(procedure: t.Any, args: p.CbCompound4Args, *more: t.Any, **named: t.Any) -> t.Any:
            return genuine(procedure, bend(args), *more, **named)

        return call

    for channel in channels:
        vars(channel)["call"] = through(channel)
    try:
        yield
    finally:
        for channel in channels:
            del vars(channel)["call"]


# ---------------------------------------------------------------- whole compounds


def names_in(args: p.Compound4Args) -> list[str]:
    """The operations of a compound."""
    return [
        "ILLEGAL" if isinstance(operation, Unread) else p.operation_of(operation).name
        for operation in args.argarray
    ]


def with_result(reply: p.Compound4Res, at: int, result: XdrType) -> p.Compound4Res:
    """The reply with another result at a place, where it ends if that result fails."""
    results = [*reply.resarray[:at], result, *reply.resarray[at + 1 :]]
    if not succeeded(result):
        results = results[: at + 1]
    status = p.status_of(results[-1])
    return replace(reply, status=status, resarray=results)


def restate_last(reply: p.Compound4Res, old: Nfsstat4, new: Nfsstat4) -> p.Compound4Res:
    """The reply with another status of the operation that failed, and of the whole."""
    if reply.status != old:
        return reply
    if not reply.resarray:
        return replace(reply, status=new)
    return with_result(reply, len(reply.resarray) - 1, refusal(reply.resarray[-1], new))


def sequence_of(args: p.Compound4Args) -> p.Sequence4Args | None:
    """The SEQUENCE that a compound begins with."""
    first = args.argarray[0] if args.argarray else None
    return first if isinstance(first, p.Sequence4Args) else None


def accepted(sent: p.Sequence4Args) -> p.Sequence4Res:
    """A SEQUENCE that succeeds."""
    ids = (sent.sa_sessionid, sent.sa_sequenceid, sent.sa_slotid)
    return p.Sequence4Res(Nfsstat4.NFS4_OK, p.Sequence4ResOk(*ids, sent.sa_slotid, sent.sa_slotid, 0))


def with_sequence(args: p.Compound4Args, **changes: t.Any) -> p.Compound4Args:
    """The compound with another SEQUENCE in front."""
    return replace(args, argarray=[change(args.argarray[0], **changes), *args.argarray[1:]])


def echoing(reply: p.Compound4Res, sent: p.Sequence4Args) -> p.Compound4Res:
    """The reply with the sequence id that was sent."""
    first = amend4(reply.resarray[0], sr_sequenceid=sent.sa_sequenceid)
    return replace(reply, resarray=[first, *reply.resarray[1:]])
