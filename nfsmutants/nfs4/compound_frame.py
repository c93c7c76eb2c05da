# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/nfs4/test_compound_frame.py catch."""

from __future__ import annotations

import struct
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.xdr import replace
from nfsmutants.form import Call, Message, mutant, wire_mutant
from nfsmutants.nfs4.bending import names_in
from nfsmutants.rpc.headers import head_of, header_of, joined
from nfsmutants.rules import RFC5661_COMPOUND
from nfsserver.middleware import Answer

Compound = Call[p.Compound4Args, p.Compound4Res]
_GARBAGE: t.Final = accepted(0, AcceptStat.GARBAGE_ARGS).to_xdr()[4:]
_WORD: t.Final = struct.Struct(">I")


@mutant(p.COMPOUND)
def compound4_looks_at_the_minor_version_last(call: Compound) -> p.Compound4Res:
    """A COMPOUND of an unknown minor version gets OP_ILLEGAL, INVAL or success for what else is in it"""
    args, reply = call.args, call.proceed()
    if args.minorversion <= p.LATEST_MINOR:
        return reply
    wrong = {("ILLEGAL",): Nfsstat4.NFS4ERR_OP_ILLEGAL, (): Nfsstat4.NFS4_OK}
    status = wrong.get(tuple(names_in(args)), Nfsstat4.NFS4ERR_INVAL)
    return replace(reply, status=status)


@mutant(p.COMPOUND)
def compound4_of_nothing_is_inval(call: Compound) -> p.Compound4Res:
    """A COMPOUND without operations gets INVAL"""
    reply = call.proceed()
    is_meant = not call.args.argarray and reply.status == Nfsstat4.NFS4_OK
    return replace(reply, status=Nfsstat4.NFS4ERR_INVAL) if is_meant else reply


@mutant(p.COMPOUND)
def compound4_cuts_tags(call: Compound) -> p.Compound4Res:
    """The tag of the results has the ASCII characters of that of the request, and 100 of them at most"""
    reply = call.proceed()
    cut = bytes(byte for byte in bytes(reply.tag)[:100] if byte < 128) or b"no tag"
    return replace(reply, tag=cut)


@mutant(p.COMPOUND, breaks=RFC5661_COMPOUND)
def compound4_bad_tag_is_serverfault(call: Compound) -> p.Compound4Res:
    """A tag that is no UTF-8 gets SERVERFAULT"""
    reply = call.proceed()
    is_meant = reply.status == Nfsstat4.NFS4ERR_INVAL and not reply.resarray
    return replace(reply, status=Nfsstat4.NFS4ERR_SERVERFAULT) if is_meant else reply


@mutant(p.COMPOUND, breaks=RFC5661_COMPOUND)
def compound4_repairs_tags(call: Compound) -> p.Compound4Res:
    """The tag of the results has a question mark for each byte that is no UTF-8"""
    reply = call.proceed()
    return replace(reply, tag=bytes(reply.tag).decode(errors="replace").replace("\ufffd", "?").encode())


def _recounted(message: Message, change: int, most: int) -> Answer:
    """The answer to a COMPOUND that does not decode, with a count of operations that does, if one of these is such."""
    reply = message.proceed()
    found = header_of(message.data)
    is_compound = found is not None and head_of(message.data)[3:6] == (p.NFS4.number, 4, 1)
    if found is None or not is_compound or joined(reply)[4:] != _GARBAGE:
        return reply
    (tag,) = _WORD.unpack_from(message.data, found[1])
    at = found[1] + 4 + tag + (-tag & 3) + 4
    (count,) = _WORD.unpack_from(message.data, at)
    for other in range(count + change, count + change * most, change):
        if other > 0:
            answer = message.proceed(message.data[:at] + _WORD.pack(other) + message.data[at + 4 :])
            if joined(answer)[4:] != _GARBAGE:
                return answer
    return reply


@wire_mutant()
def compound4_executes_what_follows(message: Message) -> Answer:
    """Bytes after the last operation of a COMPOUND are executed as one more"""
    return _recounted(message, 1, 3)


@wire_mutant()
def compound4_ends_where_the_message_does(message: Message) -> Answer:
    """A COMPOUND with fewer operations than it announces is executed as far as it goes"""
    return _recounted(message, -1, 64)
