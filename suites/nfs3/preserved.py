# SPDX-License-Identifier: MIT
"""What an operation must leave alone: attributes as they were, and times of old from which to see one move."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable

from nfsclient.clients import Nfs3
from nfsclient.protocol.nfs3 import DONT_CHANGE_TIME, Fattr3, Nfsstat3, Nfstime3, Sattr3, SetTime, TimeHow
from nfsjudge import Requirement, expect, expect_unchanged, skip, unsupported
from nfsjudge.expect import StatusReply
from suites.nfs3.agreement import STEADY

LONG_AGO: t.Final = Nfstime3(946_684_800)
"""The year 2000: no clock of a server says so by chance."""
PROTECTION: t.Final = 0o7777
"""The bits of a mode that have a meaning (RFC 1813 section 2.5). That there are no others is a claim of its own."""
EVERYTHING: t.Final = (*STEADY, "mtime", "ctime")
"""Fields of fattr3 that stay as they are while nobody does anything at all to the object."""


def expect_preserved(
    seen: Fattr3, known: Fattr3, fields: Iterable[str] = EVERYTHING, *, because: Requirement | None = None
) -> None:
    """Both are what GETATTR said of one object, and `fields` are as they were."""
    __tracebackhide__ = True
    expect_unchanged(known, seen, fields, because=because)


def but(*changed: str) -> list[str]:
    """`EVERYTHING` without some fields, and without ctime, which any change may move."""
    return [name for name in EVERYTHING if name not in {*changed, "ctime"}]


def at_client_time(time: Nfstime3) -> SetTime:
    """Asks for a time of the client's."""
    return SetTime(TimeHow.SET_TO_CLIENT_TIME, time)


def make_old(nfs3: Nfs3, file: bytes, *, mtime: bool = True, atime: bool = False) -> None:
    """Set times to `LONG_AGO`, for checks of something else: one that cannot ends the check as SKIP."""
    old = at_client_time(LONG_AGO)
    asked = Sattr3(atime=old if atime else DONT_CHANGE_TIME, mtime=old if mtime else DONT_CHANGE_TIME)
    nfs3.setattr(file, asked)
    reply = nfs3.getattr(file)
    if reply.resok is None:
        skip(f"the times of the object cannot be seen: GETATTR answers {reply.status}")
    seen = reply.resok.obj_attributes
    if (mtime and seen.mtime != LONG_AGO) or (atime and seen.atime != LONG_AGO):
        skip("a time cannot be set to one of old, from which to see it move")


def need_settable(nfs3: Nfs3, handle: bytes, asked: Sattr3) -> None:
    """Set attributes that a check goes on to ask for in vain. SKIP where they cannot be set anyway."""
    status = nfs3.setattr(handle, asked).status
    if status != Nfsstat3.NFS3_OK:
        skip(f"this cannot be set without a guard either: SETATTR answers {status}")


def with_mode(nfs3: Nfs3, handle: bytes, mode: int) -> bytes:
    """The handle, of an object whose mode is `mode` now: CREATE may have masked it. SKIP if that cannot be."""
    if _mode(nfs3, handle) != mode:
        nfs3.setattr(handle, Sattr3(mode=mode))
        if _mode(nfs3, handle) != mode:
            skip(f"an object of mode {mode:o} cannot be had")
    return handle


def _mode(nfs3: Nfs3, handle: bytes) -> int | None:
    reply = nfs3.getattr(handle)
    return None if reply.resok is None else reply.resok.obj_attributes.mode & PROTECTION


def expect_change(reply: StatusReply, *, because: Requirement | None = None) -> None:
    """A change of attributes succeeded, unless the server cannot do, or grant, what was asked.

    RFC 1813 defines neither which values a server can store (section 3.3.2: INVAL) nor who may set them
    (section 4.4). What is said here is that a change that is answered with success can be judged.
    """
    __tracebackhide__ = True
    if reply.status in {Nfsstat3.NFS3ERR_INVAL, Nfsstat3.NFS3ERR_NOTSUPP, Nfsstat3.NFS3ERR_FBIG}:
        unsupported(f"the server cannot store this: {reply.status}")
    if reply.status in {
        Nfsstat3.NFS3ERR_PERM,
        Nfsstat3.NFS3ERR_ACCES,
        Nfsstat3.NFS3ERR_NOSPC,
        Nfsstat3.NFS3ERR_DQUOT,
    }:
        skip(f"the user of the run may not, or there is no room: {reply.status}")
    expect(reply, because=because).ok()
