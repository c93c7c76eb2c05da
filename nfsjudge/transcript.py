# SPDX-License-Identifier: MIT
"""Transcripts: exchanges as text, for people who want to see what was on the wire."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from nfsclient.errors import XdrError
from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import XdrType, format_value

_MOST_FULL = 12
"""Exchanges shown in full: the last ones. Earlier ones get a line each."""
_MOST_BYTES = 256


def summary_line(exchange: Exchange, number: int) -> str:
    """One exchange in one line."""
    name = exchange.procedure.name if exchange.procedure is not None else "raw bytes"
    if exchange.error is not None:
        outcome = f"{type(exchange.error).__name__}: {exchange.error}"
    elif exchange.reply is None:
        outcome = "no reply"
    else:
        status = getattr(exchange.result, "status", None)
        outcome = str(status) if status is not None else "answered"
    took = ""
    if exchange.received_at is not None:
        took = f" ({(exchange.received_at - exchange.sent_at) * 1000:.1f} ms)"
    return f"#{number} {name} xid 0x{exchange.xid:08x} -> {outcome}{took}"


def _indent(lines: Sequence[str], by: str) -> list[str]:
    return [by + line for line in lines]


def hexdump(data: bytes) -> list[str]:
    """Offsets and bytes, 16 a line; long data is cut, with its length."""
    shown = data[:_MOST_BYTES]
    lines = []
    for at in range(0, len(shown), 16):
        words = " ".join(shown[at : at + 16][i : i + 4].hex() for i in range(0, len(shown[at : at + 16]), 4))
        lines.append(f"{at:06x}  {words}")
    if len(data) > _MOST_BYTES:
        lines.append(f"... {len(data)} bytes")
    return lines


def full_lines(exchange: Exchange, number: int, *, mark: str | None = None, note: str = "here") -> list[str]:
    """One exchange with its decoded call and reply; `mark` is the field of the reply to point at."""
    lines = [summary_line(exchange, number)]
    if isinstance(exchange.args, XdrType):
        lines += ["  call:", *_indent(format_value(exchange.args), "    ")]
    if isinstance(exchange.result, XdrType):
        lines += ["  reply:", *_indent(format_value(exchange.result, mark=mark, note=note), "    ")]
    elif exchange.reply is not None:
        if isinstance(exchange.error, XdrError):
            lines.append(f"  reply does not decode: {exchange.error.path}    <-- {exchange.error.detail}")
        lines += ["  reply bytes:", *_indent(hexdump(exchange.reply), "    ")]
    return lines


def transcript(
    exchanges: Sequence[Exchange], *, subject: object = None, field: str | None = None, note: str = "here"
) -> list[str]:
    """The exchanges of a check: the last ones, and the one whose reply is `subject`, in full.

    `field` is the dotted path of the deviating field in `subject`, and `note` what stands at the arrow to it.
    """
    first_full = max(0, len(exchanges) - _MOST_FULL)
    lines: list[str] = []
    for number, exchange in enumerate(exchanges, 1):
        is_subject = subject is not None and exchange.result is subject
        if number > first_full or is_subject:
            lines += full_lines(exchange, number, mark=field if is_subject else None, note=note)
        else:
            lines.append(summary_line(exchange, number))
    return lines


def short_transcript(exchanges: Sequence[Exchange], most: int = 50) -> list[str]:
    """A line each, the first `most` of them."""
    lines = [
        summary_line(exchange, number) for number, exchange in enumerate(itertools.islice(exchanges, most), 1)
    ]
    if len(exchanges) > most:
        lines.append(f"... {len(exchanges) - most} more")
    return lines
