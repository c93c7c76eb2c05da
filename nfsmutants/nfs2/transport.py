# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs2/test_transport.py catch."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import CREATE, GETATTR, LOOKUP, READ, SETATTR, WRITE, Attrstat
from nfsclient.xdr import replace
from nfsmutants.form import AnyCall, mutant

# ---------------------------------------------------------------- transports


@mutant((READ, WRITE))
def nfs2_cuts_data_over_udp(call: AnyCall) -> t.Any:
    """WRITE over UDP loses the last byte of its data"""
    args = call.args
    if call.context.transport == "udp" and call.operation is WRITE:
        args = replace(args, data=bytes(args.data)[:-1] + b"\0")
    return call.proceed(args)


@mutant((GETATTR, LOOKUP, CREATE, SETATTR))
def nfs2_over_udp_returns_another_owner(call: AnyCall) -> t.Any:
    """Over UDP, attributes have another owner"""
    reply = call.proceed()
    if call.context.transport != "udp" or reply.resok is None:
        return reply
    if isinstance(reply, Attrstat):
        return replace(reply, attributes=replace(reply.resok, uid=reply.resok.uid + 1))
    attributes = replace(reply.resok.attributes, uid=reply.resok.attributes.uid + 1)
    return replace(reply, diropok=replace(reply.resok, attributes=attributes))
