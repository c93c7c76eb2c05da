# SPDX-License-Identifier: MIT
"""Mutants of NULL, ROOT and WRITECACHE."""

from __future__ import annotations

import typing as t

from nfsclient.protocol.nfs2 import NULL, ROOT, WRITECACHE
from nfsclient.rpc.auth import AuthSys
from nfsclient.rpc.messages import AuthStat
from nfsclient.rpc.service import CallContext, Refused
from nfsclient.xdr import Void, u32
from nfsserver.mutants import Proceed
from nfsserver.nfs2.bending import around, bends_reply

if t.TYPE_CHECKING:
    from nfsclient.rpc.sockets import Address
    from nfsserver.server import Server


class _Word(Void):
    """Results of a procedure that has none."""

    word: u32 = 0


@around(
    "null2-returns-results",
    NULL,
    "2.2.1",
    "returns a word where there are no results, from the second call on a connection on",
)
def null2_returns_results(
    server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Void]
) -> Void:
    """Answer with a word. The first call is left alone: by it a run sees that the server is there."""
    callers: set[Address] = server.mutant_state("null2-returns-results").setdefault("callers", set())
    if context.peer in callers:
        return _Word()
    callers.add(context.peer)
    return proceed(context, args)


@around("null2-asks-for-authentication", NULL, "3.4", "is refused when it comes without authentication")
def null2_asks_for_authentication(
    _server: Server, context: CallContext, args: Void, proceed: Proceed[Void, Void]
) -> Void:
    """Want to know who asks."""
    if not isinstance(context.credential, AuthSys):
        raise Refused(auth_stat=AuthStat.AUTH_TOOWEAK)
    return proceed(context, args)


@bends_reply("root2-returns-a-status", ROOT, "2.2.4", "returns a status where there are no results")
def root2_returns_a_status(_server: Server, _args: Void, _reply: Void) -> Void:
    """Answer with NFS_OK."""
    return _Word()


@bends_reply(
    "writecache2-returns-a-status", WRITECACHE, "2.2.8", "returns a status where there are no results"
)
def writecache2_returns_a_status(_server: Server, _args: Void, _reply: Void) -> Void:
    """Answer with NFS_OK."""
    return _Word()
