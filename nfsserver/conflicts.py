# SPDX-License-Identifier: MIT
"""Delegations in the way of an operation: they are recalled, and the operation is asked to come back.

RFC 5661 sections 10.2 and 10.4. Any version of NFS calls this before it reads, opens or changes a file.
"""

from __future__ import annotations

import typing as t

from nfsserver.callbacks import recall
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi
from nfsserver.state.delegations import Delegation
from nfsserver.state.stateids import StateError


def clear_way(server: ServerApi, inode: Inode, client: int | None, *, changes: bool) -> None:
    """Recall what a file is delegated to others as. Raises DELAY while it is not returned.

    `client` None is a caller of another version of NFS. What is not returned within a lease is revoked, and so is what
    an expired client has.
    """
    held = server.states.held
    in_the_way = held.delegations.in_the_way(inode, client, changes=changes)
    if not in_the_way:
        return
    for one in in_the_way:
        if _is_overdue(server, one) or server.states.is_held_by_expired(one.client):
            held.revoke_delegation(one)
        elif held.delegations.recall(one, server.states.now()):
            recall(server, one, inode)
    if held.delegations.in_the_way(inode, client, changes=changes):
        raise StateError("DELAY")


def _is_overdue(server: ServerApi, one: Delegation) -> bool:
    since: t.Final = one.recalled_at
    return since is not None and server.states.now() - since >= server.states.lease
