# SPDX-License-Identifier: MIT
"""Looking at an object while another connection changes it: what must never be seen may last for microseconds.

One look after a change has been sent would nearly always come before or after the change. So looks are sent before it,
and more of them until it is answered, several at a time. Each look is judged by itself: a server may answer in any
order.
"""

from __future__ import annotations

import typing as t
from collections import deque
from collections.abc import Callable

from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.program import Procedure
from nfsclient.xdr import XdrType

A = t.TypeVar("A", bound=XdrType)
B = t.TypeVar("B", bound=XdrType)
R = t.TypeVar("R", bound=XdrType)
S = t.TypeVar("S", bound=XdrType)

ROUNDS: t.Final = 20
"""How often a check tries to see a change half done, or starts two calls of which one may succeed."""
AT_ONCE: t.Final = 4
LOOKS: t.Final = 6
MOST_LOOKS: t.Final = 60
"""Looks in one round: at least, and at most while a slow server makes the change."""


class Race:
    """Two connections: one changes an object, and the other one looks at it meanwhile."""

    def __init__(self, connect: Callable[..., RpcClient]) -> None:
        """`connect` is the fixture `rpc_connect`."""
        self._looker, self._changer = connect("nfs"), connect("nfs")

    def run(
        self,
        change: tuple[Procedure[A, R], A],
        look: tuple[Procedure[B, S], B],
        judge: Callable[[S], object],
    ) -> R:
        """Make the call `look` again and again, before and during the call `change`, whose reply is returned.

        `judge` gets each reply to `look`. Both calls are a procedure and its arguments.
        """
        under_way = deque(self._looker.submit(*look) for _ in range(AT_ONCE))
        changing = self._changer.submit(*change)
        sent = len(under_way)
        while under_way:
            judge(self._looker.wait(under_way.popleft()))
            while len(under_way) < AT_ONCE and (sent < LOOKS or (sent < MOST_LOOKS and not changing.done)):
                under_way.append(self._looker.submit(*look))
                sent += 1
        return self._changer.wait(changing)
