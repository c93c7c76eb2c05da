# SPDX-License-Identifier: MIT
"""Messages of a check as records: every call and reply with all its fields, within bounds.

What a server sent can be long: a listing of ten thousand names, a megabyte of data. Lists and data are abbreviated by
the printer, a message is cut at `MOST_LINES` lines, and of many messages the first and the last are kept; each cut
leaves a line that says so. What the verdict is about is never cut away.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nfsclient.errors import XdrError
from nfsclient.rpc.exchange import Exchange, RawBytes, Segment
from nfsclient.xdr import XdrType, format_value
from nfsjudge.answers import describe_error
from nfsjudge.placing import Placing
from nfsjudge.records import MessageRecord
from nfsjudge.transcript import Besides, as_whom, cut, hexdump, name_of

MOST_LINES = 300
"""Lines of one message."""
MOST_FIRST, MOST_LAST = 50, 250
"""Messages kept from the beginning and from the end of a check."""
_LONGEST_LINE = 400
_CALL_HEAD = struct.Struct(">6I")
_SIGN = "\0"
"""Ends the lines that the printer must mark. Text from the wire is escaped and never has it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a verdict is about: a decoded result and the dotted path of a field in it, or an exchange as a whole."""

    subject: object
    """The decoded reply, the result of one operation in it, or the exchange."""
    field: str | None = None
    note: str = ""
    """What was expected there."""

    def is_of(self, exchange: Exchange) -> bool:
        """Whether it is about this exchange."""
        return exchange.is_about(self.subject)

    def field_in(self, exchange: Exchange) -> str | None:
        """The path of the field in the decoded reply of an exchange that it is about."""
        return exchange.path_of(self.subject, self.field)


def message_records(
    exchanges: Sequence[Exchange],
    raw: Iterable[RawBytes] = (),
    remarks: Sequence[tuple[float, str]] = (),
    *,
    began: float = 0.0,
    marks: Sequence[Mark] = (),
) -> list[MessageRecord]:
    """The messages in order of time; `began` is the beginning of the check on the exchanges' clock.

    Raw bytes that are in no exchange have the number 0, and so has what was seen besides: `remarks`, as (time, text).
    """
    parts: list[_Part] = []
    for number, exchange in enumerate(exchanges, 1):
        own = [mark for mark in marks if mark.is_of(exchange)]
        if exchange.call:
            parts.append(_Part(exchange.sent_at, number, "call", exchange, own))
        if exchange.reply is not None or exchange.error is not None:
            at = exchange.sent_at if exchange.received_at is None else exchange.received_at
            parts.append(_Part(at, number, "reply", exchange, own))
    parts += [
        _Part(raw_bytes.at, 0, "call" if raw_bytes.sent else "reply", raw_bytes, [])
        for raw_bytes in outside_exchanges(exchanges, raw)
    ]
    parts += [_Part(at, 0, "", text, []) for at, text in remarks]
    parts.sort(key=lambda part: part.at)  # stable: a reply in the same instant stays after its call
    return _bounded(parts, began)


def outside_exchanges(exchanges: Iterable[Exchange], raw: Iterable[RawBytes]) -> list[RawBytes]:
    """Those of the raw bytes that are in no exchange. A call may be in several fragments, or pieces of a stream."""
    own, all_raw = [exchange for exchange in exchanges if exchange.procedure is None], list(raw)
    sent = [
        Segment(raw_bytes.at, True, raw_bytes.data, raw_bytes.peer, raw_bytes.transport, raw_bytes.local)
        for raw_bytes in all_raw
        if raw_bytes.sent
    ]
    left = [
        RawBytes(sent[at].at, True, data, sent[at].peer, sent[at].transport, sent[at].local)
        for at, _, data in Placing(own, sent).left(lambda message: message.exchange is not None)
    ]
    replies = {bytes(exchange.reply) for exchange in own if exchange.reply}
    left += [raw_bytes for raw_bytes in all_raw if not raw_bytes.sent and raw_bytes.data not in replies]
    return sorted(left, key=lambda raw_bytes: raw_bytes.at)


def besides(
    exchanges: Sequence[Exchange], raw: Iterable[RawBytes], remarks: Sequence[tuple[float, str]]
) -> list[Besides]:
    """What a transcript says of bytes that are in no exchange, and of what was seen besides."""
    shown = [
        Besides(
            raw_bytes.at,
            [f"{'sent' if raw_bytes.sent else 'received'} {_summary(raw_bytes)}", *_bytes(raw_bytes.data)],
        )
        for raw_bytes in outside_exchanges(exchanges, raw)
    ]
    return sorted([*shown, *(Besides(at, [text]) for at, text in remarks)], key=lambda part: part.at)


def _summary(raw: RawBytes) -> str:
    return f"{len(raw.data)} bytes {'of the check itself' if raw.sent else 'that answer no call'}"


@dataclass(frozen=True, slots=True)
class _Part:
    """One message before it is printed."""

    at: float
    number: int
    direction: str
    what: Exchange | RawBytes | str
    marks: list[Mark]

    def record(self, began: float) -> MessageRecord:
        time = round(self.at - began, 6)
        if isinstance(self.what, str):
            return MessageRecord(0, time, "", _line(self.what))
        if isinstance(self.what, RawBytes):
            summary = _summary(self.what)
            return MessageRecord(self.number, time, self.direction, summary, _bytes(self.what.data))
        if self.direction == "call":
            summary, lines, signed = _call(self.what, self.marks)
        else:
            summary, lines, signed = _reply(self.what, self.marks)
        lines, signed = cut(lines, signed, MOST_LINES)
        return MessageRecord(self.number, time, self.direction, _line(summary), [*map(_line, lines)], signed)


def _line(text: str) -> str:
    return text if len(text) <= _LONGEST_LINE else f"{text[:_LONGEST_LINE]}... ({len(text)} characters)"


def _call(exchange: Exchange, marks: Sequence[Mark]) -> tuple[str, list[str], list[int]]:
    if exchange.procedure is None:
        return f"{len(exchange.call)} bytes of the check itself", _bytes(exchange.call), []
    again = f", sent {exchange.resent + 1} times" if exchange.resent else ""
    summary = f"{name_of(exchange)} xid 0x{exchange.xid:08x}{again}"
    whom = as_whom(exchange.credential)
    head = [f"credential: {whom}"] if whom else []
    fields = [mark.field_in(exchange) for mark in marks if exchange.is_callback]
    shown, signed = list[str](), list[int]()
    if isinstance(exchange.args, XdrType):
        shown, signed = _marked(exchange.args, [field for field in fields if field is not None])
        signed = signed or ([0] if fields and shown else [])
    return summary, head + shown, [at + len(head) for at in signed]


def _bytes(message: bytes) -> list[str]:
    """Raw bytes; before them the fields of a call, if they begin like one."""
    words = _CALL_HEAD.unpack_from(message) if len(message) >= _CALL_HEAD.size else None
    head = []
    if words is not None and words[1:3] == (0, 2):
        head = [f"xid: 0x{words[0]:08x}", f"program {words[3]} version {words[4]} procedure {words[5]}"]
    return head + hexdump(message)


def _reply(exchange: Exchange, marks: Sequence[Mark]) -> tuple[str, list[str], list[int]]:
    if isinstance(exchange.result, XdrType):
        status = getattr(exchange.result, "status", None)
        name = name_of(exchange) if exchange.procedure is not None else "answer"
        summary = f"{name} xid 0x{exchange.xid:08x}: {'answered' if status is None else status}"
        marks = [] if exchange.is_callback else marks
        fields = [mark.field_in(exchange) for mark in marks]
        lines, signed = _marked(exchange.result, [field for field in fields if field is not None])
        return summary, lines, signed or ([0] if marks and lines else [])
    lines = [] if exchange.error is None else _of_error(exchange.error)
    about = len(lines) if marks else 0
    summary = "no reply" if exchange.reply is None else f"{len(exchange.reply)} bytes"
    if lines:
        summary += f": {lines[0]}"
    lines += hexdump(exchange.reply) if exchange.reply is not None else []
    return summary, lines, [*range(about)] or ([0] if marks and lines else [])


def _of_error(error: Exception) -> list[str]:
    """What is wrong with an answer, or with the lack of it. Texts of errors may quote the server: they are escaped."""
    text = describe_error(error)
    lines = [line.encode("unicode_escape").decode() for line in text.splitlines()]
    if isinstance(error, XdrError) and error.path:
        lines.append(f"at {error.path}: {error.detail}".encode("unicode_escape").decode())
    return lines


def _marked(value: XdrType, fields: Sequence[str]) -> tuple[list[str], list[int]]:
    """The fields of a value, and the indices of the lines of those that are named."""
    lines = format_value(value, mark=fields[0] if fields else None, note=_SIGN)
    signed = {at for at, line in enumerate(lines) if line.endswith(_SIGN)}
    for field in fields[1:]:
        others = format_value(value, mark=field, note=_SIGN)
        if len(others) == len(lines):  # what is marked may be printed on more lines than otherwise
            signed |= {at for at, line in enumerate(others) if line.endswith(_SIGN)}
    return [line.removesuffix(f"    <-- {_SIGN}") for line in lines], sorted(signed)


def _bounded(parts: list[_Part], began: float) -> list[MessageRecord]:
    """The first and the last of many messages, and those that a verdict is about."""
    last = len(parts) - MOST_LAST
    kept = [at < MOST_FIRST or at >= last or bool(part.marks) for at, part in enumerate(parts)]
    found: list[MessageRecord] = []
    skipped = 0
    for is_kept, part in zip(kept, parts, strict=True):
        if not is_kept:
            skipped += 1
            continue
        if skipped:
            text = f"... {skipped} messages are left out; they are in the capture"
            found.append(MessageRecord(0, round(part.at - began, 6), "", text))
            skipped = 0
        found.append(part.record(began))
    return found
