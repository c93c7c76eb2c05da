# SPDX-License-Identifier: MIT
"""The NFSv3 face of the server (RFC 1813): one handler per procedure, in modules by family."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs3 as protocol
from nfsclient.protocol.nfs3 import NFS3, Nfsstat3
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsserver.conflicts import with_conflicts
from nfsserver.handlers import Handlers, ServerApi, answers
from nfsserver.nfs3 import (
    attributes,
    creation,
    data,
    directory,
    info,
    names,
    removal,
)
from nfsserver.nfs3.freedoms import FREEDOMS
from nfsserver.nfs3.freedoms.withheld import reply_with_nothing
from nfsserver.service import Service, register
from nfsserver.state.shares import Share

_HANDLERS: t.Final[Handlers] = dict(
    [
        answers(protocol.NULL, info.null3),
        answers(protocol.GETATTR, attributes.getattr3),
        answers(protocol.SETATTR, attributes.setattr3),
        answers(protocol.LOOKUP, names.lookup3),
        answers(protocol.ACCESS, attributes.access3),
        answers(protocol.READLINK, names.readlink3),
        answers(protocol.READ, data.read3),
        answers(protocol.WRITE, data.write3),
        answers(protocol.CREATE, creation.create3),
        answers(protocol.MKDIR, creation.mkdir3),
        answers(protocol.SYMLINK, creation.symlink3),
        answers(protocol.MKNOD, creation.mknod3),
        answers(protocol.REMOVE, removal.remove3),
        answers(protocol.RMDIR, removal.rmdir3),
        answers(protocol.RENAME, removal.rename3),
        answers(protocol.LINK, removal.link3),
        answers(protocol.READDIR, directory.readdir3),
        answers(protocol.READDIRPLUS, directory.readdirplus3),
        answers(protocol.FSSTAT, info.fsstat3),
        answers(protocol.FSINFO, info.fsinfo3),
        answers(protocol.PATHCONF, info.pathconf3),
        answers(protocol.COMMIT, data.commit3),
    ]
)

_NEEDS: t.Final[dict[AnyOperation, Share]] = {
    protocol.READ: Share.READ,
    protocol.WRITE: Share.WRITE,
    protocol.SETATTR: Share.NONE,
    protocol.CREATE: Share.NONE,
    protocol.REMOVE: Share.NONE,
    protocol.RENAME: Share.NONE,
    protocol.LINK: Share.NONE,
}


def _refuse(_server: ServerApi, context: CallContext, status: str) -> t.Any:
    wanted = {"DELAY": Nfsstat3.NFS3ERR_JUKEBOX, "LOCKED": Nfsstat3.NFS3ERR_ACCES}
    return reply_with_nothing(context.operation.res, wanted[status])


HANDLERS: t.Final[Handlers] = with_conflicts(_HANDLERS, _NEEDS, _refuse)

AUTHENTICATED: t.Final = frozenset(HANDLERS) - {protocol.NULL}
"""AUTH_NONE is for NULL alone (RFC 1813 section 2.1)."""

NOT_REPEATABLE: t.Final[frozenset[AnyOperation]] = frozenset(
    {
        protocol.SETATTR,
        protocol.CREATE,
        protocol.MKDIR,
        protocol.SYMLINK,
        protocol.MKNOD,
        protocol.REMOVE,
        protocol.RMDIR,
        protocol.RENAME,
        protocol.LINK,
    }
)
"""Procedures that may fail, or do harm, when a retransmitted call runs again (RFC 1813 section 4.5)."""

register(Service(NFS3, HANDLERS, AUTHENTICATED, FREEDOMS, NOT_REPEATABLE))

__all__ = [
    "AUTHENTICATED",
    "FREEDOMS",
    "HANDLERS",
    "NFS3",
    "NOT_REPEATABLE",
]
