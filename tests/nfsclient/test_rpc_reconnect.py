# SPDX-License-Identifier: MIT
"""Connecting again, with a patience: a server that comes back, and one that does not."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from nfsclient.errors import ConnectFailed
from nfsclient.rpc.blocking import connect_tcp


def _listener(port: int = 0) -> socket.socket:
    return socket.create_server(("127.0.0.1", port))


def test_reconnecting_is_tried_again_until_the_server_is_back() -> None:
    listener = _listener()
    port = listener.getsockname()[1]
    client = connect_tcp("127.0.0.1", port)
    listener.close()
    back: list[socket.socket] = []

    def pauses() -> Iterator[None]:
        yield
        back.append(_listener(port))
        yield

    client.reconnect(pauses())
    assert client.is_open
    client.close()
    back[0].close()


def test_reconnecting_ends_with_the_pauses() -> None:
    listener = _listener()
    client = connect_tcp("127.0.0.1", listener.getsockname()[1])
    listener.close()
    pauses = iter([0.1, 0.2])
    with pytest.raises(ConnectFailed):
        client.reconnect(pauses)
    assert next(pauses, None) is None
    assert not client.is_open
