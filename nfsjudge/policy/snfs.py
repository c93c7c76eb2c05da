# SPDX-License-Identifier: MIT
"""Spritely NFS: the statuses of NFSv2, and three more."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import snfs
from nfsclient.protocol.snfs import Snfsstat
from nfsjudge.policy.common import DENIED, NO_ROOM, NOT_READY, QUOTA
from nfsjudge.policy.engine import Ends, Inconclusive, ProtocolPolicy, StatusPolicy, register
from nfsjudge.verdict import Verdict

_GIVEN_UP: t.Final = Inconclusive(
    Verdict.SKIP, Ends.OK, "the server has given up a client that is there: how long it waits is its choice"
)

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
                    Snfsstat.SNFS_INCONSISTENT: _GIVEN_UP,
                },
            ),
        ),
        versions={snfs.SNFS: "snfs"},
        may_lack=(snfs.LINK, snfs.SYMLINK, snfs.REOPEN, snfs.RECOVERED),
    )
)
