# SPDX-License-Identifier: MIT
"""Streams of calls from two clients, with a crash among them."""

from __future__ import annotations

import itertools
import random
import typing as t
from collections.abc import Callable, Iterator

from nfsclient.clients import Nfs3
from nfsclient.files import Call, Files, NewAttributes, Steps, result_of
from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.core import Pending
from nfsjudge import observe, show, skip
from suites.losses import Losses

COUNT: t.Final = 40
"""Calls of each client, at most."""
WINDOW: t.Final = 4
"""Calls of each client that are under way."""
BLOCK: t.Final = 3000
CLIENTS: t.Final = (b"a", b"b")

Make: t.TypeAlias = Callable[[bytes, int], Steps[t.Any]]
"""The operation of a client with a number; only its first call is made."""


def name_of(client: bytes, number: int, kind: bytes = b"") -> bytes:
    """The name that a call of a stream is about."""
    return b"%s%s%d" % (client, kind, number)


def creation(files: Files, procedure: str, directory: bytes, name: bytes) -> Steps[t.Any]:
    """An object of any version: "create", "mkdir" or "symlink"."""
    match procedure:
        case "create":
            return files.create(directory, name, attributes=NewAttributes(mode=0o644))
        case "mkdir":
            return files.mkdir(directory, name, NewAttributes(mode=0o755))
        case _:
            return files.symlink(directory, name, b"text of " + name, NewAttributes(mode=0o777))


class Stream:
    """Two clients that send calls without waiting for each answer, and the crash among them."""

    def __init__(self, connect: Callable[..., RpcClient], losses: Losses, seed: int) -> None:
        self._rpc = {client: connect("nfs") for client in CLIENTS}
        self._losses = losses
        self._stop = random.Random(seed).randrange(WINDOW, COUNT * len(CLIENTS) - 2 * WINDOW)
        self.sent: dict[tuple[bytes, int], Pending[t.Any]] = {}
        self._steps: dict[tuple[bytes, int], Steps[t.Any]] = {}
        self._results: dict[tuple[bytes, int], t.Any] = {}
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
            steps = make(client, number)
            call = next(steps)
            assert isinstance(call, Call)
            self._steps[client, number] = steps
            self.sent[client, number] = self._rpc[client].submit(call.procedure, call.args)

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
        """What a WRITE or COMMIT that the server has acknowledged has done: `Written`, or the verifier."""
        key = client, number
        if key not in self._results:
            self._results[key] = result_of(self._steps[key], self.sent[key].result)
        return self._results[key]

    @property
    def open(self) -> list[tuple[bytes, int]]:
        """Those that were sent and not answered."""
        return sorted(self.sent.keys() - self._answered)
