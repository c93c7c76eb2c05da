# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_compound.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.xdr import Union, Unread, replace
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import names_in, refusal, restate_last, sequence_of, with_result
from nfsserver.nfs4.common import compound_of

Compound = Call[p.Compound4Args, p.Compound4Res]


@mutant(p.COMPOUND)
def compound4_takes_any_minor_version(call: Compound) -> p.Compound4Res:
    """A COMPOUND of an unknown minor version is executed as one of 4.1"""
    return call.proceed_with(minorversion=1) if call.args.minorversion > p.LATEST_MINOR else call.proceed()


@mutant(p.COMPOUND)
def compound4_drops_the_tag(call: Compound) -> p.Compound4Res:
    """The results of COMPOUND have an empty tag"""
    return replace(call.proceed(), tag=b"")


@mutant(p.COMPOUND, kills_many="every COMPOUND that fails early has a result too many")
def compound4_goes_on_after_an_error(call: Compound) -> p.Compound4Res:
    """After an operation that failed, the next one is answered as well"""
    reply = call.proceed()
    at = len(reply.resarray)
    following = call.args.argarray[at] if 1 < at < len(call.args.argarray) else None
    if following is None or isinstance(following, Unread) or reply.status == Nfsstat4.NFS4_OK:
        return reply
    kind = p.operation_of(following).res
    if not issubclass(kind, Union):
        return reply
    failed = t.cast("t.Any", kind)(reply.status)
    return replace(reply, resarray=[*reply.resarray, failed])


@mutant(p.COMPOUND)
def compound4_unknown_is_notsupp(call: Compound) -> p.Compound4Res:
    """An operation that does not exist gets NOTSUPP"""
    reply = call.proceed()
    return restate_last(reply, Nfsstat4.NFS4ERR_OP_ILLEGAL, Nfsstat4.NFS4ERR_NOTSUPP)


@mutant(p.COMPOUND)
def compound4_needs_no_session(call: Compound) -> p.Compound4Res:
    """An operation that needs a session gets INVAL without one"""
    reply = call.proceed()
    if sequence_of(call.args) is not None:
        return reply
    for status in (Nfsstat4.NFS4ERR_OP_NOT_IN_SESSION, Nfsstat4.NFS4ERR_OP_ILLEGAL):
        reply = restate_last(reply, status, Nfsstat4.NFS4ERR_INVAL)
    return reply


@mutant(p.COMPOUND)
def compound4_sessionless_with_company(call: Compound) -> p.Compound4Res:
    """An operation that needs no session is executed though others follow it, and these are not"""
    is_alone = len(call.args.argarray) == 1 or sequence_of(call.args) is not None
    first = names_in(call.args)[:1]
    if is_alone or not first or not p.BY_NAME[first[0]].is_sessionless:
        return call.proceed()
    return call.proceed_with(argarray=call.args.argarray[:1])


@mutant(p.COMPOUND)
def compound4_removed_is_illegal(call: Compound) -> p.Compound4Res:
    """An operation that NFSv4.1 has removed gets OP_ILLEGAL"""
    reply = call.proceed()
    last = p.operation_of(reply.resarray[-1]) if reply.resarray else None
    if last is None or last.until != 0:
        return reply
    return restate_last(reply, Nfsstat4.NFS4ERR_NOTSUPP, Nfsstat4.NFS4ERR_OP_ILLEGAL)


@mutant(p.COMPOUND)
def compound4_takes_any_number_of_operations(call: Compound) -> p.Compound4Res:
    """A COMPOUND of too many operations is cut, and what is left is executed"""
    reply = call.proceed()
    if reply.status != Nfsstat4.NFS4ERR_TOO_MANY_OPS:
        return reply
    return call.proceed_with(argarray=call.args.argarray[: len(call.args.argarray) // 2])


@mutant(p.COMPOUND)
def compound4_begins_at_the_root(call: Compound) -> p.Compound4Res:
    """The root is the current and the saved filehandle at the beginning of a COMPOUND"""
    if sequence_of(call.args) is None or len(call.args.argarray) != 2:
        return call.proceed()
    first, operation = call.args.argarray
    reply = call.proceed_with(argarray=[first, p.Putrootfh4Args(), p.Savefh4Args(), operation])
    return replace(reply, resarray=[*reply.resarray[:1], *reply.resarray[3:]])


@mutant(p.COMPOUND)
def compound4_current_is_saved(call: Compound) -> p.Compound4Res:
    """LINK and RENAME without a saved filehandle take the current one for both"""
    reply = call.proceed()
    if reply.status != Nfsstat4.NFS4ERR_NOFILEHANDLE or len(reply.resarray) != 3:
        return reply
    return with_result(reply, 2, refusal(reply.resarray[2], Nfsstat4.NFS4ERR_NOENT))


@mutant((p.WRITE, p.REMOVE))
def compound4_writes_and_removes_go_up(call: AnyCall) -> t.Any:
    """After WRITE and REMOVE the root of the export is the current filehandle"""
    result = call.proceed()
    if p.status_of(result) == Nfsstat4.NFS4_OK:
        state = compound_of(call.context)
        state.current, state.handle = call.backend.fs.root, None
    return result
