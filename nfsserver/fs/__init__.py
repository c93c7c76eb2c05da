# SPDX-License-Identifier: MIT
"""The file system of the reference server. It knows no protocol."""

from __future__ import annotations

from nfsserver.fs.changes import NOTHING, NOW, Changes, ServerTime, Time
from nfsserver.fs.clock import Clock, ForwardedClock, ManualClock, Stamper, SystemClock
from nfsserver.fs.errors import FsError
from nfsserver.fs.filesystem import FileSystem
from nfsserver.fs.handles import HANDLE_SIZE, HandleCodec, Identity
from nfsserver.fs.inode import Directory, Entry, Inode, Kind
from nfsserver.fs.limits import Limits, Statistics
from nfsserver.fs.local import find_locally, remove_tree_locally, touch_locally
from nfsserver.fs.pages import PAGE, PagedData, Stability
from nfsserver.fs.permissions import ANONYMOUS, NOBODY, SUPERUSER, Access, Caller
from nfsserver.fs.unchecked import create_unchecked

__all__ = [
    "ANONYMOUS",
    "HANDLE_SIZE",
    "NOBODY",
    "NOTHING",
    "NOW",
    "PAGE",
    "SUPERUSER",
    "Access",
    "Caller",
    "Changes",
    "Clock",
    "Directory",
    "Entry",
    "FileSystem",
    "ForwardedClock",
    "FsError",
    "HandleCodec",
    "Identity",
    "Inode",
    "Kind",
    "Limits",
    "ManualClock",
    "PagedData",
    "ServerTime",
    "Stability",
    "Stamper",
    "Statistics",
    "SystemClock",
    "Time",
    "create_unchecked",
    "find_locally",
    "remove_tree_locally",
    "touch_locally",
]
