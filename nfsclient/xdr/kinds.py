# SPDX-License-Identifier: MIT
"""What a field of a wire type can be, and how an annotation says so (XDR, RFC 4506 section 4).

An annotation such as ``Annotated[bytes, Opaque(64)]`` carries a *kind*; `node_of` turns the annotation
into a `Node`, the small tree that every derived tool walks: the compilers, the reflective codec, the
printer, the malformer and the Hypothesis strategies.
"""

from __future__ import annotations

import types
import typing as t
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Buffer: t.TypeAlias = bytes | bytearray | memoryview

UNLIMITED = 0xFFFF_FFFF
"""The largest length in XDR, and the limit of a type without a declared one (RFC 4506 section 4.10)."""


# ---------------------------------------------------------------- kinds: what users write into annotations


@dataclass(frozen=True, slots=True)
class Int:
    """A fixed-width integer; `code` is its `struct` letter, big-endian on the wire."""

    code: str


@dataclass(frozen=True, slots=True)
class FixedOpaque:
    """``opaque name[length]`` (RFC 4506 section 4.9)."""

    length: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """``opaque name<maximum>`` (RFC 4506 section 4.10)."""

    maximum: int = UNLIMITED


@dataclass(frozen=True, slots=True)
class String:
    """``string name<maximum>`` (RFC 4506 section 4.11). Bytes in Python: NFS names are bytes."""

    maximum: int = UNLIMITED


@dataclass(frozen=True, slots=True)
class Bulk:
    """Variable opaque that is never copied: any buffer when encoding, a `memoryview` when decoded."""

    maximum: int = UNLIMITED


@dataclass(frozen=True, slots=True)
class FixedArray:
    """``type name[length]`` (RFC 4506 section 4.12)."""

    length: int


BitNames: t.TypeAlias = "Callable[[Iterable[int]], list[str]]"
"""From the words of a bitmap to the names of the bits that are set."""


@dataclass(frozen=True, slots=True)
class Array:
    """``type name<maximum>`` (RFC 4506 section 4.13)."""

    maximum: int = UNLIMITED
    bits: BitNames | None = None
    """Of the words of a bitmap: what people call the bits that are set."""


@dataclass(frozen=True, slots=True)
class LinkedList:
    """A chain of optional-data (RFC 4506 section 4.19): a Python list, whose element has no `next` field."""

    maximum: int = UNLIMITED


@dataclass(frozen=True, slots=True, init=False)
class Case:
    """The discriminant values that select this arm of a union (RFC 4506 section 4.15)."""

    values: tuple[int, ...]

    def __init__(self, *values: int) -> None:
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, slots=True)
class Default:
    """Marks the arm of a union for every value that no `Case` names."""


@dataclass(frozen=True, slots=True)
class Lazy:
    """Decode this fixed-width structure, which may be optional, when it is first read.

    Only for structures in which every bit pattern is legal (integers and enums), so that putting the
    work off takes nothing from strictness. Worth it where many are decoded that nobody looks at. It must
    be written at the field, not hidden after an alias.
    """


