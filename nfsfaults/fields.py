# SPDX-License-Identifier: MIT
"""Changes of one field of a message, by its path: ``args.count``, ``result.resok.entries[2].name``, ``header.prog``."""

from __future__ import annotations

import re
import typing as t

from nfsclient.errors import NfsClientError
from nfsclient.protocol import nfs4
from nfsclient.rpc.messages import CallHeader, ReplyHeader
from nfsclient.rpc.program import Procedure
from nfsclient.similar import similar_text
from nfsclient.xdr import fields_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    FixedArrayNode,
    LinkedListNode,
    Node,
    OptionalNode,
    StructNode,
    UnionNode,
)
from nfsfaults.messages import Kind, Message
from nfsfaults.names import BadPlan, Names

_COMPOUNDS: t.Final = (
    nfs4.NFS4.by_name["COMPOUND"],
    nfs4.NFS4_CALLBACK.by_name["CB_COMPOUND"],
)
"""What carries the operations that are no procedures: paths begin there."""
_TOKEN = re.compile(r"\.?([A-Za-z_][A-Za-z_0-9]*)|\[(-?\d+)\]")


def tokens_of(path: str) -> list[str | int]:
    """The parts of a path. Raises `ValueError` if it is none."""
    parts: list[str | int] = []
    position = 0
    while position < len(path):
        found = _TOKEN.match(path, position)
        if found is None:
            raise ValueError(f"expected NAME, .NAME or [INDEX] at {path[position:]!r}")
        parts.append(found[1] if found[2] is None else int(found[2]))
        position = found.end()
    return parts


def value_at(root: t.Any, parts: list[str | int]) -> t.Any:
    """What a path leads to. Raises `AttributeError`, `IndexError` or `TypeError` where there is nothing."""
    for part in parts:
        root = root[part] if isinstance(part, int) else getattr(root, part)
    return root


def check_path(path: str, on: Kind, names: Names) -> None:
    """Raises `BadPlan` with near matches for a path that no message of a selector has.

    Where the types of operations do not say what there is (a compound, any procedure), the path is taken as it is.
    """
    try:
        whole, *parts = tokens_of(path)
    except ValueError as error:
        raise BadPlan(f"field: {path!r}: {error}") from error
    roots = ["header", "args", *(["result"] if on == "reply" else [])]
    if whole not in roots or not parts:
        raise BadPlan(f"field: expected {' or '.join(f'{root}.NAME' for root in roots)}, seen {path!r}")
    classes: list[t.Any]
    if whole == "header":
        classes = [CallHeader if on == "call" else ReplyHeader]
    else:
        named = names.operations or frozenset()
        known = [operation for operation in named if isinstance(operation, Procedure)]
        if len(known) < len(named):
            known += _COMPOUNDS
        classes = [procedure.args if whole == "args" else procedure.res for procedure in known]
    problems = [_missing(cls, parts) for cls in classes]
    if problems and all(problems):
        raise BadPlan(f"field: {path!r}: {problems[0]}")


def _missing(cls: t.Any, parts: list[str | int]) -> str:
    """What of a path a type lacks; empty if nothing."""
    node: Node | None = None
    for part in parts:
        while isinstance(node, OptionalNode):
            node = node.inner
        if node is not None and not isinstance(node, StructNode | UnionNode):
            if isinstance(part, int) and isinstance(node, ArrayNode | FixedArrayNode | LinkedListNode):
                node = node.element
                continue
            return ""  # of a kind that is known at run time only
        fields = dict(fields_of(cls if node is None else node.cls))
        if part not in fields:
            return (
                f"unknown field {part!r}{similar_text(str(part), fields, 'there are ' + ', '.join(fields))}"
            )
        node = fields[str(part)]
    return ""


def with_field(message: Message, path: str, value: t.Any) -> bytes | None:
    """The bytes of a message in which one field has another value. None: the message lacks the field.

    The value must fit the type of the field as far as the encoding needs it: one that cannot be encoded
    gives None as well.
    """
    whole, *parts = tokens_of(path)
    if not parts or ((whole == "args") != (message.kind == "call") and whole != "header"):
        return None
    root = message.header if whole == "header" else message.body
    if root is None:
        return None
    # The decoded message is shared with predicates and evidence, so the change is made in a fresh copy.
    try:
        copy = type(root).from_xdr(root.to_xdr())
        *way, last = parts
        holder = value_at(copy, way)
        if isinstance(last, int):
            holder[last] = value
        else:
            old = getattr(holder, last)
            setattr(
                holder, last, type(old)(value) if isinstance(old, int) and isinstance(value, int) else value
            )
        changed = copy.to_xdr()
    except (AttributeError, IndexError, TypeError, ValueError, NfsClientError):
        return None
    if whole == "header":
        _, end = type(root).unpack_from(message.data, 0)
        return changed + message.data[end:]
    assert message.body_at is not None
    return message.data[: message.body_at] + changed


def with_bytes(data: bytes, at: int, new: bytes, cut: int | None, flip: bytes) -> bytes | None:
    """`data` with other bytes at an offset. None if the offset is outside it."""
    start = at if at >= 0 else len(data) + at
    if not 0 <= start <= len(data):
        return None
    if flip:
        there = data[start : start + len(flip)]
        return (
            data[:start] + bytes(a ^ b for a, b in zip(there, flip, strict=False)) + data[start + len(flip) :]
        )
    return data[:start] + new + data[start + (len(new) if cut is None else cut) :]
