# SPDX-License-Identifier: MIT
"""Finds the field that a failed claim was about, when the check held a value alone against it.

``expect(scratch.attributes(file).size, "size").equals(4)`` does not say where the value came from. Its source does: a
field called ``size``. The latest reply that has such a field with the value that was seen is what the transcript marks.
"""

from __future__ import annotations

import ast
import functools
import linecache
import types
from collections.abc import Iterator, Sequence

from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import XdrType
from nfsclient.xdr.types import fields_of, shape_of

_MOST_EXCHANGES = 8
_MOST_ITEMS = 256


def names_of_claim(frame: types.FrameType) -> tuple[str, ...]:
    """The attributes at the end of what `expect()` is given in the statement that `frame` executes.

    ``("after", "size")`` for ``expect(wcc.after.size, ...)``; a plain name is taken for that of a field; empty when
    there is no source, or nothing of that form in it.
    """
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    call = _find_expect("".join(lines), frame.f_lineno)
    if call is None or not call.args:
        return ()
    node = call.args[0]
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and not names:
        names.append(node.id)
    return tuple(reversed(names))


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


def find_field(
    exchanges: Sequence[Exchange], names: Sequence[str], value: object
) -> tuple[object, str] | None:
    """The latest reply with a field whose path ends in `names` and which has `value`: (reply, dotted path)."""
    if not names:
        return None
    wanted = list(names)
    for exchange in exchanges[: -_MOST_EXCHANGES - 1 : -1]:
        if not isinstance(exchange.result, XdrType):
            continue
        for path, found in _fields(exchange.result, ""):
            steps = [step.partition("[")[0] for step in path.split(".")]
            if steps[-len(wanted) :] == wanted and _is_same(found, value):
                return exchange.result, path
    return None


def _is_same(found: object, value: object) -> bool:
    """Equal, and of one kind: 1 is not True. Data is the same in whatever holds it."""
    data = bytes | bytearray | memoryview
    if isinstance(found, data) and isinstance(value, data):
        return bytes(found) == bytes(value)
    return type(found) is type(value) and found == value


def _fields(value: XdrType, prefix: str) -> Iterator[tuple[str, object]]:
    """(path, value) of each field, outer ones first."""
    if type(value).__xdr_role__ == "struct":  # type: ignore[attr-defined]
        names = [field.name for field in fields_of(type(value))]
    else:
        shape = shape_of(type(value))
        arm = shape.arm_for(int(getattr(value, shape.discriminant.name)))
        names = [shape.discriminant.name, *([arm.name] if arm is not None and arm.name is not None else [])]
    for name in names:
        yield from _field(getattr(value, name), prefix + name)


def _field(value: object, path: str) -> Iterator[tuple[str, object]]:
    yield path, value
    if isinstance(value, XdrType):
        yield from _fields(value, f"{path}.")
    elif isinstance(value, list):
        for index, item in enumerate(value[:_MOST_ITEMS]):
            yield from _field(item, f"{path}[{index}]")
