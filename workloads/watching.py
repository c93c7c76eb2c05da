# SPDX-License-Identifier: MIT
"""The lint over the traffic of a run, and the last exchanges for a capture.

The lint judges each call and reply by the rules of docs/lint.md. It costs several times what a call costs, so a script
is watched whole, and of a rate every n-th call. Where all calls are seen, replies are compared with earlier ones;
otherwise only where nobody else can have changed what they are about.
"""

from __future__ import annotations

import time
import typing as t
from collections import deque
from pathlib import Path

from nfsclient.clients.nfs4 import direct
from nfsclient.errors import XdrError
from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.mixed import MixedCalls, TimedCall
from nfsjudge.lint import Event, Finding, Happening, Linter
from nfsjudge.lint.engine import in_groups

_TOGETHER: t.Final = 512
"""Exchanges that overlap with others without an end, above which they are judged all the same."""
_KEPT: t.Final = 256
_KEPT_BYTES: t.Final = 8 << 20


class Watch:
    """Sees calls that are over. `share` n: the lint judges every n-th; 0: none."""

    def __init__(self, share: int = 1, *, alone: bool = False) -> None:
        """`alone`: nobody else uses the objects."""
        self.share = share
        self.judged = self.seen = 0
        self._begun = 0
        self._under_way = 0
        """Calls that are to be judged, and have no end yet."""
        self._verifier: bytes | None = None
        """The last one of a WRITE or a COMMIT."""
        self._linter = Linter(others=not (alone and share == 1))
        self._waiting: list[tuple[int, Exchange]] = []
        self._last: deque[tuple[MixedCalls, TimedCall]] = deque()
        self._last_bytes = 0

    def wants(self) -> bool:
        """Whether the call that begins now is to be judged: then it is to be decoded whole."""
        self._begun += 1
        is_judged = self.share > 0 and self._begun % self.share == 0
        self._under_way += is_judged
        return is_judged

    @property
    def findings(self) -> list[Finding]:
        """One for each rule that was broken."""
        self._judge()
        return list(self._linter.findings.values())

    def saw(self, connection: MixedCalls, call: TimedCall, *, is_judged: bool) -> None:
        """A call is over."""
        self.seen += 1
        last = self._last
        while last and (len(last) >= _KEPT or self._last_bytes > _KEPT_BYTES):
            _, gone = last.popleft()
            self._last_bytes -= gone.sent_bytes + gone.received_bytes
        last.append((connection, call))
        self._last_bytes += call.sent_bytes + call.received_bytes
        if not is_judged:
            return
        self.judged += 1
        self._under_way -= 1
        exchange = connection.exchange_of(call)
        verifier = _verifier(exchange)
        if verifier is not None and verifier != self._verifier:
            if self._verifier is not None:  # it was restarted: what it said before does not bind it
                self._judge_alone(call.sent_at)
            self._verifier = verifier
        self._waiting.append((self.judged, exchange))
        if not self._under_way:
            self._judge()
        elif len(self._waiting) >= _TOGETHER:
            self._judge()
            # What is under way overlaps with these, and which came first is not known: begin as with another server.
            self._linter.happen(Event(call.sent_at, Happening.RESTART))

    def restarted(self, at: float) -> None:
        """The connection ended, and the server may have been restarted: what it said before does not bind it."""
        self._judge()
        self._linter.happen(Event(at, Happening.RESTART))

    def _judge_alone(self, at: float) -> None:
        """Judge what waits, each for itself: which of it was before the restart is not known."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            self._linter.happen(Event(at, Happening.RESTART))
            self._linter.take([each])
        self._linter.happen(Event(at, Happening.RESTART))

    def _judge(self) -> None:
        """Judge what waits. Calls that overlap in time are one group: no reply is compared with the others of it."""
        waiting, self._waiting = self._waiting, []
        for group in in_groups(waiting):
            self._linter.take(group)

    def write_capture(self, path: Path, note: str) -> int:
        """Write the last exchanges as pcapng; `note` stands at the last one. How many packets."""
        from nfsjudge.capture import write_capture

        exchanges = [_whole(connection, call) for connection, call in self._last]
        epoch = time.time() - time.monotonic()
        return write_capture(
            path, exchanges, epoch=epoch, notes={len(exchanges): note} if exchanges else None
        )


def _verifier(exchange: Exchange) -> bytes | None:
    """The write verifier in a reply, which tells instances of a server apart."""
    for step in exchange.steps:
        if step.operation.name in {"WRITE", "COMMIT"} and step.result is not None:
            done = getattr(step.result, "resok", None) or getattr(step.result, "resok4", None)
            found = getattr(done, "verf", None) or getattr(done, "writeverf", None)
            if found is not None:
                return bytes(found)
    return None


def _whole(connection: MixedCalls, call: TimedCall) -> Exchange:
    """A call as an exchange, with a compound decoded."""
    exchange = connection.exchange_of(call)
    if call.procedure is direct.RAW:
        exchange.procedure = p.COMPOUND
        if call.result is not None:
            try:
                exchange.result = p.Compound4Res.from_xdr(call.result.results)
            except XdrError as error:  # a capture is most needed where the server is that wrong
                exchange.result, exchange.error = None, error
    return exchange
