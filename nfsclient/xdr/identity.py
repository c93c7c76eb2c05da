# SPDX-License-Identifier: MIT
"""Which fields of wire types name machines, people or products, as `Identity` in their declarations says."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Iterator

from nfsclient.xdr.attributes import AttributeMap, attributes_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    AttributesNode,
    ChoiceNode,
    FixedArrayNode,
    IdentityKind,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
    StructNode,
    UnionNode,
)
from nfsclient.xdr.reflect import Named, identities
from nfsclient.xdr.types import XdrType, fields_of, shape_of

__all__ = ["IdentityKind", "Named", "OctetsField", "identities", "names_anybody", "octets_in"]


class OctetsField(t.NamedTuple):
    """A field of a string, or of bytes of variable length."""

    owner: type[XdrType]
    name: str
    node: OpaqueNode


def octets_in(roots: Iterable[type[XdrType]]) -> Iterator[OctetsField]:
    """The strings and bytes of variable length in these types and in all that they contain, each once."""
    waiting, known = list(roots), set[type]()
    while waiting:
        cls = waiting.pop()
        if cls in known:
            continue
        known.add(cls)
        for name, node in _parts(cls):
            inner = _innermost(node)
            if isinstance(inner, OpaqueNode):
                yield OctetsField(cls, name, inner)
            elif isinstance(inner, ChoiceNode):
                waiting += inner.table.classes.values()
            elif isinstance(inner, StructNode | UnionNode | AttributesNode):
                waiting.append(inner.cls)


_NAMES: dict[type, bool] = {}


def names_anybody(cls: type[XdrType]) -> bool:
    """Whether a type has a field that names somebody, however deep."""
    known = _NAMES.get(cls)
    if known is None:
        known = _NAMES[cls] = any(field.node.identity for field in octets_in([cls]))
    return known


def _parts(cls: t.Any) -> Iterator[tuple[str, Node]]:
    """The fields of a type: of a union all arms, of a map all attributes."""
    if issubclass(cls, AttributeMap):
        yield from ((field.name, field.node) for field in attributes_of(cls).values())
    elif cls.__xdr_role__ == "struct":
        yield from fields_of(cls)
    elif cls.__xdr_role__ == "union":
        yield from ((arm.name, arm.node) for arm in shape_of(cls).arms if arm.name and arm.node)


def _innermost(node: Node) -> Node:
    while True:
        match node:
            case OptionalNode(inner):
                node = inner
            case ArrayNode(element) | FixedArrayNode(element) | LinkedListNode(element):
                node = element
            case _:
                return node
