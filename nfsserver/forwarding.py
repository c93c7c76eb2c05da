# SPDX-License-Identifier: MIT
"""Calls that portmap and rpcbind make for their callers: CALLIT, BCAST and INDIRECT."""

from __future__ import annotations

import struct
import typing as t

from nfsclient.protocol.portmap import PROGRAM
from nfsclient.rpc.messages import AcceptStat, AuthStat, ReplyHeader
from nfsclient.rpc.service import CallContext, Refused
from nfsserver.binding import netid_of
from nfsserver.handlers import ServerApi

MAX_PASSED_ON = 512
"""Bytes of results that CALLIT and similar procedures return over UDP, where the source address may be forged."""

_CALL_START = struct.Struct(">6I")
"""xid, CALL, RPC version, program, version, procedure."""
_RELAYED: t.Final = {AcceptStat.PROC_UNAVAIL, AcceptStat.GARBAGE_ARGS, AcceptStat.SYSTEM_ERR}


class Wanted(t.NamedTuple):
    """A call to be passed on."""

    prog: int
    vers: int
    proc: int
    args: bytes


def pass_on(server: ServerApi, context: CallContext, wanted: Wanted, *, indirect: bool = False) -> bytes:
    """The results of a call to a program of this server, made for the caller. Raises `Refused` when it fails.

    The port mapper itself is not called, so that calls do not nest; services that others have SET run elsewhere, and
    are not called either. Results beyond `MAX_PASSED_ON` are withheld over UDP, against amplification attacks.
    """
    counted = (wanted.prog, wanted.vers, wanted.proc, netid_of(context), indirect)
    statistics = server.registry.statistics[context.version]
    try:
        results = _call(server, context, wanted)
    except Refused:
        statistics.count_passed(counted, False)
        raise
    statistics.count_passed(counted, True)
    return results


def _call(server: ServerApi, context: CallContext, wanted: Wanted) -> bytes:
    """Make the call. Raises `Refused`."""
    if wanted.prog == PROGRAM:
        raise Refused(accept_stat=AcceptStat.PROG_UNAVAIL)
    credential, verifier = context.credential.opaque()
    header = _CALL_START.pack(context.xid, 0, 2, wanted.prog, wanted.vers, wanted.proc)
    message = header + credential + verifier + wanted.args
    results = _results(server.dispatcher.answer(message, context.peer, context.transport))
    if context.transport == "udp" and len(results) > MAX_PASSED_ON:
        raise Refused(accept_stat=AcceptStat.SYSTEM_ERR)
    return results


def _results(answer: t.Sequence[t.Any] | None) -> bytes:
    """The results in a reply. Raises `Refused` as the reply does."""
    if answer is None:
        raise Refused(accept_stat=AcceptStat.PROG_UNAVAIL)
    reply = b"".join(answer)
    header, end = ReplyHeader.unpack_from(reply, 0)
    accepted = header.body.areply
    if accepted is None:
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    stat = accepted.reply_data.stat
    if stat != AcceptStat.SUCCESS:
        raise Refused(accept_stat=stat if stat in _RELAYED else AcceptStat.PROG_UNAVAIL)
    return reply[end:]
