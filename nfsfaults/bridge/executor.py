# SPDX-License-Identifier: MIT
"""The packet executor as one object: networks, bridge, and the sockets for a server on one of the sides."""

from __future__ import annotations

import socket
import typing as t

from nfsclient.rpc.blocking import RpcClient
from nfsclient.rpc.loop import Loop
from nfsfaults import with_scapy
from nfsfaults.bridge.bridge import Bridge, unable
from nfsfaults.bridge.networks import Networks, NoNetworks, Place, Proto
from nfsfaults.matcher import Matcher
from nfsfaults.plan import Plan

PORT: t.Final = 2049


class Packets:
    """Carries a plan out between clients and one server. The clients, and a server in this process, share a loop.

    Raises `NoNetworks` and `NoScapy` with one line that says what is missing.
    """

    def __init__(self, plan: Plan, loop: Loop, place: Place | None = None, port: int = PORT) -> None:
        """`place` and `port` are those of a server that runs; without them a server gets `server_sockets`."""
        self._loop = loop
        self._port = port
        with_scapy.making().expect_rpc_on(port)
        self._networks = Networks(place)
        self._bridge = Bridge(plan, self._networks, loop)

    def server_sockets(self) -> list[socket.socket]:
        """Sockets of TCP and UDP on the server's side; who gets them closes them."""
        return [
            self._networks.socket_on("server", "tcp", PORT, listens=True),
            self._networks.socket_on("server", "udp", PORT),
        ]

    def connect(self, proto: Proto, **options: t.Any) -> RpcClient:
        """A client on the client's side; options are those of `Networks.connect`. Raises `ConnectFailed`."""
        return self._networks.connect(proto, self._port, self._loop, **options)

    @property
    def matcher(self) -> Matcher:
        """The counters of the plan."""
        return self._bridge.matcher

    @property
    def failures(self) -> list[str]:
        """What of the plan could not be carried out, and why."""
        return self._bridge.failures

    @property
    def unfired(self) -> list[str]:
        """The rules and links that had to act and did not."""
        return self._bridge.unfired

    def close(self) -> None:
        """Take the bridge and the networks away."""
        self._bridge.close()
        self._networks.close()


__all__ = ["PORT", "NoNetworks", "Packets", "Place", "unable"]
