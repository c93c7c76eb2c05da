# SPDX-License-Identifier: MIT
"""NFSv2: statuses are error numbers of UNIX, and RFC 1094 does not say that its list is complete (section 2.3.1)."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2
from nfsclient.protocol.nfs2 import Nfsstat2
from nfsjudge.policy.common import DENIED, NO_ROOM, NOT_READY, NOT_SUPPORTED, QUOTA, TOO_SMALL, too_large
from nfsjudge.policy.engine import ProtocolPolicy, StatusPolicy, register

EOPNOTSUPP_BSD: t.Final = 45
EOPNOTSUPP_LINUX: t.Final = 95
_OF_VERSION_3: t.Final = {10004: NOT_SUPPORTED, 10005: TOO_SMALL, 10008: NOT_READY}
"""Servers that serve both versions may answer these in version 2 as well."""

NFS2: t.Final = register(
    ProtocolPolicy(
        statuses=(
            StatusPolicy(
                status=Nfsstat2,
                inconclusive={
                    Nfsstat2.NFSERR_PERM: DENIED,
                    Nfsstat2.NFSERR_ACCES: DENIED,
                    Nfsstat2.NFSERR_FBIG: too_large(nfs2.Attrstat),
                    Nfsstat2.NFSERR_NOSPC: NO_ROOM,
                    Nfsstat2.NFSERR_ROFS: DENIED,
                    EOPNOTSUPP_BSD: NOT_SUPPORTED,
                    Nfsstat2.NFSERR_DQUOT: QUOTA,
                    EOPNOTSUPP_LINUX: NOT_SUPPORTED,
                    **_OF_VERSION_3,
                },
            ),
        ),
        versions={nfs2.NFS2: "nfs2"},
        may_lack=(nfs2.LINK, nfs2.SYMLINK),
    )
)
