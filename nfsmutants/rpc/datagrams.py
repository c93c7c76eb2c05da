# SPDX-License-Identifier: MIT
"""Mutants of datagrams, and of calls that come again."""

from __future__ import annotations

import contextlib
import socket
import typing as t

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import READ, WRITE, Read3Args, Read3Res, Write3Args, Write3Res
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.service import CallContext
from nfsmutants.bending import amend
from nfsmutants.form import Call, Message, mutant, transport_mutant, wire_mutant
from nfsmutants.rpc.headers import head_of, header_of
from nfsmutants.rules import (
    RFC1122_UDP_SOURCE,
    RFC1813_READ,
    RFC1813_WRITE,
    RFC1831_MESSAGES,
    RFC1831_SEMANTICS,
    RFC1831_TRANSPORT,
)
from nfsserver.fs import Caller, FsError
from nfsserver.middleware import Answer
from nfsserver.server import Server
from nfsserver.transport import AnswerDatagram, TransportMiddleware

_KEPT = 8192
"""Bytes of data in a datagram that are not lost."""


class _Elsewhere(TransportMiddleware):
    """Replies with another socket."""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        """What that socket is bound to."""
        raise NotImplementedError

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Answer, but not from here, if nobody in particular asks: others would wait for nothing."""
        if message[24:40] != bytes(16):
            proceed(sock, message, peer)
            return
        with socket.socket(sock.family, socket.SOCK_DGRAM) as other:
            other.bind(self.where(sock))
            proceed(other, message, peer)


@transport_mutant(RFC1831_TRANSPORT, only_raw=True)
class RpcAnswersFromAnotherPort(_Elsewhere):
    """Replies over UDP to calls with AUTH_NONE come from another port"""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        """The same address."""
        return (sock.getsockname()[0], 0)


@transport_mutant(RFC1122_UDP_SOURCE, only_raw=True)
class RpcAnswersFromAnotherAddress(_Elsewhere):
    """Replies over UDP to calls with AUTH_NONE come from 127.0.0.2"""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        """The same port."""
        return ("127.0.0.2", sock.getsockname()[1])


@transport_mutant(RFC1831_MESSAGES, only_raw=True)
class RpcTakesOneXidForOneSender(TransportMiddleware):
    """A datagram with the XID of one from another port is answered SUCCESS without results"""

    def __init__(self) -> None:
        self.senders: dict[bytes, t.Any] = {}

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Answer from the cache."""
        first = self.senders.setdefault(message[:4], peer)
        if first == peer or len(message) < 40:
            proceed(sock, message, peer)
            return
        xid = int.from_bytes(message[:4], "big")
        sock.sendto(accepted(xid, AcceptStat.SUCCESS).to_xdr(), peer)


@transport_mutant(RFC1831_TRANSPORT, only_raw=True)
class RpcAnswersDatagramsTwice(TransportMiddleware):
    """From the fifth datagram in a row with empty AUTH_NONE on, each is answered twice"""

    def __init__(self) -> None:
        self.count = 0

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Answer, and again."""
        proceed(sock, message, peer)
        self.count = self.count + 1 if message[24:40] == bytes(16) else 0
        if self.count >= 5:
            proceed(sock, message, peer)


@transport_mutant(RFC1831_TRANSPORT)
class RpcLosesEveryCallOfABurst(TransportMiddleware):
    """Of calls that come fast over UDP every fiftieth is answered as one of another program"""

    def __init__(self) -> None:
        self.lost: set[bytes] = set()
        self.count = 0

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Lose it."""
        self.count += 1
        if self.count == 50:
            self.lost.add(message[:4])
        if message[:4] not in self.lost:
            proceed(sock, message, peer)


@mutant(WRITE, RFC1813_WRITE)
def write3_loses_the_end_of_large_datagrams(call: Call[Write3Args, Write3Res]) -> Write3Res:
    """WRITE over UDP writes zeros after the first 8192 bytes"""
    if call.context.transport != "udp" or len(call.args.data) <= _KEPT:
        return call.proceed()
    return call.proceed_with(data=bytes(call.args.data[:_KEPT]).ljust(len(call.args.data), b"\0"))


def _bend_read(context: CallContext, reply: Read3Res) -> bool:
    return context.transport == "udp" and reply.resok is not None and len(reply.resok.data) > _KEPT


@mutant(READ, RFC1813_READ)
def read3_loses_the_end_of_large_datagrams(call: Call[Read3Args, Read3Res]) -> Read3Res:
    """READ over UDP returns zeros after the first 8192 bytes"""
    reply = call.proceed()
    if not _bend_read(call.context, reply) or reply.resok is None:
        return reply
    data = bytes(reply.resok.data[:_KEPT]).ljust(len(reply.resok.data), b"\0")
    return amend(reply, data=data)


@mutant(READ, RFC1831_TRANSPORT)
def read3_is_silent_on_what_no_datagram_holds(call: Call[Read3Args, Read3Res]) -> Read3Res:
    """READ over UDP of more than 65536 bytes is not answered"""
    if call.context.transport == "udp" and call.args.count > 65_536:
        call.server.keep_silent()
    return call.proceed()


_FAILED: t.Final = {
    nfs3.CREATE.number: 8,
    nfs3.MKDIR.number: 8,
    nfs3.SYMLINK.number: 8,
    nfs3.MKNOD.number: 8,
    nfs3.REMOVE.number: 8,
    nfs3.RMDIR.number: 8,
    nfs3.RENAME.number: 16,
    nfs3.LINK.number: 12,
}
"""Procedure -> bytes of a failure in which no attributes are given."""


def _is_again(message: Message) -> bool:
    """Whether a call of one of these procedures has come before."""
    _, mtype, rpcvers, prog, vers, proc = head_of(message.data)
    if (mtype, rpcvers, prog, vers) != (0, 2, nfs3.NFS3.number, 3) or proc not in _FAILED:
        return False
    seen: set[bytes] = message.state.setdefault("seen", set())
    is_again = message.data in seen
    seen.add(message.data)
    return is_again


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def rpc_fails_at_retransmissions(message: Message) -> Answer:
    """A call that makes or removes a name and comes again is answered NFS3ERR_IO"""
    if not _is_again(message):
        return message.proceed()
    failed = (5).to_bytes(4, "big") + bytes(_FAILED[head_of(message.data)[5]])
    return [accepted(head_of(message.data)[0], AcceptStat.SUCCESS).to_xdr(), failed]


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def rpc_undoes_at_retransmissions(message: Message) -> Answer:
    """When a call that makes or removes a name comes again, another file is made in its directory"""
    reply = message.proceed()
    if _is_again(message):
        _make_a_file(message.server, message.data)
    return reply


def _make_a_file(server: Server, message: bytes) -> None:
    """Make a file where the call has its directory: the first handle in its arguments that is one."""
    found = header_of(message)
    at = len(message) if found is None else found[1]
    while at + 4 <= len(message):
        length = int.from_bytes(message[at : at + 4], "big")
        with contextlib.suppress(FsError):
            inode = server.resolve(message[at + 4 : at + 4 + length])
            inode.fs.create(Caller(0, 0, frozenset()), inode, b"one more")
            return
        at += 4 + length + -length % 4
