# SPDX-License-Identifier: MIT
"""Writes the encoder of a wire type as Python source."""

from __future__ import annotations

import typing as t
from collections.abc import Sequence

from nfsclient.xdr.kinds import (
    ArrayNode,
    AttributesNode,
    BoolNode,
    Buffer,
    ChoiceNode,
    ChoiceTable,
    EnumNode,
    FixedArrayNode,
    FixedOpaqueNode,
    IntNode,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
    StructNode,
    UnionNode,
)
from nfsclient.xdr.reflect import Malformed
from nfsclient.xdr.types import fields_of, shape_of
from nfsclient.xdr.writer import PADDING, Writer, array_layout, integer_code


class EncoderWriter(Writer):
    """Writes an encoder; `_run` holds the fixed-width values that the next `flush` packs at once."""

    def __init__(self, cls: type[t.Any]) -> None:
        super().__init__(cls, "e")
        self._run: list[tuple[str, str]] = []

    def function(self, name: str) -> list[str]:
        """The lines of the whole function."""
        self.emit("append = out.append")
        self._fields(
            StructNode(self.cls) if self.cls.__xdr_role__ == "struct" else UnionNode(self.cls), "self"
        )
        self.flush()
        self.emit("return")
        head = [f"def {name}(self, out):", "    mark = len(out)", "    try:"]
        return [
            *head,
            *self._lines,
            "    except ENCODE_ERRORS:",
            "        pass",
            "    explain_encode(self, out, mark)",
        ]

    def attributes_function(
        self, name: str, mask: tuple[int, ...], fields: list[tuple[str, Node]], *, has_rest: bool
    ) -> list[str]:
        """The function that encodes a bitmap, the length of what follows, and these values."""
        self.emit("append = out.append")
        sizes = [encoded_size(node) for _, node in fields]
        is_fixed = None not in sizes and not has_rest
        head = [("I", str(word)) for word in (len(mask), *mask)]
        if is_fixed:
            self._run = [*head, ("I", str(sum(size for size in sizes if size is not None)))]
        else:
            self.emit("append(b'')")
            self.emit("at = len(out)")
        with self.inlining(self.cls):
            for field, node in fields:
                self.value(node, f"self.{field}")
        self.flush()
        if has_rest:
            self.emit(f"append({self._local('data', 'self.rest')})")
        else:
            self.emit("if self.rest: raise Malformed")
        if not is_fixed:
            self.emit("length = 0")
            self.emit("for piece in out[at:]: length += len(piece)")
            layout = self.layout([code for code, _ in [*head, ("I", "")]])
            words = ", ".join(word for _, word in head)
            self.emit(f"out[at - 1] = {self.constant(layout.pack, 'pack')}({words}, length)")
        if has_rest:
            self.emit(f"if length & 3: append({self.constant(PADDING, 'PADDING')}[length & 3])")
        return [f"def {name}(self, out):", *(line.removeprefix("    ") for line in self._lines)]

    def alternatives_function(
        self, name: str, table: ChoiceTable, classes: Sequence[type[t.Any]]
    ) -> list[str]:
        """The function that encodes values of these classes, each with its number in front, and gives the buffers."""
        self.emit("out = []")
        self.emit("append = out.append")
        names = [f"o{index}" for index in range(len(classes))]
        self.emit(f"{', '.join(names)}, = values")
        for each, cls in zip(names, classes, strict=True):
            self._run.append(("I", str(table.numbers[cls])))
            self._fields(StructNode(cls) if cls.__xdr_role__ == "struct" else UnionNode(cls), each)
        self.flush()
        self.emit("return out")
        return [f"def {name}(values):", *(line.removeprefix("    ") for line in self._lines)]

    def flush(self) -> None:
        if not self._run:
            return
        layout = self.layout([code for code, _ in self._run])
        values = [value for _, value in self._run]
        if all(value.isdigit() for value in values):
            packed = self.constant(layout.pack(*map(int, values)), "bytes")
            self.emit(f"append({packed})")
        else:
            self.emit(f"append({self.constant(layout.pack, 'pack')}({', '.join(values)}))")
        self._run = []

    def value(self, node: Node, source: str) -> None:
        """Write the code that encodes the expression `source` as `node`."""
        match node:
            case IntNode(code):
                self._run.append((code, source))
            case EnumNode():
                self._run.append(("i", source))
            case BoolNode():
                name = self._local("flag", source)
                self.emit(f"if {name} is not True and {name} is not False: raise Malformed")
                self._run.append(("I", name))
            case FixedOpaqueNode(length):
                name = self._local("data", source)
                self.emit(f"if len({name}) != {length}: raise Malformed")
                self._run.append((f"{length}s{'x' * (-length % 4)}", name))
            case OpaqueNode():
                self._opaque(node, source)
            case OptionalNode(inner):
                self._optional(inner, source)
            case StructNode() | UnionNode():
                self._type(node, source)
            case AttributesNode(cls):
                name = self._local("o", source)
                self.emit(f"if type({name}) is not {self.constant(cls, 'T')}: raise Malformed")
                self.flush()
                self.emit(f"{name}.pack(out)")
            case ChoiceNode(table):
                # An Unread has no word here: the reflective codec encodes what ends with one.
                name = self._local("o", source)
                self.flush()
                self.emit(f"append({self.constant(table.words, 'words')}[type({name})])")
                self.emit(f"{name}.pack(out)")
            case LinkedListNode():
                self._chain(node, source)
            case ArrayNode() | FixedArrayNode():
                self._array(node, source)

    def _local(self, prefix: str, source: str) -> str:
        name = self.temporary(prefix)
        self.emit(f"{name} = {source}")
        return name

    def _opaque(self, node: OpaqueNode, source: str) -> None:
        data = self._local("data", source)
        self.emit(f"if type({data}) is not bytes: {data} = {self.constant(as_byte_view, 'as_view')}({data})")
        count = self._local("count", f"len({data})")
        self.emit(f"if {count} > {node.maximum}: raise Malformed")
        self._run.append(("I", count))
        self.flush()
        self.emit(f"append({data})")
        self.emit(f"if {count} & 3: append({self.constant(PADDING, 'PADDING')}[{count} & 3])")

    def _optional(self, inner: Node, source: str) -> None:
        # The run so far is packed together with the flag, in either branch.
        value, prefix = self._local("value", source), self._run
        self.emit(f"if {value} is None:")
        with self.indented():
            self._run = [*prefix, ("I", "0")]
            self.flush()
        self.emit("else:")
        with self.indented():
            self._run = [*prefix, ("I", "1")]
            self.value(inner, value)
            self.flush()

    def _type(self, node: StructNode | UnionNode, source: str) -> None:
        if self.is_inlined(node):
            self._fields(node, self._local("o", source))
            return
        self.flush()
        self.emit(f"{source}.pack(out)")

    def _fields(self, node: StructNode | UnionNode, made: str) -> None:
        self.emit(f"if type({made}) is not {self.constant(node.cls, 'T')}: raise Malformed")
        with self.inlining(node.cls):
            if isinstance(node, UnionNode):
                self._union(node.cls, made)
                return
            for name, field in fields_of(node.cls):
                self.value(
                    field, self._lazy(made, name) if name in node.cls.__xdr_lazy__ else f"{made}.{name}"
                )

    def _lazy(self, made: str, name: str) -> str:
        """The value of a lazy field, through its property only if it is still raw."""
        value = self._local("value", f"{made}._lazy_{name}")
        self.emit(f"if type({value}) is bytes: {value} = {made}.{name}")
        return value

    def _union(self, cls: type[t.Any], made: str) -> None:
        switch, arms = shape_of(cls)
        chosen = self._local("switch", f"{made}.{switch.name}")
        self.value(switch.node, chosen)
        prefix, self._run = self._run, []
        names = [arm.name for arm in arms if arm.name is not None]
        for index, arm in enumerate(arms):
            if arm.values is None:
                self.emit("else:" if index else "if True:")
            else:
                self.emit(f"{'elif' if index else 'if'} {chosen} in {arm.values!r}:")
            with self.indented():
                for name in names:
                    if name != arm.name:
                        self.emit(f"if {made}.{name} is not None: raise Malformed")
                self._run = list(prefix)
                if arm.name is not None and arm.node is not None:
                    self.value(arm.node, f"{made}.{arm.name}")
                self.flush()
        if not arms or arms[-1].values is not None:
            self.emit("else: raise Malformed")

    def _chain(self, node: LinkedListNode, source: str) -> None:
        items, item = self._local("items", source), self.temporary("item")
        self._check_count(items, node.maximum)
        self.flush()
        self.emit(f"for {item} in {items}:")
        with self.indented():
            self._run = [("I", "1")]
            self.value(node.element, item)
            self.flush()
        self._run = [("I", "0")]

    def _array(self, node: ArrayNode | FixedArrayNode, source: str) -> None:
        items = self._local("items", source)
        if isinstance(node, FixedArrayNode):
            self.emit(f"if len({items}) != {node.length}: raise Malformed")
        else:
            self._check_count(items, node.maximum)
            self._run.append(("I", f"len({items})"))
        self.flush()
        code = integer_code(node.element)
        if code is not None:
            layout = self.constant(array_layout, "layout")
            self.emit(f"append({layout}({code!r}, len({items})).pack(*{items}))")
            return
        item = self.temporary("item")
        self.emit(f"for {item} in {items}:")
        with self.indented():
            self.value(node.element, item)
            self.flush()

    def _check_count(self, items: str, maximum: int) -> None:
        if maximum < 0xFFFF_FFFF:
            self.emit(f"if len({items}) > {maximum}: raise Malformed")


def encoded_size(node: Node) -> int | None:
    """The size of every encoding of `node`; None where it depends on the value."""
    match node:
        case IntNode():
            return node.size
        case BoolNode() | EnumNode():
            return 4
        case FixedOpaqueNode(length):
            return length + -length % 4
        case StructNode(cls):
            sizes = [encoded_size(field.node) for field in fields_of(cls)]
            return None if None in sizes else sum(size for size in sizes if size is not None)
        case _:
            return None


def as_byte_view(data: Buffer) -> Buffer:
    """`data` as a buffer whose length is its number of bytes. Raises `Malformed` for what is no buffer."""
    if isinstance(data, bytes | bytearray):
        return data
    if isinstance(data, memoryview):
        return data.cast("B") if data.itemsize != 1 or data.ndim != 1 else data
    raise Malformed
