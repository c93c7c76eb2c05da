# SPDX-License-Identifier: MIT
"""The slow codec: walks the declaration field by field.

It is the oracle of the compiled codec in tests, it finds the path of the field at fault after the compiled
codec has met an error, and its `Token`s are what the malformer bends. Clarity before speed.
"""

from __future__ import annotations

import struct
import typing as t

from nfsclient.errors import BadPadding, UnknownArm, XdrError
from nfsclient.xdr.attributes import AttributeMap, layout_of
from nfsclient.xdr.kinds import (
    UNLIMITED,
    ArrayNode,
    AttributesNode,
    BoolNode,
    Buffer,
    ChoiceNode,
    EnumNode,
    FixedArrayNode,
    FixedOpaqueNode,
    IdentityKind,
    IntNode,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
    StructNode,
    UnionNode,
)
from nfsclient.xdr.types import Unread, XdrEnum, XdrType, fields_of, shape_of


class Malformed(Exception):
    """What compiled code raises: something is wrong, let `decode` or `encode` here say what."""


Role = t.Literal["int", "enum", "bool", "present", "discriminant", "length", "bytes", "padding", "rest"]


class Token(t.NamedTuple):
    """One piece of an encoding: which field it belongs to, what it is there for, its bytes."""

    path: str
    role: Role
    node: Node
    data: bytes


_BITMAP = ArrayNode(IntNode("I"), UNLIMITED)
_ATTRIBUTES = OpaqueNode(UNLIMITED, "opaque")


def tokens(value: XdrType) -> list[Token]:
    """The encoding of `value` as tokens; their data joined is the encoding. Raises `XdrError`."""
    out: list[Token] = []
    _encode_type(value, type(value).__name__, out)
    return out


def tokens_of(node: Node, value: object, path: str) -> list[Token]:
    """The same for a value of any node, such as an alternative of a `Choice` with its number."""
    out: list[Token] = []
    _encode(node, value, path, out)
    return out


def encode(value: XdrType) -> bytes:
    """The encoding of `value`, by the slow way."""
    return b"".join(token.data for token in tokens(value))


def decode(cls: type[XdrType], buf: Buffer, pos: int = 0) -> tuple[t.Any, int]:
    """One `cls` at `pos` and the position after it, by the slow way. Raises `XdrError` with the path."""
    reader = _Reader(memoryview(buf), pos)
    return _decode_type(cls, reader, cls.__name__), reader.pos


# ---------------------------------------------------------------- encoding


def _word(path: str, role: Role, node: Node, value: int, code: str = "I") -> Token:
    return Token(path, role, node, struct.pack(f">{code}", value))


def _fail(path: str, detail: str) -> t.NoReturn:
    raise XdrError(path, detail)


def _encode_type(value: t.Any, path: str, out: list[Token]) -> None:
    if isinstance(value, AttributeMap):
        _encode_attributes(value, path, out)
        return
    if isinstance(value, Unread):
        _encode_unread(value, path, out)
        return
    if type(value).__xdr_role__ == "struct":
        for name, node in fields_of(type(value)):
            _encode(node, getattr(value, name), f"{path}.{name}", out)
        return
    shape = shape_of(type(value))
    chosen = getattr(value, shape.discriminant.name)
    switch_path = f"{path}.{shape.discriminant.name}"
    start = len(out)
    _encode(shape.discriminant.node, chosen, switch_path, out)
    out[start] = out[start]._replace(role="discriminant")
    arm = shape.arm_for(int(chosen))
    if arm is None:
        _fail(switch_path, f"{chosen!r} selects no arm")
    for other in shape.arms:
        if other is not arm and other.name is not None and getattr(value, other.name) is not None:
            _fail(f"{path}.{other.name}", f"is set, but {shape.discriminant.name} is {chosen!r}")
    if arm.name is not None and arm.node is not None:
        _encode(arm.node, getattr(value, arm.name), f"{path}.{arm.name}", out)


