# SPDX-License-Identifier: MIT
"""The programs that the server answers, in one table."""

from __future__ import annotations

import typing as t

from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.program import AnyOperation, Program
from nfsclient.rpc.service import CallContext, Refused
from nfsserver import mount, nfs2, nfs3, nfs4, portmap, rpcbind
from nfsserver.freedom import Freedom
from nfsserver.handlers import Handlers


class Service(t.NamedTuple):
    """One version of a program, as a server answers it."""

    program: Program
    handlers: Handlers
    authenticated: t.Collection[AnyOperation] = ()
    """Procedures that ask for AUTH_SYS or better."""
    freedoms: t.Sequence[Freedom] = ()
    """What it does where knobs are turned, the innermost first."""
    not_repeatable: t.Collection[AnyOperation] = ()
    """Procedures that must not run twice for a retransmitted call."""


SERVICES: t.Final = (
    Service(nfs2.NFS2, nfs2.HANDLERS, nfs2.AUTHENTICATED, nfs2.FREEDOMS, nfs2.NOT_REPEATABLE),
    Service(nfs3.NFS3, nfs3.HANDLERS, nfs3.AUTHENTICATED, nfs3.FREEDOMS, nfs3.NOT_REPEATABLE),
    Service(nfs4.NFS4, nfs4.HANDLERS, nfs4.AUTHENTICATED, nfs4.FREEDOMS),
    Service(mount.MOUNT1, mount.HANDLERS1),
    Service(mount.MOUNT2, mount.HANDLERS2),
    Service(mount.MOUNT3, mount.HANDLERS3, mount.AUTHENTICATED3),
    Service(portmap.PORTMAP2, portmap.HANDLERS),
    Service(rpcbind.RPCBIND3, rpcbind.HANDLERS3),
    Service(rpcbind.RPCBIND4, rpcbind.HANDLERS4),
)

FREEDOMS: t.Final = tuple(freedom for service in SERVICES for freedom in service.freedoms)
"""What the protocol layers do where knobs differ from their defaults."""


def require_user(context: CallContext, auth_stat: int) -> Refused | None:
    """The refusal of a caller without AUTH_SYS: what `Service.authenticated` means."""
    has_user = isinstance(context.credential, AuthSys)
    return None if has_user else Refused(auth_stat=AuthStat(auth_stat))
