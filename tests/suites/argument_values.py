# SPDX-License-Identifier: MIT
"""Which values the arguments of calls had, field by field: read from the bytes that a server received.

The fields come from the wire types, so an operation that is added is measured as well. A `Gap` is what no call had:

=============  ======================================================================================================
field          what is wanted
=============  ======================================================================================================
any            two different values
optional, bit  there once, and not there once
enumeration    each of its values, and one that it does not have
union          each arm (its discriminant is an enumeration)
flags          each bit of `FLAGS` set and not set, and a bit that is not defined
bitmap         an attribute that nobody knows
attributes     each that the operation may be about, there and not there, with two different values
=============  ======================================================================================================
"""

from __future__ import annotations

import typing as t
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nfsclient.errors import UnknownArm, XdrError
from nfsclient.protocol import mount, nfs3, nfs4, portmap, rpcbind, snfs
from nfsclient.protocol.nfs2 import NFS2
from nfsclient.protocol.nfs3 import NFS3
from nfsclient.rpc.messages import CallHeader, MsgType
from nfsclient.rpc.program import AnyOperation, Program
from nfsclient.xdr import (
    String,
    Struct,
    Union,
    Unread,
    XdrEnum,
    XdrType,
    attributes_of,
    bits_of,
    fields_of,
    parts_of,
    shape_of,
    u32,
)
from nfsclient.xdr.kinds import (
    ArrayNode,
    AttributesNode,
    BoolNode,
    ChoiceNode,
    EnumNode,
    FixedArrayNode,
    IntNode,
    LinkedListNode,
    Node,
    OptionalNode,
    StructNode,
    UnionNode,
)

PROGRAMS: t.Final[tuple[Program, ...]] = (
    NFS2,
    NFS3,
    nfs4.NFS4,
    mount.MOUNT1,
    mount.MOUNT3,
    portmap.PORTMAP2,
    rpcbind.RPCBIND3,
    rpcbind.RPCBIND4,
    Program(
        snfs.PROGRAM,
        snfs.VERSION,
        snfs.SNFS.name,
        tuple(each for each in snfs.SNFS.procedures if each.number not in NFS2.by_number),
    ),
)
"""MOUNT 2 is MOUNT 1 with one procedure more (RFC 1094 appendix A). Of SNFS, what NFSv2 does not have."""
FLAGS: t.Final[Mapping[str, tuple[str, ...]]] = {
    "NFS 3 ACCESS access": ("ACCESS3_",),
    "NFS 4 ACCESS access": ("ACCESS4_",),
    "NFS 4 OPEN share_access": ("OPEN4_SHARE_ACCESS_",),
    "NFS 4 OPEN share_deny": ("OPEN4_SHARE_DENY_",),
    "NFS 4 OPEN_DOWNGRADE share_access": ("OPEN4_SHARE_ACCESS_READ", "OPEN4_SHARE_ACCESS_WRITE"),
    "NFS 4 OPEN_DOWNGRADE share_deny": ("OPEN4_SHARE_DENY_",),
    "NFS 4 EXCHANGE_ID eia_flags": ("EXCHGID4_FLAG_",),
    "NFS 4 CREATE_SESSION csa_flags": ("CREATE_SESSION4_FLAG_",),
}
"""A field of flags -> how the names of its bits begin."""
_MOST_VALUES = 64


@dataclass(slots=True)
class Values:
    """What one field had."""

    different: set[object] = field(default_factory=set)
    """Values, no more than are needed to tell them apart; of long bytes their beginning and length."""
    is_set: int = 0
    """The bits that were set once; of a bitmap by their numbers."""
    is_clear: int = 0

    def add(self, value: object) -> None:
        if isinstance(value, bytes | bytearray | memoryview):
            value = (bytes(value[:16]), len(value))
        if len(self.different) < _MOST_VALUES:
            self.different.add(value)

    def add_bits(self, number: int, width: int) -> None:
        self.is_set |= number
        self.is_clear |= ~number & ((1 << width) - 1)


