# SPDX-License-Identifier: MIT
"""Mutants of MOUNT."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import MNT3, DirpathArgs, Mnt3Res, Mountres3Ok, MountStat3
from nfsclient.rpc.service import CallContext
from nfsserver.mount import AUTH_SYS
from nfsserver.mutants import Proceed, mutant

if t.TYPE_CHECKING:
    from nfsserver.server import Server


@mutant(
    "mnt3-mounts-what-is-not-there",
    bends=MNT3,
    breaks="RFC 1813 section 5.2.1",
    gist="MNT answers an unknown path with the handle of the first export",
)
def mnt3_mounts_what_is_not_there(
    server: Server, context: CallContext, args: DirpathArgs, proceed: Proceed[DirpathArgs, Mnt3Res]
) -> Mnt3Res:
    """Turn NOENT into success."""
    reply = proceed(context, args)
    if reply.fhs_status != MountStat3.MNT3ERR_NOENT:
        return reply
    return Mnt3Res(MountStat3.MNT3_OK, Mountres3Ok(server.handle_of(server.fs.root), [AUTH_SYS]))
