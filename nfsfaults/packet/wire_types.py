# SPDX-License-Identifier: MIT
"""A scapy layer for each declared wire type: the fields, their order and their codec are those of the declaration.

Bytes are decoded by the codec of the declaration, which is strict and takes memory only for what is there. Whatever it
refuses becomes `Raw`. Building goes field by field and checks nothing: a value may be outside of its type, `Raw` may
stand for any structure, and length words follow from what is there.

A field whose name scapy needs for packets gets an underscore: ``name_``.
"""

from __future__ import annotations

import enum
import random
import typing as t

from scapy.config import conf
from scapy.fields import ConditionalField, Field
from scapy.packet import Packet
from scapy.volatile import VolatileValue

from nfsclient.errors import XdrError
from nfsclient.xdr import (
    AttributeMap,
    Unread,
    XdrEnum,
    XdrType,
    attributes_of,
    bits_of,
    fields_of,
    mask_of,
    parts_of,
    shape_of,
)
from nfsclient.xdr.kinds import (
    UNLIMITED,
    ArrayNode,
    AttributesNode,
    BoolNode,
    ChoiceNode,
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


class _Blank(enum.Enum):
    """The default of every field: what is there if nobody sets it.

    It is no packet and no list, because scapy copies those into each new packet as if they were set, and `fuzz()`
    replaces defaults only.
    """

    BLANK = 0


BLANK: t.Final = _Blank.BLANK
_MOST_ITEMS: t.Final = 3
_MOST_BYTES: t.Final = 40
MOST_DISSECTED: t.Final = 4 << 20
"""Longer messages stay bytes: four bytes can be an operation, and a packet takes some 2 KiB of memory."""
_MOST_PACKETS: t.Final = 50_000
_DEEPEST: t.Final = 6
"""What is drawn at random is small: nothing optional and no elements below this depth."""
_WORD: t.Final = IntNode("I")
_BYTES: t.Final = OpaqueNode(UNLIMITED, "opaque")
_BITMAP: t.Final = ArrayNode(_WORD, UNLIMITED)
_LISTS = (ArrayNode, FixedArrayNode, LinkedListNode)
_PACKETS = (StructNode, UnionNode, AttributesNode, ChoiceNode)


def field_name(name: str) -> str:
    """How a field is called in a layer."""
    return f"{name}_" if hasattr(Packet, name) else name


# ---------------------------------------------------------------- values of fields


def internal(node: Node, value: t.Any) -> t.Any:  # noqa: PLR0911  (one case a kind)
    """What a field keeps for a value: packets for structures, lists, bytes, numbers. Volatile values stay."""
    if value is None or isinstance(value, VolatileValue | Packet | _Blank):
        return value
    match node:
        case OptionalNode(inner):
            return internal(inner, value)
        case EnumNode(cls) if isinstance(value, str):
            return int(t.cast("type[XdrEnum]", cls)[value])
        case EnumNode() if isinstance(value, int):
            return int(value)  # scapy prints commands with the values, which Python must read
        case BoolNode():
            return bool(value)
        case OpaqueNode() | FixedOpaqueNode():
            return value.encode() if isinstance(value, str) else bytes(value)
        case ArrayNode(element) | FixedArrayNode(element) | LinkedListNode(element):
            return [internal(element, item) for item in value]
        case StructNode() | UnionNode() | AttributesNode() | ChoiceNode():
            return packet_of(value) if isinstance(value, XdrType) else conf.raw_layer(bytes(value))
        case _:
            return value


def blank(node: Node) -> t.Any:
    """The value of a field that nobody has set."""
    match node:
        case OpaqueNode() | FixedOpaqueNode():
            return bytes(node.length) if isinstance(node, FixedOpaqueNode) else b""
        case OptionalNode():
            return None
        case FixedArrayNode(element, length):
            return [blank(element) for _ in range(length)]
        case ArrayNode() | LinkedListNode():
            return []
        case StructNode(cls) | UnionNode(cls) | AttributesNode(cls):
            return layer_of(cls)()
        case ChoiceNode(table):
            return layer_of(next(iter(table.classes.values())))()
        case _:
            return 0


def encoded(node: Node, value: t.Any) -> bytes:
    """The bytes of a value, whether or not it fits its type."""
    if value is None and not isinstance(node, OptionalNode):
        value = blank(node)
    match node:
        case IntNode() | EnumNode() | BoolNode():
            size = node.size if isinstance(node, IntNode) else 4
            return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "big")
        case FixedOpaqueNode():
            data = bytes(value)
            return data + bytes(-len(data) % 4)
        case OpaqueNode():
            data = bytes(value)
            return len(data).to_bytes(4, "big") + data + bytes(-len(data) % 4)
        case OptionalNode(inner):
            return bytes(4) if value is None else b"\0\0\0\1" + encoded(inner, value)
        case ChoiceNode():
            return _number_of(node, value) + bytes(value)
        case ArrayNode(element) | FixedArrayNode(element) | LinkedListNode(element):
            return _encoded_items(node, [encoded(element, item) for item in value], value)
        case _:
            return bytes(value)


