# SPDX-License-Identifier: MIT
"""A layer for the arguments and one for the results of each declared procedure: `Nfs3WriteCall`, `Nfs3WriteReply`."""

from __future__ import annotations

import typing as t

from scapy.packet import bind_top_down

from nfsclient.rpc.program import Procedure, Program
from nfsclient.xdr import XdrType
from nfsclient.xdr.kinds import Node, StructNode, UnionNode
from nfsfaults.names import PROGRAMS
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


class NfsCall(_Body):
    """The arguments of any procedure of NFS."""


class NfsReply(_Body):
    """The results of any procedure of NFS."""


class MountCall(_Body):
    """The arguments of any procedure of MOUNT."""


class MountReply(_Body):
    """The results of any procedure of MOUNT."""


class PortmapCall(_Body):
    """The arguments of any procedure of portmap and rpcbind."""


class PortmapReply(_Body):
    """The results of any procedure of portmap and rpcbind."""


class NfsCallbackCall(_Body):
    """The arguments of any procedure of the callbacks of NFSv4."""


class NfsCallbackReply(_Body):
    """The results of any procedure of the callbacks of NFSv4."""


_FAMILIES: t.Final[dict[str, tuple[type[_Body], type[_Body]]]] = {
    "nfs": (NfsCall, NfsReply),
    "mount": (MountCall, MountReply),
    "portmap": (PortmapCall, PortmapReply),
    "nfs-callback": (NfsCallbackCall, NfsCallbackReply),
}
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


for _family, _versions in PROGRAMS.items():
    for _program in _versions:
        for _procedure in _program.procedures:
            _add(_program, _procedure, _FAMILIES[_family])


def call_of(procedure: Procedure[t.Any, t.Any], **args: t.Any) -> XdrLayer:
    """The layer of a call of a procedure, with fields of its arguments."""
    body = CALL_LAYERS[procedure]()
    for name, value in args.items():
        setattr(body.args, field_name(name), value)
    return body
