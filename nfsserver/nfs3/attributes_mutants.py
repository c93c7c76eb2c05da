# SPDX-License-Identifier: MIT
"""Mutants of GETATTR, SETATTR and ACCESS."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import (
    GETATTR,
    SETATTR,
    Ftype3,
    Getattr3Args,
    Getattr3Res,
    Getattr3ResOk,
    Setattr3Args,
    Setattr3Res,
)
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import replace
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "getattr3-wrong-type",
    bends=GETATTR,
    breaks="RFC 1813 section 2.5",
    gist="GETATTR calls every directory a regular file",
)
def getattr3_wrong_type(
    _server: Server,
    context: CallContext,
    args: Getattr3Args,
    proceed: Proceed[Getattr3Args, Getattr3Res],
) -> Getattr3Res:
    """Turn NF3DIR into NF3REG."""
    reply = proceed(context, args)
    if reply.resok is None or reply.resok.obj_attributes.type != Ftype3.NF3DIR:
        return reply
    wrong = replace(reply.resok.obj_attributes, type=Ftype3.NF3REG)
    return replace(reply, resok=Getattr3ResOk(wrong))


@mutant(
    "setattr3-ignores-guard",
    bends=SETATTR,
    breaks="RFC 1813 section 3.3.2",
    gist="SETATTR changes attributes though the guard does not match",
)
def setattr3_ignores_guard(
    _server: Server,
    context: CallContext,
    args: Setattr3Args,
    proceed: Proceed[Setattr3Args, Setattr3Res],
) -> Setattr3Res:
    """Leave the guard out."""
    return proceed(context, replace(args, guard=None))
