# SPDX-License-Identifier: MIT
"""Streams of calls from two clients, with a crash among them."""

from __future__ import annotations

import itertools
import random
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.clients import Nfs3
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsclient.rpc.program import Procedure
from nfsjudge import observe, show, skip
from suites.losses import Losses

COUNT: t.Final = 40
"""Calls of each client, at most."""
WINDOW: t.Final = 4
"""Calls of each client that are under way."""
BLOCK: t.Final = 3000
CLIENTS: t.Final = (b"a", b"b")

AnyProcedure: t.TypeAlias = Procedure[t.Any, t.Any]
Make: t.TypeAlias = Callable[[bytes, int], tuple[AnyProcedure, t.Any]]
"""The call of a client with a number: its procedure and arguments."""


class Stream:
    """Two clients that send calls without waiting for each answer, and the crash among them."""

    def __init__(self, connect: Callable[..., RpcClient], losses: Losses, seed: int) -> None:
        self._rpc = {client: connect("nfs") for client in CLIENTS}
        self._losses = losses
        self._stop = random.Random(seed).randrange(WINDOW, COUNT * len(CLIENTS) - 2 * WINDOW)
        self.sent: dict[tuple[bytes, int], Pending[t.Any]] = {}
        self.before: dict[tuple[bytes, int], set[tuple[bytes, int]]] = {}
        """For each call those that were answered when it was sent."""
        observe("seed", seed)
        observe("answers before the crash", self._stop)

    def run(self, make: Make) -> Nfs3:
        """Send calls until enough are answered, then crash. SKIP if a call is refused. A client of afterwards."""
        self.send(make)
        return self._losses.target.client(Nfs3)

    def send(self, make: Make) -> None:
        """The same for a stream of any version."""
        numbers = {client: iter(range(COUNT)) for client in CLIENTS}
        while sum(each.done for each in self.sent.values()) < self._stop:
            for client in CLIENTS:
                self._fill(client, numbers[client], make)
            waiting = [each for each in self.sent.values() if not each.done]
            if not waiting:
                break
            for client in CLIENTS:
                mine = [
                    pending for (who, _), pending in self.sent.items() if who == client and not pending.done
                ]
                if mine:
                    self._rpc[client].wait_any(mine)
        for client in CLIENTS:  # some of these are under way in the crash
            self._fill(client, numbers[client], make)
        self._losses.leave()  # after all calls are sent: they may make everything stable that was there before
        self._answered = {key for key, pending in self.sent.items() if self._is_ok(pending)}
        for rpc in self._rpc.values():
            rpc.close()  # nothing is sent again to the server that comes back
        self._losses.target.crash()

    def _fill(self, client: bytes, numbers: Iterator[int], make: Make) -> None:
        under_way = sum(who == client and not pending.done for (who, _), pending in self.sent.items())
        for number in itertools.islice(numbers, WINDOW - under_way):
            self.before[client, number] = {key for key, pending in self.sent.items() if pending.done}
            self.sent[client, number] = self._rpc[client].submit(*make(client, number))

    @staticmethod
    def _is_ok(pending: Pending[t.Any]) -> bool:
        if pending.result is None:
            return False
        if pending.result.status != 0:
            skip(
                f"a call of the stream is refused: {pending.procedure.name} answers {show(pending.result.status)}"
            )
        return True

    @property
    def answered(self) -> list[tuple[bytes, int]]:
        """Those that the server has acknowledged."""
        return sorted(self._answered)

    def result(self, client: bytes, number: int) -> t.Any:
        """What the server has answered to a call that it has acknowledged."""
        found = self.sent[client, number].result
        assert found is not None
        return found.resok

    @property
    def open(self) -> list[tuple[bytes, int]]:
        """Those that were sent and not answered."""
        return sorted(self.sent.keys() - self._answered)