def _encode(node: Node, value: t.Any, path: str, out: list[Token]) -> None:  # noqa: C901  (one case a kind)
    match node:
        case IntNode(code):
            _check_int(value, node.bounds, path)
            out.append(_word(path, "int", node, value, code))
        case BoolNode():
            if value not in (True, False):
                _fail(path, f"{value!r} is no boolean")
            out.append(_word(path, "bool", node, int(value)))
        case EnumNode():
            _check_int(value, (-(2**31), 2**31 - 1), path)
            out.append(_word(path, "enum", node, value, "i"))
        case FixedOpaqueNode(length):
            data = _check_bytes(value, path)
            if len(data) != length:
                _fail(path, f"has {len(data)} bytes, its type has {length}")
            _encode_bytes(node, data, path, out)
        case OpaqueNode(maximum):
            data = _check_bytes(value, path)
            if len(data) > maximum:
                _fail(path, f"has {len(data)} bytes, its type allows {maximum}")
            out.append(_word(path, "length", node, len(data)))
            _encode_bytes(node, data, path, out)
        case OptionalNode(inner):
            out.append(_word(path, "present", node, int(value is not None)))
            if value is not None:
                _encode(inner, value, path, out)
        case StructNode(cls) | UnionNode(cls) | AttributesNode(cls):
            if type(value) is not cls:
                _fail(path, f"{value!r} is no {cls.__name__}")
            _encode_type(value, path, out)
        case ChoiceNode():
            _encode_choice(node, value, path, out)
        case _:
            _encode_items(node, value, path, out)


def _encode_items(node: Node, value: t.Any, path: str, out: list[Token]) -> None:
    assert isinstance(node, FixedArrayNode | ArrayNode | LinkedListNode)
    if not isinstance(value, list | tuple):
        _fail(path, f"{value!r} is no list")
    if isinstance(node, FixedArrayNode):
        if len(value) != node.length:
            _fail(path, f"has {len(value)} elements, its type has {node.length}")
    elif len(value) > node.maximum:
        _fail(path, f"has {len(value)} elements, its type allows {node.maximum}")
    if isinstance(node, ArrayNode):
        out.append(_word(path, "length", node, len(value) + _following(node, value, path)))
    for index, item in enumerate(value):
        if isinstance(node, LinkedListNode):
            out.append(_word(f"{path}[{index}]", "present", node, 1))
        _encode(node.element, item, f"{path}[{index}]", out)
    if isinstance(node, LinkedListNode):
        out.append(_word(path, "present", node, 0))


def _following(node: ArrayNode, value: t.Sequence[t.Any], path: str) -> int:
    """How many more elements the count announces, because nobody could read from the last one on."""
    if any(isinstance(item, Unread) for item in value[:-1]):
        _fail(path, "an Unread has everything to the end of the message, so that it must be the last element")
    last = value[-1] if value else None
    if not isinstance(last, Unread):
        return 0
    _check_int(last.following, (0, node.maximum - len(value)), f"{path}[{len(value) - 1}].following")
    return last.following


def _encode_choice(node: ChoiceNode, value: t.Any, path: str, out: list[Token]) -> None:
    if isinstance(value, Unread) and node.keeps_rest:
        _encode_unread(value, path, out)
        return
    number = node.table.numbers.get(type(value))
    if number is None:
        _fail(path, f"{value!r} is no alternative of this choice")
    out.append(_word(path, "discriminant", node, number))
    _encode_type(value, path, out)


def _encode_unread(value: Unread, path: str, out: list[Token]) -> None:
    number = IntNode("I")
    _check_int(value.number, number.bounds, f"{path}.number")
    out.append(_word(f"{path}.number", "int", number, value.number))
    rest = _check_bytes(value.rest, f"{path}.rest")
    out.append(Token(f"{path}.rest", "rest", OpaqueNode(UNLIMITED, "opaque"), rest))


def _encode_attributes(value: AttributeMap, path: str, out: list[Token]) -> None:
    """The values in the order of their bits, as far as they are there; then the bytes that nobody could read."""
    _encode(_BITMAP, value.attrmask, f"{path}.attrmask", out)
    inner: list[Token] = []
    for field in layout_of(type(value), value.attrmask).fields:
        item = getattr(value, field.name)
        if item is not None:
            _encode(field.node, item, f"{path}.{field.name}", inner)
    inner.append(Token(f"{path}.rest", "bytes", _ATTRIBUTES, _check_bytes(value.rest, f"{path}.rest")))
    size = sum(len(token.data) for token in inner)
    out.append(_word(f"{path}.attr_vals", "length", _ATTRIBUTES, size))
    out += inner
    if size % 4:
        out.append(Token(f"{path}.attr_vals", "padding", _ATTRIBUTES, bytes(-size % 4)))


def _encode_bytes(node: Node, data: bytes, path: str, out: list[Token]) -> None:
    out.append(Token(path, "bytes", node, data))
    if len(data) % 4:
        out.append(Token(path, "padding", node, bytes(-len(data) % 4)))


