# SPDX-License-Identifier: MIT
"""`AttributeMap`: values that a bitmap in front of them announces (fattr4 of NFSv4, RFC 5661 section 3.3.7).

On the wire stand the words of the bitmap and an opaque, in which the values of the set bits follow each other in the
order of their numbers, with nothing that tells where one ends. So a reader that does not know an attribute can read
none after it: `rest` keeps those bytes, and the bits stay in `attrmask`.

For each bitmap the compiler makes a decoder and an encoder, because a client asks for few sets of attributes and has
them for many objects. A peer can send any bitmap: one is compiled when it has come several times, and of those no more
than `_MOST_COMPILED`; the reflective codec does the rest.
"""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterable, Iterator

from nfsclient.xdr.kinds import (
    UNLIMITED,
    ArrayNode,
    Bit,
    Buffer,
    IntNode,
    Node,
    NotAWireType,
    OpaqueNode,
    OptionalNode,
    node_of,
)
from nfsclient.xdr.types import XdrType

Mask: t.TypeAlias = tuple[int, ...]
"""The 32-bit words of a bitmap: bit n is bit n mod 32 of word n div 32."""

MOST_WORDS: t.Final = 8
"""Bitmaps of more words are read all the same, but not remembered."""
_MOST_REMEMBERED = 1024
_MOST_COMPILED = 128
_WORTH_COMPILING = 4

_BITMAP = ArrayNode(IntNode("I"), UNLIMITED)
_BYTES = OpaqueNode(UNLIMITED, "opaque")


