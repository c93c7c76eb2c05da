# SPDX-License-Identifier: MIT
"""Another client, written in Rust, on the embedded server: nfs-rs, with NFSv3 and NFSv4.1."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from nfsclient.rpc.loop import Loop
from nfsserver import Server
from tests.needs import need, needs
from tests.waiting import AT_MOST

need("nfs_rs")
import nfs_rs  # noqa: E402 - it may be missing

pytestmark = needs("nfs_rs")


@pytest.fixture(params=["3", "4.1"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server in a thread: the client waits in its own code."""
    ended = threading.Event()
    ports: list[int] = []
    listens = threading.Event()

    def serve() -> None:
        with closing(Loop()) as loop:
            server = Server()
            server.listen(loop)
            ports.append(server.port)
            listens.set()
            while not ended.is_set():
                loop.run_until(ended.is_set, loop.clock() + 0.05)
            server.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert listens.wait(AT_MOST)
    port = ports[0]
    yield f"nfs://127.0.0.1/export?nfsport={port}&mountport={port}&version={request.param}&uid=0&gid=0"
    ended.set()
    thread.join()


def test_files_and_names(url: str) -> None:
    client = nfs_rs.Client.connect(url)
    try:
        client.mkdir("/d")
        data = os.urandom(2_500_000)
        with client.open("/d/f", "wb") as file:
            file.write(data)
        with client.open("/d/f", "rb") as file:
            assert file.read() == data
        assert client.stat("/d/f").size == len(data)
        client.rename("/d/f", "/d/g")
        client.symlink("g", "/d/l")
        assert client.readlink("/d/l") == "g"
        for number in range(300):
            client.touch(f"/d/{number}")
        assert sorted(client.listdir("/d")) == sorted(["g", "l", *map(str, range(300))])
        client.unlink("/d/g")
        assert not client.exists("/d/g")
    finally:
        client.close()
