# SPDX-License-Identifier: MIT
"""Writes the pcapng format (draft-ietf-opsawg-pcapng): a section, one interface, enhanced packets."""

from __future__ import annotations

import struct

_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_LINK_ETHERNET = 1
_NANOSECONDS = 9
_OPT_COMMENT, _OPT_IF_NAME, _OPT_IF_TSRESOL, _OPT_SHB_USERAPPL = 1, 2, 9, 4
_MOST_COMMENT = 60_000
"""Bytes of a comment: an option's length is 16 bits."""


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _options(*options: tuple[int, bytes]) -> bytes:
    if not options:
        return b""
    parts = [struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4) for code, value in options]
    return b"".join(parts) + bytes(4)


def _comment(text: str) -> list[tuple[int, bytes]]:
    data = text.encode("utf-8", "backslashreplace")[:_MOST_COMMENT]
    return [(_OPT_COMMENT, data.decode("utf-8", "ignore").encode())] if text else []


def section(comment: str = "") -> bytes:
    """The section header, with a comment about the whole file."""
    body = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    return _block(_SECTION, body + _options(*_comment(comment), (_OPT_SHB_USERAPPL, b"nfsproof")))


def interface() -> bytes:
    """The one interface: Ethernet, times in nanoseconds."""
    options = _options((_OPT_IF_NAME, b"nfsproof"), (_OPT_IF_TSRESOL, bytes([_NANOSECONDS])))
    return _block(_INTERFACE, struct.pack("<HHI", _LINK_ETHERNET, 0, 0) + options)


def packet(moment: float, frame: bytes, comment: str) -> bytes:
    """One packet at `moment`, in seconds since 1970."""
    stamp = max(0, round(moment * 10**_NANOSECONDS))
    head = struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFF_FFFF, len(frame), len(frame))
    return _block(_PACKET, head + frame + bytes(-len(frame) % 4) + _options(*_comment(comment)))
