# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_retransmission.py catch."""

from __future__ import annotations

import contextlib
import socket
import typing as t
import weakref

from nfsclient.protocol import nfs3
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.record import Record, RecordAssembler
from nfsclient.rpc.server import Connection
from nfsclient.xdr import XdrError, replace
from nfsmutants.bending import child_of, inode_of
from nfsmutants.form import Message, TransportMutant, transport_mutant, wire_mutant
from nfsmutants.rpc.headers import head_of, header_of
from nfsmutants.rules import RFC1813_CREATE
from nfsserver.fs import Caller, FsError
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Answer
from nfsserver.transport import AnswerDatagram, AnswerRecord

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
"""Procedure -> bytes of a failure without attributes."""


def _changes_names(message: bytes) -> bool:
    """Whether this is a call of one of these procedures."""
    _, mtype, rpcvers, prog, vers, proc = head_of(message)
    return (mtype, rpcvers, prog, vers) == (0, 2, nfs3.NFS3.number, 3) and proc in _FAILED


def _is_copy(message: Message) -> bool:
    """Whether the same message came before. The mutant remembers it."""
    seen: set[bytes] = message.state.setdefault("seen", set())
    is_copy = message.data in seen
    seen.add(message.data)
    return is_copy


def _is_again(message: Message) -> bool:
    """Whether this is the repetition of a call of one of these procedures."""
    return _changes_names(message.data) and _is_copy(message)


@wire_mutant(only_raw=True)
def rpc_retransmission_is_io(message: Message) -> Answer:
    """The repetition of a call that creates or removes a name answers NFS3ERR_IO"""
    if not _is_again(message):
        return message.proceed()
    failed = (5).to_bytes(4, "big") + bytes(_FAILED[head_of(message.data)[5]])
    return [accepted(head_of(message.data)[0], AcceptStat.SUCCESS).to_xdr(), failed]


@wire_mutant(only_raw=True)
def rpc_retransmission_creates_a_file(message: Message) -> Answer:
    """The repetition of a call that creates or removes a name creates another file in its directory"""
    reply = message.proceed()
    if _is_again(message):
        _make_a_file(message.server, message.data)
    return reply


@transport_mutant(only_raw=True)
class RpcCopiesInFlightCreateAFile(TransportMutant):
    """A call that creates or removes a name creates another file too if a copy of it arrives at the same time"""

    def __init__(self) -> None:
        self._together: set[bytes] = set()
        self._last_datagram = b""

    def make_assembler(self, max_record: int, /) -> RecordAssembler:
        together = self._together

        class Assembler(RecordAssembler):
            def feed(self, data: bytes) -> list[Record]:
                records = super().feed(data)
                messages = [record.payload() for record in records]
                together.update(each for each in messages if messages.count(each) > 1)
                return records

        return Assembler(max_record)

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        proceed(connection, message)
        if message in self._together and _changes_names(message):
            _make_a_file(self.server, message)

    def answer_datagram(
        self, sock: socket.socket, message: bytes, peer: t.Any, proceed: AnswerDatagram, /
    ) -> None:
        proceed(sock, message, peer)
        if message == self._last_datagram and _changes_names(message):
            _make_a_file(self.server, message)
        self._last_datagram = message


@transport_mutant(only_raw=True)
class RpcReconnectCreatesAFile(TransportMutant):
    """The repetition of a call on another connection creates another file in the directory of the call"""

    def __init__(self) -> None:
        self._first: dict[bytes, weakref.ref[Connection]] = {}

    def answer_record(self, connection: Connection, message: bytes, proceed: AnswerRecord, /) -> None:
        proceed(connection, message)
        if _changes_names(message):
            first = self._first.setdefault(message, weakref.ref(connection))
            if first() is not connection:
                _make_a_file(self.server, message)


# ---------------------------------------------------------------- after other calls


def _copied_arguments(message: Message, procedure: AnyOperation) -> tuple[bytes, t.Any] | None:
    """Header and arguments, if this is the repetition of a call of this procedure of NFSv3."""
    if head_of(message.data)[1:] != (0, 2, procedure.program, procedure.version, procedure.number):
        return None
    found = header_of(message.data)
    if not _is_copy(message) or found is None:
        return None
    try:
        return message.data[: found[1]], procedure.args.from_xdr(message.data[found[1] :])
    except XdrError:
        return None


@wire_mutant(only_raw=True)
def rpc_retransmitted_setattr_ignores_the_guard(message: Message) -> Answer:
    """The repetition of a SETATTR with a guard is executed without the guard"""
    found = _copied_arguments(message, nfs3.SETATTR)
    if found is None:
        return message.proceed()
    return message.proceed(found[0] + replace(found[1], guard=None).to_xdr())


@wire_mutant(only_raw=True)
def rpc_retransmitted_write_appends(message: Message) -> Answer:
    """The repetition of a WRITE appends its data to the file"""
    found = _copied_arguments(message, nfs3.WRITE)
    inode = None if found is None else inode_of(message.server, found[1].file)
    if found is None or inode is None:
        return message.proceed()
    return message.proceed(found[0] + replace(found[1], offset=inode.size).to_xdr())


@wire_mutant(breaks=RFC1813_CREATE, only_raw=True)
def rpc_retransmitted_exclusive_create_truncates(message: Message) -> Answer:
    """The repetition of a CREATE EXCLUSIVE makes the file empty"""
    found = _copied_arguments(message, nfs3.CREATE)
    if found is not None and found[1].how.mode == nfs3.CreateMode3.EXCLUSIVE:
        inode = child_of(message.server, found[1].where.dir, found[1].where.name)
        if inode is not None and inode.data is not None:
            inode.data.truncate(0)
    return message.proceed()


def _make_a_file(server: ServerApi, message: bytes) -> None:
    """Create a file in the directory of the call: the first handle of a directory in its arguments."""
    found = header_of(message)
    at = len(message) if found is None else found[1]
    while at + 4 <= len(message):
        length = int.from_bytes(message[at : at + 4], "big")
        with contextlib.suppress(FsError):
            inode = server.backend.resolve(message[at + 4 : at + 4 + length])
            inode.fs.create(Caller(0, 0, frozenset()), inode, b"one more")
            return
        at += 4 + length + -length % 4
