# SPDX-License-Identifier: MIT
"""A call of each procedure about an object that the server may put off with JUKEBOX, and what such a call changes."""

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
"""The name of the object that a call is about."""
_NEW: t.Final = b"put-off-new"
"""And that of one that it makes."""
_ANY_DATA: t.Final = b"data"
_FIFO: t.Final = p.Mknoddata3(p.Ftype3.NF3FIFO, pipe_attributes=Sattr3(mode=0o644))

_GONE: t.Final = frozenset({Nfsstat3.NFS3ERR_NOENT})
_THERE: t.Final = frozenset({Nfsstat3.NFS3ERR_EXIST})
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
"""What may stand in the way of any call, put off or not."""


class Call(t.NamedTuple):
    """One procedure, its arguments (made with the objects that they need), and how to see what it changes."""

    procedure: Procedure[t.Any, t.Any]
    arguments: Callable[[Scratch], t.Any]
    done_before: frozenset[Nfsstat3] = frozenset()
    """How a further call says that an earlier one took effect."""
    changes: bool = False


def _file(scratch: Scratch) -> bytes:
    return scratch.file(OBJECT, _ANY_DATA)


def _where(scratch: Scratch, name: bytes = _NEW) -> Diropargs3:
    return Diropargs3(scratch.handle, name)


def _existing(scratch: Scratch) -> Diropargs3:
    _file(scratch)
    return _where(scratch, OBJECT.encode())


def _empty_directory(scratch: Scratch) -> Diropargs3:
    scratch.directory(OBJECT)
    return _where(scratch, OBJECT.encode())


CALLS: t.Final[dict[str, Call]] = {
    "getattr": Call(p.GETATTR, lambda s: p.Getattr3Args(_file(s))),
    "setattr": Call(p.SETATTR, lambda s: p.Setattr3Args(_file(s), Sattr3(mode=0o640, size=1)), changes=True),
    "lookup": Call(p.LOOKUP, lambda s: p.Lookup3Args(_existing(s))),
    "access": Call(p.ACCESS, lambda s: p.Access3Args(_file(s), p.ACCESS3_READ)),
    "readlink": Call(p.READLINK, lambda s: p.Readlink3Args(s.symlink(OBJECT, b"target"))),
    "read": Call(p.READ, lambda s: p.Read3Args(_file(s), 0, 4)),
    "write": Call(
        p.WRITE, lambda s: p.Write3Args(_file(s), 4, 4, StableHow.FILE_SYNC, b"more"), changes=True
    ),
    "create": Call(
        p.CREATE,
        lambda s: p.Create3Args(
            _where(s), p.Createhow3(p.CreateMode3.GUARDED, obj_attributes=Sattr3(mode=0o644))
        ),
        _THERE,
        changes=True,
    ),
    "mkdir": Call(p.MKDIR, lambda s: p.Mkdir3Args(_where(s), Sattr3(mode=0o755)), _THERE, changes=True),
    "symlink": Call(
        p.SYMLINK,
        lambda s: p.Symlink3Args(_where(s), p.Symlinkdata3(Sattr3(mode=0o777), b"target")),
        _THERE,
        changes=True,
    ),
    "mknod": Call(p.MKNOD, lambda s: p.Mknod3Args(_where(s), _FIFO), _THERE, changes=True),
    "remove": Call(p.REMOVE, lambda s: p.Remove3Args(_existing(s)), _GONE, changes=True),
    "rmdir": Call(p.RMDIR, lambda s: p.Rmdir3Args(_empty_directory(s)), _GONE, changes=True),
    "rename": Call(p.RENAME, lambda s: p.Rename3Args(_existing(s), _where(s)), _GONE, changes=True),
    "link": Call(p.LINK, lambda s: p.Link3Args(_file(s), _where(s)), _THERE, changes=True),
    "readdir": Call(p.READDIR, lambda s: p.Readdir3Args(s.directory(OBJECT), 0, bytes(8), 4096)),
    "readdirplus": Call(
        p.READDIRPLUS, lambda s: p.Readdirplus3Args(s.directory(OBJECT), 0, bytes(8), 4096, 8192)
    ),
    "fsstat": Call(p.FSSTAT, lambda s: p.Fsstat3Args(_file(s))),
    "fsinfo": Call(p.FSINFO, lambda s: p.Fsinfo3Args(_file(s))),
    "pathconf": Call(p.PATHCONF, lambda s: p.Pathconf3Args(_file(s))),
    "commit": Call(p.COMMIT, lambda s: p.Commit3Args(_file(s), 0, 0)),
}
"""Each procedure but NULL, which has no status."""

CHANGES: t.Final = [name for name, call in CALLS.items() if call.changes]


def put_off(rpc: RpcClient, knobs: KnobsView, call: Call, args: t.Any, xid: int | None = None) -> None:
    """Make the call so that it is answered with JUKEBOX: by a knob where there is one, else by chance.

    Ends the check as UNSUPPORTED where the server does what is asked.
    """
    if knobs.are_there:
        knobs.set(jukebox_calls=1, jukebox_names=f"{OBJECT}*")
    status = rpc.call(call.procedure, args, xid=xid).status
    if status != Nfsstat3.NFS3ERR_JUKEBOX:
        unsupported(f"the server does not put this off: {call.procedure.name} answers {status}")


def settle(reply: t.Any) -> Nfsstat3:
    """The status of a call that was put off before. Ends the check where something else stands in the way of it."""
    status: Nfsstat3 = reply.status
    if status == Nfsstat3.NFS3ERR_NOTSUPP:
        unsupported("the server does not support this procedure")
    if status in _FAILURES or status == Nfsstat3.NFS3ERR_JUKEBOX:
        skip(f"it does not come to a result: {status}")
    return status


def look(scratch: Scratch) -> dict[bytes, object]:
    """What is in the scratch directory: names, and for each object what a change of it shows in."""
    found: dict[bytes, object] = {}
    for name in sorted(scratch.names()):
        handle = scratch.lookup(name)
        if handle is not None:
            seen = scratch.attributes(handle)
            found[name] = (seen.type, seen.fileid, seen.mode, seen.size, seen.nlink)
    return found
