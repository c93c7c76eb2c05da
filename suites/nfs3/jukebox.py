# SPDX-License-Identifier: MIT
"""Calls that the server may answer with JUKEBOX, and what they change."""

from __future__ import annotations

import typing as t

from fixtures.checks.dialects.nfs3 import Nfs3Scratch
from fixtures.checks.target import KnobsView
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsclient.rpc.blocking import RpcClient
from nfsjudge import skip, unsupported
from suites.catalogue import Call

DELAYED: t.Final = (
    *("getattr", "lookup", "read", "write", "create", "rename", "link"),
    *("readdir", "fsstat"),
)
"""One code path of a server decides about JUKEBOX: these procedures stand for all."""
OBJECT: t.Final = b"put-off"
"""The name of the object of a call; the names of others begin with it."""
_FAILURES: t.Final = frozenset(
    {
        Nfsstat3.NFS3ERR_IO,
        Nfsstat3.NFS3ERR_NXIO,
        Nfsstat3.NFS3ERR_NODEV,
        Nfsstat3.NFS3ERR_NOSPC,
        Nfsstat3.NFS3ERR_DQUOT,
        Nfsstat3.NFS3ERR_ROFS,
        Nfsstat3.NFS3ERR_ACCES,
        Nfsstat3.NFS3ERR_PERM,
        Nfsstat3.NFS3ERR_SERVERFAULT,
    }
)
"""Errors that any call may end with, after JUKEBOX or not."""


def need_jukebox(rpc: RpcClient, knobs: KnobsView, call: Call, args: t.Any, xid: int | None = None) -> None:
    """Make the call, and go on if it returns JUKEBOX: always with the knob, else by chance.

    Ends the check as UNSUPPORTED if the server returns anything else.
    """
    if knobs.are_there:
        knobs.set(jukebox_calls=1, jukebox_names=f"{OBJECT.decode()}*")
    status = rpc.call(call.procedure, args, xid=xid).status
    if status != Nfsstat3.NFS3ERR_JUKEBOX:
        unsupported(f"the server does not put this off: {call.procedure.name} answers {status}")


def final_status(reply: t.Any) -> Nfsstat3:
    """The status of a retry. Ends the check if the retry fails for another reason."""
    status: Nfsstat3 = reply.status
    if status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if status in _FAILURES or status == Nfsstat3.NFS3ERR_JUKEBOX:
        skip(f"it does not come to a result: {status}")
    return status


def snapshot(scratch: Nfs3Scratch) -> dict[bytes, object]:
    """The names in the scratch directory, each with the attributes of its object that show a change."""
    found: dict[bytes, object] = {}
    for name in sorted(scratch.names()):
        handle = scratch.lookup(name)
        if handle is not None:
            seen = scratch.attributes(handle)
            found[name] = (seen.type, seen.fileid, seen.mode, seen.size, seen.nlink)
    return found