def _check_int(value: object, bounds: tuple[int, int], path: str) -> None:
    if not isinstance(value, int):
        _fail(path, f"{value!r} is no integer")
    if not bounds[0] <= value <= bounds[1]:
        _fail(path, f"{value} is outside {bounds[0]}..{bounds[1]}")


def _check_bytes(value: object, path: str) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        _fail(path, f"{value!r} is not bytes")
    return memoryview(value).tobytes()


# ---------------------------------------------------------------- decoding


class Named(t.NamedTuple):
    """Bytes of an encoding that an `Identity` declares: whose field they are, where they begin, and they themselves."""

    path: str
    what: IdentityKind
    start: int
    data: bytes


def identities(cls: type[XdrType], buf: Buffer, pos: int = 0) -> tuple[list[Named], int | None]:
    """What names machines, people or products in one `cls` at `pos`, and where decoding failed (None: nowhere).

    What stands before the failure is found all the same. Bytes that no declaration explains count as a body.
    """
    found: list[Named] = []
    reader = _Reader(memoryview(buf), pos, found)
    try:
        _decode_type(cls, reader, cls.__name__)
    except XdrError:
        return found, reader.pos
    return found, None


class _Reader:
    """A position in a buffer; every take is bounded. `found` gets what identifies somebody, if that is wanted."""

    def __init__(self, view: memoryview, pos: int, found: list[Named] | None = None) -> None:
        self.view = view
        self.pos = pos
        self.found = found

    def name(self, what: IdentityKind | None, count: int, path: str) -> None:
        """The next bytes, or as many of them as there are, name something; they are not taken."""
        if what is not None and self.found is not None and count:
            self.found.append(Named(path, what, self.pos, bytes(self.view[self.pos : self.pos + count])))

    def take(self, count: int, path: str) -> memoryview:
        left = len(self.view) - self.pos
        if count > left:
            raise XdrError(path, f"needs {count} more bytes, only {max(left, 0)} are left", self.pos)
        taken = self.view[self.pos : self.pos + count]
        self.pos += count
        return taken

    def number(self, code: str, path: str) -> int:
        (value,) = struct.unpack(f">{code}", self.take(4 if code in "Ii" else 8, path))
        return t.cast("int", value)

    def length(self, maximum: int, path: str) -> int:
        count = self.number("I", path)
        if count > maximum:
            raise XdrError(path, f"length {count} exceeds the limit of {maximum}", self.pos - 4)
        return count

    def opaque(self, count: int, path: str) -> memoryview:
        data = self.take(count, path)
        padding = bytes(self.take(-count % 4, path))
        if any(padding):
            raise BadPadding(path, f"padding is {padding.hex()}, it must be zero", self.pos - len(padding))
        return data

    def boolean(self, path: str) -> bool:
        value = self.number("I", path)
        if value > 1:
            raise XdrError(path, f"boolean is {value}, it must be 0 or 1", self.pos - 4)
        return bool(value)


def _decode_type(cls: t.Any, reader: _Reader, path: str) -> t.Any:
    if cls.__xdr_role__ == "attributes":
        return _decode_attributes(cls, reader, path)
    if cls is Unread:
        return _decode_unread(reader, path, 0)
    if cls.__xdr_role__ == "struct":
        return cls(*[_decode(node, reader, f"{path}.{name}") for name, node in fields_of(cls)])
    shape = shape_of(cls)
    at = reader.pos
    chosen = _decode(shape.discriminant.node, reader, f"{path}.{shape.discriminant.name}")
    arm = shape.arm_for(int(chosen))
    if arm is None:
        is_new = not isinstance(chosen, XdrEnum) or not chosen.is_known
        error = UnknownArm if is_new else XdrError
        raise error(f"{path}.{shape.discriminant.name}", f"{chosen!r} selects no arm", at)
    fields = {shape.discriminant.name: chosen} | {other.name: None for other in shape.arms if other.name}
    if arm.name is not None and arm.node is not None:
        fields[arm.name] = _decode(arm.node, reader, f"{path}.{arm.name}")
    return cls(**fields)


