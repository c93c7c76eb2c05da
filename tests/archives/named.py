# SPDX-License-Identifier: MIT
"""Messages of every protocol, each with a known name in one of the fields that `Identity` marks."""

from __future__ import annotations

import itertools
import struct
import typing as t
from collections.abc import Iterator

from nfsclient.protocol import mount, nfs2, nfs3, nfs4, portmap, rpcbind
from nfsclient.rpc.auth import AuthSys, AuthSysParms
from nfsclient.rpc.exchange import Exchange
from nfsclient.rpc.program import Procedure, Program
from nfsclient.xdr import AttributeMap, XdrType, attributes_of, fields_of, shape_of
from nfsclient.xdr.identity import IdentityKind, OctetsField, names_anybody, octets_in
from nfsclient.xdr.kinds import (
    ArrayNode,
    AttributesNode,
    ChoiceNode,
    EnumNode,
    FixedArrayNode,
    LinkedListNode,
    Node,
    OpaqueNode,
    OptionalNode,
    StructNode,
    UnionNode,
)
from tests.wire_samples import samples, values_of

MACHINE, PRODUCT, PERSON, DOMAIN = "acme-filer01", "AcmeStore-9000X", "margaret.hamilton", "corp.acme.example"
PLACE, DIRECTORY = "203.0.113.201", "/vol/payroll-2026"
PLACE_BYTES = bytes([203, 0, 113, 201])
NAMES = (MACHINE, PRODUCT, PERSON, DOMAIN, PLACE, DIRECTORY, "filer01", "AcmeStore", "hamilton")
PROGRAMS: tuple[Program, ...] = (
    *(nfs2.NFS2, nfs3.NFS3, mount.MOUNT1, mount.MOUNT2, mount.MOUNT3),
    *(portmap.PORTMAP2, rpcbind.RPCBIND3, rpcbind.RPCBIND4, nfs4.NFS4, nfs4.NFS4_CALLBACK),
)
_STRING = struct.pack(">I", len(MACHINE)) + MACHINE.encode()
_SOCKADDR = b"\x02\x00\x08\x01" + PLACE_BYTES + bytes(8)
_VALUES: dict[IdentityKind, bytes] = {
    "host": f"{MACHINE}_{PRODUCT}".encode(),
    "address": f"{PLACE}.8.1".encode(),
    "principal": f"{PERSON}@{DOMAIN}".encode(),
    "client": f"Linux NFSv4.1 {MACHINE}.{DOMAIN}".encode(),
    "product": PRODUCT.encode(),
    "path": DIRECTORY.encode(),
    "body": b"\0\0\0\x01" + _STRING,
}


def roots() -> list[type[XdrType]]:
    """What all procedures have as arguments and results, and what credentials have."""
    found = [
        cls
        for program in PROGRAMS
        for procedure in program.procedures
        for cls in (procedure.args, procedure.res)
    ]
    return [AuthSysParms, *found]


Variant: t.TypeAlias = tuple[frozenset[tuple[type[XdrType], str]], t.Any]
"""Which marked fields have a name in a value, and the value."""


def variants(cls: type[XdrType]) -> Iterator[Variant]:
    """Values of a type: each marked field has a name in one of them."""
    if issubclass(cls, AttributeMap):
        for attribute in attributes_of(cls).values():
            yield from (
                (found, cls(**{attribute.name: value}))
                for found, value in _of(cls, attribute.name, attribute.node)
            )
    elif cls.__xdr_role__ == "struct":  # type: ignore[attr-defined]
        plain = {name: values_of(node)[0] for name, node in fields_of(cls)}
        for name, node in fields_of(cls):
            yield from ((found, cls(**(plain | {name: value}))) for found, value in _of(cls, name, node))
    else:
        switch, arms = shape_of(cls)
        for arm in arms:
            if arm.name is None or arm.node is None:
                continue
            number = arm.values[0] if arm.values else 70
            chosen = switch.node.cls(number) if isinstance(switch.node, EnumNode) else number
            for found, value in _of(cls, arm.name, arm.node):
                yield found, cls(**{switch.name: chosen, arm.name: value})