IdentityKind: t.TypeAlias = t.Literal["host", "address", "principal", "client", "product", "path", "body"]
"""What a field names: a machine; where one is reached; a person or group; a client, or an owner of its state; a program
and its vendor; a directory of a server. A body is an encoded structure that may have such names in it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """This string or opaque names a machine, a person or a product: archives mask it, the codec does not care.

    ``Annotated[bytes, Opaque(1024), Identity("host")]``. An alias that carries it marks the elements of a list.
    """

    what: IdentityKind


class ChoiceTable:
    """The alternatives of a `Choice`: a class for each number, and the name that people know it by.

    A value is an object of one of the classes, which tells its number: no class can stand for two numbers.
    """

    __slots__ = ("classes", "names", "numbers", "words")

    def __init__(self, alternatives: Mapping[int, tuple[str, type[t.Any]]]) -> None:
        self.names = {number: name for number, (name, _) in alternatives.items()}
        self.classes = {number: cls for number, (_, cls) in alternatives.items()}
        self.numbers = {cls: number for number, cls in self.classes.items()}
        self.words = {cls: number.to_bytes(4, "big") for cls, number in self.numbers.items()}
        if len(self.numbers) != len(self.classes):
            raise NotAWireType("a class stands for two numbers of a choice")


@dataclass(frozen=True, slots=True)
class Choice:
    """A number, and a value of the class that `table` has for it (an operation of a compound, with its arguments).

    On the wire it is a discriminated union; here the value is the object of the alternative itself. A union of 75
    arms would be one function of 19,000 lines. A number that is not in the table does not decode, unless `keeps_rest`:
    then it becomes an `Unread`, which has all bytes up to the end of the buffer, because nobody knows where the
    value ends.
    """

    table: ChoiceTable
    keeps_rest: bool = False


@dataclass(frozen=True, slots=True)
class Bit:
    """The number of an attribute of an `AttributeMap`. A protocol may derive from it what else it knows of each."""

    number: int


u32 = t.Annotated[int, Int("I")]
i32 = t.Annotated[int, Int("i")]
u64 = t.Annotated[int, Int("Q")]
i64 = t.Annotated[int, Int("q")]


# ---------------------------------------------------------------- nodes: what tools walk


@dataclass(frozen=True, slots=True)
class IntNode:
    """An integer of `size` bytes."""

    code: str

    @property
    def size(self) -> int:
        """Bytes on the wire."""
        return 4 if self.code in "Ii" else 8

    @property
    def bounds(self) -> tuple[int, int]:
        """Smallest and largest value."""
        bits = self.size * 8
        return (0, 2**bits - 1) if self.code.isupper() else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@dataclass(frozen=True, slots=True)
class BoolNode:
    """A boolean: the word 0 or 1."""


@dataclass(frozen=True, slots=True)
class EnumNode:
    """An `XdrEnum`."""

    cls: type[t.Any]


@dataclass(frozen=True, slots=True)
class FixedOpaqueNode:
    """Bytes whose number the type says."""

    length: int


@dataclass(frozen=True, slots=True)
class OpaqueNode:
    """Bytes with a length word in front."""

    maximum: int
    style: t.Literal["opaque", "string", "bulk"]
    identity: IdentityKind | None = None
    """As of `Identity`. No codec looks at it."""


@dataclass(frozen=True, slots=True)
class FixedArrayNode:
    """Elements whose number the type says."""

    element: Node
    length: int


@dataclass(frozen=True, slots=True)
class ArrayNode:
    """Elements with a count in front."""

    element: Node
    maximum: int
    bits: BitNames | None = None
    """As of `Array`."""


@dataclass(frozen=True, slots=True)
class OptionalNode:
    """A flag, and the value if it is there."""

    inner: Node
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class LinkedListNode:
    """Elements with a flag in front of each and after the last."""

    element: Node
    maximum: int


@dataclass(frozen=True, slots=True)
class StructNode:
    """A `Struct`."""

    cls: type[t.Any]
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class UnionNode:
    """A `Union`."""

    cls: type[t.Any]


@dataclass(frozen=True, slots=True)
class ChoiceNode:
    """A number, and a value of the class that it stands for."""

    table: ChoiceTable
    keeps_rest: bool


@dataclass(frozen=True, slots=True)
class AttributesNode:
    """An `AttributeMap`."""

    cls: type[t.Any]


Node: t.TypeAlias = (
    IntNode
    | BoolNode
    | EnumNode
    | FixedOpaqueNode
    | OpaqueNode
    | FixedArrayNode
    | ArrayNode
    | OptionalNode
    | LinkedListNode
    | StructNode
    | UnionNode
    | ChoiceNode
    | AttributesNode
)


class NotAWireType(TypeError):
    """An annotation that says no XDR type: an error of the declaration, found on first use."""


_OPAQUE_STYLES: dict[type, t.Literal["opaque", "string", "bulk"]] = {
    Opaque: "opaque",
    String: "string",
    Bulk: "bulk",
}


def node_of(annotation: t.Any) -> Node:
    """The node that an annotation declares. Raises `NotAWireType` with the annotation in its text."""
    if t.get_origin(annotation) is t.Annotated:
        base, *metadata = t.get_args(annotation)
        made = (_node_of_kind(kind, base) for kind in metadata)
        node = next((node for node in made if node is not None), None) or node_of(base)
        for kind in metadata:
            node = _identifying(node, kind.what, annotation) if isinstance(kind, Identity) else node
        return _lazy(node, annotation) if any(isinstance(kind, Lazy) for kind in metadata) else node
    if t.get_origin(annotation) in (t.Union, types.UnionType):
        present = [arg for arg in t.get_args(annotation) if arg is not type(None)]
        if len(present) == 1:
            return OptionalNode(node_of(present[0]))
    if annotation is bool:
        return BoolNode()
    role = getattr(annotation, "__xdr_role__", None)
    if role == "enum":
        return EnumNode(annotation)
    if role == "struct":
        return StructNode(annotation)
    if role == "union":
        return UnionNode(annotation)
    if role == "attributes":
        return AttributesNode(annotation)
    raise NotAWireType(
        f"{annotation!r} names no XDR type; annotate with a kind of nfsclient.xdr, such as u32 or Opaque(64)"
    )


def _identifying(node: Node, what: IdentityKind, annotation: t.Any) -> Node:
    match node:
        case OpaqueNode(maximum, style):
            return OpaqueNode(maximum, style, what)
        case OptionalNode(OpaqueNode() as inner, lazy):
            return OptionalNode(_identifying(inner, what, annotation), lazy)
        case _:
            raise NotAWireType(
                f"{annotation!r}: only a string, or bytes of variable length, can be an Identity"
            )


def _lazy(node: Node, annotation: t.Any) -> Node:
    match node:
        case OptionalNode(StructNode() as inner):
            return OptionalNode(inner, lazy=True)
        case StructNode(cls):
            return StructNode(cls, lazy=True)
        case _:
            raise NotAWireType(f"{annotation!r}: only a structure, or an optional one, can be Lazy")


def _node_of_kind(kind: object, base: t.Any) -> Node | None:
    match kind:
        case Int(code):
            return IntNode(code)
        case FixedOpaque(length):
            return FixedOpaqueNode(length)
        case Opaque(maximum) | String(maximum) | Bulk(maximum):
            return OpaqueNode(maximum, _OPAQUE_STYLES[type(kind)])
        case FixedArray(length):
            return FixedArrayNode(node_of(_element(base)), length)
        case Array(maximum, bits):
            return ArrayNode(node_of(_element(base)), maximum, bits)
        case LinkedList(maximum):
            return LinkedListNode(node_of(_element(base)), maximum)
        case Choice(table, keeps_rest):
            return ChoiceNode(table, keeps_rest)
        case _:
            return None


def _element(annotation: t.Any) -> t.Any:
    """X of ``list[X]``, also of ``list[X] | None`` (an arm of a union is written so)."""
    if t.get_origin(annotation) in (t.Union, types.UnionType):
        annotation = next(arg for arg in t.get_args(annotation) if arg is not type(None))
    (element,) = t.get_args(annotation)
    return element
