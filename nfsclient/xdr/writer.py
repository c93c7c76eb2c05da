# SPDX-License-Identifier: MIT
"""What the decoder's and the encoder's writer share: lines, indentation, names, packing of runs."""

from __future__ import annotations

import contextlib
import functools
import struct
import typing as t
from collections.abc import Iterator

from nfsclient.xdr.kinds import EnumNode, FixedOpaqueNode, IntNode, Node, StructNode, UnionNode
from nfsclient.xdr.reflect import least_size
from nfsclient.xdr.types import fields_of, shape_of

PADDING = (b"", b"\0\0\0", b"\0\0", b"\0")
"""The padding after a variable opaque, by its length modulo 4."""

_MOST_INLINE_ARMS = 3


class Writer:
    """Collects the lines of one generated function and the objects that they name."""

    def __init__(self, cls: type[t.Any], suffix: str) -> None:
        self.cls = cls
        self.namespace: dict[str, t.Any] = {}
        self._suffix = suffix
        self._lines: list[str] = []
        self._depth = 2
        self._temporaries = 0
        self._inlining: list[type[t.Any]] = []

    def emit(self, line: str) -> None:
        """Add a line at the current depth."""
        self._lines.append("    " * self._depth + line)

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        """A deeper block; an empty one gets a `pass`."""
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self.emit("pass")
        self._depth -= 1

    def temporary(self, prefix: str) -> str:
        """A fresh local name."""
        self._temporaries += 1
        return f"{prefix}{self._temporaries}"

    def constant(self, value: object, prefix: str) -> str:
        """The name under which generated code finds `value`."""
        for name, known in self.namespace.items():
            if known is value:
                return name
        name = f"{prefix}_{self._suffix}{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def layout(self, codes: list[str]) -> struct.Struct:
        """The big-endian layout of a run."""
        return struct.Struct(">" + "".join(codes))

    @contextlib.contextmanager
    def inlining(self, cls: type[t.Any]) -> Iterator[None]:
        """Note that the code of `cls` is being written in place."""
        self._inlining.append(cls)
        yield
        self._inlining.pop()

    def is_inlined(self, node: StructNode | UnionNode) -> bool:
        """Whether the code of a nested type is written in place: not for recursion, not for wide unions."""
        if node.cls in self._inlining:
            return False
        if not self._inlining:
            return True
        return isinstance(node, StructNode) or len(shape_of(node.cls).arms) <= _MOST_INLINE_ARMS


@functools.lru_cache(maxsize=64)
def array_layout(code: str, count: int) -> struct.Struct:
    """The layout of `count` integers."""
    return struct.Struct(f">{count}{code}")


def integer_code(node: Node) -> str | None:
    """The `struct` letter when `node` is an integer without further rules."""
    return node.code if isinstance(node, IntNode) else None


def fixed_size(node: Node) -> int | None:
    """The size of what is made of integers, enums and unpadded opaques only, where any bits are legal."""
    match node:
        case IntNode():
            return node.size
        case FixedOpaqueNode(length):
            return length if length % 4 == 0 else None
        case StructNode(cls):
            sizes = [fixed_size(field.node) for field in fields_of(cls)]
            return None if None in sizes else sum(size for size in sizes if size is not None)
        case _:
            return 4 if isinstance(node, EnumNode) else None


__all__ = ["PADDING", "Writer", "array_layout", "fixed_size", "integer_code", "least_size"]
