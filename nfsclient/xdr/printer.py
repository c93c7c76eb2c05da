# SPDX-License-Identifier: MIT
"""Prints decoded values for people: one line a field, as transcripts show them."""

from __future__ import annotations

import itertools
import typing as t

from nfsclient.xdr.attributes import bits_of, mask_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    AttributesNode,
    BitNames,
    ChoiceNode,
    EnumNode,
    FixedArrayNode,
    IntNode,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
    StructNode,
    UnionNode,
)
from nfsclient.xdr.types import Unread, XdrEnum, XdrType, fields_of, parts_of

_MOST_BYTES = 64
_MOST_ITEMS = 64
_MOST_INLINE = 3


def format_value(value: XdrType, *, mark: str | None = None, note: str = "here") -> list[str]:
    """The fields of `value`, a line each, nested ones indented.

    `mark` is the dotted path of one field (``resok.count``, ``entries[3].name``); its line ends in an arrow
    and `note`. Text from the wire is escaped, long data is cut, so that the lines are safe to print.
    """
    return _Printer(mark, note).fields(value, "", 0)


def format_bytes(data: bytes | bytearray | memoryview, *, text: bool) -> str:
    """Bytes as quoted ASCII with escapes (`text`) or as hexadecimal; long ones cut, with their length."""
    shown = bytes(data[:_MOST_BYTES])
    more = f"... ({len(data)} bytes)" if len(data) > _MOST_BYTES else ""
    if text:
        return repr(shown)[1:] + more
    return (shown.hex() or "empty") + (more or (f" ({len(data)} bytes)" if data else ""))


def _is_short(cls: type[XdrType]) -> bool:
    """Whether a structure is a few integers, such as a time: those fit on one line."""
    fields = fields_of(cls)
    return len(fields) <= _MOST_INLINE and all(isinstance(field.node, IntNode) for field in fields)


def _bits_text(bits: BitNames, words: t.Sequence[int]) -> str:
    # A peer can set millions of bits: only those that are shown get names.
    names = bits(mask_of(itertools.islice(bits_of(words), _MOST_ITEMS)))
    others = sum(word.bit_count() for word in words) - len(names)
    more = f", ... {others} more" if others else ""
    zeros = "" if not words or words[-1] else f" ({len(words)} words, the last one 0)"
    return (", ".join(names) or "none") + more + zeros


class _Printer:
    def __init__(self, mark: str | None, note: str) -> None:
        self.mark = mark
        self.note = note

    def line(self, depth: int, text: str, path: str) -> str:
        arrow = f"    <-- {self.note}" if self.mark is not None and path == self.mark else ""
        return "  " * depth + text + arrow

    def is_inside(self, path: str) -> bool:
        """Whether the marked field is below `path`."""
        return self.mark is not None and self.mark.startswith(f"{path}.")

    def is_inside_items(self, path: str) -> bool:
        """Whether the marked field is an element of the array at `path`."""
        return self.mark is not None and self.mark.startswith(f"{path}[")

    def fields(self, value: XdrType, prefix: str, depth: int) -> list[str]:
        lines: list[str] = []
        for name, node, part in parts_of(value):
            lines += self.field(name, node, part, f"{prefix}{name}", depth)
        return lines

    def field(self, name: str, node: Node, value: t.Any, path: str, depth: int) -> list[str]:
        if isinstance(node, OptionalNode):
            if value is None:
                return [self.line(depth, f"{name}: absent", path)]
            node = node.inner
        match node:
            case StructNode(cls) if _is_short(cls) and not self.is_inside(path):
                parts = [f"{part} {getattr(value, part)}" for part, _ in fields_of(cls)]
                return [self.line(depth, f"{name}: {', '.join(parts)}", path)]
            case StructNode() | UnionNode() | AttributesNode():
                return [self.line(depth, f"{name}:", path), *self.fields(value, f"{path}.", depth + 1)]
            case ChoiceNode():
                title = f"{name} {self.alternative(node, value)}:"
                return [self.line(depth, title, path), *self.fields(value, f"{path}.", depth + 1)]
            case ArrayNode() if name == "attrmask":
                bits = ", ".join(map(str, itertools.islice(bits_of(value), _MOST_ITEMS)))
                return [self.line(depth, f"{name}: {len(value)} words, bits {bits or 'none'}", path)]
            case ArrayNode(bits=bits) if bits is not None and not self.is_inside_items(path):
                return [self.line(depth, f"{name}: {_bits_text(bits, value)}", path)]
            case ArrayNode() | FixedArrayNode() | LinkedListNode():
                return self.items(name, node, value, path, depth)
            case _:
                text = f"0{value:03o}" if name == "mode" and type(value) is int else self.scalar(node, value)
                return [self.line(depth, f"{name}: {text}", path)]

    def alternative(self, node: ChoiceNode, value: t.Any) -> str:
        """What a person calls the alternative that was chosen: `SEQUENCE (53)`."""
        if isinstance(value, Unread):
            return f"unknown ({value.number})"
        number = node.table.numbers[type(value)]
        return f"{node.table.names[number]} ({number})"

    def items(
        self,
        name: str,
        node: ArrayNode | FixedArrayNode | LinkedListNode,
        value: t.Any,
        path: str,
        depth: int,
    ) -> list[str]:
        lines = [
            self.line(depth, f"{name}: {len(value)} {'element' if len(value) == 1 else 'elements'}", path)
        ]
        for index, item in enumerate(value):
            inside = f"{path}[{index}]"
            marked = self.mark is not None and self.mark.startswith(inside)
            if index < _MOST_ITEMS or marked:
                lines += self.field(f"[{index}]", node.element, item, inside, depth + 1)
            elif index == _MOST_ITEMS:
                lines.append("  " * (depth + 1) + f"... {len(value) - _MOST_ITEMS} more")
        return lines

    def scalar(self, node: Node, value: t.Any) -> str:
        if isinstance(node, EnumNode) and isinstance(value, XdrEnum):
            return f"{value} ({int(value) & 0xFFFF_FFFF})"
        if isinstance(value, bytes | bytearray | memoryview):
            return format_bytes(value, text=isinstance(node, OpaqueNode) and node.style != "opaque")
        return str(value)
