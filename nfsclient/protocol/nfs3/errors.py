# SPDX-License-Identifier: MIT
"""The statuses that RFC 1813 lists for each NFSv3 procedure.

The lists are a guide, not a limit: section 3 calls them the more common errors and tells clients to be ready
for others. A status outside its list is therefore no fault of a server; only one outside of `Nfsstat3` is
(section 2.5).
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs3 import procedures as p
from nfsclient.protocol.nfs3.types import Nfsstat3
from nfsclient.rpc.program import AnyOperation

_PREFIX = "NFS3ERR_"


def _errors(names: str) -> frozenset[Nfsstat3]:
    return frozenset(Nfsstat3[_PREFIX + name] for name in names.split())


_HANDLE = "STALE BADHANDLE SERVERFAULT"
_CREATION = f"IO ACCES EXIST NOTDIR NOSPC ROFS NAMETOOLONG DQUOT NOTSUPP {_HANDLE}"

LISTED: t.Final[dict[AnyOperation, frozenset[Nfsstat3]]] = {
    p.NULL: _errors(""),
    p.GETATTR: _errors(f"IO {_HANDLE}"),
    p.SETATTR: _errors(f"PERM IO ACCES INVAL NOSPC ROFS DQUOT NOT_SYNC {_HANDLE}"),
    p.LOOKUP: _errors(f"IO NOENT ACCES NOTDIR NAMETOOLONG {_HANDLE}"),
    p.ACCESS: _errors(f"IO {_HANDLE}"),
    p.READLINK: _errors(f"IO INVAL ACCES NOTSUPP {_HANDLE}"),
    p.READ: _errors(f"IO NXIO ACCES INVAL {_HANDLE}"),
    p.WRITE: _errors(f"IO ACCES FBIG DQUOT NOSPC ROFS INVAL {_HANDLE}"),
    p.CREATE: _errors(_CREATION),
    p.MKDIR: _errors(_CREATION),
    p.SYMLINK: _errors(_CREATION),
    p.MKNOD: _errors(f"{_CREATION} BADTYPE"),
    p.REMOVE: _errors(f"NOENT IO ACCES NOTDIR NAMETOOLONG ROFS {_HANDLE}"),
    p.RMDIR: _errors(f"NOENT IO ACCES INVAL EXIST NOTDIR NAMETOOLONG ROFS NOTEMPTY NOTSUPP {_HANDLE}"),
    p.RENAME: _errors(
        "NOENT IO ACCES EXIST XDEV NOTDIR ISDIR INVAL NOSPC ROFS MLINK NAMETOOLONG NOTEMPTY DQUOT NOTSUPP "
        + _HANDLE
    ),
    p.LINK: _errors(f"IO ACCES EXIST XDEV NOTDIR INVAL NOSPC ROFS MLINK NAMETOOLONG DQUOT NOTSUPP {_HANDLE}"),
    p.READDIR: _errors(f"IO ACCES NOTDIR BAD_COOKIE TOOSMALL {_HANDLE}"),
    p.READDIRPLUS: _errors(f"IO ACCES NOTDIR BAD_COOKIE TOOSMALL NOTSUPP {_HANDLE}"),
    p.FSSTAT: _errors(f"IO {_HANDLE}"),
    p.FSINFO: _errors(_HANDLE),
    p.PATHCONF: _errors(_HANDLE),
    p.COMMIT: _errors(f"IO {_HANDLE}"),
}
"""Operation -> the statuses under ERRORS in its section, 3.3.n for procedure n."""

GENERAL: t.Final = _errors("IO STALE BADHANDLE SERVERFAULT NOTSUPP JUKEBOX NODEV REMOTE")
"""Statuses that sections 1.6 and 2.6 define for any procedure that takes a handle, whatever its list says."""


def is_expected(operation: AnyOperation, status: Nfsstat3) -> bool:
    """Whether the RFC names `status` for `operation`, in its list or for all.

    False is a rarity, not a fault.
    """
    if status is Nfsstat3.NFS3_OK:
        return True
    return operation is not p.NULL and (status in LISTED[operation] or status in GENERAL)
