# SPDX-License-Identifier: MIT
"""Exchanges with the same XIDs and ports in every run: what is guessed from bytes and ports is guessed alike.

tshark tries dissectors by ports, which loopback hands out, and by what bytes look like, the XIDs among them.
"""

from __future__ import annotations

from collections.abc import Iterable

from nfsclient.rpc.exchange import Exchange

SERVER_PORT = 2049
_FIRST_CLIENT = 901
_FIRST_XID = 0x2000_0001


def settle(exchanges: Iterable[Exchange]) -> None:
    """Change the XIDs and ports of exchanges over IPv4, in their messages too; connections keep different ports."""
    ports: dict[str, int] = {}
    for number, exchange in enumerate(exchanges):
        exchange.xid = _FIRST_XID + number
        start = exchange.xid.to_bytes(4, "big")
        exchange.call = start + bytes(exchange.call)[4:]
        if exchange.reply is not None:
            exchange.reply = start + bytes(exchange.reply)[4:]
        host = exchange.peer.rpartition(":")[0]
        exchange.local = f"{host}:{ports.setdefault(exchange.local, _FIRST_CLIENT + len(ports))}"
        exchange.peer = f"{host}:{SERVER_PORT}"
