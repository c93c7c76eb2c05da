# SPDX-License-Identifier: MIT
"""NFSv3: nfsstat3 is complete; every procedure may answer JUKEBOX and NOTSUPP (RFC 1813 sections 1.6, 2.5 and 2.6)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3
from nfsclient.protocol.nfs3 import Nfsstat3
from nfsjudge.policy.common import DENIED, NO_ROOM, NOT_READY, NOT_SUPPORTED, QUOTA, TOO_SMALL, too_large
from nfsjudge.policy.engine import ProtocolPolicy, StatusPolicy, register
from nfsjudge.requirement import CLOSED_STATUS

NFS3: t.Final = register(
    ProtocolPolicy(
        statuses=(
            StatusPolicy(
                status=Nfsstat3,
                closed_by=CLOSED_STATUS,
                inconclusive={
                    Nfsstat3.NFS3ERR_PERM: DENIED,
                    Nfsstat3.NFS3ERR_ACCES: DENIED,
                    Nfsstat3.NFS3ERR_FBIG: too_large(nfs3.Setattr3Res, nfs3.Write3Res),
                    Nfsstat3.NFS3ERR_NOSPC: NO_ROOM,
                    Nfsstat3.NFS3ERR_ROFS: DENIED,
                    Nfsstat3.NFS3ERR_DQUOT: QUOTA,
                    Nfsstat3.NFS3ERR_NOTSUPP: NOT_SUPPORTED,
                    Nfsstat3.NFS3ERR_TOOSMALL: TOO_SMALL,
                    Nfsstat3.NFS3ERR_JUKEBOX: NOT_READY,
                },
            ),
        ),
        versions={nfs3.NFS3: "nfs3"},
        optional={
            nfs3.SYMLINK: "symlink",
            nfs3.MKNOD: "mknod",
            nfs3.LINK: "hardlink",
            nfs3.READDIRPLUS: "readdirplus",
        },
    )
)
