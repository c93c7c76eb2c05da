# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_profile.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsmutants.bending import inode_of
from nfsmutants.faults.drc import HANDLE2, comes_late, is_change, make_a_file
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.headers import head_of, header_of
from nfsserver.fs import SUPERUSER, FsError, Stability
from nfsserver.middleware import Answer

_CHANGES_OF_DATA: t.Final = frozenset(
    (procedure.program, procedure.version, procedure.number)
    for procedure in (nfs2.WRITE, nfs3.SETATTR, nfs3.WRITE)
)


def _leave_something(message: Message) -> None:
    """Create a file in the directory of a change of names; change the data of the file of another change."""
    if is_change(message):
        make_a_file(message)
        return
    found = header_of(message.data)
    if found is None:
        return
    at = found[1]
    is_v2 = head_of(message.data)[4] == 2
    length = HANDLE2 if is_v2 else int.from_bytes(message.data[at : at + 4], "big")
    start = at if is_v2 else at + 4
    inode = inode_of(message.server, message.data[start : start + length])
    with contextlib.suppress(FsError):
        if inode is not None:
            inode.fs.write(SUPERUSER, inode, 0, b"?", Stability.FILE_SYNC)


def _is_of_data(message: Message) -> bool:
    return head_of(message.data)[3:] in _CHANGES_OF_DATA


@wire_mutant(only_raw=True)
def late_copies_leave_something(message: Message) -> Answer:
    """A change that comes again after other changes makes a file, or changes data, besides what it is to do"""
    if not (is_change(message) or _is_of_data(message)):
        return message.proceed()
    is_late = comes_late(message)
    reply = message.proceed()
    if is_late:
        _leave_something(message)
    return reply


@wire_mutant(only_raw=True)
def same_xid_leaves_something(message: Message) -> Answer:
    """A change with the XID of another one makes a file, or changes data, besides what it is to do"""
    if not (is_change(message) or _is_of_data(message)):
        return message.proceed()
    first: dict[bytes, bytes] = message.state.setdefault("first", {})
    is_same = first.setdefault(message.data[:4], message.data) != message.data
    reply = message.proceed()
    if is_same:
        _leave_something(message)
    return reply
