# SPDX-License-Identifier: MIT
"""The base classes of wire types: `Struct`, `Union`, `XdrEnum`.

A declaration is a class whose annotations are the fields, in the order of the RFC. The metaclass makes it
a slotted class with an `__init__`; encoder and decoder are compiled on first use, because an annotation may
name a class that is declared further down, or the class itself.
"""

from __future__ import annotations

import enum
import typing as t
from collections.abc import Callable

from nfsclient.compiled import code_of
from nfsclient.xdr.kinds import (
    UNLIMITED,
    Buffer,
    Case,
    Default,
    IntNode,
    Node,
    NotAWireType,
    OpaqueNode,
    OptionalNode,
    StructNode,
    node_of,
)


class XdrEnum(enum.IntEnum):
    """A signed 32-bit enumeration (RFC 4506 section 4.3) that keeps values it does not know.

    An unknown value off the wire becomes a member-like object of the same class, named ``UNKNOWN_<n>`` (n is unsigned),
    with `is_known` False: whether such a value is an error is for the caller to judge, not for the codec.
    """

    __xdr_role__ = "enum"

    @classmethod
    def _missing_(cls, value: object) -> t.Self | None:
        if not isinstance(value, int) or not -(2**31) <= value < 2**31:
            return None
        unknown = int.__new__(cls, value)
        unknown._name_ = f"UNKNOWN_{value & 0xFFFF_FFFF}"
        unknown._value_ = value
        return unknown

    @property
    def is_known(self) -> bool:
        """Whether the RFC defines this value."""
        return self._value_ in type(self)._value2member_map_

    def __str__(self) -> str:
        return self._name_


class Field(t.NamedTuple):
    """One field of a `Struct`, resolved."""

    name: str
    node: Node


class Arm(t.NamedTuple):
    """One arm of a `Union`: `node` None is void; `values` None is the default arm."""

    values: tuple[int, ...] | None
    name: str | None
    node: Node | None


class UnionShape(t.NamedTuple):
    """A `Union`, resolved: the discriminant and the arms, the default arm (if any) last."""

    discriminant: Field
    arms: tuple[Arm, ...]

    def arm_for(self, value: int) -> Arm | None:
        """The arm that `value` selects; None when the value is not legal here."""
        for arm in self.arms:
            if arm.values is None or value in arm.values:
                return arm
        return None


_MISSING = object()


def _make_init(
    name: str, fields: tuple[str, ...], defaults: dict[str, object], lazy: tuple[str, ...]
) -> t.Any:
    """`__init__` with the fields as parameters. A list given as a default is copied for each object."""
    slots = {field: f"_lazy_{field}" for field in lazy}
    parameters = [f"{field}=_d_{field}" if field in defaults else field for field in fields]
    body = [
        f"    self.{slots.get(field, field)} = {field}.copy() if {field} is _d_{field} else {field}"
        if isinstance(defaults.get(field), list)
        else f"    self.{slots.get(field, field)} = {field}"
        for field in fields
    ] or ["    pass"]
    source = f"def __init__(self{''.join(', ' + p for p in parameters)}):\n" + "\n".join(body)
    namespace: dict[str, t.Any] = {f"_d_{field}": value for field, value in defaults.items()}
    # Field names are identifiers of a class body.
    exec(code_of(source, f"<xdr {name}.__init__>"), namespace)  # noqa: S102
    return namespace["__init__"]


@t.dataclass_transform()
class XdrMeta(type):
    """Makes a class body with annotations into a slotted wire type."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, t.Any]) -> XdrMeta:
        annotations: dict[str, t.Any] = namespace.get("__annotations__", {})
        own = tuple(field for field in annotations if not field.startswith("__"))
        inherited: tuple[str, ...] = ()
        defaults: dict[str, object] = {}
        for base in bases:
            inherited += getattr(base, "__xdr_fields__", ())
            defaults |= getattr(base, "__xdr_defaults__", {})
        for field in own:
            value = namespace.pop(field, _MISSING)
            if value is not _MISSING:
                defaults[field] = value
        fields = inherited + own
        lazy = tuple(field for field in own if "Lazy()" in str(annotations[field]))
        for base in bases:
            lazy = getattr(base, "__xdr_lazy__", ()) + lazy
        namespace["__slots__"] = tuple(f"_lazy_{field}" if field in lazy else field for field in own)
        namespace["__xdr_fields__"] = namespace["__match_args__"] = fields
        namespace["__xdr_defaults__"] = defaults
        namespace["__xdr_lazy__"] = lazy
        namespace["__init__"] = _make_init(name, fields, defaults, lazy)
        if bases:
            namespace |= {name: stub for name, stub in STUBS.items() if name not in namespace}
        cls = super().__new__(mcs, name, bases, namespace)
        for field in lazy:
            if field in own:
                _add_lazy_property(cls, field)
        return cls


_LAZY_PROPERTY = """
def read(self):
    value = self.{slot}
    if type(value) is bytes:
        self.{slot} = value = decode(value)
    return value

