# SPDX-License-Identifier: MIT
"""Replies, handles and lists of MOUNT for the mutants of MOUNT."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import (
    DUMP1,
    DUMP2,
    DUMP3,
    MNT1,
    MNT2,
    MNT3,
    PROGRAM,
    UMNT1,
    UMNT2,
    UMNT3,
    UMNTALL1,
    UMNTALL2,
    UMNTALL3,
    Mnt1Res,
    Mnt3Res,
    Mountres3Ok,
    MountStat1,
    MountStat3,
)
from nfsmutants.form import AnyCall, Message
from nfsserver.fs import Inode
from nfsserver.middleware import Answer
from nfsserver.mount import AUTH_SYS

Res: t.TypeAlias = Mnt1Res | Mnt3Res


def gives(call: AnyCall, inode: Inode) -> Res:
    """Success with the handle of `inode`, in the version of the call."""
    handle = call.backend.handle_of(inode)
    if call.context.version == 3:
        return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(handle, [AUTH_SYS]))
    return Mnt1Res(MountStat1.OK, handle)


def first_directory(call: AnyCall) -> Inode | None:
    """The first directory in the export."""
    entries = call.backend.fs.readdir(call.caller, call.backend.fs.root, 0)
    below = [entry.inode for entry in entries if entry.name not in {b".", b".."}]
    return next((inode for inode in below if inode.directory is not None), None)


def _word(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _is_call(message: bytes, procedure: int, versions: t.Collection[int]) -> bool:
    starts = {_word(PROGRAM) + _word(version) + _word(procedure) for version in versions}
    return message[12:24] in starts


MNTS = (MNT1, MNT2, MNT3)
DUMPS = (DUMP1, DUMP2, DUMP3)
UMNTS = (UMNT1, UMNT2, UMNT3)
UMNTALLS = (UMNTALL1, UMNTALL2, UMNTALL3)
_THERE_IS = (1).to_bytes(4, "big")


# ---------------------------------------------------------------- form


def _with_entry(message: Message, number: int, entry: bytes, *, least: int = 0) -> Answer:
    """The reply with an entry in front of the list, if it has at least `least` bytes.

    The list begins with the boolean that says whether an entry follows.
    """
    reply = message.proceed()
    called = (message.data[12:16], message.data[20:24])
    if reply is None or called != (PROGRAM.to_bytes(4, "big"), number.to_bytes(4, "big")):
        return reply
    whole = b"".join(reply)
    return [whole[:24] + _THERE_IS + entry + whole[24:]] if len(whole) >= least else [whole]


def xdr_string(data: bytes) -> bytes:
    """The length of an XDR string and its bytes, without padding."""
    return len(data).to_bytes(4, "big") + data
