# SPDX-License-Identifier: MIT
"""Spritely NFS: the statuses of NFSv2, and three more."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import snfs
from nfsclient.protocol.snfs import Snfsstat
from nfsjudge.policy.common import DENIED, NO_ROOM, NOT_READY, QUOTA
from nfsjudge.policy.engine import ProtocolPolicy, StatusPolicy, register

SNFS: t.Final = register(
    ProtocolPolicy(
        statuses=(
            StatusPolicy(
                status=Snfsstat,
                inconclusive={
                    Snfsstat.NFSERR_PERM: DENIED,
                    Snfsstat.NFSERR_ACCES: DENIED,
                    Snfsstat.NFSERR_NOSPC: NO_ROOM,
                    Snfsstat.NFSERR_ROFS: DENIED,
                    Snfsstat.NFSERR_DQUOT: QUOTA,
                    Snfsstat.SNFS_RECOVERING: NOT_READY,
                },
            ),
        ),
        versions={snfs.SNFS: "snfs"},
        may_lack=(snfs.LINK, snfs.SYMLINK, snfs.REOPEN, snfs.RECOVERED),
    )
)