def _number_of(node: ChoiceNode, value: t.Any) -> bytes:
    """The word in front of an alternative. `Unread` has its number among its fields; `Raw` has none."""
    return node.table.words.get(getattr(type(value), "wire", Unread), b"")


def _encoded_items(node: Node, items: list[bytes], values: list[t.Any]) -> bytes:
    if isinstance(node, LinkedListNode):
        return b"".join(b"\0\0\0\1" + item for item in items) + bytes(4)
    if isinstance(node, FixedArrayNode):
        return b"".join(items)
    following = values[-1].following if values and isinstance(values[-1], _UnreadLayer) else 0
    return ((len(items) + following) & 0xFFFF_FFFF).to_bytes(4, "big") + b"".join(items)


def drawn(node: Node, depth: int = 0) -> t.Any:  # noqa: PLR0911  (one case a kind)
    """A random value, most of the time one that its type allows."""
    match node:
        case IntNode(_):
            low, high = node.bounds
            return random.choice((0, 1, low, high, random.randint(low, high)))
        case BoolNode():
            return random.random() < 0.5
        case EnumNode(cls):
            known = [*t.cast("type[XdrEnum]", cls)]
            return int(random.choice([*known, random.randint(-(2**31), 2**31 - 1)]))
        case FixedOpaqueNode(length):
            return random.randbytes(length)
        case OpaqueNode(maximum):
            return random.randbytes(random.randint(0, min(maximum, _MOST_BYTES)))
        case OptionalNode(inner):
            return drawn(inner, depth + 1) if depth < _DEEPEST and random.random() < 0.7 else None
        case FixedArrayNode(element, length):
            return [drawn(element, depth + 1) for _ in range(length)]
        case ArrayNode(element, maximum) | LinkedListNode(element, maximum):
            count = random.randint(0, min(maximum, _MOST_ITEMS)) if depth < _DEEPEST else 0
            return [drawn(element, depth + 1) for _ in range(count)]
        case ChoiceNode(table):
            return _drawn_packet(random.choice(list(table.classes.values())), depth)
        case _:
            return _drawn_packet(node.cls, depth)


def _drawn_packet(cls: type[t.Any], depth: int) -> Packet:
    packet = layer_of(cls)()
    if issubclass(cls, AttributeMap):
        known = list(attributes_of(cls).values())
        chosen = random.sample(known, random.randint(0, min(len(known), _MOST_ITEMS)))
        parts = [(field.name, field.node) for field in chosen]
    elif cls.__xdr_role__ == "union":
        switch, arms = shape_of(cls)
        arm = random.choice(arms)
        number = random.choice(arm.values) if arm.values else drawn(switch.node)
        packet.fields[field_name(switch.name)] = internal(switch.node, number)
        parts = [(arm.name, arm.node)] if arm.name is not None and arm.node is not None else []
    else:
        parts = [(name, node) for name, node in fields_of(cls)]
    for name, node in parts:
        packet.fields[field_name(name)] = drawn(node, depth + 1)
    return packet


