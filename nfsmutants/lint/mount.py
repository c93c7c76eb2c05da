# SPDX-License-Identifier: MIT
"""Mutants of MOUNT that a rule of the lint catches, and no check."""

from __future__ import annotations

from nfsclient.protocol.mount import MNT3, DirpathArgs, Mnt3Res, MountStat3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsmutants.form import Call, mutant


@mutant(MNT3)
def mnt3_unknown_path_is_stale(call: Call[DirpathArgs, Mnt3Res]) -> Mnt3Res:
    """MNT of an unknown path answers 70, a status of NFS that MOUNT does not define"""
    reply = call.proceed()
    if reply.fhs_status != MountStat3.MNT3ERR_NOENT:
        return reply
    return Mnt3Res(MountStat3(int(Nfsstat3.NFS3ERR_STALE)))