def write(self, value):
    self.{slot} = value
"""


def _add_lazy_property(cls: type[t.Any], name: str) -> None:
    """Let `name` give the value of a `Lazy` field: raw bytes in the slot until it is first read."""
    namespace: dict[str, t.Any] = {}

    def first_decode(data: bytes) -> object:
        node = node_of(t.get_type_hints(cls, include_extras=True)[name])
        inner = node.inner if isinstance(node, OptionalNode) else node
        assert isinstance(inner, StructNode)
        value = inner.cls.from_xdr(data)  # which compiles it
        namespace["decode"] = inner.cls.from_xdr
        return value

    namespace["decode"] = first_decode
    source = _LAZY_PROPERTY.format(slot=f"_lazy_{name}")
    exec(compile(source, f"<xdr lazy {name}>", "exec"), namespace)  # noqa: S102  (name is of a class body)
    setattr(cls, name, property(namespace["read"], namespace["write"]))


Install: t.TypeAlias = Callable[[type[t.Any]], None]
_compilers: list[Install] = []


def compile_by(install: Install) -> None:
    """Let `install` replace the stubs of a class when it is first used. The compiler says so: it knows this module."""
    _compilers[:] = [install]


def _compile(cls: type[t.Any]) -> None:
    (install,) = _compilers
    install(cls)


def _first_unpack(cls: type[t.Any], buf: Buffer, pos: int = 0) -> tuple[t.Any, int]:
    _compile(cls)
    return t.cast("tuple[t.Any, int]", cls.unpack_from(buf, pos))


def _first_from_xdr(cls: type[t.Any], buf: Buffer) -> t.Any:
    _compile(cls)
    return cls.from_xdr(buf)


def _first_pack(self: t.Any, out: list[Buffer]) -> None:
    _compile(type(self))
    self.pack(out)


STUBS: dict[str, t.Any] = {
    "from_xdr": classmethod(_first_from_xdr),
    "unpack_from": classmethod(_first_unpack),
    "pack": _first_pack,
}
"""Methods that the compiler replaces, unless the class defines them."""


class XdrType(metaclass=XdrMeta):
    """What `Struct` and `Union` share. Objects are treated as immutable; `replace` makes a changed copy."""

    __xdr_fields__: t.ClassVar[tuple[str, ...]]
    __xdr_defaults__: t.ClassVar[dict[str, object]]
    __xdr_lazy__: t.ClassVar[tuple[str, ...]]
    __xdr_source__: t.ClassVar[str]
    """The generated source of encoder and decoder, once compiled."""

    if t.TYPE_CHECKING:

        @classmethod
        def from_xdr(cls, buf: Buffer) -> t.Self:
            """Decode a value that fills `buf` exactly. Raises `XdrError` with the path at fault."""
            ...

        @classmethod
        def unpack_from(cls, buf: Buffer, pos: int = 0) -> tuple[t.Self, int]:
            """Decode one value at `pos` strictly; give it and the position after it. Raises `XdrError`."""
            ...

        def pack(self, out: list[Buffer]) -> None:
            """Append the encoding to `out` as buffers, bulk data uncopied. Raises `XdrError`."""
            ...

    def to_buffers(self) -> list[Buffer]:
        """The encoding as buffers for `sendmsg`. Raises `XdrError`."""
        out: list[Buffer] = []
        self.pack(out)
        return out

    def to_xdr(self) -> bytes:
        """The encoding as one bytes object (bulk data is copied here). Raises `XdrError`."""
        return b"".join(self.to_buffers())

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__xdr_fields__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__xdr_fields__)
        return f"{type(self).__name__}({shown})"


class Struct(XdrType):
    """A structure (RFC 4506 section 4.14): the annotated fields in the order of the RFC."""

    __xdr_role__: t.ClassVar[str] = "struct"


class Union(XdrType):
    """A discriminated union (RFC 4506 section 4.15): the first field is the discriminant, the rest are arms.

    An arm is annotated ``Annotated[T | None, Case(...)]`` or ``Annotated[T | None, Default()]`` and is None
    unless selected. Values that select void are listed in `__void__`; `__void_default__` lets every value
    that is not named select void. A value that nothing covers does not decode.
    """

    __xdr_role__: t.ClassVar[str] = "union"
    __void__: t.ClassVar[tuple[int, ...]] = ()
    __void_default__: t.ClassVar[bool] = False


class Unread(XdrType):
    """What a `Choice` with `keeps_rest` becomes for a number that its table does not have.

    Where its value ends is unknown, and so is everything after it: `rest` has all bytes of the message after the
    number, and it is the last element of its array. `following` says how many more elements the count of the array
    announced.
    """

    __xdr_role__: t.ClassVar[str] = "unread"
    number: int
    rest: bytes = b""
    following: int = 0

    def parts(self) -> list[tuple[str, Node, t.Any]]:
        """(name, node, value) as `parts_of` gives it."""
        number, rest = IntNode("I"), OpaqueNode(UNLIMITED, "opaque")
        return [
            ("number", number, self.number),
            ("rest", rest, self.rest),
            ("following", number, self.following),
        ]


class Void(Struct):
    """No data (RFC 4506 section 4.16): the arguments or results of a procedure that has none."""


_FIELDS: dict[type, tuple[Field, ...]] = {}
_SHAPES: dict[type, UnionShape] = {}


def _hints(cls: type[t.Any]) -> dict[str, t.Any]:
    hints = t.get_type_hints(cls, include_extras=True)
    return {name: hints[name] for name in cls.__xdr_fields__}


def fields_of(cls: type[XdrType]) -> tuple[Field, ...]:
    """The fields of a `Struct`, in wire order."""
    found = _FIELDS.get(cls)
    if found is None:
        found = _FIELDS[cls] = tuple(Field(name, node_of(hint)) for name, hint in _hints(cls).items())
    return found


def shape_of(cls: type[XdrType]) -> UnionShape:
    """Discriminant and arms of a `Union`."""
    found = _SHAPES.get(cls)
    if found is None:
        found = _SHAPES[cls] = _resolve_union(cls)
    return found


def _resolve_union(cls: t.Any) -> UnionShape:
    (switch, switch_hint), *rest = _hints(cls).items()
    arms: list[Arm] = []
    default: Arm | None = Arm(None, None, None) if cls.__void_default__ else None
    for name, hint in rest:
        node = node_of(hint)
        inner = node.inner if isinstance(node, OptionalNode) else node
        selector = next((kind for kind in t.get_args(hint) if isinstance(kind, Case | Default)), None)
        match selector:
            case Case(values):
                arms.append(Arm(tuple(int(value) for value in values), name, inner))
            case Default():
                default = Arm(None, name, inner)
            case _:
                raise NotAWireType(f"{cls.__name__}.{name} is an arm without Case or Default")
    if cls.__void__:
        arms.append(Arm(tuple(int(value) for value in cls.__void__), None, None))
    if default is not None:
        arms.append(default)
    return UnionShape(Field(switch, node_of(switch_hint)), tuple(arms))


def parts_of(value: XdrType) -> list[tuple[str, Node, t.Any]]:
    """(name, node, value) of what `value` has: of a union the discriminant and the arm that it selects."""
    role = t.cast("t.Any", type(value)).__xdr_role__
    if role == "struct":
        return [(name, node, getattr(value, name)) for name, node in fields_of(type(value))]
    if role != "union":
        return t.cast("t.Any", value).parts()  # type: ignore[no-any-return]
    shape = shape_of(type(value))
    chosen = getattr(value, shape.discriminant.name)
    arm = shape.arm_for(int(chosen))
    parts: list[tuple[str, Node, t.Any]] = [(shape.discriminant.name, shape.discriminant.node, chosen)]
    if arm is not None and arm.name is not None and arm.node is not None:
        parts.append((arm.name, arm.node, getattr(value, arm.name)))
    return parts


T = t.TypeVar("T", bound=XdrType)


def replace(value: T, /, **changes: object) -> T:
    """A copy of `value` with some fields changed."""
    changed = getattr(value, "changed", None)
    if changed is not None:
        return t.cast("T", changed(**changes))
    fields = {name: getattr(value, name) for name in value.__xdr_fields__} | changes
    return type(value)(**fields)
