# SPDX-License-Identifier: MIT
"""NFSv4: one table for the statuses of all minor versions (RFC 5661 section 15, RFC 7862 section 11).

An operation that every server has (RFC 5661 section 17) must not answer NOTSUPP, so this status says something there.
"""

from __future__ import annotations

import dataclasses
import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import Nfsstat4
from nfsjudge.policy.common import DENIED, NO_ROOM, NOT_READY, NOT_SUPPORTED, QUOTA, TOO_SMALL, too_large
from nfsjudge.policy.engine import Ends, Inconclusive, ProtocolPolicy, StatusPolicy, register
from nfsjudge.requirement import stated
from nfsjudge.verdict import Verdict

CLOSED_ENUM: t.Final = stated(
    "RFC 4506",
    "4.3",
    "a status is one of those that nfsstat4 defines: other values of an enumeration are an error",
)
_OPTIONAL: t.Final = tuple(operation for operation in p.OPERATIONS if operation.is_optional)
_IN_GRACE: t.Final = Inconclusive(Verdict.SKIP, Ends.ANY, "the server is in its grace period")
_WRONG_SECURITY: t.Final = Inconclusive(Verdict.SKIP, Ends.NAMED, "the server wants another security flavor")
VOLATILE_HANDLES: t.Final = "volatile filehandles of NFSv4"
"""A question to the target: whether `fh_expire_type` says that filehandles expire (RFC 5661 section 4.2.3)."""
_EXPIRED: t.Final = Inconclusive(
    Verdict.SKIP, Ends.NAMED, "the filehandle, which is volatile, has expired", if_so=VOLATILE_HANDLES
)
_NO_ATTRIBUTE: t.Final = Inconclusive(
    Verdict.UNSUPPORTED,
    Ends.NAMED,
    "the server does not support an attribute",
    tuple(
        operation.res for operation in p.OPERATIONS if operation is not p.GETATTR
    ),  # which must not say it (section 15.1.15.1)
)

NFS4: t.Final = register(
    ProtocolPolicy(
        statuses=(
            StatusPolicy(
                status=Nfsstat4,
                closed_by=CLOSED_ENUM,
                inconclusive={
                    Nfsstat4.NFS4ERR_PERM: DENIED,
                    Nfsstat4.NFS4ERR_ACCESS: DENIED,
                    Nfsstat4.NFS4ERR_ROFS: DENIED,
                    Nfsstat4.NFS4ERR_FBIG: too_large(p.Setattr4Res, p.Write4Res, p.Open4Res),
                    Nfsstat4.NFS4ERR_NOSPC: NO_ROOM,
                    Nfsstat4.NFS4ERR_DQUOT: QUOTA,
                    Nfsstat4.NFS4ERR_TOOSMALL: TOO_SMALL,
                    Nfsstat4.NFS4ERR_DELAY: NOT_READY,
                    Nfsstat4.NFS4ERR_GRACE: _IN_GRACE,
                    Nfsstat4.NFS4ERR_WRONGSEC: _WRONG_SECURITY,
                    Nfsstat4.NFS4ERR_FHEXPIRED: _EXPIRED,
                    Nfsstat4.NFS4ERR_ATTRNOTSUPP: _NO_ATTRIBUTE,
                    Nfsstat4.NFS4ERR_NOTSUPP: dataclasses.replace(
                        NOT_SUPPORTED, replies=tuple(operation.res for operation in _OPTIONAL)
                    ),
                },
            ),
        ),
        versions={p.NFS4: "nfs4"},
        may_lack=_OPTIONAL,
    )
)
