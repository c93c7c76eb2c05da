# SPDX-License-Identifier: MIT
"""The ports in replies of portmap and rpcbind, so that clients that ask find the proxy instead of the server."""

from __future__ import annotations

import typing as t
from collections.abc import Callable

from nfsclient.errors import NfsClientError
from nfsclient.protocol import portmap as pm
from nfsclient.protocol import rpcbind as rb
from nfsclient.xdr import XdrType, replace
from nfsfaults.messages import Message

PortFor: t.TypeAlias = Callable[[int, str], int]
"""The port of the proxy that stands for a port of the server: (port, ``tcp`` or ``udp``) -> port."""
PROGRAM: t.Final = pm.PROGRAM
_PROTOCOLS: t.Final = {pm.IPPROTO_TCP: "tcp", pm.IPPROTO_UDP: "udp"}


def rewritten(message: Message, port_for: PortFor, host: str) -> bytes:
    """A reply of portmap or rpcbind with ports of the proxy; any other message as it is.

    `host` is the address of the proxy for universal addresses (RFC 1833 section 2.1).
    """
    if message.kind != "reply" or message.heading.program != PROGRAM:
        return message.data
    result, args = message.result, message.args
    if result is None or message.procedure is None or message.body_at is None:
        return message.data
    try:
        changed = _changed(message.procedure.name, args, result, port_for, host)
        if changed is None:
            return message.data
        return message.data[: message.body_at] + changed.to_xdr()
    except (NfsClientError, AttributeError, ValueError):
        return message.data


def _changed(name: str, args: t.Any, result: t.Any, port_for: PortFor, host: str) -> XdrType | None:
    match name:
        case "GETPORT":
            protocol = _PROTOCOLS.get(args.prot)
            if not (protocol and result.port):
                return None
            return t.cast("XdrType", replace(result, port=port_for(result.port, protocol)))
        case "DUMP" if hasattr(result, "entries") and result.entries and hasattr(result.entries[0], "port"):
            entries = [
                replace(entry, port=port_for(entry.port, _PROTOCOLS[entry.prot]))
                if entry.prot in _PROTOCOLS
                else entry
                for entry in result.entries
            ]
            return t.cast("XdrType", replace(result, entries=entries))
        case "GETADDR" | "GETVERSADDR":
            value = _universal(result.value, args.r_netid.decode(), port_for, host)
            return t.cast("XdrType", replace(result, value=value))
        case "DUMP" | "GETADDRLIST":
            return _list_changed(result, port_for, host)
        case _:
            return None


def _list_changed(result: t.Any, port_for: PortFor, host: str) -> XdrType | None:
    entries = [
        replace(entry, r_addr=_universal(entry.r_addr, entry.r_netid.decode(), port_for, host))
        if isinstance(entry, rb.Rpcb)
        else replace(entry, r_maddr=_universal(entry.r_maddr, entry.r_nc_netid.decode(), port_for, host))
        for entry in result.entries
    ]
    return t.cast("XdrType", replace(result, entries=entries))


def _universal(address: bytes, netid: str, port_for: PortFor, host: str) -> bytes:
    """A universal address with the proxy's port: ``10.0.0.1.8.1`` is 10.0.0.1 port 2049."""
    parts = address.decode().rsplit(".", 2)
    transport = netid.rstrip("6")
    if len(parts) != 3 or transport not in {"tcp", "udp"}:
        return address
    port = port_for(int(parts[1]) * 256 + int(parts[2]), transport)
    return f"{host}.{port >> 8}.{port & 255}".encode()
