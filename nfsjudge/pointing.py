# SPDX-License-Identifier: MIT
"""Finds the reply and the field that a failed claim was about, when the check passed only a value to `expect()`.

The verbs of `nfsjudge.verbs` say themselves where the value came from: data of which offset, which name of a listing,
which field of which attributes. For `expect()` the source of the check does. ``expect(wcc.after.size, "size")`` reads a
local variable: that very object is part of a reply. ``expect(scratch.attributes(file).size, "size")`` has none, but a
field called ``size``: the latest reply that has such a field with the value that was seen is meant. A list of names
is that of the latest page that lists no others. Nothing is marked where none of this fits. The arguments of a callback
are what the server says, like the results of other calls.
"""

from __future__ import annotations

import ast
import functools
import linecache
import types
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
    """What the source of a failed claim, and its words, say of where `value` came from."""

    value: object = None
    names: tuple[str, ...] = ()
    """As of `names_of_claim`."""
    origins: tuple[tuple[object, tuple[str, ...]], ...] = ()
    """As of `origins_of_claim`."""
    what: str = ""
    """How the check calls the value."""
    data: tuple[int, bytes] | None = None
    """Offset in a file, and what READ gave there; nothing where the data ended before it."""
    name: bytes | None = None
    """A name in a listing."""


def claim_of(frame: types.FrameType, value: object, what: str) -> Claim:
    """The claim about `value` in the statement that `frame` executes."""
    return Claim(value, names_of_claim(frame), origins_of_claim(frame), what)


def find(exchanges: Sequence[Exchange], claim: Claim) -> Found | None:
    """What a claim was about, as far as it can be found."""
    return (
        _find_origin(exchanges, claim.origins)
        or (_find_read(exchanges, *claim.data) if claim.data is not None else None)
        or (_find_entry(exchanges, claim.name) if claim.name is not None else None)
        or find_field(exchanges, claim.names, claim.value)
        or _find_listing(exchanges, claim.value)
        or _find_worded(exchanges, claim.what, claim.value)
    )


def claim_of_raw(reply: object) -> Claim | None:
    """The claim about a raw answer (what has `reply`) as a whole; None for other replies."""
    return Claim(origins=((reply, ()),)) if _is_raw(reply) else None


def names_of_claim(frame: types.FrameType) -> tuple[str, ...]:
    """The attributes at the end of what `expect()` is given in the statement that `frame` executes.

    ``("after", "size")`` for ``expect(wcc.after.size, ...)``; a plain name is taken for that of a field; empty when
    there is no source, or nothing of that form in it.
    """
    node = _subject_of(frame)
    if node is None:
        return ()
    root, names = _chain(node)
    return (root.id,) if isinstance(root, ast.Name) and not names else names


def origins_of_claim(frame: types.FrameType) -> tuple[tuple[object, tuple[str, ...]], ...]:
    """The replies, parts of replies and raw answers (what has `reply`) that the claim reads from local variables.

    Each with the attributes that are read from it, in the order of the text: ``after`` and ``("size",)`` for
    ``expect(after.size - 1, ...)``.
    """
    node = _subject_of(frame)
    found = [] if node is None else [(frame.f_locals.get(name), names) for name, names in _reads(node)]
    return tuple(one for one in found if isinstance(one[0], XdrType) or _is_raw(one[0]))


def _subject_of(frame: types.FrameType) -> ast.expr | None:
    """What `expect()` is given."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    call = _find_expect("".join(lines), frame.f_lineno)
    return call.args[0] if call is not None and call.args else None


def _chain(node: ast.AST) -> tuple[ast.AST, tuple[str, ...]]:
    """What attributes are read from, and their names."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return node, tuple(reversed(names))


def _reads(node: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(variable, attributes) of each longest chain."""
    root, names = _chain(node)
    if isinstance(root, ast.Name):
        yield root.id, names
        return
    for child in ast.iter_child_nodes(root):
        yield from _reads(child)


def _is_raw(value: object) -> bool:
    return isinstance(getattr(value, "reply", None), bytes)


@functools.lru_cache(maxsize=4)
def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _find_expect(source: str, line: int) -> ast.Call | None:
    """The outermost call of `expect` in the innermost statement that covers a line."""
    statements = [
        node
        for node in ast.walk(_parse(source) or ast.Module([], []))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if not statements:
        return None
    innermost = min(statements, key=lambda node: (node.end_lineno or 0) - node.lineno)
    for node in ast.walk(innermost):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "expect":
            return node
    return None


def _find_origin(
    exchanges: Sequence[Exchange], origins: Sequence[tuple[object, tuple[str, ...]]]
) -> Found | None:
    """The latest exchange that one of the values is part of."""
    for exchange in reversed(exchanges) if origins else ():
        for value, names in origins:
            if not isinstance(value, XdrType):
                if exchange.procedure is None and bytes(exchange.reply or b"") == getattr(
                    value, "reply", None
                ):
                    return exchange, None
            elif isinstance(exchange.of_server, XdrType):
                path = _path_of(exchange.of_server, value)
                if path is not None:
                    return exchange.of_server, ".".join([*path, *_steps(value, names)]) or None
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


def _find_worded(exchanges: Sequence[Exchange], what: str, value: object) -> Found | None:
    """The latest field that the words name and that has the value, or from which it comes by the usual ways."""
    words = set(what.split())
    for result, path, found in _latest_fields(exchanges):
        if path.rpartition(".")[2] in words and (_is_same(found, value) or value in _derived(found)):
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


def find_field(
    exchanges: Sequence[Exchange], names: Sequence[str], value: object
) -> tuple[object, str] | None:
    """The latest reply with a field whose path ends in `names` and which has `value`: (reply, dotted path)."""
    if not names:
        return None
    wanted = list(names)
    for result, path, found in _latest_fields(exchanges):
        steps = [step.partition("[")[0] for step in path.split(".")]
        if steps[-len(wanted) :] == wanted and _is_same(found, value):
            return result, path
    return None


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
