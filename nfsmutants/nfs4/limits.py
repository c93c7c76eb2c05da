# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_limits.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsmutants.form import AnyCall, Call, mutant
from nfsmutants.nfs4.bending import amend4, refusal
from nfsmutants.rules import RFC5661_WRITE

CreateSession = Call[p.CreateSession4Args, p.CreateSession4Res]
Write = Call[p.Write4Args, p.Write4Res]
_MUCH: t.Final = 1 << 20
_2_GIB: t.Final = 1 << 31
_LONG: t.Final = 200
"""Bytes of names that are refused although maxname is larger."""


def _announcing(call: CreateSession, **real: int) -> p.CreateSession4Res:
    """A session with other limits than the client asked for, and than the result says."""
    asked = call.args.csa_fore_chan_attrs
    result = call.proceed_with("csa_fore_chan_attrs", **real)
    return amend4(result, "csr_fore_chan_attrs", **{name: getattr(asked, name) for name in real})


@mutant(p.CREATE_SESSION)
def createsession4_accepts_an_operation_less(call: CreateSession) -> p.CreateSession4Res:
    """A session accepts one operation less than ca_maxoperations in a COMPOUND"""
    return _announcing(call, ca_maxoperations=call.args.csa_fore_chan_attrs.ca_maxoperations - 1)


@mutant(p.CREATE_SESSION)
def createsession4_accepts_half_of_the_request(call: CreateSession) -> p.CreateSession4Res:
    """A session accepts requests of half of ca_maxrequestsize"""
    return _announcing(call, ca_maxrequestsize=call.args.csa_fore_chan_attrs.ca_maxrequestsize // 2)


@mutant(p.CREATE_SESSION)
def createsession4_executes_larger_requests(call: CreateSession) -> p.CreateSession4Res:
    """A session executes requests above ca_maxrequestsize"""
    return _announcing(call, ca_maxrequestsize=_MUCH)


@mutant(p.CREATE_SESSION)
def createsession4_sends_larger_replies(call: CreateSession) -> p.CreateSession4Res:
    """A session sends replies above ca_maxresponsesize and ca_maxresponsesize_cached"""
    return _announcing(call, ca_maxresponsesize=_MUCH, ca_maxresponsesize_cached=_MUCH)


@mutant((p.CREATE_SESSION, p.READ))
def read4_fills_the_reply_with_data(call: AnyCall) -> t.Any:
    """READ returns ca_maxresponsesize bytes of data: its reply, with the headers, is larger"""
    if call.operation is p.READ:
        most = call.state.get("most", _MUCH)
        return call.proceed_with(count=min(call.args.count, most))
    call.state["most"] = call.args.csa_fore_chan_attrs.ca_maxresponsesize
    return _announcing(call, ca_maxresponsesize=_MUCH, ca_maxresponsesize_cached=_MUCH)


@mutant(p.CREATE_SESSION)
def createsession4_has_half_of_the_slots(call: CreateSession) -> p.CreateSession4Res:
    """A session has half of the slots of ca_maxrequests"""
    return _announcing(call, ca_maxrequests=max(1, call.args.csa_fore_chan_attrs.ca_maxrequests // 2))


@mutant(p.WRITE, breaks=RFC5661_WRITE)
def write4_ends_at_2_gib(call: Write) -> p.Write4Res:
    """WRITE beyond 2 GiB gets FBIG, whatever maxfilesize says"""
    result = call.proceed() if call.args.offset + len(call.args.data) <= _2_GIB else None
    return result if result is not None else refusal(call.proceed_with(data=b""), Nfsstat4.NFS4ERR_FBIG)


@mutant(p.WRITE, breaks=RFC5661_WRITE)
def write4_wraps_at_2_gib(call: Write) -> p.Write4Res:
    """WRITE uses 31 bits of the offset"""
    return call.proceed_with(offset=call.args.offset % _2_GIB)


@mutant(p.GETATTR)
def getattr4_announces_two_bytes(call: Call[p.Getattr4Args, p.Getattr4Res]) -> p.Getattr4Res:
    """maxread, maxwrite and maxfilesize are 2"""
    result = call.proceed()
    known = result.resok4.obj_attributes if result.resok4 is not None else None
    names = ("maxread", "maxwrite", "maxfilesize")
    changes = {name: 2 for name in names if known is not None and getattr(known, name) is not None}
    return (
        amend4(result, obj_attributes=lambda it: it.obj_attributes.changed(**changes)) if changes else result
    )


@mutant(p.CREATE)
def create4_names_are_shorter_than_maxname(call: Call[p.Create4Args, p.Create4Res]) -> p.Create4Res:
    """CREATE refuses names of more than 200 bytes, whatever maxname says"""
    if len(call.args.objname) <= _LONG:
        return call.proceed()
    return refusal(call.proceed_with(objname=b""), Nfsstat4.NFS4ERR_NAMETOOLONG)
