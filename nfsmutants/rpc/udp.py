# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_udp.py catch."""

from __future__ import annotations

import socket
import typing as t

from nfsclient.protocol.nfs3 import READ, WRITE, Read3Args, Read3Res, Write3Args, Write3Res
from nfsclient.rpc.service import CallContext
from nfsmutants.bending import amend
from nfsmutants.form import Call, mutant, transport_mutant
from nfsserver.transport import AnswerDatagram, TransportMiddleware

_KEPT = 8192
"""In bytes: the data of a datagram that is not lost."""


class _Elsewhere(TransportMiddleware):
    """Replies with another socket."""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        """The address to which that socket is bound."""
        raise NotImplementedError

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        """Reply from another socket to calls with AUTH_NONE only: other clients would wait in vain."""
        if message[24:40] != bytes(16):
            proceed(sock, message, peer)
            return
        with socket.socket(sock.family, socket.SOCK_DGRAM) as other:
            other.bind(self.where(sock))
            proceed(other, message, peer)


@transport_mutant(only_raw=True)
class RpcAnswersFromAnotherPort(_Elsewhere):
    """Replies over UDP to calls with AUTH_NONE come from another port"""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        return (sock.getsockname()[0], 0)


@transport_mutant(only_raw=True)
class RpcAnswersFromAnotherAddress(_Elsewhere):
    """Replies over UDP to calls with AUTH_NONE come from 127.0.0.2"""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        return ("127.0.0.2", sock.getsockname()[1])


@transport_mutant(only_raw=True)
class RpcAnswersDatagramsTwice(TransportMiddleware):
    """From the fifth datagram in a row with empty AUTH_NONE on, each gets two replies"""

    def __init__(self) -> None:
        self.count = 0

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        proceed(sock, message, peer)
        self.count = self.count + 1 if message[24:40] == bytes(16) else 0
        if self.count >= 5:
            proceed(sock, message, peer)


@transport_mutant()
class RpcDropsTheFiftiethDatagram(TransportMiddleware):
    """The fiftieth datagram over UDP is lost, and so are its retransmissions"""

    def __init__(self) -> None:
        self.lost: set[bytes] = set()
        self.count = 0

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        self.count += 1
        if self.count == 50:
            self.lost.add(message[:4])
        if message[:4] not in self.lost:
            proceed(sock, message, peer)


@mutant(WRITE)
def write3_over_udp_zeroes_after_8k(call: Call[Write3Args, Write3Res]) -> Write3Res:
    """WRITE over UDP writes zeros after the first 8192 bytes"""
    if call.context.transport != "udp" or len(call.args.data) <= _KEPT:
        return call.proceed()
    return call.proceed_with(data=bytes(call.args.data[:_KEPT]).ljust(len(call.args.data), b"\0"))


def _bend_read(context: CallContext, reply: Read3Res) -> bool:
    return context.transport == "udp" and reply.resok is not None and len(reply.resok.data) > _KEPT


@mutant(READ)
def read3_over_udp_zeroes_after_8k(call: Call[Read3Args, Read3Res]) -> Read3Res:
    """READ over UDP returns zeros after the first 8192 bytes"""
    reply = call.proceed()
    if not _bend_read(call.context, reply) or reply.resok is None:
        return reply
    data = bytes(reply.resok.data[:_KEPT]).ljust(len(reply.resok.data), b"\0")
    return amend(reply, data=data)


@mutant(READ)
def read3_drops_large_reads_over_udp(call: Call[Read3Args, Read3Res]) -> Read3Res:
    """READ over UDP of more than 65536 bytes gets no reply"""
    if call.context.transport == "udp" and call.args.count > 65_536:
        call.server.keep_silent()
    return call.proceed()
