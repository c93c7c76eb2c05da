# SPDX-License-Identifier: MIT
"""Values that agree in part: opaque values that a server must tell apart, although it is easy to confuse them."""

from __future__ import annotations

import secrets
import typing as t

_SIZE: t.Final = 64
_NUL: t.Final = 40


def alike() -> tuple[bytes, dict[str, bytes]]:
    """A value of 64 bytes that nobody else has, and others by how they differ from it.

    Who compares only a prefix or a suffix, a string up to its first NUL, a sum, or the lengths, takes one for another.
    """
    base = b"Owner ab %s" % secrets.token_hex(_SIZE).encode()
    base = base[:_NUL] + b"\0" + base[_NUL + 1 : _SIZE]
    return base, {
        "the last byte": base[:-1] + b"!",
        "the bytes after a NUL": base[: _NUL + 1] + b"!" * (_SIZE - _NUL - 1),
        "the byte at offset 32": base[:32] + b"!" + base[33:],
        "the byte at offset 8": base[:8] + b"!" + base[9:],
        "the first byte": b"!" + base[1:],
        "the order of two bytes": base.replace(b" ab ", b" ba ", 1),
        "case": base.replace(b"Owner", b"oWNER", 1),
        "a NUL at its end": base + b"\0",
        "the lack of its last byte": base[:-1],
    }


def with_one_byte_altered(value: bytes) -> list[bytes]:
    """The value with each of its bytes inverted, one at a time."""
    return [value[:at] + bytes([value[at] ^ 0xFF]) + value[at + 1 :] for at in range(len(value))]
