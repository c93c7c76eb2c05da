# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_drc.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsmutants.bending import inode_of
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.headers import head_of, header_of
from nfsmutants.rules import RFC1813_PERMISSIONS, RFC1831_SEMANTICS
from nfsserver.fs import SUPERUSER, FsError, Stability
from nfsserver.middleware import Answer

_HANDLE2: t.Final = 32
"""Bytes of a handle of NFSv2 (RFC 1094 section 2.3.3)."""
_CHANGES: t.Final = frozenset(
    (one.program, one.version, one.number)
    for one in (
        *(nfs2.CREATE, nfs2.MKDIR, nfs2.SYMLINK, nfs2.LINK, nfs2.REMOVE, nfs2.RMDIR, nfs2.RENAME),
        *(nfs3.CREATE, nfs3.MKDIR, nfs3.SYMLINK, nfs3.MKNOD, nfs3.LINK, nfs3.REMOVE, nfs3.RMDIR, nfs3.RENAME),
    )
)

_CHANGES_OF_DATA: t.Final = frozenset(
    (one.program, one.version, one.number) for one in (nfs2.WRITE, nfs3.SETATTR, nfs3.WRITE)
)


def _is_change(message: Message) -> bool:
    return head_of(message.data)[3:] in _CHANGES


def _make_a_file(message: Message) -> None:
    """Create a file in the first directory whose handle stands in the arguments."""
    found = header_of(message.data)
    if found is None:
        return
    is_v2 = head_of(message.data)[4] == 2
    data, at = message.data, found[1]
    while at + 4 <= len(data):
        length = _HANDLE2 if is_v2 else int.from_bytes(data[at : at + 4], "big")
        start = at if is_v2 else at + 4
        inode = inode_of(message.server, data[start : start + length])
        with contextlib.suppress(FsError):
            if inode is not None:
                inode.fs.create(SUPERUSER, inode, b"one more")
                return
        at = start + length + -length % 4


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def first_copy_of_a_change_makes_a_file(message: Message) -> Answer:
    """A change of names that comes twice, without another one between, creates another file in its directory"""
    if not _is_change(message):
        return message.proceed()
    is_copy = message.state.get("last") == message.data
    message.state["last"] = message.data
    reply = message.proceed()
    if is_copy:
        _make_a_file(message)
    return reply


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def late_copy_of_a_change_makes_a_file(message: Message) -> Answer:
    """A change of names that comes again after other changes creates another file in its directory"""
    if not _is_change(message):
        return message.proceed()
    seen: set[bytes] = message.state.setdefault("seen", set())
    is_late = message.data in seen and message.state.get("last") != message.data
    seen.add(message.data)
    message.state["last"] = message.data
    reply = message.proceed()
    if is_late:
        _make_a_file(message)
    return reply


@wire_mutant(RFC1813_PERMISSIONS, only_raw=True)
def copies_act_as_the_first_user(message: Message) -> Answer:
    """A call with the XID and the arguments of an earlier one is executed with the credential of that one"""
    found = header_of(message.data)
    if not _is_change(message) or found is None:
        return message.proceed()
    first: dict[tuple[bytes, bytes], bytes] = message.state.setdefault("first", {})
    key = (message.data[:4], message.data[found[1] :])
    earlier = first.setdefault(key, message.data)
    if earlier == message.data:
        return message.proceed()
    # With another XID, past the replay cache, which would answer without executing it.
    answer = message.proceed(bytes(4) + earlier[4:])
    if answer is None:
        return None
    whole = b"".join(bytes(part) for part in answer)
    return [message.data[:4] + whole[4:]]


def _leave_something(message: Message) -> None:
    """Create a file in the directory of a change of names; change the data of the file of another change."""
    if _is_change(message):
        _make_a_file(message)
        return
    found = header_of(message.data)
    if found is None:
        return
    at = found[1]
    is_v2 = head_of(message.data)[4] == 2
    length = _HANDLE2 if is_v2 else int.from_bytes(message.data[at : at + 4], "big")
    start = at if is_v2 else at + 4
    inode = inode_of(message.server, message.data[start : start + length])
    with contextlib.suppress(FsError):
        if inode is not None:
            inode.fs.write(SUPERUSER, inode, 0, b"?", Stability.FILE_SYNC)


def _is_of_data(message: Message) -> bool:
    return head_of(message.data)[3:] in _CHANGES_OF_DATA


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def late_copies_leave_something(message: Message) -> Answer:
    """A change that comes again after other changes makes a file, or changes data, besides what it is to do"""
    if not (_is_change(message) or _is_of_data(message)):
        return message.proceed()
    seen: set[bytes] = message.state.setdefault("seen", set())
    is_late = message.data in seen and message.state.get("last") != message.data
    seen.add(message.data)
    message.state["last"] = message.data
    reply = message.proceed()
    if is_late:
        _leave_something(message)
    return reply


@wire_mutant(RFC1831_SEMANTICS, only_raw=True)
def same_xid_leaves_something(message: Message) -> Answer:
    """A change with the XID of another one makes a file, or changes data, besides what it is to do"""
    if not (_is_change(message) or _is_of_data(message)):
        return message.proceed()
    first: dict[bytes, bytes] = message.state.setdefault("first", {})
    is_same = first.setdefault(message.data[:4], message.data) != message.data
    reply = message.proceed()
    if is_same:
        _leave_something(message)
    return reply
