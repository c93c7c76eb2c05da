# SPDX-License-Identifier: MIT
"""Finding ports: whatever rpcbind answers, the caller hears in words which step failed."""

from __future__ import annotations

import pytest

from nfsclient.discovery import PortUnknown, find_ports
from nfsclient.rpc.loop import Loop
from nfsclient.rpc.server import RpcServer
from nfsclient.rpc.sockets import Address
from nfsclient.url import NfsUrl
from nfsclient.xdr import Buffer
from tests.nfsclient.rpc_peer import success, words


class Rpcbind:
    """Answers every call with the same results."""

    def __init__(self, results: bytes) -> None:
        self.results = results

    def answer(
        self, message: bytes, peer: Address, transport: str, channel: object = None
    ) -> list[Buffer] | None:
        return [success(message, self.results)]


@pytest.mark.parametrize(
    "results",
    [b"", b"\0\0\0", words(2049, 7), words(70_000), words(0)],
    ids=["empty", "cut", "too-long", "no-port", "unregistered"],
)
@pytest.mark.parametrize("proto", ["tcp", "udp"])
def test_answers_that_make_no_sense_are_reported_as_trouble_with_rpcbind(results: bytes, proto: str) -> None:
    loop = Loop()
    rpcbind = RpcServer(loop, Rpcbind(results))
    listen = rpcbind.listen_tcp if proto == "tcp" else rpcbind.listen_udp
    port = listen()[1]
    url = NfsUrl.parse(f"nfs://127.0.0.1/export?rpcbindport={port}&proto={proto}")
    with pytest.raises(PortUnknown, match="rpcbind") as caught:
        find_ports(url, loop=loop)
    rpcbind.close()
    assert caught.value.step == "rpcbind"
    assert "expected" in str(caught.value)