class _Drawn(VolatileValue[t.Any]):
    """What `fuzz()` puts into a field: drawn again each time that the packet is built."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.node = node

    def _fix(self) -> t.Any:
        return drawn(self.node)


# ---------------------------------------------------------------- fields


class XdrField(Field[t.Any, t.Any]):
    """A field of a declared kind."""

    __slots__ = ["is_fixed", "node"]

    def __init__(self, name: str, node: Node, default: t.Any = BLANK, *, is_fixed: bool = False) -> None:
        self.node = node
        self.is_fixed = is_fixed
        """Whether `fuzz()` leaves it alone."""
        super().__init__(name, default, "I")

    def any2i(self, pkt: Packet | None, x: t.Any) -> t.Any:
        return internal(self.node, x)

    def i2repr(self, pkt: Packet | None, x: t.Any) -> str:
        node = self.node.inner if isinstance(self.node, OptionalNode) else self.node
        if isinstance(node, EnumNode) and isinstance(x, int):
            return str(node.cls(x)) if -(2**31) <= x < 2**31 else str(x)
        return repr(x)

    def addfield(self, pkt: Packet, s: bytes, val: t.Any) -> bytes:
        return s + encoded(self.node, val)

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, t.Any]:
        raise NotImplementedError("whole layers are decoded, not fields")

    def randval(self) -> t.Any:
        return None if self.is_fixed else _Drawn(self.node)


class _XdrListField(XdrField):
    islist = 1


class _XdrPacketField(XdrField):
    holds_packets = 1


class _XdrPacketListField(XdrField):
    islist = 1
    holds_packets = 1


def make_field(name: str, node: Node, default: t.Any = BLANK) -> XdrField:
    """The field for a node; scapy wants to know which fields have lists and packets."""
    inner = node.inner if isinstance(node, OptionalNode) else node
    is_list = isinstance(inner, _LISTS)
    has_packets = isinstance(inner.element if isinstance(inner, _LISTS) else inner, _PACKETS)
    kinds = {
        (False, False): XdrField,
        (True, False): _XdrListField,
        (False, True): _XdrPacketField,
        (True, True): _XdrPacketListField,
    }
    return kinds[is_list, has_packets](field_name(name), node, default)


# ---------------------------------------------------------------- layers


class XdrLayer(Packet):
    """What all layers of this package share. The fields of a subclass follow from `wire`."""

    match_subclass = True
    wire: t.ClassVar[type[XdrType]]
    """The declared type."""

    def getfieldval(self, attr: str) -> t.Any:
        value = super().getfieldval(attr)
        return self._filled(attr) if value is BLANK else value

    def getfield_and_val(self, attr: str) -> tuple[t.Any, t.Any]:
        field, value = super().getfield_and_val(attr)
        return field, self._filled(attr) if value is BLANK else value

    def _filled(self, attr: str) -> t.Any:
        value = blank(t.cast("XdrField", self.get_field(attr)).node)
        if isinstance(value, Packet | list):  # which may be changed in place
            self.fields[attr] = value
        return value

    @classmethod
    def decoded(cls, data: bytes) -> tuple[dict[str, t.Any], int]:
        """The fields, and how many bytes they took. Raises `XdrError`."""
        value, end = cls.wire.unpack_from(data)
        return _fields_of_value(value), end

    def do_dissect(self, s: bytes) -> bytes:
        fields, end = _decoded(type(self), s)
        self.fields |= fields
        self.explicit = 1
        return s[end:]

    def value(self) -> XdrType:
        """The packet as an object of its declared type. Raises `XdrError` if it does not fit."""
        return self.wire.from_xdr(bytes(self))


def guarded(cls: type[t.Any], _pkt: bytes = b"", *_: t.Any, **__: t.Any) -> type[Packet]:
    """A `dispatch_hook`: bytes that the codec refuses, and too many of them, become `Raw`."""
    if _pkt:
        try:
            _dissecting.latest = (cls, _pkt, _decoded(cls, bytes(_pkt)))
        except XdrError:
            return conf.raw_layer
    return cls


class _Dissecting:
    """What bounds the memory of a dissection, and the fields that `guarded` has found for the packet that follows."""

    packets_left: int | None = None
    latest: tuple[t.Any, ...] = (None, None, None)


_dissecting: t.Final = _Dissecting()


def _decoded(cls: type[t.Any], data: bytes) -> tuple[dict[str, t.Any], int]:
    """`decoded` of a layer with bounded memory. Raises `XdrError`."""
    found_for, of, found = _dissecting.latest
    _dissecting.latest = (None, None, None)
    if found_for is cls and of is data:
        return t.cast("tuple[dict[str, t.Any], int]", found)
    if len(data) > MOST_DISSECTED:
        raise XdrError(cls.__name__, f"{len(data)} bytes; {MOST_DISSECTED} are dissected at most")
    _dissecting.packets_left = _MOST_PACKETS
    try:
        return t.cast("tuple[dict[str, t.Any], int]", cls.decoded(data))
    finally:
        _dissecting.packets_left = None


class _UnionLayer(XdrLayer):
    """A discriminated union: the arm that the discriminant does not select is not sent and not shown."""

    def self_build(self) -> bytes:
        switch, _ = shape_of(self.wire)
        number = self.getfieldval(field_name(switch.name))
        arm = shape_of(self.wire).arm_for(int(number))
        built = encoded(switch.node, number)
        if arm is None or arm.name is None or arm.node is None:
            return built
        return built + encoded(arm.node, self.getfieldval(field_name(arm.name)))


class _AttributesLayer(XdrLayer):
    """Attributes by number: those that are not None are there, and the bitmap follows unless it is set."""

    def present(self) -> dict[int, t.Any]:
        """Number -> value of the attributes that are sent, in their order."""
        fields = attributes_of(t.cast("type[AttributeMap]", self.wire))
        mask = self.fields.get("attrmask")
        bits = fields.keys() if mask is None else set(bits_of(mask))
        values = {number: self.fields.get(field_name(field.name)) for number, field in fields.items()}
        return {number: value for number, value in values.items() if value is not None and number in bits}

    def self_build(self) -> bytes:
        fields = attributes_of(t.cast("type[AttributeMap]", self.wire))
        present = self.present()
        mask = self.fields.get("attrmask")
        inner = [encoded(fields[number].node, value) for number, value in present.items()]
        values = b"".join([*inner, bytes(self.fields.get("rest") or b"")])
        return encoded(_BITMAP, list(mask_of(present) if mask is None else mask)) + encoded(_BYTES, values)


class _UnreadLayer(XdrLayer):
    """An operation of a number that nobody knows, with all bytes that follow it."""

    def self_build(self) -> bytes:
        return encoded(_WORD, self.number) + bytes(self.rest)


_LAYERS: dict[type[t.Any], type[XdrLayer]] = {}
REFINED: t.Final[dict[type[t.Any], t.Callable[[dict[str, t.Any]], None]]] = {}
"""Declared type -> what makes more of its decoded fields than the declaration says."""


def layer_of(cls: type[t.Any]) -> type[XdrLayer]:
    """The layer of a declared type. It is made when it is first used."""
    found = _LAYERS.get(cls)
    if found is None:
        base, fields = _declared(cls)
        found = _LAYERS[cls] = make_layer(cls.__name__, base, fields, wire=cls)
    return found


def make_layer(name: str, base: type[XdrLayer], fields: t.Sequence[t.Any], **more: t.Any) -> type[XdrLayer]:
    """A subclass of a layer, which turns bytes that it cannot read into `Raw`."""
    made = t.cast("t.Any", type(base))(
        name,
        (base,),
        {
            "__module__": __name__,
            "fields_desc": list(fields),
            "dispatch_hook": classmethod(guarded),
            **more,
        },
    )
    return t.cast("type[XdrLayer]", made)


def _declared(cls: type[t.Any]) -> tuple[type[XdrLayer], list[t.Any]]:
    if cls is Unread:
        parts = Unread(0).parts()
        return _UnreadLayer, [make_field(name, node) for name, node, _ in parts]
    if issubclass(cls, AttributeMap):
        return _AttributesLayer, _attribute_fields(cls)
    if cls.__xdr_role__ == "union":
        return _UnionLayer, _union_fields(cls)
    fields = [make_field(name, node) for name, node in fields_of(cls)]
    if cls in REFINED:  # bytes may have become packets, which scapy shall find
        fields = [
            _XdrPacketField(field.name, field.node) if isinstance(field.node, OpaqueNode) else field
            for field in fields
        ]
    return XdrLayer, fields


def _attribute_fields(cls: type[AttributeMap]) -> list[t.Any]:
    fields: list[t.Any] = [make_field("attrmask", _BITMAP, None)]
    fields += [make_field(field.name, field.node, None) for field in attributes_of(cls).values()]
    fields.append(make_field("rest", _BYTES, None))
    return [ConditionalField(field, _is_set(field.name)) for field in fields]


def _is_set(name: str) -> t.Callable[[Packet], bool]:
    return lambda packet: packet.fields.get(name) is not None


def _union_fields(cls: type[XdrType]) -> list[t.Any]:
    switch, arms = shape_of(cls)
    chosen = make_field(switch.name, switch.node)
    chosen.is_fixed = True  # the arm must fit it, so `fuzz()` draws whole unions only
    arms_with_fields = [(arm.name, arm.node) for arm in arms if arm.name is not None and arm.node is not None]
    return [
        chosen,
        *(ConditionalField(make_field(name, node), _selects(cls, name)) for name, node in arms_with_fields),
    ]


def _selects(cls: type[XdrType], name: str) -> t.Callable[[Packet], bool]:
    switch = field_name(shape_of(cls).discriminant.name)

    def selected(packet: Packet) -> bool:
        arm = shape_of(cls).arm_for(int(packet.getfieldval(switch)))
        return arm is not None and arm.name == name

    return selected


def _fields_of_value(value: XdrType) -> dict[str, t.Any]:
    fields = {field_name(name): internal(node, item) for name, node, item in parts_of(value)}
    refine = REFINED.get(type(value))
    if refine is not None:
        refine(fields)
    return fields


def packet_of(value: XdrType) -> XdrLayer:
    """The packet of a value of a declared type."""
    if _dissecting.packets_left is not None:
        _dissecting.packets_left -= 1
        if _dissecting.packets_left < 0:
            raise XdrError(type(value).__name__, f"more than {_MOST_PACKETS} structures in one message")
    packet = layer_of(type(value))()
    packet.fields |= _fields_of_value(value)
    return packet
