# SPDX-License-Identifier: MIT
"""A layer for the arguments and one for the results of each declared procedure: `Nfs3WriteCall`, `Nfs3WriteReply`."""

from __future__ import annotations

import typing as t

from scapy.packet import bind_top_down

from nfsclient.protocol.registry import families
from nfsclient.rpc.program import Procedure, Program
from nfsclient.xdr import XdrType
from nfsclient.xdr.kinds import Node, StructNode, UnionNode
from nfsfaults.packet.rpc import CALL_LAYERS, REPLY_LAYERS, RpcCall
from nfsfaults.packet.wire_types import XdrLayer, field_name, make_field, make_layer, packet_of


class _Body(XdrLayer):
    """What follows the header of a message: one field, `args` or `result`."""

    procedure: t.ClassVar[Procedure[t.Any, t.Any]]

    @classmethod
    def decoded(cls, data: bytes) -> tuple[dict[str, t.Any], int]:
        value, end = cls.wire.unpack_from(data)
        (field,) = cls.fields_desc
        return {field.name: packet_of(value)}, end


_families: t.Final[dict[str, tuple[type[_Body], type[_Body]]]] = {}
LAYERS: t.Final[dict[str, type[XdrLayer]]] = {}
"""Name -> layer of a procedure."""


def node_of_type(cls: type[XdrType]) -> Node:
    """The node of a structure or union."""
    return UnionNode(cls) if t.cast("t.Any", cls).__xdr_role__ == "union" else StructNode(cls)


def _name(program: Program, procedure: Procedure[t.Any, t.Any]) -> str:
    words = f"{program.name}{program.version}".title().replace(" ", "")
    return f"{words}{procedure.name.title().replace('_', '')}"


def _add(
    program: Program, procedure: Procedure[t.Any, t.Any], families: tuple[type[_Body], type[_Body]]
) -> None:
    kinds = (("Call", "args", procedure.args, CALL_LAYERS), ("Reply", "result", procedure.res, REPLY_LAYERS))
    for base, (suffix, field, wire, table) in zip(families, kinds, strict=True):
        name = f"{_name(program, procedure)}{suffix}"
        fields = [make_field(field, node_of_type(wire))]
        layer = make_layer(name, base, fields, wire=wire, procedure=procedure)
        LAYERS[name] = table[procedure] = layer
    bind_top_down(
        RpcCall, CALL_LAYERS[procedure], prog=procedure.program, vers=procedure.version, proc=procedure.number
    )


def _family(name: str) -> tuple[type[_Body], type[_Body]]:
    """``nfs-callback`` -> `NfsCallbackCall` and `NfsCallbackReply`: what all layers of a family derive from."""
    if name not in _families:
        word = name.title().replace("-", "")
        docs = (f"The arguments of any procedure of {name}.", f"The results of any procedure of {name}.")
        call, reply = (
            t.cast("type[_Body]", type(f"{word}{suffix}", (_Body,), {"__doc__": doc, "__module__": __name__}))
            for suffix, doc in zip(("Call", "Reply"), docs, strict=True)
        )
        _families[name] = call, reply
    return _families[name]


def add_layers() -> None:
    """Layers for the procedures of all registered protocols; those that are there stay."""
    for family, versions in families().items():
        for program in versions:
            for procedure in program.procedures:
                if procedure not in CALL_LAYERS:
                    _add(program, procedure, _family(family))


add_layers()
NfsCall, NfsReply = _family("nfs")
MountCall, MountReply = _family("mount")
PortmapCall, PortmapReply = _family("portmap")
NfsCallbackCall, NfsCallbackReply = _family("nfs-callback")


def call_of(procedure: Procedure[t.Any, t.Any], **args: t.Any) -> XdrLayer:
    """The layer of a call of a procedure, with fields of its arguments."""
    body = CALL_LAYERS[procedure]()
    for name, value in args.items():
        setattr(body.args, field_name(name), value)
    return body