def mask_of(numbers: Iterable[int]) -> Mask:
    """The words with these bits set, as few as do."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return tuple(bits >> at & 0xFFFF_FFFF for at in range(0, bits.bit_length(), 32))


def bits_of(mask: Iterable[int]) -> Iterator[int]:
    """The numbers of the bits that are set, in order."""
    for index, word in enumerate(mask):
        while word:
            low = word & -word
            yield 32 * index + low.bit_length() - 1
            word ^= low


class AttributeField(t.NamedTuple):
    """One attribute of an `AttributeMap`, resolved."""

    number: int
    name: str
    node: Node
    bit: Bit
    """What its annotation says of it."""


class Layout(t.NamedTuple):
    """What stands in the opaque under a bitmap."""

    fields: tuple[AttributeField, ...]
    """The attributes up to the first unknown one."""
    has_unknown: bool


Decode: t.TypeAlias = Callable[[t.Any, int], tuple[t.Any, int]]
Encode: t.TypeAlias = Callable[[t.Any, list[Buffer]], None]


class Codecs:
    """What is known of the bitmaps of one class; bounded, because peers choose them."""

    def __init__(self, cls: type[t.Any]) -> None:
        self.cls = cls
        self.fields = _resolve(cls)
        self.layouts: dict[Mask, Layout] = {}
        self.plain: dict[bytes, Decode] = {}
        """The bitmap as it stands on the wire, with its number of words in front -> decoder for `bytes`."""
        self.viewed: dict[bytes, Decode] = {}
        self.encoders: dict[Mask, Encode] = {}
        self._uses: dict[Mask, int] = {}

    def is_worth_compiling(self, mask: Mask) -> bool:
        """Count one more use of a bitmap without compiled code."""
        if len(mask) > MOST_WORDS or len(self.encoders) >= _MOST_COMPILED:
            return False
        if len(self._uses) >= _MOST_REMEMBERED:
            self._uses.clear()
        self._uses[mask] = uses = self._uses.get(mask, 0) + 1
        return uses >= _WORTH_COMPILING

    def layout(self, mask: Mask) -> Layout:
        found = self.layouts.get(mask)
        if found is None:
            fields: list[AttributeField] = []
            has_unknown = False
            for number in bits_of(mask):
                field = self.fields.get(number)
                if field is None:
                    has_unknown = True
                    break
                fields.append(field)
            found = Layout(tuple(fields), has_unknown)
            if len(mask) <= MOST_WORDS:
                if len(self.layouts) >= _MOST_REMEMBERED:
                    self.layouts.clear()
                self.layouts[mask] = found
        return found


_CODECS: dict[type[t.Any], Codecs] = {}


def codecs_of(cls: type[t.Any]) -> Codecs:
    """What is known of the bitmaps of an `AttributeMap`."""
    found = _CODECS.get(cls)
    if found is None:
        found = _CODECS[cls] = Codecs(cls)
    return found


def layout_of(cls: type[t.Any], mask: Mask) -> Layout:
    """What stands in the opaque of a `cls` under this bitmap."""
    return codecs_of(cls).layout(mask)


def attributes_of(cls: type[AttributeMap]) -> dict[int, AttributeField]:
    """Number -> attribute, in the order of the numbers."""
    return codecs_of(cls).fields


def _resolve(cls: type[t.Any]) -> dict[int, AttributeField]:
    fields: dict[int, AttributeField] = {}
    for name, hint in t.get_type_hints(cls, include_extras=True).items():
        bit = next((kind for kind in t.get_args(hint) if isinstance(kind, Bit)), None)
        if bit is None:
            continue
        node = node_of(hint)
        inner = node.inner if isinstance(node, OptionalNode) else node
        if bit.number in fields:
            raise NotAWireType(f"{cls.__name__}.{name} has the number of {fields[bit.number].name}")
        fields[bit.number] = AttributeField(bit.number, name, inner, bit)
    return dict(sorted(fields.items()))


class AttributeMap(XdrType):
    """Attributes by number: a subclass annotates each ``Annotated[X | None, Bit(n)] = None``; None is not there.

    `attrmask` is the bitmap: what the values say, unless it is given, and then it rules. Values without their bit are
    not sent; a bit without its value is sent as it is, which no reader can read. `rest` stands after the values.
    """

    __xdr_role__: t.ClassVar[str] = "attributes"
    attrmask: Mask = ()
    rest: bytes = b""

    def __init_subclass__(cls) -> None:
        cls.__init__ = _fill  # type: ignore[method-assign]  # the metaclass made one that sets all slots

    if not t.TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            # Only slots without a value come here: most attributes of most objects.
            if name.removeprefix("_lazy_") in type(self).__xdr_fields__:
                return
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def values(self) -> dict[str, t.Any]:
        """Name -> value of the attributes that are there, in the order of their numbers."""
        names = (field.name for field in attributes_of(type(self)).values())
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def changed(self, **changes: t.Any) -> t.Self:
        """A copy with some values changed, added, or removed (None); the bitmap follows them unless it is given."""
        numbers = {field.name: number for number, field in attributes_of(type(self)).items()}
        values = self.values() | {name: value for name, value in changes.items() if name in numbers}
        others = {name: value for name, value in changes.items() if name not in numbers}
        bits = set(bits_of(self.attrmask))
        for name in changes.keys() & numbers.keys():
            (bits.discard if changes[name] is None else bits.add)(numbers[name])
        kept = {"attrmask": mask_of(bits), "rest": self.rest}
        return type(self)(**(kept | others), **values)

    def parts(self) -> list[tuple[str, Node, t.Any]]:
        """(name, node, value) of the values; with the bitmap and the rest, where these say more than the values."""
        fields = attributes_of(type(self)).values()
        parts = [(field.name, field.node, getattr(self, field.name)) for field in fields]
        present = [part for part in parts if part[2] is not None]
        if self.attrmask != mask_of(
            field.number for field in fields if getattr(self, field.name) is not None
        ):
            present.insert(0, ("attrmask", _BITMAP, list(self.attrmask)))
        if self.rest:
            present.append(("rest", _BYTES, self.rest))
        return present

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, _, value in self.parts())
        return f"{type(self).__name__}({shown})"


def _fill(self: t.Any, attrmask: Mask | None = None, rest: bytes = b"", **values: t.Any) -> None:
    cls = type(self)
    known = cls.__xdr_fields__
    for name, value in values.items():
        if name not in known:
            raise TypeError(f"{cls.__name__} has no attribute {name!r}")
        if value is not None:
            setattr(self, name, value)
    if attrmask is None:
        numbers = attributes_of(cls).items()
        attrmask = mask_of(number for number, field in numbers if values.get(field.name) is not None)
    self.attrmask = tuple(attrmask)
    self.rest = rest
