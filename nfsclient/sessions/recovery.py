# SPDX-License-Identifier: MIT
"""What a client does about a status that says that time, a connection, a session or state is lost: one table.

Sections are those of RFC 5661. A status that is not here is an answer like any other, and goes to the caller.
"""

from __future__ import annotations

import enum
import typing as t

from nfsclient.protocol.nfs4.types import Nfsstat4


class Remedy(enum.Enum):
    """What to do before the operations are sent again, in a new request."""

    WAIT = "wait, then send again"
    BIND = "bind the connection to the session"
    NEW_SESSION = "create a new session for the same client id"
    NEW_CLIENT = "get a new client id, and reclaim everything held"
    LATEST = "build the operations again with the latest stateids"
    TEST = "ask the server which state is left, free what is revoked, and open again what can be"


REMEDIES: t.Final[dict[Nfsstat4, Remedy]] = {
    # 15.1.1.3: the server cannot do it in time. The operation that got it was not executed.
    Nfsstat4.NFS4ERR_DELAY: Remedy.WAIT,
    # 15.1.9.2, 8.4.2: the server has restarted, others are reclaiming.
    Nfsstat4.NFS4ERR_GRACE: Remedy.WAIT,
    # 2.10.3.1, 18.34.3: the session demands an explicit binding of connections.
    Nfsstat4.NFS4ERR_CONN_NOT_BOUND_TO_SESSION: Remedy.BIND,
    # 15.1.11.1: the server does not know the session; after a restart, CREATE_SESSION says whether the client is known.
    Nfsstat4.NFS4ERR_BADSESSION: Remedy.NEW_SESSION,
    # 15.1.11.5: the session is being destroyed.
    Nfsstat4.NFS4ERR_DEADSESSION: Remedy.NEW_SESSION,
    # 2.10.6.1, 2.10.6.2, 18.46.3: our slots and the server's no longer agree, and nothing can tell why.
    Nfsstat4.NFS4ERR_BADSLOT: Remedy.NEW_SESSION,
    Nfsstat4.NFS4ERR_BAD_HIGH_SLOT: Remedy.NEW_SESSION,
    Nfsstat4.NFS4ERR_SEQ_MISORDERED: Remedy.NEW_SESSION,
    Nfsstat4.NFS4ERR_SEQ_FALSE_RETRY: Remedy.NEW_SESSION,
    # 8.4.2, 15.1.13.5: the server has restarted, or the lease expired and the client was forgotten.
    Nfsstat4.NFS4ERR_STALE_CLIENTID: Remedy.NEW_CLIENT,
    # 8.2.4: a stateid that a later request has replaced.
    Nfsstat4.NFS4ERR_OLD_STATEID: Remedy.LATEST,
    # 2.10.6.1.3: a request that changes nothing was sent again after its connection was lost, and is not cached.
    Nfsstat4.NFS4ERR_RETRY_UNCACHED_REP: Remedy.LATEST,
    # 8.3, 8.4.3, 15.1.5: state that the server gave up because the lease expired, or by an administrator's will, or
    # because a recall was not obeyed. 8.5: TEST_STATEID and FREE_STATEID tell and settle what is left.
    Nfsstat4.NFS4ERR_EXPIRED: Remedy.TEST,
    Nfsstat4.NFS4ERR_ADMIN_REVOKED: Remedy.TEST,
    Nfsstat4.NFS4ERR_DELEG_REVOKED: Remedy.TEST,
    Nfsstat4.NFS4ERR_BAD_STATEID: Remedy.TEST,
}

IN_SEQUENCE: t.Final = frozenset({Remedy.BIND, Remedy.NEW_SESSION})
"""Remedies for errors of SEQUENCE itself: then nothing of the compound was executed (section 2.10.6.1.2)."""

NOT_RECLAIMABLE: t.Final = frozenset(
    {
        # 8.4.2, 18.51: the grace period is over, or another client was served meanwhile.
        Nfsstat4.NFS4ERR_NO_GRACE,
        Nfsstat4.NFS4ERR_RECLAIM_BAD,
        Nfsstat4.NFS4ERR_RECLAIM_CONFLICT,
        # The file itself is gone.
        Nfsstat4.NFS4ERR_STALE,
        Nfsstat4.NFS4ERR_FHEXPIRED,
        Nfsstat4.NFS4ERR_BADHANDLE,
    }
)
"""Answers to a reclaim that say: this is lost."""