def _of(cls: type[XdrType], name: str, node: Node) -> Iterator[Variant]:
    match node:
        case OpaqueNode(identity=None):
            return
        case OpaqueNode(style=style, identity=what):
            assert what is not None
            is_bytes = what == "address" and style == "opaque"
            yield frozenset({(cls, name)}), _SOCKADDR if is_bytes else _VALUES[what]
        case OptionalNode(inner):
            yield from _of(cls, name, inner)
        case FixedArrayNode(element, length):
            rest = [values_of(element)[0]] * (length - 1)
            yield from ((found, [value, *rest]) for found, value in _of(cls, name, element))
        case ArrayNode(element) | LinkedListNode(element):
            yield from ((found, [value]) for found, value in _of(cls, name, element))
        case StructNode(inner) | UnionNode(inner) | AttributesNode(inner):
            yield from variants(inner)
        case _:
            return


_XIDS = itertools.count(1)


def exchanges(procedure: Procedure[t.Any, t.Any]) -> Iterator[tuple[frozenset[t.Any], Exchange]]:
    """Exchanges of a procedure in which its arguments or results name somebody."""
    operations = _operations(procedure)
    if operations is None:
        for found, value in variants(procedure.args) if names_anybody(procedure.args) else ():
            yield found, _exchange(procedure, value, samples(procedure.res)[0])
        for found, value in variants(procedure.res) if names_anybody(procedure.res) else ():
            yield found, _exchange(procedure, samples(procedure.args)[0], value)
        return
    for args, res in operations:
        pairs = [(found, value, _plain(res)) for found, value in variants(args)]
        pairs += [(found, _plain(args), value) for found, value in variants(res)]
        for found, asked, given in pairs:
            yield found, _exchange(procedure, *_compound(procedure, asked, given))


def _operations(procedure: Procedure[t.Any, t.Any]) -> list[tuple[t.Any, t.Any]] | None:
    """Arguments and results of what a compound carries; None for what is no compound."""
    if procedure.steps is None:
        return None
    node = next(node.element for _, node in fields_of(procedure.args) if isinstance(node, ArrayNode))
    results = next(node.element for _, node in fields_of(procedure.res) if isinstance(node, ArrayNode))
    assert isinstance(node, ChoiceNode)
    assert isinstance(results, ChoiceNode)
    return [
        (node.table.classes[number], results.table.classes[number])
        for number in node.table.classes
        if number in results.table.classes
    ]


def _plain(cls: type[XdrType]) -> t.Any:
    return samples(cls)[0]


def _compound(procedure: Procedure[t.Any, t.Any], asked: t.Any, given: t.Any) -> tuple[t.Any, t.Any]:
    more = {"callback_ident": 0} if procedure is nfs4.CB_COMPOUND else {}
    args = procedure.args(tag=b"", minorversion=1, argarray=[asked], **more)
    return args, procedure.res(status=nfs4.Nfsstat4.NFS4_OK, tag=b"", resarray=[given])


def _exchange(procedure: Procedure[t.Any, t.Any], args: t.Any, res: t.Any) -> Exchange:
    xid, credential = next(_XIDS), AuthSys()
    head = struct.pack(">IIIIII", xid, 0, 2, procedure.program, procedure.version, procedure.number)
    call = head + b"".join(credential.opaque()) + args.to_xdr()
    reply = struct.pack(">IIIIII", xid, 1, 0, 0, 0, 0) + res.to_xdr()
    at = float(xid)
    return Exchange(
        *(xid, procedure, args, credential, call, at, "127.0.0.1:2049", "tcp"),
        reply=reply,
        result=res,
        received_at=at + 0.5,
        local="127.0.0.1:777",
    )


def marked() -> set[tuple[type[XdrType], str]]:
    """The fields that are marked."""
    return {(octet.owner, octet.name) for octet in octets_in(roots()) if octet.node.identity is not None}


def unmarked() -> Iterator[OctetsField]:
    """Strings and bytes of variable length that are not."""
    return (octet for octet in octets_in(roots()) if octet.node.identity is None)
