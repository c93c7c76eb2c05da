# SPDX-License-Identifier: MIT
"""The NFSv2 face of the server (RFC 1094): one handler per procedure, in modules by family."""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs2 as protocol
from nfsclient.protocol.nfs2 import NFS2, Nfsstat2
from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsserver.conflicts import with_conflicts
from nfsserver.handlers import Handlers, ServerApi, answers
from nfsserver.nfs2 import (
    attributes,
    data,
    directory,
    names,
)
from nfsserver.nfs2.freedoms import FREEDOMS
from nfsserver.service import Service, register
from nfsserver.state.shares import Share

PLAIN: t.Final[Handlers] = dict(
    [
        answers(protocol.NULL, attributes.nothing2),
        answers(protocol.GETATTR, attributes.getattr2),
        answers(protocol.SETATTR, attributes.setattr2),
        answers(protocol.ROOT, attributes.nothing2),
        answers(protocol.LOOKUP, names.lookup2),
        answers(protocol.READLINK, data.readlink2),
        answers(protocol.READ, data.read2),
        answers(protocol.WRITECACHE, attributes.nothing2),
        answers(protocol.WRITE, data.write2),
        answers(protocol.CREATE, names.create2),
        answers(protocol.REMOVE, names.remove2),
        answers(protocol.RENAME, names.rename2),
        answers(protocol.LINK, names.link2),
        answers(protocol.SYMLINK, names.symlink2),
        answers(protocol.MKDIR, names.mkdir2),
        answers(protocol.RMDIR, names.rmdir2),
        answers(protocol.READDIR, directory.readdir2),
        answers(protocol.STATFS, attributes.statfs2),
    ]
)

NEEDS: t.Final[dict[AnyOperation, Share]] = {
    protocol.READ: Share.READ,
    protocol.WRITE: Share.WRITE,
    protocol.SETATTR: Share.NONE,
    protocol.CREATE: Share.NONE,
    protocol.REMOVE: Share.NONE,
    protocol.RENAME: Share.NONE,
    protocol.LINK: Share.NONE,
}


def refuse(server: ServerApi, context: CallContext, status: str) -> t.Any:
    """ACCES; silence where the client is to come back, since NFSv2 has no status for that: it repeats the call."""
    if status == "DELAY":
        server.keep_silent()
    return context.operation.res(Nfsstat2.NFSERR_ACCES)


HANDLERS: t.Final[Handlers] = with_conflicts(PLAIN, NEEDS, refuse)

AUTHENTICATED: t.Final = frozenset(HANDLERS) - {protocol.NULL}
"""AUTH_NONE is for NULL alone (RFC 1094 section 3.4)."""

NOT_REPEATABLE: t.Final[frozenset[AnyOperation]] = frozenset(
    {
        protocol.SETATTR,
        protocol.CREATE,
        protocol.REMOVE,
        protocol.RENAME,
        protocol.LINK,
        protocol.SYMLINK,
        protocol.MKDIR,
        protocol.RMDIR,
    }
)
"""Procedures that may fail, or do harm, when a retransmitted call runs again (RFC 1094 section 3.6)."""

register(Service(NFS2, HANDLERS, AUTHENTICATED, FREEDOMS, NOT_REPEATABLE))

__all__ = [
    "AUTHENTICATED",
    "FREEDOMS",
    "HANDLERS",
    "NEEDS",
    "NFS2",
    "NOT_REPEATABLE",
    "PLAIN",
    "refuse",
]
