# SPDX-License-Identifier: MIT
"""Where records begin in the segments of a TCP connection."""

from __future__ import annotations

import typing as t

from nfsfaults.bridge.frames import SYN, Segment
from nfsfaults.matcher import Matcher
from nfsfaults.messages import Toward, Tracker

_LAST: t.Final = 0x8000_0000


class HalfStream:
    """One direction: a kernel sends it in order, so a segment is the next one, or one that is sent again."""

    def __init__(self) -> None:
        self.next: int | None = None
        """The sequence number after all that has come; None before the first SYN."""
        self.losing: dict[int, int] = {}
        """Sequence number of a segment -> how often it is still to be lost."""
        self._left = 0
        """Bytes before the next record mark."""
        self._mark = b""
        """The beginning of a record mark that a segment has cut."""
        self._begins_record = True

    def messages_in(self, segment: Segment) -> list[bytes]:
        """As much of each message that begins in a segment as the segment has; none of one that is sent again."""
        if segment.flags & SYN:
            self.next = segment.end
            return []
        if self.next is None:
            return []
        known = (self.next - segment.number) & 0xFFFF_FFFF
        if known > len(segment.data):
            return []
        # A kernel may send something again together with what follows it.
        data = segment.data[known:]
        self.next = segment.end
        found: list[bytes] = []
        at = 0
        while at < len(data):
            if self._left:
                step = min(self._left, len(data) - at)
                self._left -= step
                at += step
                continue
            taken = min(4 - len(self._mark), len(data) - at)
            self._mark += data[at : at + taken]
            at += taken
            if len(self._mark) < 4:
                break
            mark, self._mark = int.from_bytes(self._mark, "big"), b""
            self._left = mark & ~_LAST
            if self._begins_record:
                found.append(data[at : at + self._left])
            self._begins_record = bool(mark & _LAST)
        return found

    def is_lost_again(self, segment: Segment) -> bool:
        """Whether this is a further sending of a segment that is to be lost; counts it."""
        left = self.losing.get(segment.number, 0)
        if not (left and segment.data):
            return False
        self.losing[segment.number] = left - 1
        return True


class Connection:
    """Both directions, and the calls that passed."""

    def __init__(self, matcher: Matcher) -> None:
        self.tracker = Tracker()
        self.halves: dict[Toward, HalfStream] = {"server": HalfStream(), "client": HalfStream()}
        links = {link.toward: link.lost_syns for link in matcher.plan.links}
        self.syns_to_lose: dict[Toward, int] = {"server": 0, "client": 0, **links}
