# SPDX-License-Identifier: MIT
"""Invalid and stale handles: calls with them, and expectations of what they return."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from nfsclient.clients import Nfs3
from nfsclient.errors import GarbageArgs, SystemErr
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge import Requirement, expect, observe, skip
from nfsjudge.expect import StatusReply
from suites.nfs3.bad_names import reconnect
from suites.nfs3.calls import OF_THE_FILE_SYSTEM, call_on
from suites.nfs3.statuses import NOT_A_HANDLE

ABSENT: t.Final = b"nfsproof-1b7e4f20-absent"
"""A name that exists in no directory: a call changes nothing even if a damaged handle reaches a directory."""
WITHOUT_EFFECT: t.Final = ("read", "lookup", "rename", *OF_THE_FILE_SYSTEM)
"""Calls that may check a handle in different code: for data, for names, for the file system.

They change nothing, even if the server accepts a damaged handle, perhaps as that of another file.
"""
LATER: t.Final = 4
"""Objects created after one was removed: a server that reuses inode numbers does so at once."""


_MOST_SHOWN: t.Final = 24


def call_without_effect(nfs3: Nfs3, call: str, handle: bytes) -> StatusReply:
    """The reply to one of `WITHOUT_EFFECT`, or to GETATTR."""
    reply: StatusReply = call_on(nfs3, call, handle, ABSENT)
    return reply


def try_handle(nfs3: Nfs3, call: str, handle: bytes) -> StatusReply | None:
    """The reply to a call with a handle of unusual length; None if the server does not decode the arguments."""
    try:
        return call_without_effect(nfs3, call, handle)
    except (GarbageArgs, SystemErr):
        reconnect(nfs3)
        return None


def altered_handles(handle: bytes) -> dict[str, bytes]:
    """Handles that a server has not returned, made from one that it has: of other lengths, with other bytes.

    A byte may be a part of a number that counts objects: a lower one then is of an older object, which may be gone, and
    a higher one of none. With either of them alone, the verdict would depend on how many objects there were before.
    """
    right = len(handle)
    lengths = {1, 4, right // 2, right - 1, min(64, right + 1), 64} - {0, right}
    made = {f"{length} bytes": handle[:length].ljust(length, b"\0") for length in sorted(lengths)}
    for at in sorted({0, right // 3, right // 2, right - 1} & set(range(right))):
        byte = handle[at]
        for what, other in {"lower": byte & (byte - 1), "higher": byte | (byte + 1) & 0xFF}.items():
            if other != byte:
                made[f"byte {at}, {what}"] = handle[:at] + bytes([other]) + handle[at + 1 :]
    return made | {"zeros": bytes(right), "ones": b"\xff" * right}


def expect_bad_handle(
    replies: Mapping[str, StatusReply | None], because: Requirement, *, right: StatusReply | None = None
) -> None:
    """Expect invalid handles to be refused as such, or accepted: a simple server may accept a handle of the right form.

    `right` is the reply to the same call with the valid handle that the others were made from; its status is accepted
    too. A reply of None means that the server did not decode the arguments, which is neither a success nor an error
    about the handle.
    """
    __tracebackhide__ = True
    seen: dict[str, list[str]] = {}
    for what, reply in replies.items():
        seen.setdefault("GARBAGE_ARGS" if reply is None else str(reply.status), []).append(what)
    for status, those in seen.items():
        more = f", ... ({len(those)} in all)" if len(those) > _MOST_SHOWN else ""
        observe(status, ", ".join(those[:_MOST_SHOWN]) + more)
    for reply in replies.values():
        if reply is None or reply.status in {Nfsstat3.NFS3_OK, None if right is None else right.status}:
            continue
        expect(reply).refused(*NOT_A_HANDLE, because=because)


def need_removed(reply: StatusReply, what: str) -> None:
    """SKIP if the object could not be removed."""
    if reply.status != Nfsstat3.NFS3_OK:
        skip(f"{what} cannot be removed: {reply.status}", reply)


def handle_of_removed(nfs3: Nfs3, scratch: Nfs3Scratch, handle: bytes, name: bytes) -> bytes:
    """Remove a name and return the handle of its object. SKIP if it cannot be removed."""
    need_removed(nfs3.remove(scratch.handle, name), name.decode())
    return handle


def removed_directory(nfs3: Nfs3, scratch: Nfs3Scratch) -> bytes:
    """The handle of a directory that was removed. SKIP if it cannot be removed."""
    removed = scratch.directory("removed")
    need_removed(nfs3.rmdir(scratch.handle, b"removed"), "the directory")
    return removed