def _decode(node: Node, reader: _Reader, path: str) -> t.Any:  # noqa: PLR0911  (one case a kind)
    match node:
        case IntNode(code):
            return reader.number(code, path)
        case BoolNode():
            return reader.boolean(path)
        case EnumNode(cls):
            return t.cast("type[XdrEnum]", cls)(reader.number("i", path))
        case FixedOpaqueNode(length):
            return bytes(reader.opaque(length, path))
        case OpaqueNode(maximum, style, identity):
            size = reader.length(maximum, path)
            reader.name(identity, size, path)
            data = reader.opaque(size, path)
            return data if style == "bulk" else bytes(data)
        case OptionalNode(inner):
            return _decode(inner, reader, path) if reader.boolean(path) else None
        case StructNode(cls) | UnionNode(cls) | AttributesNode(cls):
            return _decode_type(cls, reader, path)
        case ChoiceNode():
            return _decode_choice(node, 0, reader, path)
        case FixedArrayNode(element, length):
            return [_decode(element, reader, f"{path}[{index}]") for index in range(length)]
        case ArrayNode(element, maximum):
            return _decode_array(element, reader.length(maximum, path), reader, path)
        case LinkedListNode(element, maximum):
            return _decode_chain(element, maximum, reader, path)


def _decode_array(element: Node, count: int, reader: _Reader, path: str) -> list[t.Any]:
    left = len(reader.view) - reader.pos
    if count * max(least_size(element), 1) > left:
        raise XdrError(
            path, f"{count} elements cannot fit into the {left} bytes that are left", reader.pos - 4
        )
    if isinstance(element, ChoiceNode):
        return _decode_choices(element, count, reader, path)
    if isinstance(element, IntNode):  # a peer may send a million of them
        return list(struct.unpack(f">{count}{element.code}", reader.take(count * element.size, path)))
    return [_decode(element, reader, f"{path}[{index}]") for index in range(count)]


def _decode_choices(element: ChoiceNode, count: int, reader: _Reader, path: str) -> list[t.Any]:
    items: list[t.Any] = []
    for index in range(count):
        items.append(_decode_choice(element, count - index - 1, reader, f"{path}[{index}]"))
        if isinstance(items[-1], Unread):
            break
    return items


def _decode_choice(node: ChoiceNode, following: int, reader: _Reader, path: str) -> t.Any:
    at = reader.pos
    number = reader.number("I", path)
    cls = node.table.classes.get(number)
    if cls is not None:
        return _decode_type(cls, reader, path)
    if not node.keeps_rest:
        raise UnknownArm(path, f"{number} is the number of no alternative", at)
    reader.pos = at
    return _decode_unread(reader, path, following)


def _decode_unread(reader: _Reader, path: str, following: int) -> Unread:
    number = reader.number("I", path)
    reader.name("body", len(reader.view) - reader.pos, f"{path}.rest")
    return Unread(number, bytes(reader.take(len(reader.view) - reader.pos, path)), following)


def _decode_attributes(cls: type[AttributeMap], reader: _Reader, path: str) -> AttributeMap:
    mask = tuple(_decode(_BITMAP, reader, f"{path}.attrmask"))
    layout = layout_of(cls, mask)
    size = reader.length(UNLIMITED, f"{path}.attr_vals")
    begin = reader.pos
    reader.opaque(size, f"{path}.attr_vals")
    inside = _Reader(reader.view[: begin + size], begin, reader.found)
    values = {field.name: _decode(field.node, inside, f"{path}.{field.name}") for field in layout.fields}
    left = begin + size - inside.pos
    if left and not layout.has_unknown:
        raise XdrError(
            f"{path}.attr_vals", f"{left} bytes are left over after the last attribute", inside.pos
        )
    inside.name("body", left, f"{path}.rest")
    rest = bytes(inside.take(left, path))
    return cls(attrmask=mask, rest=rest, **values)


def _decode_chain(element: Node, maximum: int, reader: _Reader, path: str) -> list[t.Any]:
    items: list[t.Any] = []
    while reader.boolean(f"{path}[{len(items)}]"):
        if len(items) == maximum:
            raise XdrError(path, f"has more than {maximum} elements", reader.pos - 4)
        items.append(_decode(element, reader, f"{path}[{len(items)}]"))
    return items


def least_size(node: Node) -> int:
    """The fewest bytes an encoding of `node` takes: bounds a count before memory is taken for it."""
    match node:
        case IntNode():
            size = node.size
        case FixedOpaqueNode(length):
            size = length + -length % 4
        case FixedArrayNode(element, length):
            size = least_size(element) * length
        case StructNode(cls):
            size = sum(least_size(field.node) for field in fields_of(cls))
        case AttributesNode():
            size = 8
        case _:
            size = 4
    return size
