# SPDX-License-Identifier: MIT
"""Calls that the server may answer with JUKEBOX, and what they change."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from fixtures.checks import KnobsView
from fixtures.scratch import Scratch
from nfsclient.protocol import nfs3 as p
from nfsclient.protocol.nfs3 import Diropargs3, Nfsstat3, Sattr3, StableHow
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.program import Procedure
from nfsjudge import skip, unsupported

OBJECT: t.Final = "put-off"
"""The name of the object of a call."""
_NEW: t.Final = b"put-off-new"
"""The name of an object that a call creates."""
_ANY_DATA: t.Final = b"data"
_NOENT: t.Final = frozenset({Nfsstat3.NFS3ERR_NOENT})
_EXIST: t.Final = frozenset({Nfsstat3.NFS3ERR_EXIST})
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


class Call(t.NamedTuple):
    """One procedure, and a function that creates the objects of the call and returns its arguments."""

    procedure: Procedure[t.Any, t.Any]
    arguments: Callable[[Scratch], t.Any]
    done_before: frozenset[Nfsstat3] = frozenset()
    """What a retry returns if an earlier call took effect."""


def _file(scratch: Scratch) -> bytes:
    return scratch.file(OBJECT, _ANY_DATA)


def _where(scratch: Scratch, name: bytes = _NEW) -> Diropargs3:
    return Diropargs3(scratch.handle, name)


def _existing(scratch: Scratch) -> Diropargs3:
    _file(scratch)
    return _where(scratch, OBJECT.encode())


CALLS: t.Final[dict[str, Call]] = {
    "getattr": Call(p.GETATTR, lambda s: p.Getattr3Args(_file(s))),
    "lookup": Call(p.LOOKUP, lambda s: p.Lookup3Args(_existing(s))),
    "read": Call(p.READ, lambda s: p.Read3Args(_file(s), 0, 4)),
    "write": Call(p.WRITE, lambda s: p.Write3Args(_file(s), 4, 4, StableHow.FILE_SYNC, b"more")),
    "create": Call(
        p.CREATE,
        lambda s: p.Create3Args(
            _where(s), p.Createhow3(p.CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644))
        ),
        _EXIST,
    ),
    "rename": Call(p.RENAME, lambda s: p.Rename3Args(_existing(s), _where(s)), _NOENT),
    "link": Call(p.LINK, lambda s: p.Link3Args(_file(s), _where(s)), _EXIST),
    "readdir": Call(p.READDIR, lambda s: p.Readdir3Args(s.directory(OBJECT), 0, bytes(8), 4096)),
    "fsstat": Call(p.FSSTAT, lambda s: p.Fsstat3Args(_file(s))),
}
"""One code path of a server decides about JUKEBOX: these procedures stand for all."""


def need_jukebox(rpc: RpcClient, knobs: KnobsView, call: Call, args: t.Any, xid: int | None = None) -> None:
    """Make the call, and go on if it returns JUKEBOX: always with the knob, else by chance.

    Ends the check as UNSUPPORTED if the server returns anything else.
    """
    if knobs.are_there:
        knobs.set(jukebox_calls=1, jukebox_names=f"{OBJECT}*")
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


def snapshot(scratch: Scratch) -> dict[bytes, object]:
    """The names in the scratch directory, each with the attributes of its object that show a change."""
    found: dict[bytes, object] = {}
    for name in sorted(scratch.names()):
        handle = scratch.lookup(name)
        if handle is not None:
            seen = scratch.attributes(handle)
            found[name] = (seen.type, seen.fileid, seen.mode, seen.size, seen.nlink)
    return found
