# SPDX-License-Identifier: MIT
"""Compounds of several sessions at the same time: `suites.races` by NFSv4."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from fixtures.checks.dialects.nfs4 import Nfs4Dialect
from nfsclient.clients.nfs4 import CompoundReply, Session
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.blocking import RpcClient
from nfsclient.xdr import XdrType
from suites.nfs4.opens import another_session
from suites.races import AT_ONCE, LOOKS, MOST_LOOKS


class Started:
    """A compound that was sent."""

    def __init__(self, session: Session, operations: Sequence[XdrType]) -> None:
        rpc = session.nfs4.rpc
        assert isinstance(rpc, RpcClient)
        self._session, self._rpc = session, rpc
        self._request = session.state.begin(operations, tag=session.nfs4.tag)
        self._pending = rpc.submit(p.COMPOUND, self._request.args, credential=session.nfs4.credential)

    @property
    def done(self) -> bool:
        """Whether the reply has come."""
        return self._pending.done

    def wait(self) -> CompoundReply:
        """The reply."""
        return self._session.state.finish(self._request, self._rpc.wait(self._pending))


def start(session: Session, *operations: XdrType) -> Callable[[], CompoundReply]:
    """Send a compound; the result waits for its reply."""
    return Started(session, operations).wait


class Race4:
    """As `suites.races.Race`, by two clients with a session each."""

    def __init__(self, v4: Nfs4Dialect) -> None:
        self._looker, self._changer = another_session(v4), another_session(v4)

    def run(
        self,
        change: Sequence[XdrType],
        look: Sequence[XdrType],
        judge: Callable[[CompoundReply], object],
    ) -> CompoundReply:
        """Send `look` again and again, before and during the compound `change`, whose reply is returned."""
        slots = self._looker.state.slots
        under_way = deque(Started(self._looker, look) for _ in range(min(AT_ONCE, slots.allowed)))
        changing = Started(self._changer, change)
        sent = len(under_way)
        while under_way:
            judge(under_way.popleft().wait())
            while len(under_way) < min(AT_ONCE, slots.allowed) and (
                sent < LOOKS or (sent < MOST_LOOKS and not changing.done)
            ):
                under_way.append(Started(self._looker, look))
                sent += 1
        return changing.wait()

    def again(self, change: Sequence[XdrType]) -> CompoundReply:
        """The same change once more, by itself."""
        return self._changer.compound(*change)