@dataclass(slots=True)
class Sent:
    """The values of all fields of all calls."""

    fields: dict[str, Values] = field(default_factory=lambda: defaultdict(Values))
    """By operation and path: `NFS 4 OPEN openhow.how.mode`."""
    calls: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """By operation."""

    def add_message(self, message: bytes) -> None:
        """A call as it stood on the wire; anything else is ignored."""
        try:
            header, at = CallHeader.unpack_from(message)
        except XdrError:
            return
        program = _BY_NUMBER.get((header.prog, header.vers))
        procedure = program.by_number.get(header.proc) if program is not None else None
        if procedure is None or header.mtype != MsgType.CALL:
            return
        arguments = memoryview(message)[at:]
        if procedure is nfs4.COMPOUND:
            self._add_compound(arguments)
        else:
            self._add_encoded(procedure, arguments, 0)

    def _add_compound(self, arguments: memoryview) -> None:
        """One operation after the other: what follows one that does not decode is not known."""
        try:
            tag, at = _Head.unpack_from(arguments)
        except XdrError:
            return
        self._add(COMPOUND, "tag", fields_of(_Head)[0].node, tag.tag)
        self._add(COMPOUND, "minorversion", fields_of(_Head)[1].node, tag.minorversion)
        for _ in range(min(tag.count, 4096)):
            number = int.from_bytes(arguments[at : at + 4], "big")
            cls = nfs4.ARGOPS.classes.get(number)
            if cls is None:
                return
            after = self._add_encoded(nfs4.BY_CLASS[cls], arguments, at + 4)
            if after is None:
                return
            at = after

    def _add_encoded(self, operation: AnyOperation, data: memoryview, at: int) -> int | None:
        name = name_of(operation)
        try:
            value, at = operation.args.unpack_from(data, at)
        except UnknownArm as error:
            self.fields[f"{name} {error.path.partition('.')[2]}"].add(_OUTSIDE)
            return None
        except XdrError:
            return None
        self.calls[name] += 1
        self._add_type(name, "", value)
        return at

    def _add_type(self, name: str, path: str, value: XdrType) -> None:
        for part, node, inner in parts_of(value):
            self._add(name, f"{path}.{part}" if path else part, node, inner)

    def _add(self, name: str, path: str, node: Node, value: t.Any) -> None:
        values = self.fields[f"{name} {path}"]
        match node:
            case ArrayNode(_, _, bits) if bits is not None:
                self._add_bitmap(values, value)
            case ArrayNode(element) | FixedArrayNode(element) | LinkedListNode(element):
                values.add(len(value))
                for item in value:
                    self._add(name, f"{path}[]", element, item)
            case OptionalNode(inner):
                values.add(_ABSENT if value is None else _PRESENT)
                if value is not None:
                    self._add(name, path, inner, value)
            case AttributesNode():
                bitmap = sum(1 << bit for bit in bits_of(value.attrmask))
                values.add_bits(bitmap, _ATTRIBUTES)
                self._add_type(name, path, value)
            case StructNode() | UnionNode() | ChoiceNode():
                if not isinstance(value, Unread):
                    self._add_type(name, path, value)
            case IntNode():
                values.add(value)
                values.add_bits(value & (1 << 64) - 1, node.size * 8)
            case _:
                values.add(value)

    def _add_bitmap(self, values: Values, words: list[int]) -> None:
        bitmap = sum(1 << bit for bit in bits_of(words))
        values.add(bitmap)
        values.add_bits(bitmap, _ATTRIBUTES)


_PRESENT, _ABSENT = "there", "not there"
_OUTSIDE: t.Final = "a value that the declaration does not have"
_ATTRIBUTES: t.Final = max(nfs4.ATTRIBUTES) + 1
COMPOUND: t.Final = "NFS 4 COMPOUND"


class _Head(Struct):
    """COMPOUND4args up to its operations."""

    tag: t.Annotated[bytes, String()]
    minorversion: u32
    count: u32


def name_of(operation: AnyOperation) -> str:
    """As `NFS 4 OPEN`."""
    return f"{_NAMES[operation.program, operation.version]} {operation.version} {operation.name}"


_NAMES: t.Final = {(program.number, program.version): program.name for program in PROGRAMS}
_BY_NUMBER: t.Final = {(program.number, program.version): program for program in PROGRAMS}


# ---------------------------------------------------------------- what no call had


def gaps(sent: Sent, supported: Iterable[int]) -> Iterator[str]:
    """What no call had, a line each: `NFS 4 OPEN openhow.how.mode: never EXCLUSIVE4`.

    `supported` has the attributes of the server that was tested: no check can be proved with others.
    """
    unsupported = {f".{attribute.name}: never {_PRESENT}" for attribute in nfs4.ATTRIBUTES.values()} - {
        f".{nfs4.ATTRIBUTES[number].name}: never {_PRESENT}" for number in supported
    }
    for gap in _all_gaps(sent):
        if not gap.endswith(tuple(unsupported)):
            yield gap


