# SPDX-License-Identifier: MIT
"""What GETATTR tells others of a file while a client has a write delegation of it (RFC 5661 sections 10.4.3, 18.7.4).

The holder may have written data that the server has not seen. The knob `asks_holders` says what comes first:

    asked                  CB_GETATTR; the caller comes back after DELAY, or waits (knob `conflicts`), and gets the
                           answer to its question: the size as the holder has it. If that has modified the file, it
                           counts as modified here, too: `change` and the times move with each such GETATTR, and stay
                           where they are when the delegation ends
    no right answer        the delegation is recalled, as by any other operation that it is in the way of

What must stay true: no value goes to a client that is older than its question, or comes from anybody but the holder.
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsserver.callbacks import inquire
from nfsserver.conflicts import recall_delegations
from nfsserver.fs import Inode
from nfsserver.handlers import ServerApi
from nfsserver.state.delegations import Delegation, Said
from nfsserver.state.stateids import StateError
from nfsserver.waiting import Waits

_FRESH: t.Final = 2.0
"""Seconds in which the client that asked must come back for the answer."""
_PATIENCE: t.Final = 20.0
"""Seconds after which a holder that has not answered counts as mute."""


def size_by_writer(server: ServerApi, inode: Inode, client: int | None) -> int | None:
    """The size of a file as the holder of a write delegation has it; None: nobody else has one, or it does not say.

    Raises DELAY, or `Waits`, until that is known.
    """
    for delegation in server.states.held.delegations.in_the_way(inode, client, changes=False):
        if _is_to_be_asked(server, delegation):
            return _taken(server, delegation, inode, client)
    recall_delegations(server, inode, client, changes=False)
    return None


def _is_to_be_asked(server: ServerApi, delegation: Delegation) -> bool:
    now, writer = server.states.now(), delegation.writer
    if any(now - asked >= _PATIENCE for asked in writer.asked.values()):
        writer.is_mute = True
    return (
        server.knobs.now.asks_holders
        and delegation.recalled_at is None
        and not writer.is_mute
        and not server.states.is_id_of_expired(delegation.client)
    )


def _taken(server: ServerApi, delegation: Delegation, inode: Inode, client: int | None) -> int | None:
    writer = delegation.writer
    said = writer.take(client, server.states.now() - _FRESH)
    if said is None:
        if client not in writer.asked:
            _ask(server, delegation, inode, client)
        if server.waiting.may_wait:
            raise Waits
        raise StateError("DELAY")
    if writer.learns(said, inode.size):
        inode.touch(inode.fs.stamp(), modified=True)
    return said.size


def _ask(server: ServerApi, delegation: Delegation, inode: Inode, client: int | None) -> None:
    writer = delegation.writer
    writer.asked[client] = server.states.now()

    def answered(attributes: p.Fattr4 | None) -> None:
        said = None
        if attributes is not None:
            said = Said(attributes.change, attributes.size, server.states.now())
        writer.note(client, said)
        server.states.held.delegations.answered += 1
        server.waiting.wake()

    inquire(server, delegation, inode, answered)
