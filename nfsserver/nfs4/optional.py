# SPDX-License-Identifier: MIT
"""Optional attributes of RFC 5661 section 5.8.2 that this server has by the knob `optional_attributes`.

`archive`, `hidden`, `system`, `mimetype` and `time_backup` are marks: whoever owns an object sets them, and the server
keeps them (`Inode.marks`, `Changes.marks`). The others are read from what the file system has anyway.
"""

from __future__ import annotations

import errno
import typing as t
from collections.abc import Callable, Mapping

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Fattr4, Nfsstat4
from nfsserver.fs import FsError, Inode
from nfsserver.handlers import ServerApi
from nfsserver.nfs4 import locations
from nfsserver.nfs4.common import Nfs4Error, is_utf8

MARKS: t.Final = ("archive", "hidden", "system", "mimetype", "time_backup")
_USUAL: t.Final[Mapping[str, t.Any]] = {"mimetype": b"", "time_backup": p.Nfstime4(0, 0)}
"""Of an object for which nobody has set it; the others are False."""
_LONGEST: t.Final = 255
"""Bytes of a mimetype that is kept."""
_SECOND: t.Final = 1_000_000_000


def marks_of(given: Fattr4) -> dict[str, t.Any]:
    """The marks among attributes that are to be set. Raises INVAL for what is no such value."""
    marks = {name: value for name in MARKS if (value := getattr(given, name)) is not None}
    mimetype, backup = marks.get("mimetype"), given.time_backup
    if mimetype is not None:
        marks["mimetype"] = bytes(mimetype)
        if len(mimetype) > _LONGEST or not is_utf8(bytes(mimetype)):
            raise Nfs4Error(Nfsstat4.NFS4ERR_INVAL)
    if backup is not None and backup.nseconds >= _SECOND:
        raise FsError(errno.EINVAL, "nseconds are no part of a second")
    return marks


def _mark(name: str) -> Callable[[ServerApi, Inode], t.Any]:
    return lambda _server, inode: inode.marks.get(name, _USUAL.get(name, False))


def _is_archived(_server: ServerApi, inode: Inode) -> bool:
    """Since the last modification (section 5.8.2.1)."""
    return bool(inode.marks.get("archive")) and inode.marks.get("archived at") == inode.mtime


def _quota_used(_server: ServerApi, inode: Inode) -> int:
    """That of all files of the owner: the set for which the file system has a quota."""
    return inode.fs.used_by(inode.uid) if inode.data is not None else 0


def _quota_available(server: ServerApi, inode: Inode) -> int:
    free, quota = inode.fs.statistics().free_bytes, inode.fs.limits.quota
    return free if quota is None else max(0, min(free, quota - _quota_used(server, inode)))


def _no_layouts(_server: ServerApi, _inode: Inode) -> list[p.Layouttype4]:
    """There is no pNFS."""
    return []


READERS: t.Final[Mapping[str, Callable[[ServerApi, Inode], t.Any]]] = {
    **{name: _mark(name) for name in MARKS},
    "archive": _is_archived,
    "quota_avail_hard": _quota_available,
    "quota_avail_soft": _quota_available,
    "quota_used": _quota_used,
    **locations.READERS,
    **dict.fromkeys(("fs_layout_types", "layout_types"), _no_layouts),
}
"""How such an attribute is read."""
