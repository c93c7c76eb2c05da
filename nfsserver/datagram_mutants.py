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
from nfsclient.xdr import replace
from nfsserver.fs import Caller, FsError
from nfsserver.mutants import Answer, Proceed, ProceedWire, mutant, transport_mutant, wire_mutant
from nfsserver.rpc_mutants import head_of, header_of
from nfsserver.transport import AnswerDatagram, Bend

if t.TYPE_CHECKING:
    from nfsserver.server import Server

_SECTION_3 = "RFC 1831 section 3"
_KEPT = 8192
"""Bytes of data in a datagram that are not lost."""


class _Elsewhere(Bend):
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


@transport_mutant(
    "rpc-answers-from-another-port",
    only_raw=True,
    breaks=_SECTION_3,
    gist="Replies over UDP to calls with AUTH_NONE come from a port of their own",
)
class RpcAnswersFromAnotherPort(_Elsewhere):
    """Any port."""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        """The same address."""
        return (sock.getsockname()[0], 0)


@transport_mutant(
    "rpc-answers-from-another-address",
    only_raw=True,
    breaks="RFC 1122 section 4.1.3.5",
    gist="Replies over UDP to calls with AUTH_NONE come from 127.0.0.2",
)
class RpcAnswersFromAnotherAddress(_Elsewhere):
    """Another address of loopback."""

    def where(self, sock: socket.socket) -> tuple[str, int]:
        """The same port."""
        return ("127.0.0.2", sock.getsockname()[1])


@transport_mutant(
    "rpc-takes-one-xid-for-one-sender",
    only_raw=True,
    breaks="RFC 1831 section 8",
    gist="A datagram with the XID of one from another port is answered SUCCESS without results",
)
class RpcTakesOneXidForOneSender(Bend):
    """A cache of replies whose key is the XID alone, for NULL."""

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


@transport_mutant(
    "rpc-answers-datagrams-twice",
    only_raw=True,
    breaks=_SECTION_3,
    gist="From the fifth datagram in a row with empty AUTH_NONE on, each is answered twice",
)
class RpcAnswersDatagramsTwice(Bend):
    """Counts."""

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


@transport_mutant(
    "rpc-loses-every-call-of-a-burst",
    breaks=_SECTION_3,
    gist="Of calls that come fast over UDP every fiftieth is answered as one of another program",
)
class RpcLosesCalls(Bend):
    """Answers it with an XID that the client does not know, each time that it comes."""

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


@mutant(
    "write3-loses-the-end-of-large-datagrams",
    bends=WRITE,
    breaks="RFC 1813 section 3.3.7",
    gist="WRITE over UDP writes zeros behind the first 8192 bytes",
)
def write3_loses_the_end(
    _server: Server, context: CallContext, args: Write3Args, proceed: Proceed[Write3Args, Write3Res]
) -> Write3Res:
    """A fragment that did not come."""
    if context.transport != "udp" or len(args.data) <= _KEPT:
        return proceed(context, args)
    return proceed(context, replace(args, data=bytes(args.data[:_KEPT]).ljust(len(args.data), b"\0")))


def _bend_read(context: CallContext, reply: Read3Res) -> bool:
    return context.transport == "udp" and reply.resok is not None and len(reply.resok.data) > _KEPT


@mutant(
    "read3-loses-the-end-of-large-datagrams",
    bends=READ,
    breaks="RFC 1813 section 3.3.6",
    gist="READ over UDP returns zeros behind the first 8192 bytes",
)
def read3_loses_the_end(
    _server: Server, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """A fragment that did not come."""
    reply = proceed(context, args)
    if not _bend_read(context, reply) or reply.resok is None:
        return reply
    data = bytes(reply.resok.data[:_KEPT]).ljust(len(reply.resok.data), b"\0")
    return replace(reply, resok=replace(reply.resok, data=data))


@mutant(
    "read3-is-silent-on-what-no-datagram-holds",
    bends=READ,
    breaks=_SECTION_3,
    gist="READ over UDP of more than 65536 bytes is not answered",
)
def read3_is_silent(
    server: Server, context: CallContext, args: Read3Args, proceed: Proceed[Read3Args, Read3Res]
) -> Read3Res:
    """As a server is that makes the whole reply and cannot send it."""
    if context.transport == "udp" and args.count > 65_536:
        server.keep_silent()
    return proceed(context, args)


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


def _is_again(server: Server, name: str, message: bytes) -> bool:
    """Whether a call of one of these procedures has come before."""
    if head_of(message)[1:5] != (0, 2, nfs3.NFS3.number, 3) or head_of(message)[5] not in _FAILED:
        return False
    seen: set[bytes] = server.mutant_state(name).setdefault("seen", set())
    if message in seen:
        return True
    seen.add(message)
    return False


@wire_mutant(
    "rpc-fails-at-retransmissions",
    only_raw=True,
    breaks="RFC 1831 section 4",
    gist="A call that makes or removes a name and comes again is answered NFS3ERR_IO",
)
def rpc_fails_at_retransmissions(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """Neither the first reply nor a second execution."""
    if not _is_again(server, "rpc-fails-at-retransmissions", message):
        return proceed(message)
    failed = (5).to_bytes(4, "big") + bytes(_FAILED[head_of(message)[5]])
    return [accepted(head_of(message)[0], AcceptStat.SUCCESS).to_xdr(), failed]


@wire_mutant(
    "rpc-undoes-at-retransmissions",
    only_raw=True,
    breaks="RFC 1831 section 4",
    gist="When a call that makes or removes a name comes again, a file is made beside the names in its directory",
)
def rpc_undoes_at_retransmissions(server: Server, message: bytes, proceed: ProceedWire) -> Answer:
    """An effect that no execution has."""
    reply = proceed(message)
    if _is_again(server, "rpc-undoes-at-retransmissions", message):
        _make_a_file(server, message)
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
