# SPDX-License-Identifier: MIT
"""Finds the reply and the field that a failed claim is about, among the exchanges of a check.

A check says where its value came from: a field of a reply, or of a part of one (``expect(after).field("size")``), what
a value was derived from (``of=after, field="mode"``), or only what the field is called (``field="size"``). In the last
case the latest reply is meant that has such a field with the value that was seen. The verbs of `nfsjudge.verbs` say in
the same way which data, which name of a listing or which attribute deviates. Nothing is marked where a check says
nothing. The arguments of a callback are what the server says, like the results of other calls.
"""

from __future__ import annotations

import typing as t
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import XdrType
from nfsclient.xdr.types import parts_of

Found: t.TypeAlias = tuple[object, str | None]
"""A decoded reply and the dotted path in it, or an exchange as a whole."""

_MOST_EXCHANGES = 8
_MOST_ITEMS = 256
_PERMISSIONS = 0o7777
_DOTS = {b".", b".."}


@dataclass(frozen=True, slots=True)
class Claim:
    """Where the value of a failed claim came from, as far as the check says."""

    value: object = None
    part: object = None
    """A reply, a part of one, or a raw answer (what has `reply`)."""
    field: str = ""
    """A dotted path in `part`; without one, the end of the path of a field in one of the latest replies. It may be
    several with ``|`` between them: the names that versions have for the field."""
    data: tuple[int, bytes] | None = None
    """Offset in a file, and what READ gave there; nothing where the data ended before it."""
    name: bytes | None = None
    """A name in a listing."""


def find(exchanges: Sequence[Exchange], claim: Claim) -> Found | None:
    """What a claim is about, as far as it can be found."""
    return (
        (_find_part(exchanges, claim.part, claim.field) if claim.part is not None else None)
        or (_find_read(exchanges, *claim.data) if claim.data is not None else None)
        or (_find_entry(exchanges, claim.name) if claim.name is not None else None)
        or (_find_field(exchanges, claim.field, claim.value) if claim.field else None)
        or _find_listing(exchanges, claim.value)
    )


def locate(exchanges: Sequence[Exchange], subject: object, field: str | None) -> Found:
    """The reply of which `subject` is a part, and the path in it; both as they are where there is no such reply."""
    if any(exchange.is_about(subject) for exchange in exchanges):
        return subject, field
    return _find_part(exchanges, subject, field or "") or (subject, field)


def _find_part(exchanges: Sequence[Exchange], part: object, field: str) -> Found | None:
    """The latest exchange with a reply of which a value is part: that very object, not one like it."""
    is_raw = isinstance(getattr(part, "reply", None), bytes)
    for exchange in reversed(exchanges):
        if is_raw:
            if exchange.procedure is None and bytes(exchange.reply or b"") == getattr(part, "reply", None):
                return exchange, None
        elif isinstance(part, XdrType) and isinstance(exchange.of_server, XdrType):
            path = _path_of(exchange.of_server, part)
            if path is not None:
                names = field.split(".") if field else []
                return exchange.of_server, ".".join([*path, *_steps(part, names)]) or None
    return None


def _path_of(result: XdrType, value: XdrType) -> list[str] | None:
    """Where in a reply an object is, not one like it."""
    if result is value:
        return []
    return next((path.split(".") for path, found in _fields(result, "") if found is value), None)


def _steps(value: object, names: Sequence[str]) -> Iterator[str]:
    """The first of the names, as far as they are fields that are there."""
    for name in names:
        if not isinstance(value, XdrType) or name not in (path for path, _ in _fields(value, "")):
            return
        yield name
        value = getattr(value, name)


def _find_read(exchanges: Sequence[Exchange], offset: int, seen: bytes) -> Found | None:
    """The latest READ whose data has `seen` at an offset of the file, or ends there if that is nothing."""
    for exchange in reversed(exchanges):
        for step in reversed(exchange.steps):
            if step.operation.name != "READ" or step.args is None:
                continue
            path, data = _data_of(step.result)
            at = offset - step.args.offset
            if path and 0 <= at <= len(data) and (data[at : at + 1] == seen[:1]):
                return step.result, path
    return None


def _data_of(result: object) -> tuple[str, bytes]:
    for path, found in _fields(result, "") if isinstance(result, XdrType) else ():
        if path.endswith("data") and isinstance(found, bytes | bytearray | memoryview):
            return path, bytes(found)
    return "", b""


def _find_entry(exchanges: Sequence[Exchange], name: bytes) -> Found | None:
    """The latest entry of a listing with a name."""
    for exchange in reversed(exchanges):
        said = exchange.of_server
        for path, found in _fields(said, "") if isinstance(said, XdrType) else ():
            if not path.endswith("entries") or not isinstance(found, list):
                continue
            for index, item in enumerate(found):
                if bytes(getattr(item, "name", b"")) == name:
                    return said, f"{path}[{index}].name"
    return None


def _find_listing(exchanges: Sequence[Exchange], value: object) -> Found | None:
    """The latest page of a directory that lists names of `value` and no others."""
    if not isinstance(value, list | tuple) or not all(isinstance(name, bytes) for name in value):
        return None
    wanted = set(value)
    for result, path, found in _latest_fields(exchanges):
        if path.endswith("entries") and isinstance(found, list):
            names = {bytes(getattr(item, "name", b"")) for item in found} - _DOTS
            if names <= wanted and (names or not wanted):
                return result, path
    return None


def _find_field(exchanges: Sequence[Exchange], field: str, value: object) -> Found | None:
    """The latest field whose path ends in `field`, and which has the value, or from which the value is derived."""
    wanted = [name.split(".") for name in field.split("|")]
    for result, path, found in _latest_fields(exchanges):
        steps = [step.partition("[")[0] for step in path.split(".")]
        is_named = any(steps[-len(names) :] == names for names in wanted)
        if is_named and any(_is_same(candidate, value) for candidate in (found, *_derived(found))):
            return result, path
    return None


def _derived(found: object) -> tuple[int, ...]:
    """The permissions of a mode; a time in nanoseconds."""
    if type(found) is int:
        return (found & _PERMISSIONS,)
    seconds, fraction = getattr(found, "seconds", None), getattr(found, "nseconds", None)
    if fraction is None and hasattr(found, "useconds"):
        fraction = 1000 * t.cast("int", found.useconds)
    return () if seconds is None or fraction is None else (seconds * 10**9 + fraction,)


def _latest_fields(exchanges: Sequence[Exchange]) -> Iterator[tuple[XdrType, str, object]]:
    """(reply, path, value) of each field of the latest replies, the latest first."""
    for exchange in exchanges[: -_MOST_EXCHANGES - 1 : -1]:
        if isinstance(exchange.of_server, XdrType):
            for path, found in _fields(exchange.of_server, ""):
                yield exchange.of_server, path, found


def _is_same(found: object, value: object) -> bool:
    """Equal, and of one kind: 1 is not True. Data is the same in whatever holds it."""
    data = bytes | bytearray | memoryview
    if isinstance(found, data) and isinstance(value, data):
        return bytes(found) == bytes(value)
    return type(found) is type(value) and found == value


def _fields(value: XdrType, prefix: str) -> Iterator[tuple[str, object]]:
    """(path, value) of each field, outer ones first."""
    for name, _, part in parts_of(value):
        yield from _field(part, prefix + name)


def _field(value: object, path: str) -> Iterator[tuple[str, object]]:
    yield path, value
    if isinstance(value, XdrType):
        yield from _fields(value, f"{path}.")
    elif isinstance(value, list):
        for index, item in enumerate(value[:_MOST_ITEMS]):
            yield from _field(item, f"{path}[{index}]")
