# SPDX-License-Identifier: MIT
"""What NFSv4 clients hold, in the way of an operation of any version (RFC 5661 sections 9.7, 10.2 and 10.4).

What `clear_way` does about each delegation of another client that excludes an operation on a file:

    not recalled                          it is recalled, and the callback is sent
    recalled less than a lease ago        nothing: the client has time to write back and return it
    recalled a lease ago, or its client
    is expired                            revoked: the operation goes on

If one is left, the operation ends with DELAY, or its call waits (`waiting.py`) where the knob `conflicts` says so.

What must stay true:

- A handler calls `clear_way` before it changes anything, for every file that it reads, opens or changes: what waits
  is answered again from its beginning.
- The recall is sent once; coming back later only looks. A client that never answers holds up others for a lease, and
  no longer.
- Calls of NFSv2 and NFSv3 have no stateid: they count as the anonymous one (section 9.1.2), so share reservations may
  refuse them, and every delegation that excludes them is in the way, whoever holds it.
- Without any stateid in the server, nothing of this costs anything.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator, Mapping

from nfsclient.rpc.program import AnyOperation
from nfsclient.rpc.service import CallContext
from nfsclient.xdr import XdrType, fields_of
from nfsserver.callbacks import recall
from nfsserver.fs import FsError, Inode
from nfsserver.handlers import Handler, Handlers, ServerApi
from nfsserver.state.delegations import Delegation
from nfsserver.state.shares import Share
from nfsserver.state.stateids import StateError
from nfsserver.waiting import Waits

_HANDLES: t.Final = frozenset({"file", "object", "from_"})
"""Where the arguments of NFSv2 and NFSv3 have handles of files."""

Refuse: t.TypeAlias = Callable[[ServerApi, CallContext, str], t.Any]
"""(server, context, DELAY or LOCKED) -> the reply of a version that has no such status."""


def clear_way(server: ServerApi, inode: Inode, client: int | None, *, changes: bool) -> None:
    """Take a file from the caches of others: from clients of Spritely NFS, and what is delegated.

    Raises DELAY, or `Waits`, while they have it. Call it before anything is changed: what waits is answered again.
    """
    server.clear_caches(inode, changes=changes)
    recall_delegations(server, inode, client, changes=changes)


def recall_delegations(server: ServerApi, inode: Inode, client: int | None, *, changes: bool) -> None:
    """Recall what a file is delegated to others as. Raises DELAY, or `Waits`, while it is not returned.

    Call it before anything is changed: what waits is answered again.

    `client` None is a caller of another version of NFS. What is not returned within a lease is revoked, and so is what
    an expired client has.
    """
    held = server.states.held
    in_the_way = held.delegations.in_the_way(inode, client, changes=changes)
    if not in_the_way:
        return
    for delegation in in_the_way:
        if _is_overdue(server, delegation) or server.states.is_id_of_expired(delegation.client):
            server.states.revoke_delegation(delegation)
        elif held.delegations.recall(delegation, server.states.now()):
            recall(server, delegation, inode)
    if held.delegations.in_the_way(inode, client, changes=changes):
        if server.waiting.may_wait:
            raise Waits
        raise StateError("DELAY")


def _is_overdue(server: ServerApi, delegation: Delegation) -> bool:
    since = delegation.recalled_at
    return since is not None and server.states.now() - since >= server.states.lease


# ---------------------------------------------------------------- NFSv2 and NFSv3


Clear: t.TypeAlias = Callable[..., None]
"""`clear_way`, or a part of it."""


def with_conflicts(
    handlers: Handlers, needs: Mapping[AnyOperation, Share], refuse: Refuse, clear: Clear = clear_way
) -> Handlers:
    """The handlers of another version, which give way to what NFSv4 clients hold, and others have cached.

    `needs` says which operations do, and which share reservation they need as if they used the anonymous stateid
    (section 9.1.2); those that need none change something.
    """
    return {
        operation: _giving_way(handler, needs[operation], refuse, clear) if operation in needs else handler
        for operation, handler in handlers.items()
    }


def _giving_way(handler: Handler, access: Share, refuse: Refuse, clear: Clear) -> Handler:
    def answer(server: ServerApi, context: CallContext, args: t.Any) -> t.Any:
        if len(server.states.held.stateids) or server.spritely.is_watching:
            try:
                for inode in _files(server, args):
                    server.states.require_unlocked(inode, access)
                    clear(server, inode, None, changes=access != Share.READ)
            except StateError as refusal:
                return refuse(server, context, refusal.status)
        return handler(server, context, args)

    return answer


def _files(server: ServerApi, args: XdrType) -> Iterator[Inode]:
    """The files that a call is about: by their handles, and by their names."""
    for name, _ in fields_of(type(args)):
        value = getattr(args, name)
        if isinstance(value, bytes) and name in _HANDLES:
            yield from _resolved(server, value)
        elif hasattr(value, "dir") and hasattr(value, "name"):
            yield from _named(server, value.dir, value.name)
    if hasattr(args, "dir") and hasattr(args, "name"):
        yield from _named(server, args.dir, args.name)


def _resolved(server: ServerApi, handle: bytes) -> Iterator[Inode]:
    try:
        yield server.backend.resolve(handle)
    except FsError:
        return


def _named(server: ServerApi, handle: bytes, name: bytes) -> Iterator[Inode]:
    for directory in _resolved(server, handle):
        entry = None if directory.directory is None else directory.directory.get(name)
        if entry is not None:
            yield entry
