# SPDX-License-Identifier: MIT
"""scapy layers for ONC RPC, portmap, rpcbind, MOUNT, NFSv2, NFSv3 and NFSv4 with its callbacks (docs/packets.md).

They are generated from the declared wire types. Importing this package imports scapy, whose licence is GPL-2.0: nothing
else of nfsproof imports it.
"""

from __future__ import annotations

from nfsclient.protocol.registry import modules
from nfsclient.rpc import auth, messages
from nfsclient.similar import similar_text
from nfsclient.xdr import XdrType
from nfsfaults.packet.programs import (
    LAYERS,
    MountCall,
    MountReply,
    NfsCall,
    NfsCallbackCall,
    NfsCallbackReply,
    NfsReply,
    PortmapCall,
    PortmapReply,
    call_of,
)
from nfsfaults.packet.rpc import RecordMark, RpcCall, RpcMessage, RpcReply, bind_port, forget_calls
from nfsfaults.packet.wire_types import XdrLayer, layer_of, packet_of

__all__ = [
    "MountCall",
    "MountReply",
    "NfsCall",
    "NfsCallbackCall",
    "NfsCallbackReply",
    "NfsReply",
    "PortmapCall",
    "PortmapReply",
    "RecordMark",
    "RpcCall",
    "RpcMessage",
    "RpcReply",
    "XdrLayer",
    "bind_port",
    "call_of",
    "forget_calls",
    "layer_of",
    "packet_of",
]


def __getattr__(name: str) -> type[XdrLayer]:
    """The layer of a procedure (`Nfs3WriteCall`) or of a wire type (`Write3Args`)."""
    if name in LAYERS:
        return LAYERS[name]
    for module in (*modules().values(), messages, auth):
        found = getattr(module, name, None)
        if isinstance(found, type) and issubclass(found, XdrType) and found.__name__ == name:
            return layer_of(found)
    raise AttributeError(f"nfsfaults.packet has no layer {name!r}{similar_text(name, LAYERS)}")
