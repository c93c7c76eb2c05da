# SPDX-License-Identifier: MIT
"""What is the same in every call of a procedure with a credential, worked out once."""

from __future__ import annotations

import struct
import typing as t
from collections.abc import Callable

from nfsclient.rpc.auth import Credential
from nfsclient.rpc.messages import RPC_VERSION
from nfsclient.rpc.program import Procedure
from nfsclient.rpc.security import Security
from nfsclient.xdr import Union, XdrType, fields_of, shape_of, source_of
from nfsclient.xdr.kinds import ArrayNode, ChoiceNode, LinkedListNode, OpaqueNode, StructNode, UnionNode

R = t.TypeVar("R", bound=XdrType)

_CALL_PREFIX = struct.Struct(">IIIII")
_KEPT = 1024
WORTH_IT = 48 << 10
"""Bulk data below this is copied with less effort than it takes to receive it apart."""
JOIN_BELOW = 32 << 10
"""Output up to this size is joined and sent at once; larger goes out as buffers, uncopied."""


class Plan(t.Generic[R]):
    """How a procedure is called with one credential: the encoded header, and the decoder of its results.

    `header` is the call from the message type up to the arguments. `unpack` is the compiled decoder, which
    finds a value at a position of `bytes`.
    """

    __slots__ = (
        "credential",
        "header",
        "is_plain",
        "prefix",
        "procedure",
        "security",
        "sends_bulk",
        "takes_rest",
        "unpack",
    )

    def __init__(self, procedure: Procedure[t.Any, R], credential: Credential) -> None:
        source_of(procedure.res)  # compiles it: before, `unpack_from` is only a stub
        prefix = _CALL_PREFIX.pack(0, RPC_VERSION, procedure.program, procedure.version, procedure.number)
        self.procedure = procedure
        self.credential = credential
        self.security = credential if isinstance(credential, Security) else None
        """What seals each call. Then `header` is of no use, and none of the fast paths is taken."""
        self.prefix = prefix
        """The call from the message type to the procedure number."""
        self.header = prefix + b"".join(credential.opaque())
        self.unpack: Callable[[bytes, int], tuple[R, int]] = procedure.res.unpack_from
        self.takes_rest = getattr(procedure.res, "takes_rest", False)
        """Whether `unpack` takes all bytes that there are, so that it must be given no more than one reply."""
        self.sends_bulk = carries_bulk(procedure.args)
        """Whether arguments may have bulk data, so that a large call is not joined before it is sent."""
        self.is_plain = not (procedure.bulk or procedure.bulk_of or self.security)
        """Whether no call is sealed, and no reply has bulk data. Else `is_in_steps` says it of each call."""

    def is_in_steps(self, args: XdrType) -> bool:
        """Whether the call is sealed, or its reply is to be received in place."""
        if self.security is not None:
            return True
        bulk = self.procedure.bulk_for(args)
        return bulk is not None and bulk.asked(args) >= WORTH_IT


def carries_bulk(cls: type[XdrType], seen: frozenset[type[XdrType]] = frozenset()) -> bool:
    """Whether values of a wire type may hold bulk data, so that their encoding is not to be joined."""
    if cls in seen:
        return False
    seen |= {cls}
    if issubclass(cls, Union):
        nodes = [arm.node for arm in shape_of(cls).arms]
    else:
        nodes = [field.node for field in fields_of(cls)]
    for node in nodes:
        element = node.element if isinstance(node, ArrayNode | LinkedListNode) else node
        if isinstance(element, ChoiceNode):
            if any(carries_bulk(alternative, seen) for alternative in element.table.classes.values()):
                return True
            continue
        if isinstance(element, OpaqueNode) and element.style == "bulk":
            return True
        if isinstance(element, StructNode | UnionNode) and carries_bulk(element.cls, seen):
            return True
    return False


class Plans:
    """The plans of a connection, by procedure and credential: most calls repeat them."""

    def __init__(self) -> None:
        self._made: dict[tuple[Procedure[t.Any, t.Any], Credential], Plan[t.Any]] = {}
        self._latest: dict[Procedure[t.Any, t.Any], Plan[t.Any]] = {}

    def plan(self, procedure: Procedure[t.Any, R], credential: Credential) -> Plan[R]:
        """The plan for calls of `procedure` by `credential`."""
        latest = self._latest.get(procedure)
        if latest is not None and latest.credential is credential:
            return latest
        key = (procedure, credential)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _KEPT:
                self._made.clear()
            made = self._made[key] = Plan(procedure, credential)
        self._latest[procedure] = made
        return made
