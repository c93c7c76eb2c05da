# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_xid.py catch."""

from __future__ import annotations

import socket
import typing as t

from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.messages import AcceptStat as Accept
from nfsclient.rpc.record import frame
from nfsclient.rpc.server import Connection
from nfsmutants.form import Message, transport_mutant, wire_mutant
from nfsmutants.rpc.bending import _HEADER
from nfsmutants.rpc.headers import head_of, with_word
from nfsserver.middleware import Answer
from nfsserver.transport import AnswerDatagram, AnswerRecord, TransportMiddleware


@transport_mutant(only_raw=True)
class RpcEmptyReplyToRepeatedXid(TransportMiddleware):
    """A datagram with the XID of one from another port is answered SUCCESS without results"""

    def __init__(self) -> None:
        self.senders: dict[bytes, t.Any] = {}

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        first = self.senders.setdefault(message[:4], peer)
        if first == peer or len(message) < 40:
            proceed(sock, message, peer)
            return
        xid = int.from_bytes(message[:4], "big")
        sock.sendto(accepted(xid, AcceptStat.SUCCESS).to_xdr(), peer)


_ENDS = frozenset({0, 2**31 - 1, 2**31, 2**32 - 1})


@wire_mutant(only_raw=True)
def rpc_changes_extreme_xids(message: Message) -> Answer:
    """Replies to the XIDs 0, 2^31-1, 2^31 and 2^32-1 have other XIDs"""
    xid = head_of(message.data)[0]
    return message.proceed(
        with_word(message.data, 0, xid ^ 1) if xid in _ENDS and len(message.data) >= _HEADER else message.data
    )


@wire_mutant(only_raw=True)
def rpc_refuses_decreasing_xids(message: Message) -> Answer:
    """The server treats XIDs as sequence numbers: it refuses a call with XID 4 after one with XID 5"""
    state = message.state
    xid, last = head_of(message.data)[0], state.get("last")
    state["last"] = xid
    if (last, xid) == (5, 4):
        return accepted(xid, Accept.SYSTEM_ERR).to_buffers()
    return message.proceed()


@transport_mutant(only_raw=True)
class RpcSharesRepliesByXid(TransportMiddleware):
    """A call with the XID of a call on another connection gets the reply to that call"""

    def __init__(self) -> None:
        self.replies: dict[bytes, tuple[Connection, bytes]] = {}

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        known = self.replies.get(message[:4])
        if known is not None and known[0] is not connection:
            connection.send(list(frame([known[1]])))
            return
        proceed(connection, message)
        # Only for NULL: its reply is always the same, so it is known without looking at the sent bytes.
        if message[20:24] == bytes(4):
            self.replies[message[:4]] = (
                connection,
                b"".join(accepted(int.from_bytes(message[:4], "big"), AcceptStat.SUCCESS).to_buffers()),
            )
