# SPDX-License-Identifier: MIT
"""The queue between matching and judging: exchanges become complete in any order, and are judged in order of time.

What is complete waits for calls that were made before its end and are still open, since these may have been
executed meanwhile. The wait is limited: if a call is open too long, or too many are, it counts as unanswered.
"""

from __future__ import annotations

import typing as t
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from nfsclient.rpc.exchange import Exchange
from nfsjudge.captured.calls import fill_in_reply, set_aside
from nfsjudge.captured.frames import Frames
from nfsjudge.captured.segments import name_of
from nfsjudge.lint import Event, Linter
from nfsjudge.lint.engine import in_groups

Side: t.TypeAlias = tuple[bytes, int]
Key: t.TypeAlias = tuple[Side, Side, int]
"""Client, server, XID."""

_LONGEST_OPEN = 60.0
"""Seconds of the capture after which a call counts as unanswered."""
_REORDERED = 1.0
"""Seconds by which a capture may have a reply before its call."""
_MOST_OPEN = 4096
_MOST_DONE = 8192
_MOST_DONE_BYTES = 64 << 20
_LOST = b"lost"
"""Stands for a call that was not captured."""
_OFTEN = 128
"""Complete exchanges that wait before the queue looks which can be judged."""
_MOST_CLOSED = 65_536


@dataclass(slots=True)
class _Open:
    number: int
    exchange: Exchange
    is_judged: bool = True
    is_repeated: bool = False


