# SPDX-License-Identifier: MIT
"""The NFSv4 face of the server: minor versions 1 and 2 (RFC 5661, RFC 7862, RFC 8276), a handler per operation.

Operations that are not in the table get NOTSUPP: the optional ones of 4.2 except for extended attributes.
DELEGPURGE is NOTSUPP as long as the claims are that it belongs to (section 18.5.3).
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.protocol.nfs4 import NFS4
from nfsserver.handlers import Handlers, answers
from nfsserver.nfs4 import (
    attributes,
    compound,
    data,
    delegations,
    directory,
    filehandles,
    layouts,
    locks,
    names,
    opens,
    sessions,
    xattrs,
)
from nfsserver.nfs4.beginning import Beginning
from nfsserver.nfs4.freedoms import FREEDOMS
from nfsserver.nfs4.in_session import IN_SESSION
from nfsserver.service import Service, register

OPERATIONS: t.Final[Handlers] = dict(
    [
        answers(p.ACCESS, attributes.access4),
        answers(p.CLOSE, opens.close4),
        answers(p.COMMIT, data.commit4),
        answers(p.CREATE, names.create4),
        answers(p.DELEGRETURN, delegations.delegreturn4),
        answers(p.GETATTR, attributes.getattr4),
        answers(p.GETFH, filehandles.getfh4),
        answers(p.GETDEVICEINFO, layouts.getdeviceinfo4),
        answers(p.GETDEVICELIST, layouts.getdevicelist4),
        answers(p.LAYOUTCOMMIT, layouts.layoutcommit4),
        answers(p.LAYOUTGET, layouts.layoutget4),
        answers(p.LAYOUTRETURN, layouts.layoutreturn4),
        answers(p.LINK, names.link4),
        answers(p.LOCK, locks.lock4),
        answers(p.LOCKT, locks.lockt4),
        answers(p.LOCKU, locks.locku4),
        answers(p.LOOKUP, filehandles.lookup4),
        answers(p.LOOKUPP, filehandles.lookupp4),
        answers(p.NVERIFY, attributes.nverify4),
        answers(p.OPEN, opens.open4),
        answers(p.OPENATTR, filehandles.openattr4),
        answers(p.OPEN_DOWNGRADE, opens.open_downgrade4),
        answers(p.PUTFH, filehandles.putfh4),
        answers(p.PUTPUBFH, filehandles.putpubfh4),
        answers(p.PUTROOTFH, filehandles.putrootfh4),
        answers(p.READ, data.read4),
        answers(p.READDIR, directory.readdir4),
        answers(p.READLINK, filehandles.readlink4),
        answers(p.REMOVE, names.remove4),
        answers(p.RENAME, names.rename4),
        answers(p.RESTOREFH, filehandles.restorefh4),
        answers(p.SAVEFH, filehandles.savefh4),
        answers(p.SECINFO, filehandles.secinfo4),
        answers(p.SETATTR, attributes.setattr4),
        answers(p.VERIFY, attributes.verify4),
        answers(p.WRITE, data.write4),
        answers(p.BACKCHANNEL_CTL, sessions.backchannel_ctl4),
        answers(p.BIND_CONN_TO_SESSION, sessions.bind_conn_to_session4),
        answers(p.EXCHANGE_ID, sessions.exchange_id4),
        answers(p.CREATE_SESSION, sessions.create_session4),
        answers(p.DESTROY_SESSION, sessions.destroy_session4),
        answers(p.FREE_STATEID, locks.free_stateid4),
        answers(p.GET_DIR_DELEGATION, delegations.get_dir_delegation4),
        answers(p.SECINFO_NO_NAME, filehandles.secinfo_no_name4),
        answers(p.SEQUENCE, sessions.sequence4),
        answers(p.SET_SSV, sessions.set_ssv4),
        answers(p.TEST_STATEID, locks.stateid_test4),
        answers(p.DESTROY_CLIENTID, sessions.destroy_clientid4),
        answers(p.RECLAIM_COMPLETE, sessions.reclaim_complete4),
        answers(p.GETXATTR, xattrs.getxattr4),
        answers(p.SETXATTR, xattrs.setxattr4),
        answers(p.LISTXATTRS, xattrs.listxattrs4),
        answers(p.REMOVEXATTR, xattrs.removexattr4),
    ]
)
"""What a compound may carry."""

BEGINNINGS: t.Final[dict[int, Beginning]] = {1: IN_SESSION, 2: IN_SESSION}
"""The minor versions that the server answers."""

HANDLERS: t.Final[Handlers] = dict(
    [
        answers(p.NULL, compound.null4),
        answers(p.COMPOUND, compound.compound_handler(OPERATIONS, BEGINNINGS)),
    ]
)

AUTHENTICATED: t.Final = frozenset({p.COMPOUND})
"""The server takes AUTH_SYS only, as SECINFO says."""

register(Service(NFS4, HANDLERS, AUTHENTICATED, FREEDOMS))

__all__ = ["AUTHENTICATED", "BEGINNINGS", "FREEDOMS", "HANDLERS", "NFS4", "OPERATIONS"]
