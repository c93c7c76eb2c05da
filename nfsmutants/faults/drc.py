# SPDX-License-Identifier: MIT
"""Mutants that the checks in suites/faults/test_drc.py catch."""

from __future__ import annotations

import contextlib
import typing as t

from nfsclient.protocol import nfs2, nfs3
from nfsmutants.bending import inode_of
from nfsmutants.form import Message, wire_mutant
from nfsmutants.rpc.headers import head_of, header_of
from nfsserver.fs import SUPERUSER, FsError
from nfsserver.middleware import Answer

HANDLE2: t.Final = 32
"""Bytes of a handle of NFSv2 (RFC 1094 section 2.3.3)."""
_CHANGES: t.Final = frozenset(
    (procedure.program, procedure.version, procedure.number)
    for procedure in (
        *(nfs2.CREATE, nfs2.MKDIR, nfs2.SYMLINK, nfs2.LINK, nfs2.REMOVE, nfs2.RMDIR, nfs2.RENAME),
        *(nfs3.CREATE, nfs3.MKDIR, nfs3.SYMLINK, nfs3.MKNOD, nfs3.LINK, nfs3.REMOVE, nfs3.RMDIR, nfs3.RENAME),
    )
)


def is_change(message: Message) -> bool:
    """Whether a message changes names."""
    return head_of(message.data)[3:] in _CHANGES


def comes_late(message: Message) -> bool:
    """Whether the same bytes came before, and others since; notes them."""
    seen: set[bytes] = message.state.setdefault("seen", set())
    is_late = message.data in seen and message.state.get("last") != message.data
    seen.add(message.data)
    message.state["last"] = message.data
    return is_late


def make_a_file(message: Message) -> None:
    """Create a file in the first directory whose handle stands in the arguments."""
    found = header_of(message.data)
    if found is None:
        return
    is_v2 = head_of(message.data)[4] == 2
    data, at = message.data, found[1]
    while at + 4 <= len(data):
        length = HANDLE2 if is_v2 else int.from_bytes(data[at : at + 4], "big")
        start = at if is_v2 else at + 4
        inode = inode_of(message.server, data[start : start + length])
        with contextlib.suppress(FsError):
            if inode is not None:
                inode.fs.create(SUPERUSER, inode, b"one more")
                return
        at = start + length + -length % 4


@wire_mutant(only_raw=True)
def first_copy_of_a_change_makes_a_file(message: Message) -> Answer:
    """A change of names that comes twice, without another one between, creates another file in its directory"""
    if not is_change(message):
        return message.proceed()
    is_copy = message.state.get("last") == message.data
    message.state["last"] = message.data
    reply = message.proceed()
    if is_copy:
        make_a_file(message)
    return reply


@wire_mutant(only_raw=True)
def late_copy_of_a_change_makes_a_file(message: Message) -> Answer:
    """A change of names that comes again after other changes creates another file in its directory"""
    if not is_change(message):
        return message.proceed()
    is_late = comes_late(message)
    reply = message.proceed()
    if is_late:
        make_a_file(message)
    return reply


@wire_mutant(only_raw=True)
def copies_act_as_the_first_user(message: Message) -> Answer:
    """A call with the XID and the arguments of an earlier one is executed with the credential of that one"""
    found = header_of(message.data)
    if not is_change(message) or found is None:
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
