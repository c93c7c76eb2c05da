# SPDX-License-Identifier: MIT
"""What mutants of MOUNT share."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import Mnt1Res, Mnt3Res, Mountres3Ok, MountStat1, MountStat3
from nfsmutants.form import AnyCall
from nfsserver.fs import Inode
from nfsserver.mount import AUTH_SYS

Res: t.TypeAlias = Mnt1Res | Mnt3Res


def gives(call: AnyCall, inode: Inode) -> Res:
    """Success with the handle of `inode`, in the version of the call."""
    handle = call.server.handle_of(inode)
    if call.context.version == 3:
        return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(handle, [AUTH_SYS]))
    return Mnt1Res(MountStat1.OK, handle)


def first_directory(call: AnyCall) -> Inode | None:
    """The first directory in the export."""
    entries = call.server.fs.readdir(call.caller, call.server.fs.root, 0)
    below = [entry.inode for entry in entries if entry.name not in {b".", b".."}]
    return next((inode for inode in below if inode.directory is not None), None)