@dataclass(slots=True)
class InOrder:
    """Gives exchanges to a linter in order of time, those that overlap together."""

    linter: Linter
    proves_no_call: Callable[[Side, Side], bool]
    """Whether all calls from a client to a server over a stream were seen."""
    answered: int = 0
    """Calls with a reply of which more than the header can be judged."""
    unanswered: int = 0
    unmatched: int = 0
    """Replies whose calls were perhaps not captured."""
    not_judged: dict[str, Frames] = field(default_factory=dict)
    """Why no more than the headers of replies counts, as they themselves show -> the frames with their calls."""
    _open: OrderedDict[Key, _Open] = field(default_factory=OrderedDict)
    _done: list[tuple[int, Exchange]] = field(default_factory=list)
    _done_bytes: int = 0
    _repeated: set[int] = field(default_factory=set)
    _events: list[Event] = field(default_factory=list)
    _callbacks: list[tuple[int, Exchange]] = field(default_factory=list)
    _closed: OrderedDict[Key, None] = field(default_factory=OrderedDict)
    """Calls that were given up, or over UDP answered: replies to them prove nothing."""
    _servers: OrderedDict[Side, None] = field(default_factory=OrderedDict)
    _strays: OrderedDict[Key, tuple[int, bytes, float]] = field(default_factory=OrderedDict)
    _looked_at: int = 0

    # ------------------------------------------------------------ calls and replies

    def call(
        self, number: int, exchange: Exchange, client: Side, server: Side, *, is_judged: bool = True
    ) -> None:
        """A call was made, in packet `number`."""
        key = (client, server, exchange.xid)
        self._servers[server] = None
        if len(self._servers) > _MOST_OPEN:
            self._servers.popitem(last=False)
        known = self._open.get(key)
        if known is not None and known.exchange.call == exchange.call:
            known.is_repeated = True
            return
        if known is not None:
            self._abandon(key)
        early = self._strays.pop(key, None)
        if early is not None:
            end = max(exchange.sent_at, early[2])
            exchange.sent_at = min(exchange.sent_at, early[2])
            self._answer(number, exchange, early[1], end, is_judged=is_judged)
            self.put(number, exchange)
            return
        self._open[key] = _Open(number, exchange, is_judged)
        if len(self._open) > _MOST_OPEN:
            self._abandon(next(iter(self._open)))

    def reply(self, key: Key, message: bytes, moment: float) -> bool:
        """A reply came; whether it is to an open call."""
        found = self._open.pop(key, None)
        if found is None:
            return False
        end = max(moment, found.exchange.sent_at)
        self._answer(found.number, found.exchange, message, end, is_judged=found.is_judged)
        if found.is_repeated:
            self._repeated.add(id(found.exchange))
        if found.exchange.transport == "udp" or found.is_repeated:
            self._close(key)
        self.put(found.number, found.exchange)
        return True

    def _answer(
        self, number: int, exchange: Exchange, message: bytes, end: float, *, is_judged: bool
    ) -> None:
        fill_in_reply(exchange, message, end)
        reason = set_aside(exchange)
        if reason:
            self.not_judged.setdefault(reason, Frames()).add(number)
        else:
            self.answered += is_judged

    def stray(self, key: Key, number: int, message: bytes, moment: float) -> None:
        """A reply without a known call so far: captures may have the two in the wrong order."""
        self._strays[key] = (number, message, moment)
        if len(self._strays) > _MOST_OPEN:
            self._strays.popitem(last=False)

    def _take_strays(self, before: float) -> None:
        for key, (number, message, moment) in list(self._strays.items()):
            if moment > before:
                return
            del self._strays[key]
            if key in self._closed:
                continue
            if self.proves_no_call(key[0], key[1]):
                exchange = Exchange(key[2], None, None, None, b"", moment, name_of(key[1]), "tcp")
                exchange.reply, exchange.received_at = message, moment
                self.put(number, exchange)
            else:
                self.unmatched += 1
                self.lose(number, moment - _REORDERED, moment, name_of(key[1]))

    def lose(self, number: int, begin: float, end: float, peer: str) -> None:
        """Something was not captured that may have been a call of any kind, between two moments."""
        exchange = Exchange(0, None, None, None, _LOST, begin, peer, "udp")
        exchange.reply, exchange.received_at = None, end
        self.put(number, exchange)

    def put(self, number: int, exchange: Exchange) -> None:
        """An exchange is complete."""
        self._done.append((number, exchange))
        self._done_bytes += len(exchange.call) + len(exchange.reply or b"")

    def happen(self, event: Event) -> None:
        """Something that no exchange shows."""
        self._events.append(event)

    def excuse(self, key: Key) -> None:
        """A reply to this may come, though no call was seen."""
        self._close(key)

    def callback(self, number: int, exchange: Exchange) -> None:
        """A server called a client, in packet `number`. The answer is the client's, and is not looked at."""
        self._callbacks.append((number, exchange))
        if len(self._callbacks) > _MOST_OPEN:
            self._callbacks.pop(0)

    def is_server(self, side: Side) -> bool:
        """Whether calls went there."""
        return side in self._servers

    def waits(self, client: bytes, server: Side) -> bool:
        """Whether calls of a client to a server are open."""
        return any(key[0][0] == client and key[1] == server for key in self._open)

    def _close(self, key: Key) -> None:
        self._closed[key] = None
        if len(self._closed) > _MOST_CLOSED:
            self._closed.popitem(last=False)

    def _abandon(self, key: Key) -> None:
        """Count an open call as unanswered."""
        found = self._open.pop(key)
        self._close(key)
        self.unanswered += 1
        self.put(found.number, found.exchange)

    # ------------------------------------------------------------ judging

    def is_due(self) -> bool:
        """Whether enough waits to look for what can be judged."""
        return len(self._done) - self._looked_at >= _OFTEN or self._is_much()

    def _is_much(self) -> bool:
        return len(self._done) > _MOST_DONE or self._done_bytes > _MOST_DONE_BYTES

    def advance(self, now: float, unclear_since: float) -> None:
        """Time has come to `now`: judge what can be judged.

        Since `unclear_since` it is not known what some client called.
        """
        self._take_strays(now - _REORDERED)
        is_much = self._is_much()
        while self._open:
            key = next(iter(self._open))
            if not is_much and self._open[key].exchange.sent_at >= now - _LONGEST_OPEN:
                break
            self._abandon(key)
        if is_much and unclear_since < now:
            self.linter.doubt()
            unclear_since = now
        horizon = min((call.exchange.sent_at for call in self._open.values()), default=now)
        self._judge(min(horizon, unclear_since, now if is_much else now - _REORDERED))

    def finish(self) -> None:
        """Nothing more comes."""
        self._take_strays(float("inf"))
        while self._open:
            self._abandon(next(iter(self._open)))
        self._judge(float("inf"))
        self._tell(float("inf"))

    def _judge(self, horizon: float) -> None:
        """Judge the groups that end before `horizon`."""
        left: list[tuple[int, Exchange]] = []
        self._events.sort(key=lambda event: event.at)
        for group in in_groups(self._done):
            end = max(exchange.received_at or exchange.sent_at for _, exchange in group)
            if left or end >= horizon:
                left += group
                continue
            self._tell(group[0][1].sent_at)
            self.linter.take(group)
            for _, exchange in group:
                if id(exchange) in self._repeated:
                    self._repeated.discard(id(exchange))
                    self.linter.linger(exchange)
            self._tell(end)
        self._done = left
        self._done_bytes = sum(len(exchange.call) + len(exchange.reply or b"") for _, exchange in left)
        self._looked_at = len(left)

    def _tell(self, moment: float) -> None:
        while self._events and self._events[0].at <= moment:
            self.linter.happen(self._events.pop(0))
        while self._callbacks and self._callbacks[0][1].sent_at <= moment:
            self.linter.take_callback(*self._callbacks.pop(0))