def _all_gaps(sent: Sent) -> Iterator[str]:
    for program in PROGRAMS:
        for operation in program.operations:
            name = name_of(operation)
            if operation is nfs4.COMPOUND:
                for field in ("tag", "minorversion"):
                    yield from _of_field(sent, f"{name} {field}", IntNode("I"), operation)
            elif not sent.calls[name]:
                yield f"{name}: never sent"
            else:
                yield from _of_type(sent, name, " ", operation.args, operation)


def _of_type(
    sent: Sent, name: str, join: str, cls: type[t.Any], operation: AnyOperation, depth: int = 0
) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if issubclass(cls, Union):
        shape = shape_of(cls)
        parts: list[tuple[str, Node]] = [shape.discriminant]
        parts += [(arm.name, arm.node) for arm in shape.arms if arm.name is not None and arm.node is not None]
    else:
        parts = [(field.name, field.node) for field in fields_of(cls)]
    for part, node in parts:
        yield from _of_field(
            sent, f"{name}{join}{part}", node, operation, depth, is_arm=issubclass(cls, Union)
        )


def _of_field(
    sent: Sent, path: str, node: Node, operation: AnyOperation, depth: int = 0, *, is_arm: bool = False
) -> Iterator[str]:
    if path not in sent.fields:
        if not is_arm:  # an arm that never came is a value of the discriminant
            yield f"{path}: never sent"
        return
    values = sent.fields[path]
    inner = node.inner if isinstance(node, OptionalNode) else node
    if isinstance(node, OptionalNode):
        for presence in {_PRESENT, _ABSENT} - values.different:
            yield f"{path}: never {presence}"
    match inner:
        case StructNode(cls) | UnionNode(cls):
            yield from _of_type(sent, path, ".", cls, operation, depth + 1)
        case AttributesNode():
            yield from _of_attributes(sent, path, inner, operation, depth)
        case EnumNode(cls):
            yield from _of_enumeration(path, values, cls)
        case ArrayNode(_, _, bits) if bits is not None:
            yield from _of_values(path, values)
            if not values.is_set >> _ATTRIBUTES:
                yield f"{path}: never a bit that no attribute has"
        case ArrayNode(element) | FixedArrayNode(element) | LinkedListNode(element):
            yield from _of_values(path, values)
            yield from _of_field(sent, f"{path}[]", element, operation, depth + 1, is_arm=True)
        case BoolNode() | IntNode():
            yield from _of_values(path, values)
            yield from _of_flags(path, values)
        case _:
            yield from _of_values(path, values)


def _of_values(path: str, values: Values) -> Iterator[str]:
    different = values.different - {_PRESENT, _ABSENT}
    if len(different) == 1:
        yield f"{path}: always {next(iter(different))!r}"
    elif not different and _PRESENT not in values.different and _ABSENT not in values.different:
        yield f"{path}: never sent"


def _of_enumeration(path: str, values: Values, cls: type[XdrEnum]) -> Iterator[str]:
    for member in cls:
        if member not in values.different:
            yield f"{path}: never {member.name}"
    if values.different <= {*cls, _PRESENT, _ABSENT}:
        yield f"{path}: never {_OUTSIDE}"


def _of_flags(path: str, values: Values) -> Iterator[str]:
    defined = flags_of(path)
    if not defined:
        return
    for name, bits in defined.items():
        if bits & ~values.is_set:
            yield f"{path}: never {name}"
        if bits & values.is_set and not bits & values.is_clear:
            yield f"{path}: never without {name}"
    if not values.is_set & ~_union(defined.values()):
        yield f"{path}: never a bit that is not defined"


def _union(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= number
    return found


def flags_of(path: str) -> dict[str, int]:
    """The names of the flags of a field, with their bits."""
    beginnings = FLAGS.get(path, ())
    modules = (nfs3, nfs4)
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if beginnings
        and name.startswith(beginnings)
        and isinstance(value, int)
        and value
        and "MASK" not in name
    }


def _of_attributes(
    sent: Sent, path: str, node: AttributesNode, operation: AnyOperation, depth: int
) -> Iterator[str]:
    values, compares = sent.fields[path], operation in (nfs4.VERIFY, nfs4.NVERIFY)
    for number, attribute in attributes_of(node.cls).items():
        about = nfs4.ATTRIBUTES[number].about
        if not (about.is_readable if compares else about.is_settable):
            continue
        where = f"{path}.{attribute.name}"
        if not values.is_set >> number & 1:
            yield f"{where}: never {_PRESENT}"
            continue
        if not values.is_clear >> number & 1:
            yield f"{where}: never {_ABSENT}"
        yield from _of_field(sent, where, attribute.node, operation, depth + 1)
    if not values.is_set >> _ATTRIBUTES:
        yield f"{path}: never a bit that no attribute has"


_DEEPEST: t.Final = 12
