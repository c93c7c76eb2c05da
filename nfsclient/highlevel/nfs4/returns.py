# SPDX-License-Identifier: MIT
"""How delegations go back: without waiting, from within any wait on the loop (RFC 5661 sections 10.4.5 and 20.2).

    held        CB_RECALL, CB_RECALL_ANY, the last CLOSE, not wanted    DELEGRETURN is sent: under way
                the same without a free slot                            recalled: tried again by `finish`
    under way   a reply                                                 over; DELAY: recalled, and tried again
                the connection was lost                                 sent again over the next one (`send_again`)
                the session was lost                                    over: the client reclaims, or forgets it

What must stay true: a recall is answered before DELEGRETURN is sent, and nothing here waits for a reply but
`closed`, which nobody calls from a callback. Data is written through, so a delegation has nothing to write back.
"""

from __future__ import annotations

import contextlib
import typing as t
from functools import partial

from nfsclient.clients.nfs4 import Nfs4, NoFreeSlot, Request, Session
from nfsclient.clients.nfs4 import operations as op
from nfsclient.errors import ConnectionLost, RpcTimeout
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.sessions.recovery import REMEDIES, Remedy
from nfsclient.sessions.state import Delegation, HeldState


class Holder(t.Protocol):
    """Whose delegations they are: what a return needs of a `LiveClient`."""

    rpc: RpcClient
    nfs4: Nfs4
    held: HeldState
    session: Session
    wants_delegations: bool

    def forget_delegation(self, delegation: Delegation) -> None: ...


class Returns:
    """The delegations of a client that go back, and those that are to."""

    def __init__(self, live: Holder) -> None:
        self._live = live
        self._under_way: list[tuple[Delegation, Request, Pending[p.Compound4Res]]] = []

    def serve(self, session: Session) -> None:
        """A new session: what was under way in the old one is over, and its recalls come here."""
        session.callbacks.on_recall = self._recalled
        session.callbacks.on_recall_any = self._recalled_any
        self._under_way.clear()

    def send_again(self) -> None:
        """A new connection of the same session."""
        self._under_way = [
            (delegation, request, self._live.rpc.submit(p.COMPOUND, request.args))
            for delegation, request, _ in self._under_way
        ]

    def _recalled(self, _stateid: p.Stateid4, handle: bytes) -> None:
        delegation = self._live.held.delegations.get(handle)
        if delegation is not None:
            self._live.nfs4.callbacks.after.append(partial(self.begin, delegation))

    def _recalled_any(self, keep: int, types: list[int]) -> None:
        """CB_RECALL_ANY: the oldest delegations of these types go, but for the last `keep` (section 20.6)."""
        wanted = self._live.held.delegations_of(types[0] if types else 0)
        for delegation in wanted[: max(0, len(wanted) - keep)]:
            self._live.nfs4.callbacks.after.append(partial(self.begin, delegation))

    def begin(self, delegation: Delegation) -> None:
        """Start a DELEGRETURN without waiting for it: nothing is cached that is not on the server already."""
        live = self._live
        if live.held.delegations.get(delegation.handle) is not delegation:
            return
        live.forget_delegation(delegation)
        if not live.rpc.is_open:
            return
        operations = [op.putfh(delegation.handle), op.delegreturn(delegation.stateid)]
        try:
            request = live.session.state.begin(operations)
        except NoFreeSlot:
            live.held.delegations[delegation.handle] = delegation
            delegation.recalled = True
            return
        self._under_way.append((delegation, request, live.rpc.submit(p.COMPOUND, request.args)))

    def closed(self, handle: bytes) -> None:
        """Return the delegation of a file that nobody has open any more, and take the answer.

        A client that does nothing answers no CB_RECALL, so what it kept would hold up everybody else.
        """
        held = self._live.held
        delegation = held.delegations.get(handle)
        if delegation is None or any(opened.handle == handle for opened in held.opens.values()):
            return
        self.begin(delegation)
        for _, _, pending in self._under_way:
            if pending.error is None and not pending.done:
                with contextlib.suppress(ConnectionLost, RpcTimeout):
                    self._live.rpc.wait(pending)

    def unwanted(self, handle: bytes) -> None:
        """Return a delegation that came with an OPEN although it said WANT_NO_DELEG (section 18.16.3)."""
        delegation = self._live.held.delegations.get(handle)
        if delegation is not None and not self._live.wants_delegations:
            self.begin(delegation)

    def finish(self) -> None:
        """Take replies that have come, and try again what was put off."""
        if not (self._under_way or self._live.held.delegations):
            return
        for returning in [returning for returning in self._under_way if returning[2].done]:
            if returning[2].result is None:
                continue  # the connection was lost: the next one repeats it
            self._under_way.remove(returning)
            reply = self._live.session.state.finish(returning[1], returning[2].result)
            if REMEDIES.get(reply.status) is Remedy.WAIT:
                returning[0].recalled = True
                self._live.held.delegations.setdefault(returning[0].handle, returning[0])
        for delegation in [each for each in self._live.held.delegations.values() if each.recalled]:
            self.begin(delegation)
