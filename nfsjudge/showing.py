# SPDX-License-Identifier: MIT
"""Values in failure texts: short, safe to print, and in the notation of the RFCs and of the transcripts."""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from nfsclient.xdr import XdrEnum, XdrType, format_value
from nfsclient.xdr.printer import format_bytes
from nfsjudge.deviation import SUCCESS
from nfsjudge.terms import NONE, Shown, term_of_value

_MOST_ITEMS = 12
_MOST_CHARACTERS = 300
_LONGEST_FIELD = 48
_UNSET = frozenset({"absent", "DONT_CHANGE (0)"})
_A_SECOND: t.Final = {"nseconds": 9, "useconds": 6}
"""Fractions of a second in times of NFS -> the digits of a second in them."""


def show(value: object, name: str = "") -> Shown:
    """A value for people: bytes as text or hexadecimal, enums by name, times as seconds, long lists cut.

    `name` is what the value is called: ``mode`` is octal (``0644``), and so is ``mode of the file``.
    """
    return Shown(_text(value, name), term_of_value(value))


def show_status(status: XdrEnum) -> Shown:
    """A status for people: success is called so."""
    return Shown(SUCCESS, term_of_value(status)) if status == 0 else show(status)


def _text(value: object, name: str) -> str:
    if value is None or (isinstance(value, str | Sequence | AbstractSet | Mapping) and _is_empty(value)):
        return NONE
    if type(value) is int and "mode" in name.replace(".", " ").split():
        return f"0{value:03o}"
    return _show(value)


def _is_empty(value: t.Sized) -> bool:
    return len(value) == 0 and not isinstance(value, bytes | bytearray | memoryview)


def _show(value: object) -> str:  # noqa: PLR0911  (one case a kind)
    match value:
        case bytes() | bytearray() | memoryview():
            data = bytes(value)
            return format_bytes(data, text=all(32 <= byte < 127 for byte in data[:64]))
        case XdrEnum():
            return f"{value.name} ({int(value) & 0xFFFF_FFFF})"
        case enum.Enum():
            return f"{value.name} ({value.value})"
        case bool():
            return "TRUE" if value else "FALSE"
        case None:
            return NONE
        case Mapping():
            return _bracketed(
                [f"{_show(key)}: {_show(item)}" for key, item in _first(value.items())], len(value)
            )
        case list() | tuple():
            return _bracketed([_show(item) for item in _first(value)], len(value))
        case AbstractSet():
            return _bracketed(sorted(map(_show, value))[:_MOST_ITEMS], len(value))
        case XdrType():
            return _time(value) or _cut(f"({', '.join(flat(value))})")
        case str():
            return _cut(value) if value else "''"
    return _cut(str(value) if isinstance(value, int | float) else repr(value))


def flat(value: XdrType) -> Iterator[str]:
    """``path=value`` of each field, as in transcripts, structures flattened; what is absent is left out."""
    above: list[str] = []
    for line in format_value(value):
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, text = line.strip().partition(":")
        above[depth:] = [name.rstrip("_")]
        shown = text.strip()
        if shown and shown not in _UNSET:
            more = "..." if len(shown) > _LONGEST_FIELD else ""
            yield f"{'.'.join(above)}={shown[:_LONGEST_FIELD]}{more}"


def _first(items: Iterable[t.Any]) -> list[t.Any]:
    return [item for item, _ in zip(items, range(_MOST_ITEMS), strict=False)]


def _bracketed(items: Sequence[str], count: int) -> str:
    more = f", ... ({count} in all)" if count > len(items) else ""
    return f"[{', '.join(items)}{more}]"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}... ({len(text)} characters)"


def _time(value: XdrType) -> str:
    """Seconds with their fraction, without trailing zeros: ``946684800.0``. Empty for what is no time."""
    for name, digits in _A_SECOND.items():
        seconds, fraction = getattr(value, "seconds", None), getattr(value, name, None)
        if isinstance(seconds, int) and isinstance(fraction, int):
            if fraction >= 10**digits:
                return f"{seconds} seconds and {fraction} {name}"
            return f"{seconds}.{f'{fraction:0{digits}}'.rstrip('0') or '0'}"
    return ""


def by_bytes(names: Iterable[bytes | str]) -> list[bytes | str]:
    """Names in the order of their bytes."""
    return sorted(names, key=lambda name: name.encode() if isinstance(name, str) else name)


def show_names(names: Iterable[bytes | str], most: int = _MOST_ITEMS) -> str:
    """Names, sorted, the first `most` of them; "none" if there is none."""
    ordered = by_bytes(names)
    if not ordered:
        return NONE
    more = f", ... ({len(ordered)} in all)" if len(ordered) > most else ""
    return ", ".join(map(_show, ordered[:most])) + more


def show_data(data: bytes, most: int = 8) -> str:
    """Bytes in hexadecimal, at most `most`; as text, too, where they are printable."""
    shown = data[:most]
    text = f" '{shown.decode('ascii')}'" if shown and all(32 <= byte < 127 for byte in shown) else ""
    return f"{shown.hex()}{text}{'...' if len(data) > most else ''}"
