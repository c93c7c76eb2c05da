# SPDX-License-Identifier: MIT
"""Which requests of NFSv4 sessions are certainly new: others may be retries of what was sent before anybody looked.

A retry is answered from the reply cache, with what was true when the first request was executed
(RFC 5661 section 2.10.6.1).
"""

from __future__ import annotations

import typing as t

from nfsclient.protocol import nfs4 as p
from nfsclient.rpc.exchange import Exchange
from nfsjudge.lint.nfs4_views import request_of

_MOST_SLOTS: t.Final = 50_000
_ALL: t.Final = 1 << 32


class Slots:
    """The sequence ids that were seen on the slots of sessions."""

    def __init__(self) -> None:
        self._whole: set[bytes] = set()
        """Sessions that are seen from their beginning: their slots begin with 1."""
        self._latest: dict[bytes, dict[int, int]] = {}
        """Session -> slot -> the sequence id of its last request."""
        self._count = 0
        """Of sessions and slots since all were forgotten."""

    def forget(self) -> None:
        """Something was not seen that may have been a request of any session."""
        self._whole.clear()
        self._latest.clear()
        self._count = 0

    def may_be_retry(self, exchange: Exchange) -> bool:
        """Take note of a request; whether it may be a retry of one that was not seen."""
        if exchange.procedure is not p.COMPOUND:
            return False
        asked = request_of(exchange)
        is_next = asked is None or self._is_next(*asked)
        if is_next:
            self._begin(exchange)
        return not is_next

    def _is_next(self, session: bytes, slot: int, sequence: int) -> bool:
        if self._count >= _MOST_SLOTS:
            self.forget()
        slots = self._latest.setdefault(session, {})
        self._count += slot not in slots
        latest = slots.get(slot, 0 if session in self._whole else None)
        slots[slot] = sequence
        return latest is not None and sequence == (latest + 1) % _ALL

    def _begin(self, exchange: Exchange) -> None:
        """Note the sessions that a compound makes."""
        for step in exchange.steps:
            made = getattr(step.result, "csr_resok4", None)
            if made is not None:
                self._whole.add(bytes(made.csr_sessionid))
                self._latest.pop(bytes(made.csr_sessionid), None)
                self._count += 1
