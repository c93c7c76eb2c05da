# SPDX-License-Identifier: MIT
"""Writes the decoder of a wire type as Python source."""

from __future__ import annotations

import re
import typing as t

from nfsclient.xdr.attributes import codecs_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    AttributesNode,
    BoolNode,
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
from nfsclient.xdr.types import Unread, XdrEnum, fields_of, shape_of
from nfsclient.xdr.writer import PADDING, Writer, array_layout, fixed_size, integer_code, least_size

_SIZE: t.Final = re.compile(r"(?<![.\w])size\b")
"""The variable, not a field of that name."""


class _EnumTable(dict[int, XdrEnum]):
    """Wire value to member; an unknown value is made into a pseudo-member and not kept."""

    def __init__(self, cls: type[XdrEnum]) -> None:
        super().__init__({int(member): member for member in cls})
        self._cls = cls

    def __missing__(self, value: int) -> XdrEnum:
        return self._cls(value)


_ENUM_TABLES: dict[type[XdrEnum], _EnumTable] = {}


def _enum_table(cls: type[XdrEnum]) -> _EnumTable:
    return _ENUM_TABLES.setdefault(cls, _EnumTable(cls))


class _Decoders(dict[int, t.Callable[[t.Any, int], tuple[t.Any, int]]]):
    """Number to decoder of the alternatives of a choice, each from the time on when it is compiled."""

    def __init__(self, table: ChoiceTable) -> None:
        super().__init__()
        self._classes = table.classes

    def __missing__(self, number: int) -> t.Callable[[t.Any, int], tuple[t.Any, int]]:
        cls = self._classes.get(number)
        if cls is None:
            raise Malformed
        decode: t.Callable[[t.Any, int], tuple[t.Any, int]] = cls.unpack_from
        if "__xdr_source__" in cls.__dict__:
            self[number] = decode
        return decode


_DECODERS: dict[ChoiceTable, _Decoders] = {}


def _decoders(table: ChoiceTable) -> _Decoders:
    return _DECODERS.setdefault(table, _Decoders(table))


