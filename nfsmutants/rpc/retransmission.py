# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/rpc/test_retransmission.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol import nfs3
from nfsclient.rpc.messages import AcceptStat, accepted
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.headers import head_of, header_of
from nfsmutants.rules import RFC1831_SEMANTICS
from nfsserver.fs import Caller, FsError
from nfsserver.handlers import ServerApi
from nfsserver.middleware import Answer

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


def _is_again(message: Message) -> bool:
    """Whether this is the repetition of a call of one of these procedures."""
    _, mtype, rpcvers, prog, vers, proc = head_of(message.data)
    if (mtype, rpcvers, prog, vers) != (0, 2, nfs3.NFS3.number, 3) or proc not in _FAILED:
        return False
    seen: set[bytes] = message.state.setdefault("seen", set())
    is_again = message.data in seen
    seen.add(message.data)
    return is_again


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def rpc_retransmission_is_io(message: Message) -> Answer:
    """The repetition of a call that creates or removes a name answers NFS3ERR_IO"""
    if not _is_again(message):
        return message.proceed()
    failed = (5).to_bytes(4, "big") + bytes(_FAILED[head_of(message.data)[5]])
    return [accepted(head_of(message.data)[0], AcceptStat.SUCCESS).to_xdr(), failed]


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def rpc_retransmission_creates_a_file(message: Message) -> Answer:
    """The repetition of a call that creates or removes a name creates another file in its directory"""
    reply = message.proceed()
    if _is_again(message):
        _make_a_file(message.server, message.data)
    return reply


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
