# SPDX-License-Identifier: MIT
"""What a server gave in the replies of a check, and by which expression a script has it."""

from __future__ import annotations

import typing as t
from collections.abc import Callable, Iterator, Mapping

from nfsclient.rpc.exchange import Exchange
from nfsclient.xdr import AttributeMap, XdrType, parts_of
from nfsclient.xdr.kinds import (
    ArrayNode,
    FixedArrayNode,
    FixedOpaqueNode,
    IntNode,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
)

_LONGEST_GIVEN = 128
"""Bytes of the longest handle: longer opaque values are data."""
_SHORTEST_IN_BYTES = 8
CLIENTIDS: t.Final = frozenset({"clientid", "eir_clientid", "csa_clientid", "dca_clientid"})
"""Fields for what a server of NFSv4 calls a client."""
CHANGING: t.Final = frozenset(
    {
        "change",
        "fileid",
        "fsid",
        "mounted_on_fileid",
        "time_access",
        "time_create",
        "time_metadata",
        "time_modify",
    }
)
"""Attributes of NFSv4 whose values are the server's own: VERIFY and NVERIFY send them back."""
_NEAR = 16
"""How far from the sequence id of EXCHANGE_ID one of CREATE_SESSION is that a check has counted from it."""


class Given:
    """What the server has given so far, and by which expression a script has it."""

    def __init__(self, roots: Mapping[int, bytes | None], put: Callable[[str], None]) -> None:
        self._roots = roots
        self._put = put
        self._places: dict[object, tuple[str, str]] = {}
        """A value -> (variable of the reply, path in it) where it stood first."""
        self._variables: dict[object, str] = {}
        self._sequences: dict[int, int] = {}
        """Client id -> the sequence id that EXCHANGE_ID named last (RFC 5661 section 18.35)."""
        self.version = 3
        """Of NFS, for which the handle of the root is wanted where both versions have the same."""

    def learn(self, exchange: Exchange, variable: str) -> None:
        """Note what is in a reply."""
        if isinstance(exchange.result, XdrType):
            for path, key in given_in(exchange.result, ""):
                if isinstance(key, tuple) and key[0] == "attribute":
                    self._places[key] = variable, path
                    self._variables.pop(key, None)
                else:
                    self._places.setdefault(key, (variable, path))
                if isinstance(key, tuple) and key[0] == "eir_sequenceid":
                    self._sequences[key[1]] = key[2]

    def in_bytes(self) -> list[bytes]:
        """What may be found in bare bytes."""
        known = [*self._roots.values(), *self._places]
        return [
            value
            for value in known
            if isinstance(value, bytes) and len(value) >= _SHORTEST_IN_BYTES and any(value)
        ]

    def expression(self, value: bytes) -> str | None:
        """A handle or a verifier; None for one that was not given."""
        for version in (self.version, *self._roots):
            if value == self._roots.get(version):
                variable = f"root{version}"
                if variable not in self._variables:
                    self._variables[variable] = variable
                    self._put(f"{variable} = replay.root({version})")
                return variable
        return self._variable(value, value)

    def of_cookie(self, value: int) -> str | None:
        """The same for a cookie."""
        return self._variable(("cookie", value), value)

    def of_time(self, value: XdrType) -> str | None:
        """The same for a time."""
        return self._variable(key_of_time(value), None)

    def of_clientid(self, value: int) -> str | None:
        """The same for a client id."""
        return self._variable(("clientid", value), value)

    def of_sequence(self, clientid: int, value: int) -> str | None:
        """The same for the sequence id of a CREATE_SESSION, which a check may have counted up."""
        first = self._sequences.get(clientid, value + _NEAR)
        if abs(value - first) >= _NEAR:
            return None
        variable = self._variable(("eir_sequenceid", clientid, first), first)
        return variable if variable is None or value == first else f"{variable} + {value - first}"

    def of_attribute(self, name: str, value: object, literal: str) -> str | None:
        """The same for an attribute; `literal` constructs the recorded one."""
        return self._variable(key_of_attribute(name, value), None, literal)

    def has(self, value: bytes) -> bool:
        """Whether a reply gave these bytes."""
        return value in self._places

    def is_replaced(self, value: bytes) -> bool:
        """Whether the script uses a variable in place of a value."""
        return value in self._variables

    def stands_for(self, value: bytes, variable: str) -> None:
        """A variable has what the script uses in place of a value that no reply gave."""
        self._variables[value] = variable

    def _variable(self, key: object, recorded: object, literal: str = "") -> str | None:
        if key not in self._variables:
            if key not in self._places:
                return None
            name = self._variables[key] = f"g{len(self._variables) + 1}"
            reply, path = self._places[key]
            if not literal:
                literal = literal_of(recorded) if isinstance(recorded, bytes) else ascii(recorded)
            self._put(f"{name} = replay.take({reply}, {path!a}, {literal})")
        return self._variables[key]


def is_given(node: Node, value: bytes) -> bool:
    """Whether a value is of the kinds that a server gives: a handle, a verifier, a cookie of NFSv2."""
    if not any(value):
        return False
    if isinstance(node, FixedOpaqueNode):
        return True
    return isinstance(node, OpaqueNode) and node.style == "opaque" and node.maximum <= _LONGEST_GIVEN


def given_in(value: XdrType, prefix: str) -> Iterator[tuple[str, object]]:
    """(path, key) of what a reply gives that a later call may have to send back."""
    parts = parts_of(value)
    for name, node, part in parts:
        if name in CHANGING and isinstance(value, AttributeMap):
            yield f"{prefix}{name}", key_of_attribute(name, part)
        elif name == "eir_sequenceid":
            clientid = next(each for other, _, each in parts if other == "eir_clientid")
            yield f"{prefix}{name}", (name, clientid, part)
        yield from _given_at(f"{prefix}{name}", name, node, part)


def _given_at(path: str, name: str, node: Node, value: t.Any) -> Iterator[tuple[str, object]]:
    if isinstance(node, OptionalNode):
        node = node.inner
    if value is None:
        return
    if isinstance(value, XdrType):
        if type(value).__xdr_fields__ in {("seconds", "nseconds"), ("seconds", "useconds")}:
            yield path, key_of_time(value)
        else:
            yield from given_in(value, f"{path}.")
    elif isinstance(value, list) and isinstance(node, ArrayNode | FixedArrayNode | LinkedListNode):
        for index, item in enumerate(value):
            yield from _given_at(f"{path}[{index}]", name, node.element, item)
    elif isinstance(node, OpaqueNode | FixedOpaqueNode) and is_given(node, bytes(value)):
        yield path, bytes(value)
    elif name == "cookie" and isinstance(node, IntNode) and value:
        yield path, ("cookie", int(value))
    elif name in CLIENTIDS and isinstance(node, IntNode) and value:
        yield path, ("clientid", int(value))


def key_of_attribute(name: str, value: object) -> tuple[object, ...]:
    return "attribute", name, repr(value)


def key_of_time(value: XdrType) -> tuple[object, ...]:
    return ("time", *(getattr(value, name) for name in value.__xdr_fields__))


def literal_of(data: bytes) -> str:
    """Bytes as an expression; what repeats itself is written shorter."""
    if len(data) > 64:
        for period in (1, 2, 4, 8, 16, 64, 251, 256):
            times = len(data) // period
            if times > 2 and data[:period] * times == data[: period * times]:
                rest = data[period * times :]
                return f"{data[:period]!r} * {times}" + (f" + {rest!r}" if rest else "")
    text = repr(data)
    return text if len(text) <= 2 * len(data) + 20 else f"bytes.fromhex({data.hex()!r})"
