# SPDX-License-Identifier: MIT
"""MOUNT: version 1 answers error numbers of UNIX (RFC 1094 A.4.2), version 3 the list of RFC 1813 section 5.1.5.

A denial is not inconclusive here: whether what is exported can be mounted is what the checks of MNT are about.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol.mount import MOUNT1, MOUNT2, MOUNT3, MountStat1, MountStat3
from nfsjudge.policy.common import NO_ROOM, NOT_READY, NOT_SUPPORTED, QUOTA, TOO_SMALL
from nfsjudge.policy.engine import ProtocolPolicy, StatusPolicy, register
from nfsjudge.policy.nfs2 import EOPNOTSUPP_BSD, EOPNOTSUPP_LINUX
from nfsjudge.requirement import CLOSED_STATUS

MOUNT: t.Final = register(
    ProtocolPolicy(
        statuses=(
            StatusPolicy(
                status=MountStat1,
                inconclusive={
                    28: NO_ROOM,
                    EOPNOTSUPP_BSD: NOT_SUPPORTED,
                    69: QUOTA,
                    EOPNOTSUPP_LINUX: NOT_SUPPORTED,
                    10004: NOT_SUPPORTED,
                    10005: TOO_SMALL,
                    10008: NOT_READY,
                },
            ),
            StatusPolicy(
                status=MountStat3,
                field="fhs_status",
                closed_by=CLOSED_STATUS,
                inconclusive={MountStat3.MNT3ERR_NOTSUPP: NOT_SUPPORTED},
            ),
        ),
        versions={MOUNT1: "mount1", MOUNT2: "mount2", MOUNT3: "mount"},
    )
)
