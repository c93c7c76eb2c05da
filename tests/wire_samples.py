# SPDX-License-Identifier: MIT
"""Values of wire types that are the same in every run: one for each arm of a union, with something in every field."""

from __future__ import annotations

import itertools
import typing as t

from nfsclient.xdr import AttributeMap, XdrEnum, XdrType, attributes_of, fields_of, shape_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    AttributesNode,
    BoolNode,
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

_MOST = 12
"""Samples of one type: a structure with several unions has many combinations."""


def samples(cls: type[XdrType]) -> list[t.Any]:
    """Up to `_MOST` values of `cls`, in which every arm of its unions occurs if their number allows."""
    if issubclass(cls, AttributeMap):
        fields = attributes_of(cls).values()
        return [
            cls(),
            *(cls(**{field.name: values_of(field.node)[0]}) for field in itertools.islice(fields, 2)),
        ]
    if cls.__xdr_role__ == "struct":  # type: ignore[attr-defined]
        return _structs(cls)
    switch, arms = shape_of(cls)
    made: list[t.Any] = []
    for arm in arms:
        # A default arm is a failure, if the switch is a status: 70 is STALE in every version.
        for value in arm.values or (70,):
            chosen = switch.node.cls(value) if isinstance(switch.node, EnumNode) else value
            chosen = bool(value) if isinstance(switch.node, BoolNode) else chosen
            if arm.name is None or arm.node is None:
                made.append(cls(**{switch.name: chosen}))
            else:
                made += [cls(**{switch.name: chosen, arm.name: value}) for value in values_of(arm.node)]
    return made[:_MOST]


def _structs(cls: type[XdrType]) -> list[t.Any]:
    fields = {name: values_of(node) for name, node in fields_of(cls)}
    count = max([1, *(len(values) for values in fields.values())])
    return [
        cls(**{name: values[index % len(values)] for name, values in fields.items()})
        for index in range(count)
    ][:_MOST]


def values_of(node: Node) -> list[t.Any]:  # noqa: PLR0911  (one case a kind)
    """Samples of a field."""
    match node:
        case IntNode():
            return [3]
        case BoolNode():
            return [True, False]
        case EnumNode(cls):
            return list(t.cast("type[XdrEnum]", cls))[:_MOST]
        case FixedOpaqueNode(length):
            return [bytes(range(1, length + 1))]
        case OpaqueNode():
            return [b"seven@7"]
        case OptionalNode(inner):
            return [*values_of(inner), None]
        case FixedArrayNode(element, length):
            return [[values_of(element)[0]] * length]
        case ArrayNode(element) | LinkedListNode(element):
            return [[value] for value in values_of(element)] + [[]]
        case StructNode(cls) | UnionNode(cls) | AttributesNode(cls):
            return samples(cls)
        case _:
            return [sample for cls in node.table.classes.values() for sample in samples(cls)]