class DecoderWriter(Writer):
    """Writes a decoder; `viewed` for buffers other than `bytes`.

    `_run` holds fixed-width fields that are not read yet: `flush` reads them with one `unpack_from`. Lines in
    `_before` (making objects whose slots the run fills) go in front of it, lines in `_after` (checks,
    conversions) after it.
    """

    def __init__(self, cls: type[t.Any], *, viewed: bool, exact: bool = False) -> None:
        super().__init__(cls, "x" if exact else "v" if viewed else "b")
        self._viewed = viewed
        self._exact = exact
        self._run: list[tuple[str, str]] = []
        self._before: list[str] = []
        self._after: list[str] = []
        self._may_be_beyond = False

    def exact_function(self, name: str) -> list[str]:
        """The function that decodes a whole buffer: one step where the type has a fixed width."""
        head = [f"def {name}(buf):", "    try:"]
        if fixed_size(StructNode(self.cls)):
            self._type(StructNode(self.cls), "result")
            self.flush()
        else:
            self.emit("result, end = unpack_from(buf, 0)")
            self.emit("if end != len(buf): raise Malformed")
        self.emit("return result")
        tail = ["    except DECODE_ERRORS as error:", "        failure = error"]
        return head + self._lines + tail + ["    explain_exact(CLS, buf, failure)"]

    def function(self, name: str) -> list[str]:
        """The lines of the whole function."""
        head = [f"def {name}(buf, pos=0):"]
        if self._viewed:
            head += ["    buf = memoryview(buf)"]
        else:
            head += ["    if type(buf) is not bytes:", "        return unpack_view(buf, pos)"]
        head += ["    start = pos", "    try:"]
        self._type(
            StructNode(self.cls) if self.cls.__xdr_role__ == "struct" else UnionNode(self.cls), "result"
        )
        self.flush()
        self._check_end()
        self.emit("return result, pos")
        if any(_SIZE.search(line) for line in self._lines):
            head.append("        size = len(buf)")
        tail = ["    except DECODE_ERRORS as error:", "        failure = error"]
        tail += ["    explain_decode(CLS, buf, start, failure)"]
        return head + self._lines + tail

    def attributes_function(self, name: str, fields: list[tuple[str, Node]], *, has_rest: bool) -> list[str]:
        """The function that decodes what stands after a bitmap: a length, these values, and bytes of no known type.

        Neither a value nor their sum is compared with the length until the end: nothing here reads beyond `buf`.
        """
        self.emit("size = len(buf)")
        self.emit("begin = pos + 4")
        self.emit("result = new(CLS)")
        self.emit("result.attrmask = MASK")
        length = self.read_word("length")
        with self.inlining(self.cls):
            for field, node in fields:
                self._field(node, field, "result", self.cls.__xdr_lazy__)
        self.flush()
        self.emit(f"end = begin + {length}")
        if has_rest:
            self.emit("if not pos <= end <= size: raise Malformed")
            self.emit("result.rest = bytes(buf[pos:end])")
            self.emit(f"pos = end + (-{length} & 3)")
            self.emit("if pos > size or any(buf[end:pos]): raise Malformed")
        else:
            self.emit("if pos != end: raise Malformed")
            self._check_end()
            self.emit("result.rest = b''")
        self.emit("return result, pos")
        lines = [line.removeprefix("    ") for line in self._lines]
        return [f"def {name}(buf, pos):", *lines]

    def _check_end(self) -> None:
        # A slice beyond the end is short and no error, but whatever is read after it is one. So one look will do.
        if self._may_be_beyond:
            self.emit("if pos > size: raise Malformed")

    def flush(self) -> None:
        for line in self._before:
            self.emit(line)
        if self._run:
            layout = self.layout([code for code, _ in self._run])
            targets = ", ".join(target for _, target in self._run)
            if self._exact:
                self.emit(f"{targets}, = {self.constant(layout.unpack, 'unpack')}(buf)")
            else:
                self.emit(f"{targets}, = {self.constant(layout.unpack_from, 'unpack')}(buf, pos)")
                self.emit(f"pos += {layout.size}")
        for line in self._after:
            self.emit(line)
        self._run, self._before, self._after = [], [], []

    def read_word(self, prefix: str, code: str = "I") -> str:
        """Put a 4-byte word after the pending run; the name it will have after `flush`."""
        name = self.temporary(prefix)
        self._run.append((code, name))
        return name

    def value(self, node: Node, target: str) -> None:
        """Write the code that decodes `node` into `target`."""
        match node:
            case IntNode(code):
                self._run.append((code, target))
            case BoolNode():
                word = self.read_word("flag")
                self._after += [f"if {word} > 1: raise Malformed", f"{target} = {word} == 1"]
            case EnumNode(cls):
                word = self.read_word("member", "i")
                self._after.append(f"{target} = {self.constant(_enum_table(cls), 'table')}[{word}]")
            case FixedOpaqueNode(length):
                self._run.append((f"{length}s", target))
                if length % 4:
                    padding = self.temporary("padding")
                    self._run.append((f"{-length % 4}s", padding))
                    self._after.append(f"if any({padding}): raise Malformed")
            case OpaqueNode():
                self._opaque(node, target)
            case OptionalNode():
                self._optional(node, target)
            case StructNode() | UnionNode():
                self._type(node, target)
            case AttributesNode(cls):
                self._attributes(cls, target)
            case _:
                self._composite(node, target)

    def _composite(self, node: Node, target: str) -> None:
        match node:
            case ChoiceNode():
                self._choice(node, target)
            case LinkedListNode():
                self._chain(node, target)
            case ArrayNode() | FixedArrayNode():
                self._array(node, target)

    def _attributes(self, cls: type[t.Any], target: str) -> None:
        # Nearly all bitmaps have two words: then their decoder is called from here.
        self.flush()
        unpack = f"{target}, pos = {self.constant(cls, 'T')}.unpack_from(buf, pos)"
        if self._viewed:
            self.emit(unpack)
            return
        known = self.constant(codecs_of(cls).plain, "known")
        self.emit(f"decode = {known}.get(buf[pos:pos + 12])")
        self.emit(f"if decode is None: {unpack}")
        self.emit(f"else: {target}, pos = decode(buf, pos + 12)")

    def _opaque(self, node: OpaqueNode, target: str) -> None:
        count = self.read_word("count")
        self.flush()
        if node.maximum < 0xFFFF_FFFF:
            self.emit(f"if {count} > {node.maximum}: raise Malformed")
        stop = self.temporary("stop")
        self.emit(f"{stop} = pos + {count}")
        piece = f"buf[pos:{stop}]"
        if node.style == "bulk":
            self.emit(f"{target} = {piece}" if self._viewed else f"{target} = memoryview(buf)[pos:{stop}]")
        else:
            self.emit(f"{target} = bytes({piece})" if self._viewed else f"{target} = {piece}")
        padding = self.constant(PADDING, "PADDING")
        self.emit(f"if {count} & 3:")
        with self.indented():
            self.emit(f"pos = {stop} + (-{count} & 3)")
            self.emit(f"if buf[{stop}:pos] != {padding}[{count} & 3]: raise Malformed")
        self.emit(f"else: pos = {stop}")
        self._may_be_beyond = True

    def _optional(self, node: OptionalNode, target: str) -> None:
        flag = self.read_word("flag")
        self.flush()
        self.emit(f"if {flag} == 1:")
        with self.indented():
            size = fixed_size(node.inner) if node.lazy else None
            if size is not None:
                piece = f"buf[pos:pos + {size}]"
                self.emit(f"{target} = bytes({piece})" if self._viewed else f"{target} = {piece}")
                self.emit(f"pos += {size}")
                self._may_be_beyond = True
            else:
                self.value(node.inner, target)
                self.flush()
        self.emit(f"elif {flag}: raise Malformed")
        self.emit(f"else: {target} = None")

    def _type(self, node: StructNode | UnionNode, target: str) -> None:
        if not self.is_inlined(node):
            self.flush()
            self.emit(f"{target}, pos = {self.constant(node.cls, 'T')}.unpack_from(buf, pos)")
            return
        made = self.temporary("o")
        self._before.append(f"{target} = {made} = new({self.constant(node.cls, 'T')})")
        with self.inlining(node.cls):
            if isinstance(node, UnionNode):
                self._union(node.cls, made)
                return
            for name, field in fields_of(node.cls):
                self._field(field, name, made, node.cls.__xdr_lazy__)

    def _field(self, node: Node, name: str, made: str, lazy: tuple[str, ...]) -> None:
        """A field of the object `made`; one of the `lazy` as its bytes, if they are always the same number."""
        if name not in lazy:
            self.value(node, f"{made}.{name}")
        elif isinstance(node, StructNode) and (size := fixed_size(node)) is not None:
            self._run.append((f"{size}s", f"{made}._lazy_{name}"))
        else:
            self.value(node, f"{made}._lazy_{name}")

    def _choice(self, node: ChoiceNode, target: str, following: str = "0", stop: str | None = None) -> None:
        number, cls = self.read_word("number"), self.temporary("cls")
        self.flush()
        if not node.keeps_rest:
            decoders = self.constant(_decoders(node.table), "decoders")
            self.emit(f"{target}, pos = {decoders}[{number}](buf, pos)")
            return
        self.emit(f"{cls} = {self.constant(node.table.classes, 'classes')}.get({number})")
        self.emit(f"if {cls} is None:")
        with self.indented():
            unread = self.constant(Unread, "Unread")
            self.emit(f"{target} = {unread}({number}, bytes(buf[pos:]), {following})")
            self.emit("pos = size")
            if stop is not None:
                self.emit(stop)
                self.emit("break")
        self.emit("else:")
        with self.indented():
            self.emit(f"{target}, pos = {cls}.unpack_from(buf, pos)")

    def _union(self, cls: type[t.Any], made: str) -> None:
        switch, arms = shape_of(cls)
        code = (
            switch.node.code
            if isinstance(switch.node, IntNode)
            else "I"
            if isinstance(switch.node, BoolNode)
            else "i"
        )
        word = self.read_word("switch", code)
        if isinstance(switch.node, EnumNode):
            self._after.append(
                f"{made}.{switch.name} = {self.constant(_enum_table(switch.node.cls), 'table')}[{word}]"
            )
        elif isinstance(switch.node, BoolNode):
            self._after += [f"if {word} > 1: raise Malformed", f"{made}.{switch.name} = {word} == 1"]
        else:
            self._after.append(f"{made}.{switch.name} = {word}")
        self.flush()
        names = [arm.name for arm in arms if arm.name is not None]
        for index, arm in enumerate(arms):
            if arm.values is None:
                self.emit("else:" if index else "if True:")
            else:
                test = f"{word} == {arm.values[0]}" if len(arm.values) == 1 else f"{word} in {arm.values!r}"
                self.emit(f"{'elif' if index else 'if'} {test}:")
            with self.indented():
                for name in names:
                    if name != arm.name:
                        self.emit(f"{made}.{name} = None")
                if arm.name is not None and arm.node is not None:
                    self.value(arm.node, f"{made}.{arm.name}")
                    self.flush()
        if not arms or arms[-1].values is not None:
            self.emit("else: raise Malformed")

    def _chain(self, node: LinkedListNode, target: str) -> None:
        flag = self.read_word("more")
        self.flush()
        items, item = self.temporary("items"), self.temporary("item")
        self.emit(f"{items} = []")
        self.emit(f"while {flag} == 1:")
        with self.indented():
            if node.maximum < 0xFFFF_FFFF:
                self.emit(f"if len({items}) == {node.maximum}: raise Malformed")
            self.value(node.element, item)
            self._run.append(("I", flag))
            self.flush()
            self.emit(f"{items}.append({item})")
        self.emit(f"if {flag}: raise Malformed")
        self.emit(f"{target} = {items}")

    def _array(self, node: ArrayNode | FixedArrayNode, target: str) -> None:
        count = str(node.length) if isinstance(node, FixedArrayNode) else self.read_word("count")
        self.flush()
        if isinstance(node, ArrayNode):
            room = f"{count} * {max(least_size(node.element), 1)} > size - pos"
            self.emit(f"if {count} > {node.maximum} or {room}: raise Malformed")
        code = integer_code(node.element)
        if code is not None:
            width = 4 if code in "Ii" else 8
            layout = self.constant(array_layout, "layout")
            self.emit(f"{target} = list({layout}({code!r}, {count}).unpack_from(buf, pos))")
            self.emit(f"pos += {width} * {count}")
            return
        items, item = self.temporary("items"), self.temporary("item")
        self.emit(f"{items} = []")
        self.emit(f"for _ in range({count}):")
        with self.indented():
            if isinstance(node.element, ChoiceNode) and isinstance(node, ArrayNode):
                self._choice(
                    node.element, item, f"{count} - len({items}) - 1", stop=f"{items}.append({item})"
                )
            else:
                self.value(node.element, item)
            self.flush()
            self.emit(f"{items}.append({item})")
        self.emit(f"{target} = {items}")
